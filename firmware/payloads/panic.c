// SPDX-License-Identifier: Apache-2.0
// A test payload: shows what a panic looks like. Stores where nothing is.
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
