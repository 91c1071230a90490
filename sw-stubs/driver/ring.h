/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_RING_H
#define TRN_LIB_RING_H

#include "ring_types.h"

/* What a ring of ring_types.h does. */

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
