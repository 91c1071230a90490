/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_PROGRAM_H
#define TRN_LIB_PROGRAM_H

#include "core_engine.h"
#include "program_set.h"

/* A loaded program and what the parts of the library share of it. */

#define NO_STREAM UINT32_MAX
#define GATHER_QUEUE 13u               /* of software descriptor generation, spec 8.2 */
#define RING_QUEUES (GATHER_QUEUE + 1) /* that programs use; those of transfers are below */

/* The rings of a queue of a DMA engine of a core, in the core's image. */
typedef struct program_ring {
    uint32_t count;     /* descriptors of either side, of transfers */
    uint32_t generated; /* room for descriptors that the program itself has made */
    uint32_t length;    /* of either ring; 0: not used */
    uint64_t m2s, s2m;
    uint32_t filled;
} program_ring;

/* What stands in HBM for one core: a constant, streams, rings, source lines; then tensors. */
typedef struct program_core {
    uint64_t begin, next, end; /* memory that may be used, AXI */
    bool has_memory;           /* of the kernel driver */
    uint64_t image, image_bytes;
    uint8_t* bytes; /* of the image; NULL before it is made */
    uint32_t stream[SET_ENGINES];
    uint64_t stream_at[SET_ENGINES]; /* in the image */
    uint64_t lines_at[SET_ENGINES];  /* in the image, when the set has lines */
    program_ring rings[SET_DMA_ENGINES][RING_QUEUES];
    bool has_notifications;
    trn_notification_ring notifications;
} program_core;

struct trn_program {
    trn_device* device;
    trn_program_options options;
    program_set set;
    uint64_t* tensors; /* AXI addresses */
    program_core cores[SET_MAX_CORES];
    bool is_written, is_prepared, has_queues, is_running;
    uint8_t over[SET_MAX_CORES]; /* engines that were seen halted, failed or stopped */
    trn_program_result result;
};

/* Where things go; touches no device memory. */
trn_status trn_program_place(trn_program* program);
void trn_program_free_memory(trn_program* program);
/* Writes the images with addresses and descriptors. */
trn_status trn_program_write_images(trn_program* program);

#endif
