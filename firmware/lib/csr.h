// SPDX-License-Identifier: Apache-2.0
// Control and status registers (RISC-V privileged specification).
#pragma once

#define MSTATUS_MIE (1ul << 3)
#define MIE_MSIE (1ul << 3)
#define MIE_MTIE (1ul << 7)
#define MIE_MEIE (1ul << 11)

#define MCAUSE_INTERRUPT (1ul << 63)
#define MCAUSE_MACHINE_TIMER (MCAUSE_INTERRUPT | 7)
#define MCAUSE_MACHINE_EXTERNAL (MCAUSE_INTERRUPT | 11)
#define MCAUSE_LOAD_ACCESS_FAULT 5
#define MCAUSE_STORE_ACCESS_FAULT 7

#define PMPCFG_LOCK 0x80
#define PMPCFG_NAPOT 0x18

#ifndef __ASSEMBLER__
#define csr_read(name)                                      \
    ({                                                      \
        unsigned long value_;                               \
        __asm__ volatile("csrr %0, " #name : "=r"(value_)); \
        value_;                                             \
    })
#define csr_write(name, value) __asm__ volatile("csrw " #name ", %0" ::"rK"(value) : "memory")
#define csr_set(name, bits) __asm__ volatile("csrs " #name ", %0" ::"rK"(bits) : "memory")
#define csr_clear(name, bits) __asm__ volatile("csrc " #name ", %0" ::"rK"(bits) : "memory")

/// Stops the clock of the hart until an enabled interrupt is pending, even while MIE is clear.
static inline void wait_for_interrupt(void) {
    __asm__ volatile("wfi" ::: "memory");
}
#endif
