// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/irq.h"

#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/memory_map.h"
#include "firmware/lib/drivers/plic.h"

static irq_handler handlers[IRQ_SOURCES + 1];

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

void irq_dispatch(void) {
    for (unsigned source; (source = plic_claim()) != 0; plic_complete(source))
        if (source <= IRQ_SOURCES && handlers[source]) handlers[source](source);
}

unsigned long irq_save(void) {
    const unsigned long before = csr_read(mstatus);
    csr_clear(mstatus, MSTATUS_MIE);
    return before & MSTATUS_MIE;
}

void irq_restore(unsigned long state) {
    csr_set(mstatus, state);
}
