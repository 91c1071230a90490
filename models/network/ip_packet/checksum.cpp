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
    std::size_t offset = 0;
    for (std::uint32_t word; offset + sizeof word <= bytes.size(); offset += sizeof word) {
        std::memcpy(&word, bytes.data() + offset, sizeof word);
        sum += word;
    }
    for (; offset < bytes.size(); ++offset)
        sum += static_cast<std::uint64_t>(bytes[offset]) << (offset % 2 == 0 ? 0 : 8);
    return swapped(fold(sum));
}

std::uint16_t pseudo_header_sum(std::span<const std::uint8_t> packet, const headers& headers) {
    const auto addresses = packet.subspan(headers.addresses, 2 * headers.address_bytes);
    return fold(std::uint64_t{ones_sum(addresses)} + (headers.end - headers.payload) +
                headers.protocol);
}

std::uint16_t payload_sum(std::span<const std::uint8_t> packet, const headers& headers) {
    return ones_sum(packet.subspan(headers.payload, headers.end - headers.payload),
                    pseudo_header_sum(packet, headers));
}

void write_header_checksum(std::span<std::uint8_t> packet, const headers& headers) {
    constexpr std::size_t place = 10;
    put16(packet, headers.start + place, 0);
    const auto sum = ones_sum(packet.subspan(headers.start, headers.payload - headers.start));
    put16(packet, headers.start + place, static_cast<std::uint16_t>(~sum));
}

/// In UDP, 0 means "no checksum": a sum of 0 is sent as 0xffff, which is equal (RFC 768).
void write_payload_checksum(std::span<std::uint8_t> packet, const headers& headers) {
    const std::size_t place = headers.payload + checksum_place(headers.protocol);
    put16(packet, place, 0);
    const auto value = static_cast<std::uint16_t>(~payload_sum(packet, headers));
    put16(packet, place, headers.protocol == protocols::udp && value == 0 ? 0xffff : value);
}

}  // namespace trn::ip
