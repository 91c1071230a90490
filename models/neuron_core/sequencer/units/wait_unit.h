// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/neuron_core/sequencer/shared/engine_settings.h"
#include "models/neuron_core/sequencer/shared/engine_signals.h"
#include "models/neuron_core/sequencer/shared/engine_timeline.h"
#include "models/neuron_core/sequencer/shared/environment.h"
#include "models/neuron_core/sequencer/shared/progress.h"

namespace trn {

/// Waits of one engine for a semaphore or an event (spec 6).
class wait_unit {
public:
    wait_unit(sequencer_environment& environment, isa::engine engine, engine_clock& clock,
              engine_signals& signals, const engine_settings& settings, engine_counters& counters,
              engine_timeline& timeline)
        : core_(environment),
          engine_(engine),
          clock_(clock),
          signals_(signals),
          settings_(settings),
          counters_(counters),
          timeline_(timeline) {}

    /// Checks condition `c` of the instruction at `pc`; if it is met and its mode subtracts,
    /// subtracts. A wait that was not met at once ends with the wake latency in local time.
    progress poll(const isa::wait_condition& c, std::uint32_t pc);
    /// Ends the current wait, if any.
    void end() {
        since_.reset();
        timeline_.abandon_wait();
    }

    bool active() const { return since_.has_value(); }
    const isa::wait_condition& condition() const { return condition_; }
    /// "S[4] >= 16".
    std::string reason() const;
    /// "waits for S[4] >= 16, which is 2". Precondition: active().
    std::string describe() const;

private:
    bool is_met(const isa::wait_condition& c) const;
    void count(unsigned index);

    sequencer_environment& core_;
    const isa::engine engine_;
    engine_clock& clock_;
    engine_signals& signals_;
    const engine_settings& settings_;
    engine_counters& counters_;
    engine_timeline& timeline_;
    isa::wait_condition condition_;
    std::optional<engine_clock::cycles> since_;
};

}  // namespace trn
