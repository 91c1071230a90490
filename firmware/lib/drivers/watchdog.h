// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <trn/watchdog_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define WATCHDOG(reg) (MAP_WATCHDOG + TRN_WATCHDOG_##reg##_OFFSET)

/// From now on watchdog_service() must come every `bark_us` (interrupt), `bite_us` at the latest
/// (chip reset). Cannot be undone by software that went wrong.
static inline void watchdog_start(uint32_t bark_us, uint32_t bite_us) {
    mmio_write(WATCHDOG(BARK_TIME), bark_us);
    mmio_write(WATCHDOG(BITE_TIME), bite_us);
    mmio_write(WATCHDOG(CONTROL),
               TRN_WATCHDOG_CONTROL_ENABLE_MASK | TRN_WATCHDOG_CONTROL_LOCK_MASK);
}
/// Before a sleep in which nothing is left to do: the watchdog waits too, until the processor wakes
/// or the host wants something. Any other sleep counts.
static inline void watchdog_sleep(void) {
    mmio_write(WATCHDOG(SERVICE), TRN_WATCHDOG_SERVICE_KEY_SLEEP);
}
static inline void watchdog_service(void) {
    mmio_write(WATCHDOG(SERVICE), TRN_WATCHDOG_SERVICE_KEY_VALUE);
}
