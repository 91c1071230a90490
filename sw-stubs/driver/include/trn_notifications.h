/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_NOTIFICATIONS_H
#define TRN_NOTIFICATIONS_H

#include <stdint.h>

#include "trn_status.h"
#include "trn_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Notification queues (contract 9). */

typedef enum trn_notifier {
    TRN_NOTIFY_CORE = 0,
    TRN_NOTIFY_TOP_SP = 1,
    TRN_NOTIFY_DMA = 2
} trn_notifier;

/** Assigns a ring to slot 0..15 of a block: `base` an AXI address aligned to `size`, `size` a power
 * of two. Size 0 disables the slot. */
trn_status trn_notification_set(trn_device* device, trn_notifier block, uint32_t number,
                                uint32_t slot, uint64_t base, uint32_t size);
/** Reads the slot's head register: place of the device's next entry. */
trn_status trn_notification_head(trn_device* device, trn_notifier block, uint32_t number,
                                 uint32_t slot, uint32_t* head);

/** One entry. The format is invented (doc/models/soc/notification_queue.md): the public driver does
 * not interpret entries. */
#define TRN_NOTIFICATION_BYTES 16u
typedef struct trn_notification {
    uint32_t type;   /**< 0 trace, 1 notify, 2 event, 3 error, 4 DMA trace, 5 throttle */
    uint32_t source; /**< engine or queue inside the block */
    uint32_t payload;
    uint64_t time; /**< simulated, nanoseconds */
} trn_notification;

/** A slot's ring and the reader's position. */
typedef struct trn_notification_ring {
    trn_notifier block;
    uint32_t number, slot;
    uint64_t base;
    uint32_t size, next, phase;
    trn_dma_memory memory;  /**< ring in host memory: its memory */
    const uint8_t* entries; /**< NULL: the ring is in the chip, read by DMA */
} trn_notification_ring;

/** Open a ring in host memory that the library allocates, or in the chip's memory at an AXI address
 * that is a multiple of `size`. The ring is zeroed. */
trn_status trn_notifications_open(trn_device* device, trn_notifier block, uint32_t number,
                                  uint32_t slot, uint32_t size, trn_notification_ring* ring);
trn_status trn_notifications_open_at(trn_device* device, trn_notifier block, uint32_t number,
                                     uint32_t slot, uint64_t base, uint32_t size,
                                     trn_notification_ring* ring);
/** Takes the next entry, if any (*there). */
trn_status trn_notifications_next(trn_device* device, trn_notification_ring* ring,
                                  trn_notification* entry, bool* there);
/** Whether the device has overwritten unread entries; it does not know the reader's position and
 * does not report this itself. Afterwards reading continues after the present entries. */
trn_status trn_notifications_lost(trn_device* device, trn_notification_ring* ring, bool* lost);
trn_status trn_notifications_close(trn_device* device, trn_notification_ring* ring);

#ifdef __cplusplus
}
#endif

#endif
