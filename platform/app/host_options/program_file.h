// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trn {

/// A program set from a file in its binary or its text form, which is assembled.
/// \throws config_error with the mistakes of the text; file_error, without the file's name, when it
/// cannot be read or is neither
std::vector<std::uint8_t> read_program_file(const std::string& path);

}  // namespace trn
