// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "models/network/ethernet_fabric/frame.h"

namespace trn::efa_objects {

/// GID of a card, bytes in network order.
using gid = std::array<std::uint8_t, 16>;

/// A card's GID is a link-local IPv6 address; its last two bytes are the port of the fabric, the
/// rest of the interface identifier is invented.
inline gid gid_of(ethernet::address port) {
    gid made = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0xef, 0xa0, 0xff, 0xfe};
    made[14] = static_cast<std::uint8_t>(port >> 8);
    made[15] = static_cast<std::uint8_t>(port);
    return made;
}

/// The port of a card's GID; nothing if no card can have the GID.
inline std::optional<ethernet::address> port_of(const gid& card) {
    const auto port = static_cast<ethernet::address>(card[14] << 8 | card[15]);
    if (gid_of(port) != card) return std::nullopt;
    return port;
}

}  // namespace trn::efa_objects
