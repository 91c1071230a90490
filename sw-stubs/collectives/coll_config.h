/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_LIB_COLL_CONFIG_H
#define TRN_LIB_COLL_CONFIG_H

#include "trn_coll.h"

/* What follows from the configuration of a collective alone, without a device. */

#define KIB(count) (UINT64_C(count) << 10)
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Bytes of a buffer, or of a block of it. */
typedef struct coll_share {
    uint64_t offset, bytes;
} coll_share;

bool trn_coll_reduces(trn_coll_op op);
bool trn_coll_is_all_to_all(trn_coll_op op);

/* ---- blocks ---- */

/* Number of orders of the ranks. */
uint32_t trn_coll_rings_of(const trn_coll_config* config);
/* One of so many parts, of which the last ones may be empty. */
coll_share trn_coll_part_of(uint64_t bytes, uint64_t parts, uint64_t number);
/* Bytes of the blocks into which the ranks divide the buffer, of the largest one where they differ;
 * all of it, if they do not divide it. */
uint64_t trn_coll_block_of(const trn_coll_config* config);
/* A rank's block of the buffer that has all of them. */
coll_share trn_coll_block(const trn_coll_config* config, uint32_t rank);
/* What a rank sends to another, in its own buffer, and where that is in the other's: of an
 * all-gather or an all-to-all. */
coll_share trn_coll_sent(const trn_coll_config* config, uint32_t from, uint32_t to);
coll_share trn_coll_received(const trn_coll_config* config, uint32_t from, uint32_t to);
/* Bytes of all that a rank sends, and of all that it receives, of an all-to-all-v. */
uint64_t trn_coll_all_sent(const trn_coll_config* config, uint32_t rank);
uint64_t trn_coll_all_received(const trn_coll_config* config, uint32_t rank);

/* ---- domains ---- */

/* All ranks where there is one domain. */
uint32_t trn_coll_ranks_of_domain(const trn_coll_config* config);
uint32_t trn_coll_own_domain(const trn_coll_config* config);
/* The rank's number within its domain. */
uint32_t trn_coll_own_position(const trn_coll_config* config);
/* The rank of the own position in a domain. */
uint32_t trn_coll_peer_in(const trn_coll_config* config, uint32_t domain);
/* The other domains, the next one first: n from 1 on. */
uint32_t trn_coll_other_domain(const trn_coll_config* config, uint32_t n);
/* Of an all-to-all: what a rank sends to a domain's ranks. */
coll_share trn_coll_sent_to_domain(const trn_coll_config* config, uint32_t rank, uint32_t domain);

/* ---- algorithms and buffers ---- */

/* Whether the collective is one of coll_grid.c: they send many blocks in a step, and so their lanes
 * share all of them. */
bool trn_coll_is_grid(const trn_coll_config* config);
/* All other ranks, in an order in which all ranks go the same way at the same time, as many places
 * further along each level of the machine, so that no two ranks send to the same receiver; and the
 * ranks that send here then. */
void trn_coll_others(const trn_coll_config* config, uint32_t* ahead, uint32_t* behind);
/* Bytes of scratch buffer that doubling and halving need. */
uint64_t trn_coll_grid_scratch(const trn_coll_config* config, const trn_coll_grid* grid,
                               trn_coll_algorithm algorithm);
/* Of several domains: bytes of scratch buffer that the algorithm needs within the own domain, and
 * of each slot after them. */
uint64_t trn_coll_scratch_within(const trn_coll_config* config);
uint64_t trn_coll_slot_bytes(const trn_coll_config* config);

#endif
