// SPDX-License-Identifier: Apache-2.0
#include "models/efa_transport/arrivals.h"

#include <algorithm>

namespace trn::efa_transport {

bool arrivals::has(const srd_packet& packet) {
    sender& from = senders_[slot_of(packet)];
    if (from.queue_pair != packet.source_qp) {
        // Message numbers increase over all queue pairs of a card.
        if (packet.message < from.oldest) return true;
        from = {.queue_pair = packet.source_qp};
    }
    from.oldest = std::max(from.oldest, packet.oldest);
    from.messages.erase(from.messages.begin(), from.messages.lower_bound(from.oldest));
    if (packet.message < from.oldest) return true;
    const auto found = from.messages.find(packet.message);
    return found != from.messages.end() &&
           (found->second.left == 0 || found->second.here[packet.number]);
}

bool arrivals::completes(const srd_packet& packet) const {
    if (packet.packets == 1) return true;
    const auto from = senders_.find(slot_of(packet));
    if (from == senders_.end() || from->second.queue_pair != packet.source_qp) return false;
    const auto found = from->second.messages.find(packet.message);
    return found != from->second.messages.end() && found->second.left == 1;
}

void arrivals::add(const srd_packet& packet) {
    sender& from = senders_[slot_of(packet)];
    message& of = from.messages[packet.message];
    if (of.here.empty()) {
        of.here.resize(packet.packets);
        of.left = packet.packets;
    }
    of.here[packet.number] = true;
    if (--of.left == 0) of.here = {};
}

}  // namespace trn::efa_transport
