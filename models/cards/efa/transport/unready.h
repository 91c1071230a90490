// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "models/cards/efa/transport/connection.h"

namespace trn::efa_transport {

/// Packets that wait until a queue pair of another card has receives. A refusal of the probe, the
/// one of them that is sent, counts for all.
class unready {
public:
    using packet_name = connection::packet_name;
    struct waiting {
        packet_name packet;
        std::uint32_t refusals;  ///< of this packet, and of probes while it waited
    };

    /// Adds a packet that was refused before, or may be sent for the first time.
    void add(const waiting& added) { packets_.push_back({added.packet, count_ - added.refusals}); }
    /// Adds a probe that was refused.
    void add_probe(const waiting& added) {
        ++count_;
        packets_.push_front({added.packet, count_ - added.refusals});
    }
    bool empty() const { return packets_.empty(); }
    /// The packet that waits for the longest time. Precondition: not empty().
    waiting front() const { return {packets_.front().packet, count_ - packets_.front().base}; }
    waiting take() {
        const waiting first = front();
        packets_.pop_front();
        return first;
    }
    /// Removes the packets of which ended(message).
    template <class Ended>
    void remove(const Ended& ended) {
        std::erase_if(packets_, [&](const item& each) { return ended(each.packet.message); });
    }

private:
    struct item {
        packet_name packet;
        std::uint32_t base;  // count_ minus its refusals, modulo 2^32
    };

    std::deque<item> packets_;
    std::uint32_t count_ = 0;  // refused probes
};

}  // namespace trn::efa_transport
