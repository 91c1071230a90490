# SPDX-License-Identifier: Apache-2.0
# Svadu: an access through a misaligned superpage faults before A and D are written.
#include "expect.h"
begin
    open_pmp
    use_page_tables
    li t0, 1 << 61
    csrs menvcfg, t0
.macro refused number, entry, cause, mode, instruction:vararg
    la s0, \entry
    li s1, (0x80001000 >> 2) | V | R | W | X
    sd s1, (s0)
    sfence.vma
    on_trap 2f
    enter SUPERVISOR, 1f
1:  \instruction
    j unexpected
2:  check \number, s2, \cause
    ld t1, (s0)
    check_equal \number, t1, s1
.endm
    li s6, 0x200000             # the second 2 MiB
    refused 1, branches + 8, LOAD_PAGE, SUPERVISOR, ld t1, (s6)
    refused 2, branches + 8, STORE_PAGE, SUPERVISOR, sd t1, (s6)
    refused 3, branches + 8, FETCH_PAGE, SUPERVISOR, jr s6
    li s6, 0x40000000           # the second 1 GiB
    refused 4, root + 8, STORE_PAGE, SUPERVISOR, sd t1, (s6)
    j pass
finish
