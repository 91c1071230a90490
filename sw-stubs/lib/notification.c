/* SPDX-License-Identifier: Apache-2.0 */
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
    return block == TRN_NOTIFY_CORE     ? place(&map->core_notifiers, number)
           : block == TRN_NOTIFY_TOP_SP ? place(&map->top_sp_notifiers, number)
                                        : place(&map->engine_misc, number) + IN_ENGINE_MISC;
}

static trn_status check(trn_device* device, trn_notifier block, uint32_t number, uint32_t slot) {
    const trn_status status = need_probe(device);
    if (status != TRN_OK) return status;
    if (block != TRN_NOTIFY_CORE && block != TRN_NOTIFY_TOP_SP && block != TRN_NOTIFY_DMA)
        return fail(device, TRN_INVALID_ARGUMENT, "%u is no kind of block", block);
    if (number >= blocks_of(device, block) || slot >= SLOTS)
        return fail(device, TRN_INVALID_ARGUMENT, "no slot %u in block %u: %u blocks of %u slots",
                    slot, number, blocks_of(device, block), SLOTS);
    return TRN_OK;
}

static void set_slot(trn_device* device, trn_notifier block, uint32_t number, uint32_t slot,
                     uint64_t base, uint32_t size) {
    const uint64_t registers = base_of(device, block, number);
    mmio_write(device, registers + NOTIFIER(SLOT_BASE_HI)(slot), (uint32_t)(base >> 32));
    mmio_write(device, registers + NOTIFIER(SLOT_BASE_LO)(slot), (uint32_t)base);
    mmio_write(device, registers + NOTIFIER(SLOT_SIZE)(slot), size);
    uint16_t* on = &device->notifiers[block][number];
    *on = (uint16_t)(size ? *on | 1u << slot : *on & ~(1u << slot));
}

trn_status trn_notification_set(trn_device* device, trn_notifier block, uint32_t number,
                                uint32_t slot, uint64_t base, uint32_t size) {
    const trn_status status = check(device, block, number, slot);
    if (status != TRN_OK) return status;
    if (size & (size - 1))
        return fail(device, TRN_INVALID_ARGUMENT, "a ring of %u bytes: a power of two is needed",
                    size);
    if (size && base & (size - 1))
        return fail(device, TRN_INVALID_ARGUMENT, "a ring of %u bytes at 0x%llx is not aligned",
                    size, (unsigned long long)base);
    mmio_begin(device);
    set_slot(device, block, number, slot, size ? base : 0, size);
    return mmio_end(device);
}

trn_status trn_notification_head(trn_device* device, trn_notifier block, uint32_t number,
                                 uint32_t slot, uint32_t* head) {
    const trn_status status = check(device, block, number, slot);
    if (status != TRN_OK) return status;
    mmio_begin(device);
    *head = mmio_read(device, base_of(device, block, number) + NOTIFIER(SLOT_HEAD)(slot));
    return mmio_end(device);
}

static void drop_block(trn_device* device, trn_notifier block, uint32_t number) {
    for (uint32_t slot = 0; slot < SLOTS; ++slot)
        if (device->notifiers[block][number] >> slot & 1)
            set_slot(device, block, number, slot, 0, 0);
}

void notifications_drop(trn_device* device, uint32_t core_map) {
    const uint32_t top_sps = device->map->top_sps / device->map->cores;
    for (uint32_t core = 0; core < device->map->cores; ++core) {
        if (!(core_map >> core & 1)) continue;
        drop_block(device, TRN_NOTIFY_CORE, core);
        for (uint32_t i = 0; i < top_sps; ++i)
            drop_block(device, TRN_NOTIFY_TOP_SP, core * top_sps + i);
        for (uint32_t i = 0; i < TRN_ENGINES_PER_CORE; ++i)
            drop_block(device, TRN_NOTIFY_DMA, core * TRN_ENGINES_PER_CORE + i);
    }
}
