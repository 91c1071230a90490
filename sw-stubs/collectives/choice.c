/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

/* Choice of a collective's algorithm. */

const char* trn_coll_algorithm_text(trn_coll_algorithm algorithm) {
    static const char* const texts[] = {"auto", "ring", "mesh", "doubling", "halving", "kangaring"};
    return (size_t)algorithm < COUNT_OF(texts) ? texts[algorithm] : "?";
}

#define TORUS (1u << TRN_TOPOLOGY_TORUS)

/* The first matching row is used. Chosen from measurements (doc/performance.md). */
static const trn_coll_rule defaults[] = {
    {TRN_COLL_ALL_REDUCE, 0, 8, KIB(256), TRN_COLL_DOUBLING},
    {TRN_COLL_ALL_REDUCE, 0, 8, KIB(2048), TRN_COLL_HALVING},
    {TRN_COLL_ALL_REDUCE, 0, 8, 0, TRN_COLL_RING},
    {TRN_COLL_ALL_REDUCE, 0, 16, KIB(128), TRN_COLL_DOUBLING},
    {TRN_COLL_ALL_REDUCE, TORUS, 16, KIB(4096), TRN_COLL_HALVING},
    {TRN_COLL_ALL_REDUCE, TORUS, 16, 0, TRN_COLL_RING},
    {TRN_COLL_ALL_REDUCE, 0, 16, 0, TRN_COLL_HALVING},
    {TRN_COLL_ALL_REDUCE, 0, 0, KIB(256), TRN_COLL_DOUBLING},
    {TRN_COLL_ALL_REDUCE, 0, 0, 0, TRN_COLL_HALVING},
    {TRN_COLL_ALL_GATHER, 0, 16, KIB(64), TRN_COLL_MESH},
    {TRN_COLL_ALL_GATHER, TORUS, 16, KIB(4096), TRN_COLL_DOUBLING},
    {TRN_COLL_ALL_GATHER, TORUS, 16, 0, TRN_COLL_RING},
    {TRN_COLL_ALL_GATHER, 0, 0, 0, TRN_COLL_DOUBLING},
    {TRN_COLL_REDUCE_SCATTER, 0, 8, KIB(2048), TRN_COLL_HALVING},
    {TRN_COLL_REDUCE_SCATTER, 0, 8, 0, TRN_COLL_RING},
    {TRN_COLL_REDUCE_SCATTER, TORUS, 16, KIB(4096), TRN_COLL_HALVING},
    {TRN_COLL_REDUCE_SCATTER, TORUS, 16, 0, TRN_COLL_RING},
    {TRN_COLL_REDUCE_SCATTER, 0, 0, 0, TRN_COLL_HALVING},
    {TRN_COLL_ALL_TO_ALL, 0, 0, 0, TRN_COLL_MESH},
    {TRN_COLL_PERMUTE, 0, 0, 0, TRN_COLL_RING},
    {TRN_COLL_BROADCAST, 0, 0, 0, TRN_COLL_RING},
    {TRN_COLL_BARRIER, 0, 0, 0, TRN_COLL_DOUBLING},
    {TRN_COLL_ALL_GATHER_V, 0, 0, KIB(4096), TRN_COLL_MESH},
    {TRN_COLL_ALL_GATHER_V, 0, 0, 0, TRN_COLL_RING},
    {TRN_COLL_REDUCE_SCATTER_V, 0, 0, 0, TRN_COLL_RING},
    {TRN_COLL_ALL_TO_ALL_V, 0, 0, 0, TRN_COLL_MESH},
};

static bool matches(const trn_coll_rule* rule, const trn_coll_config* c) {
    return rule->op == c->op &&
           (rule->topologies == 0 || rule->topologies >> (uint32_t)c->topology & 1) &&
           (rule->max_ranks == 0 || c->ranks <= rule->max_ranks) &&
           (rule->max_bytes == 0 || c->bytes <= rule->max_bytes);
}

trn_coll_algorithm trn_coll_choose(const trn_coll_config* config) {
    if (config->algorithm != TRN_COLL_AUTO) return config->algorithm;
    for (uint32_t n = 0; n < config->rule_count; ++n)
        if (matches(&config->rules[n], config)) return config->rules[n].algorithm;
    for (size_t n = 0; n < COUNT_OF(defaults); ++n)
        if (matches(&defaults[n], config)) return defaults[n].algorithm;
    return TRN_COLL_AUTO;
}

bool trn_coll_is_grid(const trn_coll_config* c) {
    const trn_coll_algorithm algorithm = trn_coll_choose(c);
    return c->op != TRN_COLL_BARRIER &&
           (algorithm == TRN_COLL_DOUBLING || algorithm == TRN_COLL_HALVING);
}
