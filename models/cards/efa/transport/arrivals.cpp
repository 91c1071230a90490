// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/arrivals.h"

#include <algorithm>

namespace trn::efa_transport {

namespace {

constexpr std::uint64_t span = connection::max_span;

}  // namespace

void arrivals::sender::advance(std::uint64_t to) {
    if (to <= oldest) return;
    for (std::uint64_t n = oldest; n < std::min(to, oldest + span); ++n) received.reset(n % span);
    oldest = to;
    failed.erase(failed.begin(), failed.lower_bound(oldest));
}

arrivals::state arrivals::check(srd_packet& packet) {
    sender& from = senders_[packet.source];
    if (packet.connection < from.connection) return state::over;
    if (packet.connection > from.connection)
        from = {.connection = packet.connection, .oldest = packet.oldest};
    from.advance(packet.oldest);
    if (packet.sequence + packet.train > from.oldest + span) return state::over;
    if (packet.has_immediate && packet.packets > 1) {
        const auto found = from.writes.find(packet.slot);
        const bool ended = found != from.writes.end() && found->second.message > packet.message;
        if (ended) return state::over;
    }
    for (unsigned i = 0; i < packet.train; ++i) {
        const std::uint64_t number = packet.sequence + i;
        const bool is_answered = number < from.oldest;
        if (!packet.has(i) || (!is_answered && !from.received[number % span])) continue;
        if (packet.train == 1) return is_answered ? state::over : state::repeated;
        packet.lose(i);
    }
    return packet.present() == 0 ? state::over : state::fresh;
}

status arrivals::result(const srd_packet& packet) const {
    const sender& from = senders_.at(packet.source);
    const auto found = from.failed.find(packet.sequence);
    return found == from.failed.end() ? status::ok : found->second;
}

void arrivals::add(const srd_packet& packet, status how) {
    sender& from = senders_[packet.source];
    for (unsigned i = 0; i < packet.train; ++i) {
        const std::uint64_t number = packet.sequence + i;
        if (!packet.has(i) || number < from.oldest) continue;
        from.received.set(number % span);
        if (how != status::ok) from.failed[number] = how;
    }
}

bool arrivals::completes(const srd_packet& packet) const {
    if (packet.packets == 1) return true;
    const auto& writes = senders_.at(packet.source).writes;
    const auto found = writes.find(packet.slot);
    return found != writes.end() && found->second.message == packet.message &&
           found->second.received + 1 == packet.packets;
}

void arrivals::count(const srd_packet& packet) {
    if (packet.packets == 1) return;
    auto& writes = senders_.at(packet.source).writes;
    partial_write& of = writes[packet.slot];
    if (of.message != packet.message) of = {.message = packet.message};
    if (++of.received == packet.packets) writes.erase(packet.slot);
}

}  // namespace trn::efa_transport
