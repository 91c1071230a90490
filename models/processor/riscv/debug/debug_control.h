// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "models/processor/riscv/debug/address_range.h"
#include "models/processor/riscv/decode/isa.h"
#include "models/processor/riscv/privileged/trap.h"

namespace trn::riscv {

/// A debugger's requests to a hart: stop conditions and the cause of a stop. Breakpoints do not
/// modify memory: blocks of code end before them, and the instruction is executed alone.
class debug_control {
public:
    enum class stop_reason : u8 { none, request, step, breakpoint, watchpoint };
    struct stop {
        stop_reason why = stop_reason::none;
        u64 address = 0;  ///< watchpoint: the first watched byte of the access
        access kind = access::load;
    };
    /// Stops before the access, as a trigger with timing 0.
    struct watchpoint {
        u64 address, size;
        bool on_load, on_store;
        friend bool operator==(const watchpoint&, const watchpoint&) = default;

        bool concerns(access kind) const { return kind == access::store ? on_store : on_load; }
        address_range watched() const { return {address, address + (size - 1)}; }
    };

    bool is_halted() const { return halted_; }
    const stop& last_stop() const { return stop_; }
    void halt(const stop& why);
    /// Resumes at `pc`, ignoring a breakpoint there until its instruction is executed. With
    /// `single_step`, stops after one instruction.
    void resume(bool single_step, u64 pc);
    /// Sets whether a WFI at the pc completes without waiting.
    void set_completes_wfi(bool completes) { completes_wfi_ = completes; }
    bool completes_wfi() const { return completes_wfi_; }

    void add(u64 breakpoint) { breakpoints_.push_back(breakpoint); }
    void remove(u64 breakpoint);
    void add(const watchpoint& w) { watchpoints_.push_back(w); }
    void remove(const watchpoint& w);
    bool watches_data() const { return !watchpoints_.empty(); }
    /// The first watched byte of the access, if there is one.
    std::optional<u64> watched(u64 va, u64 size, access kind) const;
    /// The watched addresses within `limits`, and those between.
    address_range watched(access kind, const address_range& limits) const;
    /// Reduces `range` to its part around `address` that is not watched.
    void exclude_watched(address_range& range, u64 address) const;
    /// Offsets in the page at `va` that have breakpoints, in ascending order.
    std::vector<u16> breakpoints_in_page(u64 va) const;

    // Called around an instruction that is executed alone.
    bool is_stepping() const { return stepping_; }
    /// Whether to stop before the instruction at `pc`.
    bool takes_breakpoint(u64 pc);
    /// A watched access was detected; the instruction has been left before it.
    void hit(u64 address, access kind) { hit_ = {stop_reason::watchpoint, address, kind}; }
    bool has_hit() const { return hit_.has_value(); }
    /// The reason to stop after the instruction, if there is one.
    std::optional<stop> end_instruction();

private:
    bool halted_ = false;
    bool stepping_ = false;                  // halt after the next instruction
    std::optional<u64> skipped_breakpoint_;  // address; of the last resume
    bool completes_wfi_ = false;
    std::optional<stop> hit_;  // cause found by the instruction being executed alone
    stop stop_;
    std::vector<u64> breakpoints_;
    std::vector<watchpoint> watchpoints_;
};

}  // namespace trn::riscv
