/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_COPIES_H
#define TRN_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "trn_memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies by DMA, scrub, failures of copies. */

/** Longest copy of one descriptor: 64 KiB. */
#define TRN_DESCRIPTOR_BYTES UINT64_C(65536)
/** Limit of data descriptors between two completion markers (contract 7.5). */
#define TRN_BATCH_DESCRIPTORS 2031u
/** Longest copy of one job. */
#define TRN_JOB_BYTES (TRN_BATCH_DESCRIPTORS * TRN_DESCRIPTOR_BYTES)

/** Copies by DMA between any two AXI addresses, host or device, on the host-transfer queue of a
 * core (contract 8, 15.2), and waits. Any size (0 included) and alignment. TRN_ABORTED,
 * TRN_TIMED_OUT: an unknown part was copied, and the queue returns TRN_NOT_READY until it is reset
 * (trn_reset_device, trn_reset_cores, trn_restart_queue). */
trn_status trn_copy(trn_device* device, uint32_t core, uint64_t destination, uint64_t source,
                    uint64_t size);

/** Copy ordinary memory of the caller to or from an AXI address, through bounce buffers. */
trn_status trn_write(trn_device* device, uint32_t core, uint64_t destination, const void* bytes,
                     uint64_t size);
trn_status trn_read(trn_device* device, uint32_t core, void* bytes, uint64_t source, uint64_t size);

/** Fills with one byte value by DMA: a 64 KiB pattern from the host, then device to device
 * (contract 8). destination: device memory. */
trn_status trn_memset(trn_device* device, uint32_t core, uint64_t destination, uint8_t value,
                      uint64_t size);

/** As trn_write, limited to addresses where programs may be: cores, TOP_SPs, stacks, PREPROC
 * (contract 10); TRN_INVALID_ARGUMENT elsewhere. */
trn_status trn_program_engine(trn_device* device, uint32_t core, uint64_t destination,
                              const void* bytes, uint64_t size);

/** Opens another queue of a core's host-transfer engine for zero-copies (contract 13.2, ioctl 125).
 * TRN_BUSY: no free queue. A reset of the core closes it. */
trn_status trn_host_queue_open(trn_device* device, uint32_t core, uint32_t* queue);
trn_status trn_host_queue_close(trn_device* device, uint32_t core, uint32_t queue);

#define TRN_DEFAULT_QUEUE UINT32_MAX
typedef enum trn_direction { TRN_TO_DEVICE = 0, TRN_FROM_DEVICE = 1 } trn_direction;

/** Copies between the chip and a buffer without a bounce buffer: runs of contiguous pages, 64 pages
 * between two markers, two batches in flight (contract 7.5). Writes of up to 8 KiB into HBM go
 * through BAR4, except on revision 255 (contract 2). queue: from trn_host_queue_open, or
 * TRN_DEFAULT_QUEUE. */
trn_status trn_zero_copy(trn_device* device, uint32_t core, uint32_t queue, uint64_t inside,
                         const trn_buffer* buffer, uint64_t offset, uint64_t size,
                         trn_direction direction);

/** Number of an asynchronous copy; 0: none. */
typedef uint64_t trn_job;

/** Starts a copy of 1..TRN_JOB_BYTES bytes and returns. TRN_BUSY: the queue is full until an
 * earlier job is waited for. Jobs of one core end in the order of submission. */
trn_status trn_submit(trn_device* device, uint32_t core, uint64_t destination, uint64_t source,
                      uint64_t size, trn_job* job);
/** Polls a job: *done with TRN_OK or the job's failure. Does not wait. The result stays available
 * until trn_wait. */
trn_status trn_poll(trn_device* device, trn_job job, bool* done);
/** Waits for a job and discards it. TRN_INVALID_ARGUMENT: the job was waited for before. */
trn_status trn_wait(trn_device* device, trn_job job);

/** Fills part of a stack by 16 engines of its core group in parallel, each with a chain of 64 KiB
 * stripes 1 MiB apart; the last stripe is read back and compared (contract 8). offset and size:
 * whole MiB. TRN_PROTOCOL_ERROR: data mismatch. Afterwards queue 0 of the engines is on an idle
 * ring. */
trn_status trn_scrub(trn_device* device, uint32_t stack, uint64_t offset, uint64_t size,
                     uint32_t value);

/** As trn_scrub, asynchronous, up to TRN_SCRUB_BYTES. trn_scrub_wait waits and frees `scrubbing`.
 */
#define TRN_SCRUB_BYTES (UINT64_C(8000) << 20)
typedef struct trn_scrubbing trn_scrubbing;
trn_status trn_scrub_start(trn_device* device, uint32_t stack, uint64_t offset, uint64_t size,
                           uint32_t value, trn_scrubbing** scrubbing);
trn_status trn_scrub_wait(trn_device* device, trn_scrubbing* scrubbing);

/** Registers of the engine that stopped the last copy. */
typedef struct trn_failure {
    uint32_t engine, queue;
    uint32_t m2s_state, s2m_state; /**< state registers as read (contract 6.1) */
    uint32_t cause_m2s, cause_s2m; /**< secondary interrupt causes A and B (contract 6.4) */
    uint32_t m2s_head, s2m_head;   /**< ring index of the descriptor that did not finish */
} trn_failure;

/** Details of the last TRN_ABORTED or TRN_TIMED_OUT of a copy; false when there was none. */
bool trn_last_failure(const trn_device* device, trn_failure* failure);

/** Sets up a core's host-transfer queue again after an abort: engine to normal, queue reset, jobs
 * dropped. Unlike a reset it does not affect other cores. */
trn_status trn_restart_queue(trn_device* device, uint32_t core);

#ifdef __cplusplus
}
#endif

#endif
