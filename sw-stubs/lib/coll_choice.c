/* SPDX-License-Identifier: Apache-2.0 */
#include "coll_builder.h"

/* Which algorithms there are, and which one a collective gets. */

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const struct {
    trn_coll_op op;
    trn_coll_algorithm algorithm;
    coll_algorithm build;
} known[] = {
    {TRN_COLL_ALL_REDUCE, TRN_COLL_RING, coll_ring_all_reduce},
    {TRN_COLL_ALL_REDUCE, TRN_COLL_DOUBLING, coll_doubling_all_reduce},
    {TRN_COLL_ALL_REDUCE, TRN_COLL_HALVING, coll_halving_all_reduce},
    {TRN_COLL_ALL_GATHER, TRN_COLL_RING, coll_ring_all_gather},
    {TRN_COLL_ALL_GATHER, TRN_COLL_MESH, coll_mesh},
    {TRN_COLL_ALL_GATHER, TRN_COLL_DOUBLING, coll_doubling_all_gather},
    {TRN_COLL_REDUCE_SCATTER, TRN_COLL_RING, coll_ring_reduce_scatter},
    {TRN_COLL_REDUCE_SCATTER, TRN_COLL_HALVING, coll_halving_reduce_scatter},
    {TRN_COLL_ALL_TO_ALL, TRN_COLL_MESH, coll_mesh},
    {TRN_COLL_PERMUTE, TRN_COLL_RING, coll_ring_permute},
    {TRN_COLL_BROADCAST, TRN_COLL_RING, coll_ring_broadcast},
    {TRN_COLL_BARRIER, TRN_COLL_DOUBLING, coll_rounds},
};

const char* trn_coll_algorithm_text(trn_coll_algorithm algorithm) {
    static const char* const texts[] = {"auto", "ring", "mesh", "doubling", "halving"};
    return (size_t)algorithm < COUNT_OF(texts) ? texts[algorithm] : "?";
}

coll_algorithm coll_algorithm_of(trn_coll_op op, trn_coll_algorithm algorithm) {
    for (size_t n = 0; n < COUNT_OF(known); ++n)
        if (known[n].op == op && known[n].algorithm == algorithm) return known[n].build;
    return NULL;
}

bool trn_coll_has_algorithm(trn_coll_op op, trn_coll_algorithm algorithm) {
    return algorithm == TRN_COLL_AUTO || coll_algorithm_of(op, algorithm) != NULL;
}

trn_coll_algorithm trn_coll_choose(const trn_coll_config* config) {
    if (config->algorithm != TRN_COLL_AUTO) return config->algorithm;
    switch (config->op) {
    case TRN_COLL_ALL_TO_ALL:
        return TRN_COLL_MESH;
    case TRN_COLL_BARRIER:
        return TRN_COLL_DOUBLING;
    case TRN_COLL_ALL_GATHER:
        /* A step of the ring costs about as much as 256 KiB take on a link; a rank's writes to all
         * the others need one. */
        return config->bytes <= UINT64_C(256) << 10 ? TRN_COLL_MESH : TRN_COLL_RING;
    default:
        return TRN_COLL_RING;
    }
}
