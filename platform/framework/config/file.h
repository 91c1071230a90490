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

/// Of a file that a user names: only a regular file of at most `limit` bytes is read. A device or a
/// pipe has no size, and may never end. \throws file_error
std::vector<std::uint8_t> read_file(const std::filesystem::path& file, std::uint64_t limit);

/// Before a file is opened to be written: that this process has not read it. Two options that name
/// one file would empty the user's program or board. \throws file_error, with the file's name
void check_not_read(const std::filesystem::path& file);

}  // namespace trn
