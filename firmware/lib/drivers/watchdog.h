// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <trn/watchdog_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define WATCHDOG(reg) (MAP_WATCHDOG + TRN_WATCHDOG_##reg##_OFFSET)

/// Starts the watchdog and locks it on. Without watchdog_service() it interrupts after `bark_us`
/// and resets the chip after `bite_us`.
static inline void watchdog_start(uint32_t bark_us, uint32_t bite_us) {
    mmio_write(WATCHDOG(BARK_TIME), bark_us);
    mmio_write(WATCHDOG(BITE_TIME), bite_us);
    mmio_write(WATCHDOG(CONTROL),
               TRN_WATCHDOG_CONTROL_ENABLE_MASK | TRN_WATCHDOG_CONTROL_LOCK_MASK);
}
/// Pauses the watchdog for an idle sleep, until the processor wakes or the host raises a request.
/// Other sleeps count towards the time-outs.
static inline void watchdog_sleep(void) {
    mmio_write(WATCHDOG(SERVICE), TRN_WATCHDOG_SERVICE_KEY_SLEEP);
}
static inline void watchdog_service(void) {
    mmio_write(WATCHDOG(SERVICE), TRN_WATCHDOG_SERVICE_KEY_VALUE);
}
