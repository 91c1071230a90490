// SPDX-License-Identifier: Apache-2.0
// The interrupt controller, context 0: machine mode of hart 0.
#pragma once

#include <trn/plic_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define PLIC_CONTEXT 0
#define PLIC_PRIORITY(source) (MAP_PLIC + TRN_PLIC_PRIORITY_OFFSET(source))
#define PLIC_ENABLE(source) (MAP_PLIC + TRN_PLIC_ENABLE_OFFSET(PLIC_CONTEXT, (source) / 32))
#define PLIC_THRESHOLD (MAP_PLIC + TRN_PLIC_CONTEXT_THRESHOLD_OFFSET(PLIC_CONTEXT))
#define PLIC_CLAIM (MAP_PLIC + TRN_PLIC_CONTEXT_CLAIM_OFFSET(PLIC_CONTEXT))

static inline void plic_enable(unsigned source) {
    mmio_write(PLIC_PRIORITY(source), 1);
    mmio_set(PLIC_ENABLE(source), 1u << source % 32);
}
/// Sets the priority to 0. Clearing the enable bit instead would make the PLIC ignore the
/// completion of a handler that is still running (PLIC 1.0.0 chapter 9).
static inline void plic_disable(unsigned source) {
    mmio_write(PLIC_PRIORITY(source), 0);
}
static inline void plic_init(void) {
    for (unsigned source = 0; source <= IRQ_SOURCES; source += 32)
        mmio_write(PLIC_ENABLE(source), 0);
    mmio_write(PLIC_THRESHOLD, 0);
}
static inline unsigned plic_claim(void) {
    return mmio_read(PLIC_CLAIM);
}
static inline void plic_complete(unsigned source) {
    mmio_write(PLIC_CLAIM, source);
}
