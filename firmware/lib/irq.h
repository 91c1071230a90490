// SPDX-License-Identifier: Apache-2.0
// Interrupts through the PLIC. A handler runs with interrupts off and only notes what happened.
#pragma once

#include <stdbool.h>

typedef void (*irq_handler)(unsigned source);

/// Opens machine external interrupts of this hart; every source stays off.
void irq_init(void);
/// Calls `handler` whenever `source` is pending from now on.
void irq_enable(unsigned source, irq_handler handler);
void irq_disable(unsigned source);
/// Called by the trap dispatcher.
void irq_dispatch(void);

/// Keeps interrupts off between the two calls; returns what irq_restore() takes.
unsigned long irq_save(void);
void irq_restore(unsigned long state);
