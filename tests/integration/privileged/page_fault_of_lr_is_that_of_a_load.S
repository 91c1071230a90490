# SPDX-License-Identifier: Apache-2.0
# LR is a load; SC and AMO are stores, also where the page cannot be read at all.
#include "expect.h"
begin
    open_pmp
    use_page_tables
    li s0, 0x2134
.macro refused number, cause, instruction:vararg
    on_trap 2f
    enter SUPERVISOR, 1f
1:  \instruction
    j unexpected
2:  check \number, s2, \cause
    check_equal \number, s3, s0
.endm
    refused 1, LOAD_PAGE, lr.w t1, (s0)
    refused 2, STORE_PAGE, amoswap.w t1, t1, (s0)
    refused 3, STORE_PAGE, amomax.w zero, zero, (s0)
    set_entry leaves, 2, page, V | R | A
    sfence.vma
    refused 4, STORE_PAGE, amoswap.w t1, t1, (s0)
    on_trap 2f
    enter SUPERVISOR, 1f
1:  lr.w t1, (s0)
    ecall
2:  check 5, s2, SUPERVISOR_CALL
    j pass
finish
