// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <map>

#include "models/cards/efa/transport/connection.h"
#include "models/cards/efa/transport/srd_packet.h"

namespace trn::efa_transport {

/// Records which packets of other cards have taken effect, and how, because a packet is repeated
/// when its answer is late or lost. Holds a window of numbers for each card.
class arrivals {
public:
    enum class state : std::uint8_t {
        fresh,
        repeated,  ///< took effect before, see result()
        over,      ///< its sender does not wait for an answer
    };

    /// Marks packets of a train that took effect before as lost; `over` if none remains.
    state check(srd_packet& packet);
    /// How a repeated packet took effect. Precondition: check(packet) was `repeated`.
    status result(const srd_packet& packet) const;
    /// Records a packet or train, which is answered with `answer`.
    void add(const srd_packet& packet, status answer);

    /// Whether this is the last missing packet of a write with immediate data.
    bool completes(const srd_packet& packet) const;
    /// Counts a packet of a write with immediate data, after it has taken effect.
    void count(const srd_packet& packet);
    void clear() { senders_.clear(); }

private:
    /// A write with immediate data of which packets are missing.
    struct partial_write {
        std::uint64_t message = 0;
        std::uint32_t received = 0;
    };
    struct sender {
        std::uint32_t connection = 0;
        std::uint64_t oldest = 0;                            // all lower numbers are answered
        std::bitset<connection::max_span> received = {};     // by number modulo max_span
        std::map<std::uint64_t, status> failed = {};         // by number: status that is not ok
        std::map<std::uint32_t, partial_write> writes = {};  // by the sender's slot

        void advance(std::uint64_t number);
    };

    std::map<ethernet::address, sender> senders_;
};

}  // namespace trn::efa_transport
