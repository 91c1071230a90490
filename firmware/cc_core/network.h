// SPDX-License-Identifier: Apache-2.0
// The queue pair of an EFA card that the host created and handed over (EFA contract 9 to 13): work
// requests go from the program into the card's send ring; completions are taken from their ring,
// and post the semaphores that the program waits for.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/cc_core/program.h"

/// Of a slot, from the load of its program on: the rings count over all runs.
struct network {
    const struct program* program;  ///< NULL: none
    uint32_t posted, taken;
    bool armed;  ///< the card announces the next completion
};

/// Whether completions post this semaphore.
bool network_posts(const struct network* network, unsigned semaphore);
/// The semaphore by which the card announces completions.
unsigned network_event(const struct network* network);
/// Posts work requests of the program. False: bus error.
bool network_send(struct network* network, uint32_t first, uint32_t count);
/// Takes all completions that are there. `slot`: for the log. False: bus error.
bool network_take(struct network* network, unsigned slot);
/// Lets the card announce the next completion. For after network_take, before the hart sleeps.
void network_arm(struct network* network);
