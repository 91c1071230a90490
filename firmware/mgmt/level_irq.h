// SPDX-License-Identifier: Apache-2.0
// Level interrupts that the main loop serves: the line stays high until then, so the handler holds
// the source. The rate is limited, because a cause that comes back at once (a stuck memory cell, a
// host that repeats a wrong access) would use all time of the processor and all entries of the
// error log.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/mgmt/events.h"

enum level_irq_rate {
    /// Of errors: LEVEL_IRQ_BURST at once, then one per LEVEL_IRQ_PERIOD_US.
    LEVEL_IRQ_LIMITED,
    /// Of requests, which the host repeats only after a response.
    LEVEL_IRQ_UNLIMITED,
};
#define LEVEL_IRQ_BURST 8u
#define LEVEL_IRQ_PERIOD_US 1000000u

/// Enables `source`. Its handler holds it and raises `event`.
void level_irq_enable(unsigned source, enum event event, enum level_irq_rate rate);
/// Whether `source` has interrupted and is not served yet.
bool level_irq_is_raised(unsigned source);
/// The main loop has served the cause: lets the source interrupt again, later if its rate is above
/// the limit.
void level_irq_served(unsigned source);
/// Event handler of the main loop: resumes the sources that have waited long enough.
void level_irq_resume_due(void);
