// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/neuron_core/sequencer/dma/dma_access.h"
#include "models/neuron_core/sequencer/dma/queue_poll.h"
#include "models/neuron_core/sequencer/units/register_unit.h"

namespace trn {

/// DGE_COPY: divides the pieces evenly among the hardware descriptor generators of the DMA engines
/// in the mask (doc/dma_compute.md). Waits while the queue of a generator has a command.
class generator_commands {
public:
    generator_commands(sequencer_environment& environment, engine_clock& clock,
                       const engine_settings& settings, isa::engine e, sc_core::sc_event& wake)
        : core_(environment),
          clock_(clock),
          own_(e),
          dma_(environment, wake),
          poll_(clock, settings) {}

    progress execute(const isa::dge_copy_fields& f, const register_unit& registers);

    bool in_progress() const { return engine_ != 0 || stage_ != 0; }
    void next_instruction() {
        engine_ = stage_ = 0;
        poll_.end();
    }
    void reset();

private:
    /// Consecutive words of a generator's registers.
    struct burst {
        std::uint64_t offset;
        std::vector<std::uint32_t> words;
    };
    static constexpr unsigned bursts = 4;  // the last is START

    progress wait_until_free(const isa::dge_copy_fields& f);
    burst burst_of(const isa::dge_copy_fields& f, const register_unit& registers,
                   unsigned number) const;

    sequencer_environment& core_;
    engine_clock& clock_;
    const isa::engine own_;
    dma_access dma_;
    queue_poll poll_;
    // Of the current instruction: DMA engine, and number of accesses done to it.
    unsigned engine_ = 0, stage_ = 0;
};

}  // namespace trn
