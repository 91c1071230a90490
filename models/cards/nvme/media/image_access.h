// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace trn::nvme {

/// \throws std::runtime_error for a disk image with content whose size is not the disk's
void check_image_size(const std::string& path, std::uint64_t found, std::uint64_t size);

/// Reads from a disk image; the part that the file does not have is zeros. False, with errno: the
/// file cannot be read.
bool read_image(int file, std::uint64_t offset, std::span<std::uint8_t> bytes);

}  // namespace trn::nvme
