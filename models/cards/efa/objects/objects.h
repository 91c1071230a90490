// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <systemc>
#include <utility>

#include "models/cards/efa/objects/doorbells.h"
#include "models/cards/efa/objects/gid.h"
#include "models/cards/efa/objects/memory_region.h"
#include "models/cards/efa/objects/object_table.h"
#include "models/cards/host_ring/host_ring.h"

namespace trn::efa_objects {

/// Capacities of a card, as GET_FEATURE returns them (EFA contract 7). Invented, except max_qp and
/// inline_bytes.
struct limits {
    static constexpr std::uint32_t max_qp = 256;  ///< a power of two: QP number = n x 256 + handle
    static constexpr std::uint32_t max_sq_depth = 4096, work_request_bytes = 64;
    static constexpr std::uint32_t inline_bytes = 32;
    /// For work requests of 128 bytes (QUEUE_ATTR_2), which halve a ring's depth.
    static constexpr std::uint32_t long_work_request_bytes = 128, long_inline_bytes = 80;
    /// Number of descriptors; libfabric 2.1 cannot post more (EFA contract 24).
    static constexpr std::uint32_t max_rq_depth = 16384, receive_bytes = 16;
    static constexpr std::uint32_t max_cq = 1024, max_cq_depth = 32768, sub_cqs = 1;
    static constexpr std::uint16_t send_elements = 2, receive_elements = 2, rdma_elements = 1;
    static constexpr std::uint32_t max_mr = 262'144, max_mr_pages = 1 << 20;
    static constexpr std::uint32_t max_fast_pages = 512;  ///< per ALLOC_MR: a list of 4 KiB
    static constexpr std::uint64_t max_pages = 1 << 24;   ///< sum of all regions
    static constexpr std::uint32_t max_pd = 256, max_uar = 512, max_ah = 65'534;
    static constexpr std::uint32_t max_eq_depth = 4096, event_bytes = 16;
    static constexpr std::uint32_t max_rdma = 1u << 30;  ///< bytes
    static constexpr unsigned min_page_shift = 12, max_page_shift = 31;

    static constexpr std::uint64_t send_ring_bytes = max_sq_depth * work_request_bytes;
    static constexpr std::uint64_t send_rings_bytes = max_qp * send_ring_bytes;  ///< BAR2
};

enum class transport : std::uint8_t { ud = 1, srd = 2 };
enum class qp_state : std::uint8_t { reset, init, rtr, rts, sqd, sqe, error };

/// The counters of GET_STATS (EFA contract 17).
struct traffic_counters {
    struct {
        std::uint64_t tx_bytes = 0, tx_packets = 0, rx_bytes = 0, rx_packets = 0, rx_drops = 0,
                      qkey_violations = 0;
    } basic;
    struct {
        std::uint64_t send_bytes = 0, sends = 0, receive_bytes = 0, receives = 0;
    } messages;
    struct {
        std::uint64_t requests = 0, bytes = 0, errors = 0, response_bytes = 0;
    } rdma_read;
    struct {
        std::uint64_t requests = 0, bytes = 0, errors = 0, received_bytes = 0;
    } rdma_write;
    struct {
        std::uint64_t retransmitted_bytes = 0, retransmitted_packets = 0, timeouts = 0,
                      unresponsive_remotes = 0, impaired_connections = 0;
    } network;
};

struct queue_pair {
    static constexpr std::uint8_t rnr_for_ever = 7;

    std::uint16_t number = 0;  ///< number in work requests; its low bits are the handle
    std::uint16_t domain = 0;
    transport type = transport::srd;
    qp_state state = qp_state::reset;
    bool unsolicited = false;  ///< writes with immediate consume no receive
    std::uint16_t send_cq = 0, receive_cq = 0, uar = 0;
    std::uint32_t qkey = 0, psn = 0;
    std::uint8_t rnr_retry = 0;

    std::uint64_t send_ring = 0;  ///< offset in BAR2
    std::uint32_t send_depth = 0;
    std::uint32_t work_request_bytes = limits::work_request_bytes;
    std::uint64_t receive_ring = 0;  ///< bus address
    std::uint32_t receive_depth = 0;
    std::uint32_t send_doorbell = 0, receive_doorbell = 0;  ///< offsets in the doorbell BAR
    /// Number of entries since the start, modulo 65536.
    std::uint16_t sends_posted = 0, sends_fetched = 0;
    std::uint16_t receives_posted = 0, receives_taken = 0;
    traffic_counters counters;

    bool sends() const { return state == qp_state::rts || state == qp_state::sqd; }
    bool receives() const { return sends() || state == qp_state::rtr; }
};

struct completion_queue {
    host_ring ring;
    bool source_gid = false;
    std::optional<std::uint32_t> doorbell;  ///< offset in the doorbell BAR
    std::uint16_t uar = 0, event_queue = 0;
    bool events = false;  ///< whether the driver wants events
    bool armed = false;
    std::uint16_t consumed = 0;  ///< from its doorbell
    std::uint16_t written = 0;   ///< entries written to memory, modulo 65536
    sc_core::sc_time last = {};  ///< time of the last entry
    unsigned users = 0;          ///< send and receive queues that use it
};

struct event_queue {
    host_ring ring;
    unsigned vector = 0;
    bool armed = false, pending = false;  ///< pending: an entry was written while not armed
    unsigned users = 0;                   ///< completion queues that use it
};

struct address_handle {
    gid destination = {};
    std::uint16_t domain = 0;
};

struct domain {
    unsigned users = 0;  ///< queue pairs, regions and address handles in it
};

/// All objects that a driver has created on a card.
struct objects {
    objects(unsigned max_eq, std::uint64_t first_doorbell, unsigned doorbell_pages)
        : event_queues(max_eq), bells(first_doorbell, doorbell_pages) {}

    object_table<domain> domains{limits::max_pd};
    object_table<unsigned> uars{limits::max_uar};  // value: number of queues with doorbells in it
    object_table<queue_pair> queue_pairs{limits::max_qp};
    object_table<completion_queue> completion_queues{limits::max_cq};
    object_table<event_queue> event_queues;
    object_table<address_handle> address_handles{limits::max_ah};
    object_table<memory_region> regions{limits::max_mr, 1};  // 0 is not a valid key
    std::uint64_t pages = 0;                                 // sum of all regions
    doorbells bells;
    traffic_counters counters;

    queue_pair* by_number(std::uint16_t number) {
        queue_pair* found = queue_pairs.find(number % limits::max_qp);
        return found != nullptr && found->number == number ? found : nullptr;
    }
    /// Updates the counters of the card and, unless `qp` is null, of a queue pair.
    template <class Change>
    void count(queue_pair* qp, const Change& change) {
        change(counters);
        if (qp != nullptr) change(qp->counters);
    }
    /// Number of an address handle for a card; nothing if there is none.
    std::optional<std::uint16_t> handle_of(const gid& card) const {
        const auto first = known_cards.lower_bound({card, 0});
        if (first == known_cards.end() || first->first != card) return std::nullopt;
        return first->second;
    }
    std::set<std::pair<gid, std::uint16_t>> known_cards;

    void clear() {
        domains.clear();
        uars.clear();
        queue_pairs.clear();
        completion_queues.clear();
        event_queues.clear();
        address_handles.clear();
        regions.clear();
        pages = 0;
        bells.clear();
        known_cards.clear();
        counters = {};
    }
};

}  // namespace trn::efa_objects
