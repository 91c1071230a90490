// SPDX-License-Identifier: Apache-2.0
#include "models/sequencer/sequencer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "models/sequencer/sequencer_regs.h"
#include "platform/framework/kernel/trace.h"

namespace trn {

namespace regs = sequencer_regs;
using isa::error;
using isa::instruction;
using isa::opcode;
using sc_core::sc_time;

namespace {

/// How far local time may run ahead of simulated time, for instructions that only touch registers.
constexpr std::uint64_t max_ahead = 64 * isa::control_cycles;

constexpr std::uint64_t ps_per_second = 1'000'000'000'000;

// Registers of a queue's doorbells in a DMA engine (contract 6.1, 6.2).
constexpr std::uint64_t m2s_doorbell = 0x1038, s2m_doorbell = 0x21038, queue_stride = 0x1000;

/// Sets of activation functions (spec 3.6), a bit per function code.
constexpr std::uint32_t bits(unsigned first, unsigned last) {
    return ((2u << last) - 1) & ~((1u << first) - 1);
}
constexpr std::uint32_t activation_sets[] = {
    bits(0, 8), bits(9, 13), bits(14, 19), bits(20, 20) | 1u << 8, bits(21, 22), bits(23, 25)};

std::uint32_t integer_result(unsigned op, std::uint32_t ua, std::uint32_t ub) {
    const auto a = static_cast<std::int32_t>(ua), b = static_cast<std::int32_t>(ub);
    const bool shifts = ub < 32;
    switch (static_cast<isa::alu>(op)) {
    case isa::alu::add:
        return ua + ub;
    case isa::alu::subtract:
        return ua - ub;
    case isa::alu::mult:
        return ua * ub;
    case isa::alu::max:
        return static_cast<std::uint32_t>(std::max(a, b));
    case isa::alu::min:
        return static_cast<std::uint32_t>(std::min(a, b));
    case isa::alu::is_equal:
        return a == b;
    case isa::alu::not_equal:
        return a != b;
    case isa::alu::is_ge:
        return a >= b;
    case isa::alu::is_gt:
        return a > b;
    case isa::alu::is_le:
        return a <= b;
    case isa::alu::is_lt:
        return a < b;
    case isa::alu::bitwise_and:
        return ua & ub;
    case isa::alu::bitwise_or:
        return ua | ub;
    case isa::alu::bitwise_xor:
        return ua ^ ub;
    case isa::alu::bitwise_not:
        return ~ua;
    case isa::alu::shift_left:
        return shifts ? ua << ub : 0;
    case isa::alu::shift_right:
        return shifts ? ua >> ub : 0;
    case isa::alu::shift_right_arithmetic:
        return static_cast<std::uint32_t>(a >> (shifts ? ub : 31));
    default:
        return 0;  // check() refuses others
    }
}

bool holds(unsigned condition, std::int32_t a, std::int32_t b) {
    switch (condition) {
    case 1:
        return a < b;
    case 2:
        return a <= b;
    case 3:
        return a == b;
    case 4:
        return a != b;
    case 5:
        return a >= b;
    case 6:
        return a > b;
    default:
        return true;
    }
}

}  // namespace

sequencer::sequencer(sequencer_environment& environment, isa::engine which)
    : core_(environment),
      engine_(which),
      traits_{which, environment.who.generation, environment.partitions.sbuf,
              environment.partitions.psum},
      hertz_(isa::clock_of(which, environment.who.generation)),
      window_(environment.partitions) {}

// ---- time

sequencer::cycles sequencer::now() const {
    return static_cast<cycles>(static_cast<unsigned __int128>(sc_core::sc_time_stamp().value()) *
                               hertz_ / ps_per_second);
}

sc_time sequencer::time_of(cycles at) const {
    return sc_time::from_value(static_cast<std::uint64_t>(
        (static_cast<unsigned __int128>(at) * ps_per_second + hertz_ - 1) / hertz_));
}

sequencer::cycles sequencer::after(cycles from, const sc_time& duration) const {
    return from + static_cast<cycles>((static_cast<unsigned __int128>(duration.value()) * hertz_ +
                                       ps_per_second - 1) /
                                      ps_per_second);
}

sequencer::cycles sequencer::cycles_of_ns(std::uint64_t ns) const {
    return after(0, sc_time(static_cast<double>(ns), sc_core::SC_NS));
}

/// Sleeps until `at`, or until an earlier completion that others see.
sequencer::step sequencer::sleep_until(cycles at) {
    for (const completion& c : completions_)
        if (c.has_effect()) {
            at = std::min(at, c.at);
            break;
        }
    const sc_time wake = time_of(at), stamp = sc_core::sc_time_stamp();
    sc_core::next_trigger(wake > stamp ? wake - stamp : sc_core::SC_ZERO_TIME, wake_);
    return step::asleep;
}

sequencer::step sequencer::sleep_for(const sc_core::sc_event& event, std::optional<cycles> limit) {
    for (const completion& c : completions_)
        if (c.has_effect()) {
            limit = std::min(limit.value_or(c.at), c.at);
            break;
        }
    if (!limit) {
        sc_core::next_trigger(event | wake_);
    } else {
        const sc_time wake = time_of(*limit), stamp = sc_core::sc_time_stamp();
        sc_core::next_trigger(wake > stamp ? wake - stamp : sc_core::SC_ZERO_TIME, event | wake_);
    }
    return step::asleep;
}

// ---- commands and states

void sequencer::command(std::uint32_t bits) {
    if (regs::control::reset.get(bits) != 0) reset();
    if (regs::control::stop.get(bits) != 0 && active()) stopping_ = error::none;
    const bool ready = !active() && state_ != state::failed;
    if (regs::control::start.get(bits) != 0 && ready) {
        buffer_.drop();
        start(start_pc());
    } else if (regs::control::continue_.get(bits) != 0 && state_ == state::stopped) {
        pass_breakpoint_ = error_ == error::breakpoint;
        start(pc_);
    } else if (regs::control::step.get(bits) != 0 && ready) {
        const bool fresh = state_ != state::stopped;
        pass_breakpoint_ = true;
        start(fresh ? static_cast<std::uint32_t>(
                          core_.control.get(regs::reg::start_pc, 0, static_cast<unsigned>(engine_)))
                    : pc_);
        step_ = true;
    }
    if (spawned_) wake_.notify(sc_core::SC_ZERO_TIME);
}

std::uint32_t sequencer::start_pc() const {
    return static_cast<std::uint32_t>(
        core_.control.get(regs::reg::start_pc, 0, static_cast<unsigned>(engine_)));
}

void sequencer::start(std::uint32_t pc) {
    const auto instance = static_cast<unsigned>(engine_);
    program_base_ = (core_.control.get(regs::reg::program_hi, 0, instance) << 32 |
                     core_.control.get(regs::reg::program_lo, 0, instance)) &
                    ~std::uint64_t{isa::word_bytes - 1};
    program_words_ =
        static_cast<std::uint32_t>(core_.control.get(regs::reg::program_words, 0, instance));
    pc_ = pc;
    state_ = state::running;
    error_ = error::none;
    error_pc_ = error_detail_ = 0;
    stopping_.reset();
    step_ = false;
    fetched_for_ = ~0u;
    cycle_ = std::max(cycle_, now());
    next_instruction();
    if (trace::on())
        trace::event(core_.owner.name(), "engine_started",
                     {{"engine", name_of(engine_)}, {"pc", pc}});
    if (spawned_) return;
    spawned_ = true;
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&wake_);
    sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("sequencer"), &options);
}

void sequencer::reset() {
    state_ = state::idle;
    stopping_.reset();
    step_ = pass_breakpoint_ = false;
    pc_ = 0;
    registers_ = {};
    issued_ = 0;
    error_ = error::none;
    error_pc_ = error_detail_ = 0;
    cycle_ = last_complete_ = 0;
    completions_.clear();
    buffer_.drop();
    window_.reset();
    waiting_since_.reset();
    activation_set_ = 0;
    counters_ = {};
    deferred_.abandon();
    next_instruction();
    path_.reset();  // a new one begins as after reset
}

void sequencer::stop(error code) {
    state_ = state::stopped;
    error_ = code;
    error_pc_ = code == error::none ? 0 : pc_;
    stopping_.reset();
    step_ = false;
    waiting_since_.reset();
    next_instruction();
}

sequencer::step sequencer::fail(error code, std::uint32_t detail) {
    state_ = state::failed;
    error_ = code;
    error_pc_ = pc_;
    error_detail_ = detail;
    stopping_.reset();
    step_ = false;
    waiting_since_.reset();
    next_instruction();
    if (trace::on())
        trace::event(core_.owner.name(), "engine_failed",
                     {{"engine", name_of(engine_)},
                      {"pc", pc_},
                      {"error", name_of(code)},
                      {"detail", detail}});
    send(notification::kind::error, static_cast<std::uint32_t>(code) | pc_ << 8);
    return step::ended;
}

std::uint32_t sequencer::status() const {
    const std::uint32_t semaphore = state_ == state::waiting ? wait_.index : 0u;
    return static_cast<std::uint32_t>(regs::status::state.set(0, static_cast<unsigned>(state_)) |
                                      regs::status::error.set(0, static_cast<unsigned>(error_)) |
                                      regs::status::semaphore.set(0, semaphore));
}

std::uint32_t sequencer::retired() const {
    const auto flying = std::ranges::count_if(
        completions_, [at = now()](const completion& c) { return c.at > at; });
    return static_cast<std::uint32_t>(issued_ - static_cast<std::uint64_t>(flying));
}

std::uint32_t sequencer::block_word(unsigned n) const {
    const std::uint64_t word = std::uint64_t{pc_} + n / 16;
    const auto* block =
        buffer_.find(static_cast<std::uint32_t>(word / program_buffer::block_words));
    if (block == nullptr || !block->readable || word >= program_words_) return 0;
    std::uint32_t value;
    std::memcpy(
        &value,
        block->bytes.data() + word % program_buffer::block_words * isa::word_bytes + n % 16 * 4,
        sizeof value);
    return value;
}

std::optional<std::string> sequencer::describe_wait() const {
    if (state_ != state::waiting) return std::nullopt;
    static constexpr std::string_view signs[] = {"", ">=", "==", "<=", "!=", "", "", ">="};
    const auto mode = static_cast<isa::wait_mode>(wait_.mode);
    if (mode == isa::wait_mode::event_set || mode == isa::wait_mode::event_clear)
        return fmt::format("{} engine at pc {}: waits until event {} is {}", name_of(engine_), pc_,
                           wait_.index, mode == isa::wait_mode::event_set ? "set" : "clear");
    return fmt::format("{} engine at pc {}: waits for S[{}] {} {}, which is {}", name_of(engine_),
                       pc_, wait_.index, signs[wait_.mode], wait_.value,
                       core_.sync.value(wait_.index));
}

// ---- the process

void sequencer::run() {
    settle();
    while (active()) {
        if (stopping_ && !in_progress()) {
            if (last_complete_ > now()) {
                sleep_until(last_complete_);
                return;
            }
            stop(*stopping_);
            break;
        }
        const step s = advance();
        if (s == step::asleep) return;
        if (s == step::ended) break;
    }
    for (const completion& c : completions_)
        if (c.has_effect()) {
            sleep_until(c.at);
            return;
        }
}

sequencer::step sequencer::advance() {
    run_ahead();
    const program_buffer::entry* e = buffer_.decoded(pc_);
    const std::uint32_t block = pc_ / program_buffer::block_words;
    if (e == nullptr || block != fetched_for_) {
        if (const step s = fetch(); s != step::done) return s;
        e = buffer_.decoded(pc_);
    }
    if (cycle_ > now()) return sleep_until(cycle_);
    cycle_ = std::max(cycle_, now());
    if (e->header_fault) return fail(*e->header_fault);
    const instruction& i = e->d.what;
    if ((i.flags & isa::flag::stop) != 0 && !pass_breakpoint_) {
        stop(error::breakpoint);
        return step::ended;
    }
    if (i.wait.mode != 0 && !wait_over_) {
        isa::wait_condition condition = i.wait;
        if ((i.flags & isa::flag::wait_reg) != 0)
            condition.value =
                static_cast<std::int32_t>(registers_[static_cast<std::uint32_t>(i.wait.value)]);
        if (const step s = wait_for(condition); s != step::done) return s;
        wait_over_ = true;
        if (cycle_ > now()) return sleep_until(cycle_);
    }
    return issue(*e);
}

/// Decodes the current instruction, and fetches the blocks that will be needed next.
sequencer::step sequencer::fetch() {
    const std::uint32_t block = pc_ / program_buffer::block_words;
    if (buffer_.decoded(pc_) == nullptr)
        if (const step s = decode(); s != step::done) return s;
    for (unsigned n = 1; n <= program_buffer::ahead; ++n)
        if (std::uint64_t{block + n} * program_buffer::block_words < program_words_)
            fetch_block(block + n, false);
    fetched_for_ = block;
    return step::done;
}

sequencer::step sequencer::decode() {
    std::array<std::uint8_t, isa::max_words * isa::word_bytes> words{};
    if (const step s = fetch_word(pc_, words.data()); s != step::done) return s;
    program_buffer::entry e;
    e.header_fault = isa::check_header(std::span(words).first(16), engine_, traits_.generation);
    if (!e.header_fault) {
        if ((words[2] & isa::flag::long_form) != 0)
            if (const step s = fetch_word(pc_ + 1, words.data() + isa::word_bytes); s != step::done)
                return s;
        e.d = isa::decode(words);
        e.by_register = isa::reads_registers(e.d.what);
        if (!e.by_register) e.fault = isa::check(e.d, traits_, registers_);
    }
    e.local = is_local(e);
    buffer_.keep(pc_, std::move(e));
    return step::done;
}

sequencer::step sequencer::fetch_word(std::uint32_t pc, std::uint8_t* to) {
    if (pc >= program_words_) return fetch_failed();
    const std::uint32_t block = pc / program_buffer::block_words;
    if (const step s = fetch_block(block, true); s != step::done) return s;
    std::memcpy(
        to, buffer_.find(block)->bytes.data() + pc % program_buffer::block_words * isa::word_bytes,
        isa::word_bytes);
    return step::done;
}

sequencer::step sequencer::fetch_failed() {
    if (cycle_ > now()) return sleep_until(cycle_);
    return fail({error::fetch, isa::operand::none, 0});
}

sequencer::step sequencer::fetch_block(std::uint32_t number, bool demanded) {
    const auto* found = buffer_.find(number);
    if (found == nullptr) {
        const std::uint32_t first = number * program_buffer::block_words;
        const unsigned length =
            std::min(program_words_ - first, program_buffer::block_words) * isa::word_bytes;
        std::array<std::uint8_t, program_buffer::block_bytes> bytes{};
        sc_time delay;
        const auto result = core_.port.access(
            tlm::TLM_READ_COMMAND, program_base_ + std::uint64_t{first} * isa::word_bytes,
            bytes.data(), length, deferred_, delay);
        if (result == memory_port::outcome::deferred) {
            if (demanded) return sleep_for(*deferred_.ready, {});
            deferred_.abandon();
            return step::done;
        }
        program_buffer::block& b = buffer_.replace(number, pc_ / program_buffer::block_words);
        b.bytes = bytes;
        b.readable = result == memory_port::outcome::done;
        b.ready = after(std::max(cycle_, now()), delay);
        if (b.readable) counters_.fetched_bytes += length;
        found = &b;
    }
    if (!demanded) return step::done;
    cycle_ = std::max(cycle_, found->ready);
    if (found->readable) return step::done;
    return fetch_failed();
}

/// Whether an instruction touches registers only, so that local time may run ahead of it.
bool sequencer::is_local(const program_buffer::entry& e) {
    const instruction& i = e.d.what;
    if (e.header_fault || e.fault || i.wait.mode != 0 || i.update.mode != 0 || i.flags != 0)
        return false;
    switch (i.opcode) {
    case opcode::nop:
    case opcode::reg_move:
    case opcode::reg_alu:
    case opcode::branch:
    case opcode::loop:
    case opcode::call:
    case opcode::return_:
    case opcode::delay:
    case opcode::rank:
        return true;
    default:
        return false;
    }
}

/// Carries out register instructions of the buffered block until one needs more than that, or local
/// time is too far ahead.
void sequencer::run_ahead() {
    if (step_ || stopping_ || in_progress()) return;
    if (core_.control.get(regs::notify_config::traces, 0, static_cast<unsigned>(engine_)) != 0)
        return;
    cycles horizon = now() + max_ahead;
    if (!completions_.empty()) horizon = std::min(horizon, completions_.front().at);
    while (cycle_ < horizon && pc_ / program_buffer::block_words == fetched_for_) {
        const program_buffer::entry* e = buffer_.decoded(pc_);
        if (e == nullptr || !e->local) return;
        compute(e->d.what);
        ++issued_;
        pc_ = next_pc_;
    }
}

/// Registers, pc and time of an instruction that touches nothing else.
void sequencer::compute(const instruction& i) {
    const auto& f = std::get<isa::register_fields>(i.control);
    const auto operand_b = [&] {
        return f.immediate != 0 ? static_cast<std::uint32_t>(f.imm) : registers_[f.rb];
    };
    const auto target = [&] { return pc_ + static_cast<std::uint32_t>(f.target); };
    cycles taken = isa::control_cycles;
    next_pc_ = pc_ + 1;
    switch (i.opcode) {
    case opcode::reg_move:
        registers_[f.rd] = f.immediate != 0 ? static_cast<std::uint32_t>(f.imm) : registers_[f.ra];
        break;
    case opcode::reg_alu:
        registers_[f.rd] =
            integer_result(static_cast<unsigned>(f.selector), registers_[f.ra], operand_b());
        break;
    case opcode::branch:
        if (holds(static_cast<unsigned>(f.selector), static_cast<std::int32_t>(registers_[f.ra]),
                  static_cast<std::int32_t>(operand_b())))
            next_pc_ = target();
        break;
    case opcode::loop:
        registers_[f.rd] += static_cast<std::uint32_t>(f.step);
        if (static_cast<std::int32_t>(registers_[f.rd]) < static_cast<std::int32_t>(operand_b()))
            next_pc_ = target();
        break;
    case opcode::call:
        registers_[f.rd] = pc_ + 1;
        next_pc_ = target();
        break;
    case opcode::return_:
        next_pc_ = registers_[f.ra];
        break;
    case opcode::delay:
        taken = std::max<cycles>(taken, f.imm);
        break;
    case opcode::rank:
        registers_[f.rd] = static_cast<std::uint32_t>(rank(static_cast<unsigned>(f.selector)));
        break;
    default:
        break;
    }
    cycle_ += taken;
}

std::uint64_t sequencer::rank(unsigned what) const {
    const std::uint64_t ns = time_of(cycle_).value() / 1000;
    switch (what) {
    case 0:
        return core_.who.core;
    case 1:
        return core_.who.core % 2;
    case 2:
        return core_.who.chip;
    case 3:
        return static_cast<unsigned>(core_.who.generation);
    case 4:
        return ns & 0xffff'ffff;
    default:
        return ns >> 32;
    }
}

// ---- waits

sequencer::step sequencer::wait_for(const isa::wait_condition& c) {
    const std::int32_t value = core_.sync.value(c.index);
    const bool event = core_.sync.event(c.index) != 0;
    bool met = true;
    switch (static_cast<isa::wait_mode>(c.mode)) {
    case isa::wait_mode::none:
        break;
    case isa::wait_mode::ge:
    case isa::wait_mode::ge_subtract:
        met = value >= c.value;
        break;
    case isa::wait_mode::eq:
        met = value == c.value;
        break;
    case isa::wait_mode::le:
        met = value <= c.value;
        break;
    case isa::wait_mode::ne:
        met = value != c.value;
        break;
    case isa::wait_mode::event_set:
        met = event;
        break;
    case isa::wait_mode::event_clear:
        met = !event;
        break;
    }
    if (met) {
        if (static_cast<isa::wait_mode>(c.mode) == isa::wait_mode::ge_subtract)
            core_.sync.add(c.index, -std::int64_t{c.value});
        if (waiting_since_) {
            counters_.wait_cycles += now() - *waiting_since_;
            cycle_ = std::max(cycle_, now() + cycles_of_ns(isa::wake_ns));
            waiting_since_.reset();
        }
        state_ = state::running;
        return step::done;
    }
    if (!waiting_since_) {
        waiting_since_ = now();
        send(notification::kind::trace, (pc_ & 0xff'ffff) | 2u << 30);
    }
    state_ = state::waiting;
    wait_ = c;
    const std::uint64_t limit_us =
        core_.control.get(regs::reg::wait_limit, 0, static_cast<unsigned>(engine_));
    if (limit_us == 0) return sleep_for(core_.sync.changed(), {});
    const cycles deadline = *waiting_since_ + cycles_of_ns(limit_us * 1000);
    if (now() >= deadline) {
        counters_.wait_cycles += now() - *waiting_since_;
        return fail(error::timeout, 0xff | std::uint32_t{c.index} << 8);
    }
    return sleep_for(core_.sync.changed(), deadline);
}

// ---- issue

sequencer::step sequencer::issue(const program_buffer::entry& e) {
    if (e.fault) return fail(*e.fault);
    if (!e.by_register) return e.d.kind->is_tiles() ? data_path(e.d.what) : control(e.d.what);
    isa::decoded resolved = e.d;
    if (const auto fault = isa::check(resolved, traits_, registers_)) return fail(*fault);
    return data_path(resolved.what);
}

/// What happens once when an instruction is issued.
void sequencer::note_issue(const instruction& i) {
    if (issue_noted_) return;
    issue_noted_ = true;
    send(notification::kind::trace, pc_ & 0xff'ffff);
    if ((i.update.mode & isa::at_issue) == 0) return;
    isa::semaphore_update u = i.update;
    u.mode &= static_cast<std::uint8_t>(~isa::at_issue);
    if ((i.flags & isa::flag::update_reg) != 0)
        u.value = static_cast<std::int32_t>(registers_[static_cast<std::uint32_t>(i.update.value)]);
    update(u);
}

/// All earlier instructions are complete; else local time moves to where they are.
bool sequencer::drained() {
    if (last_complete_ <= now()) return true;
    cycle_ = std::max(cycle_, last_complete_);
    return false;
}

void sequencer::next_instruction() {
    wait_over_ = issue_noted_ = false;
    part_ = 0;
}

/// The instruction has been issued and completes at `complete`, not before earlier ones.
void sequencer::retire(const instruction& i, cycles complete) {
    note_issue(i);
    last_complete_ = std::max(last_complete_, complete);
    completion c{last_complete_, pc_, {}, (i.flags & isa::flag::notify) != 0, false};
    c.trace =
        core_.control.get(regs::notify_config::traces, 0, static_cast<unsigned>(engine_)) != 0;
    if ((i.update.mode & isa::at_issue) == 0) c.update = i.update;
    if (c.update.mode != 0 && (i.flags & isa::flag::update_reg) != 0)
        c.update.value =
            static_cast<std::int32_t>(registers_[static_cast<std::uint32_t>(i.update.value)]);
    completions_.push_back(c);
    ++issued_;
    pass_breakpoint_ = false;
    pc_ = next_pc_;
    next_instruction();
    if (step_) stopping_ = error::breakpoint;
}

/// Carries out what is due: updates, then notifications, in program order.
void sequencer::settle() {
    const cycles at = now();
    while (!completions_.empty() && completions_.front().at <= at) {
        const completion c = completions_.front();
        completions_.pop_front();
        if (c.update.mode != 0) update(c.update);
        if (c.notify) send(notification::kind::notify, c.pc);
        if (c.trace) send(notification::kind::trace, (c.pc & 0xff'ffff) | 1u << 30);
    }
}

void sequencer::update(const isa::semaphore_update& u) {
    const auto add = [&](std::int64_t amount) {
        const std::int64_t sum = core_.sync.value(u.index) + amount;
        if (sum != static_cast<std::int32_t>(sum)) ++counters_.semaphore_wraps;
        core_.sync.add(u.index, amount);
    };
    switch (static_cast<isa::update_mode>(u.mode)) {
    case isa::update_mode::none:
        return;
    case isa::update_mode::add:
        return add(u.value);
    case isa::update_mode::subtract:
        return add(-std::int64_t{u.value});
    case isa::update_mode::set:
        return core_.sync.set(u.index, u.value);
    case isa::update_mode::event_set:
        return set_event(u.index, true);
    case isa::update_mode::event_clear:
        return set_event(u.index, false);
    }
}

void sequencer::set_event(unsigned index, bool value) {
    core_.sync.set_event(index, value ? 1 : 0);
    send(notification::kind::event, index | (value ? 1u << 8 : 0));
}

void sequencer::send(notification::kind kind, std::uint32_t payload) {
    const auto config = static_cast<std::uint32_t>(
        core_.control.get(regs::reg::notify_config, 0, static_cast<unsigned>(engine_)));
    register_field slot = regs::notify_config::error_slot, enabled = regs::notify_config::errors;
    if (kind == notification::kind::notify) {
        slot = regs::notify_config::notify_slot;
        enabled = regs::notify_config::notifications;
    } else if (kind == notification::kind::trace) {
        slot = regs::notify_config::trace_slot;
        enabled = regs::notify_config::traces;
    } else if (kind == notification::kind::event) {
        slot = regs::notify_config::event_slot;
        enabled = regs::notify_config::events;
    }
    if (enabled.get(config) == 0) return;
    core_.notify(static_cast<unsigned>(slot.get(config)),
                 {kind, static_cast<std::uint8_t>(engine_), payload});
}

sequencer::step sequencer::control(const instruction& i) {
    next_pc_ = pc_ + 1;
    const bool flushes = i.opcode == opcode::flush;
    switch (i.opcode) {
    case opcode::halt: {
        if (!drained()) return sleep_until(cycle_);
        const std::uint32_t pc = pc_;
        const auto code = static_cast<std::uint32_t>(std::get<isa::register_fields>(i.control).imm);
        retire(i, now());
        settle();
        pc_ = pc;
        stopping_.reset();
        step_ = false;
        state_ = state::halted;
        if (trace::on())
            trace::event(core_.owner.name(), "engine_halted",
                         {{"engine", name_of(engine_)}, {"code", code}});
        send(notification::kind::notify, code);
        return step::ended;
    }
    case opcode::event_semaphore:
        return synchronise(std::get<isa::sync_list>(i.control));
    case opcode::drain:
    case opcode::flush:
        if (i.opcode == opcode::drain && !drained()) return sleep_until(cycle_);
        cycle_ += isa::control_cycles;
        retire(i, cycle_);
        if (flushes) {
            buffer_.drop();  // `i` with it
            fetched_for_ = ~0u;
        }
        return step::done;
    case opcode::write:
        return write_all(std::get<isa::write_list>(i.control));
    case opcode::dma_start:
        return ring_doorbells(std::get<isa::doorbell_sets>(i.control));
    case opcode::notify: {
        if (!drained()) return sleep_until(cycle_);
        const auto& f = std::get<isa::register_fields>(i.control);
        const std::uint32_t payload =
            f.immediate != 0 ? registers_[f.ra] : static_cast<std::uint32_t>(f.imm);
        retire(i, now());
        settle();
        send(notification::kind::notify, payload);
        cycle_ += isa::control_cycles;
        return step::done;
    }
    case opcode::reg_load:
    case opcode::reg_store:
        return load_or_store(i);
    case opcode::load_table: {
        const auto set = static_cast<unsigned>(std::get<isa::register_fields>(i.control).imm);
        cycle_ += set != activation_set_ ? cycles_of_ns(isa::table_load_ns) : isa::control_cycles;
        activation_set_ = set;
        retire(i, cycle_);
        return step::done;
    }
    case opcode::dge_copy:  // no generator command is known for it yet
        return fail(error::illegal_instruction,
                    isa::fault_of(error::illegal_instruction, isa::reason::opcode).error_detail());
    default:
        compute(i);
        retire(i, cycle_);
        return step::done;
    }
}

sequencer::step sequencer::synchronise(const isa::sync_list& list) {
    const program_buffer::entry* e = buffer_.decoded(pc_);
    for (; part_ < list.size() && list[part_].mode != 0; ++part_) {
        const isa::sync_entry& entry = list[part_];
        if ((entry.mode & isa::sync_entry::update) != 0) continue;
        if (const step s = wait_for({entry.mode, entry.index, entry.value}); s != step::done)
            return s;
    }
    if (cycle_ > now()) return sleep_until(cycle_);
    if (!drained()) return sleep_until(cycle_);
    for (const isa::sync_entry& entry : list) {
        if (entry.mode == 0) break;
        if ((entry.mode & isa::sync_entry::update) != 0)
            update({static_cast<std::uint8_t>(entry.mode & ~isa::sync_entry::update), entry.index,
                    entry.value});
    }
    cycle_ += isa::control_cycles;
    retire(e->d.what, cycle_);
    return step::done;
}

/// One posted write; `part_` counts those accepted.
sequencer::step sequencer::post(std::uint64_t address, const void* bytes, unsigned length) {
    sc_time delay;
    const auto result = core_.port.access(tlm::TLM_WRITE_COMMAND, address, const_cast<void*>(bytes),
                                          length, deferred_, delay);
    if (result == memory_port::outcome::deferred) return sleep_for(*deferred_.ready, {});
    if (result == memory_port::outcome::failed) return fail(error::write_failed, 0xff | part_ << 8);
    cycle_ = std::max(cycle_, after(now(), delay));
    ++part_;
    return step::done;
}

sequencer::step sequencer::write_all(const isa::write_list& list) {
    const instruction& i = buffer_.decoded(pc_)->d.what;
    if (!drained()) return sleep_until(cycle_);
    note_issue(i);
    while (part_ < list.size() && list[part_].size != 0) {
        const isa::posted_write& w = list[part_];
        const std::uint64_t data =
            (w.reg_data & 0x80) != 0 ? registers_[w.reg_data & 0x3f] : w.data;
        if (const step s = post(w.address, &data, w.size); s != step::done) return s;
    }
    cycle_ += isa::control_cycles;
    retire(i, cycle_);
    return step::done;
}

/// Both doorbells of each engine of each set, s2m first.
sequencer::step sequencer::ring_doorbells(const isa::doorbell_sets& sets) {
    const instruction& i = buffer_.decoded(pc_)->d.what;
    if (!drained()) return sleep_until(cycle_);
    note_issue(i);
    unsigned number = 0;
    for (const isa::doorbell_set& set : sets)
        for (unsigned e = 0; e < 16; ++e) {
            if ((set.engines >> e & 1) == 0) continue;
            const std::uint64_t queue =
                core_.who.dma_base + e * core_.who.dma_stride + set.queue * queue_stride;
            for (const bool m2s : {false, true}) {
                const std::uint32_t count = m2s ? set.m2s_count : set.s2m_count;
                if (number++ < part_) continue;  // accepted before a deferral
                if (count == 0) {
                    ++part_;
                    continue;
                }
                if (const step s =
                        post(queue + (m2s ? m2s_doorbell : s2m_doorbell), &count, sizeof count);
                    s != step::done)
                    return s;
            }
        }
    cycle_ += isa::control_cycles;
    retire(i, cycle_);
    return step::done;
}

sequencer::step sequencer::load_or_store(const instruction& i) {
    if (!drained()) return sleep_until(cycle_);
    note_issue(i);
    const auto& f = std::get<isa::register_fields>(i.control);
    const auto type = static_cast<numerics::element>(f.selector);
    const unsigned size = numerics::size_of(type);
    const bool loads = i.opcode == opcode::reg_load;
    const bool integer = is_integer(type);
    std::uint8_t bytes[4] = {};
    if (!loads) {
        const std::uint32_t value = registers_[f.ra];
        const float real = std::bit_cast<float>(value);
        if (integer)
            std::memcpy(bytes, &value, sizeof bytes);
        else
            numerics::encode(type, &real, bytes, 1);
    }
    if (f.where.space != isa::space::none) {
        std::uint8_t* at =
            core_.memory.bytes(f.where.space) +
            std::size_t{f.where.partition} * core_.memory.partition_bytes(f.where.space) +
            f.where.offset;
        if (loads && core_.memory.has_errors() && !core_.memory.check_read(f.where, size))
            return fail({error::memory, isa::operand::none, f.where.offset});
        std::memcpy(loads ? bytes : at, loads ? at : bytes, size);
        if (!loads) core_.memory.written(f.where, size);
        (loads ? counters_.bytes_read : counters_.bytes_written) += size;
    } else {
        sc_time delay;
        const auto result =
            core_.port.access(loads ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND, f.address,
                              bytes, size, deferred_, delay);
        if (result == memory_port::outcome::deferred) return sleep_for(*deferred_.ready, {});
        if (result == memory_port::outcome::failed) return fail(error::write_failed, 0xff);
        cycle_ = std::max(cycle_, after(now(), delay));
    }
    if (loads) {
        std::uint32_t value = 0;
        if (integer) {
            std::memcpy(&value, bytes, sizeof value);
            if (type == numerics::element::int8)
                value = static_cast<std::uint32_t>(static_cast<std::int8_t>(value));
            if (type == numerics::element::int16)
                value = static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
        } else {
            float real = 0;
            numerics::decode(type, bytes, &real, 1);
            value = std::bit_cast<std::uint32_t>(real);
        }
        registers_[f.rd] = value;
    }
    next_pc_ = pc_ + 1;
    cycle_ += isa::control_cycles;
    retire(i, cycle_);
    return step::done;
}

/// Makes the next set that has `function` the loaded one; false when the loaded one has it.
/// Precondition: some set has it, which isa::check() made sure of.
bool sequencer::load_set_of(std::uint8_t function) {
    const unsigned loaded = activation_set_;
    while ((activation_sets[activation_set_] >> function & 1) == 0)
        activation_set_ = static_cast<unsigned>((activation_set_ + 1) % std::size(activation_sets));
    return activation_set_ != loaded;
}

sequencer::step sequencer::data_path(const instruction& i) {
    next_pc_ = pc_ + 2;
    if (!path_) path_ = core_.make_data_path(engine_);
    if (!path_) return fail(isa::fault_of(error::illegal_instruction, isa::reason::opcode));
    const isa::cost cost = isa::cost_of(i, engine_, traits_.generation);
    if ((i.opcode == opcode::activate || i.opcode == opcode::activate2) && load_set_of(i.op0))
        cycle_ += cycles_of_ns(isa::table_load_ns);
    const auto use = isa::memory_ports::use_of(i, cost, core_.partitions);
    const sc_time free = core_.ports.free_at(engine_, traits_.generation, use);
    cycles start = window_.earliest(i, std::max(cycle_, now()));
    if (free > sc_core::sc_time_stamp()) start = std::max(start, after(0, free));
    if (start > now()) {
        cycle_ = start;
        return sleep_until(start);
    }
    note_issue(i);
    const auto config = static_cast<std::uint32_t>(
        core_.control.get(regs::reg::fp_config, 0, static_cast<unsigned>(engine_)));
    const auto seed = static_cast<std::uint32_t>(
        core_.control.get(regs::reg::seed, 0, static_cast<unsigned>(engine_)));
    const isa::outcome result =
        path_->execute(i, {.stochastic = regs::fp_config::stochastic.get(config) != 0,
                           .saturate = regs::fp_config::saturate.get(config) != 0,
                           .nan_detect = regs::fp_config::nan_detect.get(config) != 0,
                           .inf_detect = regs::fp_config::inf_detect.get(config) != 0,
                           .seed = seed + static_cast<std::uint32_t>(issued_)});
    if (result.fault) return fail(*result.fault);
    if (result.numerical) {
        ++counters_.numerical;
        send(notification::kind::error, static_cast<std::uint32_t>(error::numerical) | pc_ << 8);
    }
    window_.issued(i, cost, start);
    auto taken = use;
    taken.until = time_of(start + cost.interval);
    core_.ports.take(engine_, taken);
    const isa::work done = isa::work_of(i, engine_);
    counters_.busy_cycles += cost.interval;
    counters_.bytes_read += done.bytes_read;
    counters_.bytes_written += done.bytes_written;
    counters_.flops += done.flops;
    if (trace::on())
        trace::span(core_.owner.name(), find(i.opcode)->mnemonic, time_of(start),
                    time_of(start + cost.latency) - time_of(start),
                    {{"engine", name_of(engine_)}, {"pc", pc_}, {"rate", cost.rate}});
    cycle_ = start;
    retire(i, start + cost.latency);
    return step::done;
}

}  // namespace trn
