# SPDX-License-Identifier: Apache-2.0
# Svadu: PMP lets supervisor mode read the table, but not write it; then it does.
#include "expect.h"
begin
    open_pmp
    use_page_tables
    set_entry leaves, 0, page, V | R | W
    li t0, 1 << 61 | 0xf0       # ADUE and the cache-block instructions
    csrs menvcfg, t0
    la s0, leaves
    ld s1, (s0)
    srli t0, s0, 2
    ori t0, t0, 0x1ff
    csrw pmpaddr0, t0
    li t0, 0x19
    csrw pmpcfg0, t0
    li s6, 0x18
.macro refused number, cause, instruction:vararg
    on_trap 2f
    enter SUPERVISOR, 1f
1:  \instruction
    j unexpected
2:  check \number, s2, \cause
    check_equal \number, s3, s6
    ld t1, (s0)
    check_equal \number, t1, s1
.endm
    refused 1, LOAD_ACCESS, ld t1, (s6)
    refused 2, STORE_ACCESS, sd t1, (s6)
    refused 3, LOAD_ACCESS, ld t1, (s6)
    csrw pmpcfg0, zero
    sfence.vma
    on_trap 2f
    enter SUPERVISOR, 1f
1:  cbo.zero (s6)
    ecall
2:  check 4, s2, SUPERVISOR_CALL
    ld t1, (s0)
    ori s1, s1, A | D
    check_equal 5, t1, s1
    j pass
finish
