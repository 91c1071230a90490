// SPDX-License-Identifier: Apache-2.0
#include "firmware/cc_core/program.h"

#include <stddef.h>
#include <trn/semaphores_regs.h>

#include "firmware/lib/crc32c.h"
#include "firmware/lib/drivers/memory_map.h"

#define MAX_DESCRIPTORS 0xffffff  // of a ring: contract section 7.1
#define OP(name) TRN_CC_PROGRAM_STEP_OP_CODE_##name
#define FIELD(name, op) TRN_CC_PROGRAM_STEP_OP_##name##_GET(op)
#define REFUSED(error, detail)                                              \
    (TRN_CC_MAILBOX_RESULT_ERROR_SET(TRN_CC_MAILBOX_RESULT_ERROR_##error) | \
     TRN_CC_MAILBOX_RESULT_DETAIL_SET(detail))

_Static_assert(offsetof(struct program, queue) == TRN_CC_PROGRAM_QUEUE_LO_OFFSET(0), "layout");
_Static_assert(offsetof(struct program, network) == TRN_CC_PROGRAM_NET_RING_LO_OFFSET, "layout");
_Static_assert(offsetof(struct program, step) == TRN_CC_PROGRAM_STEP_OP_OFFSET(0), "layout");

static unsigned first_semaphore(const struct program* p) {
    return TRN_CC_PROGRAM_SEMAPHORES_FIRST_GET(p->semaphores);
}
static unsigned end_semaphore(const struct program* p) {
    return first_semaphore(p) + TRN_CC_PROGRAM_SEMAPHORES_COUNT_GET(p->semaphores);
}

bool programs_share_semaphores(const struct program* a, const struct program* b) {
    return first_semaphore(a) < end_semaphore(b) && first_semaphore(b) < end_semaphore(a);
}

static uint32_t crc_of(const struct program* p) {
    static const uint32_t zero;
    const size_t crc_offset = offsetof(struct program, crc), rest = crc_offset + sizeof p->crc;
    uint32_t crc = crc32c_update(CRC32C_START, p, crc_offset);
    crc = crc32c_update(crc, &zero, sizeof zero);
    return crc32c_finish(crc32c_update(crc, (const uint8_t*)p + rest, p->length - rest));
}

static bool loop_is_flat(const struct program* p, uint32_t first, uint32_t end) {
    for (uint32_t n = first; n < end; ++n)
        if (FIELD(CODE, p->step[n].op) == OP(LOOP)) return false;
    return true;
}

static bool is_power_of_two(uint32_t n) {
    return n != 0 && (n & (n - 1)) == 0;
}

static bool network_is_good(const struct program* p) {
    const struct program_network* n = &p->network;
    const unsigned event = TRN_CC_PROGRAM_NET_SEMAPHORES_EVENT_GET(n->semaphores);
    const unsigned first = TRN_CC_PROGRAM_NET_SEMAPHORES_FIRST_GET(n->semaphores);
    const unsigned count = TRN_CC_PROGRAM_NET_SEMAPHORES_COUNT_GET(n->semaphores);
    if (n->ring == 0) return p->requests == 0;
    return is_power_of_two(TRN_CC_PROGRAM_NET_DEPTHS_SENDS_GET(n->depths)) &&
           is_power_of_two(TRN_CC_PROGRAM_NET_DEPTHS_COMPLETIONS_GET(n->depths)) && count > 0 &&
           first >= first_semaphore(p) && first + count <= end_semaphore(p) &&
           event >= first_semaphore(p) && event < end_semaphore(p);
}

static bool step_is_good(const struct program* p, uint32_t n) {
    const struct program_step* step = &p->step[n];
    const unsigned semaphore = FIELD(WHICH, step->op);
    switch (FIELD(CODE, step->op)) {
    case OP(END):
        return true;
    case OP(MARK):
        return true;
    case OP(WAIT):
        return semaphore >= first_semaphore(p) && semaphore < end_semaphore(p) &&
               FIELD(WITH, step->op) < p->ranks && step->count >= 1 && step->count <= INT32_MAX;
    case OP(ADVANCE):
    case OP(REWIND):
        return FIELD(WHICH, step->op) + FIELD(WITH, step->op) <= p->queues &&
               step->count <= MAX_DESCRIPTORS && step->address <= MAX_DESCRIPTORS;
    case OP(POST):
        return step->address % sizeof(uint32_t) == 0;
    case OP(SEND):
        return p->network.ring != 0 && step->count >= 1 &&
               step->count <= TRN_CC_PROGRAM_NET_DEPTHS_SENDS_GET(p->network.depths) &&
               FIELD(WITH, step->op) <= p->requests &&
               step->count <= p->requests - FIELD(WITH, step->op);
    case OP(LOOP):
        return FIELD(WITH, step->op) < n && loop_is_flat(p, FIELD(WITH, step->op), n);
    default:
        return false;
    }
}

uint32_t program_check(const struct program* p, uint32_t length) {
    if (length < offsetof(struct program, step) || length > MAP_CC_PROGRAM_SIZE)
        return REFUSED(LENGTH, 0);
    if (p->magic != TRN_CC_PROGRAM_MAGIC_WORD_VALUE ||
        p->format != TRN_CC_PROGRAM_FORMAT_NUMBER_VALUE)
        return REFUSED(MAGIC, 0);
    if (p->length != length || p->steps == 0 || p->steps > TRN_CC_PROGRAM_STEP_OP_COUNT ||
        p->requests > MAP_CC_PROGRAM_SIZE / WORK_REQUEST_BYTES ||
        length != offsetof(struct program, step) + p->steps * sizeof p->step[0] +
                      p->requests * WORK_REQUEST_BYTES ||
        p->marks > (MAP_CC_PROGRAM_SIZE - length) / sizeof(uint32_t))
        return REFUSED(LENGTH, 0);
    if (crc_of(p) != p->crc) return REFUSED(CRC, 0);
    if (p->rank >= p->ranks || p->ranks > UINT16_MAX) return REFUSED(RANK, 0);
    if (p->queues > TRN_CC_PROGRAM_QUEUE_LO_COUNT) return REFUSED(QUEUE, p->queues);
    if (end_semaphore(p) > TRN_SEMAPHORES_SEMAPHORE_READ_COUNT) return REFUSED(SEMAPHORE, 0);
    if (!network_is_good(p)) return REFUSED(NETWORK, 0);
    for (uint32_t n = 0; n < p->steps; ++n)
        if (!step_is_good(p, n)) return REFUSED(STEP, n);
    if (FIELD(CODE, p->step[p->steps - 1].op) != OP(END)) return REFUSED(STEP, p->steps - 1);
    return 0;
}
