// SPDX-License-Identifier: Apache-2.0
// A test payload: starts the watchdog and never services it.
#include "firmware/lib/console.h"
#include "firmware/lib/drivers/watchdog.h"
#include "firmware/lib/log.h"
#include "firmware/lib/timer.h"

int main(void) {
    console_init();
    timer_init();
    log_info("payload hang: waiting for the watchdog");
    watchdog_start(1000, 2000);
    for (;;) timer_sleep_us(1000000);
}
