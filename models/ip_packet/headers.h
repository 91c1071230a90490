// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trn::ip {

enum class network : std::uint8_t { other, ipv4, ipv6 };

/// Numbers of protocols over IP, and types of Ethernet packets.
struct protocols {
    static constexpr std::uint8_t tcp = 6, udp = 17;
    static constexpr std::uint16_t ipv4 = 0x0800, arp = 0x0806, vlan = 0x8100, ipv6 = 0x86dd;
};

/// Bytes of headers without options.
struct header_bytes {
    static constexpr std::size_t ethernet = 14, ipv4 = 20, ipv6 = 40, tcp = 20, udp = 8;
};

/// Where the headers of an Ethernet packet are; offsets from its first byte. RFC 791, RFC 8200.
/// Extension headers of IPv6 are not followed: `protocol` is the first of them.
struct headers {
    network version = network::other;  ///< other: not IP, or not well-formed; nothing else is valid
    std::size_t start = 0;             ///< of the IP header
    std::size_t addresses = 0;         ///< source, then destination
    std::size_t address_bytes = 0;     ///< of each
    std::size_t payload = 0;           ///< of what the IP packet carries
    std::size_t end = 0;               ///< of the IP packet; at most the packet's size
    std::uint8_t protocol = 0;
    bool is_fragment = false;

    bool carries(std::uint8_t which) const { return !is_fragment && protocol == which; }
    /// Whether at least `bytes` of payload are there.
    bool has(std::size_t bytes) const { return end - payload >= bytes; }
};

headers find_headers(std::span<const std::uint8_t> packet);

}  // namespace trn::ip
