// SPDX-License-Identifier: Apache-2.0
// First instructions of every image: stacks, trap vector, .data and .bss, main().
// The linker scripts define the symbols.
#include "firmware/lib/csr.h"

    .section .text.start, "ax"
    .globl _start
    .type _start, @function
_start:
    csrw mstatus, zero
    csrw mie, zero
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, stack_top
    la t0, trap_stack_top
    csrw mscratch, t0
    la t0, trap_entry
    csrw mtvec, t0

    la a0, data_start           // copy .data from the image, unless it runs in place
    la a1, data_image
    la a2, data_end
    beq a0, a1, 2f
1:  bgeu a0, a2, 2f
    ld t0, 0(a1)
    sd t0, 0(a0)
    addi a0, a0, 8
    addi a1, a1, 8
    j 1b
2:  la a0, bss_start
    la a1, bss_end
3:  bgeu a0, a1, 4f
    sd zero, 0(a0)
    addi a0, a0, 8
    j 3b
4:  call main
    .globl main_returned
main_returned:                  // main() of a firmware does not return
    wfi
    j main_returned
    .size _start, . - _start
