// SPDX-License-Identifier: Apache-2.0
#include "models/cards/ena/queues/packet_report.h"

#include "models/network/ip_packet/checksum.h"
#include "models/network/ip_packet/fields.h"

namespace trn::ena_queues {

namespace regs = ena_io_regs;
using ip::protocols;

namespace {

constexpr std::uint16_t right_sum = 0xffff;

void report_payload(io_entry& entry, std::span<const std::uint8_t> packet,
                    const ip::headers& headers) {
    const bool is_tcp = headers.carries(protocols::tcp);
    if (!is_tcp && !headers.carries(protocols::udp)) return;
    entry.set(regs::rx_done::l4_protocol,
              is_tcp ? regs::rx_done::l4_protocol_tcp : regs::rx_done::l4_protocol_udp);
    if (!headers.has(is_tcp ? ip::header_bytes::tcp : ip::header_bytes::udp)) return;
    const bool has_none =
        !is_tcp && headers.version == ip::network::ipv4 &&
        ip::get16(packet, headers.payload + ip::checksum_place(headers.protocol)) == 0;
    if (has_none) return;  // UDP over IPv4 may omit the checksum (RFC 768)
    entry.set(regs::rx_done::l4_checked, 1);
    entry.set(regs::rx_done::l4_checksum_error, ip::payload_sum(packet, headers) != right_sum);
}

}  // namespace

io_entry report_on(std::span<const std::uint8_t> packet, const std::optional<hash_key>& key) {
    io_entry entry;
    const auto headers = ip::find_headers(packet);
    if (headers.version == ip::network::other) return entry;
    if (key) entry.set(regs::reg::rx_done_hash, flow_hash(*key, packet, headers));
    const bool is_ipv4 = headers.version == ip::network::ipv4;
    entry.set(regs::rx_done::l3_protocol,
              is_ipv4 ? regs::rx_done::l3_protocol_ipv4 : regs::rx_done::l3_protocol_ipv6);
    entry.set(regs::rx_done::fragment, headers.is_fragment);
    if (is_ipv4)
        entry.set(regs::rx_done::l3_checksum_error,
                  ip::ones_sum(packet.subspan(headers.start, headers.payload - headers.start)) !=
                      right_sum);
    report_payload(entry, packet, headers);
    return entry;
}

}  // namespace trn::ena_queues
