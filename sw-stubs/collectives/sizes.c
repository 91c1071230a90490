/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

/* Sizes of the buffers of a rank. With several domains the scratch buffer holds the algorithm's
 * scratch bytes within the domain, then a slot for the data from each domain, and in a
 * reduce-scatter a slot for the data to each. */

static uint64_t largest_sent(const trn_coll_config* c) {
    uint64_t max = 0;
    for (uint32_t rank = 0; rank < c->ranks; ++rank)
        for (uint32_t domain = 0; domain < c->domains; ++domain) {
            const uint64_t bytes = trn_coll_sent_to_domain(c, rank, domain).bytes;
            if (bytes > max) max = bytes;
        }
    return max;
}

uint64_t trn_coll_slot_bytes(const trn_coll_config* c) {
    const uint32_t ranks = trn_coll_ranks_of_domain(c);
    switch (c->op) {
    case TRN_COLL_ALL_REDUCE:
        if (ranks == 1 || trn_coll_choose(c) == TRN_COLL_DOUBLING) return c->bytes;
        /* a point of a grid with a twin has two blocks */
        return trn_coll_block_over(c, ranks) * (trn_coll_choose(c) == TRN_COLL_HALVING ? 2 : 1);
    case TRN_COLL_REDUCE_SCATTER:
    case TRN_COLL_REDUCE_SCATTER_V:
        return trn_coll_block_of(c);
    case TRN_COLL_ALL_TO_ALL_V:
        return largest_sent(c);
    default: /* all-to-all: the blocks of the first domain's ranks are the largest */
        return trn_coll_sent_to_domain(c, 0, 0).bytes;
    }
}

uint64_t trn_coll_scratch_within(const trn_coll_config* c) {
    if (trn_coll_is_all_to_all(c->op)) return 0;
    trn_coll_config part = *c;
    part.algorithm = trn_coll_choose(c);
    part.ranks = trn_coll_ranks_of_domain(c);
    part.rank = trn_coll_own_position(c);
    if (!trn_coll_is_grid(c)) return c->bytes;
    if (trn_coll_scatters(c->op)) part.bytes = part.ranks * trn_coll_block_of(c);
    trn_coll_grid grid;
    trn_coll_get_grid(c, &grid);
    return trn_coll_grid_scratch(&part, &grid, part.algorithm);
}

static uint64_t domains_scratch(const trn_coll_config* c) {
    const uint32_t slots = trn_coll_scatters(c->op) ? 2 * c->domains : c->domains;
    return trn_coll_scratch_within(c) + slots * trn_coll_slot_bytes(c);
}

static uint64_t sent_bytes(const trn_coll_config* c) {
    return c->op == TRN_COLL_ALL_TO_ALL_V ? trn_coll_all_sent(c, c->rank) : c->bytes;
}

bool trn_coll_is_staged(const trn_coll_config* c) {
    return c->in_place && (trn_coll_is_all_to_all(c->op) || c->op == TRN_COLL_PERMUTE);
}

uint64_t trn_coll_staged_at(const trn_coll_config* c) {
    return c->domains > 1 && trn_coll_is_all_to_all(c->op) ? domains_scratch(c) : 0;
}

/* Operations that only send. */
static uint64_t staging(const trn_coll_config* c) {
    return trn_coll_staged_at(c) + (trn_coll_is_staged(c) ? sent_bytes(c) : 0);
}

static uint64_t scratch_of(const trn_coll_config* c) {
    if (c->domains > 1) return domains_scratch(c);
    if (!trn_coll_is_grid(c)) return c->bytes;
    trn_coll_grid grid;
    trn_coll_get_grid(c, &grid);
    return trn_coll_grid_scratch(c, &grid, trn_coll_choose(c));
}

trn_status trn_coll_get_sizes(const trn_coll_config* c, trn_coll_sizes* sizes) {
    *sizes = (trn_coll_sizes){0};
    if (c->rank >= c->ranks || (c->domains > 1 && c->ranks % c->domains != 0) ||
        (trn_coll_has_counts(c->op) && !c->counts))
        return TRN_INVALID_ARGUMENT;
    const uint64_t own = trn_coll_block(c, c->rank).bytes;
    switch (c->op) {
    case TRN_COLL_ALL_REDUCE:
        *sizes = (trn_coll_sizes){c->bytes, c->bytes, scratch_of(c)};
        return TRN_OK;
    case TRN_COLL_ALL_GATHER:
    case TRN_COLL_ALL_GATHER_V:
        *sizes = (trn_coll_sizes){own, c->bytes, 0};
        return TRN_OK;
    case TRN_COLL_REDUCE_SCATTER:
    case TRN_COLL_REDUCE_SCATTER_V:
        *sizes = (trn_coll_sizes){c->bytes, own, scratch_of(c)};
        return TRN_OK;
    case TRN_COLL_ALL_TO_ALL:
        *sizes = (trn_coll_sizes){c->bytes, c->ranks * own, staging(c)};
        return TRN_OK;
    case TRN_COLL_PERMUTE:
        *sizes = (trn_coll_sizes){c->bytes, c->bytes, staging(c)};
        return TRN_OK;
    case TRN_COLL_BROADCAST:
        *sizes = (trn_coll_sizes){c->bytes, c->bytes, 0};
        return TRN_OK;
    case TRN_COLL_BARRIER:
        return TRN_OK;
    case TRN_COLL_ALL_TO_ALL_V:
        *sizes = (trn_coll_sizes){trn_coll_all_sent(c, c->rank), trn_coll_all_received(c, c->rank),
                                  staging(c)};
        return TRN_OK;
    }
    return TRN_INVALID_ARGUMENT;
}
