# SPDX-License-Identifier: Apache-2.0
# Each is an illegal instruction, and its destination keeps its value.
#include "expect.h"
begin
.macro refused number, instruction:vararg
    on_trap 2f
    li t1, 0x55
    \instruction
    j unexpected
2:  check \number, s2, ILLEGAL
    check \number, t1, 0x55
.endm
    refused 1, csrr t1, 0x34b               # mtval2
    refused 2, csrr t1, 0x34a               # mtinst
    refused 3, csrr t1, 0x600               # hstatus
    refused 4, csrr t1, 0x312               # medelegh
    refused 5, csrr t1, 0x310               # mstatush
    refused 6, csrr t1, 0xc80               # cycleh
    refused 7, csrr t1, 0x3a1               # pmpcfg1
    refused 8, csrrs t1, 0x34b, t1
    refused 9, csrrw t1, mhartid, zero      # read-only
    refused 10, csrrs t1, mvendorid, t1
    on_trap unexpected
    csrrs t1, mvendorid, zero
    csrrc t1, mhartid, zero
    csrrsi t1, marchid, 0
    j pass
finish
