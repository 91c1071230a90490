// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "platform/framework/loader/elf.h"

namespace trn {

/// Folder of the built firmware: $TRNVP_FIRMWARE, else beside the program (built or installed).
std::filesystem::path firmware_folder();

/// The file that a board's parameter names: a path (with a '/'), or a file of the firmware folder.
std::filesystem::path find_firmware(const std::string& name_or_path);

/// Replaces the file of that name from now on: a recording has its own copies.
void stand_in_for_firmware(const std::string& name_or_path, const std::filesystem::path& file);

/// The bytes of that file. Throws std::runtime_error with one sentence when it cannot be read or is
/// longer than `limit` bytes.
std::vector<std::uint8_t> read_firmware(const std::string& name_or_path, std::uint64_t limit);

/// A program with the header that the boot ROM expects (firmware/lib/image.h), as stored in a slot
/// of the flash. Throws std::runtime_error when its segments span more than `limit` bytes.
std::vector<std::uint8_t> pack_firmware(const elf_program& program, const std::string& version,
                                        std::uint64_t limit);

}  // namespace trn
