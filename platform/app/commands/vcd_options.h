// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/framework/command_line/options.h"

namespace trn {

/// Adds --vcd and --vcd-signal.
void add_vcd_options(cli::command& command, std::filesystem::path& file,
                     std::vector<std::string>& signals);
/// Checks that both options are given, or neither. \throws user_error
void check_vcd(const std::filesystem::path& file, const std::vector<std::string>& signals);

}  // namespace trn
