/* SPDX-License-Identifier: Apache-2.0 */
#include "core_program.h"

#include <stdlib.h>
#include <string.h>

#include "sw-stubs/driver/crc32c.h"
#include "trn/cc_program_regs.h"
#include "trn/dma_descriptor_regs.h"

#define P(name) TRN_CC_PROGRAM_##name
#define D(name) TRN_DMA_DESCRIPTOR_##name
#define STEP_BYTES P(STEP_OP_STRIDE)
#define RING_ID 1u /* rings restart with each run and never wrap */

bool trn_coll_program_init(coll_program* program, uint32_t lanes, uint64_t increment_address) {
    *program = (coll_program){
        .bytes = calloc(1, P(SIZE)), .lanes = lanes, .increment_address = increment_address};
    return program->bytes != NULL;
}

void trn_coll_program_free(coll_program* program) {
    for (uint32_t n = 0; n < COLL_MAX_LANES; ++n) {
        free(program->lane[n].m2s.entries);
        free(program->lane[n].s2m.entries);
    }
    free(program->bytes);
    *program = (coll_program){0};
}

/* ---- descriptors ---- */

static void append(coll_program* program, coll_ring* ring, trn_descriptor entry) {
    if (ring->count == ring->capacity) {
        const uint32_t more = ring->capacity ? 2 * ring->capacity : 64;
        trn_descriptor* entries = realloc(ring->entries, more * sizeof *entries);
        if (!entries) {
            program->full = true;
            return;
        }
        ring->entries = entries;
        ring->capacity = more;
    }
    ring->entries[ring->count++] = entry;
}

void trn_coll_copy(coll_program* program, uint32_t lane, uint64_t destination, uint64_t source,
                   uint64_t bytes) {
    coll_lane* l = &program->lane[lane];
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t left = bytes - done;
        const uint32_t size = (uint32_t)(left < TRN_DESCRIPTOR_BYTES ? left : TRN_DESCRIPTOR_BYTES);
        append(program, &l->m2s, trn_m2s_descriptor(source + done, size, RING_ID, 0));
        append(program, &l->s2m, trn_s2m_descriptor(destination + done, size, RING_ID, 0));
        done += size;
    }
}

static trn_compute_operation operation_of(const coll_reduction* reduction) {
    return reduction->operand_count == 1          ? TRN_COMPUTE_COPY
           : reduction->operation == TRN_COLL_MIN ? TRN_COMPUTE_MIN
           : reduction->operation == TRN_COLL_MAX ? TRN_COMPUTE_MAX
                                                  : TRN_COMPUTE_ADD;
}

static void reduce_piece(coll_program* program, coll_lane* lane, const coll_reduction* reduction,
                         uint64_t offset, uint32_t size) {
    const bool twice = reduction->destinations[1] != 0;
    const trn_compute_operation operation = operation_of(reduction);
    /* A copy moves untyped bytes: 0. */
    const trn_element type = operation == TRN_COMPUTE_COPY ? (trn_element)0 : reduction->type;
    trn_dma_piece operands[TRN_COMPUTE_OPERANDS];
    for (uint32_t n = 0; n < reduction->operand_count; ++n)
        operands[n] = (trn_dma_piece){reduction->operands[n] + offset, size};
    const trn_dma_piece results[] = {{reduction->destinations[0] + offset, size},
                                     {reduction->destinations[1] + offset, size}};
    const trn_compute_packet packet = {.operation = operation,
                                       .from = type,
                                       .to = type,
                                       .operands = reduction->operand_count,
                                       .flags = twice ? TRN_COMPUTE_DUPLICATE : 0,
                                       .sources = operands,
                                       .source_count = reduction->operand_count,
                                       .destinations = results,
                                       .destination_count = twice ? 2 : 1};
    trn_descriptor m2s[TRN_COMPUTE_M2S], s2m[TRN_COMPUTE_PIECES];
    uint32_t m2s_count = 0, s2m_count = 0;
    trn_compute_build(&packet, m2s, &m2s_count, s2m, &s2m_count);
    for (uint32_t n = 0; n < m2s_count; ++n)
        append(program, &lane->m2s, trn_descriptor_with_ring_id(m2s[n], RING_ID));
    for (uint32_t n = 0; n < s2m_count; ++n)
        append(program, &lane->s2m, trn_descriptor_with_ring_id(s2m[n], RING_ID));
}

void trn_coll_reduce(coll_program* program, uint32_t lane, const coll_reduction* reduction) {
    if (reduction->operand_count == 1 && reduction->destinations[1] == 0)
        return trn_coll_copy(program, lane, reduction->destinations[0], reduction->operands[0],
                             reduction->bytes);
    for (uint64_t done = 0; done < reduction->bytes;) {
        const uint64_t left = reduction->bytes - done;
        const uint32_t size = (uint32_t)(left < TRN_DESCRIPTOR_BYTES ? left : TRN_DESCRIPTOR_BYTES);
        reduce_piece(program, &program->lane[lane], reduction, done, size);
        done += size;
    }
}

void trn_coll_signal(coll_program* program, uint32_t lane, uint64_t semaphore) {
    coll_lane* l = &program->lane[lane];
    append(program, &l->m2s,
           trn_m2s_descriptor(program->increment_address, sizeof(uint32_t), RING_ID,
                              TRN_WRITE_BARRIER));
    append(program, &l->s2m,
           trn_s2m_descriptor(semaphore, sizeof(uint32_t), RING_ID, TRN_STRONG_ORDER));
}

/* ---- steps ---- */

static void put(coll_program* program, uint32_t offset, uint32_t value) {
    memcpy(program->bytes + offset, &value, sizeof value);
}

static void put_long(coll_program* program, uint32_t offset, uint64_t value) {
    memcpy(program->bytes + offset, &value, sizeof value);
}

static void step(coll_program* program, uint32_t op, uint32_t count, uint64_t address) {
    if (program->steps == P(STEP_OP_COUNT)) {
        program->full = true;
        return;
    }
    const uint32_t n = program->steps++;
    put(program, P(STEP_OP_OFFSET)(n), op);
    put(program, P(STEP_COUNT_OFFSET)(n), count);
    put_long(program, P(STEP_LO_OFFSET)(n), address);
}

#define OP(name, which, with)                                                    \
    (P(STEP_OP_CODE_SET)(P(STEP_OP_CODE_##name)) | P(STEP_OP_WHICH_SET)(which) | \
     P(STEP_OP_WITH_SET)(with))

void trn_coll_step_wait(coll_program* program, uint32_t semaphore, uint32_t value, uint32_t peer) {
    step(program, OP(WAIT, semaphore, peer), value, 0);
}

void trn_coll_post(coll_program* program, uint64_t semaphore) {
    step(program, OP(POST, 0u, 0u), 1, semaphore);
}

void trn_coll_send(coll_program* program, uint32_t first, uint32_t count) {
    if (count > 0) step(program, OP(SEND, 0u, first), count, 0);
}

void trn_coll_rewind(coll_program* program) {
    step(program, OP(REWIND, 0u, program->lanes), 0, 0);
}

void trn_coll_advance(coll_program* program, uint32_t lane) {
    coll_lane* l = &program->lane[lane];
    step(program, OP(ADVANCE, lane, 1u), l->m2s.count - l->m2s_advanced,
         l->s2m.count - l->s2m_advanced);
    l->m2s_advanced = l->m2s.count;
    l->s2m_advanced = l->s2m.count;
}

void trn_coll_mark(coll_program* program) {
    step(program, OP(MARK, 0u, 0u), 0, 0);
}

uint32_t trn_coll_here(const coll_program* program) {
    return program->steps;
}

static uint8_t* step_at(const coll_program* program, uint32_t number) {
    return program->bytes + P(STEP_OP_OFFSET)(number);
}

bool trn_coll_drop_repeated(coll_program* program, uint32_t begin, uint32_t here) {
    const uint32_t count = program->steps - here;
    if (here - begin != count ||
        memcmp(step_at(program, begin), step_at(program, here), (size_t)count * STEP_BYTES) != 0)
        return false;
    program->steps = here;
    return true;
}

uint32_t trn_coll_loop(coll_program* program, uint32_t position, uint32_t target, uint32_t times) {
    if (times == 0) return 0;
    const uint32_t end = program->steps;
    uint8_t last[STEP_BYTES];
    step(program, OP(LOOP, 0u, target), times, 0);
    if (program->full) return 0;
    memcpy(last, step_at(program, end), sizeof last);
    memmove(step_at(program, position + 1), step_at(program, position),
            (size_t)(end - position) * STEP_BYTES);
    memcpy(step_at(program, position), last, sizeof last);
    return 1;
}

static void put_network(coll_program* program, const coll_network* network, uint32_t offset) {
    put_long(program, P(NET_RING_LO_OFFSET), network->ring);
    put_long(program, P(NET_SEND_DOORBELL_LO_OFFSET), network->send_doorbell);
    put_long(program, P(NET_COMPLETIONS_LO_OFFSET), network->completions);
    put_long(program, P(NET_CQ_DOORBELL_LO_OFFSET), network->completion_doorbell);
    put_long(program, P(NET_EQ_DOORBELL_LO_OFFSET), network->event_doorbell);
    put(program, P(NET_DEPTHS_OFFSET),
        P(NET_DEPTHS_SENDS_SET)(network->sends) |
            P(NET_DEPTHS_COMPLETIONS_SET)(network->completion_entries));
    put(program, P(NET_EQ_OFFSET), P(NET_EQ_NUMBER_SET)(network->event_queue));
    put(program, P(NET_SEMAPHORES_OFFSET),
        P(NET_SEMAPHORES_EVENT_SET)(network->event_semaphore) |
            P(NET_SEMAPHORES_FIRST_SET)(network->first_semaphore) |
            P(NET_SEMAPHORES_COUNT_SET)(network->semaphores));
    put(program, P(REQUESTS_OFFSET), network->request_count);
    memcpy(program->bytes + offset, network->requests,
           (size_t)network->request_count * TRN_RDMA_REQUEST_BYTES);
}

uint32_t trn_coll_program_finish(coll_program* program, const coll_header* header) {
    step(program, OP(END, 0u, 0u), 0, 0);
    const uint32_t steps_end = P(STEP_OP_OFFSET)(program->steps);
    const uint32_t size = steps_end + header->network.request_count * TRN_RDMA_REQUEST_BYTES;
    if (size > P(SIZE)) program->full = true;
    if (program->full) return 0;
    if (header->network.ring) put_network(program, &header->network, steps_end);
    put(program, P(MAGIC_OFFSET), P(MAGIC_WORD_VALUE));
    put(program, P(FORMAT_OFFSET), P(FORMAT_NUMBER_VALUE));
    put(program, P(LENGTH_OFFSET), size);
    put(program, P(RANK_OFFSET), header->rank);
    put(program, P(RANKS_OFFSET), header->ranks);
    put(program, P(QUEUES_OFFSET), program->lanes);
    put(program, P(STEPS_OFFSET), program->steps);
    if (header->marks) put(program, P(MARKS_OFFSET), (P(SIZE) - size) / sizeof(uint32_t));
    put_long(program, P(DONE_LO_OFFSET), header->done);
    put_long(program, P(LIMIT_LO_OFFSET), header->limit);
    put(program, P(SEMAPHORES_OFFSET),
        P(SEMAPHORES_FIRST_SET)(header->first_semaphore) |
            P(SEMAPHORES_COUNT_SET)(header->semaphores));
    for (uint32_t n = 0; n < program->lanes; ++n)
        put_long(program, P(QUEUE_LO_OFFSET)(n), header->engines[n] | header->queue);
    put(program, P(CRC_OFFSET), 0);
    put(program, P(CRC_OFFSET), ~trn_crc32c(0xFFFFFFFF, program->bytes, size));
    return size;
}
