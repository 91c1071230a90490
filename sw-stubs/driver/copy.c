/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "device.h"
#include "ring.h"

/* Copies over the host-transfer queues (contract 7, 8). */

#define BOUNCE_BYTES (UINT64_C(1) << 20)

trn_status trn_need_copy_queues(trn_device* device) {
    const trn_status status = trn_need_ready(device);
    if (status == TRN_OK && device->transport.kernel)
        return trn_fail(device, TRN_NOT_SUPPORTED,
                        "the copy queues are the kernel driver's: only trn_write and trn_read "
                        "can use them");
    return status;
}

static trn_status usable_ring(trn_device* device, uint32_t core, trn_ring** ring) {
    trn_status status = trn_need_copy_queues(device);
    if (status == TRN_OK) status = trn_need_core(device, core);
    if (status != TRN_OK) return status;
    *ring = &device->copy_rings[core];
    if ((*ring)->broken != TRN_OK)
        return trn_fail(
            device, TRN_NOT_READY,
            "the copy queue of core %u (engine %u queue %u) stopped before (%s): reset the "
            "device or the cores, or restart the queue",
            core, (*ring)->engine, (*ring)->queue, trn_status_text((*ring)->broken));
    return TRN_OK;
}

static uint32_t descriptors_for(uint64_t size) {
    return (uint32_t)((size + TRN_DESCRIPTOR_BYTES - 1) / TRN_DESCRIPTOR_BYTES);
}

/* A job number consists of the core and the ring's sequence number. */
static trn_job job_number(uint32_t core, uint64_t sequence) {
    return (uint64_t)(core + 1) << 56 | sequence;
}

static trn_status find_job_ring(trn_device* device, trn_job job, trn_ring** ring,
                                uint64_t* sequence) {
    const uint64_t core = (job >> 56) - 1;
    *sequence = job & ((UINT64_C(1) << 56) - 1);
    if (!device->map || job >> 56 == 0 || core >= device->map->cores)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "0x%llx is not a job",
                        (unsigned long long)job);
    *ring = &device->copy_rings[core];
    return TRN_OK;
}

trn_status trn_submit(trn_device* device, uint32_t core, uint64_t destination, uint64_t source,
                      uint64_t size, trn_job* job) {
    if (!device || !job) return trn_no_argument(device);
    trn_ring* ring = NULL;
    trn_status status = usable_ring(device, core, &ring);
    if (status == TRN_OK) status = trn_need_range(device, destination, size);
    if (status == TRN_OK) status = trn_need_range(device, source, size);
    if (status != TRN_OK) return status;
    if (size == 0 || size > TRN_JOB_BYTES)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "a job copies 1 to %llu bytes, not %llu",
                        (unsigned long long)TRN_JOB_BYTES, (unsigned long long)size);
    if (!trn_ring_has_room(ring, descriptors_for(size))) {
        const trn_status polled = trn_ring_poll(device, ring);
        if (polled != TRN_OK) return polled;
        if (!trn_ring_has_room(ring, descriptors_for(size)))
            return trn_fail(device, TRN_BUSY,
                            "the copy queue of core %u is full: wait for an earlier job", core);
    }
    trn_ring_append_copy(ring, destination, source, size);
    uint64_t sequence = 0;
    const trn_status posted = trn_ring_post(device, ring, 0, 1, &sequence);
    if (posted == TRN_OK) *job = job_number(core, sequence);
    return posted;
}

trn_status trn_poll(trn_device* device, trn_job job, bool* done) {
    if (!device || !done) return trn_no_argument(device);
    trn_ring* ring = NULL;
    uint64_t sequence = 0;
    *done = false;
    const trn_status status = find_job_ring(device, job, &ring, &sequence);
    if (status != TRN_OK) return status;
    const ring_job* record = trn_ring_find(ring, sequence);
    if (!record)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "job 0x%llx was waited for before",
                        (unsigned long long)job);
    const trn_status polled = trn_ring_poll(device, ring);
    if (record->state == JOB_OVER) {
        *done = true;
        return record->result;
    }
    return polled;
}

trn_status trn_wait(trn_device* device, trn_job job) {
    if (!device) return trn_no_argument(device);
    trn_ring* ring = NULL;
    uint64_t sequence = 0;
    const trn_status status = find_job_ring(device, job, &ring, &sequence);
    return status == TRN_OK ? trn_ring_wait(device, ring, sequence) : status;
}

/* Two jobs in flight: the device works on one while the next is written (contract 7.5). */
trn_status trn_copy(trn_device* device, uint32_t core, uint64_t destination, uint64_t source,
                    uint64_t size) {
    trn_job running = 0;
    trn_status status = trn_need_copy_queues(device);
    if (status == TRN_OK) status = trn_need_core(device, core);
    if (status == TRN_OK) status = trn_need_range(device, destination, size);
    if (status == TRN_OK) status = trn_need_range(device, source, size);
    for (uint64_t done = 0; done < size && status == TRN_OK;) {
        const uint64_t left = size - done;
        const uint64_t part = left < TRN_JOB_BYTES ? left : TRN_JOB_BYTES;
        trn_job next = 0;
        status = trn_submit(device, core, destination + done, source + done, part, &next);
        if (status == TRN_BUSY && running) { /* other jobs fill the ring: one at a time */
            status = trn_wait(device, running);
            running = 0;
            continue;
        }
        done += part;
        const trn_status waited = running ? trn_wait(device, running) : TRN_OK;
        if (waited != TRN_OK) status = waited;
        running = next;
    }
    const trn_status waited = running ? trn_wait(device, running) : TRN_OK;
    return status != TRN_OK ? status : waited;
}

static trn_status find_bounce(trn_device* device, uint32_t core, trn_dma_memory** bounce) {
    const trn_status status = trn_need_core(device, core);
    if (status != TRN_OK) return status;
    *bounce = &device->bounce[core];
    return (*bounce)->host ? TRN_OK : trn_dma_allocate(device, BOUNCE_BYTES, *bounce);
}

trn_status trn_write(trn_device* device, uint32_t core, uint64_t destination, const void* bytes,
                     uint64_t size) {
    if (!device || (size && !bytes)) return trn_no_argument(device);
    trn_dma_memory* bounce = NULL;
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK) status = trn_need_range(device, destination, size);
    if (status == TRN_OK && device->transport.kernel)
        return trn_kernel_write(device, core, destination, bytes, size);
    if (status == TRN_OK) status = find_bounce(device, core, &bounce);
    for (uint64_t done = 0; done < size && status == TRN_OK; done += BOUNCE_BYTES) {
        const uint64_t part = size - done < BOUNCE_BYTES ? size - done : BOUNCE_BYTES;
        memcpy(bounce->host, (const uint8_t*)bytes + done, part);
        status = trn_copy(device, core, destination + done, trn_host_address(device, bounce->iova),
                          part);
    }
    return status;
}

trn_status trn_read(trn_device* device, uint32_t core, void* bytes, uint64_t source,
                    uint64_t size) {
    if (!device || (size && !bytes)) return trn_no_argument(device);
    trn_dma_memory* bounce = NULL;
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK) status = trn_need_range(device, source, size);
    if (status == TRN_OK && device->transport.kernel)
        return trn_kernel_read(device, core, bytes, source, size);
    if (status == TRN_OK) status = find_bounce(device, core, &bounce);
    for (uint64_t done = 0; done < size && status == TRN_OK; done += BOUNCE_BYTES) {
        const uint64_t part = size - done < BOUNCE_BYTES ? size - done : BOUNCE_BYTES;
        status =
            trn_copy(device, core, trn_host_address(device, bounce->iova), source + done, part);
        if (status == TRN_OK) memcpy((uint8_t*)bytes + done, bounce->host, part);
    }
    return status;
}

/* Contract 10: memory that may be written by PROGRAM_ENGINE. */
static bool programmable(const trn_device* device, uint64_t address, uint64_t size) {
    const size_t kinds = sizeof device->map->programmable / sizeof device->map->programmable[0];
    for (size_t kind = 0; kind < kinds; ++kind) {
        const trn_blocks* blocks = &device->map->programmable[kind].blocks;
        uint64_t bytes = device->map->programmable[kind].bytes;
        if (bytes == 0) bytes = device->generation->stack_bytes;
        uint32_t count = 0;
        for (size_t run = 0; run < sizeof blocks->runs / sizeof blocks->runs[0]; ++run)
            count += blocks->runs[run].count;
        for (uint32_t n = 0; n < count; ++n) {
            const uint64_t offset = address - trn_block_address(blocks, n);
            if (offset < bytes && size <= bytes - offset) return true;
        }
    }
    return false;
}

trn_status trn_program_engine(trn_device* device, uint32_t core, uint64_t destination,
                              const void* bytes, uint64_t size) {
    if (!device || (size && !bytes)) return trn_no_argument(device);
    const trn_status status = trn_need_ready(device);
    if (status != TRN_OK) return status;
    if (!programmable(device, destination, size))
        return trn_fail(
            device, TRN_INVALID_ARGUMENT,
            "0x%llx + %llu is not a valid place of programs: cores, TOP_SPs, stacks, PREPROC",
            (unsigned long long)destination, (unsigned long long)size);
    return trn_write(device, core, destination, bytes, size);
}

trn_status trn_memset(trn_device* device, uint32_t core, uint64_t destination, uint8_t value,
                      uint64_t size) {
    trn_dma_memory* bounce = NULL;
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK) status = trn_need_range(device, destination, size);
    if (status == TRN_OK) status = find_bounce(device, core, &bounce);
    if (status != TRN_OK || size == 0) return status;
    const uint64_t pattern = size < TRN_DESCRIPTOR_BYTES ? size : TRN_DESCRIPTOR_BYTES;
    memset(bounce->host, value, pattern);
    status = trn_copy(device, core, destination, trn_host_address(device, bounce->iova), pattern);

    /* The filled part is the source of the rest (contract 8). */
    for (uint64_t done = pattern; done < size && status == TRN_OK;) {
        trn_ring* ring = NULL;
        status = usable_ring(device, core, &ring);
        if (status != TRN_OK) break;
        if (!trn_ring_has_room(ring, TRN_BATCH_DESCRIPTORS))
            return trn_fail(device, TRN_BUSY, "the copy queue of core %u is full", core);
        for (uint32_t n = 0; n < TRN_BATCH_DESCRIPTORS && done < size; ++n) {
            const uint64_t left = size - done;
            const uint32_t part = (uint32_t)(left < pattern ? left : pattern);
            trn_ring_append(ring, destination + done, destination, part,
                            part == left ? TRN_WRITE_BARRIER : 0);
            done += part;
        }
        uint64_t sequence = 0;
        status = trn_ring_post(device, ring, 0, 1, &sequence);
        if (status == TRN_OK) status = trn_ring_wait(device, ring, sequence);
    }
    return status;
}

trn_status trn_restart_queue(trn_device* device, uint32_t core) {
    trn_status status = trn_need_copy_queues(device);
    if (status == TRN_OK) status = trn_need_core(device, core);
    if (status != TRN_OK) return status;
    trn_ring* ring = &device->copy_rings[core];
    status = trn_engine_set_state(device, ring->engine, TRN_ENGINE_SET_NORMAL);
    return status == TRN_OK ? trn_ring_restart(device, ring) : status;
}

bool trn_last_failure(const trn_device* device, trn_failure* failure) {
    if (!device || !failure) return false;
    if (device->failed_copy) *failure = device->failure;
    return device->failed_copy;
}
