// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/processor/riscv/debug/debug_control.h"
#include "models/processor/riscv/debug/triggers.h"
#include "models/processor/riscv/decode/block.h"
#include "models/processor/riscv/decode/code_cache.h"
#include "models/processor/riscv/decode/isa.h"
#include "models/processor/riscv/decode/op.h"
#include "models/processor/riscv/privileged/csr_state.h"
#include "models/processor/riscv/privileged/hart_bus.h"
#include "models/processor/riscv/privileged/mmu.h"
#include "models/processor/riscv/privileged/pmp.h"
#include "models/processor/riscv/privileged/reservations.h"
#include "models/processor/riscv/privileged/trap.h"

namespace trn::riscv {

class commit_log;
struct decoded;

/// State saved by the executor (threaded.h) while an instruction takes a slow path.
struct execution {
    const op* operation = nullptr;  ///< the operation in a slow path
    i64 budget = 0;                 ///< instructions that may still be executed
    u64 page = 0;                   ///< virtual address of the page that is being executed
    u64 loaded = 0;                 ///< value of a load that goes to the bus
    fault raised;                   ///< exception raised by the operation
    address_space* space = nullptr;
    u64 next_pc = 0;  ///< next pc, set by a system instruction
};

/// A RISC-V hart, RV64IMAC_Zicsr_Zifencei_Zba_Zbb_Zbs with M, S and U modes, Sv39, 16 PMP entries,
/// Zicntr and a trigger module. Independent of SystemC. Specifications: RISC-V Unprivileged ISA
/// 20191213 and Bitmanip 1.0, Privileged 1.12 (Svade: a clear A or D bit is a page fault),
/// Debug 1.0. Design: doc/models/processor/hart.md.
class hart {
public:
    struct config {
        u64 hart_id = 0;
        isa extensions = isa::usual();
        u64 reset_vector = 0x1000;
        /// Runs end after exactly the given number of instructions, in the middle of a block too.
        bool exact_runs = false;
    };

    /// Harts with the same code cache share predecoded code. A store of a hart ends reservations
    /// of harts with the same `shared`.
    hart(const config& cfg, hart_bus& memory, std::shared_ptr<code_cache> code,
         std::shared_ptr<reservations> shared = std::make_shared<reservations>());
    ~hart();
    hart(const hart&) = delete;
    hart& operator=(const hart&) = delete;

    /// From within a bus access: the run ends at once, before any other effect of the instruction.
    void reset();
    /// Whether the hart was reset during its last run, or after it.
    bool was_reset() const { return ending_ == ending::reset; }

    /// Executes at least `instructions` (including trapping ones) up to the end of a basic block,
    /// or until the hart waits, halts or is reset. Returns the number executed, since the reset if
    /// there was one. If `quantum` is not 0, they form quanta of that size, and after a bus access
    /// the run ends with the current quantum, because other modules may have to act.
    u64 run(u64 instructions, u64 quantum = 0);
    /// ticks() at which the last run was due to end.
    u64 run_end() const { return horizon_; }

    /// An interrupt line changes its level. Takes effect at the next block boundary.
    void drive(interrupt line, bool level);
    /// Time has reached the value passed to hart_bus::wake_at(), or was written.
    void time_changed() { update_timer(); }
    /// Whether runs end after exactly the given number of instructions.
    void set_exact_runs(bool exact) { exact_runs_ = exact; }
    /// True while WFI waits; run() then returns at once.
    bool waiting() const { return phase_ == phase::waiting; }
    /// From within a bus access: check for pending work at the next block boundary.
    void stop_soon();
    /// From within a bus access: return from run() at the next block boundary.
    void end_run();
    /// From within a bus access, which then returns false: memory has no response yet. The run ends
    /// before the instruction; the next run begins with it, also if interrupts are pending.
    void defer();
    /// Whether the last run ended so.
    bool deferred() const { return is_deferred_; }
    /// From within a bus access: accounts for a delay of `instructions` (annotated delay).
    void stall(u64 instructions);
    /// Instructions executed since reset, trapping ones included; exact within a bus access too.
    u64 ticks() const {
        const u64 before = exec.operation == nullptr ? 0 : slot_of(exec.operation).before;
        return horizon_ - static_cast<u64>(exec.budget) + before;
    }
    /// Adds cycles during which the hart executes nothing (WFI).
    void pass_cycles(u64 cycles) {
        if ((csr.mcountinhibit & inhibit::cycle) == 0) csr.cycle_offset += cycles;
    }

    /// Forget host pointers, translations and decoded code derived from [first, last].
    void forget_direct(u64 first, u64 last);
    /// Code was changed by a debugger or loader: acts like fence.i.
    void invalidate_code();
    /// Spike's --log-commits format; null switches it off.
    void log_commits(commit_log* log);

    // -- For a debugger. A stop is reported once through take_stop(). ---------------------------
    using stop_reason = debug_control::stop_reason;
    using stop = debug_control::stop;
    using watchpoint = debug_control::watchpoint;
    bool halted() const { return debug_.is_halted(); }
    void request_halt() { halt({stop_reason::request}); }
    /// Resumes, ignoring a breakpoint at the current pc once. With `single_step`, halts after one
    /// instruction; a pending WFI completes first.
    void resume(bool single_step = false);
    /// Completes the WFI in which the hart waits, as a halt does in the Debug spec, or a WFI that
    /// is its next instruction.
    void end_wait();
    /// Whether the next instruction can continue at `pc` unless it traps.
    bool leads_to(u64 pc);
    stop last_stop() const { return debug_.last_stop(); }
    void add_breakpoint(u64 pc);
    void remove_breakpoint(u64 pc);
    void add_watchpoint(const watchpoint& w);
    void remove_watchpoint(const watchpoint& w);
    /// Access through the hart's current translation, without side effects, ignoring permissions.
    /// Returns the number of bytes transferred: fewer if a page is unmapped or an access fails.
    std::size_t debug_read(u64 va, std::span<u8> data);
    std::size_t debug_write(u64 va, std::span<const u8> data);
    /// Like debug_write(), with the side effects of a write by the hart.
    std::size_t poke(u64 va, std::span<const u8> data);

    u64 read_x(unsigned index) const { return index == 0 ? 0 : x[index]; }
    void write_x(unsigned index, u64 value) {
        if (index != 0) x[index] = value;
    }
    u64 pc() const { return pc_; }
    /// Within a bus access: pc of the instruction that makes it.
    u64 access_pc() const { return exec.operation == nullptr ? pc_ : pc_of(exec.operation); }
    /// Continues execution at `pc`, and ends a WFI.
    void set_pc(u64 pc);
    privilege mode() const { return mode_; }
    void set_mode(privilege mode);
    /// Accesses a CSR regardless of privilege. nullopt / false if it does not exist.
    std::optional<u64> read_csr(unsigned number);
    bool write_csr(unsigned number, u64 value);

    const config& settings() const { return cfg_; }
    /// Bytes of host memory this hart occupies (shared code excluded).
    u64 footprint() const;

    // -- For instruction functions: state is public to them. ------------------------------------
    std::array<u64, 33> x{};  ///< x[32] discards writes to x0
    std::array<u64, 32> f{};  ///< binary32 values are NaN-boxed (upper bits are ones)
    csr_state csr;
    pmp protection;
    triggers watch;
    execution exec;

    fault illegal() const;
    fault load(u64 va, unsigned size, u64& value) {
        value = 0;
        const device_entry& e = exec.space->device_load_entry(va);
        if (e.tag != tag_of(va, size)) return load_anywhere(va, size, value);
        const bool done = bus_read(va + e.bus, {reinterpret_cast<u8*>(&value), size});
        return done ? fault{} : failed(access::load, va);
    }
    fault store(u64 va, unsigned size, u64 value) {
        const device_entry& e = exec.space->device_store_entry(va);
        if (e.tag != tag_of(va, size)) return store_anywhere(va, size, value);
        const bool done = bus_write(va + e.bus, {reinterpret_cast<const u8*>(&value), size});
        return done ? fault{} : failed(access::store, va);
    }
    /// Load-reserved, store-conditional and atomic read-modify-write: aligned, 4 or 8 bytes.
    fault load_reserved(u64 va, unsigned size, u64& value);
    fault store_conditional(u64 va, unsigned size, u64 value, bool& stored);
    /// Cache-block operations on the block that holds `va`.
    static constexpr u64 cache_block = 64;
    fault manage_block(u64 va);
    fault zero_block(u64 va);
    using combine = u64 (*)(u64 old, u64 operand);
    fault read_modify_write(u64 va, unsigned size, combine f, u64 operand, u64& old);

    fault csr_read(unsigned number, u64& value);  // privilege checked
    fault csr_write(unsigned number, u64 value);
    /// What CSRRS and CSRRC modify of a register that reads as `value`: of mip and sip without the
    /// levels of input lines (Priv. 3.1.9).
    u64 csr_to_modify(unsigned number, u64 value) const;
    u64 pending() const;  ///< mip
    /// mvip as sip shows it, and its part that is enabled for S mode (AIA 5.3).
    u64 virtual_pending() const;
    u64 virtual_ready() const;
    /// Pending and enabled interrupts that trap to M mode, or to S mode.
    u64 ready(privilege handler_mode) const;
    /// Of these, the number of the first in the default order; 0: none.
    static unsigned first_of(u64 lines);
    u64 cycles() const;
    u64 retired() const;
    hart_bus& memory() { return bus_; }

    void set_mstatus(u64 value);
    void set_satp(u64 value);
    u64 settle_envcfg(u64 old, u64 value) const;
    void set_menvcfg(u64 value);
    void set_stimecmp(u64 value);
    /// Sstc: compares the time with stimecmp, and schedules time_changed() for when they are equal.
    void update_timer();
    void return_from_trap(privilege handler_mode);
    void fence_i() { invalidate_code(); }
    void fence_vma();
    void wait_for_interrupt();
    void interrupts_changed();
    /// PMP entries changed: cached permissions are stale.
    void protection_changed();
    /// Trigger set changed.
    void triggers_changed();
    void log_csr(unsigned number, u64 value);

    // -- For the executor (threaded.h). ----------------------------------------------------------
    void suspend(const op* o, i64 budget, u64 page) {
        exec.operation = o;
        exec.budget = budget;
        exec.page = page;
    }
    void leave(u64 pc, i64 budget) {
        pc_ = pc;
        exec.budget = budget;
        exec.operation = nullptr;
    }
    u64 pc_of(const op* o) const;
    /// Continues at the trap vector, which pc() returns afterwards.
    void enter_trap(u64 cause_code, u64 value, u64 pc);
    /// Takes exec.raised as a trap at `pc`.
    void enter_fault(u64 pc);
    /// The block at pc, or nullptr if the next instruction must be executed alone.
    const op* find_code(u64 pc);
    void step_next() { move_to(phase::one_next); }
    void hand_over(const op* next, u64 acc, i64 budget, u64 page, address_space* space);
    /// Executes operations until one leaves: from `first`, or if null from address `acc`.
    void run_operations(const op* first, u64 acc, u64 page);
    /// Offset of x[0] in a hart, for host code.
    static const std::size_t offset_of_registers;

private:
    /// What the hart is doing, or does next. Whether a debugger has halted it: debug_control.
    enum class phase : u8 {
        blocks,
        one_next,  ///< executes one instruction alone next, then blocks
        alone,     ///< is within an instruction that is executed alone
        trapped,   ///< as alone, and the instruction has trapped
        waiting,   ///< WFI
    };
    /// Why a run ends although its budget is not used up.
    enum class ending : u8 { none, requested, reset };

    class atomic_access;

    void move_to(phase next);
    template <typename Byte, typename Access>
    std::size_t for_pages(u64 va, std::span<Byte> data, Access access);
    std::size_t write_pages(u64 va, std::span<const u8> data,
                            bool (hart_bus::*write)(u64, std::span<const u8>));
    void end_with_quantum() {
        if (exec.budget > quantum_) withhold_other_quanta();
    }
    void withhold_other_quanta();
    /// False: an access fault, or the access has reset the hart; failed() returns which.
    bool bus_read(u64 pa, std::span<u8> data) {
        end_with_quantum();
        return bus_.read(pa, data) && !was_reset();
    }
    bool bus_write(u64 pa, std::span<const u8> data) {
        end_with_quantum();
        return bus_.write(pa, data) && !was_reset();
    }
    void begin_turn();
    void end_turn();
    void run_blocks();
    void step(bool repeats);
    void execute_alone(u64 pc);
    void execute_one(const decoded& d);
    void record(u64 pc, const decoded& d) const;
    bool serve();  // interrupts, halt, wait; false: nothing to execute
    /// Whether one is pending and enabled in any mode: ends a WFI.
    bool has_interrupt() const { return (pending() & csr.mie) != 0 || virtual_ready() != 0; }
    u64 takeable() const;
    void take_interrupt();
    void halt(const stop& why);

    privilege data_mode() const;
    fault failed(access kind, u64 va) const {
        return is_left() ? reason_left() : access_fault(kind, va);
    }
    /// Whether the instruction is left before its end, because of its bus access.
    bool is_left() const { return was_reset() || is_deferred_; }
    fault reason_left() const { return {was_reset() ? cause::reset : cause::deferred, 0}; }
    fault physical(u64 va, u64 size, access kind, u64& pa);
    bool is_memory(u64 pa, u64 size);
    fault memory_access(u64 va, u64 size, access kind);
    fault load_anywhere(u64 va, unsigned size, u64& value);
    fault store_anywhere(u64 va, unsigned size, u64 value);
    fault load_in_page(u64 va, unsigned size, u64& value);
    fault store_in_page(u64 va, unsigned size, u64 value);
    fault watch_data(u64 va, unsigned size, access kind);
    fault atomic_address(u64 va, unsigned size, access kind, u64& pa, u8*& host);
    fault read_word(u64 pa, u64 va, unsigned size, access kind, u64& value);
    void end_reservations(u64 pa, u64 size);
    bool triggers_enabled() const;
    void log_write(unsigned csr_number, u64 value);
    fault fetch(u64 pc, u32& bits);
    fault fetch_half(u64 pc, u16& half);
    void remember(u64 va, u64 pa, access kind);
    bool is_accessed_once(const direct_memory& memory) const;
    void remember_device(u64 va, u64 pa, access kind);
    void open_windows(u64 pa);
    data_window window_around(u64 pa) const;
    address_range watched_in_page(u64 va, access kind) const;
    void change_mode(privilege mode);
    void update_data_context();
    void forget_translations();

    const config cfg_;
    hart_bus& bus_;
    mmu mmu_{cfg_.extensions, csr, protection, bus_};
    std::shared_ptr<code_cache> code_;
    debug_control debug_;
    commit_log* log_ = nullptr;

    u64 pc_ = 0;
    u64 horizon_ = 0;  // ticks() when the budget is used up
    i64 quantum_ = 0;  // of the run; the largest number: no quanta
    i64 cut_ = 0;      // budget withheld by stop_soon()
    ending ending_ = ending::none;
    phase phase_ = phase::blocks;
    bool exact_runs_;
    bool attention_ = false;  // serve() has work
    bool is_deferred_ = false;
    privilege mode_ = privilege::machine;
    u64 lines_ = 0;               // interrupt inputs, as mip bits
    u64 timer_line_ = 0;          // STIP while time >= stimecmp and menvcfg.STCE is set
    u64 unretired_ = 0;           // ticks() that did not retire: trapped instructions and stalls
    u64 data_context_ = 0;        // MPRV, MPP, SUM, MXR at the time of the cached translations
    bool watching_data_ = false;  // watchpoints or triggers may concern loads and stores
    std::vector<std::shared_ptr<code_page>> held_;
    const std::shared_ptr<reservations> reservations_;
    reservation reservation_;
    bool observed_ = false;  // other harts hold reservations: stores to their pages are slow
    block scratch_;

    struct {
        const op* next = nullptr;
        u64 acc = 0;
        i64 budget = 0;
        u64 page = 0;
        address_space* space = nullptr;
    } flow_;
};

}  // namespace trn::riscv
