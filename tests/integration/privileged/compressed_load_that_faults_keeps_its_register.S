# SPDX-License-Identifier: Apache-2.0
# c.ldsp and c.lwsp from an address without memory.
#include "expect.h"
    .option rvc
begin
    li sp, 0x30000000
    li t1, 0x77
    on_trap 2f
1:  c.ldsp t1, 24(sp)
    j unexpected
2:  check 1, s2, LOAD_ACCESS
    check 2, s3, 0x30000018
    check 3, t1, 0x77
    check_address 4, s4, 1b
    on_trap 2f
    c.lwsp t1, 12(sp)
    j unexpected
2:  check 5, s3, 0x3000000c
    check 6, t1, 0x77
    on_trap 2f
    c.sdsp t1, 16(sp)
    j unexpected
2:  check 7, s2, STORE_ACCESS
    check 8, s3, 0x30000010
    j pass
finish
