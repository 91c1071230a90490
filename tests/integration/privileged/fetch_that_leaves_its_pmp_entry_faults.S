# SPDX-License-Identifier: Apache-2.0
# A 4-byte instruction whose second half lies in a region that supervisor mode may not execute.
#include "expect.h"
begin
    open_pmp
    la s0, next_page
    srli t0, s0, 2
    ori t0, t0, 0x1ff
    csrw pmpaddr0, t0
    li t0, 0x1b
    csrw pmpcfg0, t0
    li t0, 0x00000013           # nop
    addi s1, s0, -2
    sh t0, (s1)
    srli t0, t0, 16
    sh t0, (s0)
    fence.i
    on_trap refused
    li t6, MSTATUS_MPP
    csrc mstatus, t6
    li t6, SUPERVISOR
    csrs mstatus, t6
    csrw mepc, s1
    mret
refused:
    check 1, s2, FETCH_ACCESS
    check_equal 2, s4, s1
    check_equal 3, s3, s0       # the part of the instruction that faulted
    j pass
finish
