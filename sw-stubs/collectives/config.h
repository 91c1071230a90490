/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_COLLECTIVES_CONFIG_H
#define TRN_LIB_COLLECTIVES_CONFIG_H

#include "trn_coll.h"

/* Functions of a collective's configuration alone, without a device. */

#define KIB(count) (UINT64_C(count) << 10)
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* A range of bytes in a buffer or block. */
typedef struct coll_share {
    uint64_t offset, bytes;
} coll_share;

bool trn_coll_scatters(trn_coll_op op);
bool trn_coll_reduces(trn_coll_op op);
bool trn_coll_is_all_to_all(trn_coll_op op);

/* ---- blocks ---- */

/* Number of orders of the ranks. */
uint32_t trn_coll_rings_of(const trn_coll_config* config);
/* Part `number` of `parts` of `bytes`; the last parts may be empty. */
coll_share trn_coll_part_of(uint64_t bytes, uint64_t parts, uint64_t number);
/* The bytes of a share below `bytes`. */
coll_share trn_coll_clip(coll_share share, uint64_t bytes);
/* Bytes of a block if the buffer is divided among `ranks`: whole elements, rounded up. */
uint64_t trn_coll_block_over(const trn_coll_config* config, uint32_t ranks);
/* Bytes of a rank's block of the buffer, of the largest one if they differ; the whole buffer if the
 * operation does not divide it. */
uint64_t trn_coll_block_of(const trn_coll_config* config);
/* A rank's block in the buffer of all blocks; the last ones may be smaller or empty. */
coll_share trn_coll_block(const trn_coll_config* config, uint32_t rank);
/* All-gather and all-to-all: the bytes that rank `sender` sends to `receiver`, in the send buffer
 * of `sender`, and in the receive buffer of `receiver`. */
coll_share trn_coll_sent(const trn_coll_config* config, uint32_t sender, uint32_t receiver);
coll_share trn_coll_received(const trn_coll_config* config, uint32_t sender, uint32_t receiver);
/* All-to-all-v: total bytes that a rank sends, and that it receives. */
uint64_t trn_coll_all_sent(const trn_coll_config* config, uint32_t rank);
uint64_t trn_coll_all_received(const trn_coll_config* config, uint32_t rank);

/* Permute: the rank that receives from `rank`, and the rank that sends to it; TRN_COLL_NO_RANK:
 * none. */
uint32_t trn_coll_target(const trn_coll_config* config, uint32_t rank);
uint32_t trn_coll_source(const trn_coll_config* config, uint32_t rank);

/* ---- domains ---- */

/* All ranks if there is a single domain. */
uint32_t trn_coll_ranks_of_domain(const trn_coll_config* config);
uint32_t trn_coll_own_domain(const trn_coll_config* config);
/* The rank's number within its domain. */
uint32_t trn_coll_own_position(const trn_coll_config* config);
/* The rank of the own position in a domain. */
uint32_t trn_coll_peer_in(const trn_coll_config* config, uint32_t domain);
/* The n-th domain after the own one, cyclic; n from 1 on. */
uint32_t trn_coll_other_domain(const trn_coll_config* config, uint32_t n);
/* All-to-all: the bytes that a rank sends to all ranks of a domain, in its send buffer. */
coll_share trn_coll_sent_to_domain(const trn_coll_config* config, uint32_t rank, uint32_t domain);

/* ---- algorithms and buffers ---- */

/* Whether the algorithm is one of grid.c. These send many blocks in a step, and every lane
 * carries a share of each. */
bool trn_coll_is_grid(const trn_coll_config* config);
/* All other ranks in sending order (`ahead`) and, for each, the rank that sends here at the same
 * time (`behind`). All ranks use the same offset along each level of the machine, so that no two
 * ranks send to the same receiver. */
void trn_coll_others(const trn_coll_config* config, uint32_t* ahead, uint32_t* behind);
/* Bytes of scratch buffer that doubling and halving need. */
uint64_t trn_coll_grid_scratch(const trn_coll_config* config, const trn_coll_grid* grid,
                               trn_coll_algorithm algorithm);
/* Whether the input is copied to the scratch buffer first, because others write the output before
 * the own input is sent. */
bool trn_coll_is_staged(const trn_coll_config* config);
/* Offset of the copy in the scratch buffer. */
uint64_t trn_coll_staged_at(const trn_coll_config* config);
/* Several domains: bytes of scratch buffer for the algorithm within the own domain, and of each
 * slot after them. */
uint64_t trn_coll_scratch_within(const trn_coll_config* config);
uint64_t trn_coll_slot_bytes(const trn_coll_config* config);

#endif
