// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "platform/framework/kernel/introspection.h"

namespace trn {

/// Interface of a hart for debuggers, implemented by processor models. The debugger finds harts by
/// walking the SystemC hierarchy. Functions are called between two slices; only the callback of
/// `on_stop` is called from inside the simulation.
class debug_target {
public:
    /// GDB's numbers of RISC-V registers (gdb/arch/riscv.h; the same for all RISC-V targets).
    enum reg : unsigned { x0 = 0, pc = 32, f0 = 33, first_csr = 65, last_csr = 4160, priv = 4161 };

    enum class stop_kind { none, step, breakpoint, watchpoint };
    struct stop {
        stop_kind why = stop_kind::none;
        std::uint64_t address = 0;  ///< watchpoint: first byte of the access that is watched
        bool on_store = false;      ///< watchpoint: hit by a store, not a load
    };
    /// A watched range; the hart stops before the access.
    struct watchpoint {
        std::uint64_t address, size;
        bool on_load, on_store;
    };

    /// State as text for lists of threads: "M-mode, waiting for interrupt".
    virtual std::string state() const = 0;
    /// Whether it executes nothing until an interrupt or the end of its reset.
    virtual bool sleeps() const = 0;

    /// Whether the hart is halted: it executes nothing, while simulated time continues.
    virtual bool halted() const = 0;
    virtual void halt() = 0;
    /// Resumes the hart, also from a breakpoint at the current pc. `single_step`: halts after one
    /// instruction.
    virtual void resume(bool single_step) = 0;
    /// Ends a WFI that the hart executes or is about to execute.
    virtual void end_wait() = 0;
    /// Whether the next instruction can continue at `pc`, traps excluded.
    virtual bool leads_to(std::uint64_t pc) = 0;
    /// The reason of the last halt at a breakpoint, watchpoint or after a step.
    virtual stop last_stop() const = 0;
    /// `stopped` is called each time the hart halts at a breakpoint, watchpoint or after a step.
    virtual void on_stop(std::function<void()> stopped) = 0;

    /// Reads and writes a register; nothing or false when the hart does not have it.
    virtual std::optional<std::uint64_t> read_register(unsigned number) = 0;
    virtual bool write_register(unsigned number, std::uint64_t value) = 0;
    /// Memory in the hart's current mode and translation, without side effects.
    virtual address_space& memory() = 0;

    /// Breakpoints do not modify memory.
    virtual void add_breakpoint(std::uint64_t pc) = 0;
    virtual void remove_breakpoint(std::uint64_t pc) = 0;
    virtual void add_watchpoint(const watchpoint& w) = 0;
    virtual void remove_watchpoint(const watchpoint& w) = 0;

protected:
    ~debug_target() = default;
};

}  // namespace trn
