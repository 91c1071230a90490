// SPDX-License-Identifier: Apache-2.0
// Traps run on their own stack (mscratch holds its top), so that a stack overflow can be reported.
#include "firmware/lib/csr.h"

#define FRAME_SIZE (36 * 8)
#define FRAME_PC (32 * 8)
#define FRAME_CAUSE (33 * 8)
#define FRAME_VALUE (34 * 8)

    .section .text.trap_entry, "ax"
    .balign 4
    .globl trap_entry
    .type trap_entry, @function
trap_entry:
    csrrw sp, mscratch, sp
    addi sp, sp, -FRAME_SIZE
    sd x1, 1 * 8(sp)
    .irp r, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    sd x\r, \r * 8(sp)
    .endr
    csrr t0, mscratch
    sd t0, 2 * 8(sp)
    csrr t0, mepc
    sd t0, FRAME_PC(sp)
    csrr t0, mcause
    sd t0, FRAME_CAUSE(sp)
    csrr t0, mtval
    sd t0, FRAME_VALUE(sp)
    mv a0, sp
    call trap_dispatch
    ld t0, FRAME_PC(sp)
    csrw mepc, t0
    ld x1, 1 * 8(sp)
    .irp r, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ld x\r, \r * 8(sp)
    .endr
    addi sp, sp, FRAME_SIZE
    csrrw sp, mscratch, sp
    mret
    .size trap_entry, . - trap_entry
