// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/timer.h"

#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/aclint.h"
#include "firmware/lib/drivers/memory_map.h"
#include "firmware/lib/irq.h"

#define TICKS_PER_US (MTIME_HZ / 1000000)

static uint64_t tick_at = UINT64_MAX;  // in mtime ticks
static uint64_t sleep_until = UINT64_MAX;
static uint64_t tick_period;
static void (*tick_callback)(void);
static uint64_t alarm_at = UINT64_MAX;
static void (*alarm_callback)(void);

static void arm(void) {
    const uint64_t called = tick_at < alarm_at ? tick_at : alarm_at;
    aclint_set_timer(called < sleep_until ? called : sleep_until);
}

uint64_t timer_now_us(void) {
    return aclint_time() / TICKS_PER_US;
}

void timer_init(void) {
    arm();
    csr_set(mie, MIE_MTIE);
}

void timer_every(uint32_t period_us, void (*tick)(void)) {
    const unsigned long state = irq_save();
    tick_period = (uint64_t)period_us * TICKS_PER_US;
    tick_callback = tick;
    tick_at = aclint_time() + tick_period;
    arm();
    irq_restore(state);
}

void timer_alarm(uint64_t at_us, void (*alarm)(void)) {
    const unsigned long state = irq_save();
    alarm_at = at_us > UINT64_MAX / TICKS_PER_US ? UINT64_MAX : at_us * TICKS_PER_US;
    alarm_callback = alarm;
    arm();
    irq_restore(state);
}

void timer_dispatch(void) {
    const uint64_t now = aclint_time();
    if (now >= tick_at) {
        tick_at += tick_period;
        if (tick_at <= now) tick_at = now + tick_period;  // missed ticks are dropped
        tick_callback();
    }
    if (now >= alarm_at) {
        alarm_at = UINT64_MAX;
        alarm_callback();
    }
    if (now >= sleep_until) sleep_until = UINT64_MAX;
    arm();
}

/// Precondition: interrupts are off. Sleeps to the next interrupt, at most until `end` (mtime
/// ticks).
static void sleep_at_most(uint64_t end, unsigned long state) {
    sleep_until = end;
    arm();
    wait_for_interrupt();  // a pending interrupt ends it even while MIE is 0
    irq_restore(state);    // pending interrupts are served here
    irq_save();
}

static void wake_up(unsigned long state) {
    sleep_until = UINT64_MAX;
    arm();
    irq_restore(state);
}

void timer_sleep_us(uint32_t us) {
    const unsigned long state = irq_save();
    const uint64_t end = aclint_time() + (uint64_t)us * TICKS_PER_US;
    while (aclint_time() < end) sleep_at_most(end, state);
    wake_up(state);
}

bool timer_wait_irq(bool (*done)(const void*), const void* arg, uint32_t limit_us) {
    const unsigned long state = irq_save();
    const uint64_t end = aclint_time() + (uint64_t)limit_us * TICKS_PER_US;
    bool ended = done(arg);
    while (!ended && aclint_time() < end) {
        sleep_at_most(end, state);
        ended = done(arg);
    }
    wake_up(state);
    return ended;
}

bool timer_wait(bool (*done)(const void*), const void* arg, uint32_t step_us, uint32_t limit_us) {
    for (uint32_t waited = 0; !done(arg); waited += step_us) {
        if (waited >= limit_us) return false;
        timer_sleep_us(step_us);
    }
    return true;
}
