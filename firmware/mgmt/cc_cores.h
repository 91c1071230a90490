// SPDX-License-Identifier: Apache-2.0
// Loads firmware of the host into the CC-Cores (TOP_SPs). The command is invented:
// doc/collectives.md.
#pragma once

#include <stdint.h>

#include "firmware/lib/image.h"

/// Result of a load: an enum image_fault, or one of these.
enum cc_load_result {
    CC_LOAD_IMAGE_FAULT = 0,  ///< + image_fault; 0: the image is loaded and the cores run
    CC_LOAD_UNREADABLE = 32,  ///< no response at the address
    CC_LOAD_NO_CORE = 33,     ///< the core map is empty or has a core that the chip does not have
    CC_LOAD_IN_RESET = 34,  ///< no response from a core: its block is in reset, or its die is lost
};

/// Checks the image at an AXI address (`length` bytes, header included), then stops the cores of
/// the map (bit n: core n of the address map), copies the image into each and starts them. Programs
/// that ran on them are lost. A refused image leaves the cores as they were; after CC_LOAD_IN_RESET
/// those with lower numbers run the new image. Returns an enum cc_load_result.
unsigned cc_cores_load(uint64_t address, uint32_t length, uint32_t cores);
