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
#define SEMAPHORES(field, of) \
    TRN_CC_PROGRAM_NET_SEMAPHORES_##field##_GET((of)->program->network.semaphores)
#define DEPTH(ring, of) TRN_CC_PROGRAM_NET_DEPTHS_##ring##_GET((of)->program->network.depths)

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
    const struct program_network* to = &n->program->network;
    const uint32_t depth = DEPTH(SENDS, n);
    for (uint32_t number = first; number < first + count; ++number, ++n->posted) {
        uint64_t words[WORK_REQUEST_BYTES / sizeof(uint64_t)];
        memcpy(words, program_request(n->program, number), sizeof words);
        if (n->posted / depth & 1) words[0] |= TRN_EFA_IO_WORK_REQUEST_PHASE_MASK;
        if (!axi_write(to->ring + n->posted % depth * sizeof words, words, sizeof words))
            return false;
    }
    mmio_fence();
    return axi_write_word(to->send_doorbell, TRN_EFA_IO_QUEUE_DOORBELL_COUNT_SET(n->posted));
}

/// Posts the semaphore of one completion. False: bus error.
static bool take_one(const struct network* n, unsigned slot, uint64_t at, uint32_t done) {
    unsigned semaphore = SEMAPHORES(FIRST, n);
    uint32_t immediate = 0;
    if (COMPLETION(STATUS, done) != TRN_EFA_IO_COMPLETION_STATUS_OK) {
        log_line("slot %u: work request %u failed: status %u", slot, (unsigned)COMPLETION(ID, done),
                 (unsigned)COMPLETION(STATUS, done));
        return true;
    }
    if (COMPLETION(QUEUE, done) == TRN_EFA_IO_COMPLETION_QUEUE_RECEIVE) {
        if (!axi_read(at + IN_COMPLETION(COMPLETION_IMMEDIATE), &immediate, sizeof immediate))
            return false;
        semaphore = immediate;
    }
    if (network_posts(n, semaphore))
        semaphore_add(semaphore, 1);
    else
        log_line("slot %u: a write names semaphore %u", slot, semaphore);
    return true;
}

bool network_take(struct network* n, unsigned slot) {
    const uint32_t depth = DEPTH(COMPLETIONS, n);
    const int32_t events = semaphore_value(network_event(n));
    if (events > 0) {
        semaphore_take(network_event(n), (uint32_t)events);
        n->armed = false;
    }
    for (;; ++n->taken) {
        const uint64_t at =
            n->program->network.completions + n->taken % depth * (uint64_t)COMPLETION_BYTES;
        uint32_t done = 0;
        if (!axi_read(at, &done, sizeof done)) return false;
        if (COMPLETION(PHASE, done) != !(n->taken / depth & 1)) break;
        if (!take_one(n, slot, at, done)) return false;
    }
    return true;
}

/// No completion is lost between network_take() and the doorbell: the card compares the consumed
/// count with its own. Without a card there is no event; the time-out of the wait ends it.
void network_arm(struct network* n) {
    const struct program_network* at = &n->program->network;
    if (n->armed) return;
    n->armed = axi_write_word(at->cq_doorbell, TRN_EFA_IO_CQ_DOORBELL_CONSUMED_SET(n->taken) |
                                                   TRN_EFA_IO_CQ_DOORBELL_ARM_MASK) &&
               axi_write_word(at->eq_doorbell,
                              TRN_EFA_CARD_EQ_DB_EQ_SET(at->eq) | TRN_EFA_CARD_EQ_DB_ARM_MASK);
}
