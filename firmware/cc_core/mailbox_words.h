// SPDX-License-Identifier: Apache-2.0
// The words that host and collective firmware share: models/processor/top_sp/cc_mailbox.regs.yaml.
#pragma once

#include <trn/cc_mailbox_regs.h>
#include <trn/notification_queue_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define CC_MAILBOX(reg) (MAP_CC_DATA + TRN_CC_MAILBOX_##reg##_OFFSET)
#define CC_MAILBOX_AT(reg, index) (MAP_CC_DATA + TRN_CC_MAILBOX_##reg##_OFFSET(index))
#define CC_SLOTS TRN_CC_MAILBOX_SLOT_STATE_COUNT

static inline void mailbox_count(uintptr_t word) {
    mmio_write(word, mmio_read(word) + 1);
}

/// Doorbell bits: a command is in the mailbox; run the program of a slot.
#define DOORBELL_COMMAND (1u << 0)
#define DOORBELL_FIRST_TRIGGER 8u
#define DOORBELL_TRIGGER(slot) (1u << (DOORBELL_FIRST_TRIGGER + (slot)))

#define NOTICE(code, detail)                                                       \
    (TRN_CC_MAILBOX_SLOT_NOTICE_CODE_SET(TRN_CC_MAILBOX_SLOT_NOTICE_CODE_##code) | \
     TRN_CC_MAILBOX_SLOT_NOTICE_DETAIL_SET(detail))

/// Reports a failure of a slot: an error entry in the slot's notification ring. Without effect when
/// the host has not set up that ring.
static inline void mailbox_notify(unsigned slot, uint32_t notice) {
    mmio_write(CC_MAILBOX_AT(SLOT_NOTICE, slot), notice);
    mmio_write(MAP_CC_NOTIFICATIONS + TRN_NOTIFICATION_QUEUE_POST_PAYLOAD_OFFSET, notice);
    mmio_write(MAP_CC_NOTIFICATIONS + TRN_NOTIFICATION_QUEUE_POST_OFFSET,
               TRN_NOTIFICATION_QUEUE_POST_TYPE_SET(TRN_NOTIFICATION_QUEUE_POST_TYPE_ERROR) |
                   TRN_NOTIFICATION_QUEUE_POST_SOURCE_SET(slot) |
                   TRN_NOTIFICATION_QUEUE_POST_SLOT_SET(slot));
}
