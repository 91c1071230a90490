# SPDX-License-Identifier: Apache-2.0
# A timer interrupt below machine mode is taken whatever mstatus.MIE is; the wait has then ended.
# In machine mode with MIE off the wait ends, and no trap is taken.
#include "expect.h"
#define MTIMECMP 0x2004000
#define MTIME 0x200bff8
begin
    open_pmp
    li t0, 0x80
    csrw mie, t0
    csrci mstatus, 8
.macro arm
    li t0, MTIME
    ld t1, (t0)
    addi t1, t1, 50
    li t0, MTIMECMP
    sd t1, (t0)
.endm
    arm
    on_trap 2f
    enter SUPERVISOR, 1f
1:  wfi
3:  nop
    j unexpected
2:  check 1, s2, (1 << 63) | 7
    check_address 2, s4, 3b
    arm
    on_trap unexpected
    # mret of `enter` set MIE from MPIE; off again.
    csrci mstatus, 8
    wfi
    csrr t0, mip
    andi t0, t0, 0x80
    check 3, t0, 0x80
    # A pending interrupt that is not enabled does not end a wait: the timer is, software is not.
    arm
    li t0, 2
    csrs mip, t0
    wfi
    csrr t0, mip
    andi t0, t0, 0x80
    check 4, t0, 0x80
    j pass
finish
