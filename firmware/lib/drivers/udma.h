// SPDX-License-Identifier: Apache-2.0
// State of DMA engines. `engine`: AXI address of its registers.
#pragma once

#include <trn/udma_regs.h>

#include "firmware/lib/drivers/mmio.h"

enum udma_state {
    UDMA_IDLE = TRN_UDMA_M2S_STATE_COMPLETION_IDLE,
    UDMA_NORMAL = TRN_UDMA_M2S_STATE_COMPLETION_NORMAL,
    UDMA_ABORT = TRN_UDMA_M2S_STATE_COMPLETION_ABORT,
};

/// The state registers of an engine, a nibble per stage (contract section 6.1).
struct udma_states {
    uint32_t m2s, s2m;
};
/// False: no response.
static inline bool udma_read_states(uint64_t engine, struct udma_states* states) {
    return axi_read_word(engine + TRN_UDMA_M2S_STATE_OFFSET, &states->m2s) &&
           axi_read_word(engine + TRN_UDMA_S2M_STATE_OFFSET, &states->s2m);
}
/// Whether any stage is in `state`.
static inline bool udma_any_stage(uint32_t state_register, enum udma_state state) {
    for (unsigned shift = 0; shift < 16; shift += 4)
        if ((state_register >> shift & 3) == (uint32_t)state) return true;
    return false;
}
static inline bool udma_aborted(const struct udma_states* states) {
    return udma_any_stage(states->m2s, UDMA_ABORT) || udma_any_stage(states->s2m, UDMA_ABORT);
}
/// Acknowledges an abort, which lowers the interrupt until the next one, and reads the states.
/// False: the engine has none to acknowledge, or does not respond.
static inline bool udma_take_abort(uint64_t engine, struct udma_states* states) {
    uint32_t event = 0;
    return axi_read_word(engine + TRN_UDMA_ABORT_EVENT_OFFSET, &event) && event != 0 &&
           axi_write_word(engine + TRN_UDMA_ABORT_EVENT_OFFSET, event) &&
           udma_read_states(engine, states);
}
