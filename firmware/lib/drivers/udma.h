// SPDX-License-Identifier: Apache-2.0
// State of DMA engines. `engine`: AXI address of its registers.
#pragma once

#include <trn/udma_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define UDMA(engine, reg) (axi(engine) + TRN_UDMA_##reg##_OFFSET)

enum udma_state {
    UDMA_IDLE = TRN_UDMA_M2S_STATE_COMPLETION_IDLE,
    UDMA_NORMAL = TRN_UDMA_M2S_STATE_COMPLETION_NORMAL,
    UDMA_ABORT = TRN_UDMA_M2S_STATE_COMPLETION_ABORT,
};

/// Whether any stage is in `state`. State registers have a nibble per stage (contract section 6.1).
static inline bool udma_any_stage(uint32_t state_register, enum udma_state state) {
    for (unsigned shift = 0; shift < 16; shift += 4)
        if ((state_register >> shift & 3) == (uint32_t)state) return true;
    return false;
}
static inline uint32_t udma_m2s_state(uint64_t engine) {
    return mmio_read(UDMA(engine, M2S_STATE));
}
static inline uint32_t udma_s2m_state(uint64_t engine) {
    return mmio_read(UDMA(engine, S2M_STATE));
}
static inline bool udma_aborted(uint64_t engine) {
    return udma_any_stage(udma_m2s_state(engine), UDMA_ABORT) ||
           udma_any_stage(udma_s2m_state(engine), UDMA_ABORT);
}
