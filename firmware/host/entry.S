// SPDX-License-Identifier: Apache-2.0
// First instructions of each hart of a server. Hart 0 runs main(); the others sleep until it sends
// them a software interrupt, then start the same image.
#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/memory_map.h"

#define SOFTWARE_INTERRUPT (1 << 3)  // of mie and mip

    .section .text.entry, "ax"
    .globl entry
    .type entry, @function
entry:
    csrr a0, mhartid
    beqz a0, _start
    csrwi mie, SOFTWARE_INTERRUPT
1:  wfi
    csrr t0, mip
    andi t0, t0, SOFTWARE_INTERRUPT
    beqz t0, 1b
    csrwi mie, 0
    li t0, MAP_ACLINT           // its MSIP
    slli t1, a0, 2
    add t0, t0, t1
    sw zero, 0(t0)
    .option push
    .option norelax             // only hart 0 has a global pointer
    la t0, host_start
    .option pop
    ld a1, 8(t0)
    ld a2, 16(t0)
    ld t0, 0(t0)
    fence.i
    jr t0
    .size entry, . - entry
