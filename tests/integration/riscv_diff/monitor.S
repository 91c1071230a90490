# SPDX-License-Identifier: Apache-2.0
# Runs random code in all privilege modes and writes down every trap. The test fills in `parameters`,
# `code`, `data` and `tables`; at the end everything recorded goes to the UART of QEMU's virt machine.
#
# Random code keeps x24 (data), x25 (a bad address), x26 (a place in data) and x27 (number of the
# current chunk of 128 bytes). A trap goes on behind the instruction, or with the next chunk when
# there is no instruction.

#define CHUNK_SHIFT   7
#define UART          0x10000000
#define POWER         0x100000
#define OFF           0x5555
// Offsets in s_save.
#define S_HASH        64
#define S_LAST        72
#define S_BASE        80
#define S_BASES       88

# A fault of an AMO is one of a store (Priv. 3.1.15); QEMU 7.2 reports loads for some. \code is where
# the code can be read; clobbered.
    .macro AMO_IS_STORE cause, pc, code, scratch
    slli  \scratch, \pc, 48
    srli  \scratch, \scratch, 48
    add   \code, \code, \scratch
    lbu   \code, 0(\code)
    andi  \code, \code, 0x7f
    addi  \code, \code, -0x2f
    bnez  \code, 9f
    slti  \code, \cause, 4
    bnez  \code, 9f
    ori   \cause, \cause, 2
9:
    .endm

    .section .text.init, "ax"
    .globl _start
_start:
    la    t0, m_trap
    csrw  mtvec, t0
    la    t0, s_trap
    csrw  stvec, t0
    la    t0, m_save
    csrw  mscratch, t0
    la    t0, s_save
    csrw  sscratch, t0
    la    t0, parameters
    ld    t1, 0(t0)
    csrw  pmpaddr0, t1
    ld    t1, 8(t0)
    csrw  pmpaddr1, t1
    ld    t1, 16(t0)
    csrw  pmpaddr2, t1
    ld    t1, 24(t0)
    csrw  pmpaddr3, t1
    ld    t1, 32(t0)
    csrw  pmpcfg0, t1
    ld    t1, 40(t0)
    csrw  satp, t1
    sfence.vma
    ld    t1, 48(t0)
    csrw  medeleg, t1
    ld    t1, 56(t0)
    csrs  mstatus, t1
    # As after a trap: saved registers, then choose where to go.
    la    sp, m_save
    la    t1, registers
    li    t2, 31
1:  ld    t3, 0(t1)
    addi  sp, sp, 8
    sd    t3, 0(sp)
    addi  t1, t1, 8
    addi  t2, t2, -1
    bnez  t2, 1b
    la    sp, m_save
    li    s2, 0
    j     go_on

    .balign 4
m_trap:
    csrrw sp, mscratch, sp
    sd    x1, 8(sp)
    .irp  r, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    sd    x\r, 8*\r(sp)
    .endr
    csrr  t0, mscratch
    sd    t0, 16(sp)
    la    t0, m_save
    csrw  mscratch, t0

    la    s0, trace_end            # record: cause, pc, value, status, x1 to x31
    ld    s1, 0(s0)
    csrr  t0, mcause
    csrr  t1, mepc
    la    t3, code
    AMO_IS_STORE t0, t1, t3, t5
    sd    t0, 0(s1)
    sd    t1, 8(s1)
    csrr  t2, mtval
    li    t3, 3                    # breakpoint: mtval may be 0 or the pc
    bne   t0, t3, 1f
    li    t2, 0
1:  sd    t2, 16(s1)
    csrr  t2, mstatus
    li    t3, 0x7e79aa             # what is not floating point or length
    and   t2, t2, t3
    sd    t2, 24(s1)
    addi  s1, s1, 32
    addi  t3, sp, 8
    addi  t4, sp, 8*32
2:  ld    t5, 0(t3)
    sd    t5, 0(s1)
    addi  s1, s1, 8
    addi  t3, t3, 8
    bne   t3, t4, 2b
    sd    s1, 0(s0)

    ld    s3, 8*27(sp)
    la    t3, parameters
    ld    t4, 64(t3)               # number of the last chunk
    beq   s3, t4, finish
    # Behind the instruction, when there is one: causes 0, 1 and 12 are of the fetch.
    beqz  t0, 3f
    li    t3, 1
    beq   t0, t3, 3f
    li    t3, 12
    beq   t0, t3, 3f
    slli  s2, t1, 48
    srli  s2, s2, 48
    la    t3, code
    add   t3, t3, s2
    lhu   t4, 0(t3)
    andi  t4, t4, 3
    addi  s2, s2, 2
    addi  t4, t4, -3
    bnez  t4, go_on
    addi  s2, s2, 2
    j     go_on
3:  addi  s2, s3, 1
    slli  s2, s2, CHUNK_SHIFT

go_on:                             # to offset s2 of the code, in the mode that comes next
    la    s0, parameters
    ld    t0, 72(s0)               # traps so far
    addi  t1, t0, 1
    sd    t1, 72(s0)
    andi  t0, t0, 255
    la    t1, modes
    add   t1, t1, t0
    lbu   t1, 0(t1)                # bits 1:0 mode, bit 7: MPRV
    andi  t2, t1, 3
    slli  t3, t2, 3
    la    t4, bases
    add   t4, t4, t3
    ld    t4, 0(t4)
    add   t4, t4, s2
    csrw  mepc, t4
    li    t3, 0x21800              # MPRV, MPP
    csrc  mstatus, t3
    slli  t2, t2, 11
    csrs  mstatus, t2
    andi  t1, t1, 0x80
    slli  t1, t1, 10
    la    sp, m_save
    ld    x1, 8(sp)
    .irp  r, 3,4,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    ld    x\r, 8*\r(sp)
    .endr
    # MPRV takes effect at once and MPP is what it says: from M to M it is harmless.
    ld    x5, 8*5(sp)
    csrs  mstatus, t1
    bnez  t1, 4f
    ld    x6, 8*6(sp)
    ld    sp, 16(sp)
    mret
4:  ld    x6, 8*6(sp)
    ld    sp, 16(sp)
    mret

finish:
    la    s0, m_save
    la    s1, m_save_end
    call  print
    la    s0, s_hash
    addi  s1, s0, 8
    call  print
    la    s0, data
    la    s1, data_end
    call  print
    la    s0, trace
    la    t0, trace_end
    ld    s1, 0(t0)
    call  print
    li    t0, POWER
    li    t1, OFF
    sw    t1, 0(t0)
5:  j     5b

print:
    li    t0, UART
6:  lbu   t1, 0(s0)
    sb    t1, 0(t0)
    addi  s0, s0, 1
    bltu  s0, s1, 6b
    ret

    .balign 4096
s_trap:
    csrrw sp, sscratch, sp
    sd    t0, 8(sp)
    sd    t1, 16(sp)
    sd    t2, 24(sp)
    sd    t3, 32(sp)
    ld    t0, S_HASH(sp)
    slli  t1, t0, 5
    add   t0, t0, t1
    csrr  t1, scause
    csrr  t2, sepc
    ld    t3, S_BASE(sp)
    sd    s11, 40(sp)
    AMO_IS_STORE t1, t2, t3, s11
    ld    s11, 40(sp)
    csrr  t2, stval
    li    t3, 3
    bne   t1, t3, 1f
    li    t2, 0
1:  xor   t0, t0, t2
    slli  t2, t0, 7
    srli  t0, t0, 57
    or    t0, t0, t2
    xor   t0, t0, t1
    csrr  t2, sepc
    add   t0, t0, t2
    csrr  t2, sstatus
    li    t3, 0xc0122
    and   t2, t2, t3
    slli  t2, t2, 20
    xor   t0, t0, t2
    sd    t0, S_HASH(sp)
    ld    t0, S_LAST(sp)
    beq   x27, t0, 4f
    # The code as S sees it; as the interrupted mode sees it.
    beqz  t1, 2f
    li    t0, 1
    beq   t1, t0, 2f
    li    t0, 12
    beq   t1, t0, 2f
    csrr  t0, sepc
    slli  t0, t0, 48
    srli  t0, t0, 48
    ld    t1, S_BASE(sp)
    add   t1, t1, t0
    lhu   t1, 0(t1)
    andi  t1, t1, 3
    addi  t1, t1, -3
    addi  t0, t0, 2
    bnez  t1, 3f
    addi  t0, t0, 2
    j     3f
2:  addi  t0, x27, 1
    slli  t0, t0, CHUNK_SHIFT
3:  csrr  t1, sstatus
    andi  t1, t1, 0x100
    srli  t1, t1, 5
    add   t1, t1, sp
    ld    t1, S_BASES(t1)
    add   t0, t0, t1
    csrw  sepc, t0
    ld    t0, 8(sp)
    ld    t1, 16(sp)
    ld    t2, 24(sp)
    ld    t3, 32(sp)
    csrrw sp, sscratch, sp
    sret
4:  ecall
    j     4b

    .section .data, "aw"
    .globl parameters, registers, modes, bases, s_base, s_bases, last_chunk
    .balign 4096
s_save:     .zero 64
s_hash:     .dword 0
last_chunk: .dword 0
s_base:     .dword 0
s_bases:    .zero 16               # U, S
    .balign 4096
parameters: .zero 128              # pmpaddr0..3, pmpcfg0, satp, medeleg, mstatus, last chunk, traps
registers:  .zero 31 * 8           # x1 on
bases:      .zero 32               # of the code, by mode
modes:      .zero 256
m_save:     .zero 32 * 8
m_save_end:
trace_end:  .dword trace

    .globl code, data, tables
    .section .code, "aw"
code:       .zero 0x10000
    .section .testdata, "aw"
data:       .zero 0x4000
data_end:
    .section .tables, "aw"
tables:     .zero 0x8000
    .section .trace, "aw", @nobits
trace:      .zero 0x100000
