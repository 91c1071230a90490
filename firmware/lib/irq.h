// SPDX-License-Identifier: Apache-2.0
// Interrupts through the PLIC. Handlers run with interrupts off and only raise events.
#pragma once

#include <stdbool.h>

typedef void (*irq_handler)(unsigned source);

/// Enables machine external interrupts of this hart; every source stays disabled.
void irq_init(void);
/// From now on `handler` is called while `source` is pending.
void irq_enable(unsigned source, irq_handler handler);
void irq_disable(unsigned source);
/// For a handler of a level interrupt whose cause is served later: `source` does not interrupt
/// again before irq_resume(), which samples its line anew.
void irq_hold(unsigned source);
void irq_resume(unsigned source);
/// Called by the trap dispatcher.
void irq_dispatch(void);

/// Interrupts are off between the two calls; irq_save() returns the state for irq_restore().
unsigned long irq_save(void);
void irq_restore(unsigned long state);
