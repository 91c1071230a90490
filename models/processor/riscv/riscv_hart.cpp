// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/riscv_hart.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/misuse_rules.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/backing_store.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

namespace {

/// Of one activation, so that the kernel regularly serves sockets.
constexpr std::uint64_t max_instructions = 80'000;

riscv::interrupt interrupt_of(unsigned line) {
    using enum riscv::interrupt;
    constexpr riscv::interrupt interrupts[] = {machine_software, machine_timer,
                                               machine_external, supervisor_software,
                                               supervisor_timer, supervisor_external};
    return interrupts[line];
}

}  // namespace

riscv_hart::riscv_hart(sc_core::sc_module_name name, const config& cfg, const hart_common& shared)
    : sc_module(name),
      initiator(kind::firmware),
      quantum_queue::client(shared.quanta),
      atomic_claims::client(shared.claims),
      irq("irq", line_count, [this](unsigned line, bool level) { on_irq(line, level); }),
      reset("reset", 1, [this](unsigned, bool level) { on_reset(level); }),
      cfg_(cfg),
      clock_(in_picoseconds(cfg.clock)),
      cycles_(time_multiples::of_period(clock_)),
      code_(shared.code),
      reservations_(shared.reservations),
      wake_("wake") {
    require_picoseconds();
    sc_assert(clock_ > 0);
    bus.register_invalidate_direct_mem_ptr(this, &riscv_hart::on_invalidate);
    payload_.set_extension(&pending_);
    SC_HAS_PROCESS(riscv_hart);
    SC_METHOD(execute);
    sensitive << wake_;
    if (!cfg_.isa.has(riscv::extension::sstc)) return;
    alarm_ = std::make_unique<sc_core::sc_event>("alarm");
    SC_METHOD(check_timer);
    sensitive << *alarm_;
    dont_initialize();
}

riscv_hart::~riscv_hart() {
    payload_.clear_extension<pending_access>();
}

void riscv_hart::start_of_simulation() {
    target_ = bus.operator->();
}

riscv::hart& riscv_hart::core() {
    if (core_ == nullptr) {
        riscv::hart_bus& memory = *this;
        core_ = std::make_unique<riscv::hart>(
            riscv::hart::config{cfg_.hart_id, cfg_.isa, cfg_.reset_vector, quanta().varies()},
            memory, code_, reservations_);
        for (unsigned line = 0; line < line_count; ++line)
            if (irq.level(line)) core_->drive(interrupt_of(line), true);
    }
    return *core_;
}

// --- The process: one quantum per activation

void riscv_hart::wake() {
    wake_.notify(sc_core::SC_ZERO_TIME);
}

/// The first call is that of the initialization phase. Instructions begin in the delta cycle after
/// it, so that a debugger can stop at the first one.
void riscv_hart::execute() {
    if (!std::exchange(is_initialized_, true)) return wake();
    quanta().cancel(*this);  // when it is woken before the end of its quantum
    if (reset.level() || hangs_ || quanta().defers(*this)) return;
    riscv::hart& core = this->core();
    const std::uint64_t now = sc_core::sc_time_stamp().value(), local = local_time();
    const bool idle = core.waiting() || core.halted() || core.deferred();
    // If a debugger stopped it within a quantum and resumes it at the same simulated time, it
    // executes the rest of the quantum, so that debugging does not change the simulation.
    const bool goes_on_within =
        !idle && now == local_start_ && (now < local || quanta().is_held_by(*this));
    if (!goes_on_within) {
        // It is ahead of the kernel's time.
        if (now < local) return quanta().schedule(*this, local);
        core.pass_cycles((now - local) / clock_);  // it was waiting, deferred or halted
        local_start_ = now;
        ticks_start_ = core.ticks();
        begin_quantum();
    }
    awake.set(true);
    const bool was_halted = core.halted();
    if (was_halted) finish_atomic_write();
    const std::uint64_t done = run_quanta(core);
    if (core.halted() && !was_halted) {
        leave_atomic();
        quanta().hold(*this);
        if (stopped_) stopped_();
    } else {
        quanta().release(*this);
    }
    if (limit_reached_ && core.ticks() >= cfg_.instruction_limit) limit_reached_();
    if (core.was_reset()) return;  // by its own access: the end of the reset wakes it
    if (core.waiting()) {
        stop_serving();
        say_parked();
    }
    awake.set(!core.waiting());
    const bool goes_on = !core.waiting() && !core.halted() && !core.deferred();
    if (goes_on) quanta().schedule(*this, now + std::max<std::uint64_t>(done, 1) * clock_);
}

/// With a global quantum (IEEE 1666, clause 12), the hart is never ahead of the kernel's time
/// by more than the rest of it, except by the delay of its last access.
void riscv_hart::begin_quantum() {
    auto& global = tlm::tlm_global_quantum::instance();
    is_limited_ = global.get() != sc_core::SC_ZERO_TIME;
    core_->set_exact_runs(is_limited_ || quanta().varies());
    const std::uint64_t longest =
        is_limited_
            ? std::clamp<std::uint64_t>(in_picoseconds(global.compute_local_quantum()) / clock_, 1,
                                        max_instructions)
            : cfg_.quantum_instructions;
    quantum_end_ = quanta().length(*this, longest);
}

void riscv_hart::say_parked() {
    if (core_->csr.mie != 0 || std::exchange(said_parked_, true)) return;
    log::info(name(),
              "parked: it waits for an interrupt at pc {:#x} and enables none (mie is 0), "
              "so only a reset or a debugger wakes it",
              core_->pc());
}

/// Executes one quantum, or several if no other event is due in their time, since the kernel would
/// only resume this process. Returns the instructions executed since ticks_start_; ends at a reset.
std::uint64_t riscv_hart::run_quanta(riscv::hart& core) {
    const std::uint64_t quantum = cfg_.quantum_instructions;
    const std::uint64_t limit = cfg_.instruction_limit - ticks_start_;
    std::uint64_t done = core.ticks() - ticks_start_;
    for (;;) {
        quantum_end_ += undisturbed_quanta(limit) * quantum;
        const std::uint64_t end = std::min(quantum_end_, limit);
        if (done < end) {
            done += core.run(end - done, quantum);
            if (core.was_reset()) return 0;
            if (end < limit) quantum_end_ = core.run_end() - ticks_start_;
        }
        if (done >= limit) core.request_halt();
        if (done < quantum_end_ || core.waiting() || core.halted() || core.deferred()) break;
        if (undisturbed_quanta(limit) == 0) break;
        quantum_end_ += quantum;
    }
    return done;
}

/// Number of additional quanta that end before the next event of the simulation.
std::uint64_t riscv_hart::undisturbed_quanta(std::uint64_t limit) const {
    if (is_limited_ || quanta().varies() || sc_core::sc_pending_activity_at_current_time())
        return 0;
    constexpr std::uint64_t max_quanta = 32;
    const std::uint64_t quantum = cfg_.quantum_instructions;
    const std::uint64_t longest = std::min(max_instructions, limit);
    std::uint64_t end = std::min(max_quanta * std::min(quantum, longest), longest);
    std::uint64_t quiet = quanta().until_next();
    if (quiet == 0) return 0;
    if (sc_core::sc_pending_activity_at_future_time())
        quiet = std::min<std::uint64_t>(quiet, sc_core::sc_time_to_pending_activity().value());
    end = std::min(end, (quiet - 1) / clock_);
    return end <= quantum_end_ ? 0 : (end - quantum_end_) / quantum;
}

bool riscv_hart::continues() const {
    return !reset.level() && !hangs_ && !core_->halted() &&
           sc_core::sc_time_stamp().value() == local_start_;
}

/// This hart's local time, which is ahead of the kernel's within a quantum.
std::uint64_t riscv_hart::local_time() const {
    return local_start_ + (core_->ticks() - ticks_start_) * clock_;
}

/// The local time's offset from the kernel's.
sc_core::sc_time riscv_hart::ahead() const {
    const auto now = sc_core::sc_time_stamp().value();
    return time_of_value(core_ == nullptr ? 0 : std::max<std::uint64_t>(local_time(), now) - now);
}

void riscv_hart::end_quantum() {
    if (core_ != nullptr) core_->end_run();
}

void riscv_hart::on_irq(unsigned line, bool level) {
    if (core_ == nullptr) return;
    core_->drive(interrupt_of(line), level);
    if (level && trace::on()) serve(trace::current_operation());
    if (level && core_->waiting()) wake();
}

/// Attributes the hart's activity, from an interrupt until it sleeps or is interrupted by another
/// operation, to the operation that raised the line.
void riscv_hart::serve(trace::operation asked) {
    if (asked == 0 || asked == serves_.operation) return;
    stop_serving();
    const trace::on_behalf_of operation(asked);
    serves_ = trace::begin(name(), "serves", {}, ahead());
}

void riscv_hart::stop_serving() {
    if (serves_.track != 0) trace::end(serves_, name(), "sleeps", {}, ahead());
}

void riscv_hart::entered(const std::string& function) {
    if (serves_.operation == 0) return;
    const trace::on_behalf_of operation(serves_.operation);
    trace::event_for_viewer(name(), function + "()", ahead());
}

void riscv_hart::on_reset(bool level) {
    hangs_ = said_parked_ = false;
    quanta().release(*this);
    if (level) {
        stop_serving();
        awake.set(false);
    }
    if (level && core_ != nullptr) {
        core_->reset();
        pending_.abandon();
        end_atomic();
        kept_ = {};
        keeps_ = are_words_claimed();
        is_withheld_ = false;
        stalled_ = 0;
        for (unsigned line = 0; line < line_count; ++line)
            core_->drive(interrupt_of(line), irq.level(line));
    }
    local_start_ = sc_core::sc_time_stamp().value();
    ticks_start_ = core_ == nullptr ? 0 : core_->ticks();
    if (!level && is_initialized_) wake();
}

// --- Bus

/// Inlined into read() and write(), because each call costs accesses to device registers time.
[[gnu::always_inline]] inline bool riscv_hart::transport(tlm::tlm_command command, std::uint64_t pa,
                                                         std::uint8_t* data, std::size_t size) {
    set_access(payload_, command, pa, data, size);
    payload_.set_dmi_allowed(false);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    if (keeps_) [[unlikely]]
        return transport_and_keep();
    return send();
}

[[gnu::always_inline]] inline bool riscv_hart::send() {
    sc_core::sc_time delay = cycles_.times(core_->ticks() - ticks_start_);
    const std::uint64_t before = delay.value();
    const auto reports = misuse::reports(), line_changes = irq_out::scheduled();
    {
        const acting self(*this);
        const trace::on_behalf_of operation(serves_.operation);
        target_->b_transport(payload_, delay);
        if (irq_out::scheduled() != line_changes) [[unlikely]]
            core_->end_run();
        if (!payload_.is_response_ok()) [[unlikely]]
            return not_answered(reports, std::max<std::uint64_t>(delay.value(), before) - before);
    }
    if (const std::uint64_t after = delay.value(); after > before) stall(after - before);
    return true;
}

/// The response is an error after `delay`, or memory has deferred the access.
[[gnu::noinline]] bool riscv_hart::not_answered(std::uint64_t earlier_reports,
                                                std::uint64_t delay) {
    if (pending_.is_deferred()) {
        wait_for_memory();
    } else {
        if (misuse::reports() == earlier_reports)
            misuse::report(misuse::firmware_bus_error, *this, describe_failed());
        stall(delay);
    }
    return false;
}

/// It wakes the hart, which then executes the instruction again.
void riscv_hart::wait_for_memory() {
    if (!keeps_) {
        pending_.begin(payload_);
        keep_responses();
    }
    if (atomic_.size != 0) {
        claim(atomic_);
        defers_write_ = payload_.is_write();
        if (defers_write_ && payload_.get_data_ptr() != atomic_write_.data())
            std::copy_n(payload_.get_data_ptr(), atomic_.size, atomic_write_.begin());
    }
    kept_.next = 0;
    core_->defer();
}

void riscv_hart::keep_responses() {
    const std::uint64_t number = instruction_number();
    if (keeps_ && kept_.number == number) return;
    end_atomic();
    keeps_ = true;
    kept_.number = number;
    kept_.done.clear();
    kept_.next = 0;
}

void riscv_hart::begin_atomic(std::uint64_t pa, unsigned size) {
    keep_responses();
    atomic_ = {target_, pa, size};
}

void riscv_hart::end_atomic() {
    if (std::exchange(atomic_.size, 0) != 0) release();
}

/// A debugger has halted the hart. If memory has deferred the read of an atomic instruction, the
/// instruction begins again when the hart is resumed; a deferred write is finished first, because
/// the read has been made. Meanwhile other harts can access the word.
void riscv_hart::leave_atomic() {
    if (atomic_.size == 0 || !core_->deferred() || defers_write_) return;
    pending_.abandon();
    end_atomic();
}

/// Repeats the write of an atomic instruction of a halted hart, until it has a response. The
/// instruction itself is repeated when the hart is resumed.
void riscv_hart::finish_atomic_write() {
    if (atomic_.size == 0 || !core_->deferred() || !pending_.is_repeated()) return;
    sc_assert(defers_write_);
    set_access(payload_, tlm::TLM_WRITE_COMMAND, atomic_.address, atomic_write_.data(),
               atomic_.size);
    payload_.set_dmi_allowed(false);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    pending_.attempt(payload_);
    if (!send() && pending_.is_deferred()) return;
    if (payload_.is_response_ok())
        responded();
    else
        pending_.abandon();  // the repeated instruction gets the error
    kept_.next = 0;
    end_atomic();
}

/// Accesses then check whether their words are claimed.
void riscv_hart::claims_changed() {
    keeps_ = true;
    if (std::exchange(is_withheld_, false)) wake();
}

/// Whether the access waits for an atomic instruction of another hart. An access that memory has
/// deferred does not.
bool riscv_hart::waits_for_claim() {
    if (!are_words_claimed() || pending_.is_repeated() ||
        !must_wait({target_, payload_.get_address(), payload_.get_data_length()}))
        return false;
    keep_responses();
    kept_.next = 0;
    is_withheld_ = true;
    core_->defer();
    return true;
}

[[gnu::noinline]] bool riscv_hart::transport_and_keep() {
    if (waits_for_claim()) return false;
    if (repeats()) return true;
    if (!send()) {
        if (!core_->deferred()) pending_.abandon();
        return false;
    }
    responded();
    return true;
}

/// Whether an earlier attempt of the instruction has made the access; then the data is that of the
/// response.
bool riscv_hart::repeats() {
    if (kept_.number != instruction_number()) {
        if (!pending_.is_repeated()) {
            pending_.abandon();
            end_atomic();
            keeps_ = are_words_claimed();
            if (!keeps_) {
                kept_ = {};
                return false;
            }
        }
        keep_responses();
    }
    if (kept_.next < kept_.done.size()) {
        const auto& done = kept_.done[kept_.next];
        if (done.command == payload_.get_command() && done.address == payload_.get_address() &&
            done.size == payload_.get_data_length()) {
            if (payload_.is_read())
                std::copy_n(done.read.begin(), done.size, payload_.get_data_ptr());
            ++kept_.next;
            return true;
        }
        kept_.done.resize(kept_.next);
    }
    pending_.attempt(payload_);
    return false;
}

/// The access has its response; another one of the instruction may still be deferred.
void riscv_hart::responded() {
    pending_.abandon();
    if (!keeps_) return;
    auto& done = kept_.done.emplace_back();
    done = {payload_.get_command(), payload_.get_address(), payload_.get_data_length(), {}};
    if (payload_.is_read()) {
        sc_assert(done.size <= done.read.size());
        std::copy_n(payload_.get_data_ptr(), done.size, done.read.begin());
    }
    kept_.next = kept_.done.size();
}

/// Spends the annotated delay of an access, in whole instructions.
[[gnu::noinline]] void riscv_hart::stall(std::uint64_t delay) {
    delay += unpaid_;
    const std::uint64_t instructions = delay / clock_;
    unpaid_ = delay % clock_;
    stalled_ += instructions;
    core_->stall(instructions);
}

const std::string& riscv_hart::describe_failed() {
    const auto command = payload_.get_command();
    const std::uint64_t pa = payload_.get_address();
    const unsigned size = payload_.get_data_length();
    if (failed_.command != command || failed_.address != pa || failed_.size != size)
        failed_ = {command, pa, size,
                   fmt::format("{} of {} bytes at {:#x}",
                               command == tlm::TLM_WRITE_COMMAND ? "write" : "read", size, pa)};
    return failed_.text;
}

bool riscv_hart::debug_transport(tlm::tlm_command command, std::uint64_t pa, std::uint8_t* data,
                                 std::size_t size) {
    tlm::tlm_generic_payload payload;
    set_access(payload, command, pa, data, size);
    return bus->transport_dbg(payload) == size;
}

bool riscv_hart::read(std::uint64_t pa, std::span<std::uint8_t> data) {
    return transport(tlm::TLM_READ_COMMAND, pa, data.data(), data.size());
}
bool riscv_hart::write(std::uint64_t pa, std::span<const std::uint8_t> data) {
    return transport(tlm::TLM_WRITE_COMMAND, pa, const_cast<std::uint8_t*>(data.data()),
                     data.size());
}
bool riscv_hart::debug_read(std::uint64_t pa, std::span<std::uint8_t> data) {
    return debug_transport(tlm::TLM_READ_COMMAND, pa, data.data(), data.size());
}
bool riscv_hart::debug_write(std::uint64_t pa, std::span<const std::uint8_t> data) {
    return debug_transport(tlm::TLM_WRITE_COMMAND, pa, const_cast<std::uint8_t*>(data.data()),
                           data.size());
}

/// Memory, also a ROM into which a debugger loads a program, is written silently.
bool riscv_hart::poke(std::uint64_t pa, std::span<const std::uint8_t> data) {
    const auto memory = direct(pa);
    if (memory ? memory->holds(pa, data.size()) : is_memory(pa)) return debug_write(pa, data);
    tlm::tlm_generic_payload payload;
    set_access(payload, tlm::TLM_WRITE_COMMAND, pa, const_cast<std::uint8_t*>(data.data()),
               data.size());
    auto delay = sc_core::SC_ZERO_TIME;  // the access of a debugger takes the hart no time
    bus->b_transport(payload, delay);
    return payload.is_response_ok();
}

std::optional<riscv::direct_memory> riscv_hart::direct(std::uint64_t pa) {
    payload_.set_command(tlm::TLM_READ_COMMAND);
    payload_.set_address(pa);
    tlm::tlm_dmi dmi;
    if (!bus->get_direct_mem_ptr(payload_, dmi) || dmi.is_none_allowed()) return std::nullopt;
    // Memory outside of a store is a mapping of another process's file.
    const backing_store* const store = backing_store::holding(dmi.get_dmi_ptr());
    return riscv::direct_memory{.first = dmi.get_start_address(),
                                .last = dmi.get_end_address(),
                                .host = dmi.get_dmi_ptr(),
                                .readable = dmi.is_read_allowed(),
                                .writable = dmi.is_write_allowed(),
                                .shared = store == nullptr || store->descriptor() >= 0,
                                .timed_loads = dmi.get_read_latency() != sc_core::SC_ZERO_TIME,
                                .timed_stores = dmi.get_write_latency() != sc_core::SC_ZERO_TIME};
}

bool riscv_hart::is_memory(std::uint64_t pa) {
    tlm::tlm_generic_payload request;
    request.set_read();
    request.set_address(pa);
    memory_attribute attribute;
    request.set_extension(&attribute);
    tlm::tlm_dmi ignored;
    const bool granted = bus->get_direct_mem_ptr(request, ignored);
    request.clear_extension(&attribute);
    return granted || attribute.is_memory;
}

std::uint64_t riscv_hart::time() {
    if (time_source_ == nullptr) return 0;
    // A waiting hart's local time is behind the kernel's.
    return time_source_->mtime(
        time_of_value(std::max<std::uint64_t>(local_time(), sc_core::sc_time_stamp().value())));
}

void riscv_hart::wake_at(std::uint64_t time) {
    if (alarm_ == nullptr) return;
    alarm_->cancel();
    if (time == ~std::uint64_t{0} || time_source_ == nullptr) return;
    const sc_core::sc_time due = time_source_->time_of(time);
    if (due != sc_core::sc_max_time()) alarm_->notify(due - sc_core::sc_time_stamp());
}

/// Called when the time may have reached stimecmp.
void riscv_hart::check_timer() {
    if (core_ == nullptr || reset.level()) return;
    core_->time_changed();
    if (core_->waiting()) wake();
}

void riscv_hart::set_time_source(const riscv::mtime_source& source) {
    time_source_ = &source;
    if (alarm_ != nullptr) source.on_write([this] { check_timer(); });
}

// --- Interrupt files: accesses of CSRs, at the hart's local time

std::uint64_t riscv_hart::read_interrupt_file(riscv::privilege mode, unsigned number) {
    return files_ == nullptr ? 0 : files_->read(mode, number);
}

void riscv_hart::write_interrupt_file(riscv::privilege mode, unsigned number, std::uint64_t value) {
    if (files_ == nullptr) return;
    const auto line_changes = irq_out::scheduled();
    files_->write(mode, number, value, ahead());
    if (irq_out::scheduled() != line_changes) core_->end_run();
}

std::uint64_t riscv_hart::top_external(riscv::privilege mode) {
    return files_ == nullptr ? 0 : files_->top(mode);
}

void riscv_hart::claim_external(riscv::privilege mode) {
    if (files_ != nullptr) files_->claim(mode, ahead());
}

void riscv_hart::on_invalidate(sc_dt::uint64 first, sc_dt::uint64 last) {
    if (core_ != nullptr) core_->forget_direct(first, last);
}

void riscv_hart::invalidate_code(std::uint64_t, std::uint64_t) {
    // Pages are identified by content at their next execution: unchanged ones cost one comparison.
    if (core_ != nullptr) core_->invalidate_code();
}

// --- Faults

std::vector<accepts_faults::fault> riscv_hart::faults() {
    return {
        {"hang", "executes nothing until its next reset, also on interrupts", {}, [this](auto&) {
             hangs_ = true;
         }}};
}

// --- Debugger

std::string riscv_hart::state() const {
    if (reset.level() || core_ == nullptr) return "in reset";
    static constexpr const char* modes[] = {"U-mode", "S-mode", "?", "M-mode"};
    const std::string mode = modes[static_cast<unsigned>(core_->mode())];
    if (hangs_) return mode + ", hangs";
    if (core_->waiting()) return mode + ", waiting for interrupt";
    if (core_->deferred() && !core_->halted()) return mode + ", waiting for memory";
    return mode + (core_->halted() ? ", halted" : ", running");
}

void riscv_hart::publish_signals(signal_list& out) const {
    enum state : std::uint8_t { held, running, waiting, memory, hangs, halted };
    out.state("state", {"reset", "running", "waiting", "memory", "hangs", "halted"},
              [this]() -> std::uint64_t {
                  if (reset.level() || core_ == nullptr) return held;
                  if (hangs_) return hangs;
                  if (core_->waiting()) return waiting;
                  if (core_->halted()) return halted;
                  return core_->deferred() ? memory : running;
              });
    out.state("mode", {"U", "S", "-", "M"},
              [this] { return core_ == nullptr ? 3 : static_cast<std::uint64_t>(core_->mode()); });
    out.number("pc", 64, [this] { return core_ == nullptr ? 0 : core_->pc(); });
    out.transactions("");
}

std::optional<std::string> riscv_hart::describe_wait() const {
    if (core_ == nullptr || !core_->deferred() || core_->halted()) return std::nullopt;
    return fmt::format("the instruction at pc {:#x}: no response of memory", core_->pc());
}

bool riscv_hart::sleeps() const {
    return reset.level() || core_ == nullptr || (core_->waiting() && !hangs_);
}

void riscv_hart::halt() {
    core().request_halt();
    leave_atomic();
}

void riscv_hart::resume(bool single_step) {
    core().resume(single_step);
    if (!reset.level()) wake();
}

void riscv_hart::end_wait() {
    if (core_ == nullptr || reset.level()) return;
    const bool waited = core_->waiting();
    core_->end_wait();
    if (waited) wake();
}

bool riscv_hart::leads_to(std::uint64_t pc) {
    return core_ != nullptr && core_->leads_to(pc);
}

debug_target::stop riscv_hart::last_stop() const {
    using why = riscv::hart::stop_reason;
    if (core_ == nullptr) return {};
    const riscv::hart::stop stop = core_->last_stop();
    switch (stop.why) {
    case why::step:
        return {stop_kind::step};
    case why::breakpoint:
        return {stop_kind::breakpoint};
    case why::watchpoint:
        return {stop_kind::watchpoint, stop.address, stop.kind == riscv::access::store};
    default:
        return {};
    }
}

std::optional<std::uint64_t> riscv_hart::read_register(unsigned number) {
    if (number < pc) return core().read_x(number);
    if (number == pc) return core().pc();
    if (const unsigned f = number - f0; f < 32 && cfg_.isa.has(riscv::extension::f))
        return core().f[f];
    if (number == priv) return static_cast<std::uint64_t>(core().mode());
    if (number >= first_csr && number <= last_csr) return core().read_csr(number - first_csr);
    return std::nullopt;
}

bool riscv_hart::write_register(unsigned number, std::uint64_t value) {
    if (core().waiting()) wake();  // a pc, or an interrupt that the write enables, ends the wait
    if (number < pc) {
        core().write_x(number, value);
    } else if (number == pc) {
        core().set_pc(value);
    } else if (const unsigned f = number - f0; f < 32 && cfg_.isa.has(riscv::extension::f)) {
        core().f[f] = value;
    } else if (number == priv) {
        if (value > 3 || value == 2) return false;
        core().set_mode(static_cast<riscv::privilege>(value));
    } else {
        return number >= first_csr && number <= last_csr &&
               core().write_csr(number - first_csr, value);
    }
    return true;
}

void riscv_hart::add_watchpoint(const watchpoint& w) {
    core().add_watchpoint({w.address, w.size, w.on_load, w.on_store});
}

void riscv_hart::remove_watchpoint(const watchpoint& w) {
    core().remove_watchpoint({w.address, w.size, w.on_load, w.on_store});
}

std::size_t riscv_hart::view::peek(std::uint64_t address, std::span<std::byte> bytes) {
    return owner.core().debug_read(address,
                                   {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
}

std::size_t riscv_hart::view::deposit(std::uint64_t address, std::span<const std::byte> bytes) {
    return owner.core().debug_write(
        address, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::size_t riscv_hart::view::poke(std::uint64_t address, std::span<const std::byte> bytes) {
    return owner.core().poke(address,
                             {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace trn
