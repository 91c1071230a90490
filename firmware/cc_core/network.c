// SPDX-License-Identifier: Apache-2.0
#include "firmware/cc_core/network.h"

#include <string.h>
#include <trn/efa_card_regs.h>
#include <trn/efa_io_regs.h>

#include "firmware/cc_core/hardware.h"
#include "firmware/cc_core/log.h"

#define COMPLETION_BYTES 16u
#define IN_COMPLETION(name) (TRN_EFA_IO_##name##_OFFSET - TRN_EFA_IO_COMPLETION_OFFSET)
#define COMPLETION(field, value) TRN_EFA_IO_COMPLETION_##field##_GET(value)
#define SEMAPHORES(field, net) \
    TRN_CC_PROGRAM_NET_SEMAPHORES_##field##_GET((net)->program->network.semaphores)
#define DEPTH(ring, net) TRN_CC_PROGRAM_NET_DEPTHS_##ring##_GET((net)->program->network.depths)

bool network_posts(const struct network* n, unsigned semaphore) {
    if (n->program == NULL || n->program->network.ring == 0) return false;
    return semaphore >= SEMAPHORES(FIRST, n) &&
           semaphore < SEMAPHORES(FIRST, n) + SEMAPHORES(COUNT, n);
}

unsigned network_event(const struct network* n) {
    return SEMAPHORES(EVENT, n);
}

/// The phase bit of work requests starts at 0 and flips at each wrap of the ring.
bool network_send(struct network* n, uint32_t first, uint32_t count) {
    const struct program_network* queues = &n->program->network;
    const uint32_t depth = DEPTH(SENDS, n);
    for (uint32_t number = first; number < first + count; ++number, ++n->posted) {
        uint64_t words[WORK_REQUEST_BYTES / sizeof(uint64_t)];
        memcpy(words, program_request(n->program, number), sizeof words);
        if (n->posted / depth & 1) words[0] |= TRN_EFA_IO_WORK_REQUEST_PHASE_MASK;
        if (!axi_write(queues->ring + n->posted % depth * sizeof words, words, sizeof words))
            return false;
    }
    mmio_fence();
    return axi_write_word(queues->send_doorbell, TRN_EFA_IO_QUEUE_DOORBELL_COUNT_SET(n->posted));
}

/// Address handle of the partner of a failed completion: of the own work request, else the
/// sender's.
static uint32_t peer_of(const struct network* n, uint64_t address, uint32_t done) {
    const uint32_t request = COMPLETION(ID, done);
    uint32_t word = 0;
    if (COMPLETION(QUEUE, done) == TRN_EFA_IO_COMPLETION_QUEUE_SEND) {
        if (request < n->program->requests)
            memcpy(&word, program_request(n->program, request) + TRN_EFA_IO_ADDRESS_HANDLE_OFFSET,
                   sizeof word);
        return TRN_EFA_IO_ADDRESS_HANDLE_NUMBER_GET(word);
    }
    (void)axi_read_word(address + IN_COMPLETION(COMPLETION_SOURCE), &word);
    return TRN_EFA_IO_COMPLETION_SOURCE_AH_GET(word);
}

/// Posts the semaphore of one completion.
static enum network_result take_one(struct network* n, unsigned slot, uint64_t address,
                                    uint32_t done) {
    unsigned semaphore = SEMAPHORES(FIRST, n);
    uint32_t immediate = 0;
    if (COMPLETION(STATUS, done) != TRN_EFA_IO_COMPLETION_STATUS_OK) {
        n->failure.status = COMPLETION(STATUS, done);
        n->failure.request = COMPLETION(ID, done);
        n->failure.peer = peer_of(n, address, done);
        log_line("slot %u: work request %u failed: status %u", slot, (unsigned)n->failure.request,
                 (unsigned)n->failure.status);
        return NETWORK_FAILED;
    }
    if (COMPLETION(QUEUE, done) == TRN_EFA_IO_COMPLETION_QUEUE_RECEIVE) {
        if (!axi_read_word(address + IN_COMPLETION(COMPLETION_IMMEDIATE), &immediate))
            return NETWORK_BUS_ERROR;
        semaphore = immediate;
    }
    if (network_posts(n, semaphore))
        semaphore_add(semaphore, 1);
    else
        log_line("slot %u: a write names semaphore %u", slot, semaphore);
    return NETWORK_OK;
}

enum network_result network_take(struct network* n, unsigned slot) {
    const uint32_t depth = DEPTH(COMPLETIONS, n);
    const int32_t events = semaphore_value(network_event(n));
    if (events > 0) {
        semaphore_take(network_event(n), (uint32_t)events);
        n->armed = false;
    }
    for (uint32_t count = 0; count < depth; ++count) {
        const uint64_t address =
            n->program->network.completions + n->taken % depth * (uint64_t)COMPLETION_BYTES;
        uint32_t done = 0;
        if (!axi_read_word(address, &done)) return NETWORK_BUS_ERROR;
        if (COMPLETION(PHASE, done) != !(n->taken / depth & 1)) break;
        const enum network_result result = take_one(n, slot, address, done);
        if (result == NETWORK_BUS_ERROR) return result;
        ++n->taken;
        if (result != NETWORK_OK) return result;
    }
    return NETWORK_OK;
}

/// No completion is lost between network_take() and the doorbell: the card compares the consumed
/// count with its own. Without a card there is no event; the timeout of the wait ends it.
void network_arm(struct network* n) {
    const struct program_network* queues = &n->program->network;
    if (n->armed) return;
    n->armed = axi_write_word(queues->cq_doorbell, TRN_EFA_IO_CQ_DOORBELL_CONSUMED_SET(n->taken) |
                                                       TRN_EFA_IO_CQ_DOORBELL_ARM_MASK) &&
               axi_write_word(queues->eq_doorbell,
                              TRN_EFA_CARD_EQ_DB_EQ_SET(queues->eq) | TRN_EFA_CARD_EQ_DB_ARM_MASK);
}
