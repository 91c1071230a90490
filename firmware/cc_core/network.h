// SPDX-License-Identifier: Apache-2.0
// A queue pair of an EFA card, created by the host (EFA contract 9 to 13): copies work requests of
// the program into the card's send ring, and takes completions from their ring, which post the
// semaphores that the program waits for.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/cc_core/program.h"

/// Queue pair of a slot. The counts continue over all runs, from the load of the program on.
struct network {
    const struct program* program;  ///< NULL: none
    uint32_t posted, taken;
    bool armed;  ///< the card signals the next completion
    struct {
        uint32_t status;   ///< of the completion
        uint32_t request;  ///< ID of its work request
        uint32_t peer;     ///< address handle
    } failure;             ///< after NETWORK_FAILED
};
enum network_result { NETWORK_OK, NETWORK_BUS_ERROR, NETWORK_FAILED };

/// Whether completions may post this semaphore.
bool network_posts(const struct network* network, unsigned semaphore);
/// The semaphore by which the card signals completions.
unsigned network_event(const struct network* network);
/// Posts `count` work requests of the program, from number `first` on. False: bus error.
bool network_send(struct network* network, uint32_t first, uint32_t count);
/// Takes completions, until there is none, one has failed, or as many as the ring has. `slot`: for
/// the log.
enum network_result network_take(struct network* network, unsigned slot);
/// Lets the card signal the next completion. Call it after network_take(), before the hart sleeps.
void network_arm(struct network* network);
