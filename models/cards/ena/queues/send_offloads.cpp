// SPDX-License-Identifier: Apache-2.0
#include "models/cards/ena/queues/send_offloads.h"

#include <algorithm>
#include <span>
#include <utility>

#include "models/network/ip_packet/checksum.h"
#include "models/network/ip_packet/fields.h"
#include "models/network/ip_packet/headers.h"

namespace trn::ena_queues {

using ethernet::packet;
using ip::get16;
using ip::get32;
using ip::protocols;
using ip::put16;
using ip::put32;

namespace {

bool has_checksum(const ip::headers& headers) {
    return (headers.carries(protocols::tcp) && headers.has(ip::header_bytes::tcp)) ||
           (headers.carries(protocols::udp) && headers.has(ip::header_bytes::udp));
}

void write_checksums(const send_offloads& wanted, packet& packet) {
    const auto headers = ip::find_headers(packet.bytes);
    const std::span<std::uint8_t> bytes(packet.bytes);
    if (wanted.header_checksum && headers.version == ip::network::ipv4)
        ip::write_header_checksum(bytes, headers);
    if (!wanted.payload_checksum || !has_checksum(headers)) return;
    if (!wanted.partial) return ip::write_payload_checksum(bytes, headers);
    const auto sum = ip::ones_sum(bytes.subspan(headers.payload, headers.end - headers.payload));
    const auto value = static_cast<std::uint16_t>(~sum);
    const bool is_udp = headers.protocol == protocols::udp;
    put16(bytes, headers.payload + ip::checksum_place(headers.protocol),
          is_udp && value == 0 ? 0xffff : value);
}

/// Divides a long TCP packet into segments, each with its headers.
class segmenter {
public:
    segmenter(const packet& whole, const ip::headers& headers, std::uint32_t segment)
        : whole_(whole), headers_(headers), segment_(segment) {
        data_ = headers.payload + (whole.bytes[headers.payload + 12] >> 4) * std::size_t{4};
    }
    bool valid() const {
        return data_ - headers_.payload >= ip::header_bytes::tcp && data_ < headers_.end &&
               segment_ >= send_offloads::min_segment;
    }
    std::vector<std::unique_ptr<packet>> cut() const {
        std::vector<std::unique_ptr<packet>> all;
        for (std::size_t offset = data_; offset < headers_.end; offset += segment_)
            all.push_back(
                piece(offset, std::min<std::size_t>(segment_, headers_.end - offset), all.size()));
        return all;
    }

private:
    static constexpr std::uint8_t fin = 1, psh = 8, cwr = 0x80;

    /// Makes a segment and sets the IP and TCP fields that differ between segments: RFC 9293; ECN
    /// by RFC 3168 6.1.2.
    std::unique_ptr<packet> piece(std::size_t offset, std::size_t bytes, std::size_t number) const {
        auto made = std::make_unique<packet>();
        made->bytes.resize(data_ + bytes);
        const std::span<std::uint8_t> all(made->bytes);
        std::copy_n(whole_.bytes.data(), data_, all.data());
        std::copy_n(whole_.bytes.data() + offset, bytes, all.data() + data_);
        const std::size_t length = data_ - headers_.start + bytes;
        if (headers_.version == ip::network::ipv4) {
            put16(all, headers_.start + 2, static_cast<std::uint16_t>(length));
            put16(all, headers_.start + 4,
                  static_cast<std::uint16_t>(get16(all, headers_.start + 4) + number));
        } else {
            put16(all, headers_.start + 4,
                  static_cast<std::uint16_t>(length - ip::header_bytes::ipv6));
        }
        put32(all, headers_.payload + 4,
              get32(all, headers_.payload + 4) + static_cast<std::uint32_t>(offset - data_));
        auto& flags = all[headers_.payload + 13];
        if (offset + bytes < headers_.end) flags = static_cast<std::uint8_t>(flags & ~(fin | psh));
        if (number != 0) flags = static_cast<std::uint8_t>(flags & ~cwr);
        return made;
    }

    const packet& whole_;
    const ip::headers headers_;
    const std::uint32_t segment_;
    std::size_t data_ = 0;  // offset of TCP's data in the packet
};

}  // namespace

std::vector<std::unique_ptr<packet>> apply_offloads(const send_offloads& wanted,
                                                    std::unique_ptr<packet> whole) {
    std::vector<std::unique_ptr<packet>> all;
    if (!wanted.segmentation) {
        write_checksums(wanted, *whole);
        all.push_back(std::move(whole));
        return all;
    }
    const auto headers = ip::find_headers(whole->bytes);
    if (!headers.carries(protocols::tcp) || !headers.has(ip::header_bytes::tcp)) return all;
    const segmenter segments(*whole, headers, wanted.segment);
    if (!segments.valid()) return all;
    all = segments.cut();
    for (auto& each : all)
        write_checksums({.header_checksum = true, .payload_checksum = true}, *each);
    return all;
}

}  // namespace trn::ena_queues
