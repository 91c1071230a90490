// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace trn {

/// --vcd and --vcd-signal.
void add_vcd_options(CLI::App& command, std::filesystem::path& file,
                     std::vector<std::string>& signals);
/// \throws user_error when only one of them is given
void check_vcd(const std::filesystem::path& file, const std::vector<std::string>& signals);

}  // namespace trn
