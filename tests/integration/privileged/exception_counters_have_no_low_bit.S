# SPDX-License-Identifier: Apache-2.0
# mepc[0] and sepc[0] are 0, and a return never reaches an odd address.
#include "expect.h"
begin
    li t0, -1
    csrw mepc, t0
    csrr t1, mepc
    check 1, t1, -2
    csrw sepc, t0
    csrr t1, sepc
    check 2, t1, -2
    la t0, 1f + 1
    csrw mepc, t0
    li t0, MACHINE
    csrs mstatus, t0
    mret
    j unexpected
1:  j pass
finish
