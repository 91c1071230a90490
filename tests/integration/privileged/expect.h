/* SPDX-License-Identifier: Apache-2.0
   Frame of a program that provokes traps and checks what they report. A trap continues in machine
   mode at the address in s11, with its cause, value and program counter in s2, s3 and s4, and
   mstatus as the trap left it in s5; interrupts are off then. The exit status is 0, or the number
   of the check that failed. Registers a0, t5, t6 and s2 to s5 belong to the frame. */
/* clang-format off */
#define MSTATUS_SUM  0x00040000
#define MSTATUS_MPRV 0x00020000
#define MSTATUS_MPP  0x00001800
#define MSTATUS_MPIE 0x00000080
#define MSTATUS_TVM  0x00100000
#define MSTATUS_TW   0x00200000
#define MSTATUS_FS   0x00006000
#define USER         0x0000
#define SUPERVISOR   0x0800
#define MACHINE      0x1800

#define FETCH_ACCESS 1
#define ILLEGAL 2
#define BREAKPOINT 3
#define LOAD_ACCESS 5
#define STORE_ACCESS 7
#define SUPERVISOR_CALL 9
#define FETCH_PAGE 12
#define LOAD_PAGE 13
#define STORE_PAGE 15

/* Page-table entry of the page or table at a symbol; FLAGS as in the entry. */
#define V 0x01
#define R 0x02
#define W 0x04
#define X 0x08
#define U 0x10
#define A 0x40
#define D 0x80
.macro set_entry table, index, symbol, flags
    la t0, \symbol
    srli t0, t0, 2
    ori t0, t0, \flags
    la t1, \table
    li t2, \index * 8
    add t1, t1, t2
    sd t0, (t1)
.endm

/* Sv39: addresses from 0x80000000 on are themselves, 0x0 to 0x1fffff are the entries of `leaves`. */
.macro use_page_tables
    set_entry root, 0, branches, V
    set_entry branches, 0, leaves, V
    li t0, (0x80000000 >> 2) | V | R | W | X | A | D
    la t1, root
    sd t0, 16(t1)
    la t0, root
    srli t0, t0, 12
    li t1, 8 << 60
    or t0, t0, t1
    csrw satp, t0
    sfence.vma
.endm

/* Lets supervisor and user mode access everything, by the last PMP entry. */
.macro open_pmp
    li t0, -1
    csrw pmpaddr15, t0
    li t0, 0x1f << 56
    csrw pmpcfg2, t0
.endm

/* Continues at LABEL in MODE. */
.macro enter mode, label
    li t6, MSTATUS_MPP
    csrc mstatus, t6
    li t6, \mode
    csrs mstatus, t6
    la t6, \label
    csrw mepc, t6
    mret
.endm

.macro on_trap label
    la s11, \label
.endm

.macro check number, register, value
    li a0, \number
    li t5, \value
    bne \register, t5, end
.endm

.macro check_equal number, register, other
    li a0, \number
    bne \register, \other, end
.endm

.macro check_address number, register, symbol
    la t5, \symbol
    check_equal \number, \register, t5
.endm

.macro begin
    .text
    .globl _start
_start:
    la t0, trap
    csrw mtvec, t0
    la s11, unexpected
.endm

.macro finish
pass:
    li a0, 0
end:
    csrw satp, zero
    slli a0, a0, 1
    ori a0, a0, 1
    la t0, tohost
    sd a0, (t0)
1:  j 1b
    .balign 4
trap:
    csrr s2, mcause
    csrr s3, mtval
    csrr s4, mepc
    csrr s5, mstatus
    li t6, MSTATUS_MPRV | MSTATUS_MPIE
    csrc mstatus, t6
    li t6, MSTATUS_MPP
    csrs mstatus, t6
    csrw mepc, s11
    mret
unexpected:
    li a0, 99
    j end

    .section .tohost, "aw"
    .balign 64
    .globl tohost, fromhost
tohost: .dword 0
    .balign 64
fromhost: .dword 0

    .data
    .balign 4096
root: .zero 4096
branches: .zero 4096
leaves: .zero 4096
page: .zero 4096
next_page: .zero 4096
.endm
