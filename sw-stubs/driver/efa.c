/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bar.h"
#include "trn/efa_entry_regs.h"
#include "trn/efa_regs.h"
#include "trn_efa.h"

enum {
    bar = 0,
    request_size = TRN_EFA_REQUEST_BYTES,
    completion_size = TRN_EFA_COMPLETION_BYTES,
    max_entries = 32768,
    queue_pairs = 64,
    regions = 16,
    command_register = 4,
    memory_and_master = 6,
    poll_interval = 500, /* nanoseconds */
};

#define SAME(ours, table) \
    _Static_assert((uint32_t)TRN_EFA_##ours == TRN_EFA_ENTRY_##table, "trn_efa.h: " #ours)
SAME(REQUEST_BYTES, COMPLETION_ID_OFFSET);
SAME(WRITE, REQUEST_OPCODE_WRITE);
SAME(READ, REQUEST_OPCODE_READ);
SAME(NOTIFY, REQUEST_OPCODE_NOTIFY);
SAME(OK, COMPLETION_STATUS_OK);
SAME(BAD_REQUEST, COMPLETION_STATUS_BAD_REQUEST);
SAME(LOCAL_ACCESS, COMPLETION_STATUS_LOCAL_ACCESS);
SAME(REMOTE_ACCESS, COMPLETION_STATUS_REMOTE_ACCESS);
SAME(UNREACHABLE, COMPLETION_STATUS_UNREACHABLE);

struct trn_efa {
    const trn_transport* transport;
};

struct trn_efa_queue {
    trn_efa* card;
    uint32_t index, entries;
    trn_dma_memory requests, completions;
    uint16_t posted, taken;
};

static int set(const trn_efa* card, uint64_t offset, uint32_t value) {
    return card->transport->bar_write32(card->transport->context, bar, offset, value);
}

static int get(const trn_efa* card, uint64_t offset, uint32_t* value) {
    return card->transport->bar_read32(card->transport->context, bar, offset, value);
}

static int set_wide(const trn_efa* card, uint64_t low, uint64_t high, uint64_t value) {
    const int error = set(card, low, (uint32_t)value);
    return error ? error : set(card, high, (uint32_t)(value >> 32));
}

static int switch_on(trn_efa* card) {
    const trn_transport* transport = card->transport;
    uint32_t magic = 0;
    const int error =
        transport->config_write(transport->context, command_register, 2, memory_and_master);
    if (error) return error;
    const int no_answer = get(card, TRN_EFA_MAGIC_OFFSET, &magic);
    return no_answer ? no_answer : magic != TRN_EFA_MAGIC_RESET ? -ENODEV : 0;
}

int trn_efa_reset(trn_efa* card) {
    const int error = switch_on(card);
    return error ? error : set(card, TRN_EFA_CONTROL_OFFSET, TRN_EFA_CONTROL_RESET_MASK);
}

static int take(const trn_transport* transport, int (*start)(trn_efa*), trn_efa** taken) {
    trn_efa* card = malloc(sizeof *card);
    int error;
    if (!card) return -ENOMEM;
    card->transport = transport;
    error = start(card);
    if (error) {
        free(card);
        return error;
    }
    *taken = card;
    return 0;
}

int trn_efa_open(const trn_transport* transport, trn_efa** card) {
    return take(transport, trn_efa_reset, card);
}

int trn_efa_attach(const trn_transport* transport, trn_efa** card) {
    return take(transport, switch_on, card);
}

void trn_efa_close(trn_efa* card) {
    set(card, TRN_EFA_CONTROL_OFFSET, TRN_EFA_CONTROL_RESET_MASK);
    free(card);
}

void trn_efa_detach(trn_efa* card) {
    free(card);
}

int trn_efa_registers(trn_efa* card, uint64_t* bus_address) {
    return bar_bus_address(card->transport, bar, bus_address);
}

int trn_efa_address(trn_efa* card, uint16_t* address) {
    uint32_t value = 0;
    const int error = get(card, TRN_EFA_ADDRESS_OFFSET, &value);
    *address = (uint16_t)value;
    return error;
}

int trn_efa_rate(trn_efa* card, uint32_t* megabits) {
    return get(card, TRN_EFA_RATE_OFFSET, megabits);
}

int trn_efa_share(trn_efa* card, uint32_t region, uint64_t base, uint64_t size, uint32_t access) {
    int error;
    if (region >= regions) return -EINVAL;
    error = set(card, TRN_EFA_REGION_ACCESS_OFFSET(region), 0);
    if (!error && size) {
        error = set_wide(card, TRN_EFA_REGION_BASE_LO_OFFSET(region),
                         TRN_EFA_REGION_BASE_HI_OFFSET(region), base);
        if (!error)
            error = set_wide(card, TRN_EFA_REGION_SIZE_LO_OFFSET(region),
                             TRN_EFA_REGION_SIZE_HI_OFFSET(region), size);
        if (!error) error = set(card, TRN_EFA_REGION_ACCESS_OFFSET(region), access);
    }
    return error;
}

static void release(trn_efa_queue* queue) {
    const trn_transport* transport = queue->card->transport;
    if (queue->requests.size) transport->dma_free(transport->context, &queue->requests);
    if (queue->completions.size) transport->dma_free(transport->context, &queue->completions);
    free(queue);
}

static bool is_ring_length(uint32_t entries) {
    return entries && entries <= max_entries && (entries & (entries - 1)) == 0;
}

int trn_efa_queue_lend(trn_efa* card, uint32_t index, const trn_efa_rings* rings) {
    const uint32_t i = index;
    if (i >= queue_pairs || (rings->entries && !is_ring_length(rings->entries))) return -EINVAL;
    int error = set(card, TRN_EFA_QP_STATE_OFFSET(i), 0);
    if (error || rings->entries == 0) return error;
    error = set_wide(card, TRN_EFA_QP_SQ_BASE_LO_OFFSET(i), TRN_EFA_QP_SQ_BASE_HI_OFFSET(i),
                     rings->requests);
    if (!error)
        error = set_wide(card, TRN_EFA_QP_CQ_BASE_LO_OFFSET(i), TRN_EFA_QP_CQ_BASE_HI_OFFSET(i),
                         rings->completions);
    if (!error)
        error = set_wide(card, TRN_EFA_QP_NOTIFY_LO_OFFSET(i), TRN_EFA_QP_NOTIFY_HI_OFFSET(i),
                         rings->notify);
    if (!error) error = set(card, TRN_EFA_QP_ENTRIES_OFFSET(i), rings->entries);
    return error ? error : set(card, TRN_EFA_QP_STATE_OFFSET(i), TRN_EFA_QP_STATE_RUN_MASK);
}

int trn_efa_queue_open(trn_efa* card, uint32_t index, uint32_t entries, trn_efa_queue** opened) {
    const trn_transport* transport = card->transport;
    trn_efa_queue* queue;
    int error;
    if (index >= queue_pairs || !is_ring_length(entries)) return -EINVAL;
    queue = calloc(1, sizeof *queue);
    if (!queue) return -ENOMEM;
    queue->card = card;
    queue->index = index;
    queue->entries = entries;
    error = transport->dma_alloc(transport->context, (uint64_t)entries * request_size,
                                 &queue->requests);
    if (!error)
        error = transport->dma_alloc(transport->context, (uint64_t)entries * completion_size,
                                     &queue->completions);
    if (!error) {
        const trn_efa_rings rings = {
            .entries = entries,
            .requests = queue->requests.iova,
            .completions = queue->completions.iova,
        };
        error = trn_efa_queue_lend(card, index, &rings);
    }
    if (error) {
        release(queue);
        return error;
    }
    *opened = queue;
    return 0;
}

void trn_efa_queue_close(trn_efa_queue* queue) {
    set(queue->card, TRN_EFA_QP_STATE_OFFSET(queue->index), 0);
    release(queue);
}

int trn_efa_queue_state(trn_efa_queue* queue, uint32_t* state) {
    const trn_transport* transport = queue->card->transport;
    uint32_t command = 0, value = 0;
    int error = transport->config_read(transport->context, command_register, 2, &command);
    if (!error && (command & memory_and_master) == memory_and_master)
        error = get(queue->card, TRN_EFA_QP_STATE_OFFSET(queue->index), &value);
    if (command == UINT16_MAX || value == UINT32_MAX)
        *state = TRN_EFA_QUEUE_ABSENT;
    else if (value & TRN_EFA_QP_STATE_ERROR_MASK)
        *state = TRN_EFA_QUEUE_STOPPED;
    else
        *state = value & TRN_EFA_QP_STATE_RUN_MASK ? TRN_EFA_QUEUE_RUNS : TRN_EFA_QUEUE_LOST;
    return error;
}

#define FIELD(field, value) TRN_EFA_ENTRY_REQUEST_##field##_SET(value)

static void put(uint8_t* entry, uint32_t offset, uint64_t value, size_t bytes) {
    memcpy(entry + offset, &value, bytes);
}

void trn_efa_encode(const trn_efa_request* request, uint8_t entry[TRN_EFA_REQUEST_BYTES]) {
    const uint32_t what = FIELD(OPCODE, request->what) | FIELD(REGION, request->region);
    const uint32_t card =
        FIELD(CARD_ADDRESS, request->card) | FIELD(CARD_NOTICE_REGION, request->notice_region);
    memset(entry, 0, request_size);
    put(entry, TRN_EFA_ENTRY_REQUEST_OFFSET, what, 4);
    put(entry, TRN_EFA_ENTRY_REQUEST_CARD_OFFSET, card, 4);
    put(entry, TRN_EFA_ENTRY_REQUEST_ID_OFFSET, request->id, 4);
    put(entry, TRN_EFA_ENTRY_REQUEST_LENGTH_OFFSET, request->length, 4);
    put(entry, TRN_EFA_ENTRY_REQUEST_LOCAL_LO_OFFSET, request->local, 8);
    put(entry, TRN_EFA_ENTRY_REQUEST_REMOTE_LO_OFFSET, request->remote, 8);
    put(entry, TRN_EFA_ENTRY_REQUEST_NOTICE_LO_OFFSET, request->notice, 8);
    put(entry, TRN_EFA_ENTRY_REQUEST_VALUE_OFFSET, request->value, 4);
}

/* The word of a completion in the ring. */
static uint32_t completion_word(const uint8_t* entry, uint32_t offset) {
    return *(const volatile uint32_t*)(entry + offset - request_size);
}

static bool is_new(const uint8_t* entry, uint32_t phase) {
    const uint32_t word = completion_word(entry, TRN_EFA_ENTRY_COMPLETION_OFFSET);
    return TRN_EFA_ENTRY_COMPLETION_PHASE_GET(word) == phase;
}

int trn_efa_post(trn_efa_queue* queue, const trn_efa_request* request) {
    if ((uint16_t)(queue->posted - queue->taken) >= queue->entries) return -EAGAIN;
    trn_efa_encode(request, (uint8_t*)queue->requests.host +
                                (uint64_t)(queue->posted % queue->entries) * request_size);
    queue->posted++;
    return set(queue->card, TRN_EFA_QP_SQ_TAIL_OFFSET(queue->index), queue->posted);
}

int trn_efa_wait(trn_efa_queue* queue, uint64_t nanoseconds, trn_efa_completion* done) {
    const trn_transport* transport = queue->card->transport;
    const uint8_t* entry = (const uint8_t*)queue->completions.host +
                           (uint64_t)(queue->taken % queue->entries) * completion_size;
    const uint32_t phase = !(queue->taken / queue->entries & 1);
    const uint64_t end = transport->now(transport->context) + nanoseconds;
    while (!is_new(entry, phase)) {
        uint32_t state = 0;
        int error = get(queue->card, TRN_EFA_QP_STATE_OFFSET(queue->index), &state);
        if (error) return error;
        if (is_new(entry, phase)) break;
        if (state != TRN_EFA_QP_STATE_RUN_MASK) return -EIO;
        if (transport->now(transport->context) >= end) return -ETIMEDOUT;
        error = transport->wait(transport->context, poll_interval);
        if (error) return error;
    }
    done->id = completion_word(entry, TRN_EFA_ENTRY_COMPLETION_ID_OFFSET);
    done->status = TRN_EFA_ENTRY_COMPLETION_STATUS_GET(
        completion_word(entry, TRN_EFA_ENTRY_COMPLETION_OFFSET));
    done->length = completion_word(entry, TRN_EFA_ENTRY_COMPLETION_LENGTH_OFFSET);
    queue->taken++;
    return 0;
}
