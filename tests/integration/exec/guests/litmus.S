# SPDX-License-Identifier: Apache-2.0
# Litmus tests of two harts. Each part gets the addresses of x and y, which are 0, in a0 and a1, and
# returns what it has read in a0 and a1.
    .macro part name
    .globl \name
\name:
    mv    t0, a0
    mv    t1, a1
    li    t2, 1
    li    t3, 2
    li    a0, 0
    li    a1, 0
    .endm

    .text
    part mp_0
    sd    t2, 0(t0)  # x = 1
    sd    t2, 0(t1)  # y = 1
    ret
    part mp_1
    ld    a0, 0(t1)
    ld    a1, 0(t0)
    ret

    part mp_fences_0
    sd    t2, 0(t0)
    fence w, w
    sd    t2, 0(t1)
    ret
    part mp_fences_1
    ld    a0, 0(t1)
    fence r, r
    ld    a1, 0(t0)
    ret

    part sb_0
    sd    t2, 0(t0)
    ld    a0, 0(t1)
    ret
    part sb_1
    sd    t2, 0(t1)
    ld    a0, 0(t0)
    ret

    part sb_fences_0
    sd    t2, 0(t0)
    fence w, r
    ld    a0, 0(t1)
    ret
    part sb_fences_1
    sd    t2, 0(t1)
    fence w, r
    ld    a0, 0(t0)
    ret

    part lb_0
    ld    a0, 0(t0)
    sd    t2, 0(t1)
    ret
    part lb_1
    ld    a0, 0(t1)
    sd    t2, 0(t0)
    ret

    part corr_0
    sd    t2, 0(t0)
    ret
    part corr_1
    ld    a0, 0(t0)
    ld    a1, 0(t0)
    ret

    part s_0
    sd    t3, 0(t0)
    sd    t2, 0(t1)
    ret
    part s_1
    ld    a0, 0(t1)
    sd    t2, 0(t0)
    ret

    part r_0
    sd    t2, 0(t0)
    sd    t2, 0(t1)
    ret
    part r_1
    sd    t3, 0(t1)
    ld    a0, 0(t0)
    ret

    part two_writes_0
    sd    t2, 0(t0)
    sd    t3, 0(t1)
    ret
    part two_writes_1
    sd    t2, 0(t1)
    sd    t3, 0(t0)
    ret

# LR and SC around a store of the other hart, which stores the value that is there.
    part equal_store_0
    lr.d  a1, (t0)
    sd    t2, 0(t1)
    sc.d  a0, t3, (t0)
    ret
    part equal_store_1
    ld    a0, 0(t1)
    sd    zero, 0(t0)
    ret

# The same with an AMO that does not change the word.
    part equal_amo_0
    lr.d  a1, (t0)
    sd    t2, 0(t1)
    sc.d  a0, t3, (t0)
    ret
    part equal_amo_1
    ld    a0, 0(t1)
    amoand.d zero, zero, (t0)
    ret
