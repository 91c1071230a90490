/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_PROGRAM_H
#define TRN_LIB_PROGRAM_H

#include "core_engine.h"
#include "models/neuron_isa/program_set/program_set.h"

/* A loaded program, as the library's files share it. */

#define NO_STREAM UINT32_MAX
#define GATHER_QUEUE 13u               /* for software descriptor generation, spec 8.2 */
#define RING_QUEUES (GATHER_QUEUE + 1) /* used by programs; lower ones by transfers */

/* The rings of a DMA engine's queue, at offsets in the core's image. */
typedef struct program_ring {
    uint32_t count;     /* descriptors of transfers, per side */
    uint32_t generated; /* room for descriptors that the program generates */
    uint32_t length;    /* of each ring; 0: unused */
    uint64_t m2s, s2m;
    uint32_t filled;
} program_ring;

/* HBM of one core: image (a constant, streams, rings, source lines), then tensors. */
typedef struct program_core {
    uint64_t begin, next, end; /* usable memory, AXI */
    uint64_t first;            /* taken: from there to `next`; nothing if that is `begin` */
    bool has_memory;           /* allocated by the kernel driver, without the tensors */
    uint64_t tensors_begin, tensors_end; /* allocated by the kernel driver; equal: nothing */
    uint64_t image, image_bytes;
    uint8_t* bytes; /* of the image; NULL until it is built */
    uint32_t stream[SET_ENGINES];
    uint64_t stream_at[SET_ENGINES]; /* in the image */
    uint64_t lines_at[SET_ENGINES];  /* in the image, if the set has lines */
    program_ring rings[SET_DMA_ENGINES][RING_QUEUES];
    bool has_notifications;
    trn_notification_ring notifications;
} program_core;

struct trn_program {
    trn_member loaded; /* in the device's list; first, so that both have one address */
    trn_device* device;
    trn_program_options options;
    program_set set;
    uint64_t* tensors; /* AXI addresses */
    program_core cores[SET_MAX_CORES];
    bool is_written, is_prepared, has_queues, is_running;
    bool is_accounted;               /* the end of the run is in the device's accounts */
    uint8_t notified[SET_MAX_CORES]; /* by core: the first error after which its engine continued */
    uint64_t start;                  /* of the run, on the transport's clock */
    uint32_t probes;                 /* of the device, when the images were written */
    uint32_t resets[SET_MAX_CORES];  /* of the cores, when the program was prepared */
    uint8_t over[SET_MAX_CORES];     /* engines detected as halted, failed or stopped */
    trn_program_result result;
};

/* The loaded program of the device after `after` that is not `program`; NULL: the first, the end.
 */
trn_program* trn_program_other(const trn_program* program, const trn_program* after);
/* Whether both run on some core of the device. */
bool trn_programs_share_core(const trn_program* a, const trn_program* b);
/* Whether a core of the program was reset after its preparation, and so has lost it. */
bool trn_program_lost_core(const trn_program* program, uint32_t core);
/* Releases queues and notification rings. Precondition: the program does not run. */
trn_status trn_program_release(trn_program* program);

/* Assigns addresses to images and tensors, without access to device memory. */
trn_status trn_program_place(trn_program* program);
void trn_program_free_memory(trn_program* program);
/* Adds the memory of a core's image and tensors to `kinds`, by trn_memory_kind. */
void trn_program_count_memory(const trn_program* program, uint32_t core, uint64_t* kinds);
/* Builds the images with addresses and descriptors, and writes them. */
trn_status trn_program_write_images(trn_program* program);

#endif
