/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "device.h"

/* Notification queues (contract 9): rings that the device writes. */

#define SLOTS 16u
#define IN_ENGINE_MISC 0x1000u

static uint32_t blocks_of(const trn_device* device, trn_notifier block) {
    return block == TRN_NOTIFY_CORE     ? device->map->cores
           : block == TRN_NOTIFY_TOP_SP ? device->map->top_sps
                                        : device->map->engines;
}

static uint64_t base_of(const trn_device* device, trn_notifier block, uint32_t number) {
    const trn_map* map = device->map;
    return block == TRN_NOTIFY_CORE ? trn_block_address(&map->core_notifiers, number)
           : block == TRN_NOTIFY_TOP_SP
               ? trn_block_address(&map->top_sp_notifiers, number)
               : trn_block_address(&map->engine_misc, number) + IN_ENGINE_MISC;
}

static trn_status check(trn_device* device, trn_notifier block, uint32_t number, uint32_t slot) {
    const trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    if (block != TRN_NOTIFY_CORE && block != TRN_NOTIFY_TOP_SP && block != TRN_NOTIFY_DMA)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "%u is not a kind of block", block);
    if (number >= blocks_of(device, block) || slot >= SLOTS)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "no slot %u in block %u: %u blocks of %u slots", slot, number,
                        blocks_of(device, block), SLOTS);
    return TRN_OK;
}

static void set_slot(trn_mmio* io, trn_notifier block, uint32_t number, uint32_t slot,
                     uint64_t base, uint32_t size) {
    const uint64_t registers = base_of(io->device, block, number);
    trn_mmio_write(io, registers + NOTIFIER(SLOT_BASE_HI)(slot), (uint32_t)(base >> 32));
    trn_mmio_write(io, registers + NOTIFIER(SLOT_BASE_LO)(slot), (uint32_t)base);
    trn_mmio_write(io, registers + NOTIFIER(SLOT_SIZE)(slot), size);
    uint16_t* enabled = &io->device->notifiers[block][number];
    *enabled = (uint16_t)(size ? *enabled | 1u << slot : *enabled & ~(1u << slot));
}

trn_status trn_notification_set(trn_device* device, trn_notifier block, uint32_t number,
                                uint32_t slot, uint64_t base, uint32_t size) {
    const trn_status status = check(device, block, number, slot);
    if (status != TRN_OK) return status;
    if (size & (size - 1))
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "a ring of %u bytes: a power of two is needed", size);
    if (size && base & (size - 1))
        return trn_fail(device, TRN_INVALID_ARGUMENT, "a ring of %u bytes at 0x%llx is not aligned",
                        size, (unsigned long long)base);
    trn_mmio io = trn_mmio_of(device);
    set_slot(&io, block, number, slot, size ? base : 0, size);
    return io.status;
}

trn_status trn_notification_head(trn_device* device, trn_notifier block, uint32_t number,
                                 uint32_t slot, uint32_t* head) {
    if (!device || !head) return trn_no_argument(device);
    const trn_status status = check(device, block, number, slot);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    *head = trn_mmio_read(&io, base_of(device, block, number) + NOTIFIER(SLOT_HEAD)(slot));
    return io.status;
}

/* ---- rings with a reader ---- */

static trn_status start_ring(trn_device* device, trn_notification_ring* ring) {
    ring->next = 0;
    ring->phase = 1; /* the first pass over zeroed memory */
    return trn_notification_set(device, ring->block, ring->number, ring->slot, ring->base,
                                ring->size);
}

static trn_status describe(trn_device* device, trn_notifier block, uint32_t number, uint32_t slot,
                           uint32_t size, trn_notification_ring* ring) {
    memset(ring, 0, sizeof *ring);
    const trn_status status = check(device, block, number, slot);
    if (status != TRN_OK) return status;
    if (size < TRN_NOTIFICATION_BYTES || size & (size - 1))
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "a ring of %u bytes: a power of two from %u on is needed", size,
                        TRN_NOTIFICATION_BYTES);
    ring->block = block;
    ring->number = number;
    ring->slot = slot;
    ring->size = size;
    return TRN_OK;
}

static trn_status open_by_kernel(trn_device* device, trn_notification_ring* ring) {
    const trn_status status = trn_kernel_notifications(device, ring);
    if (status != TRN_OK) return status;
    device->notifiers[ring->block][ring->number] |= (uint16_t)(1u << ring->slot);
    ring->base = trn_host_address(device, ring->memory.iova);
    ring->entries = ring->memory.host;
    ring->phase = 1;
    return TRN_OK;
}

trn_status trn_notifications_open(trn_device* device, trn_notifier block, uint32_t number,
                                  uint32_t slot, uint32_t size, trn_notification_ring* ring) {
    if (!device || !ring) return trn_no_argument(device);
    trn_status status = describe(device, block, number, slot, size, ring);
    if (status == TRN_OK && device->transport.kernel) return open_by_kernel(device, ring);
    /* Twice the size contains an aligned ring at any alignment of the transport's memory. */
    if (status == TRN_OK) status = trn_dma_allocate(device, 2 * (uint64_t)size, &ring->memory);
    if (status != TRN_OK) return status;
    const uint64_t iova = (ring->memory.iova + size - 1) & ~(uint64_t)(size - 1);
    ring->base = trn_host_address(device, iova);
    ring->entries = (const uint8_t*)ring->memory.host + (iova - ring->memory.iova);
    status = start_ring(device, ring);
    if (status != TRN_OK) {
        /* Part of the slot may be set: the device must not write to memory that is freed. */
        trn_notification_set(device, block, number, slot, 0, 0);
        trn_dma_release(device, &ring->memory);
        ring->entries = NULL;
        ring->size = 0;
    }
    return status;
}

trn_status trn_notifications_open_at(trn_device* device, trn_notifier block, uint32_t number,
                                     uint32_t slot, uint64_t base, uint32_t size,
                                     trn_notification_ring* ring) {
    if (!device || !ring) return trn_no_argument(device);
    trn_status status = describe(device, block, number, slot, size, ring);
    if (status == TRN_OK) status = trn_memset(device, 0, base, 0, size);
    if (status != TRN_OK) return status;
    ring->base = base;
    status = start_ring(device, ring);
    if (status != TRN_OK) ring->size = 0;
    return status;
}

#define ENTRY_WORDS (TRN_NOTIFICATION_BYTES / 4)

/* Whether a ring is open and its reader's position is one of an entry. */
static trn_status check_reader(trn_device* device, const trn_notification_ring* ring) {
    const trn_status status = check(device, ring->block, ring->number, ring->slot);
    if (status != TRN_OK) return status;
    if (ring->size < TRN_NOTIFICATION_BYTES || ring->next >= ring->size ||
        ring->next % TRN_NOTIFICATION_BYTES || ring->phase > 1)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "the ring is not open");
    return TRN_OK;
}

static trn_status peek_entry(trn_device* device, const trn_notification_ring* ring,
                             uint32_t words[ENTRY_WORDS], bool* there) {
    trn_status status = TRN_OK;
    *there = false;
    if (ring->entries)
        memcpy(words, ring->entries + ring->next, TRN_NOTIFICATION_BYTES);
    else
        status = trn_read(device, 0, words, ring->base + ring->next, TRN_NOTIFICATION_BYTES);
    if (status == TRN_OK) *there = words[0] >> 31 == ring->phase;
    return status;
}

trn_status trn_notifications_next(trn_device* device, trn_notification_ring* ring,
                                  trn_notification* entry, bool* there) {
    if (!device || !ring || !entry || !there) return trn_no_argument(device);
    uint32_t words[ENTRY_WORDS];
    *there = false;
    trn_status status = check_reader(device, ring);
    if (status == TRN_OK) status = peek_entry(device, ring, words, there);
    if (status != TRN_OK || !*there) return status;
    *entry = (trn_notification){words[0] & 0xff, words[0] >> 8 & 0xff, words[1],
                                (uint64_t)words[3] << 32 | words[2]};
    ring->next += TRN_NOTIFICATION_BYTES;
    if (ring->next == ring->size) {
        ring->next = 0;
        ring->phase ^= 1;
    }
    return TRN_OK;
}

trn_status trn_notifications_lost(trn_device* device, trn_notification_ring* ring, bool* lost) {
    if (!device || !ring || !lost) return trn_no_argument(device);
    uint32_t head = 0, words[ENTRY_WORDS];
    bool there = false;
    *lost = false;
    trn_status status = check_reader(device, ring);
    if (status != TRN_OK || !(device->notifiers[ring->block][ring->number] >> ring->slot & 1))
        return status; /* disabled by a reset */
    status = trn_notification_head(device, ring->block, ring->number, ring->slot, &head);
    if (status != TRN_OK || head == (ring->phase << 31 | ring->next)) return status;
    status = peek_entry(device, ring, words,
                        &there); /* after reading the head: an entry may just have arrived */
    if (status != TRN_OK || there) return status;
    const uint32_t next = head & 0x7fffffff;
    if (head == ~0u)
        return trn_fail(device, TRN_DEVICE_GONE,
                        "the head of the ring reads as ones: the device is not present");
    if (next >= ring->size || next % TRN_NOTIFICATION_BYTES)
        return trn_fail(device, TRN_PROTOCOL_ERROR,
                        "the head of a ring of %u bytes reads 0x%08x: no entry is there",
                        ring->size, head);
    *lost = true;
    ring->next = next;
    ring->phase = head >> 31;
    return TRN_OK;
}

trn_status trn_notifications_close(trn_device* device, trn_notification_ring* ring) {
    if (!device || !ring) return trn_no_argument(device);
    const trn_status status =
        trn_notification_set(device, ring->block, ring->number, ring->slot, 0, 0);
    trn_dma_release(device, &ring->memory);
    ring->entries = NULL;
    ring->size = 0; /* it can no longer be read */
    return status;
}

/* ---- reset ---- */

static void drop_block(trn_mmio* io, trn_notifier block, uint32_t number) {
    for (uint32_t slot = 0; slot < SLOTS; ++slot)
        if (io->device->notifiers[block][number] >> slot & 1)
            set_slot(io, block, number, slot, 0, 0);
}

trn_status trn_notifications_drop(trn_device* device, uint32_t core_map) {
    trn_mmio io = trn_mmio_of(device);
    const uint32_t top_sps = device->map->top_sps / device->map->cores;
    for (uint32_t core = 0; core < device->map->cores; ++core) {
        if (!(core_map >> core & 1)) continue;
        drop_block(&io, TRN_NOTIFY_CORE, core);
        for (uint32_t i = 0; i < top_sps; ++i)
            drop_block(&io, TRN_NOTIFY_TOP_SP, core * top_sps + i);
        for (uint32_t i = 0; i < TRN_ENGINES_PER_CORE; ++i)
            drop_block(&io, TRN_NOTIFY_DMA, core * TRN_ENGINES_PER_CORE + i);
    }
    return io.status;
}
