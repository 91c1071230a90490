// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "platform/framework/tlm/memory_port.h"

namespace trn::axi {

inline constexpr std::uint32_t boundary = 4096;  ///< bytes; no burst crosses a multiple of it

inline std::uint32_t to_boundary(std::uint64_t address) {
    return boundary - static_cast<std::uint32_t>(address % boundary);
}

/// The cached DMI window for plain memory at `address`, or nullptr. Accesses of up to 8 bytes do
/// not request DMI.
inline const memory_port::window* window(memory_port& memory, tlm::tlm_command command,
                                         std::uint64_t address, std::uint64_t length) {
    constexpr std::uint32_t max_register_bytes = 8;
    return length > max_register_bytes ? memory.find(command, address)
                                       : memory.known(command, address);
}

}  // namespace trn::axi
