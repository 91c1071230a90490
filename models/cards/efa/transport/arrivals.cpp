// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/arrivals.h"

#include <algorithm>

namespace trn::efa_transport {

namespace {

constexpr std::uint64_t span = connection::max_span;

}  // namespace

void arrivals::sender::advance(std::uint64_t number) {
    if (number <= oldest) return;
    for (std::uint64_t n = oldest; n < std::min(number, oldest + span); ++n)
        received.reset(n % span);
    oldest = number;
    failed.erase(failed.begin(), failed.lower_bound(oldest));
}

arrivals::state arrivals::check(srd_packet& packet) {
    sender& peer = senders_[packet.source];
    if (packet.connection < peer.connection) return state::over;
    if (packet.connection > peer.connection)
        peer = {.connection = packet.connection, .oldest = packet.oldest};
    peer.advance(packet.oldest);
    if (packet.sequence + packet.train > peer.oldest + span) return state::over;
    if (packet.has_immediate && packet.packets > 1) {
        const auto found = peer.writes.find(packet.slot);
        const bool ended = found != peer.writes.end() && found->second.message > packet.message;
        if (ended) return state::over;
    }
    for (unsigned i = 0; i < packet.train; ++i) {
        const std::uint64_t number = packet.sequence + i;
        const bool is_answered = number < peer.oldest;
        if (!packet.has(i) || (!is_answered && !peer.received[number % span])) continue;
        if (packet.train == 1) return is_answered ? state::over : state::repeated;
        packet.lose(i);
    }
    return packet.present() == 0 ? state::over : state::fresh;
}

status arrivals::result(const srd_packet& packet) const {
    const sender& peer = senders_.at(packet.source);
    const auto found = peer.failed.find(packet.sequence);
    return found == peer.failed.end() ? status::ok : found->second;
}

void arrivals::add(const srd_packet& packet, status answer) {
    sender& peer = senders_[packet.source];
    for (unsigned i = 0; i < packet.train; ++i) {
        const std::uint64_t number = packet.sequence + i;
        if (!packet.has(i) || number < peer.oldest) continue;
        peer.received.set(number % span);
        if (answer != status::ok) peer.failed[number] = answer;
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
    partial_write& partial = writes[packet.slot];
    if (partial.message != packet.message) partial = {.message = packet.message};
    if (++partial.received == packet.packets) writes.erase(packet.slot);
}

}  // namespace trn::efa_transport
