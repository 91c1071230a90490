// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/sequencer/dma_access.h"
#include "models/sequencer/row_moves.h"

namespace trn {

/// Posts packets to one queue of DMA engines as software does: reads the queue's registers, writes
/// descriptors behind the tail of both rings, rings the doorbells.
class software_rings {
public:
    static constexpr unsigned queue = 13;  ///< spec 8.2, row 19

    explicit software_rings(sequencer_environment& environment) : dma_(environment) {}

    /// Posts as many of the engine's packets as its empty rings hold, 256 descriptors at most.
    /// Precondition: the queue is idle. WRITE_FAILED when it has no rings for a packet.
    progress post(unsigned engine, row_moves& moves);
    /// Forgets a post() that has not finished.
    void drop() { dropped_ = true; }
    /// Finished once the queue has completed all its descriptors; `is_busy` when it has not.
    /// WRITE_FAILED when it has stopped on an error.
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
    void lay_out(ring r, std::span<const row_moves::words> descriptors);

    dma_access dma_;
    std::vector<writing> writes_;  // of the current post(); the next is `next_`
    std::size_t next_ = 0;
    bool dropped_ = false;  // writes_ are stale; freed later, because one may be going on
};

}  // namespace trn
