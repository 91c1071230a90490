# SPDX-License-Identifier: Apache-2.0
# The boot ROM has copied the image to the SRAM and jumps here, in M-mode with interrupts off.
    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, stack_top
    la t0, trap
    csrw mtvec, t0
    la t0, bss_start
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sd zero, 0(t0)
    addi t0, t0, 8
    j 1b
2:  call main
3:  wfi
    j 3b
