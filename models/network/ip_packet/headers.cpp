// SPDX-License-Identifier: Apache-2.0
#include "models/network/ip_packet/headers.h"

#include "models/network/ip_packet/fields.h"

namespace trn::ip {

namespace {

headers find_ipv4(std::span<const std::uint8_t> packet, std::size_t start) {
    const auto ip = packet.subspan(start);
    if (ip.size() < header_bytes::ipv4 || ip[0] >> 4 != 4) return {};
    const std::size_t length = (ip[0] & 0xfu) * 4, total = get16(ip, 2);
    if (length < header_bytes::ipv4 || total < length || total > ip.size()) return {};
    return {.version = network::ipv4,
            .start = start,
            .addresses = start + 12,
            .address_bytes = 4,
            .payload = start + length,
            .end = start + total,
            .protocol = ip[9],
            .is_fragment = (get16(ip, 6) & 0x3fff) != 0};
}

headers find_ipv6(std::span<const std::uint8_t> packet, std::size_t start) {
    const auto ip = packet.subspan(start);
    if (ip.size() < header_bytes::ipv6 || ip[0] >> 4 != 6) return {};
    const std::size_t total = header_bytes::ipv6 + get16(ip, 4);
    if (total > ip.size()) return {};
    return {.version = network::ipv6,
            .start = start,
            .addresses = start + 8,
            .address_bytes = 16,
            .payload = start + header_bytes::ipv6,
            .end = start + total,
            .protocol = ip[6]};
}

}  // namespace

headers find_headers(std::span<const std::uint8_t> packet) {
    constexpr std::size_t tag = 4;
    std::size_t start = header_bytes::ethernet;
    if (packet.size() < start) return {};
    std::uint16_t type = get16(packet, start - 2);
    if (type == protocols::vlan && packet.size() >= start + tag) {
        start += tag;
        type = get16(packet, start - 2);
    }
    if (type == protocols::ipv4) return find_ipv4(packet, start);
    if (type == protocols::ipv6) return find_ipv6(packet, start);
    return {};
}

}  // namespace trn::ip
