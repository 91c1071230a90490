// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "platform/app/regression/records/record.h"
#include "platform/framework/command_line/options.h"

namespace trn {

/// Adds --annotate github|gitlab.
void add_annotate_option(cli::command& command, std::string& service);

/// Writes the annotations: for GitHub to standard output, for GitLab to a file in `folder`.
/// \returns "", or a line with the reason why they are lost
std::string annotate(const std::string& service, const regression::run_record& run,
                     const std::filesystem::path& folder);

}  // namespace trn
