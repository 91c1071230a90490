/* SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

/* The algorithms of each operation. */

static const struct {
    trn_coll_op op;
    trn_coll_algorithm algorithm;
    coll_algorithm build;
} known[] = {
    {TRN_COLL_ALL_REDUCE, TRN_COLL_RING, trn_coll_ring_all_reduce},
    {TRN_COLL_ALL_REDUCE, TRN_COLL_DOUBLING, trn_coll_doubling_all_reduce},
    {TRN_COLL_ALL_REDUCE, TRN_COLL_HALVING, trn_coll_halving_all_reduce},
    {TRN_COLL_ALL_REDUCE, TRN_COLL_KANGARING, trn_coll_kanga_all_reduce},
    {TRN_COLL_ALL_GATHER, TRN_COLL_KANGARING, trn_coll_kanga_all_gather},
    {TRN_COLL_REDUCE_SCATTER, TRN_COLL_KANGARING, trn_coll_kanga_reduce_scatter},
    {TRN_COLL_ALL_GATHER, TRN_COLL_RING, trn_coll_ring_all_gather},
    {TRN_COLL_ALL_GATHER, TRN_COLL_MESH, trn_coll_mesh},
    {TRN_COLL_ALL_GATHER, TRN_COLL_DOUBLING, trn_coll_doubling_all_gather},
    {TRN_COLL_REDUCE_SCATTER, TRN_COLL_RING, trn_coll_ring_reduce_scatter},
    {TRN_COLL_REDUCE_SCATTER, TRN_COLL_HALVING, trn_coll_halving_reduce_scatter},
    {TRN_COLL_ALL_TO_ALL, TRN_COLL_MESH, trn_coll_mesh},
    {TRN_COLL_PERMUTE, TRN_COLL_RING, trn_coll_ring_permute},
    {TRN_COLL_BROADCAST, TRN_COLL_RING, trn_coll_ring_broadcast},
    {TRN_COLL_BARRIER, TRN_COLL_DOUBLING, trn_coll_rounds},
    {TRN_COLL_ALL_GATHER_V, TRN_COLL_RING, trn_coll_ring_all_gather},
    {TRN_COLL_ALL_GATHER_V, TRN_COLL_MESH, trn_coll_mesh},
    {TRN_COLL_REDUCE_SCATTER_V, TRN_COLL_RING, trn_coll_ring_reduce_scatter},
    {TRN_COLL_ALL_TO_ALL_V, TRN_COLL_MESH, trn_coll_mesh},
};

coll_algorithm trn_coll_algorithm_of(trn_coll_op op, trn_coll_algorithm algorithm) {
    for (size_t n = 0; n < COUNT_OF(known); ++n)
        if (known[n].op == op && known[n].algorithm == algorithm) return known[n].build;
    return NULL;
}

bool trn_coll_has_algorithm(trn_coll_op op, trn_coll_algorithm algorithm) {
    return algorithm == TRN_COLL_AUTO || trn_coll_algorithm_of(op, algorithm) != NULL;
}
