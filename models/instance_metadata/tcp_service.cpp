// SPDX-License-Identifier: Apache-2.0
#include "models/instance_metadata/tcp_service.h"

#include <algorithm>
#include <span>
#include <utility>

#include "models/instance_metadata/arp.h"
#include "models/instance_metadata/packets.h"
#include "models/ip_packet/fields.h"
#include "platform/framework/kernel/random.h"

namespace trn::metadata {

using ethernet::packet;
using ip::get16;
using ip::get32;
using ip::header_bytes;
using ip::protocols;
using ip::put16;
using ip::put32;

namespace {

constexpr std::uint8_t fin = 1, syn = 2, rst = 4, psh = 8, ack = 16;
constexpr std::uint16_t window = 65535;
constexpr std::size_t own_max_segment = 1460, default_max_segment = 536;
constexpr std::size_t min_max_segment = 64;  // for peers that announce a tiny segment

/// The peer's maximum segment size (RFC 9293 3.7.1); 0 if the option is absent.
std::size_t max_segment_in(std::span<const std::uint8_t> options) {
    constexpr std::uint8_t end = 0, padding = 1, max_segment = 2;
    for (std::size_t at = 0; at < options.size() && options[at] != end;) {
        if (options[at] == padding) {
            ++at;
            continue;
        }
        if (at + 1 >= options.size() || options[at + 1] < 2) return 0;
        if (options[at] == max_segment && options[at + 1] == 4 && at + 4 <= options.size())
            return get16(options, at + 2);
        at += options[at + 1];
    }
    return 0;
}

}  // namespace

tcp_service::tcp_service(const config& cfg, responder answers, sender sends)
    : cfg_(cfg), answers_(std::move(answers)), sends_(std::move(sends)) {}

// --- packets ---

bool tcp_service::takes(const packet& packet) const {
    if (is_request_for(packet, cfg_.address)) return true;
    const auto of = ip::find_headers(packet.bytes);
    return of.version == ip::network::ipv4 && get32(packet.bytes, of.addresses + 4) == cfg_.address;
}

void tcp_service::receive(const packet& packet) {
    if (is_request_for(packet, cfg_.address))
        return sends_(arp_answer(packet, cfg_.address, cfg_.mac));
    const auto of = ip::find_headers(packet.bytes);
    const std::span<const std::uint8_t> bytes(packet.bytes);
    if (!of.carries(protocols::tcp) || !of.has(header_bytes::tcp) || !is_whole(packet, of) ||
        ethernet::is_group(packet.source()))
        return;
    const auto tcp = bytes.subspan(of.payload, of.end - of.payload);
    const std::size_t length = (tcp[12] >> 4) * std::size_t{4};
    if (length < header_bytes::tcp || length > tcp.size()) return;
    const peer from{{packet.source(), get32(bytes, of.addresses)}, get16(tcp, 0)};
    const segment got{
        .sequence = get32(tcp, 4),
        .acknowledged = get32(tcp, 8),
        .flags = tcp[13],
        .window = get16(tcp, 14),
        .max_segment = max_segment_in(tcp.subspan(header_bytes::tcp, length - header_bytes::tcp)),
        .text = {reinterpret_cast<const char*>(tcp.data()) + length, tcp.size() - length}};
    if (get16(tcp, 2) != cfg_.port) return refuse(from, got);
    receive_segment(from, got);
}

void tcp_service::send(const peer& to, const segment& segment, std::uint8_t hops) {
    constexpr std::size_t option = 4;
    const std::size_t header = header_bytes::tcp + (segment.max_segment != 0 ? option : 0);
    auto made = new_ipv4_packet({.to = to.host.mac,
                                 .from = cfg_.mac,
                                 .destination = to.host.address,
                                 .source = cfg_.address,
                                 .protocol = protocols::tcp,
                                 .hops = hops,
                                 .may_be_fragmented = false},
                                header + segment.text.size());
    const auto tcp = std::span(made->bytes).subspan(ipv4_payload);
    put16(tcp, 0, cfg_.port);
    put16(tcp, 2, to.port);
    put32(tcp, 4, segment.sequence);
    put32(tcp, 8, segment.acknowledged);
    tcp[12] = static_cast<std::uint8_t>(header / 4 << 4);
    tcp[13] = segment.flags;
    put16(tcp, 14, window);
    if (segment.max_segment != 0)
        put32(tcp, header_bytes::tcp,
              static_cast<std::uint32_t>(0x0204'0000 | segment.max_segment));
    std::ranges::copy(segment.text, tcp.begin() + static_cast<std::ptrdiff_t>(header));
    write_checksums(*made);
    sends_(std::move(made));
}

// --- connections ---

/// Responds to a segment without a connection (RFC 9293 3.10.7.1).
void tcp_service::refuse(const peer& to, const segment& got) {
    if ((got.flags & rst) != 0) return;
    const auto length = static_cast<std::uint32_t>(got.text.size()) + ((got.flags & syn) != 0) +
                        ((got.flags & fin) != 0);
    const bool answers = (got.flags & ack) != 0;
    send(to, {.sequence = answers ? got.acknowledged : 0,
              .acknowledged = answers ? 0 : got.sequence + length,
              .flags = static_cast<std::uint8_t>(answers ? rst : rst | ack)});
}

void tcp_service::receive_segment(const peer& from, const segment& got) {
    const auto known = connections_.find(from);
    if ((got.flags & syn) != 0) {
        if (known == connections_.end() || known->second.expected != got.sequence + 1)
            return open(from, got);
        known->second.next = known->second.acknowledged;  // the SYN+ACK was lost: send it again
        return transmit(from, known->second);
    }
    if (known == connections_.end()) return refuse(from, got);
    connection& of = known->second;
    if ((got.flags & rst) != 0) {
        if (got.sequence == of.expected) connections_.erase(known);
        return;
    }
    if ((got.flags & ack) == 0) return;
    take_acknowledgement(of, got);
    if (of.acknowledged == 0) return;  // handshake not complete
    take_text(from, of, got);
}

void tcp_service::open(const peer& from, const segment& got) {
    if ((got.flags & (rst | ack)) != 0) return refuse(from, got);
    connections_.erase(from);
    if (connections_.size() >= max_connections) drop_oldest();
    connection& made = connections_[from];
    made.age = ++opened_;
    made.initial = static_cast<std::uint32_t>(mix_bits(cfg_.seed + opened_));
    made.expected = got.sequence + 1;
    made.window = got.window;
    made.max_segment = std::clamp(got.max_segment == 0 ? default_max_segment : got.max_segment,
                                  min_max_segment, own_max_segment);
    transmit(from, made);
}

void tcp_service::drop_oldest() {
    connections_.erase(std::ranges::min_element(connections_, {},
                                                [](const auto& each) { return each.second.age; }));
}

void tcp_service::take_acknowledgement(connection& of, const segment& got) const {
    const std::uint32_t acknowledged = got.acknowledged - of.initial;
    if (acknowledged < of.acknowledged || acknowledged > of.sent) return;
    of.window = got.window;
    if (acknowledged == of.acknowledged) return;
    of.acknowledged = acknowledged;
    of.next = std::max(of.next, acknowledged);
    of.tries = 0;
    of.due = sc_core::sc_time_stamp() + cfg_.retransmit;
}

/// Receives text. Text after the first request of a connection is acknowledged, but ignored.
void tcp_service::take_text(const peer& from, connection& of, const segment& got) {
    const std::uint32_t known = of.expected - got.sequence;  // number of repeated bytes
    const bool in_order = known <= got.text.size();
    const bool wants_answer = !got.text.empty() || (got.flags & fin) != 0;
    if (in_order) {
        const auto fresh = got.text.substr(known);
        of.expected += static_cast<std::uint32_t>(fresh.size());
        if (!of.answer) of.request.append(fresh.substr(0, max_request - of.request.size()));
        if ((got.flags & fin) != 0 && !of.peer_ended) {
            ++of.expected;
            of.peer_ended = true;
        }
    }
    if (!of.answer && wants_answer) of.answer = answers_(from.host, of.request);
    const bool unanswerable = !of.answer && (of.peer_ended || of.request.size() >= max_request);
    const bool complete = of.answer && of.peer_ended && of.acknowledged == of.length();
    const std::uint32_t before = of.next;
    if (!unanswerable) transmit(from, of);
    if (unanswerable || (wants_answer && of.next == before))
        send(from, {.sequence = of.initial + of.next,
                    .acknowledged = of.expected,
                    .flags = static_cast<std::uint8_t>(unanswerable ? rst | ack : ack)});
    if (unanswerable || complete) connections_.erase(from);
}

/// Sends as much as fits into the peer's window.
void tcp_service::transmit(const peer& to, connection& of) {
    const std::uint32_t before = of.next;
    if (of.next == 0) {
        send(to, {.sequence = of.initial,
                  .acknowledged = of.expected,
                  .flags = syn | ack,
                  .max_segment = own_max_segment});
        of.next = 1;
    } else if (of.acknowledged != 0) {
        while (of.next < of.length()) {
            const std::uint32_t sent = transmit_text(to, of);
            if (sent == 0) break;
            of.next += sent;
        }
    }
    of.sent = std::max(of.sent, of.next);
    if (of.next != before) of.due = sc_core::sc_time_stamp() + cfg_.retransmit;
}

/// Sends one segment; returns its length in sequence numbers, 0 if the window is full.
/// Retransmission probes a window of 0 with one byte.
std::uint32_t tcp_service::transmit_text(const peer& to, connection& of) {
    const auto flying = of.next - of.acknowledged;
    const auto limit = std::max(of.window, 1u);
    if (flying >= limit) return 0;
    const std::string_view rest = std::string_view(of.answer->text).substr(of.next - 1);
    const auto text =
        rest.substr(0, std::min<std::size_t>(of.max_segment, std::size_t{limit} - flying));
    const bool last = text.size() == rest.size();
    send(to,
         {.sequence = of.initial + of.next,
          .acknowledged = of.expected,
          .flags = static_cast<std::uint8_t>(ack | psh | (last ? fin : 0)),
          .text = text},
         of.answer->hop_limit);
    return static_cast<std::uint32_t>(text.size()) + last;
}

// --- time ---

std::optional<sc_core::sc_time> tcp_service::next_timeout() const {
    std::optional<sc_core::sc_time> first;
    for (const auto& [from, of] : connections_)
        if (of.waits()) first = first ? std::min(*first, of.due) : of.due;
    return first;
}

void tcp_service::time_out() {
    const auto now = sc_core::sc_time_stamp();
    std::erase_if(connections_, [&](const auto& each) {
        const connection& of = each.second;
        return of.waits() && of.due <= now && of.tries + 1 >= max_tries;
    });
    for (auto& [to, of] : connections_) {
        if (!of.waits() || of.due > now) continue;
        ++of.tries;
        of.next = of.acknowledged;
        transmit(to, of);
    }
}

}  // namespace trn::metadata
