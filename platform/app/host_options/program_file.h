// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trn {

/// Names of .set lines, each with the value that replaces the one in the text.
using program_constants = std::vector<std::pair<std::string, std::string>>;

/// Reads a program set from a binary file, or from a text file, which is assembled. \throws
/// config_error with the errors of the text; file_error, without the file's name, when the file
/// cannot be read, has neither format, or lacks a .set line for one of the constants
std::vector<std::uint8_t> read_program_file(const std::string& path,
                                            const program_constants& constants = {});

}  // namespace trn
