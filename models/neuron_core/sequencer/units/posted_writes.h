// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "models/neuron_core/sequencer/shared/environment.h"
#include "models/neuron_core/sequencer/shared/progress.h"
#include "models/neuron_core/sequencer/units/register_unit.h"

namespace trn {

/// The writes of WRITE and the doorbells of DMA_START, carried out one by one through the core's
/// memory port.
class posted_writes {
public:
    posted_writes(sequencer_environment& environment, engine_clock& clock, isa::engine e,
                  sc_core::sc_event& wake)
        : core_(environment), clock_(clock), engine_(e), pending_(wake) {}

    /// Returns `abandoned` when a write resets this engine, which frees `list`.
    progress write_all(const isa::write_list& list, const register_unit& registers);
    /// Rings both doorbells of each engine in each set, s2m first.
    progress ring_doorbells(const isa::doorbell_sets& sets);

    void next_instruction() { accepted_ = 0; }
    void reset();

private:
    progress post(std::uint64_t address, std::span<const std::uint8_t> bytes);

    sequencer_environment& core_;
    engine_clock& clock_;
    const isa::engine engine_;
    pending_access pending_;
    unsigned accepted_ = 0;  // number of the current instruction's accepted writes
    std::uint32_t resets_ = 0;
};

}  // namespace trn
