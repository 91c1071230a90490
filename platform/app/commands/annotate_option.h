// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "platform/app/regression/record.h"

namespace trn {

/// Adds --annotate github|gitlab.
void add_annotate_option(CLI::App& command, std::string& service);

/// Writes the annotations: for GitHub to standard output, for GitLab to a file in `folder`.
/// \returns "", or a line with the reason why they are lost
std::string annotate(const std::string& service, const regression::run_record& run,
                     const std::filesystem::path& folder);

}  // namespace trn
