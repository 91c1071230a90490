// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/efa_objects/objects.h"
#include "models/efa_transport/srd_packet.h"

namespace trn::efa_transport {

/// Which packets of other cards' messages have come: for messages whose effect must happen once,
/// although a packet whose acknowledgement was lost comes twice.
class arrivals {
public:
    /// Whether the packet has come before. Forgets messages that the sender has completed.
    bool has(const srd_packet& packet);
    /// Whether this packet is the last of its message to come. Precondition: not has(packet).
    bool completes(const srd_packet& packet) const;
    /// The packet has had its effect.
    void add(const srd_packet& packet);
    void clear() { senders_.clear(); }

private:
    static std::pair<ethernet::address, std::uint16_t> slot_of(const srd_packet& packet) {
        return {packet.source, packet.source_qp % efa_objects::limits::max_qp};
    }

    struct message {
        std::vector<bool> here;  // by packet; empty when all are
        std::uint32_t left = 0;
    };
    struct sender {
        std::uint16_t queue_pair = 0;
        std::uint64_t oldest = 0;  // that it has not completed
        std::map<std::uint64_t, message> messages = {};
    };

    // Card, handle of its queue pair: a number that is used again replaces what was known of the
    // one before, so that creating queue pairs for ever takes no more memory.
    std::map<std::pair<ethernet::address, std::uint16_t>, sender> senders_;
};

}  // namespace trn::efa_transport
