// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trn::ip {

enum class network : std::uint8_t { other, ipv4, ipv6 };

/// Protocol numbers of IP, and Ethernet types.
struct protocols {
    static constexpr std::uint8_t tcp = 6, udp = 17;
    static constexpr std::uint16_t ipv4 = 0x0800, arp = 0x0806, vlan = 0x8100, ipv6 = 0x86dd;
};

/// Sizes of headers without options, bytes.
struct header_bytes {
    static constexpr std::size_t ethernet = 14, ipv4 = 20, ipv6 = 40, tcp = 20, udp = 8;
};

/// Offsets of the headers in an Ethernet packet (RFC 791, RFC 8200). IPv6 extension headers are not
/// parsed: `protocol` is that of the first one.
struct headers {
    /// other: not IP, or malformed; then no other field is valid
    network version = network::other;
    std::size_t start = 0;          ///< offset of the IP header
    std::size_t addresses = 0;      ///< offset of the source address, which the destination follows
    std::size_t address_bytes = 0;  ///< size of an address
    std::size_t payload = 0;        ///< offset of the IP payload
    std::size_t end = 0;            ///< offset of the IP packet's end; at most the packet's size
    std::uint8_t protocol = 0;
    bool is_fragment = false;

    bool carries(std::uint8_t number) const { return !is_fragment && protocol == number; }
    /// Whether the payload has at least `bytes` bytes.
    bool has(std::size_t bytes) const { return end - payload >= bytes; }
};

headers find_headers(std::span<const std::uint8_t> packet);

}  // namespace trn::ip
