/* SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

/* Recursive doubling and halving on a grid (trn_coll_get_grid): in each step a rank exchanges data
 * with all other ranks along one side. If the number of ranks has no suitable factors, some points
 * are two ranks: the second one (its twin) sends its bytes to the first before the first step,
 * takes no part in the steps, and receives the result after the last one.
 *
 * Halving goes through the sides in order, doubling in reverse order. Each channel begins with a
 * different side, so that the links of all sides are in use, and carries its part of every block. A
 * step ends when all partners' bytes have arrived. */

typedef struct grid {
    uint32_t steps, points;
    uint32_t length[TRN_COLL_SIDES]; /* length of the side of each step */
    uint32_t first[TRN_COLL_SIDES];  /* number of the step's first partner */
    uint8_t digit[TRN_COLL_SIDES][TRN_COLL_RANKS];
    uint32_t own;   /* rank */
    uint32_t width; /* maximum number of ranks per point */
    uint32_t twin;  /* the other rank of the own point, if has_twin */
    bool has_twin, aside;
} grid;

/* Weight of a side's digit in the number of a point. */
static uint32_t weight_of(const trn_coll_grid* g, uint32_t side) {
    uint32_t weight = 1;
    for (uint32_t n = side + 1; n < g->sides; ++n) weight *= g->length[n];
    return weight;
}

static grid grid_of(const coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    trn_coll_grid g;
    trn_coll_get_grid(&b->whole->config, &g);
    const uint32_t twins = c->ranks - g.points;
    grid q = {.steps = g.sides, .points = g.points, .own = c->rank, .twin = c->rank ^ 1};
    q.width = twins ? 2 : 1;
    q.has_twin = c->rank < 2 * twins;
    q.aside = q.has_twin && c->rank % 2 == 1;
    for (uint32_t side = 0, partners = 0; side < g.sides; ++side) {
        const uint32_t step = (side + g.sides - b->channel % g.sides) % g.sides;
        q.length[step] = g.length[side];
        q.first[step] = partners;
        partners += g.length[side] - 1;
        for (uint32_t rank = 0; rank < c->ranks; ++rank)
            q.digit[step][rank] = (uint8_t)(g.point[rank] / weight_of(&g, side) % g.length[side]);
    }
    return q;
}

/* Whether two ranks agree in `steps` digits, from that of `step` on. */
static bool agree(const grid* q, uint32_t rank, uint32_t other, uint32_t step, uint32_t steps) {
    while (steps > 0 && q->digit[step][rank] == q->digit[step][other]) ++step, --steps;
    return steps == 0;
}

/* ---- partners: 1 to others() places ahead along the side of a step ---- */

static uint32_t others(const grid* q, uint32_t step) {
    return q->length[step] - 1;
}

static uint32_t partner_of(const grid* q, uint32_t step, uint32_t places) {
    const uint32_t digit = (q->digit[step][q->own] + places) % q->length[step];
    uint32_t rank = 0;
    while (q->digit[step][rank] != digit || !agree(q, rank, q->own, 0, step) ||
           !agree(q, rank, q->own, step + 1, q->steps - step - 1))
        ++rank;
    return rank;
}

/* Places from that partner ahead to the own rank. */
static uint32_t back(const grid* q, uint32_t step, uint32_t places) {
    return q->length[step] - places;
}

/* Number of a partner over all steps, for its semaphores. */
static uint32_t number_of(const grid* q, uint32_t step, uint32_t places) {
    return q->first[step] + places - 1;
}

/* ---- groups of ranks: their blocks are those that a rank still reduces after `steps` steps of
 * halving, or has before `steps` steps of doubling ---- */

static bool in_same_group(const grid* q, uint32_t rank, uint32_t other, uint32_t steps) {
    return agree(q, rank, other, 0, steps);
}

/* Number of ranks of a rank's group below `end`. */
static uint32_t group_ranks_below(const grid* q, uint32_t rank, uint32_t end, uint32_t steps) {
    uint32_t count = 0;
    for (uint32_t n = 0; n < end; ++n) count += in_same_group(q, rank, n, steps);
    return count;
}

/* ---- the buffers ---- */

/* Iterates over a lane's share of the blocks of a group, in contiguous pieces. A piece covers
 * several blocks if they are adjacent and the channel has all of their bytes. */
typedef struct walk {
    uint32_t group, steps; /* the group of rank `group` after `steps` steps */
    uint32_t rank;
    uint64_t before, left; /* bytes before the lane's share, and left of it */
} walk;

static coll_share channel_part_of(const coll_builder* b, uint32_t rank) {
    const coll_share block = trn_coll_block(&b->coll->config, rank);
    const coll_share part = trn_coll_channel_share_of(b, block.bytes);
    return (coll_share){block.offset + part.offset, part.bytes};
}

static walk walk_of(const coll_builder* b, const grid* q, uint32_t lane, uint32_t group,
                    uint32_t steps) {
    uint64_t bytes = 0;
    for (uint32_t rank = 0; rank < b->coll->config.ranks; ++rank)
        if (in_same_group(q, group, rank, steps)) bytes += channel_part_of(b, rank).bytes;
    const coll_share part = trn_coll_part_of(bytes, b->coll->lanes, lane);
    return (walk){group, steps, 0, part.offset, part.bytes};
}

static bool next_piece(const coll_builder* b, const grid* q, walk* w, coll_share* piece) {
    *piece = (coll_share){0, 0};
    for (; w->left > 0; ++w->rank) {
        if (!in_same_group(q, w->group, w->rank, w->steps)) continue;
        const coll_share part = channel_part_of(b, w->rank);
        if (w->before >= part.bytes) {
            w->before -= part.bytes;
            continue;
        }
        const uint64_t begin = part.offset + w->before;
        const uint64_t rest = part.bytes - w->before;
        if (piece->bytes == 0) piece->offset = begin;
        if (piece->offset + piece->bytes != begin) break;
        piece->bytes += rest < w->left ? rest : w->left;
        w->left -= rest < w->left ? rest : w->left;
        w->before = 0;
    }
    return piece->bytes > 0;
}

static const trn_coll_member* own_member(const coll_builder* b) {
    return &b->coll->members[b->coll->config.rank];
}

static uint64_t receive_at(const coll_builder* b, uint32_t rank, uint64_t offset) {
    return trn_coll_on_chip(b, rank, b->coll->members[rank].receive + offset);
}

static uint64_t scratch_at(const coll_builder* b, uint32_t rank, uint64_t offset) {
    return trn_coll_on_chip(b, rank, b->coll->members[rank].scratch + offset);
}

/* ---- the scratch buffer: the twin's bytes, then a slot per partner ---- */

static uint64_t twin_bytes(const trn_coll_config* c, const grid* q) {
    return q->width > 1 ? c->ranks * trn_coll_block_of(c) : 0;
}

/* Each slot holds a whole buffer. */
static uint64_t doubling_slot(const trn_coll_config* c, const grid* q, uint32_t step,
                              uint32_t places) {
    return twin_bytes(c, q) + number_of(q, step, places) * c->bytes;
}

/* Offset of a partner's operand for the buffer's byte at `offset`. A slot holds the blocks of the
 * rank's group after the step, in order. */
static uint64_t halving_slot(const trn_coll_config* c, const grid* q, uint32_t rank, uint32_t step,
                             uint32_t places, uint64_t offset) {
    const uint64_t block = trn_coll_block_of(c);
    uint32_t blocks = 0, group = q->points * q->width;
    for (uint32_t n = 0; n < step; ++n) {
        group /= q->length[n];
        blocks += others(q, n) * group;
    }
    blocks += (places - 1) * (group / q->length[step]);
    blocks += group_ranks_below(q, rank, (uint32_t)(offset / block), step + 1);
    return twin_bytes(c, q) + blocks * block + offset % block;
}

/* ---- steps ---- */

/* Posts a semaphore of each partner of a step, after the lane's earlier descriptors. `semaphores`:
 * the first one, by partner. */
static void notify_partners(coll_builder* b, const grid* q, uint32_t lane, uint32_t semaphores,
                            uint32_t step) {
    for (uint32_t n = 1; n <= others(q, step); ++n) {
        const uint32_t semaphore = semaphores + number_of(q, step, back(q, step, n));
        trn_coll_signal(&b->program, lane,
                        trn_coll_semaphore_of(b, partner_of(q, step, n), semaphore));
    }
}

/* Notifies all partners that they may write here. Done by an engine, which posts so many words
 * faster than a core, which waits for each write. */
static void announce_ready(coll_builder* b, const grid* q) {
    for (uint32_t step = 0; step < q->steps; ++step) notify_partners(b, q, 0, COLL_MET, step);
    trn_coll_advance(&b->program, 0);
}

static void wait_for_partners(coll_builder* b, const grid* q, uint32_t step) {
    for (uint32_t n = 1; n <= others(q, step); ++n)
        trn_coll_wait_for(b, COLL_MET + number_of(q, step, n), 1, partner_of(q, step, n));
}

/* Waits for all partners of a step, in the order in which their bytes arrive: the nearest rank
 * behind first. */
static void step_ends(coll_builder* b, const grid* q, uint32_t semaphores, uint32_t step) {
    for (uint32_t n = others(q, step); n > 0; --n)
        trn_coll_wait_for(b, semaphores + number_of(q, step, n), b->coll->lanes,
                          partner_of(q, step, n));
    trn_coll_step_ends(b);
}

/* A reduction has up to two destinations; for more it is repeated. Only the last destination may be
 * an operand. */
static void combine_to(coll_builder* b, uint32_t lane, coll_reduction reduction,
                       const uint64_t* destinations, uint32_t count) {
    for (uint32_t n = 0; n < count; n += 2) {
        reduction.destinations[0] = destinations[n];
        reduction.destinations[1] = n + 1 < count ? destinations[n + 1] : 0;
        trn_coll_combine(b, lane, reduction);
    }
}

/* ---- twins ---- */

static void meet_twin(coll_builder* b, const grid* q) {
    trn_coll_notify(b, q->twin, COLL_READY);
    trn_coll_wait_for(b, COLL_READY, 1, q->twin);
}

static void notify_twin(coll_builder* b, const grid* q, uint32_t lane) {
    if (q->has_twin)
        trn_coll_signal(&b->program, lane, trn_coll_semaphore_of(b, q->twin, COLL_GIVEN));
}

static void wait_for_twin(coll_builder* b, const grid* q) {
    trn_coll_wait_for(b, COLL_GIVEN, b->coll->lanes, q->twin);
    trn_coll_step_ends(b);
}

/* Waits for the twin's bytes before the first step. */
static void receive_twin_input(coll_builder* b, const grid* q) {
    if (!q->has_twin) return;
    meet_twin(b, q);
    trn_coll_wait_for(b, COLL_GIVEN, b->coll->lanes, q->twin);
}

/* Copies the channel's share of a buffer to the twin's buffer. */
static void send_to_twin(coll_builder* b, const grid* q, uint64_t destination, uint64_t source) {
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        coll_share piece;
        for (walk w = walk_of(b, q, lane, 0, 0); next_piece(b, q, &w, &piece);)
            trn_coll_copy(&b->program, lane, destination + piece.offset, source + piece.offset,
                          piece.bytes);
        notify_twin(b, q, lane);
    }
    trn_coll_wait_all_sent(b);
}

/* The twin that takes no part in the steps: sends its input to the other's scratch buffer and waits
 * for the result. */
static void run_aside(coll_builder* b, const grid* q) {
    meet_twin(b, q);
    send_to_twin(b, q, scratch_at(b, q->twin, 0), own_member(b)->send);
    wait_for_twin(b, q);
}

/* ---- doubling of sums ---- */

/* The own sum before a step: the sums of the previous step's partners and the own one (at address
 * `own`), in the order of their digits, so that all partners compute the same result. */
static coll_reduction sum_before(const coll_builder* b, const grid* q, uint32_t step, uint64_t own,
                                 coll_share part) {
    coll_reduction reduction = {.bytes = part.bytes};
    if (step == 0) {
        reduction.operands[reduction.operand_count++] = own + part.offset;
        if (q->has_twin)
            reduction.operands[reduction.operand_count++] = own_member(b)->scratch + part.offset;
        return reduction;
    }
    const uint32_t length = q->length[step - 1], digit = q->digit[step - 1][q->own];
    for (uint32_t n = 0; n < length; ++n) {
        const uint64_t slot =
            doubling_slot(&b->coll->config, q, step - 1, (n + length - digit) % length);
        reduction.operands[reduction.operand_count++] =
            part.offset + (n == digit ? own : own_member(b)->scratch + slot);
    }
    return reduction;
}

/* Writes the sum to the own receive buffer and to the twin's. */
static void write_sum(coll_builder* b, const grid* q, uint32_t lane, coll_reduction reduction,
                      uint64_t offset) {
    uint64_t destinations[2] = {own_member(b)->receive + offset};
    if (q->has_twin) destinations[1] = receive_at(b, q->twin, offset);
    combine_to(b, lane, reduction, destinations, q->has_twin ? 2 : 1);
    notify_twin(b, q, lane);
}

/* Sends whole buffers in each step: few steps, many bytes. */
void trn_coll_doubling_all_reduce(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    const grid q = grid_of(b);
    if (q.aside) return run_aside(b, &q);
    const trn_coll_member* own = own_member(b);
    uint64_t sum = own->send;
    trn_coll_exchange_begins(b);
    announce_ready(b, &q);
    receive_twin_input(b, &q);
    for (uint32_t step = 0; step < q.steps; ++step) {
        wait_for_partners(b, &q, step);
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            const coll_share part = trn_coll_whole_share_of(b, c->bytes, lane);
            const coll_reduction reduction = sum_before(b, &q, step, sum, part);
            uint64_t destinations[TRN_COMPUTE_OPERANDS];
            for (uint32_t n = 1; n <= others(&q, step); ++n)
                destinations[n - 1] =
                    scratch_at(b, partner_of(&q, step, n),
                               doubling_slot(c, &q, step, back(&q, step, n)) + part.offset);
            destinations[others(&q, step)] = own->receive + part.offset;
            combine_to(b, lane, reduction, destinations,
                       others(&q, step) + (reduction.operand_count > 1));
            notify_partners(b, &q, lane, COLL_DOUBLED, step);
            trn_coll_advance(&b->program, lane);
        }
        step_ends(b, &q, COLL_DOUBLED, step);
        if (step > 0 || q.has_twin) sum = own->receive;
    }
    if (trn_coll_exchanges(b)) {
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            const coll_share part = trn_coll_whole_share_of(b, c->bytes, lane);
            coll_reduction reduction = sum_before(b, &q, q.steps, sum, part);
            reduction.destinations[0] = trn_coll_own_slot(b) + part.offset;
            trn_coll_combine(b, lane, reduction);
        }
        trn_coll_wait_all_sent(b);
        trn_coll_exchange(b, trn_coll_channel_share_of(b, c->bytes));
    }
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share part = trn_coll_whole_share_of(b, c->bytes, lane);
        write_sum(b, &q, lane,
                  trn_coll_exchanges(b) ? trn_coll_sum_of_slots(b, part)
                                        : sum_before(b, &q, q.steps, sum, part),
                  part.offset);
    }
    trn_coll_wait_all_sent(b);
}

/* ---- halving ---- */

/* The sum of a part of the buffer after `steps` steps: the own operand, the twin's, then those of
 * each step's partners, the nearest partner first. */
static coll_reduction partial_sum(const coll_builder* b, const grid* q, uint32_t steps,
                                  coll_share part) {
    const trn_coll_config* c = &b->coll->config;
    const trn_coll_member* own = own_member(b);
    coll_reduction reduction = {.bytes = part.bytes};
    reduction.operands[reduction.operand_count++] = own->send + part.offset;
    if (q->has_twin) reduction.operands[reduction.operand_count++] = own->scratch + part.offset;
    for (uint32_t step = 0; step < steps; ++step)
        for (uint32_t n = 1; n <= others(q, step); ++n)
            reduction.operands[reduction.operand_count++] =
                own->scratch + halving_slot(c, q, q->own, step, n, part.offset);
    return reduction;
}

/* Sends each partner of a step the partial sums of the blocks of its group. Afterwards all operands
 * of the own point's blocks are here. */
static void halve(coll_builder* b, const grid* q) {
    const trn_coll_config* c = &b->coll->config;
    announce_ready(b, q);
    receive_twin_input(b, q);
    for (uint32_t step = 0; step < q->steps; ++step) {
        wait_for_partners(b, q, step);
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            for (uint32_t n = 1; n <= others(q, step); ++n) {
                const uint32_t partner = partner_of(q, step, n);
                coll_share piece;
                for (walk w = walk_of(b, q, lane, partner, step + 1);
                     next_piece(b, q, &w, &piece);) {
                    coll_reduction reduction = partial_sum(b, q, step, piece);
                    reduction.destinations[0] = scratch_at(
                        b, partner,
                        halving_slot(c, q, partner, step, back(q, step, n), piece.offset));
                    trn_coll_combine(b, lane, reduction);
                }
            }
            notify_partners(b, q, lane, COLL_HALVED, step);
            trn_coll_advance(&b->program, lane);
        }
        step_ends(b, q, COLL_HALVED, step);
    }
}

void trn_coll_halving_reduce_scatter(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    const grid q = grid_of(b);
    if (q.aside) return run_aside(b, &q);
    halve(b, &q);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        for (uint32_t rank = c->rank; rank <= (q.has_twin ? q.twin : c->rank); ++rank) {
            const coll_share block = trn_coll_block(c, rank);
            const coll_share part = trn_coll_whole_share_of(b, block.bytes, lane);
            const coll_share piece = {block.offset + part.offset, part.bytes};
            if (piece.bytes == 0) continue;
            coll_reduction reduction = partial_sum(b, &q, q.steps, piece);
            reduction.destinations[0] = receive_at(b, rank, part.offset);
            trn_coll_combine(b, lane, reduction);
        }
        notify_twin(b, &q, lane);
    }
    trn_coll_wait_all_sent(b);
}

/* ---- doubling of blocks ---- */

/* Steps of halving in reverse order: sends the rank's blocks to each partner. */
static void gather(coll_builder* b, const grid* q, uint32_t steps, bool waits) {
    const uint64_t own = own_member(b)->receive;
    for (uint32_t step = steps; step-- > 0;) {
        if (waits) wait_for_partners(b, q, step);
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            for (uint32_t n = 1; n <= others(q, step); ++n) {
                const uint64_t destination = receive_at(b, partner_of(q, step, n), 0);
                coll_share piece;
                for (walk w = walk_of(b, q, lane, q->own, step + 1); next_piece(b, q, &w, &piece);)
                    trn_coll_copy(&b->program, lane, destination + piece.offset, own + piece.offset,
                                  piece.bytes);
            }
            notify_partners(b, q, lane, COLL_DOUBLED, step);
            trn_coll_advance(&b->program, lane);
        }
        step_ends(b, q, COLL_DOUBLED, step);
    }
}

/* The channel's part of the slot of an exchange: its parts of the own point's blocks. */
static coll_share slot_part_of(const coll_builder* b, const grid* q) {
    coll_share all = {0};
    for (uint32_t rank = q->own; rank <= (q->has_twin ? q->twin : q->own); ++rank) {
        const coll_share part =
            trn_coll_channel_share_of(b, trn_coll_block(&b->coll->config, rank).bytes);
        all.offset += part.offset;
        all.bytes += part.bytes;
    }
    return all;
}

/* Place of a piece of the own point's blocks in that slot, where the parts are adjacent. */
static coll_share in_slot(const coll_builder* b, const grid* q, coll_share piece) {
    const uint32_t rank = (uint32_t)(piece.offset / trn_coll_block_of(&b->coll->config));
    const coll_share all = slot_part_of(b, q), part = channel_part_of(b, rank);
    const uint64_t before = rank == q->own ? 0 : channel_part_of(b, q->own).bytes;
    return (coll_share){all.offset + before + piece.offset - part.offset, piece.bytes};
}

/* Reduces to `destinations` and to the own receive buffer, unless the operand is there.
 * `destinations` must have room for one more address. */
static void combine_here_too(coll_builder* b, uint32_t lane, coll_reduction reduction,
                             uint64_t* destinations, uint32_t count, uint64_t offset) {
    destinations[count] = own_member(b)->receive + offset;
    const bool is_here =
        reduction.operand_count == 1 && reduction.operands[0] == destinations[count];
    combine_to(b, lane, reduction, destinations, count + (is_here ? 0 : 1));
}

/* The first step of doubling: sends a part of the own blocks to all partners. */
static void spread(coll_builder* b, const grid* q, uint32_t lane, coll_reduction reduction,
                   uint64_t offset) {
    const uint32_t step = q->steps - 1, count = others(q, step);
    uint64_t destinations[TRN_COMPUTE_OPERANDS];
    for (uint32_t n = 1; n <= count; ++n)
        destinations[n - 1] = receive_at(b, partner_of(q, step, n), offset);
    combine_here_too(b, lane, reduction, destinations, count, offset);
}

static void spread_ends(coll_builder* b, const grid* q) {
    const uint32_t step = q->steps - 1;
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        notify_partners(b, q, lane, COLL_DOUBLED, step);
    trn_coll_wait_all_sent(b); /* other lanes forward bytes that a lane wrote here */
    step_ends(b, q, COLL_DOUBLED, step);
}

/* Sends the result to the twin, if any. */
static void finish(coll_builder* b, const grid* q) {
    if (q->has_twin)
        send_to_twin(b, q, receive_at(b, q->twin, 0), own_member(b)->receive);
    else
        trn_coll_wait_all_sent(b);
}

void trn_coll_halving_all_reduce(coll_builder* b) {
    const grid q = grid_of(b);
    if (q.aside) return run_aside(b, &q);
    coll_share piece;
    trn_coll_exchange_begins(b);
    halve(b, &q);
    if (trn_coll_exchanges(b)) {
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
            for (walk w = walk_of(b, &q, lane, q.own, q.steps); next_piece(b, &q, &w, &piece);) {
                coll_reduction reduction = partial_sum(b, &q, q.steps, piece);
                reduction.destinations[0] = trn_coll_own_slot(b) + in_slot(b, &q, piece).offset;
                trn_coll_combine(b, lane, reduction);
            }
        trn_coll_wait_all_sent(b);
        trn_coll_exchange(b, slot_part_of(b, &q));
    }
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        for (walk w = walk_of(b, &q, lane, q.own, q.steps); next_piece(b, &q, &w, &piece);)
            spread(b, &q, lane,
                   trn_coll_exchanges(b) ? trn_coll_sum_of_slots(b, in_slot(b, &q, piece))
                                         : partial_sum(b, &q, q.steps, piece),
                   piece.offset);
    spread_ends(b, &q);
    gather(b, &q, q.steps - 1, false);
    finish(b, &q);
}

/* A lane's share of the own block, and its offset in the receive buffer. */
static coll_reduction own_part(const coll_builder* b, uint32_t lane, uint64_t* offset) {
    const coll_share block = trn_coll_block(&b->coll->config, b->coll->config.rank);
    const coll_share part = trn_coll_whole_share_of(b, block.bytes, lane);
    *offset = block.offset + part.offset;
    return (coll_reduction){
        .bytes = part.bytes, .operands = {own_member(b)->send + part.offset}, .operand_count = 1};
}

/* Writes the own block to the twin and to the own receive buffer. */
static void keep_own_block(coll_builder* b, const grid* q) {
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        uint64_t offset, destinations[2];
        const coll_reduction reduction = own_part(b, lane, &offset);
        destinations[0] = receive_at(b, q->twin, offset);
        combine_here_too(b, lane, reduction, destinations, q->aside, offset);
        if (q->aside) notify_twin(b, q, lane);
    }
    trn_coll_wait_all_sent(b);
}

static void spread_own_block(coll_builder* b, const grid* q) {
    wait_for_partners(b, q, q->steps - 1);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        uint64_t offset;
        const coll_reduction reduction = own_part(b, lane, &offset);
        spread(b, q, lane, reduction, offset);
    }
    spread_ends(b, q);
}

void trn_coll_doubling_all_gather(coll_builder* b) {
    const grid q = grid_of(b);
    if (q.aside) {
        meet_twin(b, &q);
        keep_own_block(b, &q);
        return wait_for_twin(b, &q);
    }
    announce_ready(b, &q);
    receive_twin_input(b, &q);
    if (q.has_twin)
        keep_own_block(b, &q);
    else
        spread_own_block(b, &q);
    gather(b, &q, q.has_twin ? q.steps : q.steps - 1, true);
    finish(b, &q);
}
