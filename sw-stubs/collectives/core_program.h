/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_CORE_PROGRAM_H
#define TRN_LIB_CORE_PROGRAM_H

#include "trn_coll.h"

/* The program of a rank's CC-Core and the DMA rings that it posts: built in host memory,
 * one per channel. A lane is one engine's queue. It moves its share of every block, and the write
 * that signals its bytes follows them through the same queue (contract 10). */

#define COLL_MAX_LANES 16u

/* Semaphores of a slot, from the slot's first on; the same on every rank. */
#define COLL_SEMAPHORES 64u
enum {
    COLL_DATA = 0,               /* + lane: bytes have arrived */
    COLL_SENT = COLL_MAX_LANES,  /* the own lanes have completed all descriptors */
    COLL_READY,                  /* the receiver's buffers may be written */
    COLL_ROUND,                  /* + round of a barrier */
    COLL_RING = COLL_ROUND,      /* + ring: as COLL_READY, with several rings */
    COLL_STEP = COLL_ROUND + 10, /* + lane: the partner of the pair is ready, or has written */
    COLL_CROSS =
        COLL_STEP + COLL_MAX_LANES, /* + ring: as COLL_RING, for the other rank of a pair */
    COLL_NET_EVENT = 53,            /* the card has new completions */
    COLL_NET_SENT,                  /* + 1 per completed work request of the own card */
    COLL_NET_READY,                 /* buffers of other domains may be written */
    COLL_NET_DATA                   /* + domain or piece, 8 of them: its bytes have arrived */
};
/* Semaphores of grid algorithms. Partners are numbered along all sides, at most 15. */
enum {
    COLL_MET = 0,                    /* + partner: its buffers may be written */
    COLL_HALVED = COLL_ROUND,        /* + partner: its partial sum has arrived */
    COLL_DOUBLED = COLL_HALVED + 15, /* + partner: its blocks, or its sum, have arrived */
    COLL_GIVEN = COLL_DOUBLED + 15   /* the twin's bytes have arrived */
};

typedef struct coll_ring {
    trn_descriptor* entries;
    uint32_t count, capacity;
} coll_ring;

typedef struct coll_lane {
    coll_ring m2s, s2m;
    uint32_t m2s_advanced, s2m_advanced; /* entries that steps have posted */
} coll_lane;

typedef struct coll_program {
    uint8_t* bytes; /* TRN_CC_PROGRAM_SIZE */
    uint32_t steps;
    bool full; /* a table is full, or host memory ran out */
    uint32_t lanes;
    coll_lane lane[COLL_MAX_LANES];
    uint64_t increment_address; /* AXI address of a word that is 1 */
} coll_program;

bool trn_coll_program_init(coll_program* program, uint32_t lanes, uint64_t increment_address);
void trn_coll_program_free(coll_program* program);

/* Append descriptors to a lane. A reduction of one operand is a copy. */
void trn_coll_copy(coll_program* program, uint32_t lane, uint64_t destination, uint64_t source,
                   uint64_t bytes);
typedef struct coll_reduction {
    trn_element type;
    trn_coll_operator operation;
    uint64_t bytes;
    uint64_t operands[TRN_COMPUTE_OPERANDS];
    uint32_t operand_count;
    uint64_t destinations[2]; /* second: 0 for none */
} coll_reduction;
void trn_coll_reduce(coll_program* program, uint32_t lane, const coll_reduction* reduction);
/* Adds 1 to the semaphore at an AXI or fabric address, after all earlier bytes of the lane. */
void trn_coll_signal(coll_program* program, uint32_t lane, uint64_t semaphore);

/* Append steps to the program. */
void trn_coll_step_wait(coll_program* program, uint32_t semaphore, uint32_t value, uint32_t peer);
void trn_coll_post(coll_program* program, uint64_t semaphore);
/* Posts work requests of the program to the card. */
void trn_coll_send(coll_program* program, uint32_t first, uint32_t count);
void trn_coll_rewind(coll_program* program);
/* Posts the descriptors that were appended to the lane since its last advance. */
void trn_coll_advance(coll_program* program, uint32_t lane);
void trn_coll_mark(coll_program* program);
uint32_t trn_coll_here(const coll_program* program);
/* Removes the steps from `here` on if they equal those from `begin` to `here`. */
bool trn_coll_drop_repeated(coll_program* program, uint32_t begin, uint32_t here);
/* Inserts a step before step `position` (at trn_coll_here: appends it) that repeats the steps from
 * `target` to it `times` times. Returns the number of inserted steps: 0 if `times` is 0. */
uint32_t trn_coll_loop(coll_program* program, uint32_t position, uint32_t target, uint32_t times);

/* The queue pair of the channel. Addresses are AXI. */
typedef struct coll_network {
    uint64_t ring, send_doorbell, completions, completion_doorbell, event_doorbell;
    uint32_t sends, completion_entries, event_queue;
    uint32_t event_semaphore, first_semaphore, semaphores;
    const uint8_t* requests; /* in the send ring's format */
    uint32_t request_count;
} coll_network;
typedef struct coll_header {
    uint32_t rank, ranks;
    uint64_t done, limit;
    uint32_t first_semaphore, semaphores;
    const uint64_t* engines; /* AXI address of each lane's engine */
    uint32_t queue;
    coll_network network; /* ring 0: none */
    bool marks;           /* the rest of the program's memory receives the times of MARK steps */
} coll_header;
/* Appends END and writes the header. Returns the program's bytes; 0 if `full`. */
uint32_t trn_coll_program_finish(coll_program* program, const coll_header* header);

#endif
