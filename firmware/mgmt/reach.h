// SPDX-License-Identifier: Apache-2.0
// Whether this processor, on die 0, reaches a block.
#pragma once

#include "firmware/lib/axi_map.h"
#include "firmware/lib/drivers/die_to_die.h"
#include "firmware/mgmt/generation.h"

/// False for a block at an AXI address of die 1 while the link between the dies is down. An access
/// to it would only fail, and count as misuse.
static inline bool can_reach(uint64_t address) {
    return generation->dies == 1 || (address & AXI_DIE_1) == 0 || die_to_die_is_up();
}
