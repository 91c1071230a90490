// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/neuron_core/sequencer/shared/engine_signals.h"
#include "models/neuron_core/sequencer/shared/engine_timeline.h"
#include "models/neuron_core/sequencer/shared/environment.h"
#include "models/neuron_core/sequencer/shared/progress.h"
#include "models/neuron_core/sequencer/units/register_unit.h"

namespace trn {

/// REG_LOAD and REG_STORE: one element between a register and SBUF, PSUM or memory.
class scalar_access {
public:
    scalar_access(sequencer_environment& environment, isa::engine engine, engine_clock& clock,
                  engine_signals& signals, engine_counters& counters,
                  const engine_timeline& timeline, sc_core::sc_event& wake)
        : core_(environment),
          engine_(engine),
          clock_(clock),
          signals_(signals),
          counters_(counters),
          timeline_(timeline),
          pending_(wake) {}

    progress execute(const isa::instruction& i, std::uint32_t pc, register_unit& registers,
                     const isa::number_settings& numbers);
    void reset() {
        ++resets_;
        pending_.abandon();
    }

private:
    progress transfer(const isa::register_fields& f, std::uint32_t pc, bool loads,
                      std::uint8_t* bytes, unsigned size);
    void count(isa::space memory, bool loads, unsigned size);

    sequencer_environment& core_;
    const isa::engine engine_;
    engine_clock& clock_;
    engine_signals& signals_;
    engine_counters& counters_;
    const engine_timeline& timeline_;
    pending_access pending_;
    std::uint32_t resets_ = 0;
};

}  // namespace trn
