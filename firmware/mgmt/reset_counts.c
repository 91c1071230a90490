// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/reset_counts.h"

#include "firmware/lib/drivers/reset_controller.h"
#include "firmware/mgmt/misc_ram.h"

static uint32_t start_causes;

void reset_counts_init(uint32_t causes) {
    start_causes = causes;
    reset_counts_publish();
}

/// The host cannot write the scratch word, and it stays over a restart of the chip.
void reset_counts_add(void) {
    const uint32_t count = mmio_read(RESET_CONTROLLER_SCRATCH(DEVICE_RESETS));
    mmio_write(RESET_CONTROLLER_SCRATCH(DEVICE_RESETS), count + 1);
}

void reset_counts_publish(void) {
    const uint32_t restarts = mmio_read(RESET_CONTROLLER(RESET_COUNT));
    const uint32_t resets = mmio_read(RESET_CONTROLLER_SCRATCH(DEVICE_RESETS));
    misc_ram_write(
        MISC_RAM(RESETS),
        TRN_MISC_RAM_RESETS_CAUSES_SET(start_causes) |
            TRN_MISC_RAM_RESETS_CHIP_SET(at_most(restarts, TRN_MISC_RAM_RESETS_CHIP_GET(~0u))) |
            TRN_MISC_RAM_RESETS_DEVICE_SET(at_most(resets, TRN_MISC_RAM_RESETS_DEVICE_GET(~0u))));
}
