// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "platform/framework/loader/elf.h"

namespace trn {

/// Folder of the built firmware: $TRNVP_FIRMWARE, else that of a build or of an installation
/// (share_folder()).
std::filesystem::path firmware_folder();

/// The file for a name on a board: a path (with '/'), or a file in the firmware folder.
std::filesystem::path find_firmware(const std::string& name_or_path);

/// Explains that a name without '/' is searched for in the firmware folder, not in the current one;
/// empty for a path.
std::string firmware_hint(const std::string& name_or_path);

/// From now on, uses `file` for that name: a recording has its own copies.
void stand_in_for_firmware(const std::string& name_or_path, const std::filesystem::path& file);

/// Reads that file. Throws std::runtime_error with one sentence when it cannot be read or is longer
/// than `limit` bytes.
std::vector<std::uint8_t> read_firmware(const std::string& name_or_path, std::uint64_t limit);

/// Packs a program with the header that the boot ROM expects (firmware/lib/image.h), as stored in a
/// slot of the flash. Throws std::runtime_error when its segments span more than `limit` bytes.
std::vector<std::uint8_t> pack_firmware(const elf_program& program, const std::string& version,
                                        std::uint64_t limit);

}  // namespace trn
