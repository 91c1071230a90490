// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/neuron_core/sequencer/dma/queue_poll.h"
#include "models/neuron_core/sequencer/dma/row_moves.h"
#include "models/neuron_core/sequencer/dma/software_rings.h"
#include "models/neuron_core/sequencer/shared/engine_timeline.h"
#include "models/neuron_core/sequencer/shared/environment.h"
#include "models/neuron_core/sequencer/shared/progress.h"

namespace trn {

/// DMA_GATHER, DMA_SCATTER and DMA_GATHER_TRANSPOSE on GPSIMD: reads the indices, spends the time
/// of descriptor generation, posts the copies, and waits until they are complete.
class row_transfer {
public:
    row_transfer(sequencer_environment& environment, engine_clock& clock, engine_counters& counters,
                 const engine_settings& settings, const engine_timeline& timeline,
                 sc_core::sc_event& wake)
        : core_(environment),
          clock_(clock),
          counters_(counters),
          timeline_(timeline),
          rings_(environment, wake),
          poll_(clock, settings) {}

    progress execute(const isa::instruction& i);
    void next_instruction();
    void reset();

private:
    struct work {
        row_moves moves;
        engine_clock::cycles generated;  // cycle at which the descriptors are made
        std::uint16_t used = 0;          // bit mask of DMA engines in use
        bool posting = false;            // false: waiting for queues
        unsigned engine = 0;             // next engine to post to, or to wait for
    };

    progress begin(const isa::instruction& i);
    progress wait_for_queues(work& w);
    progress post(work& w);

    sequencer_environment& core_;
    engine_clock& clock_;
    engine_counters& counters_;
    const engine_timeline& timeline_;
    software_rings rings_;
    queue_poll poll_;
    std::optional<work> work_;  // state of the current instruction
};

}  // namespace trn
