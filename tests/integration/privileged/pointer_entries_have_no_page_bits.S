# SPDX-License-Identifier: Apache-2.0
# A, D and U of an entry that points to a table are reserved: each faults.
#include "expect.h"
begin
    open_pmp
    use_page_tables
    set_entry leaves, 0, page, V | R | W | A | D
    li s0, 0x40
.macro refused number, flags
    set_entry branches, 0, leaves, V | \flags
    sfence.vma
    on_trap 2f
    enter SUPERVISOR, 1f
1:  ld t1, (s0)
    j unexpected
2:  check \number, s2, LOAD_PAGE
    check_equal \number, s3, s0
.endm
    refused 1, A
    refused 2, D
    refused 3, U
    refused 4, W                # W without R is reserved for pages, too
    set_entry branches, 0, leaves, V | 0x320    # G and the software's bits are ignored
    sfence.vma
    on_trap 2f
    enter SUPERVISOR, 1f
1:  ld t1, (s0)
    ecall
2:  check 5, s2, SUPERVISOR_CALL
    j pass
finish
