// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/events.h"

#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/watchdog.h"
#include "firmware/lib/irq.h"
#include "firmware/lib/timer.h"

static volatile uint32_t raised;
static uint64_t due[EVENTS];  // 0: never

/// Precondition: interrupts are off.
static void set_alarm(void);

/// In the timer's interrupt.
static void raise_due(void) {
    const uint64_t now = timer_now_us();
    for (unsigned n = 0; n < EVENTS; ++n) {
        if (due[n] == 0 || due[n] > now) continue;
        due[n] = 0;
        raised |= 1u << n;
    }
    set_alarm();
}

static void set_alarm(void) {
    uint64_t first = UINT64_MAX;
    for (unsigned n = 0; n < EVENTS; ++n)
        if (due[n] != 0 && due[n] < first) first = due[n];
    timer_alarm(first, raise_due);
}

void event_raise(enum event event) {
    const unsigned long state = irq_save();
    raised |= event;
    irq_restore(state);
}

void event_raise_at(enum event event, uint64_t at_us) {
    const unsigned long state = irq_save();
    for (unsigned n = 0; n < EVENTS; ++n)
        if (event >> n & 1 && (due[n] == 0 || at_us < due[n])) due[n] = at_us == 0 ? 1 : at_us;
    set_alarm();
    irq_restore(state);
}

uint32_t event_wait(void) {
    for (;;) {
        // Interrupts are off so that no event is raised between the check and the sleep.
        const unsigned long state = irq_save();
        const uint32_t taken = raised;
        raised = 0;
        if (taken == 0) {
            watchdog_sleep();
            wait_for_interrupt();
        }
        irq_restore(state);
        if (taken != 0) return taken;
    }
}
