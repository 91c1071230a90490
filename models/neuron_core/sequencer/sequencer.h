// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <systemc>

#include "models/neuron_core/sequencer/dma/generator_commands.h"
#include "models/neuron_core/sequencer/dma/row_transfer.h"
#include "models/neuron_core/sequencer/engine_breaks.h"
#include "models/neuron_core/sequencer/shared/completion_queue.h"
#include "models/neuron_core/sequencer/shared/engine_settings.h"
#include "models/neuron_core/sequencer/shared/engine_signals.h"
#include "models/neuron_core/sequencer/shared/engine_timeline.h"
#include "models/neuron_core/sequencer/shared/environment.h"
#include "models/neuron_core/sequencer/units/compute_unit.h"
#include "models/neuron_core/sequencer/units/fetch_unit.h"
#include "models/neuron_core/sequencer/units/posted_writes.h"
#include "models/neuron_core/sequencer/units/register_unit.h"
#include "models/neuron_core/sequencer/units/scalar_access.h"
#include "models/neuron_core/sequencer/units/wait_unit.h"

namespace trn {

/// One engine of a NeuronCore: its states, and the order in which its units execute an instruction.
/// Has one process, spawned at the first start. Spec: doc/models/neuron_core/sequencer.md.
class sequencer {
public:
    enum class state : std::uint8_t { idle, running, waiting, halted, stopped, failed };
    using counters = engine_counters;

    sequencer(sequencer_environment& environment, isa::engine engine);

    /// A write of CONTROL.
    void command(std::uint32_t bits);
    /// Reset line, core reset or power loss: all state is lost.
    void reset();

    /// Throttling: sets the clock to `permille` thousandths of its rate.
    void set_clock(unsigned permille);

    state current() const { return state_; }
    bool active() const { return state_ == state::running || state_ == state::waiting; }
    std::uint32_t status() const;
    std::uint32_t pc() const { return pc_; }
    std::uint32_t retired() const;
    std::uint32_t error_pc() const { return error_pc_; }
    std::uint32_t error_detail() const { return error_detail_; }
    std::int32_t wait_value() const {
        return state_ == state::waiting ? waits_.condition().value : 0;
    }
    std::uint32_t reg(unsigned n) const { return registers_[n]; }
    /// Precondition: the engine is not running. A wait for a register's value is decided again.
    void set_reg(unsigned n, std::uint32_t value);
    std::uint32_t block_word(unsigned n) const { return program_.buffered(pc_, n); }
    const counters& counted() const { return counters_; }
    /// Cycles since the first start; 0 before it.
    std::uint64_t elapsed() const;
    /// Precondition: the engine waits.
    const isa::wait_condition& awaited() const { return waits_.condition(); }
    /// "vector at pc 3: waits for S[4] >= 16, value 2", or nothing.
    std::optional<std::string> describe_wait() const;
    /// The instruction at the pc in the assembler's syntax; empty if it is not buffered.
    std::string instruction_text() const;
    /// Reason of the failure; empty if the engine has not failed.
    std::string error_text() const;

    /// Breakpoints of debuggers: they pause simulated time and do not affect the engine.
    engine_breaks& breaks() { return breaks_; }
    const engine_breaks& breaks() const { return breaks_; }

private:
    using cycles = engine_clock::cycles;
    enum class step { done, asleep, ended };

    void start(std::uint32_t pc);
    void run();
    step advance();
    void run_ahead();
    step wait_for(const isa::wait_condition& condition);
    step issue(const program_buffer::entry& e);
    step control(const isa::instruction& i);
    step synchronise(const isa::instruction& i);
    template <typename Execute>
    step after_all_earlier(const isa::instruction& i, Execute execute);
    step halt(const isa::instruction& i);
    step data_path(const isa::instruction& i);
    step move_rows(const isa::instruction& i);

    void note_issue(const isa::instruction& i);
    void retire(const isa::instruction& i, cycles complete);
    void retire_control(const isa::instruction& i, cycles complete);
    void next_instruction();
    void pause(std::string_view why);
    void engine_ended(std::string_view reason);
    bool in_progress() const;
    bool drained();
    step follow(const progress& p);
    step fail(const isa::fault& f);
    void stop(isa::error code);
    step sleep(sleeping condition);
    step sleep_until(cycles cycle) { return sleep({cycle}); }

    sequencer_environment& core_;
    const isa::engine engine_;
    const isa::core_traits traits_;
    const engine_settings settings_;
    const sc_core::sc_time turn_;  // from the beginning of a cycle until the engine acts

    sc_core::sc_event wake_;
    bool spawned_ = false;
    state state_ = state::idle;
    std::optional<isa::error> stopping_;  // stop after all issued instructions are complete
    bool step_ = false, pass_breakpoint_ = false;
    std::uint32_t pc_ = 0, next_pc_ = 0;
    isa::error error_ = isa::error::none;
    std::uint32_t error_pc_ = 0, error_detail_ = 0;

    // Of the current instruction.
    bool wait_over_ = false;
    unsigned entry_ = 0;        // index of EVENT_SEMAPHORE's current entry
    bool issue_noted_ = false;  // traced, and updates at issue done
    trace::operation operation_ = 0;
    cycles begun_ = 0;

    engine_breaks breaks_;
    counters counters_;
    engine_clock clock_;
    engine_timeline timeline_;
    register_unit registers_;
    engine_signals signals_;
    completion_queue completions_;
    fetch_unit program_;
    wait_unit waits_;
    posted_writes writes_;
    generator_commands generators_;
    scalar_access scalars_;
    row_transfer rows_;
    compute_unit compute_;
};

std::string_view name_of(sequencer::state s);

}  // namespace trn
