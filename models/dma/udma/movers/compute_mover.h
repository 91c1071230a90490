// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/dma/udma/queues/group.h"
#include "models/dma/udma/queues/transfer.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn {

/// Executes compute packets: reads the operands from memory and writes the result.
class dma_compute_mover {
public:
    /// `pending` is shared with the engine's copies: only its oldest transfer moves data.
    dma_compute_mover(memory_port& memory, pending_access& pending)
        : memory_(memory), pending_(pending) {}

    /// Moves data until memory defers an access; `done`: everything is written.
    dma_progress move(dma_transfer& t);

private:
    bool reduce_in_place(const dma_operation& operation);
    dma_progress move_accesses(dma_transfer& t);
    dma_progress move_access(dma_transfer& t, const dma_operation::access& access);

    memory_port& memory_;
    pending_access& pending_;
    std::vector<std::uint8_t> operands_;  // operands of the current transfer
};

}  // namespace trn
