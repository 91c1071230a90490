// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/network/ethernet_switch/packet.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/send_carried.h"

namespace trn::test {

/// A TCP segment, and the hop limit of its packet.
struct web_segment {
    std::uint32_t sequence = 0, acknowledged = 0;
    std::uint8_t flags = 0, hops = 0;
    std::uint16_t from = 0, to = 0;
    std::string text = {};
};
/// Properties of the client's segments, and its receive window.
struct web_shape {
    std::uint16_t port = 80, window = 65535, max_segment = 0;
};

/// A network card with a minimal TCP client: offsets are literal numbers, so that none are shared
/// with the model.
class web_client final : public plug::device {
public:
    using bytes_type = std::vector<std::uint8_t>;
    static constexpr std::uint8_t fin = 1, syn = 2, rst = 4, ack = 16;

    using segment = web_segment;
    using shape = web_shape;

    explicit web_client(const char* name) : net(name, *this) {}
    void received(plug&, tlm::tlm_generic_payload& payload, sc_core::sc_time&) override {
        auto* const carrier = payload.get_extension<ethernet::packet_carrier>();
        packets.push_back(std::move(carrier->carried->bytes));
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    void send(bytes_type bytes) {
        auto packet = std::make_unique<ethernet::packet>();
        packet->bytes = std::move(bytes);
        send_carried(net, ethernet::packet_carrier(std::move(packet)));
    }
    void send_segment(const segment& segment, const shape& like = {}) {
        send(packet_of(segment, like));
    }

    /// Wraps a segment from 10.0.0.7 in Ethernet, IPv4 and TCP.
    static bytes_type packet_of(const segment& segment, const shape& like = {}) {
        const unsigned options = like.max_segment != 0 ? 4 : 0;
        const auto tcp = static_cast<std::uint16_t>(20 + options + segment.text.size());
        bytes_type b{0x02, 0, 0, 0, 0, 0x99, 0x02, 0, 0, 0, 0, 7, 8, 0, 0x45, 0};
        put(b, tcp + 20, 2);
        put(b, 0x0000'4000, 4);
        put(b, 0x4006'0000, 4);
        put(b, 0x0a00'0007, 4);
        put(b, 0xa9fe'a9fe, 4);
        put(b, segment.from, 2);
        put(b, like.port, 2);
        put(b, segment.sequence, 4);
        put(b, segment.acknowledged, 4);
        put(b, (20 + options) << 10 | segment.flags, 2);
        put(b, like.window, 2);
        put(b, 0, 4);
        if (options != 0) put(b, 0x0204'0000u | like.max_segment, 4);
        b.insert(b.end(), segment.text.begin(), segment.text.end());
        store(b, 24, ~sum(b, 14, 34, 0));
        store(b, 50, ~sum(b, 34, b.size(), sum(b, 26, 34, 6u + tcp)));
        return b;
    }
    /// The next received segment; nullopt if there is none, or it is not TCP, or a checksum is
    /// wrong.
    std::optional<segment> next_segment() {
        if (packets.empty()) return std::nullopt;
        const bytes_type b = std::move(packets.front());
        packets.pop_front();
        if (b.size() < 54 || get(b, 12, 2) != 0x0800 || b[14] != 0x45 || b[23] != 6)
            return std::nullopt;
        const auto total = get(b, 16, 2);
        if (total + 14 != b.size() || sum(b, 14, 34, 0) != 0xffff ||
            sum(b, 34, b.size(), sum(b, 26, 34, 6u + total - 20)) != 0xffff)
            return std::nullopt;
        const auto text = 34 + (b[46] >> 4) * 4;
        return segment{.sequence = get(b, 38, 4),
                       .acknowledged = get(b, 42, 4),
                       .flags = b[47],
                       .hops = b[22],
                       .from = static_cast<std::uint16_t>(get(b, 34, 2)),
                       .to = static_cast<std::uint16_t>(get(b, 36, 2)),
                       .text = std::string(b.begin() + text, b.end())};
    }

    /// Connects from `port`. Returns the service's SYN segment, or nullopt.
    std::optional<segment> connect(std::uint16_t port, const shape& like = {}) {
        send_segment({.sequence = 1000, .flags = syn, .from = port}, like);
        advance();
        return next_segment();
    }
    /// Sends a request over a new connection and returns the whole response; "" if there is none.
    /// Acknowledges each segment, and closes the connection.
    std::string ask(std::string_view request, const shape& like = {}) {
        port_ = std::max<std::uint16_t>(first_port, static_cast<std::uint16_t>(port_ + 1));
        const std::uint16_t port = port_;
        const auto opened = connect(port, like);
        if (!opened || opened->flags != (syn | ack) || opened->acknowledged != 1001) return "";
        std::uint32_t expected = opened->sequence + 1;
        auto own = static_cast<std::uint32_t>(1001 + request.size());
        send_segment({.sequence = 1001,
                      .acknowledged = expected,
                      .flags = ack,
                      .from = port,
                      .text = std::string(request)},
                     like);
        std::string answer;
        for (int quiet = 0; quiet < 20; ++quiet) {
            advance();
            while (const auto got = next_segment()) {
                if (got->sequence != expected || (got->flags & rst) != 0) continue;
                answer += got->text;
                last_hops = got->hops;
                expected += static_cast<std::uint32_t>(got->text.size()) + (got->flags & fin);
                const bool over = (got->flags & fin) != 0;
                send_segment({.sequence = own,
                              .acknowledged = expected,
                              .flags = static_cast<std::uint8_t>(over ? ack | fin : ack),
                              .from = port},
                             like);
                if (!over) continue;
                advance();
                next_segment();  // the final acknowledgement
                return answer;
            }
        }
        return "";
    }
    static void advance(double microseconds = 1000) {
        sc_core::sc_start(microseconds, sc_core::SC_US);
    }

    static void put(bytes_type& to, std::uint32_t value, unsigned bytes) {
        for (unsigned i = bytes; i-- > 0;) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    }
    static std::uint32_t get(const bytes_type& of, std::size_t at, unsigned bytes) {
        std::uint32_t value = 0;
        for (unsigned i = 0; i < bytes; ++i) value = value << 8 | of[at + i];
        return value;
    }
    static void store(bytes_type& to, std::size_t at, std::uint32_t value) {
        to[at] = static_cast<std::uint8_t>(value >> 8);
        to[at + 1] = static_cast<std::uint8_t>(value);
    }
    static std::uint32_t sum(const bytes_type& of, std::size_t from, std::size_t to,
                             std::uint32_t start) {
        for (std::size_t at = from; at < to; ++at)
            start += static_cast<std::uint32_t>(of[at]) << ((at - from) % 2 == 0 ? 8 : 0);
        while (start >> 16 != 0) start = (start & 0xffff) + (start >> 16);
        return start;
    }

    plug net;
    std::deque<bytes_type> packets;
    unsigned last_hops = 0;

private:
    static constexpr std::uint16_t first_port = 20000;  // tests use lower ones themselves
    std::uint16_t port_ = first_port;
};

}  // namespace trn::test
