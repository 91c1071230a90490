/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_COMPUTE_H
#define TRN_COMPUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "trn_rings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* DMA compute (doc/dma_compute.md; the encoding is this platform's own). */

/** Element types; values as in descriptors. */
typedef enum trn_element {
    TRN_FP32 = 0,
    TRN_TF32 = 1,
    TRN_BF16 = 2,
    TRN_FP16 = 3,
    TRN_FP8_E3M4 = 4,
    TRN_FP8_E4M3 = 5,
    TRN_FP8_E4M3FN = 6,
    TRN_FP8_E5M2 = 7,
    TRN_INT8 = 8,
    TRN_UINT8 = 9,
    TRN_INT16 = 10,
    TRN_UINT16 = 11,
    TRN_INT32 = 12,
    TRN_UINT32 = 13
} trn_element;

typedef enum trn_compute_operation {
    TRN_COMPUTE_COPY = 0,
    TRN_COMPUTE_CAST = 1,
    TRN_COMPUTE_ADD = 2,
    TRN_COMPUTE_MIN = 3,
    TRN_COMPUTE_MAX = 4,
    TRN_COMPUTE_SCALED_ADD = 5,
    TRN_COMPUTE_TRANSPOSE = 6,
    TRN_COMPUTE_GATHER = 7,
    TRN_COMPUTE_SCATTER = 8
} trn_compute_operation;

#define TRN_COMPUTE_ACCUMULATE 1u /**< the destination's contents are the first operand */
#define TRN_COMPUTE_DUPLICATE 2u  /**< writes the result twice; destinations: both, in order */
#define TRN_COMPUTE_STOCHASTIC 4u /**< rounding; parameter is the seed */
#define TRN_COMPUTE_SATURATE 8u
#define TRN_COMPUTE_SKIP 16u /**< gather, scatter: ignores indices out of range */

#define TRN_COMPUTE_OPERANDS 16u
#define TRN_COMPUTE_PIECES 64u /**< of sources, of destinations */
/** Limit of a packet's source descriptors: operation, scales, sources. */
#define TRN_COMPUTE_M2S (1u + TRN_COMPUTE_OPERANDS / 2u + TRN_COMPUTE_PIECES)

typedef struct trn_dma_piece {
    uint64_t address; /**< AXI */
    uint32_t size;    /**< 1 to 65536 bytes */
} trn_dma_piece;

typedef struct trn_compute_packet {
    trn_compute_operation operation;
    trn_element from, to; /**< 0 for operations on untyped bytes */
    uint32_t operands;    /**< number of equal parts of the sources */
    uint32_t flags;
    uint32_t parameter;  /**< seed; rows | columns << 16; elements of the table */
    const float* scales; /**< scaled add: one per operand */
    const trn_dma_piece* sources;
    uint32_t source_count;
    const trn_dma_piece* destinations;
    uint32_t destination_count;
} trn_compute_packet;

/** Builds the descriptors of one packet, with ring id 0, for rings of the caller. m2s must have
 * room for TRN_COMPUTE_M2S, s2m for TRN_COMPUTE_PIECES. False: too many operands or pieces, or no
 * scales. All other errors are detected by the engine. */
bool trn_compute_build(const trn_compute_packet* packet, trn_descriptor* m2s, uint32_t* m2s_count,
                       trn_descriptor* s2m, uint32_t* s2m_count);
trn_descriptor trn_descriptor_with_ring_id(trn_descriptor descriptor, uint32_t ring_id);

/** Executes one packet on a queue of a core's engine and waits. TRN_BUSY: the queue has a user
 * ring. TRN_ABORTED: the engine refused the packet; see trn_last_error. Afterwards the queue idles.
 */
trn_status trn_compute(trn_device* device, uint32_t engine, uint32_t queue,
                       const trn_compute_packet* packet);
/** Reduces `count` buffers of `size` bytes to one, in packets of 64 KiB. */
trn_status trn_dma_reduce(trn_device* device, uint32_t engine, uint32_t queue,
                          trn_compute_operation operation, trn_element element,
                          const uint64_t* sources, uint32_t count, uint64_t destination,
                          uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
