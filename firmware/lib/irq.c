// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/irq.h"

#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/memory_map.h"
#include "firmware/lib/drivers/plic.h"

static irq_handler handlers[IRQ_SOURCES + 1];
static volatile bool held[IRQ_SOURCES + 1];

void irq_init(void) {
    plic_init();
    csr_set(mie, MIE_MEIE);
}

void irq_enable(unsigned source, irq_handler handler) {
    handlers[source] = handler;
    plic_enable(source);
}

void irq_disable(unsigned source) {
    plic_disable(source);
}

/// The PLIC forwards no further request of a source until its completion.
void irq_hold(unsigned source) {
    held[source] = true;
}

void irq_resume(unsigned source) {
    held[source] = false;
    plic_complete(source);
}

void irq_dispatch(void) {
    for (unsigned source; (source = plic_claim()) != 0;) {
        const bool known = source <= IRQ_SOURCES;
        if (known && handlers[source]) handlers[source](source);
        if (!known || !held[source]) plic_complete(source);
    }
}

unsigned long irq_save(void) {
    const unsigned long before = csr_read(mstatus);
    csr_clear(mstatus, MSTATUS_MIE);
    return before & MSTATUS_MIE;
}

void irq_restore(unsigned long state) {
    csr_set(mstatus, state);
}
