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

std::unique_ptr<packet> new_packet(const ethernet::mac_address& to,
                                   const ethernet::mac_address& from, std::uint16_t type,
                                   std::size_t bytes) {
    auto made = std::make_unique<packet>();
    made->bytes.resize(bytes);
    std::ranges::copy(to, made->bytes.begin());
    std::ranges::copy(from, made->bytes.begin() + to.size());
    put16(made->bytes, 12, type);
    return made;
}

std::unique_ptr<packet> new_ipv4_packet(const ipv4_header& header, std::size_t payload_bytes) {
    constexpr std::uint8_t version_4_without_options = 0x45;
    constexpr std::uint16_t do_not_fragment = 0x4000;
    auto made = new_packet(header.to, header.from, protocols::ipv4, ipv4_payload + payload_bytes);
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
    const auto of = ip::find_headers(packet.bytes);
    ip::write_header_checksum(packet.bytes, of);
    ip::write_payload_checksum(packet.bytes, of);
}

bool is_whole(const packet& packet, const ip::headers& of) {
    const std::span<const std::uint8_t> bytes(packet.bytes);
    if (ip::ones_sum(bytes.subspan(of.start, of.payload - of.start)) != 0xffff) return false;
    if (of.protocol == protocols::udp) {
        if (get16(bytes, of.payload + 4) != of.end - of.payload) return false;
        if (get16(bytes, of.payload + ip::checksum_place(protocols::udp)) == 0) return true;
    }
    return ip::payload_sum(bytes, of) == 0xffff;
}

}  // namespace trn::metadata
