/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_RING_H
#define TRN_LIB_RING_H

#include "ring_types.h"

/* Functions of the rings of ring_types.h. */

/* Allocates the rings and assigns them to the queue. After a failure they are to be closed. */
TRN_CHECKED trn_status trn_ring_open(trn_device* device, trn_ring* ring, uint32_t engine,
                                     uint32_t queue, uint32_t length);
/* Frees the memory and ends running jobs with `why`, without register accesses. */
void trn_ring_close(trn_device* device, trn_ring* ring, trn_status why);
/* Whether the device may access the memory of a job that runs, or that was given up. */
bool trn_ring_is_in_use(const trn_ring* ring);
/* Sets the queue up again with empty rings and ends running jobs with TRN_ABORTED. */
TRN_CHECKED trn_status trn_ring_restart(trn_device* device, trn_ring* ring);

/* Whether there is room for a job of `copies` descriptors and its marker. */
bool trn_ring_has_room(const trn_ring* ring, uint32_t copies);
void trn_ring_put(trn_ring* ring, trn_ring_kind side, trn_descriptor descriptor);
void trn_ring_append(trn_ring* ring, uint64_t destination, uint64_t source, uint32_t size,
                     uint32_t flags);
/* Appends a copy as up to TRN_BATCH_DESCRIPTORS descriptors, the last with a write barrier. */
void trn_ring_append_copy(trn_ring* ring, uint64_t destination, uint64_t source, uint64_t size);
/* Appends the marker (`flags` of its destination descriptor) and writes the doorbells.
 * `time_limit_divisor` divides the public driver's time limit. */
TRN_CHECKED trn_status trn_ring_post(trn_device* device, trn_ring* ring, uint32_t flags,
                                     uint32_t time_limit_divisor, uint64_t* sequence);

/* Detects ended jobs and stopped engines; does not wait. */
TRN_CHECKED trn_status trn_ring_poll(trn_device* device, trn_ring* ring);
TRN_CHECKED trn_status trn_ring_wait(trn_device* device, trn_ring* ring, uint64_t sequence);
/* TRN_ABORTED, with an explanation, if a queue has stopped on an error; else TRN_OK. */
trn_status trn_queue_check(trn_device* device, uint32_t engine, uint32_t queue);
/* The job's record; NULL if it was never posted or already discarded. */
ring_job* trn_ring_find(trn_ring* ring, uint64_t sequence);

#endif
