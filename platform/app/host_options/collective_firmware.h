// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trn {

/// Default firmware of the collective cores.
inline constexpr char collective_firmware[] = "cc_core.img";
/// Largest size of such an image in bytes: 64 KiB of instruction memory, and the header.
inline constexpr std::uint64_t max_collective_firmware = 65536 + 64;

}  // namespace trn
