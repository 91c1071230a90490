// SPDX-License-Identifier: Apache-2.0
// The links to other chips: trains them, identifies the partner on each port, routes over the ports
// whose partner is the chip or switch that the straps name, and publishes the result to the host
// (doc/topology.md). A faulty or missing partner never stops the boot.
#pragma once

#include <stdbool.h>

/// Starts the training of all ports; it continues while other boot stages run.
void links_start(void);
/// Waits, up to a timeout, until all partners are identified and all chips are reachable, then
/// publishes the topology. Always true: a chip without partners still boots.
bool links_bring_up(void);

/// Event handler of the main loop: a link came up, went down or changed, or a partner's
/// announcement changed.
void links_serve(void);
/// Event handler of the main loop: reads partners again that gave no valid response.
void links_retry(void);
/// Reads all ports and partners again.
void links_refresh(void);
/// Writes the topology table into misc RAM, also after a host has overwritten it.
void links_publish(void);
