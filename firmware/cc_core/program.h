// SPDX-License-Identifier: Apache-2.0
// A collective program: models/processor/top_sp/cc_program.regs.yaml. Checked once, when it is
// loaded; execution does not check it again.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trn/cc_mailbox_regs.h>
#include <trn/cc_program_regs.h>

struct program_step {
    uint32_t op, count;
    uint64_t address;
};
_Static_assert(sizeof(struct program_step) == TRN_CC_PROGRAM_STEP_OP_STRIDE, "as in memory");

struct program_queue {
    uint64_t engine_and_number;
};

/// The queue pair of an EFA card for the program's writes, and its completion ring for sent and
/// received ones.
struct program_network {
    uint64_t ring;  ///< 0: no queue pair
    uint64_t send_doorbell, completions, cq_doorbell, eq_doorbell;
    uint32_t depths, eq, semaphores, reserved;
};

struct program {
    uint32_t magic, format, length, crc;
    uint32_t rank, ranks, queues, steps;
    uint64_t done;   ///< AXI address of the word that receives the number of runs; 0: none
    uint64_t limit;  ///< timeout of a wait in ns; 0: none
    uint32_t semaphores;
    uint32_t marks;     ///< words after the program, for times
    uint32_t requests;  ///< work requests after the steps
    uint32_t reserved;
    struct program_queue queue[TRN_CC_PROGRAM_QUEUE_LO_COUNT];
    uint8_t unused[TRN_CC_PROGRAM_NET_RING_LO_OFFSET - 0x40 - 8 * TRN_CC_PROGRAM_QUEUE_LO_COUNT];
    struct program_network network;
    uint8_t unused_too[TRN_CC_PROGRAM_STEP_OP_OFFSET(0) - TRN_CC_PROGRAM_NET_RING_LO_OFFSET -
                       sizeof(struct program_network)];
    struct program_step step[];
};

static inline uint64_t program_engine(const struct program* p, unsigned row) {
    return p->queue[row].engine_and_number & ~0xffull;
}
static inline unsigned program_queue(const struct program* p, unsigned row) {
    return (unsigned)(p->queue[row].engine_and_number & 0xf);
}

#define WORK_REQUEST_BYTES 64u
static inline const uint8_t* program_request(const struct program* p, uint32_t number) {
    return (const uint8_t*)&p->step[p->steps] + number * WORK_REQUEST_BYTES;
}

/// Checks a program of `length` bytes. Returns a RESULT word of the mailbox; 0: no error.
uint32_t program_check(const struct program* program, uint32_t length);
/// Whether the semaphore ranges of two programs overlap.
bool programs_share_semaphores(const struct program* a, const struct program* b);
