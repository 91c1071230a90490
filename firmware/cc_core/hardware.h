// SPDX-License-Identifier: Apache-2.0
// The block around a CC-Core's hart: comparators, doorbell, timer, semaphores. Interrupts stay
// disabled: the hart sleeps in WFI, which a pending interrupt ends, and then polls the causes.
#pragma once

#include <stdint.h>
#include <trn/cc_core_regs.h>
#include <trn/semaphores_regs.h>

#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/mmio.h"

#define CC_CORE(reg) (MAP_CC_CONTROL + TRN_CC_CORE_##reg##_OFFSET)
#define CC_CORE_AT(reg, index) (MAP_CC_CONTROL + TRN_CC_CORE_##reg##_OFFSET(index))
#define CC_SYNC(reg, index) (MAP_CC_SYNC + TRN_SEMAPHORES_##reg##_OFFSET(index))

/// Nanoseconds since the simulation began, from the time CSR.
static inline uint64_t time_ns(void) {
    return csr_read(time);
}

static inline int32_t semaphore_value(unsigned index) {
    return (int32_t)mmio_read(CC_SYNC(SEMAPHORE_READ, index));
}
static inline void semaphore_take(unsigned index, uint32_t amount) {
    mmio_write(CC_SYNC(SEMAPHORE_DECREMENT, index), amount);
}
static inline void semaphore_add(unsigned index, uint32_t amount) {
    mmio_write(CC_SYNC(SEMAPHORE_INCREMENT, index), amount);
}
static inline void semaphore_clear(unsigned index) {
    mmio_write(CC_SYNC(SEMAPHORE_SET, index), 0);
}

/// Arms a comparator: it ends the sleep once the semaphore is at least `value`.
static inline void match_arm(unsigned comparator, unsigned semaphore, uint32_t value) {
    mmio_write(CC_CORE_AT(MATCH_VALUE, comparator), value);
    mmio_write(
        CC_CORE_AT(MATCH_CONTROL, comparator),
        TRN_CC_CORE_MATCH_CONTROL_ENABLE_MASK | TRN_CC_CORE_MATCH_CONTROL_SEMAPHORE_SET(semaphore));
}
static inline void match_disarm(unsigned comparator) {
    mmio_write(CC_CORE_AT(MATCH_CONTROL, comparator), 0);
}

/// Ends the sleep at time `at_ns`; UINT64_MAX: never.
static inline void timer_set(uint64_t at_ns) {
    mmio_write(CC_CORE(TIMER_HI), 0xffffffff);  // no early match between the two halves
    mmio_write(CC_CORE(TIMER_LO), (uint32_t)at_ns);
    mmio_write(CC_CORE(TIMER_HI), (uint32_t)(at_ns >> 32));
}
