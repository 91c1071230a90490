/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

/* Rings of the caller on the cores' engines (contract 7.1, 13.2). */

#define USER_RING_MIN 32u
#define USER_RING_MAX ((1u << 24) - 16u)

#define EXIT_PAUSE (10 * NS_PER_MS)

/* Contract 8: rings of the cores' own processors outlive the process that set them up. */
static bool is_nx_queue(uint32_t engine, uint32_t queue) {
    const uint32_t of_core = engine % TRN_ENGINES_PER_CORE;
    return queue == 14 && (of_core <= 4 || of_core == 7 || of_core == 8);
}

static trn_status need_user_queue(trn_device* device, uint32_t engine, uint32_t queue) {
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK) status = trn_need_engine(device, engine, queue);
    if (status == TRN_OK && engine >= device->map->user_engines)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "engine %u copies for the host: user rings live on engines 0..%u", engine,
                        device->map->user_engines - 1);
    return status;
}

static trn_status check_ring(trn_device* device, const char* side, uint64_t base, uint32_t length) {
    if (base % 256)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "the %s ring is at 0x%llx, not a multiple of 256", side,
                        (unsigned long long)base);
    if (length < USER_RING_MIN || length > USER_RING_MAX || length % 16)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "the %s ring has %u descriptors: %u..%u in steps of 16 are possible", side,
                        length, USER_RING_MIN, USER_RING_MAX);
    return trn_need_range(device, base, (uint64_t)length * sizeof(trn_descriptor));
}

static trn_status check_request(trn_device* device, const trn_ring_request* r) {
    trn_status status = need_user_queue(device, r->engine, r->queue);
    if (status == TRN_OK) status = check_ring(device, "m2s", r->m2s_base, r->m2s_length);
    if (status == TRN_OK) status = check_ring(device, "s2m", r->s2m_base, r->s2m_length);
    return status;
}

static trn_status assign_ring(trn_device* device, const trn_ring_request* r) {
    if (device->transport.kernel) {
        const trn_status status = trn_kernel_ring_init(device, r);
        if (status == TRN_OK) device->user_rings[r->engine] |= (uint16_t)(1u << r->queue);
        return status;
    }
    trn_mmio io = trn_mmio_of(device);
    trn_queue_init(&io, r->engine, r->queue, r->m2s_base, r->m2s_length, r->s2m_base,
                   r->s2m_length);
    device->user_rings[r->engine] |= (uint16_t)(1u << r->queue);
    return io.status;
}

trn_status trn_ring_init(trn_device* device, uint32_t engine, uint32_t queue, uint64_t m2s_base,
                         uint32_t m2s_length, uint64_t s2m_base, uint32_t s2m_length) {
    const trn_ring_request request = {engine, queue, m2s_base, m2s_length, s2m_base, s2m_length};
    const trn_status status = check_request(device, &request);
    return status == TRN_OK ? assign_ring(device, &request) : status;
}

trn_status trn_ring_start(trn_device* device, uint32_t engine, uint32_t queue, uint32_t m2s_count,
                          uint32_t s2m_count) {
    const trn_status status = need_user_queue(device, engine, queue);
    if (status != TRN_OK) return status;
    if (!(device->user_rings[engine] >> queue & 1))
        return trn_fail(device, TRN_INVALID_ARGUMENT, "engine %u queue %u has no ring of yours",
                        engine, queue);
    trn_mmio io = trn_mmio_of(device);
    /* Descriptors must be in memory before the doorbell. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    const uint64_t base = trn_engine_registers(device, engine);
    if (s2m_count) trn_mmio_write(&io, base + UDMA(S2M_Q_TAIL_INCREMENT)(queue), s2m_count);
    if (m2s_count) trn_mmio_write(&io, base + UDMA(M2S_Q_TAIL_INCREMENT)(queue), m2s_count);
    return io.status;
}

static void leave_queue(trn_mmio* io, uint32_t engine, uint32_t queue) {
    /* A kernel driver parks queues when their process ends (contract 13.2, ioctl 34). */
    if (!io->device->transport.kernel) trn_queue_park(io, engine, queue);
    io->device->user_rings[engine] &= (uint16_t) ~(1u << queue);
}

trn_status trn_ring_release(trn_device* device, uint32_t engine, uint32_t queue) {
    const trn_status status = need_user_queue(device, engine, queue);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    leave_queue(&io, engine, queue);
    return io.status;
}

trn_status trn_user_rings_drop(trn_device* device) {
    if (!device->probed) return TRN_OK;
    trn_mmio io = trn_mmio_of(device);
    for (uint32_t engine = 0; engine < device->map->user_engines; ++engine)
        for (uint32_t queue = 0; queue < TRN_QUEUES; ++queue)
            if (device->user_rings[engine] >> queue & 1) leave_queue(&io, engine, queue);
    return io.status;
}

static void read_side(trn_mmio* io, uint64_t queue, trn_ring_side* side) {
    /* Both sides have the same register layout (contract 6.2). */
    side->status = trn_mmio_read(io, queue + UDMA(M2S_Q_STATUS)(0));
    side->length = trn_mmio_read(io, queue + UDMA(M2S_Q_LENGTH)(0)) & 0xffffff;
    side->base = (uint64_t)trn_mmio_read(io, queue + UDMA(M2S_Q_BASE_HI)(0)) << 32;
    side->base |= trn_mmio_read(io, queue + UDMA(M2S_Q_BASE_LO)(0));
    const uint32_t head = trn_mmio_read(io, queue + UDMA(M2S_Q_HEAD)(0));
    const uint32_t tail = trn_mmio_read(io, queue + UDMA(M2S_Q_TAIL)(0));
    side->head = head & 0xffffff;
    side->head_ring_id = head >> 30;
    side->tail = tail & 0xffffff;
    side->tail_ring_id = tail >> 30;
}

trn_status trn_queue_get_state(trn_device* device, uint32_t engine, uint32_t queue,
                               trn_queue_state* state) {
    if (!device || !state) return trn_no_argument(device);
    const trn_status status = trn_need_engine(device, engine, queue);
    if (status != TRN_OK) return status;
    const uint64_t base = trn_engine_registers(device, engine);
    const uint64_t s2m = UDMA(S2M_Q_STATUS)(0) - UDMA(M2S_Q_STATUS)(0);
    const uint64_t step = UDMA(M2S_Q_STATUS)(queue) - UDMA(M2S_Q_STATUS)(0);
    trn_mmio io = trn_mmio_of(device);
    read_side(&io, base + step, &state->m2s);
    read_side(&io, base + step + s2m, &state->s2m);
    return io.status;
}

/* ---- batches ---- */

trn_status trn_ring_init_batch(trn_device* device, const trn_ring_request* requests,
                               uint32_t count) {
    if (!device || !requests) return trn_no_argument(device);
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK && (count == 0 || count > TRN_MAX_RING_BATCH))
        status = trn_fail(device, TRN_INVALID_ARGUMENT, "1 to %u rings at a time, not %u",
                          TRN_MAX_RING_BATCH, count);
    for (uint32_t i = 0; i < count && status == TRN_OK; ++i)
        status = check_request(device, &requests[i]);
    for (uint32_t i = 0; i < count && status == TRN_OK; ++i)
        status = assign_ring(device, &requests[i]);
    return status;
}

/* ---- descriptors ---- */

/* COMPUTE and SCALES descriptors have no address. Destination descriptors have op type 0 (copy). */
static bool has_address(const trn_descriptor* d) {
    return TRN_DMA_DESCRIPTOR_M2S_META_OP_TYPE_GET(d->words[1]) ==
           TRN_DMA_DESCRIPTOR_M2S_META_OP_TYPE_COPY;
}

trn_status trn_check_descriptors(trn_device* device, const trn_descriptor* descriptors,
                                 uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        if (!has_address(&descriptors[i])) continue;
        const uint32_t* words = descriptors[i].words;
        const uint64_t address = (uint64_t)words[3] << 32 | words[2];
        const uint32_t field = words[0] & 0xffff;
        const uint64_t size = field ? field : TRN_DESCRIPTOR_BYTES;
        if ((address & device->map->host_window) == 0) continue;
        if (!trn_host_memory_holds(device, address & ~device->map->host_window, size))
            return trn_fail(device, TRN_INVALID_ARGUMENT,
                            "descriptor %u: 0x%llx is not host memory of this device", i,
                            (unsigned long long)address);
    }
    return TRN_OK;
}

trn_status trn_descriptors_write(trn_device* device, uint32_t core, uint64_t ring, uint32_t first,
                                 const trn_descriptor* descriptors, uint32_t count) {
    if (!device || (count && !descriptors)) return trn_no_argument(device);
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK) status = trn_check_descriptors(device, descriptors, count);
    if (status == TRN_OK)
        status = trn_need_range(device, ring, ((uint64_t)first + count) * sizeof *descriptors);
    if (status != TRN_OK) return status;
    return trn_write(device, core, ring + (uint64_t)first * sizeof *descriptors, descriptors,
                     (uint64_t)count * sizeof *descriptors);
}

trn_status trn_descriptors_read(trn_device* device, uint32_t core, uint32_t engine, uint32_t queue,
                                trn_ring_kind kind, uint32_t first, trn_descriptor* descriptors,
                                uint32_t count) {
    if (!device || (count && !descriptors)) return trn_no_argument(device);
    trn_queue_state state;
    const trn_status status = trn_queue_get_state(device, engine, queue, &state);
    if (status != TRN_OK) return status;
    if (kind != TRN_RING_M2S && kind != TRN_RING_S2M)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "%u is not a side of a queue", kind);
    const trn_ring_side* side = kind == TRN_RING_M2S ? &state.m2s : &state.s2m;
    if (first > side->length || count > side->length - first)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "descriptors %u + %u of a ring of %u: engine %u queue %u", first, count,
                        side->length, engine, queue);
    return trn_read(device, core, descriptors, side->base + (uint64_t)first * sizeof *descriptors,
                    (uint64_t)count * sizeof *descriptors);
}

/* ---- the end of a process ---- */

trn_status trn_process_exit(trn_device* device) {
    const trn_status status = trn_need_ready(device);
    if (status != TRN_OK) return status;
    trn_mmio io = trn_mmio_of(device);
    for (uint32_t engine = 0; engine < device->map->user_engines; ++engine)
        for (uint32_t queue = 0; queue < TRN_QUEUES; ++queue)
            if (device->user_rings[engine] >> queue & 1 && !is_nx_queue(engine, queue))
                leave_queue(&io, engine, queue);
    return io.status == TRN_OK ? trn_pause(device, EXIT_PAUSE) : io.status;
}
