/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#define SHARE_ALIGNMENT (uint64_t) TRN_COLL_PART

/* ---- operations ---- */

uint32_t trn_coll_type_bytes(trn_element type) {
    switch (type) {
    case TRN_FP32:
    case TRN_INT32:
    case TRN_UINT32:
        return 4;
    case TRN_BF16:
    case TRN_FP16:
        return 2;
    case TRN_INT8:
    case TRN_UINT8:
        return 1;
    default:
        return 0;
    }
}

const char* trn_coll_op_text(trn_coll_op op) {
    static const char* const texts[] = {
        "all-reduce", "all-gather", "reduce-scatter", "all-to-all",       "permute",
        "broadcast",  "barrier",    "all-gather-v",   "reduce-scatter-v", "all-to-all-v"};
    return (size_t)op < COUNT_OF(texts) ? texts[op] : "?";
}

double trn_coll_bus_factor(trn_coll_op op, uint32_t ranks) {
    const double share = (double)(ranks - 1) / ranks;
    switch (op) {
    case TRN_COLL_ALL_REDUCE:
        return 2 * share;
    case TRN_COLL_ALL_GATHER:
    case TRN_COLL_REDUCE_SCATTER:
    case TRN_COLL_ALL_TO_ALL:
    case TRN_COLL_ALL_GATHER_V:
    case TRN_COLL_REDUCE_SCATTER_V:
    case TRN_COLL_ALL_TO_ALL_V:
        return share;
    default:
        return 1;
    }
}

bool trn_coll_scatters(trn_coll_op op) {
    return op == TRN_COLL_REDUCE_SCATTER || op == TRN_COLL_REDUCE_SCATTER_V;
}

bool trn_coll_reduces(trn_coll_op op) {
    return op == TRN_COLL_ALL_REDUCE || trn_coll_scatters(op);
}

bool trn_coll_is_all_to_all(trn_coll_op op) {
    return op == TRN_COLL_ALL_TO_ALL || op == TRN_COLL_ALL_TO_ALL_V;
}

bool trn_coll_has_counts(trn_coll_op op) {
    return op >= TRN_COLL_ALL_GATHER_V && op <= TRN_COLL_ALL_TO_ALL_V;
}

uint64_t trn_coll_count_entries(trn_coll_op op, uint32_t ranks) {
    if (!trn_coll_has_counts(op)) return 0;
    return op == TRN_COLL_ALL_TO_ALL_V ? (uint64_t)ranks * ranks : ranks;
}

bool trn_coll_has_blocks(trn_coll_op op) {
    return op == TRN_COLL_ALL_REDUCE || op == TRN_COLL_REDUCE_SCATTER ||
           op == TRN_COLL_ALL_GATHER || op == TRN_COLL_ALL_TO_ALL;
}

/* ---- blocks ---- */

uint32_t trn_coll_rings_of(const trn_coll_config* c) {
    return c->rings ? c->rings : 1;
}

coll_share trn_coll_clip(coll_share share, uint64_t bytes) {
    if (share.offset >= bytes) return (coll_share){bytes, 0};
    const uint64_t left = bytes - share.offset;
    return (coll_share){share.offset, share.bytes < left ? share.bytes : left};
}

coll_share trn_coll_part_of(uint64_t bytes, uint64_t parts, uint64_t number) {
    const uint64_t each =
        (bytes + parts * SHARE_ALIGNMENT - 1) / (parts * SHARE_ALIGNMENT) * SHARE_ALIGNMENT;
    return trn_coll_clip((coll_share){number * each, each}, bytes);
}

static uint64_t counted(const trn_coll_config* c, uint64_t index) {
    return c->counts[index] * trn_coll_type_bytes(c->type);
}

static uint64_t largest_block(const trn_coll_config* c) {
    uint64_t max = 0;
    for (uint64_t n = 0; n < trn_coll_count_entries(c->op, c->ranks); ++n)
        if (c->counts[n] > max) max = c->counts[n];
    return max * trn_coll_type_bytes(c->type);
}

uint64_t trn_coll_block_over(const trn_coll_config* c, uint32_t ranks) {
    const uint32_t type = trn_coll_type_bytes(c->type), element = type ? type : 1;
    return (c->bytes / element + ranks - 1) / ranks * element;
}

uint64_t trn_coll_block_of(const trn_coll_config* c) {
    if (trn_coll_has_counts(c->op)) return largest_block(c);
    if (!trn_coll_has_blocks(c->op)) return c->bytes;
    return c->block ? c->block : trn_coll_block_over(c, c->ranks);
}

coll_share trn_coll_block(const trn_coll_config* c, uint32_t rank) {
    if (!trn_coll_has_counts(c->op)) {
        const uint64_t block = trn_coll_block_of(c), begin = rank * block;
        if (!trn_coll_has_blocks(c->op)) return (coll_share){begin, block};
        return trn_coll_clip((coll_share){begin, block}, c->bytes);
    }
    uint64_t offset = 0;
    for (uint32_t n = 0; n < rank; ++n) offset += counted(c, n);
    return (coll_share){offset, counted(c, rank)};
}

static bool gathers(const trn_coll_config* c) {
    return c->op == TRN_COLL_ALL_GATHER || c->op == TRN_COLL_ALL_GATHER_V;
}

coll_share trn_coll_sent(const trn_coll_config* c, uint32_t sender, uint32_t receiver) {
    if (gathers(c)) return (coll_share){0, trn_coll_block(c, sender).bytes};
    if (c->op != TRN_COLL_ALL_TO_ALL_V) return trn_coll_block(c, receiver);
    const uint64_t row = (uint64_t)sender * c->ranks;
    uint64_t offset = 0;
    for (uint32_t n = 0; n < receiver; ++n) offset += counted(c, row + n);
    return (coll_share){offset, counted(c, row + receiver)};
}

coll_share trn_coll_received(const trn_coll_config* c, uint32_t sender, uint32_t receiver) {
    if (c->op == TRN_COLL_ALL_TO_ALL) {
        const uint64_t each = trn_coll_block(c, receiver).bytes;
        return (coll_share){sender * each, each};
    }
    if (c->op != TRN_COLL_ALL_TO_ALL_V) return trn_coll_block(c, sender);
    uint64_t offset = 0;
    for (uint32_t n = 0; n < sender; ++n) offset += counted(c, (uint64_t)n * c->ranks + receiver);
    return (coll_share){offset, counted(c, (uint64_t)sender * c->ranks + receiver)};
}

uint64_t trn_coll_all_sent(const trn_coll_config* c, uint32_t rank) {
    const coll_share last = trn_coll_sent(c, rank, c->ranks - 1);
    return last.offset + last.bytes;
}

uint64_t trn_coll_all_received(const trn_coll_config* c, uint32_t rank) {
    const coll_share last = trn_coll_received(c, c->ranks - 1, rank);
    return last.offset + last.bytes;
}

void trn_coll_in_place_offsets(const trn_coll_config* c, uint64_t* send, uint64_t* receive) {
    *send = gathers(c) ? trn_coll_block(c, c->rank).offset : 0;
    *receive = trn_coll_scatters(c->op) ? trn_coll_block(c, c->rank).offset : 0;
}

uint64_t trn_coll_counted_bytes(const trn_coll_config* c) {
    if (c->op != TRN_COLL_ALL_TO_ALL_V) {
        const coll_share last = trn_coll_block(c, c->ranks - 1);
        return last.offset + last.bytes;
    }
    uint64_t max = 0;
    for (uint32_t n = 0; n < c->ranks; ++n) {
        const uint64_t sent = trn_coll_all_sent(c, n), received = trn_coll_all_received(c, n);
        if (sent > max) max = sent;
        if (received > max) max = received;
    }
    return max;
}

/* ---- permute ---- */

static uint32_t place_in_ring(const trn_coll_config* c, uint32_t rank) {
    uint32_t place = 0;
    while (c->ring[place] != rank) ++place;
    return place;
}

uint32_t trn_coll_target(const trn_coll_config* c, uint32_t rank) {
    return c->targets ? c->targets[rank] : c->ring[(place_in_ring(c, rank) + 1) % c->ranks];
}

uint32_t trn_coll_source(const trn_coll_config* c, uint32_t rank) {
    if (!c->targets) return c->ring[(place_in_ring(c, rank) + c->ranks - 1) % c->ranks];
    for (uint32_t n = 0; n < c->ranks; ++n)
        if (c->targets[n] == rank) return n;
    return TRN_COLL_NO_RANK;
}

/* ---- domains ---- */

uint32_t trn_coll_ranks_of_domain(const trn_coll_config* c) {
    return c->domains > 1 ? c->ranks / c->domains : c->ranks;
}

uint32_t trn_coll_own_domain(const trn_coll_config* c) {
    return c->rank / trn_coll_ranks_of_domain(c);
}

uint32_t trn_coll_own_position(const trn_coll_config* c) {
    return c->rank % trn_coll_ranks_of_domain(c);
}

uint32_t trn_coll_peer_in(const trn_coll_config* c, uint32_t domain) {
    return domain * trn_coll_ranks_of_domain(c) + trn_coll_own_position(c);
}

uint32_t trn_coll_other_domain(const trn_coll_config* c, uint32_t n) {
    return (trn_coll_own_domain(c) + n) % c->domains;
}

coll_share trn_coll_sent_to_domain(const trn_coll_config* c, uint32_t rank, uint32_t domain) {
    const uint32_t ranks = trn_coll_ranks_of_domain(c), first = domain * ranks;
    const coll_share begin = trn_coll_sent(c, rank, first),
                     last = trn_coll_sent(c, rank, first + ranks - 1);
    return (coll_share){begin.offset, last.offset + last.bytes - begin.offset};
}
