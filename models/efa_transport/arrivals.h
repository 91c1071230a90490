// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/efa_objects/objects.h"
#include "models/efa_transport/srd_packet.h"

namespace trn::efa_transport {

/// Records received packets of messages that must take effect once: a packet is repeated if its
/// acknowledgement was lost.
class arrivals {
public:
    /// Whether the packet was received before. Drops messages that the sender has completed.
    bool has(const srd_packet& packet);
    /// Whether this is the last missing packet of its message. Precondition: not has(packet).
    bool completes(const srd_packet& packet) const;
    /// Records the packet, after it has taken effect.
    void add(const srd_packet& packet);
    void clear() { senders_.clear(); }

private:
    static std::pair<ethernet::address, std::uint16_t> slot_of(const srd_packet& packet) {
        return {packet.source, packet.source_qp % efa_objects::limits::max_qp};
    }

    struct message {
        std::vector<bool> here;  // per packet, whether received; empty if all are
        std::uint32_t left = 0;
    };
    struct sender {
        std::uint16_t queue_pair = 0;
        std::uint64_t oldest = 0;  // oldest message that the sender has not completed
        std::map<std::uint64_t, message> messages = {};
    };

    // Key: card, and handle of its queue pair. A new queue pair with the same handle replaces the
    // entry of the old one, so that memory is bounded.
    std::map<std::pair<ethernet::address, std::uint16_t>, sender> senders_;
};

}  // namespace trn::efa_transport
