// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/cards/ena/queues/flow_hash.h"
#include "models/cards/host_ring/host_ring.h"

namespace trn::ena_queues {

struct limits {
    static constexpr std::uint16_t max_queues = 256;  ///< per kind
    static constexpr std::uint16_t max_depth = 1024;
    static constexpr std::uint16_t max_tx_descriptors = 18;  ///< per packet, with meta data
    static constexpr std::uint16_t max_rx_descriptors = 16;
    static constexpr std::uint32_t max_mtu = 9216;
    static constexpr std::uint32_t max_access = 4096;       ///< bytes per access to host memory
    static constexpr std::uint32_t max_segmented = 65535;   ///< bytes of an IP packet to segment
    static constexpr std::uint32_t max_table_log2 = 9;      ///< entries of RSS's table
    static constexpr std::uint32_t link_header_bytes = 18;  ///< Ethernet header with a VLAN tag
    static constexpr unsigned max_card_rings = 8;           ///< low latency queues
};

enum class direction : std::uint8_t { transmit, receive };

/// An entry of a low latency queue: descriptors; a packet's first entry also has its header.
struct card_entry {
    static constexpr std::uint32_t bytes = 128;
    static constexpr unsigned descriptors = 8, descriptors_before_header = 2;
    static constexpr std::uint32_t ring_bytes = bytes * limits::max_depth;
    static constexpr std::uint64_t memory_bytes =
        std::uint64_t{limits::max_card_rings} * ring_bytes;
};

/// A ring of descriptors, written by the driver.
struct submission_queue {
    direction way = direction::transmit;
    std::uint16_t completions = 0;        ///< number of its completion queue
    bool in_card = false;                 ///< a low latency queue: entries are card_entry
    std::uint64_t ring = 0;               ///< bus address, or offset in the card's memory
    std::uint16_t depth = 0;              ///< entries, a power of two
    std::uint16_t posted = 0, taken = 0;  ///< descriptors since the creation, modulo 65536
    std::uint32_t segment = 0;  ///< maximum segment size of the last stored meta data, bytes

    static constexpr std::uint32_t descriptor_bytes = 16;

    /// Sets the driver's count of descriptors. \returns false if the ring cannot hold so many, or
    /// the count is less than before
    bool post(std::uint16_t count) {
        const auto added = static_cast<std::uint16_t>(count - posted);
        if (added > depth - available()) return false;
        posted = count;
        return true;
    }
    std::uint16_t available() const { return static_cast<std::uint16_t>(posted - taken); }
    /// Offset in the card's memory of the next entry of a low latency queue.
    std::uint64_t entry() const {
        return ring + std::uint64_t{taken & (depth - 1u)} * card_entry::bytes;
    }
    /// Bus address of the `n`th available descriptor.
    std::uint64_t descriptor(std::uint16_t n = 0) const {
        return ring + std::uint64_t{(taken + n) & (depth - 1u)} * descriptor_bytes;
    }
};

/// A ring of completions, written by the card.
struct completion_queue {
    host_ring ring;
    unsigned vector = 0;
    bool interrupts = true;
    unsigned users = 0;           ///< submission queues that use it
    std::uint32_t unwritten = 0;  ///< entries that memory has not accepted yet
};

/// Counters that GET_STATS returns.
struct traffic_counters {
    std::uint64_t tx_bytes = 0, tx_packets = 0, rx_bytes = 0, rx_packets = 0;
    std::uint64_t rx_drops = 0, tx_drops = 0;
};

/// Selection of a packet's receive queue (RSS).
struct steering {
    std::vector<std::uint16_t> table;  ///< queue numbers; size is a power of two; empty: no RSS
    std::optional<hash_key> key;       ///< without it, all packets have hash 0
};

/// The queues of a card, by number.
struct queues {
    std::map<std::uint16_t, submission_queue> submissions;
    std::map<std::uint16_t, completion_queue> completions;
    steering rss;
    traffic_counters counters;
    std::uint32_t mtu = limits::max_mtu;
    bool low_latency = false;  ///< whether the driver has accepted rings in the card

    void clear() { *this = {}; }
};

template <class Queue>
Queue* find(std::map<std::uint16_t, Queue>& numbered, std::uint32_t number) {
    const auto found = number < limits::max_queues
                           ? numbered.find(static_cast<std::uint16_t>(number))
                           : numbered.end();
    return found == numbered.end() ? nullptr : &found->second;
}

}  // namespace trn::ena_queues
