# SPDX-License-Identifier: Apache-2.0
# Modes 2 and 3 of mtvec and stvec are reserved; a write of one leaves a legal mode.
#include "expect.h"
begin
    li t0, -1
    csrw mtvec, t0
    csrr s6, mtvec
    csrw stvec, t0
    csrr s7, stvec
    li t0, -2
    csrw mtvec, t0
    csrr s8, mtvec
    la t0, trap
    csrw mtvec, t0
    andi s6, s6, 2
    andi s7, s7, 2
    andi s8, s8, 2
    check 1, s6, 0
    check 2, s7, 0
    check 3, s8, 0
    j pass
finish
