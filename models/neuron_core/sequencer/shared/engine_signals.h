// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/neuron_core/sequencer/shared/engine_settings.h"
#include "models/neuron_core/sequencer/shared/environment.h"
#include "models/neuron_isa/instructions/instruction.h"

namespace trn {

/// Effects of one engine outside its data path: semaphores, events, notifications.
class engine_signals {
public:
    engine_signals(sequencer_environment& environment, isa::engine engine,
                   const engine_settings& settings, engine_counters& counters)
        : core_(environment), engine_(engine), settings_(settings), counters_(counters) {}

    /// An update by the instruction at `pc`. Precondition: `u` has no at_issue, and its value is
    /// not a register. `early`: the instruction is not complete.
    void update(const isa::semaphore_update& u, std::uint32_t pc, bool early = false);
    /// Writes an entry to the queue in NOTIFY_CONFIG if this kind of entry is enabled there.
    void send(notification::kind kind, std::uint32_t payload);

private:
    void add(unsigned index, std::int64_t amount, std::uint32_t pc);
    void set_event(unsigned index, bool value);

    sequencer_environment& core_;
    const isa::engine engine_;
    const engine_settings& settings_;
    engine_counters& counters_;
};

}  // namespace trn
