# SPDX-License-Identifier: Apache-2.0
# A load whose first half matches an unlocked NA4 entry and whose second half matches none
# (Priv. 3.7.1: the entry must match all bytes of the access, whatever L, R, W and X are).
#include "expect.h"
begin
    la s0, page
    srli t0, s0, 2
    csrw pmpaddr0, t0
    li t0, 0x10
    csrw pmpcfg0, t0
    on_trap refused
    ld t1, (s0)
    j unexpected
refused:
    check 1, s2, LOAD_ACCESS
    check_equal 2, s3, s0
    on_trap unexpected
    lw t1, (s0)
    lw t1, 4(s0)
    j pass
finish
