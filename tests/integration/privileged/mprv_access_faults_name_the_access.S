# SPDX-License-Identifier: Apache-2.0
# Accesses of machine mode with MPRV to a region that PMP denies to supervisor mode.
#include "expect.h"
begin
    open_pmp
    la s0, page
    srli t0, s0, 2
    ori t0, t0, 0x1ff
    csrw pmpaddr0, t0
    li t0, 0x18
    csrw pmpcfg0, t0
    li s1, MSTATUS_MPRV | SUPERVISOR
.macro refused number, cause, instruction:vararg
    on_trap 1f
    li t6, MSTATUS_MPP
    csrc mstatus, t6
    csrs mstatus, s1
    \instruction
    j unexpected
1:  check \number, s2, \cause
    check_equal \number, s3, s0
.endm
    refused 1, LOAD_ACCESS, ld t1, (s0)
    refused 2, STORE_ACCESS, sd t1, (s0)
    refused 3, STORE_ACCESS, amoadd.d t1, t1, (s0)
    refused 4, LOAD_ACCESS, lr.d t1, (s0)
    refused 5, STORE_ACCESS, cbo.zero 0(s0)
    on_trap unexpected
    ld t1, (s0)
    sd t1, (s0)
    j pass
finish
