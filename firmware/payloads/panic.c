// SPDX-License-Identifier: Apache-2.0
// A test payload: stores to an unmapped address, which causes a panic.
#include "firmware/lib/console.h"
#include "firmware/lib/log.h"
#include "firmware/lib/timer.h"

int main(void) {
    console_init();
    timer_init();
    log_info("payload panic: storing to a hole");
    *(volatile int*)0x70000000 = 1;
    for (;;) timer_sleep_us(1000000);
}
