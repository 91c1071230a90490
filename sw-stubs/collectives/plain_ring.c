/* SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

/* Ring algorithms: each rank receives from the previous rank of a ring and writes to the next one.
 */

static uint32_t next_of(const coll_builder* b, uint32_t lane) {
    return trn_coll_lane_ahead(b, lane, 1);
}
static uint32_t before_of(const coll_builder* b, uint32_t lane) {
    return trn_coll_lane_ahead(b, lane, b->coll->config.ranks - 1);
}

/* Notifies the previous rank of a lane's ring that it may write here. */
static void notify_ring(coll_builder* b, uint32_t lane) {
    trn_coll_notify(b, before_of(b, lane), COLL_RING + trn_coll_ring_of_lane(b, lane));
}
/* Waits until the next rank of a lane's ring is ready. */
static void wait_for_ring(coll_builder* b, uint32_t lane) {
    trn_coll_wait_for(b, COLL_RING + trn_coll_ring_of_lane(b, lane), 1, next_of(b, lane));
}

static void start_rings(coll_builder* b) {
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        if (trn_coll_begins_ring(b, lane)) notify_ring(b, lane);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        if (trn_coll_begins_ring(b, lane)) wait_for_ring(b, lane);
}

typedef void (*lane_work)(coll_builder* b, uint32_t lane, uint32_t step);

/* For each slice, each lane waits for the previous rank's bytes, does its work and notifies the
 * next rank. */
static void ring_step(coll_builder* b, uint32_t step, lane_work work) {
    const trn_coll* coll = b->coll;
    for (b->slice = 0; b->slice < coll->slices; ++b->slice)
        for (uint32_t lane = 0; lane < coll->lanes; ++lane) {
            if (step > 0) trn_coll_wait_for(b, COLL_DATA + lane, 1, before_of(b, lane));
            work(b, lane, step);
            trn_coll_signal(&b->program, lane,
                            trn_coll_semaphore_of(b, next_of(b, lane), COLL_DATA + lane));
            trn_coll_advance(&b->program, lane);
        }
    trn_coll_step_ends(b);
}

/* Steps [first, end) of a ring. Steps whose blocks have equally many descriptors differ only in
 * these, so the core executes a loop of them. */
static void ring_steps(coll_builder* b, uint32_t first, uint32_t end, lane_work work) {
    uint32_t begin = trn_coll_here(&b->program), times = 0;
    for (uint32_t step = first; step < end; ++step) {
        const uint32_t here = trn_coll_here(&b->program);
        ring_step(b, step, work);
        if (step == first) continue;
        if (trn_coll_drop_repeated(&b->program, begin, here)) {
            ++times;
            continue;
        }
        begin = here + trn_coll_loop(&b->program, here, begin, times);
        times = 0;
    }
    trn_coll_loop(&b->program, trn_coll_here(&b->program), begin, times);
}

static void wait_for_last_block(coll_builder* b) {
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        trn_coll_wait_for(b, COLL_DATA + lane, b->coll->slices, before_of(b, lane));
}

/* ---- all-gather ---- */

static coll_share own_block(const coll_builder* b) {
    return trn_coll_block(&b->coll->config, b->coll->config.rank);
}

static void gather_own(coll_builder* b, uint32_t lane, uint32_t step) {
    const coll_share own = own_block(b);
    (void)step;
    trn_coll_copy_share(b, lane, own, trn_coll_receive_of(b, next_of(b, lane), own, lane),
                        trn_coll_send_of(b, (coll_share){0, own.bytes}, lane));
}

static coll_share block_back(const coll_builder* b, uint32_t lane, uint32_t places) {
    const trn_coll_config* c = &b->coll->config;
    return trn_coll_block(c, trn_coll_lane_ahead(b, lane, c->ranks - places));
}

/* Forwards the block that arrived in the previous step. */
static void forward_block(coll_builder* b, uint32_t lane, uint32_t step) {
    const coll_share block = block_back(b, lane, step);
    trn_coll_copy_share(b, lane, block, trn_coll_receive_of(b, next_of(b, lane), block, lane),
                        trn_coll_receive_of(b, b->coll->config.rank, block, lane));
}

void trn_coll_ring_all_gather(coll_builder* b) {
    start_rings(b);
    ring_steps(b, 0, 1, gather_own);
    trn_coll_keep_own_block(b);
    ring_steps(b, 1, b->coll->config.ranks - 1, forward_block);
    wait_for_last_block(b);
    trn_coll_wait_all_sent(b);
}

/* ---- reduce-scatter, all-reduce ---- */

/* A block travels once around the ring to the rank that it belongs to; every rank adds its operand.
 */
static void scatter_own(coll_builder* b, uint32_t lane, uint32_t step) {
    const coll_share block = block_back(b, lane, 1);
    (void)step;
    trn_coll_copy_share(b, lane, block, trn_coll_scratch_of(b, next_of(b, lane), block, lane),
                        trn_coll_send_of(b, block, lane));
}

/* Adds the own operand of a block to the partial sum that has arrived, on one of the lane's two
 * engines. `second`: another destination; 0: none. */
static void add_operand(coll_builder* b, uint32_t lane, uint32_t engine, coll_share block,
                        uint64_t destination, uint64_t second) {
    trn_coll_combine(
        b, engine,
        (coll_reduction){.bytes = trn_coll_share_of(b, block.bytes, lane).bytes,
                         .operands = {trn_coll_scratch_of(b, b->coll->config.rank, block, lane),
                                      trn_coll_send_of(b, block, lane)},
                         .operand_count = 2,
                         .destinations = {destination, second}});
}

static void add_and_forward(coll_builder* b, uint32_t lane, uint32_t step) {
    const coll_share block = block_back(b, lane, 1 + step);
    add_operand(b, lane, lane, block, trn_coll_scratch_of(b, next_of(b, lane), block, lane), 0);
}

/* Reduce-scatter: the sum of the own block is written to address `destination` of this chip. */
static void scatter(coll_builder* b, uint64_t destination) {
    const coll_share own = own_block(b);
    start_rings(b);
    ring_steps(b, 0, 1, scatter_own);
    ring_steps(b, 1, b->coll->config.ranks - 1, add_and_forward);
    for (b->slice = 0; b->slice < b->coll->slices; ++b->slice)
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            const uint32_t engine =
                lane + b->coll->copiers; /* the lane's engine may still be sending */
            trn_coll_wait_for(b, COLL_DATA + lane, 1, before_of(b, lane));
            add_operand(b, lane, engine, own,
                        destination + trn_coll_share_of(b, own.bytes, lane).offset, 0);
            trn_coll_advance(&b->program, engine);
        }
    trn_coll_wait_all_sent(b);
}

void trn_coll_ring_reduce_scatter(coll_builder* b) {
    scatter(b, b->coll->members[b->coll->config.rank].receive);
}

/* The last addition of the own block is written twice: here, and to the next rank as the first step
 * of the all-gather. */
static void gather_sum(coll_builder* b, uint32_t lane, uint32_t step) {
    (void)step;
    const coll_share own = own_block(b);
    add_operand(b, lane, lane, own, trn_coll_receive_of(b, b->coll->config.rank, own, lane),
                trn_coll_receive_of(b, next_of(b, lane), own, lane));
}

/* As gather_sum, for the sum over all domains. */
static void gather_sums(coll_builder* b, uint32_t lane, uint32_t step) {
    (void)step;
    const coll_share own = own_block(b);
    trn_coll_add_slots(b, lane, trn_coll_share_of(b, own.bytes, lane),
                       trn_coll_receive_of(b, b->coll->config.rank, own, lane),
                       trn_coll_receive_of(b, next_of(b, lane), own, lane));
}

static void gather_after_sum(coll_builder* b, uint32_t lane, uint32_t step) {
    forward_block(b, lane, step - (b->coll->config.ranks - 1));
}

void trn_coll_ring_all_reduce(coll_builder* b) {
    const uint32_t ranks = b->coll->config.ranks;
    if (trn_coll_exchanges(b)) {
        trn_coll_exchange_begins(b);
        scatter(b, trn_coll_own_slot(b));
        trn_coll_exchange(b, trn_coll_channel_share_of(b, own_block(b).bytes));
        ring_step(b, 0, gather_sums);
    } else {
        start_rings(b);
        ring_steps(b, 0, 1, scatter_own);
        ring_steps(b, 1, ranks - 1, add_and_forward);
        ring_steps(b, ranks - 1, ranks, gather_sum);
    }
    ring_steps(b, ranks, 2 * ranks - 2, gather_after_sum);
    wait_for_last_block(b);
    trn_coll_wait_all_sent(b);
}

/* ---- permute, broadcast ---- */

/* Notifies the sender of this rank that it may write here. */
static void notify_source(coll_builder* b, uint32_t source) {
    if (trn_coll_is_linked(b, source)) return trn_coll_notify(b, source, COLL_READY);
    trn_coll_net_notify(b, source, COLL_NET_READY);
    trn_coll_net_doorbell(b);
}

/* Sends the buffer by links, in slices. */
static void send_to_target(coll_builder* b, uint32_t target) {
    const trn_coll* coll = b->coll;
    const coll_share all = {0, coll->config.bytes};
    trn_coll_wait_for(b, COLL_READY, 1, target);
    for (b->slice = 0; b->slice < coll->slices; ++b->slice)
        for (uint32_t lane = 0; lane < coll->lanes; ++lane) {
            trn_coll_copy_share(b, lane, all, trn_coll_receive_of(b, target, all, lane),
                                trn_coll_send_of(b, all, lane));
            trn_coll_signal(&b->program, lane, trn_coll_semaphore_of(b, target, COLL_DATA + lane));
            trn_coll_advance(&b->program, lane);
        }
    trn_coll_step_ends(b);
}

/* Sends the channel's share by EFA. */
static void send_to_far_target(coll_builder* b, uint32_t target) {
    const trn_coll* coll = b->coll;
    const coll_share share = trn_coll_channel_share_of(b, coll->config.bytes);
    trn_coll_net_wait_for(b, COLL_NET_READY, 1, target);
    trn_coll_net_send(b, target, COLL_NET_DATA, coll->members[target].receive + share.offset,
                      coll->members[coll->config.rank].send + share.offset, share.bytes);
    trn_coll_net_doorbell(b);
}

static void wait_for_source(coll_builder* b, uint32_t source) {
    const trn_coll* coll = b->coll;
    if (!trn_coll_is_linked(b, source)) {
        const uint64_t bytes = trn_coll_channel_share_of(b, coll->config.bytes).bytes;
        return trn_coll_net_wait_for(b, COLL_NET_DATA, trn_coll_net_posts(bytes), source);
    }
    for (uint32_t lane = 0; lane < coll->lanes; ++lane)
        trn_coll_wait_for(b, COLL_DATA + lane, coll->slices, source);
}

/* Each rank has at most one target and one source; a rank may send to itself. Ranks of other
 * domains are reached by EFA. */
void trn_coll_ring_permute(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    const uint32_t target = trn_coll_target(c, c->rank), source = trn_coll_source(c, c->rank);
    const coll_share all = {0, c->bytes};
    const bool receives = source != TRN_COLL_NO_RANK && source != c->rank;
    const bool sends = target != TRN_COLL_NO_RANK && target != c->rank;
    if (receives) notify_source(b, source);
    if (target == c->rank) trn_coll_keep(b, all, all);
    if (sends && trn_coll_is_linked(b, target)) send_to_target(b, target);
    if (sends && !trn_coll_is_linked(b, target)) send_to_far_target(b, target);
    if (receives) wait_for_source(b, source);
    trn_coll_wait_all_sent(b);
}

/* Whether this rank is the last one of a broadcast in a lane's ring. */
static bool is_last(const coll_builder* b, uint32_t lane) {
    return next_of(b, lane) == b->coll->config.root;
}

/* The root's bytes are forwarded along the rings in slices, so that all links work concurrently. */
void trn_coll_ring_broadcast(coll_builder* b) {
    const trn_coll* coll = b->coll;
    const coll_share all = trn_coll_block(&coll->config, 0);
    const uint32_t own = coll->config.rank;
    const bool root = own == coll->config.root, relay = root && trn_coll_relays(b);
    for (uint32_t lane = 0; lane < coll->lanes; ++lane)
        if (!root && trn_coll_begins_ring(b, lane)) notify_ring(b, lane);
    for (uint32_t lane = 0; lane < coll->lanes; ++lane)
        if (!is_last(b, lane) && trn_coll_begins_ring(b, lane)) wait_for_ring(b, lane);
    for (b->slice = 0; b->slice < coll->slices; ++b->slice) {
        for (uint32_t lane = 0; lane < coll->lanes; ++lane) {
            const uint32_t next = next_of(b, lane);
            if (!root) trn_coll_wait_for(b, COLL_DATA + lane, 1, before_of(b, lane));
            if (relay) trn_coll_relay_waits(b, lane);
            if (is_last(b, lane)) continue;
            trn_coll_copy_share(b, lane, all, trn_coll_receive_of(b, next, all, lane),
                                root && !relay ? trn_coll_send_of(b, all, lane)
                                               : trn_coll_receive_of(b, own, all, lane));
            trn_coll_signal(&b->program, lane, trn_coll_semaphore_of(b, next, COLL_DATA + lane));
            trn_coll_advance(&b->program, lane);
        }
        trn_coll_step_ends(b);
    }
    if (root && !relay) trn_coll_keep(b, all, all);
    trn_coll_wait_all_sent(b);
}
