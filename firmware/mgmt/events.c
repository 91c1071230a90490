// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/events.h"

#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/watchdog.h"
#include "firmware/lib/irq.h"

static volatile uint32_t raised;

void event_raise(enum event event) {
    raised |= event;
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
