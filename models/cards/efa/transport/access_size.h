// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <tlm>

#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn::efa_transport {

constexpr std::uint32_t max_access_bytes = 4096;  ///< per access without a pointer

/// Number of bytes that the next access of [address, address + wanted) can transfer. Only an access
/// through a pointer may cross pages of the bus. `pending`: of the access, which may be a repeat.
inline std::uint32_t access_size(memory_port& memory, tlm::tlm_command command,
                                 std::uint64_t address, std::uint32_t wanted,
                                 const pending_access& pending) {
    const auto* const direct = pending.is_deferred() ? nullptr : memory.find(command, address);
    if (direct != nullptr) return static_cast<std::uint32_t>(direct->room(address, wanted));
    const auto room = static_cast<std::uint32_t>(max_access_bytes - address % max_access_bytes);
    return std::min(wanted, room);
}

}  // namespace trn::efa_transport
