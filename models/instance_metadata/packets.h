// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "models/ethernet_switch/packet.h"
#include "models/ip_packet/headers.h"

namespace trn::metadata {

/// A packet of zeros with both addresses and the type.
std::unique_ptr<ethernet::packet> new_packet(const ethernet::mac_address& to,
                                             const ethernet::mac_address& from, std::uint16_t type,
                                             std::size_t bytes);

/// The header of an IPv4 packet without options (RFC 791), and the Ethernet header before it.
struct ipv4_header {
    ethernet::mac_address to{}, from{};
    std::uint32_t destination = 0, source = 0;
    std::uint8_t protocol = 0;
    std::uint8_t hops = 64;
    bool may_be_fragmented = true;
};
/// Where the payload of a new IPv4 packet begins.
constexpr std::size_t ipv4_payload = ip::header_bytes::ethernet + ip::header_bytes::ipv4;
/// The payload is zeros.
std::unique_ptr<ethernet::packet> new_ipv4_packet(const ipv4_header& header,
                                                  std::size_t payload_bytes);
/// Of the IPv4 header, and of the TCP or UDP packet in it. Precondition: a packet of
/// new_ipv4_packet() with its payload.
void write_checksums(ethernet::packet& packet);

/// Whether the checksums of a received packet, and the length in a UDP header, are right. A UDP
/// checksum of 0 is none (RFC 768). Precondition: the headers are those of the packet, which
/// carries TCP or UDP over IPv4, with a whole header.
bool is_whole(const ethernet::packet& packet, const ip::headers& of);

}  // namespace trn::metadata
