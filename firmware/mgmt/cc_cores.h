// SPDX-License-Identifier: Apache-2.0
// Loads the CC-Cores (TOP_SPs) with the firmware that a host brings. The command is invented:
// doc/collectives.md.
#pragma once

#include <stdint.h>

#include "firmware/lib/image.h"

/// What came to pass: a fault of the image, or one of these.
enum cc_load_result {
    CC_LOAD_IMAGE_FAULT = 0,  ///< + image_fault; 0: loaded, and the cores run
    CC_LOAD_UNREADABLE = 32,  ///< no response at the address
    CC_LOAD_NO_CORE = 33,     ///< the map is empty, or names an unknown core
    CC_LOAD_IN_RESET = 34,    ///< no response of a core: its block is in reset
};

/// Checks the image (header included) at an AXI address, and when it is whole, stops these cores
/// (bits as the address map counts them), copies it into each and lets them run. What they did is
/// lost; a refused image changes nothing.
unsigned cc_cores_load(uint64_t address, uint32_t length, uint32_t cores);
