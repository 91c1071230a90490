// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/instructions/instruction.h"
#include "models/sequencer/engine_settings.h"
#include "models/sequencer/environment.h"

namespace trn {

/// What one engine does to the world outside its data path: semaphores, events, notifications.
class engine_signals {
public:
    engine_signals(sequencer_environment& environment, isa::engine which,
                   const engine_settings& settings, engine_counters& counters)
        : core_(environment), engine_(which), settings_(settings), counters_(counters) {}

    /// An update by the instruction at `pc`. Precondition: `u` is without at_issue, its value
    /// resolved. `early`: the instruction is not complete.
    void update(const isa::semaphore_update& u, std::uint32_t pc, bool early = false);
    /// Sends an entry to the queue that NOTIFY_CONFIG names, when it enables that kind.
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
