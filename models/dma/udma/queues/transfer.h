// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <systemc>

#include "models/dma/udma/descriptors/operation.h"
#include "platform/framework/kernel/trace.h"

namespace trn {

class dma_queue;

/// A compute packet: collected descriptor by descriptor, then moved as one transfer.
struct dma_compute_packet {
    explicit dma_compute_packet(const dma_descriptor& d) : operation(d) {}
    dma_operation operation;
    std::uint32_t m2s = 0, s2m = 0;  ///< descriptors collected so far
    bool interrupt = false, barrier = false;
    bool has_all_sources = false;

    // State during the move.
    bool begun = false, written = false;
    std::size_t access = 0;   ///< index in operation.accesses()
    std::uint32_t moved = 0;  ///< bytes moved of that access
};

/// How much of a packet's source side has been started or completed.
struct dma_packet_progress {
    std::uint32_t descriptors = 0;  ///< 0: between packets
    std::uint32_t bytes = 0;        ///< of copies; at least 2^30 is shown as 2^30
};

/// A piece of a queue's stream within one descriptor of each side, or a whole compute packet.
struct dma_transfer {
    dma_queue* queue = nullptr;
    std::uint64_t source = 0, destination = 0;
    std::uint32_t length = 0, moved = 0;
    /// When its bytes have arrived, as far as they are reserved or moved.
    sc_core::sc_time arrives_at = {};
    sc_core::sc_time moves_at = {};  ///< when bytes move next; not before earlier transfers
    bool ends_source = false, ends_destination = false;  ///< completes that side's descriptor
    bool ends_packet = false;
    std::uint32_t abandoned = 0;  ///< sources of abandoned packets that it completes too
    dma_packet_progress packet;   ///< of completed sources, once it is complete
    bool interrupt = false;
    bool dropped = false;                                   ///< its queue was reset or aborted
    std::unique_ptr<dma_compute_packet> compute = nullptr;  ///< null for copies
    trace::slice slice = {};
};

}  // namespace trn
