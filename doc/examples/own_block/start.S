# SPDX-License-Identifier: Apache-2.0
# The boot ROM jumps here, in M-mode with interrupts off.
    .section .text.start, "ax"
    .globl _start
_start:
    la sp, stack_top
    la t0, bss_start
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sd zero, 0(t0)
    addi t0, t0, 8
    j 1b
2:  j main
