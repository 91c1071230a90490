// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trn {

/// Default firmware of the CC-Cores.
inline constexpr char collective_firmware[] = "cc_core.img";

/// The image of a core's firmware: a packed one, or a program in ELF format, which is packed.
/// \throws std::runtime_error for a file that cannot be read, or that does not fit
std::vector<std::uint8_t> read_collective_firmware(const std::string& name_or_path);

}  // namespace trn
