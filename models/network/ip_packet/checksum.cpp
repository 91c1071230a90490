// SPDX-License-Identifier: Apache-2.0
#include "models/network/ip_packet/checksum.h"

#include <bit>
#include <cstring>

#include "models/network/ip_packet/fields.h"

namespace trn::ip {

namespace {

std::uint16_t fold(std::uint64_t sum) {
    while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(sum);
}

constexpr std::uint16_t swapped(std::uint16_t value) {
    return static_cast<std::uint16_t>(value << 8 | value >> 8);
}

}  // namespace

/// Sums in the host's byte order and swaps the result: the sum of swapped words is the swapped sum.
std::uint16_t ones_sum(std::span<const std::uint8_t> bytes, std::uint16_t start) {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t sum = swapped(start);
    std::size_t at = 0;
    for (std::uint32_t four; at + sizeof four <= bytes.size(); at += sizeof four) {
        std::memcpy(&four, bytes.data() + at, sizeof four);
        sum += four;
    }
    for (; at < bytes.size(); ++at)
        sum += static_cast<std::uint64_t>(bytes[at]) << (at % 2 == 0 ? 0 : 8);
    return swapped(fold(sum));
}

std::uint16_t pseudo_header_sum(std::span<const std::uint8_t> packet, const headers& of) {
    const auto addresses = packet.subspan(of.addresses, 2 * of.address_bytes);
    return fold(std::uint64_t{ones_sum(addresses)} + (of.end - of.payload) + of.protocol);
}

std::uint16_t payload_sum(std::span<const std::uint8_t> packet, const headers& of) {
    return ones_sum(packet.subspan(of.payload, of.end - of.payload), pseudo_header_sum(packet, of));
}

void write_header_checksum(std::span<std::uint8_t> packet, const headers& of) {
    constexpr std::size_t place = 10;
    put16(packet, of.start + place, 0);
    const auto sum = ones_sum(packet.subspan(of.start, of.payload - of.start));
    put16(packet, of.start + place, static_cast<std::uint16_t>(~sum));
}

/// In UDP, 0 means "no checksum": a sum of 0 is sent as 0xffff, which is equal (RFC 768).
void write_payload_checksum(std::span<std::uint8_t> packet, const headers& of) {
    const std::size_t place = of.payload + checksum_place(of.protocol);
    put16(packet, place, 0);
    const auto value = static_cast<std::uint16_t>(~payload_sum(packet, of));
    put16(packet, place, of.protocol == protocols::udp && value == 0 ? 0xffff : value);
}

}  // namespace trn::ip
