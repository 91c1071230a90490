// SPDX-License-Identifier: Apache-2.0
// Entry to and return from trap handlers (Priv. 3.1.6.1, 3.1.7, 3.1.15, 4.1).
#include <cstring>

#include "models/processor/riscv/hart/hart.h"

namespace trn::riscv {

namespace {

constexpr u64 is_interrupt = u64{1} << 63;

/// Moves the bit `enable` to `previous` and clears it; and back.
constexpr u64 push_enable(u64 status, u64 enable, u64 previous) {
    status = (status & enable) != 0 ? status | previous : status & ~previous;
    return status & ~enable;
}
constexpr u64 pop_enable(u64 status, u64 enable, u64 previous) {
    status = (status & previous) != 0 ? status | enable : status & ~enable;
    return status | previous;
}

constexpr u64 vector_for(u64 tvec, u64 code) {
    const u64 base = tvec & ~u64{3};
    const bool vectored = (tvec & 1) != 0 && (code & is_interrupt) != 0;
    return vectored ? base + 4 * (code & ~is_interrupt) : base;
}

}  // namespace

void hart::enter_fault(u64 pc) {
    ++unretired_;
    trapped_ = true;
    enter_trap(static_cast<u64>(exec.raised.why), exec.raised.value, pc);
}

void hart::enter_trap(u64 code, u64 value, u64 pc) {
    const u64 delegated = (code & is_interrupt) != 0 ? csr.mideleg : csr.medeleg;
    const bool to_supervisor = mode_ != privilege::machine && (delegated >> (code & 63) & 1) != 0;
    u64 status = csr.mstatus;
    if (to_supervisor) {
        csr.sepc = pc;
        csr.scause = code;
        csr.stval = value;
        status = push_enable(status, mstatus::sie, mstatus::spie) & ~mstatus::spp;
        status |= static_cast<u64>(mode_) << mstatus::spp_shift;
        pc_ = vector_for(csr.stvec, code);
    } else {
        csr.mepc = pc;
        csr.mcause = code;
        csr.mtval = value;
        status = push_enable(status, mstatus::mie, mstatus::mpie) & ~mstatus::mpp;
        status |= static_cast<u64>(mode_) << mstatus::mpp_shift;
        pc_ = vector_for(csr.mtvec, code);
    }
    csr.mstatus = status;
    change_mode(to_supervisor ? privilege::supervisor : privilege::machine);
    interrupts_changed();
}

void hart::return_from_trap(privilege from) {
    u64 status = csr.mstatus;
    privilege to;
    if (from == privilege::machine) {
        to = static_cast<privilege>(status >> mstatus::mpp_shift & 3);
        status = pop_enable(status, mstatus::mie, mstatus::mpie) & ~mstatus::mpp;
        exec.next_pc = csr.mepc;
    } else {
        to = static_cast<privilege>(status >> mstatus::spp_shift & 1);
        status = pop_enable(status, mstatus::sie, mstatus::spie) & ~mstatus::spp;
        exec.next_pc = csr.sepc;
    }
    if (to != privilege::machine) status &= ~mstatus::mprv;
    csr.mstatus = status;
    change_mode(to);
    interrupts_changed();
    log_csr(0x300, status);
}

fault hart::illegal() const {
    return {cause::illegal_instruction, slot_of(exec.at).bits};
}

}  // namespace trn::riscv
