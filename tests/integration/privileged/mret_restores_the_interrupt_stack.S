# SPDX-License-Identifier: Apache-2.0
# MRET sets MPIE and the least mode in MPP, takes MIE from MPIE, and clears MPRV only below machine mode.
#include "expect.h"
begin
    open_pmp
    li t0, MSTATUS_MPRV | MACHINE
    csrw mstatus, t0            # MPIE and MIE are 0
    la t0, 1f
    csrw mepc, t0
    mret
1:  csrr s6, mstatus
    li t0, MSTATUS_MPRV
    csrc mstatus, t0
    li t0, MSTATUS_MPP
    csrs mstatus, t0
    li t1, MSTATUS_MPRV | MSTATUS_MPP | 0x88
    and s6, s6, t1
    check 1, s6, MSTATUS_MPRV | 0x80
    li t0, MSTATUS_MPRV | 0x80
    csrs mstatus, t0
    on_trap 2f
    enter USER, 1f
1:  ebreak
2:  check 2, s2, BREAKPOINT
    li t1, MSTATUS_MPRV | MSTATUS_MPP | 0x88
    and s5, s5, t1
    check 3, s5, USER | 0x80    # the trap moved MIE, which MRET set from MPIE, to MPIE
    j pass
finish
