// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/neuron_core/sequencer/dma/dma_access.h"
#include "models/neuron_core/sequencer/dma/row_moves.h"

namespace trn {

/// Posts packets to one queue of DMA engines like software: reads the queue's registers, writes
/// descriptors at the tail of both rings, rings the doorbells.
class software_rings {
public:
    static constexpr unsigned queue = 13;  ///< spec 8.2, row 19

    software_rings(sequencer_environment& environment, sc_core::sc_event& wake)
        : dma_(environment, wake) {}

    /// Posts as many of the engine's packets as fit into its empty rings, at most 256 descriptors.
    /// Precondition: the queue is idle. WRITE_FAILED if its rings are absent or smaller than a
    /// packet.
    progress post(unsigned engine, row_moves& moves);
    /// Abandons a post() that has not finished.
    void drop() { dropped_ = true; }
    /// Reads into `is_busy` whether the queue has incomplete descriptors. WRITE_FAILED if it has
    /// stopped on an error.
    progress poll(unsigned engine, bool& is_busy);
    void reset();

private:
    struct ring {
        std::uint64_t base;
        std::uint32_t length, index, pass;
    };
    struct writing {
        std::uint64_t address;
        std::vector<std::uint32_t> words;
    };

    progress read_ring(unsigned engine, bool m2s, ring& r);
    void lay_out(ring r, std::span<const dma_descriptor> descriptors);

    dma_access dma_;
    std::vector<writing> writes_;  // of the current post(); `next_` is the next one
    std::size_t next_ = 0;
    bool dropped_ = false;  // writes_ are stale; freed later, because one may be in progress
};

}  // namespace trn
