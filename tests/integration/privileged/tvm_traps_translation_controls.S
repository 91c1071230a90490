# SPDX-License-Identifier: Apache-2.0
# mstatus.TVM: satp and SFENCE.VMA of supervisor mode trap, those of machine mode do not.
#include "expect.h"
begin
    open_pmp
    li t0, MSTATUS_TVM
    csrs mstatus, t0
.macro refused number, instruction:vararg
    on_trap 2f
    enter SUPERVISOR, 1f
1:  \instruction
    j unexpected
2:  check \number, s2, ILLEGAL
.endm
    refused 1, csrr t1, satp
    refused 2, csrw satp, zero
    refused 3, sfence.vma
    refused 4, sfence.vma zero, t1
    on_trap unexpected
    csrr t1, satp
    sfence.vma
    li t0, MSTATUS_TVM
    csrc mstatus, t0
    on_trap 2f
    enter SUPERVISOR, 1f
1:  csrr t1, satp
    sfence.vma zero, t1
    ecall
2:  check 5, s2, SUPERVISOR_CALL
    on_trap 2f
    enter USER, 1f
1:  sfence.vma
    j unexpected
2:  check 6, s2, ILLEGAL
    j pass
finish
