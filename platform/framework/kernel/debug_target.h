// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "platform/framework/kernel/introspection.h"

namespace trn {

/// A hart as a debugger sees it: what a processor model implements. The debugger finds the harts by
/// walking the SystemC hierarchy; the first part of the module's name is the chip (the inferior).
/// Everything is called between two slices, except that `on_stop`'s callback comes from inside.
class debug_target {
public:
    /// GDB's numbers of RISC-V registers (gdb/arch/riscv.h: the same for every RISC-V target).
    enum reg : unsigned { x0 = 0, pc = 32, f0 = 33, first_csr = 65, last_csr = 4160, priv = 4161 };

    enum class stop_kind { none, step, breakpoint, watchpoint };
    struct stop {
        stop_kind why = stop_kind::none;
        std::uint64_t address = 0;  ///< watchpoint: the first watched byte of the access
        bool on_store = false;      ///< watchpoint: of a store, not a load
    };
    /// The hart stops before the access.
    struct watchpoint {
        std::uint64_t address, size;
        bool on_load, on_store;
    };

    /// What the hart is doing, for the list of threads: "M-mode, waiting for interrupt".
    virtual std::string state() const = 0;

    /// A halted hart executes nothing and simulated time goes on without it.
    virtual bool halted() const = 0;
    virtual void halt() = 0;
    /// Runs on, over a breakpoint at the current pc. With `one`, halts after one instruction.
    virtual void resume(bool one) = 0;
    /// A hart that waits for an interrupt, or is about to, goes on without one.
    virtual void end_wait() = 0;
    /// Whether the hart's next instruction can continue at `pc`, a trap aside.
    virtual bool leads_to(std::uint64_t pc) = 0;
    /// Why the hart halted by itself the last time.
    virtual stop last_stop() const = 0;
    /// `stopped` is called each time the hart halts by itself: breakpoint, watchpoint, end of a
    /// step.
    virtual void on_stop(std::function<void()> stopped) = 0;

    /// Nothing / false when this hart has no such register.
    virtual std::optional<std::uint64_t> read_register(unsigned number) = 0;
    virtual bool write_register(unsigned number, std::uint64_t value) = 0;
    /// Memory as the hart's current mode and translation see it, without side effects.
    virtual address_space& memory() = 0;

    /// A breakpoint that does not modify memory.
    virtual void add_breakpoint(std::uint64_t pc) = 0;
    virtual void remove_breakpoint(std::uint64_t pc) = 0;
    virtual void add_watchpoint(const watchpoint& w) = 0;
    virtual void remove_watchpoint(const watchpoint& w) = 0;

protected:
    ~debug_target() = default;
};

}  // namespace trn
