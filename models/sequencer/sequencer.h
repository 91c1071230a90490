// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "models/instructions/codec.h"
#include "models/instructions/data_path.h"
#include "models/notification_queue/notification_queue.h"
#include "models/semaphores/semaphores.h"
#include "models/sequencer/issue_window.h"
#include "models/sequencer/program_buffer.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/memory_port.h"

namespace trn {

/// What the sequencers of a core know of it and share.
struct sequencer_environment {
    struct identity {
        isa::generation generation = isa::generation::v4;
        unsigned core = 0;           ///< in the chip
        unsigned chip = 0;           ///< routing id
        std::uint64_t dma_base = 0;  ///< registers of the first of the core's 16 DMA engines
        std::uint64_t dma_stride = 0;
    };

    const sc_core::sc_object& owner;
    identity who;
    isa::partition_sizes partitions;
    semaphores& sync;
    isa::core_memory& memory;
    memory_port& port;
    register_bank& control;  ///< the control blocks; instance = engine
    std::function<bool(unsigned slot, const notification&)> notify;
    /// What an engine computes with, made at its first instruction that needs it; null for Sync.
    std::function<std::unique_ptr<isa::data_path>(isa::engine)> make_data_path;
    isa::memory_ports ports{};
};

/// One engine of a NeuronCore: fetches its program, issues instructions in order, and runs the
/// control instructions itself; others go to the engine's data path. One process, spawned at the
/// first start. Spec: doc/models/sequencer.md.
class sequencer {
public:
    enum class state : std::uint8_t { idle, running, waiting, halted, stopped, failed };
    struct counters {
        std::uint64_t busy_cycles = 0, wait_cycles = 0, bytes_read = 0, bytes_written = 0,
                      flops = 0, semaphore_wraps = 0, numerical = 0, fetched_bytes = 0;
    };

    sequencer(sequencer_environment& environment, isa::engine which);

    /// A write of CONTROL.
    void command(std::uint32_t bits);
    /// Reset line, core reset or power loss: all state lost.
    void reset();

    state current() const { return state_; }
    bool active() const { return state_ == state::running || state_ == state::waiting; }
    std::uint32_t status() const;
    std::uint32_t pc() const { return pc_; }
    std::uint32_t retired() const;
    std::uint32_t error_pc() const { return error_pc_; }
    std::uint32_t error_detail() const { return error_detail_; }
    std::int32_t wait_value() const { return state_ == state::waiting ? wait_.value : 0; }
    std::uint32_t reg(unsigned n) const { return registers_[n]; }
    void set_reg(unsigned n, std::uint32_t value) { registers_[n] = value; }
    std::uint32_t block_word(unsigned n) const;
    const counters& counted() const { return counters_; }
    /// "vector at pc 3: waits for S[4] >= 16, value 2", or nothing.
    std::optional<std::string> describe_wait() const;

private:
    using cycles = std::uint64_t;
    enum class step { done, asleep, ended };

    /// Completion of an issued instruction.
    struct completion {
        cycles at;
        std::uint32_t pc;
        isa::semaphore_update update;
        bool notify, trace;
        bool has_effect() const { return update.mode != 0 || notify || trace; }
    };

    void start(std::uint32_t pc);
    void run();
    step advance();
    step wait_for(const isa::wait_condition& condition);
    step issue(const program_buffer::entry& e);
    step control(const isa::instruction& i);
    step load_or_store(const isa::instruction& i);
    step synchronise(const isa::sync_list& list);
    step write_all(const isa::write_list& list);
    step ring_doorbells(const isa::doorbell_sets& sets);
    step post(std::uint64_t address, const void* bytes, unsigned length);
    step data_path(const isa::instruction& i);
    bool load_set_of(std::uint8_t function);
    static bool is_local(const program_buffer::entry& e);
    void run_ahead();
    void compute(const isa::instruction& i);
    std::uint64_t rank(unsigned what) const;

    void retire(const isa::instruction& i, cycles complete);
    void settle();
    void update(const isa::semaphore_update& u);
    void set_event(unsigned index, bool value);
    void send(notification::kind kind, std::uint32_t payload);
    step fail(isa::error code, std::uint32_t detail);
    step fail(const isa::fault& f) { return fail(f.code, f.error_detail()); }
    void stop(isa::error code);
    step sleep_until(cycles at);
    step sleep_for(const sc_core::sc_event& event, std::optional<cycles> limit);

    cycles now() const;
    sc_core::sc_time time_of(cycles at) const;
    cycles after(cycles from, const sc_core::sc_time& duration) const;
    cycles cycles_of_ns(std::uint64_t ns) const;
    void note_issue(const isa::instruction& i);
    step fetch();
    step decode();
    step fetch_word(std::uint32_t pc, std::uint8_t* to);
    step fetch_failed();
    std::uint32_t start_pc() const;
    step fetch_block(std::uint32_t number, bool demanded);
    bool drained();
    void next_instruction();
    bool in_progress() const { return wait_over_ || issue_noted_ || part_ != 0; }

    sequencer_environment& core_;
    const isa::engine engine_;
    const isa::core_traits traits_;
    std::unique_ptr<isa::data_path> path_;
    const std::uint64_t hertz_;

    sc_core::sc_event wake_;
    bool spawned_ = false;
    state state_ = state::idle;
    std::optional<isa::error> stopping_;  // once all issued instructions are complete
    bool step_ = false, pass_breakpoint_ = false;
    std::uint32_t pc_ = 0, next_pc_ = 0;
    std::array<std::uint32_t, isa::register_count> registers_{};
    std::uint64_t issued_ = 0;  // instructions in program order, failed ones not counted
    isa::error error_ = isa::error::none;
    std::uint32_t error_pc_ = 0, error_detail_ = 0;

    cycles cycle_ = 0;          // local time: when the next instruction may begin
    cycles last_complete_ = 0;  // of all instructions issued
    std::deque<completion> completions_;
    program_buffer buffer_;
    isa::issue_window window_;
    isa::wait_condition wait_;  // while state_ is waiting
    std::optional<cycles> waiting_since_;
    bool wait_over_ = false;           // of the current instruction
    unsigned part_ = 0;                // of the current instruction: list entry, write or doorbell
    bool issue_noted_ = false;         // of the current instruction: traced, updated at issue
    std::uint32_t fetched_for_ = ~0u;  // block whose followers have been fetched
    std::uint64_t program_base_ = 0;
    std::uint32_t program_words_ = 0;
    unsigned activation_set_ = 0;
    deferral deferred_;
    counters counters_;
};

}  // namespace trn
