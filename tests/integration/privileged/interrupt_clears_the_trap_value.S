# SPDX-License-Identifier: Apache-2.0
# mtval and stval hold an earlier fault's address; an interrupt writes 0 to them.
#include "expect.h"
#define MSIP 0x2000000
begin
    open_pmp
    on_trap 2f
    li t0, 0x30000000
    ld t1, (t0)
    j unexpected
2:  check 1, s2, LOAD_ACCESS
    check 2, s3, 0x30000000
    on_trap 2f
    li t0, 8
    csrw mie, t0
    li t0, MSIP
    li t1, 1
    sw t1, (t0)
    csrsi mstatus, 8
1:  j 1b
2:  check 3, s2, (1 << 63) | 3
    check 4, s3, 0
    li t0, MSIP
    sw zero, (t0)
    # The same for supervisor mode, by its own software interrupt.
    li t0, 2
    csrw mideleg, t0
    csrw mie, t0
    li t0, -1
    csrw stval, t0
    la t0, supervisor_trap
    csrw stvec, t0
    csrwi sip, 2
    enter SUPERVISOR, 1f
1:  csrsi sstatus, 2
    j 1b
    .balign 4
supervisor_trap:
    csrr s6, scause
    csrr s7, stval
    on_trap 2f
    ebreak
2:  check 5, s6, (1 << 63) | 1
    check 6, s7, 0
    j pass
finish
