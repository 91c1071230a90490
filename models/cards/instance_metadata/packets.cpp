// SPDX-License-Identifier: Apache-2.0
#include "models/cards/instance_metadata/packets.h"

#include <algorithm>
#include <span>

#include "models/network/ip_packet/checksum.h"
#include "models/network/ip_packet/fields.h"

namespace trn::metadata {

using ethernet::packet;
using ip::get16;
using ip::protocols;
using ip::put16;
using ip::put32;

std::unique_ptr<packet> new_packet(const ethernet::mac_address& destination,
                                   const ethernet::mac_address& source, std::uint16_t type,
                                   std::size_t bytes) {
    auto made = std::make_unique<packet>();
    made->bytes.resize(bytes);
    std::ranges::copy(destination, made->bytes.begin());
    std::ranges::copy(source, made->bytes.begin() + destination.size());
    put16(made->bytes, 12, type);
    return made;
}

std::unique_ptr<packet> new_ipv4_packet(const ipv4_header& header, std::size_t payload_bytes) {
    constexpr std::uint8_t version_4_without_options = 0x45;
    constexpr std::uint16_t do_not_fragment = 0x4000;
    auto made = new_packet(header.destination_mac, header.source_mac, protocols::ipv4,
                           ipv4_payload + payload_bytes);
    const auto ip = std::span(made->bytes).subspan(ip::header_bytes::ethernet);
    ip[0] = version_4_without_options;
    put16(ip, 2, static_cast<std::uint16_t>(ip.size()));
    if (!header.may_be_fragmented) put16(ip, 6, do_not_fragment);
    ip[8] = header.hops;
    ip[9] = header.protocol;
    put32(ip, 12, header.source);
    put32(ip, 16, header.destination);
    return made;
}

void write_checksums(packet& packet) {
    const auto headers = ip::find_headers(packet.bytes);
    ip::write_header_checksum(packet.bytes, headers);
    ip::write_payload_checksum(packet.bytes, headers);
}

bool is_whole(const packet& packet, const ip::headers& headers) {
    const std::span<const std::uint8_t> bytes(packet.bytes);
    if (ip::ones_sum(bytes.subspan(headers.start, headers.payload - headers.start)) != 0xffff)
        return false;
    if (headers.protocol == protocols::udp) {
        if (get16(bytes, headers.payload + 4) != headers.end - headers.payload) return false;
        if (get16(bytes, headers.payload + ip::checksum_place(protocols::udp)) == 0) return true;
    }
    return ip::payload_sum(bytes, headers) == 0xffff;
}

}  // namespace trn::metadata
