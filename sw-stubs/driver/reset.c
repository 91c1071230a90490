/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "device.h"
#include "ring.h"

/* Reset (contract 5) and the set-up after it. */

#define REQUEST_DEVICE 1u
#define REQUEST_CORES 2u
#define RESET_IN_PROGRESS (1u << 3)
#define READY_TRIES 5u
#define GONE_LIMIT (2 * NS_PER_S) /* of reads that return ones only */
#define EMULATOR_READY_TRIES 5000u

static trn_status read_word(trn_device* device, uint64_t offset, uint32_t* value) {
    trn_mmio io = trn_mmio_of(device);
    *value = trn_mmio_read(&io, offset);
    return io.status;
}

static trn_status request(trn_device* device, uint32_t type, uint32_t map) {
    const uint64_t misc = device->map->misc_ram;
    trn_mmio io = trn_mmio_of(device);
    if (type == REQUEST_CORES) trn_mmio_write(&io, misc + MISC_RAM(RESET_MAP), map);
    trn_mmio_write(&io, misc + MISC_RAM(RESET_REQUEST), type);
    trn_mmio_write(&io, misc + MISC_RAM(TRIGGER), 1);
    return io.status;
}

/* Whether the device does not respond: its register has read as ones for GONE_LIMIT. `*answered`:
 * time of the last other value. */
static bool is_gone(trn_device* device, uint32_t value, uint64_t* answered) {
    const uint64_t time = trn_now(device);
    if (value != ~0u) *answered = time;
    return time - *answered >= trn_timeout(device, GONE_LIMIT);
}

static trn_status fail_gone(trn_device* device) {
    return trn_fail(device, TRN_DEVICE_GONE,
                    "the registers of reset read as ones: the device is not present");
}

/* Contract 5.1: firmware clears the request when it accepts it. Without a response the request is
 * repeated. */
static trn_status wait_accepted(trn_device* device, uint32_t type, uint32_t map) {
    const uint64_t repeat = trn_timeout(device, (type == REQUEST_DEVICE ? 30 : 10) * NS_PER_S);
    const uint64_t limit = trn_firmware_limit(
        device, trn_timeout(device, device->generation->reset_limit_s * NS_PER_S));
    const uint64_t start = trn_now(device);
    uint64_t asked = start, answered = start;
    for (;;) {
        uint32_t pending = 0;
        trn_status status =
            read_word(device, trn_misc_ram_word(device, MISC_RAM(RESET_REQUEST)), &pending);
        if (pending == 0 || status != TRN_OK) return status;
        if (is_gone(device, pending, &answered)) return fail_gone(device);
        const uint64_t time = trn_now(device);
        if (time - start >= limit)
            return trn_fail(device, TRN_TIMED_OUT,
                            "firmware did not take the reset request in %s: word +0x%x of its "
                            "misc RAM is still %u (contract 5.1: it clears the word)",
                            trn_text_of_time(limit).text, (uint32_t)MISC_RAM(RESET_REQUEST),
                            pending);
        if (time - asked >= repeat) {
            status = request(device, type, map);
            if (status != TRN_OK) return status;
            asked = time;
        }
        const uint64_t left = limit - (time - start);
        status = trn_pause(device, left < 100 * NS_PER_MS ? left : 100 * NS_PER_MS);
        if (status != TRN_OK) return status;
    }
}

static trn_status wait_ready(trn_device* device) {
    const uint64_t max = device->mode == TRN_MODE_EMULATOR ? EMULATOR_READY_TRIES : READY_TRIES;
    const uint64_t limit = trn_firmware_limit(device, ~UINT64_C(0)), start = trn_now(device);
    for (uint64_t tries = 0; tries < max && trn_now(device) - start < limit; ++tries) {
        const uint64_t pause = trn_timeout(device, tries * 100 * NS_PER_MS);
        trn_status status = trn_pause(device, pause < limit ? pause : limit);
        if (status != TRN_OK) return status;
        uint32_t word = 0;
        status = read_word(device, trn_misc_ram_word(device, MISC_RAM(FIRMWARE_STATUS)), &word);
        if (status != TRN_OK || !(word & RESET_IN_PROGRESS)) return status;
    }
    return trn_fail(device, TRN_TIMED_OUT,
                    "firmware took the reset request but did not finish it: bit 3 of word +0x%x of "
                    "its misc RAM is still set",
                    (uint32_t)MISC_RAM(FIRMWARE_STATUS));
}

/* Contract 2: on revision 255 the reset register clears itself. Polled more often than by the
 * public driver (every 2 s), with the same result. */
static trn_status simulator_reset(trn_device* device, uint32_t type, uint32_t map) {
    const trn_generation* generation = device->generation;
    const uint64_t offset = device->map->simulator_reset + SIM_RESET(REQUEST);
    trn_mmio io = trn_mmio_of(device);
    trn_mmio_write(&io, offset, generation->simulator_asks_firmware ? 1 : map);
    trn_status status = io.status;
    if (status == TRN_OK && generation->simulator_asks_firmware) {
        status = request(device, type, map);
        if (status == TRN_OK) status = wait_accepted(device, type, map);
    }
    const uint64_t limit = trn_firmware_limit(
        device, trn_timeout(device, generation->simulator_reset_limit_s * NS_PER_S));
    const uint64_t start = trn_now(device);
    uint64_t answered = start;
    while (status == TRN_OK) {
        uint32_t pending = 0;
        status = read_word(device, offset, &pending);
        if (pending == 0 || status != TRN_OK) return status;
        if (is_gone(device, pending, &answered)) return fail_gone(device);
        if (trn_now(device) - start >= limit)
            return trn_fail(device, TRN_TIMED_OUT, "the simulator's reset register stayed busy");
        status = trn_pause(device, 100 * NS_PER_MS);
    }
    return status;
}

static trn_status handshake(trn_device* device, uint32_t type, uint32_t map) {
    if (device->mode == TRN_MODE_QEMU) return simulator_reset(device, type, map);
    if (device->mode == TRN_MODE_EMULATOR && !device->generation->emulator_is_reset) return TRN_OK;
    trn_status status = request(device, type, map);
    if (status == TRN_OK) status = wait_accepted(device, type, map);
    if (status == TRN_OK) status = wait_ready(device);
    return status;
}

/* Contract 5.3: sets up sixteen engines per core and one host ring per core. The first core also
 * sets up its shared host-transfer engine, unless a core that shares it was not reset. */
static trn_status set_up_core(trn_device* device, uint32_t core, uint32_t cores) {
    const uint32_t sharing = device->map->cores_per_host_engine;
    const uint32_t queue = core % sharing;
    const uint32_t sharers = ((1u << sharing) - 1) << (core - queue);
    const uint32_t host_engine = device->map->user_engines + core / sharing;
    trn_mmio io = trn_mmio_of(device);
    for (uint32_t i = 0; i < TRN_ENGINES_PER_CORE; ++i) {
        trn_engine_setup(&io, core * TRN_ENGINES_PER_CORE + i);
        device->user_rings[core * TRN_ENGINES_PER_CORE + i] = 0;
    }
    if (queue == 0 && (cores & sharers) == sharers) trn_engine_setup(&io, host_engine);
    if (io.status != TRN_OK) return io.status;
    return trn_ring_open(device, &device->copy_rings[core], host_engine, queue, RING_DESCRIPTORS);
}

static trn_status reset(trn_device* device, uint32_t type, uint32_t cores, uint32_t map) {
    device->ready = false;
    trn_status status = handshake(device, type, map);
    if (status != TRN_OK) return status;
    /* A host-transfer engine outlives the reset of some of its cores, and an emulator may have no
     * reset. */
    status = trn_copies_stop(device, cores);
    /* After the reset only: until then running engines read their rings. */
    for (uint32_t core = 0; core < device->map->cores; ++core)
        if (cores >> core & 1) trn_ring_close(device, &device->copy_rings[core], TRN_ABORTED);
    trn_host_queues_drop(device, cores);
    for (uint32_t core = 0; core < device->map->cores && status == TRN_OK; ++core)
        if (cores >> core & 1) status = set_up_core(device, core, cores);
    device->ready = status == TRN_OK;
    return status;
}

/* Contract 5.2: bits of cores, of their DMA groups and of their TOP_SPs. */
static uint32_t reset_map(const trn_device* device, uint32_t cores) {
    uint32_t map = 0;
    for (uint32_t core = 0; core < device->map->cores; ++core) {
        if (!(cores >> core & 1)) continue;
        for (uint32_t kind = 0; kind < 3; ++kind) {
            const uint32_t bits = device->map->reset_map[kind].bits_per_core;
            const uint32_t first = device->map->reset_map[kind].first_bit + core * bits;
            map |= ((1u << bits) - 1) << first;
        }
    }
    return map;
}

static void count_resets(trn_device* device, uint32_t cores) {
    for (uint32_t core = 0; core < device->map->cores; ++core)
        if (cores >> core & 1) ++device->resets[core];
}

uint32_t trn_core_resets(const trn_device* device, uint32_t core) {
    if (!device) return 0;
    return core < TRN_MAX_CORES ? device->resets[core] : 0;
}

trn_status trn_reset_device(trn_device* device) {
    const trn_status status = trn_need_probe(device);
    if (status != TRN_OK) return status;
    count_resets(device, ~0u);
    device->failed_copy = false;
    memset(device->notifiers, 0, sizeof device->notifiers); /* the reset disables them */
    if (device->transport.kernel) return trn_kernel_reset(device, ~0u);
    return reset(device, REQUEST_DEVICE, (1u << device->map->cores) - 1, 0);
}

trn_status trn_reset_cores(trn_device* device, uint32_t core_map) {
    trn_status status = trn_need_ready(device);
    if (status != TRN_OK) return status;
    if (core_map == 0 || core_map >> device->map->cores)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "core map 0x%x: one bit per core, 0x1 to 0x%x", core_map,
                        (1u << device->map->cores) - 1);
    count_resets(device, core_map);
    if (device->transport.kernel) return trn_kernel_reset(device, core_map);
    status = trn_notifications_drop(device, core_map);
    if (status != TRN_OK) return status;
    return reset(device, REQUEST_CORES, core_map, reset_map(device, core_map));
}
