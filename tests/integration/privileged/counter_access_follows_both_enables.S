# SPDX-License-Identifier: Apache-2.0
# cycle, time and instret need mcounteren in supervisor mode, and scounteren as well in user mode.
#include "expect.h"
begin
    open_pmp
.macro refused number, mode, counter
    on_trap 2f
    enter \mode, 1f
1:  csrr t1, \counter
    j unexpected
2:  check \number, s2, ILLEGAL
.endm
.macro allowed number, mode, counter
    on_trap 2f
    enter \mode, 1f
1:  csrr t1, \counter
    ebreak
2:  check \number, s2, BREAKPOINT
.endm
    csrw mcounteren, zero
    li t0, -1
    csrw scounteren, t0
    refused 1, SUPERVISOR, instret
    refused 2, USER, time
    csrwi mcounteren, 5
    allowed 3, SUPERVISOR, instret
    allowed 4, USER, cycle
    refused 5, SUPERVISOR, time
    csrwi scounteren, 1
    allowed 6, USER, cycle
    refused 7, USER, instret
    allowed 8, SUPERVISOR, instret
    j pass
finish
