// SPDX-License-Identifier: Apache-2.0
// Events: interrupt handlers raise them; the main loop takes them and sleeps while there are none.
#pragma once

#include <stdint.h>

enum event {
    EVENT_DOORBELL = 1 << 0,
    EVENT_SIMULATOR_RESET = 1 << 1,
    EVENT_TICK = 1 << 2,
    EVENT_HBM = 1 << 3,
    EVENT_DMA_ABORT = 1 << 4,
    EVENT_TEMPERATURE = 1 << 5,
    EVENT_DIE_TO_DIE = 1 << 6,
    EVENT_LINK = 1 << 7,
    EVENT_WATCHED = 1 << 8,
    EVENT_SRAM = 1 << 9,
    EVENT_STALE = 1 << 10,
    EVENT_RESUME_IRQ = 1 << 11,  ///< the delay of a level interrupt is over
    EVENT_LINK_RETRY = 1 << 12,  ///< ports without a valid response are read again
};
#define EVENTS 13

/// For interrupt handlers and the main loop.
void event_raise(enum event event);
/// Raises `event` at `at_us` of timer_now_us(), or at once if that has passed. An event has one
/// such time: the earliest.
void event_raise_at(enum event event, uint64_t at_us);
/// Sleeps until at least one event is raised; returns all raised events and clears them.
uint32_t event_wait(void);
