// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "models/processor/riscv/decode/isa.h"
#include "models/processor/riscv/privileged/trap.h"

namespace trn::riscv {

/// Host memory of [first, last] of the physical address space.
struct direct_memory {
    u64 first = 1, last = 0;
    u8* host = nullptr;
    bool readable = false, writable = false;
    bool shared = false;  ///< other processes can write it at any time
    /// Loads and stores that take time go to the bus; instructions come from a cache.
    bool timed_loads = false, timed_stores = false;

    bool holds(u64 pa, u64 size) const {
        return pa >= first && pa + (size - 1) <= last && pa <= last;
    }
    /// Whether such an access takes the time of a bus access.
    bool is_timed(access kind) const {
        return kind == access::store ? timed_stores : kind == access::load && timed_loads;
    }
    /// Whether such an access may use the pointer.
    bool serves(access kind) const {
        return (kind == access::store ? writable : readable) && !is_timed(kind);
    }
};

/// The bus interface of a hart. Addresses are physical; `false` means an access fault.
class hart_bus {
public:
    virtual ~hart_bus() = default;
    virtual bool read(u64 pa, std::span<u8> data) = 0;
    virtual bool write(u64 pa, std::span<const u8> data) = 0;
    /// Like read() and write() without side effects, for debuggers.
    virtual bool debug_read(u64 pa, std::span<u8> data) = 0;
    virtual bool debug_write(u64 pa, std::span<const u8> data) = 0;
    /// A write by a debugger with side effects, which takes the hart no time.
    virtual bool poke(u64 pa, std::span<const u8> data) { return debug_write(pa, data); }
    /// The instruction may make several accesses: the responses are kept until its end, because
    /// memory may defer a later one.
    virtual void keep_responses() {}
    /// The accesses up to end_atomic() are those of one atomic instruction. If memory defers it,
    /// the instruction begins again, and other harts do not access the word meanwhile.
    virtual void begin_atomic(u64 /*pa*/, unsigned /*size*/) {}
    virtual void end_atomic() {}
    /// Memory that the hart may access directly until it is invalidated.
    virtual std::optional<direct_memory> direct(u64 pa) = 0;
    /// Whether the byte is memory for which direct() has no pointer at present.
    virtual bool is_memory(u64 /*pa*/) { return false; }
    /// The time CSR.
    virtual u64 time() = 0;
    /// Requests hart::time_changed() when time() reaches `time` or is written. Replaces the
    /// previous request; all ones: never.
    virtual void wake_at(u64 /*time*/) {}
    /// The interrupt file of machine or supervisor mode in the hart's IMSIC, which its CSRs access.
    virtual bool has_interrupt_files() const { return false; }
    /// Registers of the file, by the values of miselect and siselect.
    virtual u64 read_interrupt_file(privilege /*mode*/, unsigned /*number*/) { return 0; }
    virtual void write_interrupt_file(privilege /*mode*/, unsigned /*number*/, u64 /*value*/) {}
    /// mtopei and stopei.
    virtual u64 top_external(privilege /*mode*/) { return 0; }
    virtual void claim_external(privilege /*mode*/) {}
    /// The hart enters a function, if function_names are set. A jump back to its first instruction
    /// counts as an entry.
    virtual void entered(const std::string& /*function*/) {}
    /// Name of the hart in messages.
    virtual std::string describe() const { return {}; }
};

}  // namespace trn::riscv
