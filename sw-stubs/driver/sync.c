/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

/* Semaphores and events: one register access each (contract 3.3, 10). */

static trn_status find_block(trn_device* device, trn_sync_block block, uint32_t number,
                             uint32_t index, uint32_t count, uint64_t* base) {
    const trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    const bool core = block == TRN_SYNC_CORE;
    const uint32_t blocks = core ? device->map->cores : device->map->top_sps;
    if (block != TRN_SYNC_CORE && block != TRN_SYNC_TOP_SP)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "%u is not a kind of block", block);
    if (number >= blocks)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "no %s %u: there are %u",
                        core ? "core" : "TOP_SP", number, blocks);
    if (index >= count)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "index %u: a block has 0 to %u", index,
                        count - 1);
    *base = trn_block_address(core ? &device->map->core_sync : &device->map->top_sp_sync, number);
    return TRN_OK;
}

static trn_status read_one(trn_device* device, trn_sync_block block, uint32_t number,
                           uint32_t index, uint32_t count, uint64_t reg, uint32_t* value) {
    uint64_t base = 0;
    const trn_status status = find_block(device, block, number, index, count, &base);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    *value = trn_mmio_read(&io, base + reg);
    return io.status;
}

static trn_status write_one(trn_device* device, trn_sync_block block, uint32_t number,
                            uint32_t index, uint32_t count, uint64_t reg, uint32_t value) {
    uint64_t base = 0;
    const trn_status status = find_block(device, block, number, index, count, &base);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    trn_mmio_write(&io, base + reg, value);
    return io.status;
}

trn_status trn_semaphore_read(trn_device* device, trn_sync_block block, uint32_t number,
                              uint32_t index, int32_t* value) {
    if (!device || !value) return trn_no_argument(device);
    uint32_t raw = 0;
    const trn_status status =
        read_one(device, block, number, index, TRN_SEMAPHORES, SYNC(SEMAPHORE_READ)(index), &raw);
    *value = (int32_t)raw;
    return status;
}

trn_status trn_semaphore_set(trn_device* device, trn_sync_block block, uint32_t number,
                             uint32_t index, int32_t value) {
    return write_one(device, block, number, index, TRN_SEMAPHORES, SYNC(SEMAPHORE_SET)(index),
                     (uint32_t)value);
}

trn_status trn_semaphore_increment(trn_device* device, trn_sync_block block, uint32_t number,
                                   uint32_t index, uint32_t amount) {
    return write_one(device, block, number, index, TRN_SEMAPHORES, SYNC(SEMAPHORE_INCREMENT)(index),
                     amount);
}

trn_status trn_semaphore_decrement(trn_device* device, trn_sync_block block, uint32_t number,
                                   uint32_t index, uint32_t amount) {
    return write_one(device, block, number, index, TRN_SEMAPHORES, SYNC(SEMAPHORE_DECREMENT)(index),
                     amount);
}

uint64_t trn_semaphore_address(const trn_device* device, uint32_t core, uint32_t index) {
    const uint64_t base = trn_sbuf_address(device, core, 0);
    if (base == 0 || index >= TRN_SEMAPHORES) return 0;
    return base + CORE_SYNC_OFFSET + SYNC(SEMAPHORE_INCREMENT)(index);
}

trn_status trn_event_get(trn_device* device, trn_sync_block block, uint32_t number, uint32_t index,
                         uint32_t* value) {
    if (!device || !value) return trn_no_argument(device);
    return read_one(device, block, number, index, TRN_EVENTS, SYNC(EVENT)(index), value);
}

trn_status trn_event_set(trn_device* device, trn_sync_block block, uint32_t number, uint32_t index,
                         uint32_t value) {
    return write_one(device, block, number, index, TRN_EVENTS, SYNC(EVENT)(index), value);
}
