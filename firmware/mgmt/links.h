// SPDX-License-Identifier: Apache-2.0
// The links to other chips: trains them, finds out who is at their other ends, routes over those
// that lead where the straps say, and tells the host what it found (doc/topology.md). Nothing that
// a partner does or leaves undone stops the boot.
#pragma once

#include <stdbool.h>

/// Starts the training of every port at once; it goes on while other stages run.
void links_start(void);
/// Waits, for a limited time, until the partners are known, and has everything published then.
/// Always true: a chip without neighbours is still a chip.
bool links_bring_up(void);

/// Event of the main loop: a link came up, went down or changed, or a partner has news.
void links_serve(void);
/// Asks all partners again.
void links_refresh(void);
/// Writes what is known into misc RAM, where a host may have written over it.
void links_publish(void);
