/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rdma.h"
#include "trn/efa_card_regs.h"
#include "trn/efa_io_regs.h"

/* Work requests, and a queue pair that the host drives (EFA contract 9 to 12). */

_Static_assert(TRN_RDMA_EVENT_DOORBELL == TRN_EFA_CARD_EQ_DB_OFFSET, "trn_rdma.h");

#define SAME(ours, table) \
    _Static_assert((uint32_t)TRN_RDMA_##ours == TRN_EFA_IO_##table, "trn_rdma.h: " #ours)
SAME(READ, WORK_REQUEST_OPERATION_RDMA_READ);
SAME(WRITE, WORK_REQUEST_OPERATION_RDMA_WRITE);
SAME(OK, COMPLETION_STATUS_OK);
SAME(FLUSHED, COMPLETION_STATUS_FLUSHED);
SAME(LOCAL_QP_INTERNAL, COMPLETION_STATUS_LOCAL_QP_INTERNAL);
SAME(LOCAL_UNSUPPORTED, COMPLETION_STATUS_LOCAL_UNSUPPORTED);
SAME(LOCAL_BAD_AH, COMPLETION_STATUS_LOCAL_BAD_AH);
SAME(LOCAL_BAD_LKEY, COMPLETION_STATUS_LOCAL_BAD_LKEY);
SAME(LOCAL_BAD_LENGTH, COMPLETION_STATUS_LOCAL_BAD_LENGTH);
SAME(REMOTE_BAD_ADDRESS, COMPLETION_STATUS_REMOTE_BAD_ADDRESS);
SAME(REMOTE_ABORT, COMPLETION_STATUS_REMOTE_ABORT);
SAME(REMOTE_BAD_QP, COMPLETION_STATUS_REMOTE_BAD_QP);
SAME(REMOTE_NOT_READY, COMPLETION_STATUS_REMOTE_NOT_READY);
SAME(REMOTE_BAD_LENGTH, COMPLETION_STATUS_REMOTE_BAD_LENGTH);
SAME(REMOTE_BAD_STATUS, COMPLETION_STATUS_REMOTE_BAD_STATUS);
SAME(UNRESPONSIVE, COMPLETION_STATUS_LOCAL_UNRESPONSIVE_REMOTE);
SAME(UNKNOWN_PEER, COMPLETION_STATUS_REMOTE_UNKNOWN_PEER);
SAME(UNREACHABLE, COMPLETION_STATUS_LOCAL_UNREACHABLE_REMOTE);
SAME(FEATURE_MISMATCH, COMPLETION_STATUS_REMOTE_FEATURE_MISMATCH);

enum { max_entries = 4096 };
static const uint64_t poll_interval = 500; /* nanoseconds */

struct trn_rdma_queue {
    trn_rdma_card* card;
    trn_rdma_qp qp;
    trn_rdma_cq cq;
    trn_dma_memory completions;
    uint16_t uar;
    uint32_t entries; /* of both rings */
    uint32_t resets;  /* of the card, when it was opened */
    uint32_t posted, taken;
};

/* ---- work requests ---- */

#define FIELD(name, value) TRN_EFA_IO_##name##_SET(value)
#define WORK(field, value) FIELD(WORK_REQUEST_##field, value)

static void put(uint8_t* entry, uint32_t offset, uint64_t value, size_t bytes) {
    memcpy(entry + offset % TRN_RDMA_REQUEST_BYTES, &value, bytes);
}

void trn_rdma_encode(const trn_rdma_request* request, uint8_t entry[TRN_RDMA_REQUEST_BYTES]) {
    if (!request || !entry) return;
    const uint32_t elements = request->length != 0;
    memset(entry, 0, TRN_RDMA_REQUEST_BYTES);
    put(entry, TRN_EFA_IO_WORK_REQUEST_OFFSET,
        WORK(ID, request->id) | WORK(OPERATION, request->operation) |
            WORK(HAS_IMMEDIATE, request->has_immediate) | WORK(META, 1) | WORK(FIRST, 1) |
            WORK(LAST, 1) | WORK(COMPLETION, 1),
        4);
    put(entry, TRN_EFA_IO_DESTINATION_OFFSET,
        FIELD(DESTINATION_QP, request->queue_pair) | FIELD(DESTINATION_LENGTH, elements), 4);
    put(entry, TRN_EFA_IO_IMMEDIATE_OFFSET, request->immediate, 4);
    put(entry, TRN_EFA_IO_ADDRESS_HANDLE_OFFSET,
        FIELD(ADDRESS_HANDLE_NUMBER, request->address_handle), 4);
    put(entry, TRN_EFA_IO_QKEY_OFFSET, request->qkey, 4);
    put(entry, TRN_EFA_IO_REMOTE_LENGTH_OFFSET, request->length, 4);
    put(entry, TRN_EFA_IO_REMOTE_KEY_OFFSET, request->remote_key, 4);
    put(entry, TRN_EFA_IO_REMOTE_ADDRESS_LO_OFFSET, request->remote, 8);
    if (!elements) return;
    put(entry, TRN_EFA_IO_SECOND_LENGTH_OFFSET, request->length, 4);
    put(entry, TRN_EFA_IO_SECOND_KEY_OFFSET, FIELD(SECOND_KEY_LKEY, request->local_key), 4);
    put(entry, TRN_EFA_IO_SECOND_ADDRESS_LO_OFFSET, request->local, 8);
}

/* ---- queue pairs of the host ---- */

static void release(trn_rdma_queue* queue) {
    if (queue->completions.size) trn_rdma_free_memory(queue->card, &queue->completions);
    free(queue);
}

int trn_rdma_queue_open(trn_rdma_card* card, uint16_t domain, uint32_t entries, uint32_t qkey,
                        trn_rdma_queue** opened) {
    if (!card || !opened) return -EINVAL;
    const trn_transport* transport = card->transport;
    if (entries == 0 || entries > max_entries || (entries & (entries - 1))) return -EINVAL;
    trn_rdma_queue* queue = calloc(1, sizeof *queue);
    if (!queue) return -ENOMEM;
    queue->card = card;
    queue->entries = entries;
    queue->resets = card->resets;
    int error = transport->dma_alloc(
        transport->context, (uint64_t)entries * TRN_RDMA_COMPLETION_BYTES, &queue->completions);
    if (!error) error = trn_rdma_alloc_uar(card, &queue->uar);
    if (!error) {
        error = trn_rdma_create_cq(card, queue->uar, queue->completions.iova, entries, NULL,
                                   &queue->cq);
        if (!error) {
            error = trn_rdma_create_qp(card, domain, queue->uar, queue->cq.number, entries, qkey,
                                       &queue->qp);
            if (error) trn_rdma_destroy_cq(card, queue->cq.number);
        }
        if (error) trn_rdma_dealloc_uar(card, queue->uar);
    }
    if (error)
        release(queue);
    else
        *opened = queue;
    return error;
}

void trn_rdma_queue_close(trn_rdma_queue* queue) {
    if (!queue) return;
    if (queue->resets == queue->card->resets) {
        trn_rdma_destroy_qp(queue->card, &queue->qp);
        trn_rdma_destroy_cq(queue->card, queue->cq.number);
        trn_rdma_dealloc_uar(queue->card, queue->uar);
    }
    release(queue);
}

uint16_t trn_rdma_queue_number(const trn_rdma_queue* queue) {
    if (!queue) return 0;
    return queue->qp.number;
}

/* Requests complete in any order, but are fetched in ring order: each completion taken frees one
 * entry. */
int trn_rdma_post(trn_rdma_queue* queue, const trn_rdma_request* request) {
    if (!queue || !request) return -EINVAL;
    const trn_transport* transport = queue->card->transport;
    uint8_t entry[TRN_RDMA_REQUEST_BYTES];
    const uint32_t slot = queue->posted % queue->entries;
    if (queue->posted - queue->taken >= queue->entries) return -EAGAIN;
    trn_rdma_encode(request, entry);
    if (queue->posted / queue->entries & 1) put(entry, 0, *(uint32_t*)entry | WORK(PHASE, 1), 4);
    const int error = transport->bar_write_block(
        transport->context, RDMA_SEND_RINGS, queue->qp.send_ring + (uint64_t)slot * sizeof entry,
        entry, sizeof entry);
    if (error) return error;
    ++queue->posted;
    return trn_rdma_set(queue->card, queue->qp.send_doorbell,
                        FIELD(QUEUE_DOORBELL_COUNT, queue->posted));
}

static const volatile uint32_t* next_entry(const trn_rdma_queue* queue) {
    return (const volatile uint32_t*)((const uint8_t*)queue->completions.host +
                                      (uint64_t)(queue->taken % queue->entries) *
                                          TRN_RDMA_COMPLETION_BYTES);
}

static bool has_completion(const trn_rdma_queue* queue) {
    const uint32_t phase = !(queue->taken / queue->entries & 1);
    return TRN_EFA_IO_COMPLETION_PHASE_GET(*next_entry(queue)) == phase;
}

static int check_card(const trn_rdma_queue* queue) {
    uint32_t state = TRN_RDMA_LOST;
    int error = 0;
    if (queue->resets == queue->card->resets) error = trn_rdma_state(queue->card, &state);
    if (error) return error;
    return state == TRN_RDMA_WORKS ? 0 : state == TRN_RDMA_ABSENT ? -ENODEV : -EIO;
}

int trn_rdma_wait(trn_rdma_queue* queue, uint64_t nanoseconds, trn_rdma_completion* done) {
    if (!queue || !done) return -EINVAL;
    const trn_transport* transport = queue->card->transport;
    const uint64_t start = transport->now(transport->context);
    uint64_t check_after = 200 * poll_interval; /* interval of card checks, doubled each time */
    while (!has_completion(queue)) {
        const uint64_t waited = transport->now(transport->context) - start;
        int error = 0;
        if (waited >= check_after || waited >= nanoseconds) {
            error = check_card(queue);
            check_after = 2 * waited;
        }
        if (!error && waited >= nanoseconds && !has_completion(queue)) return -ETIMEDOUT;
        if (!error && !has_completion(queue))
            error = transport->wait(transport->context, poll_interval);
        if (error) return error;
    }
    if (queue->taken == queue->posted) return -EIO; /* of no request */
    const uint32_t word = *next_entry(queue);
    done->id = (uint16_t)TRN_EFA_IO_COMPLETION_ID_GET(word);
    done->status = TRN_EFA_IO_COMPLETION_STATUS_GET(word);
    ++queue->taken;
    return trn_rdma_set(queue->card, queue->cq.doorbell, FIELD(CQ_DOORBELL_CONSUMED, queue->taken));
}
