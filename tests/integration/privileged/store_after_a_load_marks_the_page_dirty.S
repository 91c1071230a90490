# SPDX-License-Identifier: Apache-2.0
# Svadu: a page that was only read has A; the first store sets D although the translation is known.
#include "expect.h"
begin
    open_pmp
    use_page_tables
    set_entry leaves, 0, page, V | R | W
    li t0, 1 << 61
    csrs menvcfg, t0
    on_trap done
    enter SUPERVISOR, 1f
1:  li s0, 0x10
    li s1, 2000                 # often enough for the loop to be translated
2:  ld t1, (s0)
    addi s1, s1, -1
    bnez s1, 2b
    la t0, leaves
    ld s6, (t0)
    li s1, 2000
2:  sd s1, (s0)
    addi s1, s1, -1
    bnez s1, 2b
    ld s7, (t0)
    ecall
done:
    check 1, s2, SUPERVISOR_CALL
    andi s6, s6, A | D
    andi s7, s7, A | D
    check 2, s6, A
    check 3, s7, A | D
    j pass
finish
