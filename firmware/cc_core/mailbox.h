// SPDX-License-Identifier: Apache-2.0
// The words that host and collective firmware share: models/top_sp/cc_mailbox.regs.yaml.
#pragma once

#include <trn/cc_mailbox_regs.h>

#include "firmware/lib/mmio.h"

#define CC_MAILBOX(reg) (MAP_CC_DATA + TRN_CC_MAILBOX_##reg##_OFFSET)
#define CC_MAILBOX_AT(reg, index) (MAP_CC_DATA + TRN_CC_MAILBOX_##reg##_OFFSET(index))
#define CC_SLOTS TRN_CC_MAILBOX_SLOT_STATE_COUNT

static inline void mailbox_count(uintptr_t word) {
    mmio_write(word, mmio_read(word) + 1);
}

/// Doorbell bits: the host has a command; the program of a slot shall run.
#define DOORBELL_COMMAND (1u << 0)
#define DOORBELL_TRIGGER(slot) (1u << (8 + (slot)))

/// Serves the host's command.
void mailbox_serve(void);
