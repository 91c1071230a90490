/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "device.h"
#include "ring.h"

/* Compute packets (doc/dma_compute.md): built here, executed on a ring of the library. */

#define WORD(field, value) TRN_DMA_DESCRIPTOR_##field##_SET(value)
#define BIT(field) ((uint32_t)TRN_DMA_DESCRIPTOR_##field##_MASK)

#define RING_LENGTH 256u /* a packet of TRN_COMPUTE_M2S descriptors and its marker */

#define SAME_NUMBER(type)                                                                   \
    _Static_assert(                                                                         \
        (uint32_t)TRN_##type == (uint32_t)TRN_DMA_DESCRIPTOR_COMPUTE_OPERATION_FROM_##type, \
        "element types equal their numbers in descriptors")
SAME_NUMBER(FP32);
SAME_NUMBER(TF32);
SAME_NUMBER(BF16);
SAME_NUMBER(FP16);
SAME_NUMBER(FP8_E3M4);
SAME_NUMBER(FP8_E4M3);
SAME_NUMBER(FP8_E4M3FN);
SAME_NUMBER(FP8_E5M2);
SAME_NUMBER(INT8);
SAME_NUMBER(UINT8);
SAME_NUMBER(INT16);
SAME_NUMBER(UINT16);
SAME_NUMBER(INT32);
SAME_NUMBER(UINT32);

static uint32_t meta(uint32_t op_type) {
    return TRN_DMA_DESCRIPTOR_M2S_META_RESET | WORD(M2S_META_OP_TYPE, op_type);
}

static trn_descriptor without_data(uint32_t op_type, uint32_t word_2, uint32_t word_3) {
    const trn_descriptor d = {{0, meta(op_type), word_2, word_3}};
    return d;
}

static uint32_t operation_word(const trn_compute_packet* p) {
    return WORD(COMPUTE_OPERATION_OPERATION, p->operation) | WORD(COMPUTE_OPERATION_FROM, p->from) |
           WORD(COMPUTE_OPERATION_TO, p->to) | WORD(COMPUTE_OPERATION_OPERANDS, p->operands) |
           (p->flags & TRN_COMPUTE_ACCUMULATE ? BIT(COMPUTE_OPERATION_ACCUMULATE) : 0) |
           (p->flags & TRN_COMPUTE_DUPLICATE ? BIT(COMPUTE_OPERATION_DUPLICATE) : 0) |
           (p->flags & TRN_COMPUTE_STOCHASTIC ? BIT(COMPUTE_OPERATION_STOCHASTIC) : 0) |
           (p->flags & TRN_COMPUTE_SATURATE ? BIT(COMPUTE_OPERATION_SATURATE) : 0) |
           (p->flags & TRN_COMPUTE_SKIP ? BIT(COMPUTE_OPERATION_SKIP) : 0);
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

bool trn_compute_build(const trn_compute_packet* p, trn_descriptor* m2s, uint32_t* m2s_count,
                       trn_descriptor* s2m, uint32_t* s2m_count) {
    if (!p || !m2s || !m2s_count || !s2m || !s2m_count) return false;
    if ((p->source_count && !p->sources) || (p->destination_count && !p->destinations))
        return false;
    const bool scaled = p->operation == TRN_COMPUTE_SCALED_ADD;
    if (p->source_count > TRN_COMPUTE_PIECES || p->destination_count > TRN_COMPUTE_PIECES ||
        p->operands > TRN_COMPUTE_OPERANDS || (scaled && !p->scales))
        return false;
    uint32_t n = 0;
    m2s[n++] =
        without_data(TRN_DMA_DESCRIPTOR_M2S_META_OP_TYPE_COMPUTE, operation_word(p), p->parameter);
    for (uint32_t i = 0; scaled && i < p->operands; i += 2)
        m2s[n++] = without_data(TRN_DMA_DESCRIPTOR_M2S_META_OP_TYPE_SCALES, bits_of(p->scales[i]),
                                i + 1 < p->operands ? bits_of(p->scales[i + 1]) : 0);
    for (uint32_t i = 0; i < p->source_count; ++i) {
        m2s[n] = trn_m2s_descriptor(p->sources[i].address, p->sources[i].size, 0, 0);
        m2s[n++].words[0] &= ~(BIT(M2S_CONTROL_FIRST) | BIT(M2S_CONTROL_LAST));
    }
    m2s[0].words[0] |= BIT(M2S_CONTROL_FIRST);
    m2s[n - 1].words[0] |= BIT(M2S_CONTROL_LAST);
    for (uint32_t i = 0; i < p->destination_count; ++i)
        s2m[i] = trn_s2m_descriptor(p->destinations[i].address, p->destinations[i].size, 0, 0);
    *m2s_count = n;
    *s2m_count = p->destination_count;
    return true;
}

static trn_status check_queue(trn_device* device, uint32_t engine, uint32_t queue) {
    trn_status status = trn_need_ready(device);
    if (status == TRN_OK) status = trn_need_engine(device, engine, queue);
    if (status != TRN_OK) return status;
    if (engine >= device->map->user_engines)
        return trn_fail(device, TRN_INVALID_ARGUMENT, "engine %u copies for the host", engine);
    if (device->user_rings[engine] >> queue & 1)
        return trn_fail(device, TRN_BUSY, "engine %u queue %u has a user ring", engine, queue);
    return TRN_OK;
}

/* Posts one packet and waits for it. */
static trn_status execute(trn_device* device, trn_ring* ring, const trn_compute_packet* packet) {
    trn_descriptor m2s[TRN_COMPUTE_M2S], s2m[TRN_COMPUTE_PIECES];
    uint32_t m2s_count, s2m_count;
    if (!trn_compute_build(packet, m2s, &m2s_count, s2m, &s2m_count))
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "a compute packet has at most %u operands and %u pieces on a side, none "
                        "of them NULL",
                        TRN_COMPUTE_OPERANDS, TRN_COMPUTE_PIECES);
    trn_status status = trn_check_descriptors(device, m2s, m2s_count);
    if (status == TRN_OK) status = trn_check_descriptors(device, s2m, s2m_count);
    if (status != TRN_OK) return status;
    for (uint32_t i = 0; i < m2s_count; ++i) trn_ring_put(ring, TRN_RING_M2S, m2s[i]);
    for (uint32_t i = 0; i < s2m_count; ++i) trn_ring_put(ring, TRN_RING_S2M, s2m[i]);
    uint64_t job;
    status = trn_ring_post(device, ring, 0, 1, &job);
    return status == TRN_OK ? trn_ring_wait(device, ring, job) : status;
}

typedef struct ring_user {
    trn_device* device;
    trn_ring ring;
} ring_user;

static trn_status open_ring(ring_user* user, trn_device* device, uint32_t engine, uint32_t queue) {
    memset(user, 0, sizeof *user);
    user->device = device;
    trn_mmio io = trn_mmio_of(device);
    /* Clear stale error causes, so that those read later belong to this packet. */
    const uint64_t base = trn_engine_registers(device, engine);
    trn_mmio_write(&io, base + UDMA(SECONDARY_CAUSE)(GROUP_A), 0);
    trn_mmio_write(&io, base + UDMA(SECONDARY_CAUSE)(GROUP_B), 0);
    if (io.status != TRN_OK) return io.status;
    return trn_ring_open(device, &user->ring, engine, queue, RING_LENGTH);
}

static trn_status close_ring(ring_user* user, trn_status result) {
    trn_mmio io = trn_mmio_of(user->device);
    if (user->ring.m2s.host) trn_queue_park(&io, user->ring.engine, user->ring.queue);
    trn_ring_close(user->device, &user->ring, TRN_OK);
    return result == TRN_OK ? io.status : result;
}

trn_status trn_compute(trn_device* device, uint32_t engine, uint32_t queue,
                       const trn_compute_packet* packet) {
    if (!device || !packet) return trn_no_argument(device);
    trn_status status = check_queue(device, engine, queue);
    if (status != TRN_OK) return status;
    ring_user user;
    status = open_ring(&user, device, engine, queue);
    if (status == TRN_OK) status = execute(device, &user.ring, packet);
    return close_ring(&user, status);
}

trn_status trn_dma_reduce(trn_device* device, uint32_t engine, uint32_t queue,
                          trn_compute_operation operation, trn_element element,
                          const uint64_t* sources, uint32_t count, uint64_t destination,
                          uint64_t size) {
    if (!device || !sources) return trn_no_argument(device);
    trn_status status = check_queue(device, engine, queue);
    if (status != TRN_OK) return status;
    if (count == 0 || count > TRN_COMPUTE_OPERANDS || size == 0)
        return trn_fail(device, TRN_INVALID_ARGUMENT,
                        "%u sources of %llu bytes: 1 to %u, not empty", count,
                        (unsigned long long)size, TRN_COMPUTE_OPERANDS);
    status = trn_need_range(device, destination, size);
    for (uint32_t i = 0; i < count && status == TRN_OK; ++i)
        status = trn_need_range(device, sources[i], size);
    if (status != TRN_OK) return status;
    ring_user user;
    status = open_ring(&user, device, engine, queue);
    for (uint64_t done = 0; done < size && status == TRN_OK; done += TRN_DESCRIPTOR_BYTES) {
        const uint64_t left = size - done;
        const uint32_t part = (uint32_t)(left < TRN_DESCRIPTOR_BYTES ? left : TRN_DESCRIPTOR_BYTES);
        trn_dma_piece operands[TRN_COMPUTE_OPERANDS];
        for (uint32_t i = 0; i < count; ++i) operands[i] = (trn_dma_piece){sources[i] + done, part};
        const trn_dma_piece result = {destination + done, part};
        const trn_compute_packet packet = {.operation = operation,
                                           .from = element,
                                           .to = element,
                                           .operands = count,
                                           .sources = operands,
                                           .source_count = count,
                                           .destinations = &result,
                                           .destination_count = 1};
        status = execute(device, &user.ring, &packet);
    }
    return close_ring(&user, status);
}
