// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "models/network/ethernet_switch/packet.h"
#include "models/network/ip_packet/headers.h"

namespace trn::metadata {

/// A packet of zeros with both MAC addresses and the type.
std::unique_ptr<ethernet::packet> new_packet(const ethernet::mac_address& destination,
                                             const ethernet::mac_address& source,
                                             std::uint16_t type, std::size_t bytes);

/// Fields of an Ethernet header and of an IPv4 header without options (RFC 791).
struct ipv4_header {
    ethernet::mac_address destination_mac{}, source_mac{};
    std::uint32_t destination = 0, source = 0;
    std::uint8_t protocol = 0;
    std::uint8_t hops = 64;
    bool may_be_fragmented = true;
};
/// Offset of the payload in a new IPv4 packet.
constexpr std::size_t ipv4_payload = ip::header_bytes::ethernet + ip::header_bytes::ipv4;
/// Makes a packet with a payload of zeros.
std::unique_ptr<ethernet::packet> new_ipv4_packet(const ipv4_header& header,
                                                  std::size_t payload_bytes);
/// Writes the checksums of the IPv4 header and of TCP or UDP. Precondition: the packet is from
/// new_ipv4_packet() and has its payload.
void write_checksums(ethernet::packet& packet);

/// Whether a received packet has correct checksums and UDP length. A UDP checksum of 0 means none
/// (RFC 768). Precondition: `headers` are the packet's headers: IPv4, and TCP or UDP, all complete.
bool is_whole(const ethernet::packet& packet, const ip::headers& headers);

}  // namespace trn::metadata
