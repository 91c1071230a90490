// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/udma/group.h"
#include "models/udma/transfer.h"
#include "platform/framework/tlm/deferral.h"

namespace trn {

/// Carries out compute packets: brings the operands from memory, and the result to memory.
class dma_compute_mover {
public:
    /// `later` is shared with the copies of the engine: only its oldest transfer moves.
    dma_compute_mover(memory_port& memory, deferral& later) : memory_(memory), later_(later) {}

    /// Moves as much as memory answers; with `done` everything is written.
    dma_progress move(dma_transfer& t);

private:
    bool reduce_in_place(const dma_operation& operation);
    dma_progress move_accesses(dma_transfer& t);
    dma_progress move_access(dma_transfer& t, const dma_operation::access& access);

    memory_port& memory_;
    deferral& later_;
    std::vector<std::uint8_t> operands_;  // of the transfer that moves
};

}  // namespace trn
