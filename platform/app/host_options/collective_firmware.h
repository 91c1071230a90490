// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trn {

/// The firmware of collective cores, unless the user names another.
inline constexpr char collective_firmware[] = "cc_core.img";
/// Bytes of an image for them: 64 KiB of instruction memory, and the header.
inline constexpr std::uint64_t max_collective_firmware = 65536 + 64;

}  // namespace trn
