// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/processor/riscv/decode/isa.h"

namespace trn::riscv {

/// Exception codes of mcause/scause (Priv. table 3.6).
enum class cause : u8 {
    fetch_misaligned = 0,
    fetch_access = 1,
    illegal_instruction = 2,
    breakpoint = 3,
    load_misaligned = 4,
    load_access = 5,
    store_misaligned = 6,
    store_access = 7,
    ecall_from_user = 8,
    fetch_page_fault = 12,
    load_page_fault = 13,
    store_page_fault = 15,
    none = 255,
    /// Not an exception: the instruction is left before its access, which a debugger watches, and
    /// is executed again alone.
    alone = 254,
    /// Not an exception: memory has deferred the access. The instruction is left before it, and is
    /// executed again by the next run.
    deferred = 252,
    /// Not an exception: the hart was reset by its own access. The instruction is left, and the
    /// hart's state is that after reset.
    reset = 253,
};

/// The result of an instruction: empty, or the exception raised instead of taking effect.
struct [[nodiscard]] fault {
    cause why = cause::none;
    u64 value = 0;  ///< for mtval/stval

    explicit operator bool() const { return why != cause::none; }
};

enum class access : u8 { fetch, load, store };

constexpr fault page_fault(access kind, u64 va) {
    constexpr cause codes[] = {cause::fetch_page_fault, cause::load_page_fault,
                               cause::store_page_fault};
    return {codes[static_cast<u8>(kind)], va};
}

constexpr fault access_fault(access kind, u64 va) {
    constexpr cause codes[] = {cause::fetch_access, cause::load_access, cause::store_access};
    return {codes[static_cast<u8>(kind)], va};
}

/// Interrupt lines of a hart: bit numbers of mip.
enum class interrupt : u8 {
    supervisor_software = 1,
    machine_software = 3,
    supervisor_timer = 5,
    machine_timer = 7,
    supervisor_external = 9,
    machine_external = 11,
};

constexpr u64 bit(interrupt line) {
    return u64{1} << static_cast<unsigned>(line);
}

}  // namespace trn::riscv
