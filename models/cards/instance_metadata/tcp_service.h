// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <systemc>

#include "models/network/ethernet_switch/packet.h"
#include "models/network/ip_packet/headers.h"

namespace trn::metadata {

/// A host with one IPv4 address and one open TCP port (RFC 9293, and RFC 5961 against blind
/// attacks). It answers one request per connection, then closes it. It answers ARP, and ignores
/// other packets to its address. Repeats unacknowledged segments, and probes a window of 0 for as
/// long as the peer acknowledges; has no window scaling, congestion control or IPv6.
class tcp_service {
public:
    static constexpr std::size_t max_connections = 32;  ///< a new connection replaces the oldest
    static constexpr std::size_t max_request =
        8192;                                 ///< bytes; a longer request is answered with RST
    static constexpr unsigned max_tries = 6;  ///< per segment; then the connection ends
    static constexpr std::uint8_t hop_limit = 64;

    struct config {
        ethernet::mac_address mac{};
        std::uint32_t address = 0;
        std::uint16_t port = 80;
        std::uint64_t seed = 0;                            ///< seed of initial sequence numbers
        sc_core::sc_time retransmit{200, sc_core::SC_MS};  ///< retransmission timeout
    };
    struct client {
        ethernet::mac_address mac{};
        std::uint32_t address = 0;
        auto operator<=>(const client&) const = default;
    };
    struct reply {
        std::string text;
        std::uint8_t hop_limit = tcp_service::hop_limit;
    };
    /// Answers the part of a request received so far; nothing if more of it is needed.
    using responder = std::function<std::optional<reply>(const client&, std::string_view)>;
    using sender = std::function<void(std::unique_ptr<ethernet::packet>)>;

    tcp_service(const config& cfg, responder answers, sender sends);

    /// Whether the packet is addressed to the service, or is an ARP request for its address.
    bool takes(const ethernet::packet& packet) const;
    /// Precondition: takes(packet).
    void receive(const ethernet::packet& packet);
    /// Time of the next time_out() (absolute); nothing if none is needed.
    std::optional<sc_core::sc_time> next_timeout() const;
    void time_out();
    std::size_t connections() const { return connections_.size(); }

private:
    struct peer {
        client host;
        std::uint16_t port = 0;
        std::uint16_t service = 0;  // the service's port
        auto operator<=>(const peer&) const = default;
    };
    struct segment {
        std::uint32_t sequence = 0, acknowledged = 0;
        std::uint8_t flags = 0;
        std::uint32_t window = 0;
        std::size_t max_segment = 0;  // option of the peer; 0: none
        std::string_view text = {};

        bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
        std::uint32_t length() const;  // in sequence numbers
    };
    /// The service's stream is SYN, the reply, FIN; SYN and FIN take one sequence number each.
    struct connection {
        std::uint64_t age = 0;
        std::uint32_t initial = 0;                           // sequence number of the service's SYN
        std::uint32_t expected = 0;                          // next sequence number from the peer
        std::uint32_t acknowledged = 0, next = 0, sent = 0;  // relative to `initial`
        std::uint32_t window = 0, window_sequence = 0;       // and the segment that set it last
        std::size_t max_segment = 0;
        bool peer_ended = false;
        std::string request;
        std::optional<reply> answer;
        unsigned tries = 0, probes = 0;  // repeats; of these, in a window of 0
        sc_core::sc_time due;            // retransmission time, while data is unacknowledged

        std::uint32_t length() const {
            return 1 + (answer ? static_cast<std::uint32_t>(answer->text.size()) + 1 : 0);
        }
        bool waits() const { return acknowledged < sent; }
        bool is_open() const { return acknowledged != 0; }  // handshake complete
    };
    using connection_map = std::map<peer, connection>;

    void open(const peer& remote, const segment& received);
    void receive_known(const peer& remote, connection& state, const segment& received);
    static bool is_in_window(const connection& state, const segment& received);
    void take_acknowledgement(connection& state, const segment& received) const;
    void take_text(const peer& remote, connection& state, const segment& received);
    void transmit(const peer& remote, connection& state);
    std::uint32_t transmit_text(const peer& remote, connection& state);
    void send(const peer& remote, const segment& segment, std::uint8_t hops = hop_limit);
    void refuse(const peer& remote, const segment& received);
    void acknowledge(const peer& remote, const connection& state);
    sc_core::sc_time timeout_of(const connection& state) const;
    void drop_oldest();

    const config cfg_;
    const responder answers_;
    const sender sends_;
    connection_map connections_;
    std::uint64_t opened_ = 0;
};

}  // namespace trn::metadata
