# SPDX-License-Identifier: Apache-2.0
# Reads and writes of machine CSRs by supervisor mode are illegal instructions, not access faults.
#include "expect.h"
begin
    open_pmp
.macro refused number, instruction:vararg
    on_trap 2f
    enter SUPERVISOR, 1f
1:  \instruction
    j unexpected
2:  check \number, s2, ILLEGAL
    check_address \number, s4, 1b
.endm
    refused 1, csrr t1, mstatus
    refused 2, csrr t1, misa
    refused 3, csrw mscratch, zero
    refused 4, csrr t1, mepc
    refused 5, csrw medeleg, zero
    refused 6, csrr t1, pmpaddr0
    refused 7, csrw pmpcfg0, zero
    refused 8, csrr t1, mcycle
    refused 9, csrr t1, mhartid
    refused 10, csrr t1, menvcfg
    refused 11, csrr t1, mcounteren
    refused 12, csrr t1, tselect
    refused 13, mret
    j pass
finish
