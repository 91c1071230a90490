// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <systemc>

namespace trn::efa_transport {

/// The requester's state for another card: numbers of packets, unanswered packets, congestion
/// window, round trip and timeouts. Spec: doc/models/cards/efa_card.md, Congestion.
class connection {
public:
    /// Limit of the numbers from the oldest unanswered packet to the newest; the receiver records
    /// the same range (arrivals.h).
    static constexpr std::uint64_t max_span = 4096;

    struct config {
        double initial = 128;  ///< packets: window towards a card that was idle
        double window = 512;   ///< packets: maximum of the window
        unsigned retries = 7;  ///< timeouts without an answer, before the card is silent
        sc_core::sc_time retransmit{100, sc_core::SC_US};  ///< minimum timeout
    };
    /// A packet of a request.
    struct packet_name {
        std::uint64_t message;
        std::uint32_t packet;
    };
    enum class silence : std::uint8_t { none, noticed, final };

    /// `id`: higher than the ids of all earlier connections of the requester.
    connection(const config& cfg, std::uint32_t id);
    /// Drops all packets and estimates; later packets have the new id.
    void restart(std::uint32_t id);
    std::uint32_t id() const { return id_; }
    /// Number of the oldest unanswered packet.
    std::uint64_t oldest() const { return oldest_; }
    bool has_answered() const { return has_answered_; }
    double window() const { return window_; }

    /// Number of new packets that may be sent now.
    std::uint32_t room() const;
    /// Numbers `count` packets of a message from `first` on, which leave at `time` (absolute);
    /// returns the first number. Precondition: count <= room().
    std::uint64_t send(const packet_name& first, std::uint32_t count, const sc_core::sc_time& time);
    /// The packet with this number; null if it is answered.
    const packet_name* find(std::uint64_t number) const;
    /// The request of the packet has ended. Precondition: find(number) is not null.
    void finish(std::uint64_t number);
    /// As finish(), because an answer to the packet that left at `sent` has arrived.
    void finish(std::uint64_t number, const sc_core::sc_time& sent);
    /// An answer to packets that left at `sent` (absolute) has arrived; finish() was called for
    /// `count` of them.
    void answered(const sc_core::sc_time& sent, std::uint32_t count);

    bool may_repeat() const { return in_flight_ < static_cast<std::uint32_t>(window_); }
    /// The next packet to repeat; nothing if there is none.
    std::optional<std::uint64_t> next_lost();
    /// Repeats the packet of next_lost(). Precondition: may_repeat().
    void repeat(const sc_core::sc_time& time);

    /// When expire() is due (absolute); nothing while no packet is in flight.
    std::optional<sc_core::sc_time> deadline();
    /// Declares packets lost that were not answered in time, and calls lost(packet_name) for each.
    template <class Lost>
    silence expire(const Lost& lost);
    /// Number of timeouts in a row without an answer.
    unsigned timeouts() const { return timeouts_; }

private:
    enum class state : std::uint8_t { in_flight, lost, answered };
    struct flight {
        packet_name packet;
        sc_core::sc_time sent;
        state current = state::in_flight;
    };
    /// Packets that left together.
    struct departure {
        std::uint64_t first;
        std::uint32_t count;
        sc_core::sc_time sent;
    };

    flight& flight_of(std::uint64_t number) { return flights_[number - oldest_]; }
    bool is_in_flight(const departure& group) const;
    sc_core::sc_time timeout() const;
    silence notice(const departure& unanswered);
    void restore(const sc_core::sc_time& earliest);
    void measure(const sc_core::sc_time& duration);
    void adapt(const sc_core::sc_time& duration, std::uint32_t count);

    config cfg_;
    std::uint32_t id_ = 0;
    bool has_answered_ = false;

    std::uint64_t oldest_ = 0;
    std::deque<flight> flights_;        // from number oldest_ on
    std::deque<departure> departures_;  // in order of time
    std::deque<std::uint64_t> lost_;    // numbers to repeat; may include answered ones
    std::uint32_t in_flight_ = 0;

    double window_ = 0;                        // packets
    bool probing_ = true;                      // no answer was late yet
    sc_core::sc_time reducible_;               // absolute: when the window may shrink again
    sc_core::sc_time round_trip_, variation_;  // smoothed; zero: not measured
    sc_core::sc_time shortest_ = sc_core::sc_max_time();  // round trip
    sc_core::sc_time last_answer_, last_timeout_;         // absolute
    sc_core::sc_time latest_answered_;  // absolute: when the latest answered packet has left
    unsigned timeouts_ = 0;
};

template <class Lost>
connection::silence connection::expire(const Lost& lost) {
    auto result = silence::none;
    while (!departures_.empty()) {
        const departure due = departures_.front();
        if (is_in_flight(due)) {
            if (due.sent + timeout() > sc_core::sc_time_stamp()) break;
            result = std::max(result, notice(due));
        }
        departures_.pop_front();
        for (std::uint64_t n = std::max(due.first, oldest_); n < due.first + due.count; ++n) {
            flight& each = flight_of(n);
            if (each.current != state::in_flight || each.sent != due.sent) continue;
            each.current = state::lost;
            --in_flight_;
            lost_.push_back(n);
            lost(each.packet);
        }
    }
    return result;
}

}  // namespace trn::efa_transport
