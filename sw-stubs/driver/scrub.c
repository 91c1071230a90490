/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "device.h"
#include "ring.h"

/* HBM scrub (contract 8): each of a stack's sixteen engines writes its own 64 KiB stripe of every
 * MiB. The first stripe is copied from the host, each further one from the previous stripe, and the
 * last one back to the host, so that an error in any stripe is detected. */

#define ENGINES TRN_SCRUB_ENGINES
#define STRIPE TRN_DESCRIPTOR_BYTES
#define STEP (ENGINES * STRIPE)
#define TIME_LIMIT_DIVISOR \
    200u /* contract 7.5: divisor of the public driver's time limit of copies */

struct trn_scrubbing {
    trn_ring rings[ENGINES];
    uint64_t jobs[ENGINES];
    uint32_t started, value;
    trn_dma_memory pattern, back; /* one stripe; one per engine */
};
typedef trn_scrubbing scrubber;

static uint32_t scrub_engine(const trn_device* device, uint32_t stack, uint32_t i) {
    return device->map->user_engines / device->map->stacks * stack + device->map->scrub_engines[i];
}

static trn_status open_rings(trn_device* device, scrubber* scrub, uint32_t stack, uint32_t length) {
    trn_status status = trn_dma_allocate(device, STRIPE, &scrub->pattern);
    if (status == TRN_OK) status = trn_dma_allocate(device, ENGINES * STRIPE, &scrub->back);
    for (uint32_t i = 0; i < ENGINES && status == TRN_OK; ++i)
        status = trn_ring_open(device, &scrub->rings[i], scrub_engine(device, stack, i), 0, length);
    return status;
}

/* Parks the queues before their memory is freed. */
static trn_status close_rings(trn_device* device, scrubber* scrub) {
    trn_mmio io = trn_mmio_of(device);
    for (uint32_t i = 0; i < ENGINES; ++i)
        if (scrub->rings[i].m2s.host) trn_queue_park(&io, scrub->rings[i].engine, 0);
    for (uint32_t i = 0; i < ENGINES; ++i) trn_ring_close(device, &scrub->rings[i], TRN_OK);
    trn_dma_release(device, &scrub->pattern);
    trn_dma_release(device, &scrub->back);
    return io.status;
}

static trn_status start_engine(trn_device* device, scrubber* scrub, uint32_t i, uint64_t first,
                               uint32_t stripes) {
    trn_ring* ring = &scrub->rings[i];
    const uint32_t size = (uint32_t)STRIPE;
    const uint64_t start = first + i * STRIPE;
    trn_ring_append(ring, start, trn_host_address(device, scrub->pattern.iova), size, TRN_DMB);
    for (uint32_t n = 1; n < stripes; ++n)
        trn_ring_append(ring, start + n * STEP, start + (n - 1) * STEP, size, TRN_DMB);
    trn_ring_append(ring, trn_host_address(device, scrub->back.iova) + i * STRIPE,
                    start + (stripes - 1) * STEP, size, TRN_DMB);
    return trn_ring_post(device, ring, 0, TIME_LIMIT_DIVISOR, &scrub->jobs[i]);
}

static trn_status check_range(trn_device* device, uint32_t stack, uint64_t offset, uint64_t size) {
    trn_device_info info;
    trn_status status = trn_need_copy_queues(device);
    if (status == TRN_OK) status = trn_get_info(device, &info);
    if (status != TRN_OK) return status;
    if (stack >= info.stacks || offset % STEP || size % STEP || size == 0 ||
        offset > info.stack_size || size > info.stack_size - offset)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "cannot scrub %llu bytes at 0x%llx of HBM %u: whole MiB inside the stack",
                        (unsigned long long)size, (unsigned long long)offset, stack);
    for (uint32_t i = 0; i < ENGINES; ++i)
        if (device->user_rings[scrub_engine(device, stack, i)] & 1)
            return trn_fail(device, TRN_BUSY, "engine %u queue 0 has a user ring",
                            scrub_engine(device, stack, i));
    return TRN_OK;
}

/* The status of the whole scrub, of which `result` is that of the work. */
static trn_status end(trn_device* device, scrubber* scrub, trn_status result) {
    const trn_status closed = close_rings(device, scrub);
    free(scrub);
    return result == TRN_OK ? closed : result;
}

trn_status trn_scrub_start(trn_device* device, uint32_t stack, uint64_t offset, uint64_t size,
                           uint32_t value, trn_scrubbing** scrubbing) {
    if (!device || !scrubbing) return trn_no_argument(device);
    *scrubbing = NULL;
    trn_status status = check_range(device, stack, offset, size);
    if (status == TRN_OK && size > TRN_SCRUB_BYTES)
        status = trn_fail(device, TRN_INVALID_ARGUMENT, "a scrub has at most %llu bytes, not %llu",
                          (unsigned long long)TRN_SCRUB_BYTES, (unsigned long long)size);
    if (status != TRN_OK) return status;
    scrubber* scrub = calloc(1, sizeof *scrub);
    if (!scrub) return trn_fail(device, TRN_NO_MEMORY, "no memory for the scrub");
    const uint32_t stripes = (uint32_t)(size / STEP);
    const uint32_t length = (stripes + 3 + 15) / 16 * 16;
    status = open_rings(device, scrub, stack, length < 32 ? 32 : length);
    scrub->value = value;
    for (uint64_t i = 0; i < STRIPE / 4 && status == TRN_OK; ++i)
        ((uint32_t*)scrub->pattern.host)[i] = value;
    const uint64_t first = trn_hbm_address(device, stack, offset);
    for (; scrub->started < ENGINES && status == TRN_OK; ++scrub->started)
        status = start_engine(device, scrub, scrub->started, first, stripes);
    if (status != TRN_OK) return end(device, scrub, status);
    *scrubbing = scrub;
    return TRN_OK;
}

static trn_status check_back(trn_device* device, const scrubber* scrub) {
    const uint32_t* back = scrub->back.host;
    for (uint64_t i = 0; i < ENGINES * STRIPE / 4; ++i)
        if (back[i] != scrub->value)
            return trn_fail(device, TRN_PROTOCOL_ERROR,
                            "engine %u read back 0x%08x instead of 0x%08x",
                            scrub->rings[i * 4 / STRIPE].engine, back[i], scrub->value);
    return TRN_OK;
}

trn_status trn_scrub_wait(trn_device* device, trn_scrubbing* scrub) {
    if (!device || !scrub) return trn_no_argument(device);
    trn_status status = TRN_OK;
    for (uint32_t i = 0; i < scrub->started; ++i) {
        const trn_status waited = trn_ring_wait(device, &scrub->rings[i], scrub->jobs[i]);
        if (status == TRN_OK) status = waited;
    }
    if (status == TRN_OK) status = check_back(device, scrub);
    return end(device, scrub, status);
}

trn_status trn_scrub(trn_device* device, uint32_t stack, uint64_t offset, uint64_t size,
                     uint32_t value) {
    trn_status status = check_range(device, stack, offset, size);
    for (uint64_t done = 0; done < size && status == TRN_OK; done += TRN_SCRUB_BYTES) {
        const uint64_t left = size - done;
        trn_scrubbing* part = NULL;
        status = trn_scrub_start(device, stack, offset + done,
                                 left < TRN_SCRUB_BYTES ? left : TRN_SCRUB_BYTES, value, &part);
        if (status == TRN_OK) status = trn_scrub_wait(device, part);
    }
    return status;
}
