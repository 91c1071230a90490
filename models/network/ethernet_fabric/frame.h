// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <boost/container/vector.hpp>
#include <cstdint>
#include <systemc>

#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/send_carried.h"

namespace trn::ethernet {

using address = std::uint16_t;  ///< address of a card: the number of its port

/// Base of the packets that cards send, which derive their own from it. The real format is not
/// published and not modelled.
///
/// A frame is one packet, or a train of packets of the same request that leave one after another.
/// In the fabric, each packet of a train takes its own path and may be lost. The receiver gets the
/// whole train when its first packet arrives, with the arrival times of the others (annotated
/// delays of TLM-2.0), so that a train costs as much wall time as one packet.
struct frame {
    static constexpr std::uint64_t overhead = 90;  ///< bytes of Ethernet, IP, UDP and SRD headers
    static constexpr unsigned max_train = 8;       ///< packets

    bool is_hello = false;  ///< from the fabric at the start: `destination` is the receiver
    address source = 0, destination = 0;
    boost::container::vector<std::uint8_t> data;  ///< of all packets
    trace::operation cause = 0;                   ///< operation of the requester's work request

    std::uint32_t train = 1;         ///< packets, at most max_train
    std::uint32_t packet_bytes = 0;  ///< data of each packet of a train, except the last
    std::uint8_t lost = 0;           ///< bit i: packet i is lost
    /// Absolute, of each packet: when it is complete; in the fabric, when it has left the card; for
    /// the receiver, when it arrives.
    std::array<sc_core::sc_time, max_train> times;

    virtual ~frame() = default;

    bool has(unsigned packet) const { return (lost >> packet & 1) == 0; }
    void lose(unsigned packet) { lost = static_cast<std::uint8_t>(lost | 1u << packet); }
    /// Number of packets that are not lost.
    unsigned present() const { return train - static_cast<unsigned>(std::popcount(lost)); }
    /// End of a packet's share of `bytes`; the share begins at the end of the previous packet's.
    std::uint64_t end(unsigned packet, std::uint64_t bytes) const {
        return packet + 1 == train ? bytes
                                   : std::min(bytes, (packet + std::uint64_t{1}) * packet_bytes);
    }
    std::uint64_t share(unsigned packet, std::uint64_t bytes) const {
        return end(packet, bytes) - (packet == 0 ? 0 : end(packet - 1, bytes));
    }
    /// The share of all packets that are not lost.
    std::uint64_t present_share(std::uint64_t bytes) const {
        std::uint64_t sum = bytes;
        for (unsigned i = 0; lost != 0 && i < train; ++i)
            if (!has(i)) sum -= share(i, bytes);
        return sum;
    }
};

using carrier = carrier_of<frame>;

}  // namespace trn::ethernet
