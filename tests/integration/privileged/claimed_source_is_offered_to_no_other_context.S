# SPDX-License-Identifier: Apache-2.0
# PLIC: a source that is pending for two contexts and claimed by one is not offered to the other; its
# completion makes it pending again for both while its line is high, and not after that. The completion
# of source 0 has no effect.
#include "expect.h"
#define PLIC 0x0c000000
#define UART 0x10000000
#define SOURCE 10
begin
    li t0, PLIC
    li t1, 3
    sw t1, SOURCE * 4(t0)
    li t2, 1 << SOURCE
    li t1, PLIC + 0x2000
    sw t2, (t1)                 # context 0, machine mode
    sw t2, 0x80(t1)             # context 1, supervisor mode
    li t0, PLIC + 0x200000
    li s1, PLIC + 0x201000
    sw zero, (t0)
    sw zero, (s1)
    mv s0, t0
    li t0, UART
    li t1, 2
    sb t1, 1(t0)                # transmitter empty raises the line
    csrr s6, mip
    li t1, 0xa00
    and s6, s6, t1
    check 1, s6, 0xa00          # MEIP and SEIP
    lw s7, 4(s0)
    check 2, s7, SOURCE
    lw s8, 4(s1)
    check 3, s8, 0              # claimed by context 0: nothing for context 1
    csrr s6, mip
    and s6, s6, t1
    check 4, s6, 0
    sw s8, 4(s1)                # completion of no source changes nothing
    lw s8, 4(s1)
    check 5, s8, 0
    sw s7, 4(s0)                # the line is still high: pending again, for both
    lw s8, 4(s1)
    check 6, s8, SOURCE
    sb zero, 1(t0)              # the line falls
    sw s8, 4(s1)
    csrr s6, mip
    and s6, s6, t1
    check 7, s6, 0
    lw s7, 4(s0)
    check 8, s7, 0
    j pass
finish
