// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/sequencer.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "models/neuron_core/sequencer/sequencer_regs.h"
#include "models/neuron_core/sequencer/timing/timing.h"
#include "models/neuron_isa/assembler/assembler.h"
#include "platform/framework/kernel/trace.h"

namespace trn {

namespace regs = sequencer_regs;
using isa::error;
using isa::instruction;
using isa::opcode;
using sc_core::sc_time;

namespace {

/// Maximum lead of local time over simulated time, for instructions that use registers only.
constexpr std::uint64_t max_ahead = 64 * isa::control_cycles;

/// Engines of a chip act in this order, a picosecond apart, when their cycles begin together. The
/// kernel's own order would depend on what it has executed before.
sc_time turn_of(unsigned core, isa::engine e) {
    return time_of_value(core * isa::engine_count + static_cast<unsigned>(e));
}

}  // namespace

sequencer::sequencer(sequencer_environment& environment, isa::engine engine)
    : core_(environment),
      engine_(engine),
      traits_{engine, environment.id.generation, environment.partitions.sbuf,
              environment.partitions.psum},
      settings_(environment.control, engine),
      turn_(turn_of(environment.id.core, engine)),
      clock_(isa::clock_of(engine, environment.id.generation)),
      timeline_(environment.owner.name(), engine, clock_, environment.lines),
      signals_(environment, engine, settings_, counters_),
      program_(environment, traits_, clock_, counters_, timeline_, wake_),
      waits_(environment, engine, clock_, signals_, settings_, counters_, timeline_),
      writes_(environment, clock_, engine, wake_),
      generators_(environment, clock_, settings_, engine, wake_),
      scalars_(environment, engine, clock_, signals_, counters_, timeline_, wake_),
      rows_(environment, clock_, counters_, settings_, timeline_, wake_),
      compute_(environment, traits_, clock_, signals_, counters_, timeline_) {}

// ---- commands and states

std::string_view name_of(sequencer::state s) {
    static constexpr std::string_view names[] = {"idle",   "running", "waiting",
                                                 "halted", "stopped", "failed"};
    return names[static_cast<unsigned>(s)];
}

void sequencer::command(std::uint32_t bits) {
    if (regs::control::reset.get(bits) != 0) {
        reset();
        clock_.spend(isa::control_cycles);
    }
    if (regs::control::stop.get(bits) != 0 && active()) stopping_ = error::none;
    const bool ready = !active() && state_ != state::failed;
    if (regs::control::start.get(bits) != 0 && ready) {
        pass_breakpoint_ = false;  // of a CONTINUE or STEP that STOP ended
        program_.drop();
        start(settings_.start_pc());
    } else if (regs::control::continue_.get(bits) != 0 && state_ == state::stopped) {
        pass_breakpoint_ = error_ == error::breakpoint;
        start(pc_);
    } else if (regs::control::step.get(bits) != 0 && ready) {
        const bool fresh = state_ != state::stopped;
        pass_breakpoint_ = true;
        start(fresh ? settings_.start_pc() : pc_);
        step_ = true;
    }
    if (spawned_) wake_.notify(sc_core::SC_ZERO_TIME);
}

void sequencer::start(std::uint32_t pc) {
    program_.start(settings_);
    pc_ = pc;
    state_ = state::running;
    error_ = error::none;
    error_pc_ = error_detail_ = 0;
    stopping_.reset();
    step_ = false;
    clock_.reach(clock_.now());
    next_instruction();
    if (!counters_.started) counters_.started = clock_.now();
    if (core_.observer != nullptr) core_.observer->started(engine_);
    timeline_.started(pc, traits_.generation);
    if (spawned_) return;
    spawned_ = true;
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&wake_);
    sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("sequencer"), &options);
}

void sequencer::reset() {
    if (active() && core_.observer != nullptr) core_.observer->ended(engine_);
    state_ = state::idle;
    stopping_.reset();
    step_ = pass_breakpoint_ = false;
    pc_ = 0;
    error_ = error::none;
    error_pc_ = error_detail_ = 0;
    counters_ = {};
    clock_.restart();
    registers_.reset();
    completions_.reset();
    program_.reset();
    waits_.end();
    writes_.reset();
    generators_.reset();
    rows_.reset();
    scalars_.reset();
    compute_.reset();
    next_instruction();
}

void sequencer::stop(error code) {
    state_ = state::stopped;
    error_ = code;
    error_pc_ = code == error::none ? 0 : pc_;
    stopping_.reset();
    step_ = false;
    waits_.end();
    next_instruction();
    engine_ended("stopped");
}

sequencer::step sequencer::fail(const isa::fault& f) {
    state_ = state::failed;
    error_ = f.code;
    error_pc_ = pc_;
    error_detail_ = f.error_detail();
    stopping_.reset();
    step_ = false;
    waits_.end();
    next_instruction();
    engine_ended("failed");
    timeline_.event("failed", {{"pc", pc_}, {"error", name_of(f.code)}, {"detail", error_detail_}});
    signals_.send(notification::kind::error, static_cast<std::uint32_t>(f.code) | pc_ << 8);
    return step::ended;
}

void sequencer::set_reg(unsigned n, std::uint32_t value) {
    registers_[n] = value;
    if (spawned_) wake_.notify(sc_core::SC_ZERO_TIME);
}

void sequencer::set_clock(unsigned permille) {
    clock_.set_rate(permille);
    if (spawned_) wake_.notify(sc_core::SC_ZERO_TIME);  // recomputes its wake-up time
}

std::uint32_t sequencer::status() const {
    const std::uint32_t semaphore = state_ == state::waiting ? waits_.condition().index : 0u;
    return static_cast<std::uint32_t>(regs::status::state.set(0, static_cast<unsigned>(state_)) |
                                      regs::status::error.set(0, static_cast<unsigned>(error_)) |
                                      regs::status::semaphore.set(0, semaphore));
}

std::uint32_t sequencer::retired() const {
    return static_cast<std::uint32_t>(completions_.retired(clock_.now()));
}

std::string sequencer::instruction_text() const {
    const program_buffer::entry* e = program_.decoded(pc_);
    return e != nullptr && !e->header_fault ? isa::text_of(e->d.value) : std::string();
}

std::string sequencer::error_text() const {
    if (state_ != state::failed) return {};
    return fmt::format("{} at {}, detail {:#x}", name_of(error_),
                       describe_pc(core_.lines, engine_, error_pc_), error_detail_);
}

/// Simulated time stops at the end of this delta cycle.
void sequencer::pause(std::string_view why) {
    if (core_.pause)
        core_.pause(fmt::format("{}.{} at {}{}{}", core_.owner.name(), name_of(engine_),
                                describe_pc(core_.lines, engine_, pc_), why.empty() ? "" : ": ",
                                why));
}

void sequencer::engine_ended(std::string_view reason) {
    if (core_.observer != nullptr) core_.observer->ended(engine_);
    if (breaks_.ends()) pause(reason);
}

std::uint64_t sequencer::elapsed() const {
    return counters_.started ? clock_.now() - *counters_.started : 0;
}

std::optional<std::string> sequencer::describe_wait() const {
    if (state_ != state::waiting) return std::nullopt;
    return fmt::format("{} engine at {}: {}", name_of(engine_),
                       describe_pc(core_.lines, engine_, pc_), waits_.describe());
}

// ---- the process

void sequencer::run() {
    completions_.settle(clock_.now(), signals_);
    while (active()) {
        if (stopping_ && !in_progress()) {
            if (!drained()) {
                sleep_until(completions_.last());
                return;
            }
            stop(*stopping_);
            break;
        }
        const step s = advance();
        if (s == step::asleep) return;
        if (s == step::ended) break;
    }
    if (const auto effect = completions_.next_effect()) sleep_until(*effect);
}

/// Sleeps until `condition` or the next completion with an effect, or until woken.
sequencer::step sequencer::sleep(sleeping condition) {
    if (const auto effect = completions_.next_effect())
        condition.until = std::min(condition.until.value_or(*effect), *effect);
    sc_time delay;
    if (condition.until) {
        const sc_time wake = clock_.time_of(*condition.until) + turn_,
                      stamp = sc_core::sc_time_stamp();
        delay = wake > stamp ? wake - stamp : sc_core::SC_ZERO_TIME;
    }
    if (condition.event == nullptr && condition.until)
        sc_core::next_trigger(delay, wake_);
    else if (condition.event == nullptr)
        sc_core::next_trigger(wake_);
    else if (condition.until)
        sc_core::next_trigger(delay, *condition.event | wake_);
    else
        sc_core::next_trigger(*condition.event | wake_);
    return step::asleep;
}

sequencer::step sequencer::follow(const progress& p) {
    if (const auto* s = std::get_if<sleeping>(&p)) return sleep(*s);
    if (const auto* f = std::get_if<isa::fault>(&p)) return fail(*f);
    return std::holds_alternative<abandoned>(p) ? step::asleep : step::done;
}

sequencer::step sequencer::advance() {
    run_ahead();
    if (!program_.is_ready(pc_))
        if (const step s = follow(program_.fetch(pc_, registers_)); s != step::done) return s;
    const program_buffer::entry* e = program_.decoded(pc_);
    if (clock_.is_ahead()) return sleep_until(clock_.local());
    clock_.reach(clock_.now());
    if (!breaks_.empty() && breaks_.stops(pc_)) {
        pause(instruction_text());
        return sleep_until(clock_.local());
    }
    if (e->header_fault) return fail(*e->header_fault);
    const instruction& i = e->d.value;
    if ((i.flags & isa::flag::stop) != 0 && !pass_breakpoint_) {
        stop(error::breakpoint);
        return step::ended;
    }
    if (i.wait.mode != 0 && !wait_over_) {
        const isa::wait_condition condition{i.wait.mode, i.wait.index, registers_.wait_value(i)};
        if (const step s = wait_for(condition); s != step::done) return s;
        wait_over_ = true;
        if (clock_.is_ahead()) return sleep_until(clock_.local());
    }
    return issue(*e);
}

/// Executes buffered register instructions until one needs other resources, or local time is too
/// far ahead.
void sequencer::run_ahead() {
    if (step_ || stopping_ || in_progress() || settings_.traces() || !breaks_.empty()) return;
    cycles horizon = clock_.now() + max_ahead;
    if (const auto next = completions_.next()) horizon = std::min(horizon, *next);
    const std::uint32_t first = pc_;
    const cycles begin = clock_.local();
    const std::uint64_t before = completions_.issued();
    while (clock_.local() < horizon && program_.has_followers(pc_)) {
        const program_buffer::entry* e = program_.decoded(pc_);
        if (e == nullptr || !e->local) break;
        pc_ = registers_.execute(e->d.value, pc_, clock_, core_.id);
        completions_.count();
    }
    timeline_.registers(first, completions_.issued() - before, begin, clock_.local());
}

sequencer::step sequencer::wait_for(const isa::wait_condition& condition) {
    const progress p = waits_.poll(condition, pc_);
    state_ = waits_.active() ? state::waiting : state::running;
    return follow(p);
}

// ---- issue

sequencer::step sequencer::issue(const program_buffer::entry& e) {
    if (e.fault) return fail(*e.fault);
    if (!e.by_register) return e.d.kind->is_tiles() ? data_path(e.d.value) : control(e.d.value);
    isa::decoded resolved = e.d;
    if (const auto fault = isa::check(resolved, traits_, registers_.values())) return fail(*fault);
    return data_path(resolved.value);
}

/// Effects of issuing an instruction, once per instruction.
void sequencer::note_issue(const instruction& i) {
    if (issue_noted_) return;
    issue_noted_ = true;
    operation_ = timeline_.begin_operation(i);
    signals_.send(notification::kind::trace, pc_ & 0xff'ffff);
    if ((i.update.mode & isa::at_issue) == 0) return;
    const trace::on_behalf_of operation(operation_);
    signals_.update({static_cast<std::uint8_t>(i.update.mode & ~isa::at_issue), i.update.index,
                     registers_.update_value(i)},
                    pc_, true);
}

/// Retires an issued instruction, which completes at `complete`, but not before earlier ones.
void sequencer::retire(const instruction& i, cycles complete) {
    note_issue(i);
    completion_queue::entry e{
        pc_, {}, (i.flags & isa::flag::notify) != 0, settings_.traces(), operation_};
    if (i.update.mode != 0 && (i.update.mode & isa::at_issue) == 0)
        e.update = {i.update.mode, i.update.index, registers_.update_value(i)};
    completions_.push(complete, e);
    pass_breakpoint_ = false;
    pc_ = next_pc_;
    next_instruction();
    if (step_) stopping_ = error::breakpoint;
}

void sequencer::next_instruction() {
    wait_over_ = issue_noted_ = false;
    breaks_.pass();
    operation_ = 0;
    entry_ = 0;
    writes_.next_instruction();
    generators_.next_instruction();
    rows_.next_instruction();
}

bool sequencer::in_progress() const {
    return wait_over_ || issue_noted_ || entry_ != 0;
}

/// Whether all earlier instructions are complete; if not, local time moves to their completion.
bool sequencer::drained() {
    if (completions_.last() <= clock_.now()) return true;
    const cycles begin = std::max(clock_.local(), clock_.now());
    clock_.reach(completions_.last());
    counters_.overlap_cycles += clock_.local() - begin;
    timeline_.waited("drain", begin, clock_.local());
    return false;
}

/// Executes `i` with `execute` once all earlier instructions are complete.
template <typename Execute>
sequencer::step sequencer::after_all_earlier(const instruction& i, Execute execute) {
    if (!drained()) return sleep_until(clock_.local());
    note_issue(i);
    const trace::on_behalf_of operation(operation_);
    if (const step s = follow(execute()); s != step::done) return s;
    clock_.spend(isa::control_cycles);
    retire_control(i, clock_.local());
    return step::done;
}

void sequencer::retire_control(const instruction& i, cycles complete) {
    note_issue(i);
    const trace::on_behalf_of operation(operation_);
    timeline_.control(i, pc_, begun_, std::max(complete, clock_.local()));
    retire(i, complete);
}

sequencer::step sequencer::control(const instruction& i) {
    next_pc_ = pc_ + i.words();
    if (!issue_noted_) begun_ = std::max(clock_.local(), clock_.now());
    switch (i.opcode) {
    case opcode::halt:
        return halt(i);
    case opcode::event_semaphore:
        return synchronise(i);
    case opcode::drain:
        return after_all_earlier(i, [] { return finished{}; });
    case opcode::flush:
        clock_.spend(isa::control_cycles);
        retire_control(i, clock_.local());
        program_.drop();  // also frees `i`
        return step::done;
    case opcode::write:
        return after_all_earlier(
            i, [&] { return writes_.write_all(std::get<isa::write_list>(i.control), registers_); });
    case opcode::dma_start:
        return after_all_earlier(
            i, [&] { return writes_.ring_doorbells(std::get<isa::doorbell_sets>(i.control)); });
    case opcode::notify: {
        if (!drained()) return sleep_until(clock_.local());
        const auto& f = std::get<isa::register_fields>(i.control);
        const std::uint32_t payload =
            f.immediate != 0 ? registers_[f.ra] : static_cast<std::uint32_t>(f.imm);
        retire_control(i, clock_.now());
        completions_.settle(clock_.now(), signals_);
        signals_.send(notification::kind::notify, payload);
        clock_.spend(isa::control_cycles);
        return step::done;
    }
    case opcode::reg_load:
    case opcode::reg_store:
        return after_all_earlier(i, [&] {
            const auto numbers = settings_.numbers(completions_.issued());
            return scalars_.execute(i, pc_, registers_, numbers);
        });
    case opcode::load_table:
        compute_.load_table(static_cast<unsigned>(std::get<isa::register_fields>(i.control).imm));
        retire_control(i, clock_.local());
        return step::done;
    case opcode::dge_copy:
        return after_all_earlier(i, [&] {
            return generators_.execute(std::get<isa::dge_copy_fields>(i.control), registers_);
        });
    default:
        next_pc_ = registers_.execute(i, pc_, clock_, core_.id);
        retire_control(i, clock_.local());
        return step::done;
    }
}

sequencer::step sequencer::halt(const instruction& i) {
    if (!drained()) return sleep_until(clock_.local());
    const std::uint32_t pc = pc_;
    const auto code = static_cast<std::uint32_t>(std::get<isa::register_fields>(i.control).imm);
    retire_control(i, clock_.now());
    completions_.settle(clock_.now(), signals_);
    clock_.spend(isa::control_cycles);  // spent before HALT's notification can cause a START
    pc_ = pc;
    stopping_.reset();
    step_ = false;
    state_ = state::halted;
    engine_ended("halted");
    timeline_.event("halted", {{"code", code}});
    signals_.send(notification::kind::notify, code);
    return step::ended;
}

/// EVENT_SEMAPHORE: waits for each wait of its list in order, then does its updates.
sequencer::step sequencer::synchronise(const instruction& i) {
    const auto& list = std::get<isa::sync_list>(i.control);
    for (; entry_ < list.size() && list[entry_].mode != 0; ++entry_) {
        const isa::sync_entry& entry = list[entry_];
        if ((entry.mode & isa::sync_entry::update) != 0) continue;
        if (const step s = wait_for({entry.mode, entry.index, entry.value}); s != step::done)
            return s;
    }
    if (clock_.is_ahead()) return sleep_until(clock_.local());
    return after_all_earlier(i, [&] {
        for (const isa::sync_entry& entry : list) {
            if (entry.mode == 0) break;
            if ((entry.mode & isa::sync_entry::update) != 0)
                signals_.update({static_cast<std::uint8_t>(entry.mode & ~isa::sync_entry::update),
                                 entry.index, entry.value},
                                pc_);
        }
        return finished{};
    });
}

sequencer::step sequencer::data_path(const instruction& i) {
    if (i.opcode >= opcode::dma_gather && i.opcode <= opcode::dma_gather_transpose)
        return move_rows(i);
    next_pc_ = pc_ + i.words();
    if (const step s = follow(compute_.prepare(i)); s != step::done) return s;
    note_issue(i);
    const trace::on_behalf_of operation(operation_);
    const auto numbers = settings_.numbers(completions_.issued());
    if (const step s = follow(compute_.execute(i, pc_, numbers)); s != step::done) return s;
    retire(i, compute_.completed());
    return step::done;
}

/// Instructions 19 and 20: complete when the DMA engines have moved all rows.
sequencer::step sequencer::move_rows(const instruction& i) {
    next_pc_ = pc_ + i.words();
    if (!issue_noted_) begun_ = std::max(clock_.local(), clock_.now());
    return after_all_earlier(i, [&] { return rows_.execute(i); });
}

}  // namespace trn
