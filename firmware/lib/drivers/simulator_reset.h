// SPDX-License-Identifier: Apache-2.0
// The firmware's side of the reset word that the simulator revision (255) uses: contract section 2.
#pragma once

#include <trn/sim_reset_firmware_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define SIMULATOR_RESET(reg) (MAP_SIMULATOR_RESET + TRN_SIM_RESET_FIRMWARE_##reg##_OFFSET)

static inline bool simulator_reset_is_pending(void) {
    return mmio_read(SIMULATOR_RESET(PENDING)) != 0;
}
/// What the host asks for: a reset map, 0 for the whole device.
static inline uint32_t simulator_reset_map(void) {
    return mmio_read(SIMULATOR_RESET(MAP));
}
/// Lets the host see that it is done.
static inline void simulator_reset_finish(void) {
    mmio_write(SIMULATOR_RESET(MAP), 0);
}
