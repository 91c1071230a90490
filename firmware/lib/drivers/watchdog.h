// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <trn/watchdog_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define WATCHDOG(reg) (MAP_WATCHDOG + TRN_WATCHDOG_##reg##_OFFSET)

static inline void watchdog_service(void) {
    mmio_write(WATCHDOG(SERVICE), TRN_WATCHDOG_SERVICE_KEY_VALUE);
}
/// Starts the watchdog, or gives a running one new times, and locks it on. Without
/// watchdog_service() it interrupts after `bark_us` and resets the chip after `bite_us`.
static inline void watchdog_start(uint32_t bark_us, uint32_t bite_us) {
    watchdog_service();  // the boot ROM has started it: the new times count from here
    mmio_write(WATCHDOG(BARK_TIME), bark_us);
    mmio_write(WATCHDOG(BITE_TIME), bite_us);
    mmio_write(WATCHDOG(CONTROL),
               TRN_WATCHDOG_CONTROL_ENABLE_MASK | TRN_WATCHDOG_CONTROL_LOCK_MASK);
}
/// For the boot ROM: the chip is reset after `bite_us`, unless the image that it starts services,
/// starts or stops the watchdog.
static inline void watchdog_start_unlocked(uint32_t bite_us) {
    mmio_write(WATCHDOG(BITE_TIME), bite_us);
    mmio_write(WATCHDOG(CONTROL), TRN_WATCHDOG_CONTROL_ENABLE_MASK);
}
/// Without effect once it is locked.
static inline void watchdog_stop(void) {
    mmio_write(WATCHDOG(CONTROL), 0);
}
/// Pauses the watchdog for an idle sleep, until the processor wakes or the host raises a request.
/// Other sleeps count towards the timeouts.
static inline void watchdog_sleep(void) {
    mmio_write(WATCHDOG(SERVICE), TRN_WATCHDOG_SERVICE_KEY_SLEEP);
}
