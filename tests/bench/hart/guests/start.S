# SPDX-License-Identifier: Apache-2.0
# Runs main() on hart 0 with a stack; its result is the exit status, by the tohost convention.
    .section .text.init
    .globl _start
_start:
    csrr  t0, mhartid
    bnez  t0, park
    la    sp, stack_top
    call  main
    slli  a0, a0, 1
    ori   a0, a0, 1
    la    t0, tohost
    sd    a0, 0(t0)
park:
    j     park

    .section .tohost, "aw", @progbits
    .balign 4096
    .globl tohost, fromhost
    .type tohost, @object
    .type fromhost, @object
tohost:
    .dword 0
    .size tohost, 8
fromhost:
    .dword 0
    .size fromhost, 8
    .balign 4096
