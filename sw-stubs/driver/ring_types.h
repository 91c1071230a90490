/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_RING_TYPES_H
#define TRN_LIB_RING_TYPES_H

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

#endif
