/* SPDX-License-Identifier: Apache-2.0 */
/* Included in front of each source of a kernel module that get_riscv64.sh builds. gcc before 13
 * calls a function of libatomic to compare and swap one or two bytes on RISC-V, which kernels do
 * not have. */
#ifndef __ASSEMBLER__
#define __sync_bool_compare_and_swap(at, old, new) \
    ({                                             \
        __typeof__(*(at)) expected_ = (old);       \
        cmpxchg(at, expected_, new) == expected_;  \
    })
#endif
