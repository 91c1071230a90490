// SPDX-License-Identifier: Apache-2.0
// The link between the dies: this processor reaches the blocks of die 1 through it.
#pragma once

#include <stdbool.h>

/// Trains the link unless it is up. False: it is still down after a timeout. True on a chip with
/// one die.
bool dies_connect(void);
/// Enables the interrupt that reports a loss of the link.
void dies_init(void);
/// Event handler of the main loop: the link was lost. A reset of the device trains it again.
void dies_serve(void);
/// Part of a reset of the device: trains the link again if it was lost, and publishes its state.
void dies_reset(void);
