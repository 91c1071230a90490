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
};

/// For interrupt handlers.
void event_raise(enum event event);
/// Sleeps until at least one event is raised; returns all raised events and clears them.
uint32_t event_wait(void);
