// SPDX-License-Identifier: Apache-2.0
// Firmware's registers of the reset word of the simulator revision (255): contract section 2.
#pragma once

#include <trn/sim_reset_firmware_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define SIMULATOR_RESET(reg) (MAP_SIMULATOR_RESET + TRN_SIM_RESET_FIRMWARE_##reg##_OFFSET)

static inline bool simulator_reset_is_pending(void) {
    return mmio_read(SIMULATOR_RESET(PENDING)) != 0;
}
/// The reset map that the host requests; 0: the whole device.
static inline uint32_t simulator_reset_map(void) {
    return mmio_read(SIMULATOR_RESET(MAP));
}
/// Clears the host's reset word, which ends the request.
static inline void simulator_reset_finish(void) {
    mmio_write(SIMULATOR_RESET(MAP), 0);
}
