// SPDX-License-Identifier: Apache-2.0
// The words that the host reads (contract section 4.1).
#pragma once

#include <trn/misc_ram_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define MISC_RAM(reg) (MAP_MISC_RAM + TRN_MISC_RAM_##reg##_OFFSET)
#define MISC_RAM_AT(reg, index) (MAP_MISC_RAM + TRN_MISC_RAM_##reg##_OFFSET(index))

// First interface versions with these features (contract section 4.1).
#define MISC_RAM_API_SPLIT_ECC 6u
#define MISC_RAM_API_NEW_MAILBOX 7u
#define MISC_RAM_BOOTING 0xdeadbeefu  // routing id while not ready: the host polls it

/// One word; addresses are MISC_RAM(...).
uint32_t misc_ram_read(uintptr_t address);
void misc_ram_write(uintptr_t address, uint32_t value);

/// A count for a field that stays at its largest value, `limit`.
static inline uint32_t at_most(uint32_t value, uint32_t limit) {
    return value < limit ? value : limit;
}
