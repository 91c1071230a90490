/* SPDX-License-Identifier: Apache-2.0 */
#include "coll_builder.h"

/* KangaRing: neighbours of the ring are pairs, and a pair is one stop of a ring of half the length.
 * One of the two, the primary, moves the bytes of both: what it sends on is read once and written
 * to both of the next pair; what it reduces has its own and its partner's operand. Lanes take
 * turns: of even ones the first of each pair is primary, of odd ones the second, so that all links
 * are in use. What partners tell each other is on semaphores of its own: it must not be taken for
 * what comes round the ring. */

enum { PRIMARY, OTHER }; /* of a pair, for the lanes of which this rank is primary */

static bool is_second(const coll_builder* b, uint32_t lane) {
    return trn_coll_lane_position(b, lane) % 2 == 1;
}

static bool is_primary(const coll_builder* b, uint32_t lane) {
    return trn_coll_lane_number(b, lane) % 2 == trn_coll_lane_position(b, lane) % 2;
}

static uint32_t pairs(const coll_builder* b) {
    return b->coll->config.ranks / 2;
}

/* First or second of the pair so many pairs ahead, in the ring of a lane. */
static uint32_t of_pair(const coll_builder* b, uint32_t lane, uint32_t ahead, uint32_t which) {
    const uint32_t places = b->coll->config.ranks + 2 * (ahead % pairs(b)) + which;
    return trn_coll_lane_ahead(b, lane, places - (is_second(b, lane) ? 1 : 0));
}
/* The one of that pair who has the same part in it as this rank, or the other. */
static uint32_t like(const coll_builder* b, uint32_t lane, uint32_t ahead, int part) {
    return of_pair(b, lane, ahead, (uint32_t)part ^ (is_second(b, lane) ? 1u : 0u));
}
static uint32_t partner(const coll_builder* b, uint32_t lane) {
    return like(b, lane, 0, OTHER);
}

/* All ranks that this rank writes to or reads from have begun. Each of the three has a
 * semaphore of its own, so that who waits knows for whom: the partner that on which it will tell
 * what it has written, as no other rank posts that one. */
static void notify_pairs(coll_builder* b, uint32_t lane) {
    const uint32_t behind = pairs(b) - 1, ring = trn_coll_ring_of_lane(b, lane);
    trn_coll_notify(b, partner(b, lane), COLL_STEP + lane);
    if (pairs(b) == 1) return;
    trn_coll_notify(b, like(b, lane, behind, PRIMARY), COLL_RING + ring);
    trn_coll_notify(b, like(b, lane, behind, OTHER), COLL_CROSS + ring);
}
static void wait_for_pairs(coll_builder* b, uint32_t lane) {
    const uint32_t ring = trn_coll_ring_of_lane(b, lane);
    trn_coll_wait_for(b, COLL_STEP + lane, 1, partner(b, lane));
    if (pairs(b) == 1) return;
    trn_coll_wait_for(b, COLL_RING + ring, 1, like(b, lane, 1, PRIMARY));
    trn_coll_wait_for(b, COLL_CROSS + ring, 1, like(b, lane, 1, OTHER));
}
static void pairs_are_ready(coll_builder* b) {
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        if (trn_coll_begins_ring(b, lane)) notify_pairs(b, lane);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        if (trn_coll_begins_ring(b, lane)) wait_for_pairs(b, lane);
}

typedef void (*lane_step)(coll_builder* b, uint32_t lane, uint32_t step);

static void on_every_lane(coll_builder* b, uint32_t step, lane_step work) {
    for (b->slice = 0; b->slice < b->coll->slices; ++b->slice)
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) work(b, lane, step);
    trn_coll_step_ends(b);
}

static void notify_lane(coll_builder* b, uint32_t lane, uint32_t rank, uint32_t semaphore) {
    trn_coll_signal(&b->program, lane, trn_coll_semaphore_of(b, rank, semaphore + lane));
}
static void wait_for_ring(coll_builder* b, uint32_t lane, uint32_t count) {
    trn_coll_wait_for(b, COLL_DATA + lane, count,
                      like(b, lane, pairs(b) - 1, is_primary(b, lane) ? PRIMARY : OTHER));
}
static void wait_for_partner(coll_builder* b, uint32_t lane, uint32_t count) {
    trn_coll_wait_for(b, COLL_STEP + lane, count, partner(b, lane));
}

static uint64_t block_in(const coll_builder* b, uint32_t rank, uint32_t of, uint32_t lane) {
    return trn_coll_receive_of(b, rank, trn_coll_block(&b->coll->config, of), lane);
}

/* ---- all-gather ---- */

static uint64_t own_bytes(const coll_builder* b) {
    return trn_coll_block(&b->coll->config, b->coll->config.rank).bytes;
}

/* What the own block shall have, to oneself, unless it is there already, and to the partner. */
static void share(coll_builder* b, uint32_t lane, coll_reduction what) {
    const uint32_t own = b->coll->config.rank;
    const uint64_t here = block_in(b, own, own, lane);
    what.bytes = trn_coll_share_of(b, own_bytes(b), lane).bytes;
    what.destinations[0] = block_in(b, partner(b, lane), own, lane);
    what.destinations[1] = here == what.operands[0] ? 0 : here;
    trn_coll_combine(b, lane, what);
    notify_lane(b, lane, partner(b, lane), COLL_STEP);
    trn_coll_advance(&b->program, lane);
}

static void share_own(coll_builder* b, uint32_t lane, uint32_t step) {
    const uint64_t from = trn_coll_send_of(b, (coll_share){0, own_bytes(b)}, lane);
    (void)step;
    share(b, lane, (coll_reduction){.operands = {from}, .operand_count = 1});
}

/* The sum of all domains' sums. */
static void share_sums(coll_builder* b, uint32_t lane, uint32_t step) {
    (void)step;
    share(b, lane, trn_coll_sum_of_slots(b, trn_coll_share_of(b, own_bytes(b), lane)));
}

/* The primary has made both blocks of its pair itself. */
static bool has_sums(const coll_builder* b) {
    return b->coll->config.op == TRN_COLL_ALL_REDUCE && !trn_coll_exchanges(b);
}

/* Both blocks of a pair, as many pairs behind as steps were made, to both of the next pair. */
static void pass_on(coll_builder* b, uint32_t lane, uint32_t step) {
    const trn_coll_config* c = &b->coll->config;
    const uint32_t next[2] = {like(b, lane, 1, PRIMARY), like(b, lane, 1, OTHER)};
    if (!is_primary(b, lane)) return;
    if (step > 0)
        wait_for_ring(b, lane, 1);
    else if (!has_sums(b))
        wait_for_partner(b, lane, 1);
    for (uint32_t n = 0; n < 2; ++n) {
        const uint32_t of = of_pair(b, lane, pairs(b) - step, n);
        trn_coll_combine(
            b, lane,
            (coll_reduction){
                .bytes = trn_coll_share_of(b, trn_coll_block(c, of).bytes, lane).bytes,
                .operands = {block_in(b, c->rank, of, lane)},
                .operand_count = 1,
                .destinations = {block_in(b, next[0], of, lane), block_in(b, next[1], of, lane)}});
    }
    notify_lane(b, lane, next[0], COLL_DATA);
    notify_lane(b, lane, next[1], COLL_DATA);
    trn_coll_advance(&b->program, lane);
}

/* What no wait has covered yet. */
static void everything_has_come(coll_builder* b) {
    const uint32_t slices = b->coll->slices, passed = pairs(b) - 1;
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const bool primary = is_primary(b, lane);
        if (!primary || (passed == 0 && !has_sums(b))) wait_for_partner(b, lane, slices);
        if (passed > 0) wait_for_ring(b, lane, primary ? slices : passed * slices);
    }
}

static void gather(coll_builder* b) {
    for (uint32_t step = 0; step + 1 < pairs(b); ++step) on_every_lane(b, step, pass_on);
    everything_has_come(b);
    trn_coll_wait_all_sent(b);
}

void trn_coll_kanga_all_gather(coll_builder* b) {
    pairs_are_ready(b);
    on_every_lane(b, 0, share_own);
    gather(b);
}

/* ---- reduce-scatter, all-reduce ---- */

/* What has come round, then what the pair adds, in the order of the ring: whichever rank is
 * primary. */
static void add_pair(coll_builder* b, uint32_t lane, uint32_t of, uint64_t come, uint64_t to,
                     uint64_t also_to) {
    const coll_share block = trn_coll_block(&b->coll->config, of);
    coll_reduction what = {.bytes = trn_coll_share_of(b, block.bytes, lane).bytes,
                           .destinations = {to, also_to}};
    if (come) what.operands[what.operand_count++] = come;
    for (uint32_t n = 0; n < 2; ++n)
        what.operands[what.operand_count++] =
            trn_coll_sent_by(b, of_pair(b, lane, 0, n), block, lane);
    trn_coll_combine(b, lane, what);
}

static uint64_t come_in(const coll_builder* b, uint32_t rank, uint32_t of, uint32_t lane) {
    return trn_coll_scratch_of(b, rank, trn_coll_block(&b->coll->config, of), lane);
}

static void scatter_pair(coll_builder* b, uint32_t lane, uint32_t step) {
    const uint32_t own = b->coll->config.rank, next = like(b, lane, 1, PRIMARY);
    if (!is_primary(b, lane)) return;
    if (step > 0) wait_for_ring(b, lane, 1);
    for (uint32_t n = 0; n < 2; ++n) {
        const uint32_t of = of_pair(b, lane, 2 * pairs(b) - 1 - step, n);
        add_pair(b, lane, of, step > 0 ? come_in(b, own, of, lane) : 0, come_in(b, next, of, lane),
                 0);
    }
    notify_lane(b, lane, next, COLL_DATA);
    trn_coll_advance(&b->program, lane);
}

/* Where one of the own pair has its block's sum, if it alone has it. */
static uint64_t sum_of(const coll_builder* b, uint32_t rank, uint32_t lane) {
    const coll_share alone = {0, trn_coll_block(&b->coll->config, rank).bytes};
    if (b->coll->config.op != TRN_COLL_ALL_REDUCE) return trn_coll_receive_of(b, rank, alone, lane);
    return trn_coll_on_chip(
        b, rank, trn_coll_slot_of(b, rank) + trn_coll_share_of(b, alone.bytes, lane).offset);
}

/* The sums of the own pair: each to whom it belongs, or both to both. */
static void scatter_own_pair(coll_builder* b, uint32_t lane, uint32_t step) {
    const uint32_t own = b->coll->config.rank;
    (void)step;
    if (!is_primary(b, lane)) return;
    if (pairs(b) > 1) wait_for_ring(b, lane, 1);
    for (uint32_t n = 0; n < 2; ++n) {
        const uint32_t of = of_pair(b, lane, 0, n);
        const uint64_t come = pairs(b) > 1 ? come_in(b, own, of, lane) : 0;
        if (has_sums(b))
            add_pair(b, lane, of, come, block_in(b, own, of, lane),
                     block_in(b, partner(b, lane), of, lane));
        else
            add_pair(b, lane, of, come, sum_of(b, of, lane), 0);
    }
    notify_lane(b, lane, partner(b, lane), COLL_STEP);
    trn_coll_advance(&b->program, lane);
}

static void scatter_pairs(coll_builder* b) {
    pairs_are_ready(b);
    for (uint32_t step = 0; step + 1 < pairs(b); ++step) on_every_lane(b, step, scatter_pair);
    on_every_lane(b, 0, scatter_own_pair);
}

/* The own block's, of all lanes. */
static void sum_is_here(coll_builder* b) {
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        if (!is_primary(b, lane)) wait_for_partner(b, lane, b->coll->slices);
    trn_coll_wait_all_sent(b);
}

void trn_coll_kanga_reduce_scatter(coll_builder* b) {
    scatter_pairs(b);
    sum_is_here(b);
}

void trn_coll_kanga_all_reduce(coll_builder* b) {
    trn_coll_exchange_begins(b);
    scatter_pairs(b);
    if (trn_coll_exchanges(b)) {
        sum_is_here(b);
        trn_coll_exchange(b, trn_coll_channel_share_of(b, own_bytes(b)));
        on_every_lane(b, 0, share_sums);
    }
    gather(b);
}
