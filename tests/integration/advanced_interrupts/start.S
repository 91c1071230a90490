# SPDX-License-Identifier: Apache-2.0
# Runs main() on hart 0 and second() on hart 1, each with a stack of 4 KiB.
    .section .text.init
    .globl _start
_start:
    csrr  t0, mhartid
    la    sp, stacks
    addi  t1, t0, 1
    slli  t1, t1, 12
    add   sp, sp, t1
    la    t1, machine_trap
    csrw  mtvec, t1
    li    t1, -1
    csrw  pmpaddr0, t1
    li    t1, 0x1f
    csrw  pmpcfg0, t1
    bnez  t0, 1f
    call  main
1:  call  second
    j     1b

# void in_supervisor_mode(void (*function)(void)): calls it, and returns in machine mode by an ecall.
    .globl in_supervisor_mode
in_supervisor_mode:
    addi  sp, sp, -16
    sd    ra, 0(sp)
    csrw  mepc, a0
    li    t0, 0x1800
    csrc  mstatus, t0
    li    t0, 0x0800
    csrs  mstatus, t0
    la    ra, 2f
    mret
2:  ecall
    ld    ra, 0(sp)
    addi  sp, sp, 16
    ret

    .bss
    .balign 16
stacks:
    .space 2 * 4096
