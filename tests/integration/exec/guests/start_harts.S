# SPDX-License-Identifier: Apache-2.0
# Runs main(hart, device tree) on up to 32 harts, each with a stack of 4 KiB. The result of hart 0 is
# the exit status, by the tohost convention; the other harts wait at their end.
    .section .text.init
    .globl _start
_start:
    la    sp, stacks
    addi  t0, a0, 1
    slli  t0, t0, 12
    add   sp, sp, t0
    mv    s0, a0
    call  main
    bnez  s0, rest
    slli  a0, a0, 1
    ori   a0, a0, 1
    la    t0, tohost
    sd    a0, 0(t0)
rest:
    csrwi mie, 8  # MSIE: waits for a software interrupt
park:
    wfi
    j     park

    .section .tohost, "aw", @progbits
    .balign 4096
    .globl tohost, fromhost
tohost:
    .dword 0
fromhost:
    .dword 0
    .balign 4096

    .bss
    .balign 16
stacks:
    .space 32 * 4096
