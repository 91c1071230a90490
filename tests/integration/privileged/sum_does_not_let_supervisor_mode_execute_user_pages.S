# SPDX-License-Identifier: Apache-2.0
# SUM allows loads and stores of user pages, never fetches; MXR reads pages that can only be executed.
#include "expect.h"
begin
    open_pmp
    use_page_tables
    set_entry leaves, 0, page, V | R | W | X | U | A | D
    la t0, page
    li t1, 0x00100073           # ebreak
    sw t1, (t0)
    fence.i
    li s0, 0
    on_trap 2f
    enter SUPERVISOR, 1f
1:  lw t1, (s0)
    j unexpected
2:  check 1, s2, LOAD_PAGE
    li t0, MSTATUS_SUM
    csrs mstatus, t0
    on_trap 2f
    enter SUPERVISOR, 1f
1:  lw t1, (s0)
    sw t1, (s0)
    jr s0
2:  check 2, s2, FETCH_PAGE
    check 3, s3, 0
    check 4, s4, 0
    set_entry leaves, 0, page, V | X | A | D
    sfence.vma
    on_trap 2f
    enter SUPERVISOR, 1f
1:  lw t1, (s0)
    j unexpected
2:  check 5, s2, LOAD_PAGE
    li t0, 0x80000
    csrs mstatus, t0
    on_trap 2f
    enter SUPERVISOR, 1f
1:  lw t1, (s0)
    jr s0
2:  check 6, s2, BREAKPOINT
    check 7, s4, 0
    j pass
finish
