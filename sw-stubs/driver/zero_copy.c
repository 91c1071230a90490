/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "device.h"
#include "ring.h"

/* Copies without a bounce buffer, and additional queues of the host-transfer engines (contract 7.5,
 * 8, 13.2). */

#define PAGE UINT64_C(4096)
#define BATCH_PAGES 64u
#define WINDOW_WRITE_BYTES UINT64_C(8192) /* contract 2: shorter writes go through BAR4 */

/* ---- queues ---- */

static uint32_t host_engine(const trn_device* device, uint32_t core) {
    return core / device->map->cores_per_host_engine;
}

static trn_status open_queue(trn_device* device, uint32_t engine, uint32_t queue) {
    trn_ring* ring = calloc(1, sizeof *ring);
    if (!ring) return trn_fail(device, TRN_NO_MEMORY, "no memory for a queue");
    const trn_status status =
        trn_ring_open(device, ring, device->map->user_engines + engine, queue, RING_DESCRIPTORS);
    if (status == TRN_OK) {
        device->more_rings[engine][queue] = ring;
    } else {
        trn_ring_close(device, ring, status);
        free(ring);
    }
    return status;
}

trn_status trn_host_queue_open(trn_device* device, uint32_t core, uint32_t* queue) {
    if (!device || !queue) return trn_no_argument(device);
    trn_status status = trn_need_copy_queues(device);
    if (status == TRN_OK) status = trn_need_core(device, core);
    if (status != TRN_OK) return status;
    const uint32_t engine = host_engine(device, core);
    for (uint32_t free = device->map->cores_per_host_engine; free < TRN_QUEUES; ++free)
        if (!device->more_rings[engine][free]) {
            status = open_queue(device, engine, free);
            if (status == TRN_OK) *queue = free;
            return status;
        }
    return trn_fail(device, TRN_BUSY, "the host-transfer engine of core %u has no free queue",
                    core);
}

static void close_ring_of(trn_device* device, uint32_t engine, uint32_t queue, trn_status why) {
    trn_ring** ring = &device->more_rings[engine][queue];
    if (!*ring) return;
    trn_ring_close(device, *ring, why);
    free(*ring);
    *ring = NULL;
}

trn_status trn_host_queue_close(trn_device* device, uint32_t core, uint32_t queue) {
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK) status = trn_need_core(device, core);
    if (status != TRN_OK) return status;
    const uint32_t engine = host_engine(device, core);
    if (queue >= TRN_QUEUES || !device->more_rings[engine][queue])
        return trn_fail(device, TRN_INVALID_ARGUMENT, "queue %u of core %u was not opened", queue,
                        core);
    trn_mmio io = trn_mmio_of(device);
    trn_queue_park(&io, device->map->user_engines + engine, queue);
    close_ring_of(device, engine, queue, TRN_ABORTED);
    return io.status;
}

trn_status trn_copies_stop(trn_device* device, uint32_t core_map) {
    trn_mmio io = trn_mmio_of(device);
    for (uint32_t core = 0; core < device->map->cores; ++core) {
        if (!(core_map >> core & 1)) continue;
        const trn_ring* own = &device->copy_rings[core];
        if (trn_ring_is_in_use(own)) trn_queue_park(&io, own->engine, own->queue);
        for (uint32_t queue = 0; queue < TRN_QUEUES; ++queue) {
            const trn_ring* more = device->more_rings[host_engine(device, core)][queue];
            if (more && trn_ring_is_in_use(more)) trn_queue_park(&io, more->engine, queue);
        }
    }
    return io.status;
}

void trn_host_queues_drop(trn_device* device, uint32_t core_map) {
    for (uint32_t core = 0; core < device->map->cores; ++core)
        for (uint32_t queue = 0; core_map >> core & 1 && queue < TRN_QUEUES; ++queue)
            close_ring_of(device, host_engine(device, core), queue, TRN_ABORTED);
}

/* ---- copies ---- */

typedef struct transfer {
    uint64_t inside, host; /* AXI addresses */
    uint64_t size;
    bool to_device;
} transfer;

/* Appends a batch, one descriptor per contiguous pages up to 64 KiB; returns its bytes. */
static uint64_t append_batch(trn_ring* ring, const transfer* copy, uint64_t done) {
    const uint64_t first = copy->host + done;
    const uint64_t max = (first / PAGE + BATCH_PAGES) * PAGE - first;
    const uint64_t bytes = copy->size - done < max ? copy->size - done : max;
    for (uint64_t position = done; position < done + bytes;) {
        const uint64_t run = TRN_DESCRIPTOR_BYTES - (copy->host + position) % PAGE;
        const uint64_t left = done + bytes - position;
        const uint32_t size = (uint32_t)(left < run ? left : run);
        const uint64_t inside = copy->inside + position, host = copy->host + position;
        trn_ring_append(ring, copy->to_device ? inside : host, copy->to_device ? host : inside,
                        size, 0);
        position += size;
    }
    return bytes;
}

/* Two batches in flight: the device works on one while the next is written. */
static trn_status run_batches(trn_device* device, trn_ring* ring, const transfer* copy) {
    const uint32_t ordered =
        copy->to_device && device->generation->has_strong_order ? TRN_STRONG_ORDER : 0;
    uint64_t jobs[2] = {0, 0}, posted = 0, waited = 0;
    trn_status status = TRN_OK;
    for (uint64_t done = 0; status == TRN_OK && (done < copy->size || waited < posted);) {
        if (done < copy->size && posted - waited < 2 && trn_ring_has_room(ring, BATCH_PAGES)) {
            done += append_batch(ring, copy, done);
            status = trn_ring_post(device, ring, ordered, 1, &jobs[posted++ % 2]);
        } else if (waited < posted) {
            status = trn_ring_wait(device, ring, jobs[waited++ % 2]);
        } else {
            return trn_fail(device, TRN_BUSY, "engine %u queue %u is full", ring->engine,
                            ring->queue);
        }
    }
    while (waited < posted) {
        const trn_status rest = trn_ring_wait(device, ring, jobs[waited++ % 2]);
        if (status == TRN_OK) status = rest;
    }
    return status;
}

/* Whether a write goes through BAR4: up to WINDOW_WRITE_BYTES into HBM, except on revision 255. */
static bool uses_window(trn_device* device, const transfer* copy, uint32_t* stack,
                        uint64_t* offset) {
    if (!copy->to_device || copy->size > WINDOW_WRITE_BYTES || device->bar_size[4] == 0 ||
        device->mode == TRN_MODE_QEMU)
        return false;
    for (*stack = 0; *stack < device->map->stacks; ++*stack) {
        *offset = copy->inside - trn_hbm_address(device, *stack, 0);
        if (*offset < device->generation->stack_bytes &&
            copy->size <= device->generation->stack_bytes - *offset)
            return true;
    }
    return false;
}

trn_status trn_zero_copy(trn_device* device, uint32_t core, uint32_t queue, uint64_t inside,
                         const trn_buffer* buffer, uint64_t offset, uint64_t size,
                         trn_direction direction) {
    if (!device || !buffer) return trn_no_argument(device);
    trn_status status = trn_need_copy_queues(device);
    if (status == TRN_OK) status = trn_need_core(device, core);
    if (status == TRN_OK) status = trn_need_range(device, inside, size);
    if (status != TRN_OK) return status;
    trn_ring* ring = queue == TRN_DEFAULT_QUEUE ? &device->copy_rings[core]
                     : queue < TRN_QUEUES ? device->more_rings[host_engine(device, core)][queue]
                                          : NULL;
    if (!ring)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "queue %u of core %u was not opened", queue,
                        core);
    if (direction != TRN_TO_DEVICE && direction != TRN_FROM_DEVICE)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "%u is not a direction", direction);
    if (!buffer->memory.host || offset > buffer->memory.size || size > buffer->memory.size - offset)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "the buffer has no %llu bytes at 0x%llx",
                        (unsigned long long)size, (unsigned long long)offset);
    if (ring->broken != TRN_OK)
        return trn_fail(device, TRN_NOT_READY, "engine %u queue %u stopped before: %s",
                        ring->engine, ring->queue, trn_status_text(ring->broken));
    const transfer copy = {inside, trn_buffer_address(device, buffer, offset), size,
                           direction == TRN_TO_DEVICE};
    uint32_t stack = 0;
    uint64_t place = 0;
    if (uses_window(device, &copy, &stack, &place))
        return trn_window_write(device, stack, place, (const uint8_t*)buffer->memory.host + offset,
                                size);
    return run_batches(device, ring, &copy);
}
