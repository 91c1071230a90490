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

bool has_checksum(const ip::headers& of) {
    return (of.carries(protocols::tcp) && of.has(ip::header_bytes::tcp)) ||
           (of.carries(protocols::udp) && of.has(ip::header_bytes::udp));
}

void write_checksums(const send_offloads& wanted, packet& packet) {
    const auto of = ip::find_headers(packet.bytes);
    const std::span<std::uint8_t> bytes(packet.bytes);
    if (wanted.header_checksum && of.version == ip::network::ipv4)
        ip::write_header_checksum(bytes, of);
    if (!wanted.payload_checksum || !has_checksum(of)) return;
    if (!wanted.partial) return ip::write_payload_checksum(bytes, of);
    const auto sum = ip::ones_sum(bytes.subspan(of.payload, of.end - of.payload));
    const auto value = static_cast<std::uint16_t>(~sum);
    const bool is_udp = of.protocol == protocols::udp;
    put16(bytes, of.payload + ip::checksum_place(of.protocol),
          is_udp && value == 0 ? 0xffff : value);
}

/// Divides a long TCP packet into segments, each with its headers.
class segmenter {
public:
    segmenter(const packet& whole, const ip::headers& of, std::uint32_t segment)
        : whole_(whole), of_(of), segment_(segment) {
        data_ = of.payload + (whole.bytes[of.payload + 12] >> 4) * std::size_t{4};
    }
    bool valid() const {
        return data_ - of_.payload >= ip::header_bytes::tcp && data_ < of_.end &&
               segment_ >= send_offloads::min_segment;
    }
    std::vector<std::unique_ptr<packet>> cut() const {
        std::vector<std::unique_ptr<packet>> all;
        for (std::size_t at = data_; at < of_.end; at += segment_)
            all.push_back(piece(at, std::min<std::size_t>(segment_, of_.end - at), all.size()));
        return all;
    }

private:
    static constexpr std::uint8_t fin = 1, psh = 8, cwr = 0x80;

    /// Makes a segment and sets the IP and TCP fields that differ between segments: RFC 9293; ECN
    /// by RFC 3168 6.1.2.
    std::unique_ptr<packet> piece(std::size_t at, std::size_t bytes, std::size_t number) const {
        auto made = std::make_unique<packet>();
        made->bytes.reserve(data_ + bytes);
        const auto from = whole_.bytes.begin();
        made->bytes.assign(from, from + static_cast<std::ptrdiff_t>(data_));
        made->bytes.insert(made->bytes.end(), from + static_cast<std::ptrdiff_t>(at),
                           from + static_cast<std::ptrdiff_t>(at + bytes));
        const std::span<std::uint8_t> all(made->bytes);
        const std::size_t length = data_ - of_.start + bytes;
        if (of_.version == ip::network::ipv4) {
            put16(all, of_.start + 2, static_cast<std::uint16_t>(length));
            put16(all, of_.start + 4,
                  static_cast<std::uint16_t>(get16(all, of_.start + 4) + number));
        } else {
            put16(all, of_.start + 4, static_cast<std::uint16_t>(length - ip::header_bytes::ipv6));
        }
        put32(all, of_.payload + 4,
              get32(all, of_.payload + 4) + static_cast<std::uint32_t>(at - data_));
        auto& flags = all[of_.payload + 13];
        if (at + bytes < of_.end) flags = static_cast<std::uint8_t>(flags & ~(fin | psh));
        if (number != 0) flags = static_cast<std::uint8_t>(flags & ~cwr);
        return made;
    }

    const packet& whole_;
    const ip::headers of_;
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
    const auto of = ip::find_headers(whole->bytes);
    if (!of.carries(protocols::tcp) || !of.has(ip::header_bytes::tcp)) return all;
    const segmenter segments(*whole, of, wanted.segment);
    if (!segments.valid()) return all;
    all = segments.cut();
    for (auto& each : all)
        write_checksums({.header_checksum = true, .payload_checksum = true}, *each);
    return all;
}

}  // namespace trn::ena_queues
