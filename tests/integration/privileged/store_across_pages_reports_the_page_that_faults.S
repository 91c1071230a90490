# SPDX-License-Identifier: Apache-2.0
# Misaligned accesses over the end of a page, whose next page is unmapped.
#include "expect.h"
begin
    open_pmp
    use_page_tables
    set_entry leaves, 0, page, V | R | W | A | D
    li s0, 0xffc
    li s1, 0x1000
    on_trap 2f
    enter SUPERVISOR, 1f
1:  sd t1, (s0)
    j unexpected
2:  check 1, s2, STORE_PAGE
    check_equal 2, s3, s1
    on_trap 2f
    enter SUPERVISOR, 1f
1:  ld t1, (s0)
    j unexpected
2:  check 3, s2, LOAD_PAGE
    check_equal 4, s3, s1
    # The first page is unmapped, the second is not: the address of the access itself.
    set_entry leaves, 1, next_page, V | R | W | A | D
    set_entry leaves, 0, page, 0
    sfence.vma
    on_trap 2f
    enter SUPERVISOR, 1f
1:  sd t1, (s0)
    j unexpected
2:  check 5, s2, STORE_PAGE
    check_equal 6, s3, s0
    la t0, next_page
    ld t1, (t0)
    check 7, t1, 0
    j pass
finish
