// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/level_irq.h"

#include "firmware/lib/drivers/memory_map.h"
#include "firmware/lib/irq.h"
#include "firmware/lib/timer.h"

static struct line {
    enum event event;
    enum level_irq_rate rate;
    uint32_t left;          ///< of the burst
    uint64_t counted_from;  ///< time from which periods add to `left`
    bool delayed;           ///< served, and held until the next period
    volatile bool raised;   ///< set by the interrupt handler, cleared by level_irq_served()
} lines[IRQ_SOURCES + 1];

static void hold(unsigned source) {
    irq_hold(source);
    lines[source].raised = true;
    event_raise(lines[source].event);
}

void level_irq_enable(unsigned source, enum event event, enum level_irq_rate rate) {
    lines[source] = (struct line){
        .event = event, .rate = rate, .left = LEVEL_IRQ_BURST, .counted_from = timer_now_us()};
    irq_enable(source, hold);
}

bool level_irq_is_raised(unsigned source) {
    return lines[source].raised;
}

static void add_periods(struct line* line, uint64_t now) {
    const uint64_t periods = (now - line->counted_from) / LEVEL_IRQ_PERIOD_US;
    line->counted_from += periods * LEVEL_IRQ_PERIOD_US;
    const uint64_t left = line->left + periods;
    line->left = left < LEVEL_IRQ_BURST ? (uint32_t)left : LEVEL_IRQ_BURST;
}

/// Resumes the source if its rate allows it, else asks for EVENT_RESUME_IRQ when it does.
static void resume(unsigned source) {
    struct line* line = &lines[source];
    if (line->rate == LEVEL_IRQ_LIMITED) {
        const uint64_t now = timer_now_us();
        add_periods(line, now);
        line->delayed = line->left == 0;
        if (line->delayed) {
            event_raise_at(EVENT_RESUME_IRQ, line->counted_from + LEVEL_IRQ_PERIOD_US);
            return;
        }
        --line->left;
    }
    irq_resume(source);
}

void level_irq_served(unsigned source) {
    if (!lines[source].raised) return;
    lines[source].raised = false;
    resume(source);
}

void level_irq_resume_due(void) {
    for (unsigned source = 0; source <= IRQ_SOURCES; ++source)
        if (lines[source].delayed) resume(source);
}
