// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "platform/framework/process/child_process.h"

namespace trn {

struct command_result {
    int status = 0;      ///< as a shell has it: 128 + the signal for a killed program
    std::string output;  ///< standard output and standard error
};

inline constexpr std::size_t max_command_output = std::size_t{64} << 20;

/// Runs a program to its end, as child_process::start_bound() starts it. Output beyond
/// max_command_output bytes is dropped. \throws std::system_error
command_result run_command(child_process::command words);

}  // namespace trn
