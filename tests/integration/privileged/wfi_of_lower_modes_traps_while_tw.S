# SPDX-License-Identifier: Apache-2.0
# mstatus.TW: WFI of user and supervisor mode is illegal; delegated, it traps once and not the
# instruction after it.
#include "expect.h"
begin
    open_pmp
    li t0, MSTATUS_TW
    csrs mstatus, t0
    on_trap 2f
    enter USER, 1f
1:  wfi
    j unexpected
2:  check 1, s2, ILLEGAL
    check_address 2, s4, 1b
    on_trap 2f
    enter SUPERVISOR, 1f
1:  wfi
    j unexpected
2:  check 3, s2, ILLEGAL
    li t0, 1 << ILLEGAL
    csrw medeleg, t0
    la t0, supervisor_trap
    csrw stvec, t0
    li s6, 0
    on_trap 2f
    enter USER, 1f
1:  wfi
    nop
    ebreak
    .balign 4
supervisor_trap:
    addi s6, s6, 1
    csrr t0, sepc
    addi t0, t0, 4
    csrw sepc, t0
    sret
2:  check 4, s2, BREAKPOINT
    check 5, s6, 1
    # Machine mode is not affected: the pending interrupt ends the wait.
    on_trap unexpected
    li t0, 2
    csrw mie, t0
    csrs mip, t0
    wfi
    j pass
finish
