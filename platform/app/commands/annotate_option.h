// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "platform/app/regression/record.h"

namespace trn {

/// --annotate github|gitlab
void add_annotate_option(CLI::App& command, std::string& service);

/// For GitHub printed, for GitLab in a file of the folder: "" or why that is lost, as a line.
std::string annotate(const std::string& service, const regression::run_record& run,
                     const std::filesystem::path& folder);

}  // namespace trn
