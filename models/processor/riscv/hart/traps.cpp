// SPDX-License-Identifier: Apache-2.0
// Entry to and return from trap handlers (Priv. 3.1.6.1, 3.1.7, 3.1.15, 4.1), and interrupts.
#include <array>

#include "models/processor/riscv/hart/hart.h"

namespace trn::riscv {

namespace {

constexpr u64 is_interrupt = u64{1} << 63;
constexpr u64 stip = bit(interrupt::supervisor_timer), seip = bit(interrupt::supervisor_external);

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
    if (phase_ == phase::alone) move_to(phase::trapped);
    enter_trap(static_cast<u64>(exec.raised.why), exec.raised.value, pc);
}

void hart::enter_trap(u64 code, u64 value, u64 pc) {
    // An interrupt that is not M mode's now is S mode's, by mideleg or by mvien.
    const u64 delegated = (code & is_interrupt) != 0 ? ~ready(privilege::machine) : csr.medeleg;
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

void hart::return_from_trap(privilege handler_mode) {
    u64 status = csr.mstatus;
    privilege mode;
    if (handler_mode == privilege::machine) {
        mode = static_cast<privilege>(status >> mstatus::mpp_shift & 3);
        status = pop_enable(status, mstatus::mie, mstatus::mpie) & ~mstatus::mpp;
        exec.next_pc = csr.mepc;
    } else {
        mode = static_cast<privilege>(status >> mstatus::spp_shift & 1);
        status = pop_enable(status, mstatus::sie, mstatus::spie) & ~mstatus::spp;
        exec.next_pc = csr.sepc;
    }
    if (mode != privilege::machine) status &= ~mstatus::mprv;
    csr.mstatus = status;
    change_mode(mode);
    interrupts_changed();
    log_csr(0x300, status);
}

fault hart::illegal() const {
    return {cause::illegal_instruction, slot_of(exec.operation).bits};
}

// --- Interrupts

void hart::drive(interrupt line, bool level) {
    lines_ = level ? lines_ | bit(line) : lines_ & ~bit(line);
    interrupts_changed();
}

u64 hart::pending() const {
    const bool is_timed = (csr.menvcfg & envcfg::stce) != 0;
    return lines_ | timer_line_ |
           (csr.software_mip & ~((is_timed ? stip : 0) | (csr.mvien & seip)));
}

u64 hart::virtual_pending() const {
    constexpr u64 ssip = bit(interrupt::supervisor_software);
    const u64 values = (csr.mvip & ssip) | (csr.software_mip & seip);
    return values & csr.mvien & ~csr.mideleg;
}

u64 hart::virtual_ready() const {
    return csr.mvien == 0 ? 0 : virtual_pending() & csr.virtual_sie;
}

u64 hart::ready(privilege handler_mode) const {
    const u64 enabled = pending() & csr.mie;
    if (handler_mode == privilege::machine) return enabled & ~csr.mideleg;
    return (enabled & csr.mideleg) | virtual_ready();
}

/// Priv. 3.1.9: external before software before timer, machine before supervisor.
unsigned hart::first_of(u64 lines) {
    constexpr std::array order{interrupt::machine_external,    interrupt::machine_software,
                               interrupt::machine_timer,       interrupt::supervisor_external,
                               interrupt::supervisor_software, interrupt::supervisor_timer};
    for (const interrupt line : order)
        if ((lines & bit(line)) != 0) return static_cast<unsigned>(line);
    return 0;
}

void hart::update_timer() {
    const bool enabled = (csr.menvcfg & envcfg::stce) != 0;
    timer_line_ = enabled && bus_.time() >= csr.stimecmp ? stip : 0;
    end_with_quantum();
    bus_.wake_at(enabled && timer_line_ == 0 ? csr.stimecmp : ~u64{0});
    interrupts_changed();
}

/// Enabled, pending interrupts for the most privileged mode that can take one now.
u64 hart::takeable() const {
    if (!has_interrupt()) return 0;
    const bool machine_takes = mode_ < privilege::machine || (csr.mstatus & mstatus::mie) != 0;
    if (const u64 lines = ready(privilege::machine); machine_takes && lines != 0) return lines;
    const bool supervisor_takes =
        mode_ < privilege::supervisor ||
        (mode_ == privilege::supervisor && (csr.mstatus & mstatus::sie) != 0);
    return supervisor_takes ? ready(privilege::supervisor) : 0;
}

/// Enters the handler of the first interrupt that can be taken now, if there is one.
void hart::take_interrupt() {
    if (const unsigned line = first_of(takeable()); line != 0)
        enter_trap(is_interrupt | line, 0, pc_);
}

void hart::interrupts_changed() {
    if (takeable() == 0) return;
    attention_ = true;
    stop_soon();
}

void hart::wait_for_interrupt() {
    // Debug spec 4.4: a single-stepped WFI does not stall.
    if (has_interrupt() || debug_.completes_wfi()) return;
    move_to(phase::waiting);
    attention_ = true;
    stop_soon();
}

}  // namespace trn::riscv
