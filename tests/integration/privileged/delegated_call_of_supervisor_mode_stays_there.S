# SPDX-License-Identifier: Apache-2.0
# medeleg[9] is kept, and an ecall of supervisor mode then traps to stvec.
#include "expect.h"
begin
    open_pmp
    li t0, 1 << 9
    csrw medeleg, t0
    csrr t1, medeleg
    check_equal 1, t1, t0
    la t0, supervisor_trap
    csrw stvec, t0
    enter SUPERVISOR, 1f
1:  ecall
    j unexpected
    .balign 4
supervisor_trap:
    csrr s6, scause
    csrr s7, sstatus
    csrr s8, sepc
    csrw sepc, s8
    on_trap 2f
    ebreak                      # not delegated
2:  check 2, s2, BREAKPOINT
    check 3, s6, SUPERVISOR_CALL
    check_address 4, s8, 1b
    andi s7, s7, 0x100
    check 5, s7, 0x100          # SPP: the call came from supervisor mode
    # Bits that can never trap to supervisor mode are not kept: ecall of machine mode.
    li t0, -1
    csrw medeleg, t0
    csrr t1, medeleg
    li t2, 1 << 11
    and t1, t1, t2
    check 6, t1, 0
    j pass
finish
