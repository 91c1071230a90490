// SPDX-License-Identifier: Apache-2.0
// The machine timer of hart 0.
#pragma once

#include <trn/aclint_regs.h>

#include "firmware/lib/drivers/mmio.h"

/// mtime: both halves in one access, so it cannot be torn.
static inline uint64_t aclint_time(void) {
    return *(volatile uint64_t*)(uintptr_t)(MAP_ACLINT + TRN_ACLINT_MTIME_LO_OFFSET);
}

/// The machine timer interrupt is pending from mtime >= `time`.
static inline void aclint_set_timer(uint64_t time) {
    *(volatile uint64_t*)(uintptr_t)(MAP_ACLINT + TRN_ACLINT_MTIMECMP_LO_OFFSET(0)) = time;
}
