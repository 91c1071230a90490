// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "models/network/ip_packet/headers.h"

namespace trn::ip {

/// The ones' complement sum of 16-bit words (RFC 1071), starting with `start`; a final odd byte is
/// the high half of a word. For data with a correct checksum, the sum including it is 0xffff.
std::uint16_t ones_sum(std::span<const std::uint8_t> bytes, std::uint16_t start = 0);

/// Sum of the pseudo header of TCP or UDP (RFC 9293 3.1, RFC 8200 8.1).
std::uint16_t pseudo_header_sum(std::span<const std::uint8_t> packet, const headers& headers);
/// Sum of the pseudo header and the payload.
std::uint16_t payload_sum(std::span<const std::uint8_t> packet, const headers& headers);

/// Offset of the checksum in a header: 16 in TCP, 6 in UDP.
constexpr std::size_t checksum_place(std::uint8_t protocol) {
    return protocol == protocols::tcp ? 16 : 6;
}

/// Write the checksum of the IPv4 header, or of TCP or UDP. Precondition: the packet contains its
/// place.
void write_header_checksum(std::span<std::uint8_t> packet, const headers& headers);
void write_payload_checksum(std::span<std::uint8_t> packet, const headers& headers);

}  // namespace trn::ip
