// SPDX-License-Identifier: Apache-2.0
// Boot stages: from the hart's release from reset to a chip that the host can use.
#pragma once

#include <stdbool.h>

/// Runs all stages in order and logs each. False when one failed: the routing id stays
/// MISC_RAM_BOOTING, so no driver binds.
bool bring_up(void);
/// Runs only the stages up to HBM training; the chip serves no host.
bool bring_up_memory(void);
