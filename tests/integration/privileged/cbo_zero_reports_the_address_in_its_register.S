# SPDX-License-Identifier: Apache-2.0
# Faults of cbo.zero and cbo.flush at an address inside a cache block, by page and by PMP.
#include "expect.h"
begin
    open_pmp
    use_page_tables
    li t0, 0xf0
    csrs menvcfg, t0
    li s0, 0x1023
    on_trap 2f
    enter SUPERVISOR, 1f
1:  cbo.zero (s0)
    j unexpected
2:  check 1, s2, STORE_PAGE
    check_equal 2, s3, s0
    on_trap 2f
    enter SUPERVISOR, 1f
1:  cbo.flush (s0)
    j unexpected
2:  check 3, s2, STORE_PAGE
    check_equal 4, s3, s0
    la s0, page + 0x37
    srli t0, s0, 2
    ori t0, t0, 0x1ff
    csrw pmpaddr0, t0
    li t0, 0x18
    csrw pmpcfg0, t0
    on_trap 2f
    enter SUPERVISOR, 1f
1:  cbo.zero (s0)
    j unexpected
2:  check 5, s2, STORE_ACCESS
    check_equal 6, s3, s0
    j pass
finish
