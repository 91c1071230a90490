// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/hart/hart.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <limits>
#include <utility>

#include "models/processor/riscv/debug/commit_log.h"
#include "models/processor/riscv/decode/back_end.h"

namespace trn::riscv {

namespace {

/// Number of code pages that a hart may hold before it releases all.
constexpr std::size_t max_held_pages = 4096;

/// Instructions of a block (assemble.cpp).
constexpr i64 longest_block = 64;

}  // namespace

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // no base classes: the offset is fixed
const std::size_t hart::offset_of_registers = offsetof(hart, x);
#pragma GCC diagnostic pop

hart::hart(const config& cfg, hart_bus& memory, std::shared_ptr<code_cache> code,
           std::shared_ptr<reservations> shared)
    : cfg_(cfg),
      bus_(memory),
      code_(std::move(code)),
      exact_runs_(cfg.exact_runs),
      reservations_(std::move(shared)) {
    reset();
}

hart::~hart() {
    reservations_->remove(reservation_);
}

void hart::reset() {
    x.fill(0);
    f.fill(0);
    csr = {};
    protection.reset();
    watch.reset();
    horizon_ = unretired_ = 0;
    exec.budget = cut_ = 0;
    ending_ = ending::reset;
    is_deferred_ = false;
    exec.operation = nullptr;
    reservations_->remove(reservation_);
    reservation_ = {};
    timer_line_ = 0;
    bus_.wake_at(~u64{0});
    move_to(phase::blocks);
    debug_.set_completes_wfi(false);
    pc_ = cfg_.reset_vector;
    change_mode(privilege::machine);
    forget_translations();
    attention_ = true;
}

// --- Execution

void hart::move_to(phase next) {
    static constexpr bool is_legal[5][5] = {
        // to: blocks, one_next, alone, trapped, waiting
        {true, true, true, false, true},     // from blocks
        {true, true, true, false, false},    // one_next
        {true, true, false, true, true},     // alone
        {true, false, false, false, false},  // trapped
        {true, true, false, false, false},   // waiting
    };
    assert(is_legal[static_cast<u8>(phase_)][static_cast<u8>(next)]);
    phase_ = next;
}

u64 hart::run(u64 instructions, u64 quantum) {
    begin_turn();
    const u64 start = ticks();
    constexpr auto unlimited = static_cast<u64>(std::numeric_limits<i64>::max());
    quantum_ = static_cast<i64>(quantum == 0 ? unlimited : std::min(quantum, unlimited));
    ending_ = ending::none;
    cut_ = 0;  // left by an earlier run that was interrupted or halted at its end
    exec.budget = static_cast<i64>(std::min(instructions, u64{1} << 62));
    horizon_ = start + static_cast<u64>(exec.budget);
    while (exec.budget > 0) {
        const bool repeats = is_deferred_ && !halted();
        if (attention_ && !repeats && !serve()) break;
        if (repeats) is_deferred_ = false;
        if (repeats || phase_ == phase::one_next || debug_.is_stepping() || log_ != nullptr)
            step(repeats);
        else
            run_blocks();
        exec.budget += cut_;
        horizon_ += static_cast<u64>(std::exchange(cut_, 0));
        if (was_reset()) return ticks();
        if (ending_ == ending::requested) break;
    }
    end_turn();
    return ticks() - start;
}

/// Stores to words that other harts have reserved take the slow path in this turn.
void hart::begin_turn() {
    const bool observed = reservations_->begin_turn(reservation_);
    if (observed || observed_) mmu_.forget_data();
    observed_ = observed;
}

void hart::end_turn() {
    if (reservation_.size == 0) return;
    reservation_.is_old = waiting() || ticks() - reservation_.taken_at > reservations::max_age;
    reservations_->hold(reservation_);
}

/// Executes blocks; at the end of an exact run, single instructions.
void hart::run_blocks() {
    if (!exact_runs_) return run_operations(nullptr, pc_, 0);
    if (exec.budget <= longest_block) return step(false);
    exec.budget -= longest_block;
    horizon_ -= static_cast<u64>(longest_block);
    run_operations(nullptr, pc_, 0);
    exec.budget += longest_block;
    horizon_ += static_cast<u64>(longest_block);
}

void hart::run_operations(const op* first, u64 acc, u64 page) {
    const handler start = first == nullptr ? code_->decoder().jump : first->run;
    start(*this, first, acc, exec.budget, page, exec.space);
    while (flow_.next != nullptr) {
        const op* const next = std::exchange(flow_.next, nullptr);
        next->run(*this, next, flow_.acc, flow_.budget, flow_.page, flow_.space);
    }
}

void hart::hand_over(const op* next, u64 acc, i64 budget, u64 page, address_space* space) {
    flow_ = {next, acc, budget, page, space};
}

/// `repeats`: the instruction was left because memory deferred its access.
void hart::step(bool repeats) {
    const u64 pc = pc_;
    if (!repeats && debug_.takes_breakpoint(pc)) {
        move_to(phase::blocks);
        return halt({stop_reason::breakpoint});
    }
    move_to(phase::alone);
    execute_alone(pc);
    if (phase_ == phase::alone || phase_ == phase::trapped) move_to(phase::blocks);
    if (is_deferred_) return;
    if (const auto why = debug_.end_instruction()) halt(*why);
}

void hart::execute_alone(u64 pc) {
    const privilege mode = mode_;
    u32 bits = 0;
    exec.raised = fetch(pc, bits);
    if (is_left()) return;
    if (exec.raised) {
        --exec.budget;
        enter_fault(pc);
        return;
    }
    const decoded d = decode(bits, cfg_.extensions);
    if (log_ != nullptr) log_->begin();
    if (const auto* const all = function_names::active())
        if (const auto* const function = all->find_entry(pc, d.bits)) bus_.entered(*function);
    execute_one(d);
    end_with_quantum();  // the instruction may have accessed the bus

    // Stopped before the access: nothing was executed.
    if (debug_.has_hit() || is_left()) return;
    if (log_ != nullptr && phase_ != phase::trapped) log_->retire(cfg_.hart_id, mode, pc, d, x, f);
    if (coverage::active() != nullptr) record(pc, d);
}

/// Executes `d` at the pc. Afterwards it has trapped, or was left before its access, or is done.
void hart::execute_one(const decoded& d) {
    code_->decoder().single(scratch_, d, static_cast<u32>(pc_ & 4095), cfg_.extensions);
    const i64 rest = exec.budget - 1;
    horizon_ -= static_cast<u64>(rest);
    exec.budget = 1;
    run_operations(scratch_.first(), 0, pc_ & ~u64{4095});
    horizon_ += static_cast<u64>(rest);
    exec.budget += rest;
}

/// Records coverage of an instruction that was executed alone.
void hart::record(u64 pc, const decoded& d) const {
    u8* const marks = coverage::active()->marks(pc, d.bits);
    if (marks == nullptr) return;
    *marks |= coverage::ran;
    if (d.definition == nullptr || d.definition->then != flow::branch) return;
    if (phase_ == phase::trapped) return;
    *marks |= pc_ == pc + d.length() ? coverage::passed : coverage::taken;
}

bool hart::serve() {
    attention_ = halted() || waiting();
    if (halted()) return false;
    if (waiting()) {
        if (!has_interrupt()) return false;
        move_to(phase::blocks);
        attention_ = false;
    }
    take_interrupt();
    return true;
}

const op* hart::find_code(u64 pc) {
    const u64 page = pc & ~u64{4095};
    fetch_entry& e = exec.space->fetch_at(pc);
    if (e.tag != page) {
        move_to(phase::one_next);  // unless the whole page can be executed as blocks
        u64 pa = 0;
        if (!watched_in_page(page, access::fetch).is_empty()) return nullptr;
        const fault unmapped = mmu_.translate(page, access::fetch, mode_, pa);
        if (mmu_.has_used_bus()) end_with_quantum();
        if (unmapped || is_left()) return nullptr;
        if (!protection.uniform(pa, 4096) || !protection.allows(pa, 4096, access::fetch, mode_))
            return nullptr;
        const u8* const host = mmu_.direct(pa, 4096, access::fetch);
        if (host == nullptr) {
            e = {page, nullptr};  // until forget_direct()
            return nullptr;
        }
        move_to(phase::blocks);
        if (held_.size() >= max_held_pages) invalidate_code();
        held_.push_back(code_->find(host, cfg_.extensions, debug_.breakpoints_in_page(page)));
        if (auto* const all = coverage::active()) held_.back()->record(*all, page);
        if (const auto* const all = function_names::active())
            held_.back()->name_functions(*all, page);
        e = {page, held_.back().get()};
    }
    if (e.page == nullptr || ((pc & 2) != 0 && !cfg_.extensions.has(extension::c))) {
        move_to(phase::one_next);
        return nullptr;
    }
    const op* const target = e.page->block_at(static_cast<u32>(pc - page));
    exec.space->jump_at(pc) = {pc, target};
    return target;
}

u64 hart::pc_of(const op* o) const {
    return exec.page + slot_of(o).offset;
}

// --- Time

u64 hart::cycles() const {
    return ticks();
}
u64 hart::retired() const {
    return ticks() - unretired_;
}

/// Withholds the budget of all quanta except the current block's.
void hart::withhold_other_quanta() {
    const i64 others = (exec.budget - 1) / quantum_ * quantum_;
    exec.budget -= others;
    horizon_ -= static_cast<u64>(others);
}

void hart::stop_soon() {
    end_with_quantum();
    if (exec.budget <= 0) return;
    cut_ += exec.budget;
    horizon_ -= static_cast<u64>(exec.budget);
    exec.budget = 0;
}

void hart::end_run() {
    if (!was_reset()) ending_ = ending::requested;
    stop_soon();
}

void hart::defer() {
    if (was_reset()) return;
    is_deferred_ = true;
    end_run();
}

void hart::stall(u64 instructions) {
    if (was_reset()) return;
    exec.budget -= static_cast<i64>(instructions);
    unretired_ += instructions;
}

// --- Modes and caches

void hart::change_mode(privilege mode) {
    mode_ = mode;
    exec.space = &mmu_.enter(mode);
    update_data_context();
}

void hart::update_data_context() {
    u64 context = csr.mstatus & (mstatus::mprv | mstatus::sum | mstatus::mxr);
    if ((context & mstatus::mprv) != 0) context |= csr.mstatus & mstatus::mpp;
    if (std::exchange(data_context_, context) != context) mmu_.forget_data();
}

void hart::forget_translations() {
    mmu_.forget_data();
    invalidate_code();
}

void hart::invalidate_code() {
    mmu_.forget_code();
    held_.clear();
}

void hart::forget_direct(u64 first, u64 last) {
    mmu_.forget_direct(first, last);
    forget_translations();
}

void hart::fence_vma() {
    forget_translations();
}
void hart::protection_changed() {
    forget_translations();
}

void hart::triggers_changed() {
    watching_data_ = debug_.watches_data() || watch.armed();
    if (watching_data_ && back_end::chosen() != nullptr) back_end::chosen()->expect_watched_bytes();
    forget_translations();
}

void hart::log_commits(commit_log* log) {
    log_ = log;
    forget_translations();
}

u64 hart::footprint() const {
    return sizeof *this + held_.capacity() * sizeof held_[0] +
           scratch_.ops.capacity() * sizeof(op) + mmu_.footprint();
}

}  // namespace trn::riscv
