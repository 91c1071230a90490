// SPDX-License-Identifier: Apache-2.0
#include "models/cards/instance_metadata/tcp_service.h"

#include <algorithm>
#include <span>
#include <utility>

#include "models/cards/instance_metadata/arp.h"
#include "models/cards/instance_metadata/packets.h"
#include "models/network/ip_packet/fields.h"
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
constexpr std::uint32_t window = 65535;
constexpr std::size_t own_max_segment = 1460, default_max_segment = 536;
constexpr std::size_t min_max_segment = 64;  // for peers that announce a tiny segment
constexpr unsigned max_doublings = 8;        // 51 s

/// The peer's maximum segment size (RFC 9293 3.7.1); 0 if the option is absent.
std::size_t max_segment_in(std::span<const std::uint8_t> options) {
    constexpr std::uint8_t end = 0, padding = 1, max_segment = 2;
    for (std::size_t offset = 0; offset < options.size() && options[offset] != end;) {
        if (options[offset] == padding) {
            ++offset;
            continue;
        }
        if (offset + 1 >= options.size() || options[offset + 1] < 2) return 0;
        if (options[offset] == max_segment && options[offset + 1] == 4 &&
            offset + 4 <= options.size())
            return get16(options, offset + 2);
        offset += options[offset + 1];
    }
    return 0;
}

}  // namespace

tcp_service::tcp_service(const config& cfg, responder answers, sender sends)
    : cfg_(cfg), answers_(std::move(answers)), sends_(std::move(sends)) {}

// --- packets ---

bool tcp_service::takes(const packet& packet) const {
    if (is_request_for(packet, cfg_.address)) return true;
    const auto headers = ip::find_headers(packet.bytes);
    return headers.version == ip::network::ipv4 &&
           get32(packet.bytes, headers.addresses + 4) == cfg_.address;
}

void tcp_service::receive(const packet& packet) {
    if (is_request_for(packet, cfg_.address))
        return sends_(arp_answer(packet, cfg_.address, cfg_.mac));
    const auto headers = ip::find_headers(packet.bytes);
    const std::span<const std::uint8_t> bytes(packet.bytes);
    if (!headers.carries(protocols::tcp) || !headers.has(header_bytes::tcp) ||
        !is_whole(packet, headers) || ethernet::is_group(packet.source()))
        return;
    const auto tcp = bytes.subspan(headers.payload, headers.end - headers.payload);
    const std::size_t length = (tcp[12] >> 4) * std::size_t{4};
    if (length < header_bytes::tcp || length > tcp.size()) return;
    const peer remote{
        {packet.source(), get32(bytes, headers.addresses)}, get16(tcp, 0), get16(tcp, 2)};
    const segment received{
        .sequence = get32(tcp, 4),
        .acknowledged = get32(tcp, 8),
        .flags = tcp[13],
        .window = get16(tcp, 14),
        .max_segment = max_segment_in(tcp.subspan(header_bytes::tcp, length - header_bytes::tcp)),
        .text = {reinterpret_cast<const char*>(tcp.data()) + length, tcp.size() - length}};
    if (remote.service != cfg_.port) return refuse(remote, received);
    const auto known = connections_.find(remote);
    if (known != connections_.end()) return receive_known(remote, known->second, received);
    if (received.has(syn)) return open(remote, received);
    refuse(remote, received);
}

void tcp_service::send(const peer& remote, const segment& segment, std::uint8_t hops) {
    constexpr std::size_t option = 4;
    const std::size_t header = header_bytes::tcp + (segment.max_segment != 0 ? option : 0);
    auto made = new_ipv4_packet({.destination_mac = remote.host.mac,
                                 .source_mac = cfg_.mac,
                                 .destination = remote.host.address,
                                 .source = cfg_.address,
                                 .protocol = protocols::tcp,
                                 .hops = hops,
                                 .may_be_fragmented = false},
                                header + segment.text.size());
    const auto tcp = std::span(made->bytes).subspan(ipv4_payload);
    put16(tcp, 0, remote.service);
    put16(tcp, 2, remote.port);
    put32(tcp, 4, segment.sequence);
    put32(tcp, 8, segment.acknowledged);
    tcp[12] = static_cast<std::uint8_t>(header / 4 << 4);
    tcp[13] = segment.flags;
    put16(tcp, 14, static_cast<std::uint16_t>(window));
    if (segment.max_segment != 0)
        put32(tcp, header_bytes::tcp,
              static_cast<std::uint32_t>(0x0204'0000 | segment.max_segment));
    std::ranges::copy(segment.text, tcp.begin() + static_cast<std::ptrdiff_t>(header));
    write_checksums(*made);
    sends_(std::move(made));
}

// --- connections ---

std::uint32_t tcp_service::segment::length() const {
    return static_cast<std::uint32_t>(text.size()) + has(syn) + has(fin);
}

/// Responds to a segment without a connection, or with an acknowledgement that none has asked for
/// (RFC 9293 3.10.7.1).
void tcp_service::refuse(const peer& remote, const segment& received) {
    if (received.has(rst)) return;
    const bool answers = received.has(ack);
    send(remote, {.sequence = answers ? received.acknowledged : 0,
                  .acknowledged = answers ? 0 : received.sequence + received.length(),
                  .flags = static_cast<std::uint8_t>(answers ? rst : rst | ack)});
}

void tcp_service::acknowledge(const peer& remote, const connection& state) {
    send(remote,
         {.sequence = state.initial + state.sent, .acknowledged = state.expected, .flags = ack});
}

/// Whether the segment has a sequence number that the service expects (RFC 9293 3.10.7.4, first).
bool tcp_service::is_in_window(const connection& state, const segment& received) {
    const std::uint32_t first = received.sequence - state.expected, length = received.length();
    return first < window || (length != 0 && first + length - 1 < window);
}

/// In the order of RFC 9293 3.10.7.4. An unexpected segment is answered with the expected
/// numbers: it may be a keep-alive probe, or a forged SYN or RST (RFC 5961).
void tcp_service::receive_known(const peer& remote, connection& state, const segment& received) {
    const bool repeats_opening = received.has(syn) && !received.has(rst) && !state.is_open() &&
                                 received.sequence + 1 == state.expected;
    if (repeats_opening) {
        state.next = 0;  // the SYN+ACK was lost
        return transmit(remote, state);
    }
    if (!is_in_window(state, received)) {
        if (!received.has(rst)) acknowledge(remote, state);
        return;
    }
    if (received.has(rst)) {
        if (received.sequence != state.expected) return acknowledge(remote, state);
        connections_.erase(remote);
        return;
    }
    if (received.has(syn)) {
        if (state.is_open()) return acknowledge(remote, state);
        connections_.erase(remote);  // the service listens again
        return;
    }
    if (!received.has(ack)) return;
    const std::uint32_t acknowledged = received.acknowledged - state.initial;
    if (!state.is_open() && acknowledged != 1) return refuse(remote, received);
    if (acknowledged > state.sent) return acknowledge(remote, state);  // also one before the SYN
    take_acknowledgement(state, received);
    take_text(remote, state, received);
}

void tcp_service::open(const peer& remote, const segment& received) {
    if (received.has(rst | ack)) return refuse(remote, received);
    if (connections_.size() >= max_connections) drop_oldest();
    connection& made = connections_[remote];
    made.age = ++opened_;
    made.initial = static_cast<std::uint32_t>(mix_bits(cfg_.seed + opened_));
    made.expected = received.sequence + 1;
    made.window = received.window;
    made.window_sequence = received.sequence;
    made.max_segment =
        std::clamp(received.max_segment == 0 ? default_max_segment : received.max_segment,
                   min_max_segment, own_max_segment);
    transmit(remote, made);
}

void tcp_service::drop_oldest() {
    connections_.erase(std::ranges::min_element(connections_, {},
                                                [](const auto& each) { return each.second.age; }));
}

/// A peer that acknowledges probes of its window of 0 keeps its connection (RFC 9293 3.8.6.1).
void tcp_service::take_acknowledgement(connection& state, const segment& received) const {
    const std::uint32_t acknowledged = received.acknowledged - state.initial;
    if (acknowledged < state.acknowledged) return;
    const auto age = static_cast<std::int32_t>(received.sequence - state.window_sequence);
    const bool opens = state.window == 0 && received.window != 0;
    if (age >= 0) {
        state.window = received.window;
        state.window_sequence = received.sequence;
    }
    if (state.window == 0) state.tries = 0;
    if (opens && age >= 0) {
        state.probes = 0;
        state.next = acknowledged;  // the byte of the last probe was not taken
    }
    if (acknowledged == state.acknowledged) return;
    state.acknowledged = acknowledged;
    state.next = std::max(state.next, acknowledged);
    state.tries = 0;
    state.due = sc_core::sc_time_stamp() + timeout_of(state);
}

/// Receives text. Text after the first request of a connection is acknowledged, but ignored.
void tcp_service::take_text(const peer& remote, connection& state, const segment& received) {
    const std::uint32_t known = state.expected - received.sequence;  // number of repeated bytes
    const bool in_order = known <= received.text.size();
    const bool wants_answer = !received.text.empty() || received.has(fin);
    if (in_order) {
        const auto fresh = received.text.substr(known);
        state.expected += static_cast<std::uint32_t>(fresh.size());
        if (!state.answer)
            state.request.append(fresh.substr(0, max_request - state.request.size()));
        if (received.has(fin) && !state.peer_ended) {
            ++state.expected;
            state.peer_ended = true;
        }
    }
    if (!state.answer && wants_answer) state.answer = answers_(remote.host, state.request);
    const bool unanswerable =
        !state.answer && (state.peer_ended || state.request.size() >= max_request);
    const bool complete = state.answer && state.peer_ended && state.acknowledged == state.length();
    const std::uint32_t before = state.next;
    if (!unanswerable) transmit(remote, state);
    if (unanswerable)
        send(remote, {.sequence = state.initial + state.sent,
                      .acknowledged = state.expected,
                      .flags = rst | ack});
    else if (wants_answer && state.next == before)
        acknowledge(remote, state);
    if (unanswerable || complete) connections_.erase(remote);
}

/// Sends as much as fits into the peer's window.
void tcp_service::transmit(const peer& remote, connection& state) {
    const std::uint32_t before = state.next;
    if (state.next == 0) {
        send(remote, {.sequence = state.initial,
                      .acknowledged = state.expected,
                      .flags = syn | ack,
                      .max_segment = own_max_segment});
        state.next = 1;
    } else if (state.is_open()) {
        while (state.next < state.length()) {
            const std::uint32_t sent = transmit_text(remote, state);
            if (sent == 0) break;
            state.next += sent;
        }
    }
    state.sent = std::max(state.sent, state.next);
    if (state.next != before) state.due = sc_core::sc_time_stamp() + timeout_of(state);
}

/// Sends one segment; returns its length in sequence numbers, 0 if the window is full.
/// Retransmission probes a window of 0 with one byte.
std::uint32_t tcp_service::transmit_text(const peer& remote, connection& state) {
    const auto flying = state.next - state.acknowledged;
    const auto limit = std::max(state.window, 1u);
    if (flying >= limit) return 0;
    const std::string_view rest = std::string_view(state.answer->text).substr(state.next - 1);
    const auto text =
        rest.substr(0, std::min<std::size_t>(state.max_segment, std::size_t{limit} - flying));
    const bool last = text.size() == rest.size();
    send(remote,
         {.sequence = state.initial + state.next,
          .acknowledged = state.expected,
          .flags = static_cast<std::uint8_t>(ack | psh | (last ? fin : 0)),
          .text = text},
         state.answer->hop_limit);
    return static_cast<std::uint32_t>(text.size()) + last;
}

// --- time ---

/// Intervals of probes double.
sc_core::sc_time tcp_service::timeout_of(const connection& state) const {
    return cfg_.retransmit * static_cast<double>(1u << std::min(state.probes, max_doublings));
}

std::optional<sc_core::sc_time> tcp_service::next_timeout() const {
    std::optional<sc_core::sc_time> first;
    for (const auto& [remote, state] : connections_)
        if (state.waits()) first = first ? std::min(*first, state.due) : state.due;
    return first;
}

void tcp_service::time_out() {
    const auto now = sc_core::sc_time_stamp();
    std::erase_if(connections_, [&](const auto& each) {
        const connection& state = each.second;
        return state.waits() && state.due <= now && state.tries + 1 >= max_tries;
    });
    for (auto& [remote, state] : connections_) {
        if (!state.waits() || state.due > now) continue;
        ++state.tries;
        if (state.window == 0) ++state.probes;
        state.next = state.acknowledged;
        transmit(remote, state);
    }
}

}  // namespace trn::metadata
