# SPDX-License-Identifier: Apache-2.0
# Atomic accesses of supervisor mode to a region that PMP lets it only read.
#include "expect.h"
begin
    open_pmp
    la s0, page
    srli t0, s0, 2
    ori t0, t0, 0x1ff
    csrw pmpaddr0, t0
    li t0, 0x19
    csrw pmpcfg0, t0
    on_trap refused
    enter SUPERVISOR, 1f
1:  ld t1, (s0)
    lr.d t1, (s0)
    li t1, 5
    amoor.d t1, zero, (s0)
    j unexpected
refused:
    check 1, s2, STORE_ACCESS
    check_equal 2, s3, s0
    check 3, t1, 5
    j pass
finish
