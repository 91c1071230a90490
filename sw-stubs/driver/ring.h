/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_RING_H
#define TRN_LIB_RING_H

#include "trn_driver.h"

/* A pair of rings in host memory with completion markers (contract 7): what the host-transfer
 * queues and the scrub use. A job is a run of copies with one marker after it; jobs of a ring end
 * in order. */

#define RING_DESCRIPTORS \
    8192u /* contract 7.1: what the public driver gives a host-transfer queue */
#define RING_JOBS 8u

typedef enum job_state { JOB_FREE = 0, JOB_RUNNING, JOB_OVER } job_state;

typedef struct ring_job {
    job_state state;
    trn_status result;
    uint32_t descriptors; /* marker included */
    uint64_t deadline;
    uint64_t operation; /* its number in a recording */
} ring_job;

typedef struct ring_side {
    uint32_t next, ring_id; /* where the next descriptor goes */
    uint32_t appended;      /* written, doorbell not rung */
} ring_side;

typedef struct trn_ring {
    uint32_t engine, queue, length;
    trn_dma_memory m2s, s2m, markers;
    ring_side sides[2]; /* by trn_ring_kind; copies keep them in step, compute packets do not */
    uint32_t in_flight;
    uint64_t oldest, newest; /* sequence numbers: running jobs are [oldest, newest) */
    ring_job jobs[RING_JOBS];
    uint64_t state_polled_at; /* time */
    trn_status broken;        /* why it takes no more jobs */
} trn_ring;

/* Allocates the rings and gives them to the queue. */
trn_status trn_ring_open(trn_device* device, trn_ring* ring, uint32_t engine, uint32_t queue,
                         uint32_t length);
/* Frees the memory; jobs that were running are over with `why`. The queue is not touched. */
void trn_ring_close(trn_device* device, trn_ring* ring, trn_status why);
/* Sets the queue up again with empty rings; jobs that were running are over with TRN_ABORTED. */
void trn_ring_restart(trn_device* device, trn_ring* ring);

/* Whether a job of this many copies and its marker fits now. */
bool trn_ring_has_room(const trn_ring* ring, uint32_t copies);
void trn_ring_put(trn_ring* ring, trn_ring_kind side, trn_descriptor descriptor);
void trn_ring_append(trn_device* device, trn_ring* ring, uint64_t destination, uint64_t source,
                     uint32_t size, uint32_t flags);
/* Cuts a copy into descriptors, the last with a write barrier; at most TRN_BATCH_DESCRIPTORS. */
void trn_ring_append_copy(trn_device* device, trn_ring* ring, uint64_t destination, uint64_t source,
                          uint64_t size);
/* Appends the marker, with these flags of its destination, and rings the doorbells. hurry divides
 * the public driver's time limit. */
trn_status trn_ring_post(trn_device* device, trn_ring* ring, uint32_t flags, uint32_t hurry,
                         uint64_t* sequence);

/* Notices jobs that are over and engines that stopped; lets no time pass. */
trn_status trn_ring_poll(trn_device* device, trn_ring* ring);
trn_status trn_ring_wait(trn_device* device, trn_ring* ring, uint64_t sequence);
/* Whether a queue has stopped on an error: TRN_ABORTED, with a sentence that says why; else TRN_OK.
 */
trn_status trn_queue_check(trn_device* device, uint32_t engine, uint32_t queue);
/* The job's record, or NULL when it was never posted or was forgotten. */
ring_job* trn_ring_find(trn_ring* ring, uint64_t sequence);

#endif
