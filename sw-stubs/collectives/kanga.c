/* SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

/* KangaRing: neighbouring ranks form pairs, and the pairs form a ring of half the length. One rank
 * of a pair, the primary, moves the bytes of both: it reads a block once and writes it to both
 * ranks of the next pair, and it reduces its own and its partner's operand. The first rank of a
 * pair is primary for even lanes, the second one for odd lanes, so that all links are in use.
 * Partners use separate semaphores, so that their signals are not taken for those of the ring. */

enum { PRIMARY, OTHER }; /* roles of a pair's ranks for a lane */

static bool is_second(const coll_builder* b, uint32_t lane) {
    return trn_coll_lane_position(b, lane) % 2 == 1;
}

static bool is_primary(const coll_builder* b, uint32_t lane) {
    return trn_coll_lane_number(b, lane) % 2 == trn_coll_lane_position(b, lane) % 2;
}

static uint32_t pairs(const coll_builder* b) {
    return b->coll->config.ranks / 2;
}

/* First (member 0) or second rank of the pair `ahead` pairs ahead, in the ring of a lane. */
static uint32_t of_pair(const coll_builder* b, uint32_t lane, uint32_t ahead, uint32_t member) {
    const uint32_t places = b->coll->config.ranks + 2 * (ahead % pairs(b)) + member;
    return trn_coll_lane_ahead(b, lane, places - (is_second(b, lane) ? 1 : 0));
}
/* The rank of that pair at this rank's position (PRIMARY) or at the other position (OTHER). */
static uint32_t counterpart(const coll_builder* b, uint32_t lane, uint32_t ahead, int part) {
    return of_pair(b, lane, ahead, (uint32_t)part ^ (is_second(b, lane) ? 1u : 0u));
}
static uint32_t partner(const coll_builder* b, uint32_t lane) {
    return counterpart(b, lane, 0, OTHER);
}

/* Signals readiness to the ranks that write here or read from here. Each of the three has its own
 * semaphore, so that a hang names the missing rank. For the partner it is the one on which it later
 * signals its writes: no other rank posts it. */
static void notify_pairs(coll_builder* b, uint32_t lane) {
    const uint32_t behind = pairs(b) - 1, ring = trn_coll_ring_of_lane(b, lane);
    trn_coll_notify(b, partner(b, lane), COLL_STEP + lane);
    if (pairs(b) == 1) return;
    trn_coll_notify(b, counterpart(b, lane, behind, PRIMARY), COLL_RING + ring);
    trn_coll_notify(b, counterpart(b, lane, behind, OTHER), COLL_CROSS + ring);
}
static void wait_for_pairs(coll_builder* b, uint32_t lane) {
    const uint32_t ring = trn_coll_ring_of_lane(b, lane);
    trn_coll_wait_for(b, COLL_STEP + lane, 1, partner(b, lane));
    if (pairs(b) == 1) return;
    trn_coll_wait_for(b, COLL_RING + ring, 1, counterpart(b, lane, 1, PRIMARY));
    trn_coll_wait_for(b, COLL_CROSS + ring, 1, counterpart(b, lane, 1, OTHER));
}
static void start_pairs(coll_builder* b) {
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        if (trn_coll_begins_ring(b, lane)) notify_pairs(b, lane);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        if (trn_coll_begins_ring(b, lane)) wait_for_pairs(b, lane);
}

typedef void (*lane_step)(coll_builder* b, uint32_t lane, uint32_t step);

static void run_step(coll_builder* b, uint32_t step, lane_step work) {
    for (b->slice = 0; b->slice < b->coll->slices; ++b->slice)
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) work(b, lane, step);
    trn_coll_step_ends(b);
}

static void notify_lane(coll_builder* b, uint32_t lane, uint32_t rank, uint32_t semaphore) {
    trn_coll_signal(&b->program, lane, trn_coll_semaphore_of(b, rank, semaphore + lane));
}
static void wait_for_ring(coll_builder* b, uint32_t lane, uint32_t count) {
    trn_coll_wait_for(b, COLL_DATA + lane, count,
                      counterpart(b, lane, pairs(b) - 1, is_primary(b, lane) ? PRIMARY : OTHER));
}
static void wait_for_partner(coll_builder* b, uint32_t lane, uint32_t count) {
    trn_coll_wait_for(b, COLL_STEP + lane, count, partner(b, lane));
}

static uint64_t block_in(const coll_builder* b, uint32_t rank, uint32_t owner, uint32_t lane) {
    return trn_coll_receive_of(b, rank, trn_coll_block(&b->coll->config, owner), lane);
}

/* ---- all-gather ---- */

static uint64_t own_bytes(const coll_builder* b) {
    return trn_coll_block(&b->coll->config, b->coll->config.rank).bytes;
}

/* Writes the contents of the own block to the partner and, unless they are already there, to the
 * own receive buffer. */
static void share(coll_builder* b, uint32_t lane, coll_reduction reduction) {
    const uint32_t own = b->coll->config.rank;
    const uint64_t here = block_in(b, own, own, lane);
    reduction.bytes = trn_coll_share_of(b, own_bytes(b), lane).bytes;
    reduction.destinations[0] = block_in(b, partner(b, lane), own, lane);
    reduction.destinations[1] = here == reduction.operands[0] ? 0 : here;
    trn_coll_combine(b, lane, reduction);
    notify_lane(b, lane, partner(b, lane), COLL_STEP);
    trn_coll_advance(&b->program, lane);
}

static void share_own(coll_builder* b, uint32_t lane, uint32_t step) {
    const uint64_t source = trn_coll_send_of(b, (coll_share){0, own_bytes(b)}, lane);
    (void)step;
    share(b, lane, (coll_reduction){.operands = {source}, .operand_count = 1});
}

/* As share_own, for the sum over all domains. */
static void share_sums(coll_builder* b, uint32_t lane, uint32_t step) {
    (void)step;
    share(b, lane, trn_coll_sum_of_slots(b, trn_coll_share_of(b, own_bytes(b), lane)));
}

/* Whether the primary itself computed both blocks of its pair. */
static bool has_sums(const coll_builder* b) {
    return b->coll->config.op == TRN_COLL_ALL_REDUCE && !trn_coll_exchanges(b);
}

/* Forwards both blocks of the pair `step` pairs back to both ranks of the next pair. */
static void forward_pair(coll_builder* b, uint32_t lane, uint32_t step) {
    const trn_coll_config* c = &b->coll->config;
    const uint32_t next[2] = {counterpart(b, lane, 1, PRIMARY), counterpart(b, lane, 1, OTHER)};
    if (!is_primary(b, lane)) return;
    if (step > 0)
        wait_for_ring(b, lane, 1);
    else if (!has_sums(b))
        wait_for_partner(b, lane, 1);
    for (uint32_t n = 0; n < 2; ++n) {
        const uint32_t owner = of_pair(b, lane, pairs(b) - step, n);
        trn_coll_combine(
            b, lane,
            (coll_reduction){
                .bytes = trn_coll_share_of(b, trn_coll_block(c, owner).bytes, lane).bytes,
                .operands = {block_in(b, c->rank, owner, lane)},
                .operand_count = 1,
                .destinations = {block_in(b, next[0], owner, lane),
                                 block_in(b, next[1], owner, lane)}});
    }
    notify_lane(b, lane, next[0], COLL_DATA);
    notify_lane(b, lane, next[1], COLL_DATA);
    trn_coll_advance(&b->program, lane);
}

/* Waits for all bytes that no earlier wait has covered. */
static void wait_for_all_blocks(coll_builder* b) {
    const uint32_t slices = b->coll->slices, passed = pairs(b) - 1;
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const bool primary = is_primary(b, lane);
        if (!primary || (passed == 0 && !has_sums(b))) wait_for_partner(b, lane, slices);
        if (passed > 0) wait_for_ring(b, lane, primary ? slices : passed * slices);
    }
}

static void gather(coll_builder* b) {
    for (uint32_t step = 0; step + 1 < pairs(b); ++step) run_step(b, step, forward_pair);
    wait_for_all_blocks(b);
    trn_coll_wait_all_sent(b);
}

void trn_coll_kanga_all_gather(coll_builder* b) {
    start_pairs(b);
    run_step(b, 0, share_own);
    gather(b);
}

/* ---- reduce-scatter, all-reduce ---- */

/* Adds the pair's operands to the received partial sum (`partial`; 0: none), in ring order,
 * whichever rank is primary. */
static void add_pair(coll_builder* b, uint32_t lane, uint32_t owner, uint64_t partial,
                     uint64_t destination, uint64_t second) {
    const coll_share block = trn_coll_block(&b->coll->config, owner);
    coll_reduction reduction = {.bytes = trn_coll_share_of(b, block.bytes, lane).bytes,
                                .destinations = {destination, second}};
    if (partial) reduction.operands[reduction.operand_count++] = partial;
    for (uint32_t n = 0; n < 2; ++n)
        reduction.operands[reduction.operand_count++] =
            trn_coll_sent_by(b, of_pair(b, lane, 0, n), block, lane);
    trn_coll_combine(b, lane, reduction);
}

static uint64_t partial_sum_at(const coll_builder* b, uint32_t rank, uint32_t owner,
                               uint32_t lane) {
    return trn_coll_scratch_of(b, rank, trn_coll_block(&b->coll->config, owner), lane);
}

static void scatter_pair(coll_builder* b, uint32_t lane, uint32_t step) {
    const uint32_t own = b->coll->config.rank, next = counterpart(b, lane, 1, PRIMARY);
    if (!is_primary(b, lane)) return;
    if (step > 0) wait_for_ring(b, lane, 1);
    for (uint32_t n = 0; n < 2; ++n) {
        const uint32_t owner = of_pair(b, lane, 2 * pairs(b) - 1 - step, n);
        add_pair(b, lane, owner, step > 0 ? partial_sum_at(b, own, owner, lane) : 0,
                 partial_sum_at(b, next, owner, lane), 0);
    }
    notify_lane(b, lane, next, COLL_DATA);
    trn_coll_advance(&b->program, lane);
}

/* Address of the sum of a rank's own block, for the rank alone. */
static uint64_t sum_of(const coll_builder* b, uint32_t rank, uint32_t lane) {
    const coll_share alone = {0, trn_coll_block(&b->coll->config, rank).bytes};
    if (b->coll->config.op != TRN_COLL_ALL_REDUCE) return trn_coll_receive_of(b, rank, alone, lane);
    return trn_coll_on_chip(
        b, rank, trn_coll_slot_of(b, rank) + trn_coll_share_of(b, alone.bytes, lane).offset);
}

/* The sums of the own pair's blocks: each to the rank that it belongs to, or both to both ranks. */
static void scatter_own_pair(coll_builder* b, uint32_t lane, uint32_t step) {
    const uint32_t own = b->coll->config.rank;
    (void)step;
    if (!is_primary(b, lane)) return;
    if (pairs(b) > 1) wait_for_ring(b, lane, 1);
    for (uint32_t n = 0; n < 2; ++n) {
        const uint32_t owner = of_pair(b, lane, 0, n);
        const uint64_t partial = pairs(b) > 1 ? partial_sum_at(b, own, owner, lane) : 0;
        if (has_sums(b))
            add_pair(b, lane, owner, partial, block_in(b, own, owner, lane),
                     block_in(b, partner(b, lane), owner, lane));
        else
            add_pair(b, lane, owner, partial, sum_of(b, owner, lane), 0);
    }
    notify_lane(b, lane, partner(b, lane), COLL_STEP);
    trn_coll_advance(&b->program, lane);
}

static void scatter_pairs(coll_builder* b) {
    start_pairs(b);
    for (uint32_t step = 0; step + 1 < pairs(b); ++step) run_step(b, step, scatter_pair);
    run_step(b, 0, scatter_own_pair);
}

/* Waits for the sum of the own block, of all lanes. */
static void wait_for_own_sum(coll_builder* b) {
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        if (!is_primary(b, lane)) wait_for_partner(b, lane, b->coll->slices);
    trn_coll_wait_all_sent(b);
}

void trn_coll_kanga_reduce_scatter(coll_builder* b) {
    scatter_pairs(b);
    wait_for_own_sum(b);
}

void trn_coll_kanga_all_reduce(coll_builder* b) {
    trn_coll_exchange_begins(b);
    scatter_pairs(b);
    if (trn_coll_exchanges(b)) {
        wait_for_own_sum(b);
        trn_coll_exchange(b, trn_coll_channel_share_of(b, own_bytes(b)));
        run_step(b, 0, share_sums);
    }
    gather(b);
}
