// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace trn {

/// Why a file that a user names cannot be read, without its name.
struct file_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The content of a file that a user names: a regular file of at most `limit` bytes. Devices and
/// pipes are refused, since they have no size and may never end. \throws file_error
std::vector<std::uint8_t> read_file(const std::filesystem::path& file, std::uint64_t limit);

/// Call before opening `file` for writing: checks that this process has not read it, since two
/// options with one file would empty the user's program or board. \throws file_error with its name
void check_not_read(const std::filesystem::path& file);

}  // namespace trn
