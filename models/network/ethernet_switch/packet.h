// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "platform/framework/tlm/send_carried.h"

namespace trn::ethernet {

using mac_address = std::array<std::uint8_t, 6>;

constexpr bool is_group(const mac_address& address) {
    return (address[0] & 1) != 0;
}

/// An Ethernet packet from its destination address to the end of its payload.
struct packet {
    static constexpr std::size_t min_bytes = 14;  ///< both addresses and the type
    /// Additional bytes on the wire: preamble, check sequence and gap.
    static constexpr std::uint64_t overhead = 24;

    std::vector<std::uint8_t> bytes;

    mac_address destination() const { return address_at(0); }
    mac_address source() const { return address_at(6); }

private:
    mac_address address_at(std::size_t offset) const {
        mac_address value{};
        for (std::size_t i = 0; i < value.size(); ++i) value[i] = bytes[offset + i];
        return value;
    }
};

using packet_carrier = carrier_of<packet>;

}  // namespace trn::ethernet
