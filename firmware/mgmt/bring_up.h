// SPDX-License-Identifier: Apache-2.0
// From released hart to a chip that the host can use, stage by stage.
#pragma once

#include <stdbool.h>

/// Runs the stages in order, each announced on the console. False when one failed: the routing id
/// stays "booting", so no driver binds.
bool bring_up(void);
/// Only the stages up to a trained HBM: the chip serves no host.
bool bring_up_memory(void);
