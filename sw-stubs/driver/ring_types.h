/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_RING_TYPES_H
#define TRN_LIB_RING_TYPES_H

#include "trn_driver.h"

/* A status that is no more than part of its caller's own: the caller must use it. */
#if defined(__GNUC__)
#define TRN_CHECKED __attribute__((warn_unused_result))
#else
#define TRN_CHECKED
#endif

/* A pair of rings in host memory with completion markers (contract 7), for the host-transfer queues
 * and the scrub. A job is a sequence of copies followed by a marker; jobs of a ring end in order.
 */

#define RING_DESCRIPTORS \
    8192u /* contract 7.1: the public driver's length for host-transfer queues */
#define RING_JOBS 8u

typedef enum job_state { JOB_FREE = 0, JOB_RUNNING, JOB_OVER } job_state;

typedef struct ring_job {
    job_state state;
    trn_status result;
    uint32_t descriptors; /* marker included */
    uint64_t deadline;
    uint64_t operation; /* number in a recording */
} ring_job;

typedef struct ring_side {
    uint32_t next, ring_id; /* place and ring id of the next descriptor */
    uint32_t appended;      /* descriptors written since the last doorbell */
} ring_side;

typedef struct trn_ring {
    uint32_t engine, queue, length;
    trn_dma_memory m2s, s2m, markers;
    ring_side sides[2]; /* by trn_ring_kind; advance equally for copies, not for compute packets */
    uint32_t in_flight;
    uint64_t oldest, newest; /* sequence numbers: running jobs are [oldest, newest) */
    ring_job jobs[RING_JOBS];
    uint64_t state_polled_at; /* time */
    trn_status broken;        /* TRN_OK, or the reason why it accepts no jobs */
} trn_ring;

#endif
