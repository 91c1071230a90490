/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cc_core.h"
#include "coll_program.h"
#include "trn/semaphores_regs.h"

/* Collectives: who sends what to whom, when. A rank's channel is a collective core with some lanes;
 * every lane carries its share of each block, and the lanes of all ranks with the same number make
 * a collective of their own. */

#define MAX_CHANNELS 4u
#define MAX_RANKS 1024u
#define CHANNEL_LANES 8u
#define WORTH_A_LANE (UINT64_C(32) << 10)  /* bytes of a block */
#define WORTH_A_SLICE (UINT64_C(64) << 10) /* bytes of a lane's share */
#define SHARE_ALIGNMENT UINT64_C(64)
#define FIRST_QUEUE 4u /* + slot */
#define ONE_AT 64u     /* in the host's page: behind the words that say that runs have ended */
#define RING_STEP 16u  /* contract 7.1: entries, and the least */
#define RING_LEAST 32u
#define RING_ALIGNMENT UINT64_C(256)
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

typedef struct channel {
    uint32_t core;
    uint32_t engines[COLL_MAX_LANES];
    bool loaded;
} channel;

struct trn_coll {
    trn_device* device;
    trn_coll_config config;
    trn_coll_member* members;
    uint32_t* ring;
    uint32_t position; /* in the ring */
    uint32_t channels, lanes;
    uint32_t copiers; /* more engines of a channel, for what stays on the chip; none, or as lanes */
    uint32_t slices;  /* of a lane's share, so that steps overlap */
    channel channel[MAX_CHANNELS];
    uint32_t runs;
    trn_dma_memory done; /* a word per channel: how many runs have ended */
};

/* ---- words ---- */

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
    static const char* const texts[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                        "permute",    "broadcast",  "barrier"};
    return (size_t)op < COUNT_OF(texts) ? texts[op] : "?";
}

const char* trn_coll_algorithm_text(trn_coll_algorithm algorithm) {
    static const char* const texts[] = {"auto", "ring", "mesh", "doubling"};
    return (size_t)algorithm < COUNT_OF(texts) ? texts[algorithm] : "?";
}

double trn_coll_bus_factor(trn_coll_op op, uint32_t ranks) {
    const double share = (double)(ranks - 1) / ranks;
    switch (op) {
    case TRN_COLL_ALL_REDUCE:
        return 2 * share;
    case TRN_COLL_ALL_GATHER:
    case TRN_COLL_REDUCE_SCATTER:
    case TRN_COLL_ALL_TO_ALL:
        return share;
    default:
        return 1;
    }
}

static bool reduces(trn_coll_op op) {
    return op == TRN_COLL_ALL_REDUCE || op == TRN_COLL_REDUCE_SCATTER;
}

/* Whether the buffer is divided among the ranks. */
static bool has_blocks(trn_coll_op op) {
    return reduces(op) || op == TRN_COLL_ALL_GATHER || op == TRN_COLL_ALL_TO_ALL;
}

static uint64_t block_of(const trn_coll_config* c) {
    return has_blocks(c->op) ? c->bytes / c->ranks : c->bytes;
}

trn_coll_algorithm trn_coll_choose(const trn_coll_config* config) {
    const bool straight = config->op == TRN_COLL_ALL_TO_ALL || config->op == TRN_COLL_BARRIER;
    if (straight) return TRN_COLL_MESH;
    if (config->op != TRN_COLL_ALL_GATHER) return TRN_COLL_RING;
    if (config->algorithm != TRN_COLL_AUTO) return config->algorithm;
    /* A step of the ring costs about as much as 256 KiB take on a link; a rank's writes to all the
     * others need one. */
    return config->bytes <= UINT64_C(256) << 10 ? TRN_COLL_MESH : TRN_COLL_RING;
}

trn_status trn_coll_get_sizes(const trn_coll_config* c, trn_coll_sizes* sizes) {
    *sizes = (trn_coll_sizes){0};
    if (c->ranks == 0) return TRN_INVALID_ARGUMENT;
    const uint64_t block = block_of(c);
    switch (c->op) {
    case TRN_COLL_ALL_REDUCE:
        *sizes = (trn_coll_sizes){c->bytes, c->bytes, c->bytes};
        return TRN_OK;
    case TRN_COLL_ALL_GATHER:
        *sizes = (trn_coll_sizes){block, c->bytes, 0};
        return TRN_OK;
    case TRN_COLL_REDUCE_SCATTER:
        *sizes = (trn_coll_sizes){c->bytes, block, c->bytes};
        return TRN_OK;
    case TRN_COLL_ALL_TO_ALL:
    case TRN_COLL_PERMUTE:
    case TRN_COLL_BROADCAST:
        *sizes = (trn_coll_sizes){c->bytes, c->bytes, 0};
        return TRN_OK;
    case TRN_COLL_BARRIER:
        return TRN_OK;
    }
    return TRN_INVALID_ARGUMENT;
}

/* ---- the ring ---- */

/* Counts so that only one digit changes by one from one to the next: every other row, plane and
 * half runs backwards. */
static uint32_t reflected(const trn_place* at, const trn_topology* t) {
    const bool torus = t->kind == TRN_TOPOLOGY_TORUS, switched = t->kind == TRN_TOPOLOGY_SWITCHED;
    const uint32_t width = t->x ? t->x : 1, rows = t->y ? t->y : 1;
    uint32_t fast = at->chip, middle = 0, slow = 0, middles = 1;
    if (torus) {
        fast = at->chip % width;
        middle = at->chip / width;
        slow = at->server;
        middles = rows;
    } else if (switched) {
        middle = at->server;
        slow = at->rack;
        middles = rows;
    }
    if (slow & 1) middle = middles - 1 - middle;
    const uint32_t row = slow * middles + middle;
    return row * width + (row & 1 ? width - 1 - fast : fast);
}

void trn_coll_ring(const trn_place* places, const trn_topology* topology, uint32_t ranks,
                   uint32_t* ring) {
    for (uint32_t n = 0; n < ranks; ++n) {
        uint32_t at = n;
        const uint32_t key = reflected(&places[n], topology);
        for (; at > 0 && reflected(&places[ring[at - 1]], topology) > key; --at)
            ring[at] = ring[at - 1];
        ring[at] = n;
    }
}

/* ---- what is where ---- */

typedef struct builder {
    const trn_coll* coll;
    coll_program program;
    uint32_t channel;
    uint32_t window; /* through which the channel's engines leave the chip */
    uint32_t slice;  /* of each lane's share: what is worked on */
} builder;

static uint32_t rank_at(const trn_coll* coll, uint64_t position) {
    return coll->ring[position % coll->config.ranks];
}

/* The rank that many places ahead in the ring; behind: ranks - places. */
static uint32_t ahead(const trn_coll* coll, uint32_t places) {
    return rank_at(coll, (uint64_t)coll->position + places);
}

static uint64_t on_chip(const builder* b, uint32_t rank, uint64_t address) {
    const trn_coll* coll = b->coll;
    return rank == coll->config.rank
               ? address
               : trn_remote_address(&coll->members[rank].place, b->window, address);
}

static uint32_t first_semaphore(const trn_coll* coll) {
    return coll->config.slot * COLL_SEMAPHORES;
}

static uint64_t semaphore_of(const builder* b, uint32_t rank, uint32_t index) {
    const uint64_t core = cc_axi_address(b->coll->device, b->coll->channel[b->channel].core);
    return on_chip(
        b, rank,
        core + TRN_SEMAPHORES_SEMAPHORE_INCREMENT_OFFSET(first_semaphore(b->coll) + index));
}

/* A lane's share of a block. */
typedef struct share {
    uint64_t offset, bytes;
} share;

static share part_of(uint64_t bytes, uint64_t parts, uint64_t number) {
    const uint64_t each =
        (bytes + parts * SHARE_ALIGNMENT - 1) / (parts * SHARE_ALIGNMENT) * SHARE_ALIGNMENT;
    const uint64_t offset = number * each;
    if (offset >= bytes) return (share){bytes, 0};
    return (share){offset, bytes - offset < each ? bytes - offset : each};
}

static share whole_share_of(const builder* b, uint32_t lane) {
    const trn_coll* coll = b->coll;
    return part_of(block_of(&coll->config), (uint64_t)coll->channels * coll->lanes,
                   (uint64_t)b->channel * coll->lanes + lane);
}

static share share_of(const builder* b, uint32_t lane) {
    const share whole = whole_share_of(b, lane);
    const share slice = part_of(whole.bytes, b->coll->slices, b->slice);
    return (share){whole.offset + slice.offset, slice.bytes};
}

/* Blocks of a buffer of a rank, a lane's share of them. */
static uint64_t receive_of(const builder* b, uint32_t rank, uint32_t block, uint32_t lane) {
    const trn_coll* coll = b->coll;
    return on_chip(
        b, rank,
        coll->members[rank].receive + block * block_of(&coll->config) + share_of(b, lane).offset);
}
static uint64_t scratch_of(const builder* b, uint32_t rank, uint32_t slot, uint32_t lane) {
    const trn_coll* coll = b->coll;
    return on_chip(
        b, rank,
        coll->members[rank].scratch + slot * block_of(&coll->config) + share_of(b, lane).offset);
}
static uint64_t send_of(const builder* b, uint32_t block, uint32_t lane) {
    const trn_coll* coll = b->coll;
    return coll->members[coll->config.rank].send + block * block_of(&coll->config) +
           share_of(b, lane).offset;
}

/* ---- steps that algorithms are made of ---- */

static void wait_for(builder* b, uint32_t index, uint32_t value, uint32_t peer) {
    coll_wait(&b->program, first_semaphore(b->coll) + index, value, peer);
}

static void tell(builder* b, uint32_t rank, uint32_t index) {
    coll_post(&b->program, semaphore_of(b, rank, index));
}

/* Everybody has begun: in rounds, each with the rank twice as far ahead. */
static void all_arrive(builder* b) {
    const uint32_t ranks = b->coll->config.ranks;
    for (uint32_t round = 0; 1u << round < ranks; ++round) {
        tell(b, ahead(b->coll, 1u << round), COLL_ROUND + round);
        wait_for(b, COLL_ROUND + round, 1, ahead(b->coll, ranks - (1u << round)));
    }
}

/* The next of the ring may write here; and whom this rank writes to, is ready. */
static void ring_is_ready(builder* b) {
    const trn_coll* coll = b->coll;
    const uint32_t next = ahead(coll, 1), before = ahead(coll, coll->config.ranks - 1);
    tell(b, before, COLL_READY);
    wait_for(b, COLL_READY, 1, next);
}

static void everything_sent(builder* b) {
    for (uint32_t lane = 0; lane < b->program.lanes; ++lane) {
        coll_signal(&b->program, lane, semaphore_of(b, b->coll->config.rank, COLL_SENT));
        coll_advance(&b->program, lane);
    }
    wait_for(b, COLL_SENT, b->program.lanes, b->coll->config.rank);
}

static void copy(builder* b, uint32_t lane, uint64_t destination, uint64_t source) {
    coll_copy(&b->program, lane, destination, source, share_of(b, lane).bytes);
}

/* A copy that stays on the chip, of a lane's whole share: by an engine of its own, if there is one.
 */
static void keep(builder* b, uint32_t lane, uint64_t destination, uint64_t source) {
    const share all = whole_share_of(b, lane);
    const uint32_t engine = lane + b->coll->copiers;
    coll_copy(&b->program, engine, destination + all.offset, source + all.offset, all.bytes);
    coll_advance(&b->program, engine);
}

/* Of a lane's share, by one of its two engines. */
static void reduce(builder* b, uint32_t lane, uint32_t engine, const uint64_t to[2],
                   const uint64_t operands[2]) {
    const trn_coll_config* c = &b->coll->config;
    const coll_reduction what = {
        c->type, c->with, share_of(b, lane).bytes, {operands[0], operands[1]}, {to[0], to[1]}};
    coll_reduce(&b->program, engine, &what);
}

typedef void (*lane_work)(builder* b, uint32_t lane, uint32_t step);

static void one_step(builder* b, uint32_t lane, uint32_t step, lane_work work) {
    work(b, lane, step);
    coll_signal(&b->program, lane, semaphore_of(b, ahead(b->coll, 1), COLL_DATA + lane));
}

/* Steps [first, end) of a ring: each lane gets what the rank before sent, does its work and tells
 * the next, slice by slice. All of them are alike but for addresses, so the core executes a loop.
 */
static void ring_steps(builder* b, uint32_t first, uint32_t end, lane_work work) {
    const trn_coll* coll = b->coll;
    const uint32_t before = ahead(coll, coll->config.ranks - 1);
    if (first >= end) return;
    const uint32_t begin = coll_here(&b->program);
    for (b->slice = 0; b->slice < coll->slices; ++b->slice)
        for (uint32_t lane = 0; lane < coll->lanes; ++lane) {
            if (first > 0) wait_for(b, COLL_DATA + lane, 1, before);
            one_step(b, lane, first, work);
            coll_advance(&b->program, lane);
        }
    for (uint32_t step = first + 1; step < end; ++step)
        for (b->slice = 0; b->slice < coll->slices; ++b->slice)
            for (uint32_t lane = 0; lane < coll->lanes; ++lane) one_step(b, lane, step, work);
    for (uint32_t lane = 0; lane < coll->lanes; ++lane) coll_advanced_by_loop(&b->program, lane);
    coll_loop(&b->program, begin, end - first - 1);
}

static void last_arrival(builder* b) {
    const uint32_t before = ahead(b->coll, b->coll->config.ranks - 1);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        wait_for(b, COLL_DATA + lane, b->coll->slices, before);
}

/* ---- all-gather ---- */

static void gather_own(builder* b, uint32_t lane, uint32_t step) {
    const uint32_t own = b->coll->config.rank;
    (void)step;
    copy(b, lane, receive_of(b, ahead(b->coll, 1), own, lane), send_of(b, 0, lane));
}

/* Passes on what came in the step before. */
static void gather_on(builder* b, uint32_t lane, uint32_t step) {
    const uint32_t block = ahead(b->coll, b->coll->config.ranks - step);
    copy(b, lane, receive_of(b, ahead(b->coll, 1), block, lane),
         receive_of(b, b->coll->config.rank, block, lane));
}

static void keep_own_block(builder* b) {
    const trn_coll_config* c = &b->coll->config;
    const trn_coll_member* own = &b->coll->members[c->rank];
    const uint64_t from = c->op == TRN_COLL_ALL_GATHER ? 0 : c->rank * block_of(c);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        keep(b, lane, own->receive + c->rank * block_of(c), own->send + from);
}

static void ring_all_gather(builder* b) {
    ring_is_ready(b);
    ring_steps(b, 0, 1, gather_own);
    keep_own_block(b);
    ring_steps(b, 1, b->coll->config.ranks - 1, gather_on);
    last_arrival(b);
    everything_sent(b);
}

/* Everybody's block straight to everybody. */
static void mesh(builder* b) {
    const uint32_t own = b->coll->config.rank, ranks = b->coll->config.ranks;
    const bool same = b->coll->config.op == TRN_COLL_ALL_GATHER;
    all_arrive(b);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        for (uint32_t n = 1; n < ranks; ++n) {
            const uint32_t to = ahead(b->coll, n);
            copy(b, lane, receive_of(b, to, own, lane), send_of(b, same ? 0 : to, lane));
            coll_signal(&b->program, lane, semaphore_of(b, to, COLL_DATA + lane));
        }
        coll_advance(&b->program, lane);
    }
    keep_own_block(b);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        wait_for(b, COLL_DATA + lane, ranks - 1, ahead(b->coll, ranks - 1));
    everything_sent(b);
}

/* ---- reduce-scatter, all-reduce ---- */

/* A block travels once round the ring, and ends where it belongs; every rank adds its part. */
static void scatter_own(builder* b, uint32_t lane, uint32_t step) {
    const uint32_t block = ahead(b->coll, b->coll->config.ranks - 1);
    copy(b, lane, scratch_of(b, ahead(b->coll, 1), step, lane), send_of(b, block, lane));
}

static void scatter_on(builder* b, uint32_t lane, uint32_t step) {
    const uint32_t block = ahead(b->coll, b->coll->config.ranks - 1 - step);
    const uint64_t to[2] = {scratch_of(b, ahead(b->coll, 1), step, lane), 0};
    const uint64_t operands[2] = {scratch_of(b, b->coll->config.rank, step - 1, lane),
                                  send_of(b, block, lane)};
    reduce(b, lane, lane, to, operands);
}

static void scatter_end(builder* b, uint32_t lane, uint32_t engine, uint64_t also_to) {
    const uint32_t own = b->coll->config.rank, ranks = b->coll->config.ranks;
    const bool all = b->coll->config.op == TRN_COLL_ALL_REDUCE;
    const uint64_t to[2] = {receive_of(b, own, all ? own : 0, lane), also_to};
    const uint64_t operands[2] = {scratch_of(b, own, ranks - 2, lane), send_of(b, own, lane)};
    reduce(b, lane, engine, to, operands);
}

static void ring_reduce_scatter(builder* b) {
    const uint32_t ranks = b->coll->config.ranks, before = ahead(b->coll, ranks - 1);
    ring_is_ready(b);
    ring_steps(b, 0, 1, scatter_own);
    ring_steps(b, 1, ranks - 1, scatter_on);
    for (b->slice = 0; b->slice < b->coll->slices; ++b->slice)
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            wait_for(b, COLL_DATA + lane, 1, before);
            scatter_end(b, lane, lane + b->coll->copiers, 0); /* while the other one still sends */
            coll_advance(&b->program, lane + b->coll->copiers);
        }
    everything_sent(b);
}

/* The last addition of the own block is written twice: here, and to the next as its first step of
 * the all-gather. */
static void gather_sum(builder* b, uint32_t lane, uint32_t step) {
    (void)step;
    scatter_end(b, lane, lane, receive_of(b, ahead(b->coll, 1), b->coll->config.rank, lane));
}

static void gather_after_sum(builder* b, uint32_t lane, uint32_t step) {
    gather_on(b, lane, step - (b->coll->config.ranks - 1));
}

static void ring_all_reduce(builder* b) {
    const uint32_t ranks = b->coll->config.ranks;
    ring_is_ready(b);
    ring_steps(b, 0, 1, scatter_own);
    ring_steps(b, 1, ranks - 1, scatter_on);
    ring_steps(b, ranks - 1, ranks, gather_sum);
    ring_steps(b, ranks, 2 * ranks - 2, gather_after_sum);
    last_arrival(b);
    everything_sent(b);
}

/* ---- the others ---- */

static void permute_own(builder* b, uint32_t lane, uint32_t step) {
    (void)step;
    copy(b, lane, receive_of(b, ahead(b->coll, 1), 0, lane), send_of(b, 0, lane));
}

static void ring_permute(builder* b) {
    ring_is_ready(b);
    ring_steps(b, 0, 1, permute_own);
    last_arrival(b);
    everything_sent(b);
}

/* The root's bytes run along the ring slice by slice, so that all links work at the same time. */
static void ring_broadcast(builder* b) {
    const trn_coll* coll = b->coll;
    const trn_coll_member* me = &coll->members[coll->config.rank];
    const uint32_t ranks = coll->config.ranks, own = coll->config.rank;
    const uint32_t next = ahead(coll, 1), before = ahead(coll, ranks - 1);
    const bool root = own == coll->config.root, last = next == coll->config.root;
    if (!root) tell(b, before, COLL_READY);
    if (!last) wait_for(b, COLL_READY, 1, next);
    for (b->slice = 0; b->slice < coll->slices; ++b->slice)
        for (uint32_t lane = 0; lane < coll->lanes; ++lane) {
            if (!root) wait_for(b, COLL_DATA + lane, 1, before);
            if (last) continue;
            copy(b, lane, receive_of(b, next, 0, lane),
                 root ? send_of(b, 0, lane) : receive_of(b, own, 0, lane));
            coll_signal(&b->program, lane, semaphore_of(b, next, COLL_DATA + lane));
            coll_advance(&b->program, lane);
        }
    for (uint32_t lane = 0; root && lane < coll->lanes; ++lane)
        keep(b, lane, me->receive, me->send);
    everything_sent(b);
}

static void build(builder* b) {
    const bool straight = trn_coll_choose(&b->coll->config) == TRN_COLL_MESH;
    if (b->program.lanes) coll_rewind(&b->program);
    switch (b->coll->config.op) {
    case TRN_COLL_ALL_REDUCE:
        return ring_all_reduce(b);
    case TRN_COLL_ALL_GATHER:
        return straight ? mesh(b) : ring_all_gather(b);
    case TRN_COLL_REDUCE_SCATTER:
        return ring_reduce_scatter(b);
    case TRN_COLL_ALL_TO_ALL:
        return mesh(b);
    case TRN_COLL_PERMUTE:
        return ring_permute(b);
    case TRN_COLL_BROADCAST:
        return ring_broadcast(b);
    case TRN_COLL_BARRIER:
        return all_arrive(b);
    }
}

/* ---- what cannot be ---- */

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return a_bytes && b_bytes && a < b + b_bytes && b < a + a_bytes;
}

static trn_status check_ranks(trn_device* device, const trn_coll_config* c) {
    if (c->ranks < 2 || c->ranks > MAX_RANKS)
        return fail(device, TRN_INVALID_ARGUMENT, "%u ranks: a collective has 2 to %u", c->ranks,
                    MAX_RANKS);
    if (c->rank >= c->ranks || c->root >= c->ranks)
        return fail(device, TRN_INVALID_ARGUMENT, "rank %u or root %u: there are %u ranks", c->rank,
                    c->root, c->ranks);
    uint8_t seen[MAX_RANKS] = {0};
    for (uint32_t n = 0; n < c->ranks; ++n)
        if (c->ring[n] >= c->ranks || seen[c->ring[n]]++)
            return fail(device, TRN_INVALID_ARGUMENT, "the ring is no order of the ranks: %u",
                        c->ring[n]);
    return TRN_OK;
}

static trn_status check_sizes(trn_device* device, const trn_coll_config* c) {
    trn_coll_sizes sizes;
    if (trn_coll_get_sizes(c, &sizes) != TRN_OK)
        return fail(device, TRN_INVALID_ARGUMENT, "%d is no collective", (int)c->op);
    if (c->op == TRN_COLL_BARRIER) return TRN_OK;
    const uint32_t element = trn_coll_type_bytes(c->type);
    if (element == 0 || (reduces(c->op) && c->with > TRN_COLL_MAX))
        return fail(device, TRN_INVALID_ARGUMENT, "type %d with operator %d: no engine does that",
                    (int)c->type, (int)c->with);
    if (c->bytes == 0) return fail(device, TRN_INVALID_ARGUMENT, "a collective of 0 bytes");
    if (block_of(c) * (has_blocks(c->op) ? c->ranks : 1) != c->bytes || block_of(c) % element != 0)
        return fail(device, TRN_INVALID_ARGUMENT,
                    "%llu bytes are not %u equal blocks of elements of %u bytes",
                    (unsigned long long)c->bytes, c->ranks, element);
    const trn_coll_member* own = &c->members[c->rank];
    if (overlap(own->send, sizes.send, own->receive, sizes.receive) ||
        overlap(own->send, sizes.send, own->scratch, sizes.scratch) ||
        overlap(own->receive, sizes.receive, own->scratch, sizes.scratch))
        return fail(device, TRN_INVALID_ARGUMENT, "the buffers of rank %u overlap", c->rank);
    return TRN_OK;
}

static trn_status check_config(trn_device* device, const trn_coll_config* c) {
    trn_status status = need_ready(device);
    if (status == TRN_OK) status = check_ranks(device, c);
    if (status == TRN_OK) status = check_sizes(device, c);
    if (status != TRN_OK) return status;
    if (c->slot >= TRN_CC_SLOTS || c->channels > MAX_CHANNELS || c->lanes > COLL_MAX_LANES)
        return fail(device, TRN_INVALID_ARGUMENT,
                    "slot %u, %u channels of %u lanes: at most %u, %u, %u", c->slot, c->channels,
                    c->lanes, TRN_CC_SLOTS - 1, MAX_CHANNELS, COLL_MAX_LANES);
    return TRN_OK;
}

/* ---- making one ---- */

/* Slices make steps overlap, and cost the core a wait and an advance each. A broadcast is nothing
 * but slices. */
static uint32_t choose_slices(const trn_coll* coll) {
    const trn_coll_config* c = &coll->config;
    if (trn_coll_choose(c) == TRN_COLL_MESH) return 1;
    const uint64_t share = block_of(c) / ((uint64_t)coll->channels * coll->lanes);
    const uint64_t worth = share / WORTH_A_SLICE, most = c->op == TRN_COLL_BROADCAST ? 64 : 4;
    return worth < 1 ? 1 : worth > most ? (uint32_t)most : (uint32_t)worth;
}

static void choose_lanes(trn_coll* coll) {
    const trn_coll_config* c = &coll->config;
    uint64_t worth = block_of(c) / WORTH_A_LANE;
    if (worth < 1) worth = 1;
    if (worth > 2 * CHANNEL_LANES) worth = 2 * CHANNEL_LANES;
    coll->slices = 1;
    coll->channels = c->channels ? c->channels : worth > CHANNEL_LANES ? 2 : 1;
    if (c->op == TRN_COLL_BARRIER) {
        coll->channels = 1;
        return;
    }
    coll->lanes = c->lanes ? c->lanes : (uint32_t)((worth + coll->channels - 1) / coll->channels);
    const bool stays = c->op != TRN_COLL_ALL_REDUCE && c->op != TRN_COLL_PERMUTE;
    coll->copiers = stays && 2 * coll->lanes <= COLL_MAX_LANES ? coll->lanes : 0;
    coll->slices = choose_slices(coll);
}

/* Queues of a channel. */
static uint32_t queues_of(const trn_coll* coll) {
    return coll->lanes + coll->copiers;
}

/* Each channel is a core's: of the next NeuronCore, with that one's engines. */
static trn_status choose_cores(trn_coll* coll) {
    const trn_map* map = coll->device->map;
    const uint32_t per_core = map->top_sps / map->cores;
    for (uint32_t n = 0; n < coll->channels; ++n) {
        channel* c = &coll->channel[n];
        c->core = coll->config.core + n * per_core;
        if (c->core >= map->top_sps)
            return fail(coll->device, TRN_INVALID_ARGUMENT,
                        "channel %u would need collective core %u: there are %u", n, c->core,
                        map->top_sps);
        for (uint32_t lane = 0; lane < queues_of(coll); ++lane)
            c->engines[lane] = c->core / per_core * TRN_ENGINES_PER_CORE + lane;
    }
    return TRN_OK;
}

static uint32_t ring_length(const coll_ring* ring) {
    const uint32_t entries = (ring->count + RING_STEP) / RING_STEP * RING_STEP;
    return entries < RING_LEAST ? RING_LEAST : entries;
}

static trn_status place_ring(trn_coll* coll, const coll_ring* ring, uint64_t* used,
                             uint64_t* address) {
    const uint64_t bytes = ring_length(ring) * sizeof(trn_descriptor);
    const uint64_t at = (*used + RING_ALIGNMENT - 1) / RING_ALIGNMENT * RING_ALIGNMENT;
    if (at + bytes > coll->config.workspace_bytes)
        return fail(coll->device, TRN_INVALID_ARGUMENT,
                    "the workspace of %llu bytes has no room for the rings",
                    (unsigned long long)coll->config.workspace_bytes);
    *used = at + bytes;
    *address = trn_hbm_address(coll->device, 0, coll->config.workspace + at);
    return trn_window_write(coll->device, 0, coll->config.workspace + at, ring->entries,
                            ring->count * sizeof(trn_descriptor));
}

static trn_status place_rings(trn_coll* coll, const builder* b, uint64_t* used) {
    for (uint32_t lane = 0; lane < queues_of(coll); ++lane) {
        const coll_lane* l = &b->program.lane[lane];
        uint64_t m2s = 0, s2m = 0;
        trn_status status = place_ring(coll, &l->m2s, used, &m2s);
        if (status == TRN_OK) status = place_ring(coll, &l->s2m, used, &s2m);
        if (status == TRN_OK)
            status = trn_ring_init(coll->device, coll->channel[b->channel].engines[lane],
                                   FIRST_QUEUE + coll->config.slot, m2s, ring_length(&l->m2s), s2m,
                                   ring_length(&l->s2m));
        if (status != TRN_OK) return status;
    }
    return TRN_OK;
}

static trn_status load(trn_coll* coll, builder* b) {
    uint64_t engines[COLL_MAX_LANES] = {0};
    channel* c = &coll->channel[b->channel];
    for (uint32_t lane = 0; lane < queues_of(coll); ++lane)
        engines[lane] = place(&coll->device->map->core_engine, c->engines[lane]);
    const coll_header header = {
        .rank = coll->config.rank,
        .ranks = coll->config.ranks,
        .done = host_address(coll->device, coll->done.iova + b->channel * sizeof(uint32_t)),
        .limit = coll->config.limit,
        .first_semaphore = first_semaphore(coll),
        .semaphores = COLL_SEMAPHORES,
        .engines = engines,
        .queue = FIRST_QUEUE + coll->config.slot};
    const uint32_t bytes = coll_program_finish(&b->program, &header);
    if (b->program.full)
        return fail(coll->device, TRN_NO_MEMORY, "the program of rank %u does not fit",
                    coll->config.rank);
    const trn_status status =
        trn_cc_program(coll->device, c->core, coll->config.slot, b->program.bytes, bytes);
    c->loaded = status == TRN_OK;
    return status;
}

static trn_status make_channel(trn_coll* coll, uint32_t number, uint64_t* used) {
    const uint32_t seng = coll->channel[number].engines[0] / (2 * TRN_ENGINES_PER_CORE);
    const uint64_t one = trn_hbm_address(coll->device, 0, coll->config.workspace);
    builder b = {.coll = coll, .channel = number, .window = seng};
    if (!coll_program_init(&b.program, queues_of(coll), one))
        return fail(coll->device, TRN_NO_MEMORY, "no memory for a program");
    build(&b);
    trn_status status = place_rings(coll, &b, used);
    if (status == TRN_OK) status = load(coll, &b);
    coll_program_free(&b.program);
    return status;
}

static trn_status make(trn_coll* coll) {
    const uint32_t one = 1;
    uint64_t used = ONE_AT;
    choose_lanes(coll);
    trn_status status = choose_cores(coll);
    if (status == TRN_OK) status = allocate(coll->device, TRN_CC_SLOTS * sizeof one, &coll->done);
    if (status == TRN_OK && coll->lanes)
        status = trn_window_write(coll->device, 0, coll->config.workspace, &one, sizeof one);
    for (uint32_t n = 0; n < coll->channels && status == TRN_OK; ++n)
        status = make_channel(coll, n, &used);
    return status;
}

trn_status trn_coll_create(trn_device* device, const trn_coll_config* config, trn_coll** made) {
    *made = NULL;
    trn_status status = check_config(device, config);
    if (status != TRN_OK) return status;
    trn_coll* coll = calloc(1, sizeof *coll);
    trn_coll_member* members = malloc(config->ranks * sizeof *members);
    uint32_t* ring = malloc(config->ranks * sizeof *ring);
    if (!coll || !members || !ring) {
        free(coll);
        free(members);
        free(ring);
        return fail(device, TRN_NO_MEMORY, "no memory for a collective");
    }
    memcpy(members, config->members, config->ranks * sizeof *members);
    memcpy(ring, config->ring, config->ranks * sizeof *ring);
    *coll = (trn_coll){.device = device, .config = *config, .members = members, .ring = ring};
    coll->config.members = members;
    coll->config.ring = ring;
    while (ring[coll->position] != config->rank) ++coll->position;
    status = make(coll);
    if (status == TRN_OK) {
        *made = coll;
    } else {
        char why[sizeof device->error];
        memcpy(why, device->error, sizeof why); /* which taking down would overwrite */
        trn_coll_destroy(coll);
        memcpy(device->error, why, sizeof why);
    }
    return status;
}

trn_status trn_coll_destroy(trn_coll* coll) {
    if (!coll) return TRN_OK;
    trn_status status = TRN_OK;
    for (uint32_t n = 0; n < coll->channels; ++n) {
        channel* c = &coll->channel[n];
        if (c->loaded) {
            const trn_status each = trn_cc_unload(coll->device, c->core, coll->config.slot);
            if (status == TRN_OK) status = each;
        }
        for (uint32_t lane = 0; lane < queues_of(coll); ++lane)
            trn_ring_release(coll->device, c->engines[lane], FIRST_QUEUE + coll->config.slot);
    }
    release(coll->device, &coll->done);
    free(coll->members);
    free(coll->ring);
    free(coll);
    return status;
}

/* ---- running it ---- */

trn_status trn_coll_start(trn_coll* coll) {
    ++coll->runs;
    trn_status status = TRN_OK;
    for (uint32_t n = 0; n < coll->channels && status == TRN_OK; ++n)
        status = trn_cc_trigger(coll->device, coll->channel[n].core, coll->config.slot);
    return status;
}

static bool all_done(const trn_coll* coll) {
    const uint32_t* words = coll->done.host;
    for (uint32_t n = 0; n < coll->channels; ++n)
        if (__atomic_load_n(&words[n], __ATOMIC_ACQUIRE) != coll->runs) return false;
    return true;
}

/* Why a run does not end, if the firmware knows. */
static trn_status look_for_failure(trn_coll* coll) {
    for (uint32_t n = 0; n < coll->channels; ++n) {
        trn_cc_slot at;
        const uint32_t core = coll->channel[n].core;
        const trn_status status = trn_cc_slot_state(coll->device, core, coll->config.slot, &at);
        if (status != TRN_OK) return status;
        if (at.state != TRN_CC_FAILED) continue;
        if (at.error == TRN_CC_HANG)
            return fail(coll->device, TRN_ABORTED,
                        "%s hangs: rank %u, core %u, step %u waits for rank %u (semaphore %u is %d "
                        "of %u)",
                        trn_coll_op_text(coll->config.op), coll->config.rank, core, at.step,
                        at.peer, at.semaphore, (int)at.value, at.wanted);
        return fail(coll->device, TRN_ABORTED,
                    "%s failed: rank %u, core %u, step %u: an access was answered with an error",
                    trn_coll_op_text(coll->config.op), coll->config.rank, core, at.step);
    }
    return TRN_OK;
}

trn_status trn_coll_wait(trn_coll* coll, uint64_t limit) {
    const uint64_t start = now(coll->device), end = patience(coll->device, limit);
    uint64_t look = 100 * NS_PER_US;
    for (;;) {
        if (all_done(coll)) return TRN_OK;
        const uint64_t waited = now(coll->device) - start;
        trn_status status = TRN_OK;
        if (waited >= look || waited >= end) {
            status = look_for_failure(coll);
            look = waited + waited / 4;
        }
        if (status != TRN_OK) return status;
        if (waited >= end)
            return fail(coll->device, TRN_TIMED_OUT, "%s of rank %u has not ended after %llu ns",
                        trn_coll_op_text(coll->config.op), coll->config.rank,
                        (unsigned long long)waited);
        const uint64_t pause = waited / 64;
        status = pause_for(coll->device, pause < NS_PER_US ? NS_PER_US : pause);
        if (status != TRN_OK) return status;
    }
}

trn_status trn_coll_times(trn_coll* coll, uint64_t* started, uint64_t* ended) {
    *started = UINT64_MAX;
    *ended = 0;
    for (uint32_t n = 0; n < coll->channels; ++n) {
        trn_cc_slot at;
        const trn_status status =
            trn_cc_slot_state(coll->device, coll->channel[n].core, coll->config.slot, &at);
        if (status != TRN_OK) return status;
        if (at.started < *started) *started = at.started;
        if (at.ended > *ended) *ended = at.ended;
    }
    return TRN_OK;
}
