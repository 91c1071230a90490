# SPDX-License-Identifier: Apache-2.0
# FS off: illegal. A write of fcsr or of a register makes FS dirty and sets SD, also in sstatus;
# flags accumulate.
#include "expect.h"
begin
    on_trap 2f
    li t0, MSTATUS_FS
    csrc mstatus, t0
    csrr t1, fcsr
    j unexpected
2:  check 1, s2, ILLEGAL
    on_trap 2f
    fmv.d.x fa0, zero
    j unexpected
2:  check 2, s2, ILLEGAL
    csrr s6, mstatus
    srli s6, s6, 63
    check 3, s6, 0
    on_trap unexpected
    li t0, 0x2000               # initial
    csrs mstatus, t0
    csrwi fflags, 0
    csrr s6, mstatus
    srli s7, s6, 63
    check 4, s7, 1
    srli s6, s6, 13
    andi s6, s6, 3
    check 5, s6, 3
    csrr s6, sstatus
    srli s6, s6, 63
    check 6, s6, 1
    li t0, 1
    fcvt.d.l fa0, t0
    fmv.d.x fa1, zero
    fdiv.d fa2, fa0, fa1        # DZ
    fsub.d fa3, fa2, fa2        # NV
    csrr t1, fflags
    check 7, t1, 0x18
    li t0, -1
    csrw fcsr, t0
    csrr t1, fcsr
    check 8, t1, 0xff
    li t0, 0x20                 # rounding mode 1 in frm
    csrw fcsr, t0
    csrr t1, frm
    check 9, t1, 1
    # A reserved dynamic rounding mode is illegal where it is used.
    li t0, 5
    csrw frm, t0
    on_trap 2f
    fadd.d fa0, fa0, fa0
    j unexpected
2:  check 10, s2, ILLEGAL
    j pass
finish
