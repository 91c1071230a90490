// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "models/neuron_core/sequencer/shared/engine_settings.h"
#include "models/neuron_core/sequencer/shared/engine_signals.h"
#include "models/neuron_core/sequencer/shared/engine_timeline.h"
#include "models/neuron_core/sequencer/shared/environment.h"
#include "models/neuron_core/sequencer/shared/progress.h"
#include "models/neuron_core/sequencer/timing/issue_window.h"
#include "models/neuron_core/sequencer/timing/timing.h"

namespace trn {

/// Issues data-path instructions of one engine: computes their start, cost and counters. The
/// engine's data path computes their results.
class compute_unit {
public:
    using cycles = engine_clock::cycles;

    compute_unit(sequencer_environment& environment, const isa::core_traits& traits,
                 engine_clock& clock, engine_signals& signals, engine_counters& counters,
                 const engine_timeline& timeline)
        : core_(environment),
          traits_(traits),
          clock_(clock),
          signals_(signals),
          counters_(counters),
          timeline_(timeline),
          window_(environment.partitions) {}

    /// Finished when `i` can start now; the start is then the clock's local time.
    progress prepare(const isa::instruction& i);
    /// Precondition: prepare() has finished for `i`. When it finishes, completed() is valid.
    progress execute(const isa::instruction& i, std::uint32_t pc,
                     const isa::number_settings& numbers);
    /// Completion of the instruction of the last execute().
    cycles completed() const { return completed_; }

    /// LOAD_TABLE: makes `set` of activation functions the loaded one.
    void load_table(unsigned set);
    /// Discards the data path; the next one begins in its reset state.
    void reset();

private:
    void count(const isa::instruction& i, const isa::work& done);
    bool load_set_of(std::uint8_t function);
    void warm_up();

    sequencer_environment& core_;
    const isa::core_traits& traits_;
    engine_clock& clock_;
    engine_signals& signals_;
    engine_counters& counters_;
    const engine_timeline& timeline_;
    isa::issue_window window_;
    std::unique_ptr<isa::data_path> path_;
    isa::cost cost_;
    isa::memory_ports::use use_;
    cycles completed_ = 0;
    unsigned activation_set_ = 0;
    cycles cold_start_ = 0;  // last start of the array after it was idle
    cycles array_busy_ = 0;  // end of the last instruction on the array
    bool array_used_ = false;
};

}  // namespace trn
