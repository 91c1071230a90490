/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_RINGS_H
#define TRN_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "trn_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Engines and user rings (contract 6, 7, 13.2). */

typedef enum trn_engine_mode {
    TRN_ENGINE_IDLE = 0,
    TRN_ENGINE_NORMAL = 1,
    TRN_ENGINE_ABORT = 2
} trn_engine_mode;

typedef struct trn_engine_state {
    trn_engine_mode mode;
    uint32_t m2s_state, s2m_state; /**< as read */
    bool streams_enabled;          /**< at least one write-side queue is enabled */
} trn_engine_state;

typedef enum trn_engine_command {
    TRN_ENGINE_SET_NORMAL = 1,
    TRN_ENGINE_SET_DISABLE = 2,
    TRN_ENGINE_SET_ABORT = 4
} trn_engine_command;

trn_status trn_engine_init(trn_device* device, uint32_t engine);
trn_status trn_engine_get_state(trn_device* device, uint32_t engine, trn_engine_state* state);
trn_status trn_engine_set_state(trn_device* device, uint32_t engine, trn_engine_command command);

typedef struct trn_ring_side {
    uint64_t base;   /**< AXI address, a multiple of 256 */
    uint32_t length; /**< descriptors */
    uint32_t head;   /**< next to fetch */
    uint32_t head_ring_id;
    uint32_t tail; /**< sum of doorbells */
    uint32_t tail_ring_id;
    uint32_t status; /**< status register as read */
} trn_ring_side;

typedef struct trn_queue_state {
    trn_ring_side m2s, s2m;
} trn_queue_state;

/** Assigns the caller's rings to a queue of a core's engine: lengths 32..2^24-16, multiples of 16;
 * bases multiples of 256. The first pass uses ring id 1. Pending descriptors are dropped. */
trn_status trn_ring_init(trn_device* device, uint32_t engine, uint32_t queue, uint64_t m2s_base,
                         uint32_t m2s_length, uint64_t s2m_base, uint32_t s2m_length);
typedef struct trn_ring_request {
    uint32_t engine, queue;
    uint64_t m2s_base;
    uint32_t m2s_length;
    uint64_t s2m_base;
    uint32_t s2m_length;
} trn_ring_request;
/** Limit of rings per batch (contract 13.2, ioctl 133). */
#define TRN_MAX_RING_BATCH 255u
/** As trn_ring_init for several queues. All requests are checked before the first is executed. */
trn_status trn_ring_init_batch(trn_device* device, const trn_ring_request* requests,
                               uint32_t count);
/** Writes the doorbells, write side (s2m) first (contract 7.4); none for a count of 0. */
trn_status trn_ring_start(trn_device* device, uint32_t engine, uint32_t queue, uint32_t m2s_count,
                          uint32_t s2m_count);
/** Releases the rings: the queue idles on a ring of the library. */
trn_status trn_ring_release(trn_device* device, uint32_t engine, uint32_t queue);
trn_status trn_queue_get_state(trn_device* device, uint32_t engine, uint32_t queue,
                               trn_queue_state* state);

/** The kernel driver's clean-up after the process that owns the rings (contract 8): its queues idle
 * on a ring of the library, then 10 ms pass. Rings of the cores' own processors (queue 14 of some
 * engines) stay. */
trn_status trn_process_exit(trn_device* device);

/** One entry of a ring, little endian, as the device fetches it. */
typedef struct trn_descriptor {
    uint32_t words[4];
} trn_descriptor;

/** Flags for the two functions below. */
enum {
    TRN_WRITE_BARRIER = 1, /**< m2s: earlier writes become visible first */
    TRN_DMB = 2,           /**< m2s: later descriptors start after its completion */
    TRN_STRONG_ORDER = 4   /**< s2m: written after every earlier write */
};
/** A plain copy's source and destination entries: 1..65536 bytes, ring id 0..3. */
trn_descriptor trn_m2s_descriptor(uint64_t source, uint32_t size, uint32_t ring_id, uint32_t flags);
trn_descriptor trn_s2m_descriptor(uint64_t destination, uint32_t size, uint32_t ring_id,
                                  uint32_t flags);

typedef enum trn_ring_kind { TRN_RING_M2S = 0, TRN_RING_S2M = 1 } trn_ring_kind;
/** Copies descriptors into a ring by DMA, from entry `first` of the ring at AXI address `ring` on
 * (contract 13.2, ioctl 38). TRN_INVALID_ARGUMENT: a descriptor's host address is not DMA memory of
 * this device. */
trn_status trn_descriptors_write(trn_device* device, uint32_t core, uint64_t ring, uint32_t first,
                                 const trn_descriptor* descriptors, uint32_t count);
/** Copies descriptors out of a queue's present ring (ioctl 39). */
trn_status trn_descriptors_read(trn_device* device, uint32_t core, uint32_t engine, uint32_t queue,
                                trn_ring_kind kind, uint32_t first, trn_descriptor* descriptors,
                                uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
