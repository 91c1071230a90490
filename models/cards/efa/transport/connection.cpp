// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/connection.h"

#include <utility>

namespace trn::efa_transport {

using sc_core::sc_time;

namespace {

// Queueing that the window permits beyond the shortest round trip.
sc_time max_queueing() {
    return {25, sc_core::SC_US};
}
constexpr double reduction = 0.8;      // of the share of a round trip beyond that
constexpr double min_remainder = 0.5;  // of the window after a reduction
constexpr unsigned max_doublings = 5;  // of the timeout

}  // namespace

connection::connection(const config& cfg, std::uint32_t id) : cfg_(cfg) {
    restart(id);
}

void connection::restart(std::uint32_t id) {
    id_ = id;
    oldest_ = 0;
    flights_.clear();
    departures_.clear();
    lost_.clear();
    in_flight_ = 0;
    window_ = std::min(cfg_.initial, cfg_.window);
    probing_ = true;
    round_trip_ = variation_ = sc_core::SC_ZERO_TIME;
    shortest_ = sc_core::sc_max_time();
    latest_answered_ = sc_core::SC_ZERO_TIME;
    timeouts_ = 0;
}

// --- packets ---

std::uint32_t connection::room() const {
    const auto window = static_cast<std::uint32_t>(window_);
    const std::uint64_t numbers = max_span - flights_.size();
    return window <= in_flight_
               ? 0
               : static_cast<std::uint32_t>(std::min<std::uint64_t>(window - in_flight_, numbers));
}

std::uint64_t connection::send(const packet_name& first, std::uint32_t count, const sc_time& time) {
    if (flights_.empty()) {
        // The last estimates are old if nothing was in flight for long.
        if (sc_core::sc_time_stamp() > last_answer_ + timeout()) {
            window_ = std::min(cfg_.initial, cfg_.window);
            probing_ = true;
        }
        timeouts_ = 0;
    }
    const std::uint64_t number = oldest_ + flights_.size();
    for (std::uint32_t i = 0; i < count; ++i)
        flights_.push_back({{first.message, first.packet + i}, time});
    departures_.push_back({number, count, time});
    in_flight_ += count;
    return number;
}

const connection::packet_name* connection::find(std::uint64_t number) const {
    if (number < oldest_ || number - oldest_ >= flights_.size()) return nullptr;
    const flight& found = flights_[number - oldest_];
    return found.current == state::answered ? nullptr : &found.packet;
}

void connection::finish(std::uint64_t number, const sc_time& sent) {
    const flight& finished = flight_of(number);
    const bool was_late = finished.current == state::lost || finished.sent != sent;
    finish(number);
    if (was_late) restore(sent);
}

void connection::finish(std::uint64_t number) {
    flight& finished = flight_of(number);
    if (finished.current == state::in_flight) --in_flight_;
    finished.current = state::answered;
    for (; !flights_.empty() && flights_.front().current == state::answered; ++oldest_)
        flights_.pop_front();
}

std::optional<std::uint64_t> connection::next_lost() {
    while (!lost_.empty() && find(lost_.front()) == nullptr) lost_.pop_front();
    if (lost_.empty()) return std::nullopt;
    return lost_.front();
}

void connection::repeat(const sc_time& time) {
    const std::uint64_t number = lost_.front();
    lost_.pop_front();
    flight_of(number).current = state::in_flight;
    flight_of(number).sent = time;
    departures_.push_back({number, 1, time});
    ++in_flight_;
}

// --- timeouts ---

bool connection::is_in_flight(const departure& group) const {
    for (std::uint64_t n = std::max(group.first, oldest_); n < group.first + group.count; ++n) {
        const flight& each = flights_[n - oldest_];
        if (each.current == state::in_flight && each.sent == group.sent) return true;
    }
    return false;
}

sc_time connection::timeout() const {
    const sc_time base = std::max(cfg_.retransmit, round_trip_ + variation_ * 4.0);
    return base * static_cast<double>(1u << std::min(timeouts_, max_doublings));
}

std::optional<sc_time> connection::deadline() {
    while (!departures_.empty() && !is_in_flight(departures_.front())) departures_.pop_front();
    if (departures_.empty()) return std::nullopt;
    return departures_.front().sent + timeout();
}

/// A timeout means silence if no later packet is answered either. Otherwise only these packets are
/// lost, and repeated packets take other paths.
connection::silence connection::notice(const departure& unanswered) {
    if (latest_answered_ > unanswered.sent || unanswered.sent < last_timeout_) return silence::none;
    last_timeout_ = sc_core::sc_time_stamp();
    window_ = 1;
    probing_ = true;
    return ++timeouts_ > cfg_.retries ? silence::final : silence::noticed;
}

/// Packets that left at `earliest` or later were declared lost too early: they are in flight.
void connection::restore(const sc_time& earliest) {
    std::deque<std::uint64_t> lost;
    for (; !lost_.empty(); lost_.pop_back()) {
        const std::uint64_t number = lost_.back();
        if (find(number) == nullptr) continue;
        flight& packet = flight_of(number);
        if (packet.sent < earliest) {
            lost.push_front(number);
            continue;
        }
        packet.current = state::in_flight;
        ++in_flight_;
        departures_.push_front({number, 1, packet.sent});
    }
    lost_ = std::move(lost);
}

// --- congestion ---

void connection::answered(const sc_time& sent, std::uint32_t count) {
    const sc_time now = sc_core::sc_time_stamp();
    last_answer_ = now;
    latest_answered_ = std::max(latest_answered_, sent);
    has_answered_ = true;
    timeouts_ = 0;
    const sc_time duration = now > sent ? now - sent : sc_core::SC_ZERO_TIME;
    measure(duration);
    adapt(duration, count);
}

/// As RFC 6298 (2.2 and 2.3). Answers name their transmission, so answers to repeated packets
/// are measured too.
void connection::measure(const sc_time& duration) {
    shortest_ = std::min(shortest_, duration);
    if (round_trip_ == sc_core::SC_ZERO_TIME) {
        round_trip_ = duration;
        variation_ = duration * 0.5;
        return;
    }
    const sc_time difference =
        duration > round_trip_ ? duration - round_trip_ : round_trip_ - duration;
    variation_ = variation_ * 0.75 + difference * 0.25;
    round_trip_ = round_trip_ * 0.875 + duration * 0.125;
}

/// Short round trips enlarge the window. It shrinks, once per round trip, if the shorter round
/// trips are long too: paths of unequal length are no congestion.
void connection::adapt(const sc_time& duration, std::uint32_t count) {
    const sc_time limit = shortest_ + max_queueing();
    if (duration <= limit) {
        window_ = std::min(cfg_.window, window_ + (probing_ ? count : count / window_));
        return;
    }
    probing_ = false;
    const sc_time now = sc_core::sc_time_stamp();
    if (now < reducible_ || round_trip_ <= limit + variation_ * 4.0) return;
    reducible_ = now + round_trip_;
    const sc_time shorter = round_trip_ - variation_ * 4.0;
    const double remainder = 1 - reduction * ((shorter - limit) / shorter);
    window_ = std::max(1.0, window_ * std::max(min_remainder, remainder));
}

}  // namespace trn::efa_transport
