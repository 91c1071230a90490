// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trn {

/// Names of .set lines of a text with other values.
using program_constants = std::vector<std::pair<std::string, std::string>>;

/// A program set from a file in its binary or its text form, which is assembled.
/// \throws config_error with the mistakes of the text; file_error, without the file's name, when it
/// cannot be read or is neither, or has no .set line for one of the constants
std::vector<std::uint8_t> read_program_file(const std::string& path,
                                            const program_constants& constants = {});

}  // namespace trn
