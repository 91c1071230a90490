/* SPDX-License-Identifier: Apache-2.0 */
#include "coll_builder.h"

/* Recursive doubling and halving on a grid (trn_coll_get_grid): in each step a rank works with all
 * others along one side. Some points are two ranks where the number of ranks has no such product:
 * the second one, the twin, gives its bytes to the first before the first step, stands aside, and
 * gets the result after the last one.
 *
 * Halving goes along the sides one after the other, doubling back. Each channel begins with another
 * side, so that links of all of them are in use, and has its part of every block. A step ends when
 * all partners' bytes have come. */

typedef struct grid {
    uint32_t steps, points;
    uint32_t length[TRN_COLL_SIDES]; /* of the side of each step */
    uint32_t first[TRN_COLL_SIDES];  /* number of its first partner */
    uint8_t digit[TRN_COLL_SIDES][TRN_COLL_RANKS];
    uint32_t own;   /* rank */
    uint32_t width; /* ranks of a point, at most */
    uint32_t twin;  /* the other rank of the own point, if it has one */
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

/* Whether they differ in none of so many digits from that of a step on. */
static bool agree(const grid* q, uint32_t rank, uint32_t other, uint32_t step, uint32_t steps) {
    while (steps > 0 && q->digit[step][rank] == q->digit[step][other]) ++step, --steps;
    return steps == 0;
}

/* ---- partners, so many places ahead along the side of a step: from 1 to the others ---- */

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

/* How many places ahead the own rank is, from there. */
static uint32_t back(const grid* q, uint32_t step, uint32_t places) {
    return q->length[step] - places;
}

/* Partners are numbered along all sides, for their semaphores. */
static uint32_t number_of(const grid* q, uint32_t step, uint32_t places) {
    return q->first[step] + places - 1;
}

/* ---- groups of ranks: whose blocks a rank still adds up after so many steps of halving, or has
 * before so many of doubling ---- */

static bool are_together(const grid* q, uint32_t rank, uint32_t other, uint32_t steps) {
    return agree(q, rank, other, 0, steps);
}

/* How many of a rank's group there are before another rank. */
static uint32_t together_before(const grid* q, uint32_t rank, uint32_t end, uint32_t steps) {
    uint32_t count = 0;
    for (uint32_t n = 0; n < end; ++n) count += are_together(q, rank, n, steps);
    return count;
}

/* ---- the buffers ---- */

/* Goes through what a lane has of the blocks of a group, in pieces: where blocks follow each other
 * and channels have all of them, one piece is of several. */
typedef struct walk {
    uint32_t group, steps; /* that of a rank after so many steps */
    uint32_t rank;
    uint64_t before, left; /* bytes until the lane's part begins, and of it */
} walk;

static walk walk_of(const coll_builder* b, const grid* q, uint32_t lane, uint32_t group,
                    uint32_t steps) {
    const trn_coll_config* c = &b->coll->config;
    const uint64_t each = trn_coll_channel_share_of(b, trn_coll_block_of(c)).bytes;
    const coll_share part =
        trn_coll_part_of(together_before(q, group, c->ranks, steps) * each, b->coll->lanes, lane);
    return (walk){group, steps, 0, part.offset, part.bytes};
}

static bool next_piece(const coll_builder* b, const grid* q, walk* w, coll_share* piece) {
    const uint64_t block = trn_coll_block_of(&b->coll->config);
    const coll_share part = trn_coll_channel_share_of(b, block);
    *piece = (coll_share){0, 0};
    for (; w->left > 0; ++w->rank) {
        if (!are_together(q, w->group, w->rank, w->steps)) continue;
        if (w->before >= part.bytes) {
            w->before -= part.bytes;
            continue;
        }
        const uint64_t begin = w->rank * block + part.offset + w->before;
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

/* ---- the scratch buffer: first what twins give, then what each partner brings ---- */

static uint64_t of_twin(const trn_coll_config* c, const grid* q) {
    return q->width > 1 ? c->bytes : 0;
}

/* Whole buffers. */
static uint64_t doubling_slot(const trn_coll_config* c, const grid* q, uint32_t step,
                              uint32_t places) {
    return of_twin(c, q) + number_of(q, step, places) * c->bytes;
}

/* Where a partner's operand for some byte of the buffer is: the blocks of the rank's group after
 * the step, one after the other. */
static uint64_t halving_slot(const trn_coll_config* c, const grid* q, uint32_t rank, uint32_t step,
                             uint32_t places, uint64_t offset) {
    const uint64_t block = trn_coll_block_of(c);
    uint32_t blocks = 0, group = q->points * q->width;
    for (uint32_t n = 0; n < step; ++n) {
        group /= q->length[n];
        blocks += others(q, n) * group;
    }
    blocks += (places - 1) * (group / q->length[step]);
    blocks += together_before(q, rank, (uint32_t)(offset / block), step + 1);
    return of_twin(c, q) + blocks * block + offset % block;
}

/* ---- steps ---- */

/* Posts a semaphore of each partner of a step, after what the lane does for them. */
static void partners_have(coll_builder* b, const grid* q, uint32_t lane, uint32_t what,
                          uint32_t step) {
    for (uint32_t n = 1; n <= others(q, step); ++n) {
        const uint32_t semaphore = what + number_of(q, step, back(q, step, n));
        trn_coll_signal(&b->program, lane,
                        trn_coll_semaphore_of(b, partner_of(q, step, n), semaphore));
    }
}

/* Tells all partners that they may write here. An engine posts that many words sooner than a core,
 * which waits for each. */
static void greet(coll_builder* b, const grid* q) {
    for (uint32_t step = 0; step < q->steps; ++step) partners_have(b, q, 0, COLL_MET, step);
    trn_coll_advance(&b->program, 0);
}

static void wait_for_partners(coll_builder* b, const grid* q, uint32_t step) {
    for (uint32_t n = 1; n <= others(q, step); ++n)
        trn_coll_wait_for(b, COLL_MET + number_of(q, step, n), 1, partner_of(q, step, n));
}

/* What has come first is what those behind sent first. */
static void step_ends(coll_builder* b, const grid* q, uint32_t what, uint32_t step) {
    for (uint32_t n = others(q, step); n > 0; --n)
        trn_coll_wait_for(b, what + number_of(q, step, n), b->coll->lanes, partner_of(q, step, n));
    trn_coll_step_ends(b);
}

/* An addition writes to two places: where there are more, it is done again. The last place may be
 * an operand. */
static void combine_to(coll_builder* b, uint32_t lane, coll_reduction what, const uint64_t* to,
                       uint32_t count) {
    for (uint32_t n = 0; n < count; n += 2) {
        what.destinations[0] = to[n];
        what.destinations[1] = n + 1 < count ? to[n + 1] : 0;
        trn_coll_combine(b, lane, what);
    }
}

/* ---- twins ---- */

static void greet_twin(coll_builder* b, const grid* q) {
    trn_coll_notify(b, q->twin, COLL_READY);
    trn_coll_wait_for(b, COLL_READY, 1, q->twin);
}

static void notify_twin(coll_builder* b, const grid* q, uint32_t lane) {
    if (q->has_twin)
        trn_coll_signal(&b->program, lane, trn_coll_semaphore_of(b, q->twin, COLL_GIVEN));
}

static void twin_has_given(coll_builder* b, const grid* q) {
    trn_coll_wait_for(b, COLL_GIVEN, b->coll->lanes, q->twin);
    trn_coll_step_ends(b);
}

/* The twin's bytes are here when the first step begins. */
static void take_in_twin(coll_builder* b, const grid* q) {
    if (!q->has_twin) return;
    greet_twin(b, q);
    trn_coll_wait_for(b, COLL_GIVEN, b->coll->lanes, q->twin);
}

/* All that the channel has of a buffer, to the twin's. */
static void give(coll_builder* b, const grid* q, uint64_t to, uint64_t from) {
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        coll_share piece;
        for (walk w = walk_of(b, q, lane, 0, 0); next_piece(b, q, &w, &piece);)
            trn_coll_copy(&b->program, lane, to + piece.offset, from + piece.offset, piece.bytes);
        notify_twin(b, q, lane);
    }
    trn_coll_wait_all_sent(b);
}

/* Everything of the own input to the twin's scratch buffer; nothing more until the result. */
static void stand_aside(coll_builder* b, const grid* q) {
    greet_twin(b, q);
    give(b, q, scratch_at(b, q->twin, 0), own_member(b)->send);
    twin_has_given(b, q);
}

/* ---- doubling of sums ---- */

/* The own sum before a step: of what the partners of the one before had, in the order of their
 * digits, so that it is the same for all of them. `own`: where its own is. */
static coll_reduction sum_before(const coll_builder* b, const grid* q, uint32_t step, uint64_t own,
                                 coll_share part) {
    coll_reduction what = {.bytes = part.bytes};
    if (step == 0) {
        what.operands[what.operand_count++] = own + part.offset;
        if (q->has_twin) what.operands[what.operand_count++] = own_member(b)->scratch + part.offset;
        return what;
    }
    const uint32_t length = q->length[step - 1], digit = q->digit[step - 1][q->own];
    for (uint32_t n = 0; n < length; ++n) {
        const uint64_t slot =
            doubling_slot(&b->coll->config, q, step - 1, (n + length - digit) % length);
        what.operands[what.operand_count++] =
            part.offset + (n == digit ? own : own_member(b)->scratch + slot);
    }
    return what;
}

/* The sum to the own buffer and to twin. */
static void sum_is_done(coll_builder* b, const grid* q, uint32_t lane, coll_reduction what,
                        uint64_t offset) {
    uint64_t to[2] = {own_member(b)->receive + offset};
    if (q->has_twin) to[1] = receive_at(b, q->twin, offset);
    combine_to(b, lane, what, to, q->has_twin ? 2 : 1);
    notify_twin(b, q, lane);
}

/* Everything each time: few steps, many bytes. */
void trn_coll_doubling_all_reduce(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    const grid q = grid_of(b);
    if (q.aside) return stand_aside(b, &q);
    const trn_coll_member* own = own_member(b);
    uint64_t sum = own->send;
    trn_coll_exchange_begins(b);
    greet(b, &q);
    take_in_twin(b, &q);
    for (uint32_t step = 0; step < q.steps; ++step) {
        wait_for_partners(b, &q, step);
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            const coll_share part = trn_coll_whole_share_of(b, c->bytes, lane);
            const coll_reduction what = sum_before(b, &q, step, sum, part);
            uint64_t to[TRN_COMPUTE_OPERANDS];
            for (uint32_t n = 1; n <= others(&q, step); ++n)
                to[n - 1] = scratch_at(b, partner_of(&q, step, n),
                                       doubling_slot(c, &q, step, back(&q, step, n)) + part.offset);
            to[others(&q, step)] = own->receive + part.offset;
            combine_to(b, lane, what, to, others(&q, step) + (what.operand_count > 1));
            partners_have(b, &q, lane, COLL_DOUBLED, step);
            trn_coll_advance(&b->program, lane);
        }
        step_ends(b, &q, COLL_DOUBLED, step);
        if (step > 0 || q.has_twin) sum = own->receive;
    }
    if (trn_coll_exchanges(b)) {
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            const coll_share part = trn_coll_whole_share_of(b, c->bytes, lane);
            coll_reduction what = sum_before(b, &q, q.steps, sum, part);
            what.destinations[0] = trn_coll_own_slot(b) + part.offset;
            trn_coll_combine(b, lane, what);
        }
        trn_coll_wait_all_sent(b);
        trn_coll_exchange(b, trn_coll_channel_share_of(b, c->bytes));
    }
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share part = trn_coll_whole_share_of(b, c->bytes, lane);
        sum_is_done(b, &q, lane,
                    trn_coll_exchanges(b) ? trn_coll_sum_of_slots(b, part)
                                          : sum_before(b, &q, q.steps, sum, part),
                    part.offset);
    }
    trn_coll_wait_all_sent(b);
}

/* ---- halving ---- */

/* The sum of all that has come for a part of the buffer before a step: the own operand, the twin's,
 * then those of each step's partners, the next one first. */
static coll_reduction partial_sum(const coll_builder* b, const grid* q, uint32_t steps,
                                  coll_share part) {
    const trn_coll_config* c = &b->coll->config;
    const trn_coll_member* own = own_member(b);
    coll_reduction what = {.bytes = part.bytes};
    what.operands[what.operand_count++] = own->send + part.offset;
    if (q->has_twin) what.operands[what.operand_count++] = own->scratch + part.offset;
    for (uint32_t step = 0; step < steps; ++step)
        for (uint32_t n = 1; n <= others(q, step); ++n)
            what.operands[what.operand_count++] =
                own->scratch + halving_slot(c, q, q->own, step, n, part.offset);
    return what;
}

/* To each partner of a step what it still adds up. Afterwards everything for the blocks of the own
 * point is here. */
static void halve(coll_builder* b, const grid* q) {
    const trn_coll_config* c = &b->coll->config;
    greet(b, q);
    take_in_twin(b, q);
    for (uint32_t step = 0; step < q->steps; ++step) {
        wait_for_partners(b, q, step);
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            for (uint32_t n = 1; n <= others(q, step); ++n) {
                const uint32_t to = partner_of(q, step, n);
                coll_share piece;
                for (walk w = walk_of(b, q, lane, to, step + 1); next_piece(b, q, &w, &piece);) {
                    coll_reduction what = partial_sum(b, q, step, piece);
                    what.destinations[0] = scratch_at(
                        b, to, halving_slot(c, q, to, step, back(q, step, n), piece.offset));
                    trn_coll_combine(b, lane, what);
                }
            }
            partners_have(b, q, lane, COLL_HALVED, step);
            trn_coll_advance(&b->program, lane);
        }
        step_ends(b, q, COLL_HALVED, step);
    }
}

void trn_coll_halving_reduce_scatter(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    const grid q = grid_of(b);
    const uint64_t block = trn_coll_block_of(c);
    if (q.aside) return stand_aside(b, &q);
    halve(b, &q);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share part = trn_coll_whole_share_of(b, block, lane);
        for (uint32_t rank = c->rank; rank <= (q.has_twin ? q.twin : c->rank); ++rank) {
            const coll_share piece = {rank * block + part.offset, part.bytes};
            coll_reduction what = partial_sum(b, &q, q.steps, piece);
            what.destinations[0] = receive_at(b, rank, part.offset);
            trn_coll_combine(b, lane, what);
        }
        notify_twin(b, &q, lane);
    }
    trn_coll_wait_all_sent(b);
}

/* ---- doubling of blocks ---- */

/* Steps of halving backwards: to each partner what the rank has. */
static void gather(coll_builder* b, const grid* q, uint32_t steps, bool greets) {
    const uint64_t own = own_member(b)->receive;
    for (uint32_t step = steps; step-- > 0;) {
        if (greets) wait_for_partners(b, q, step);
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            for (uint32_t n = 1; n <= others(q, step); ++n) {
                const uint64_t to = receive_at(b, partner_of(q, step, n), 0);
                coll_share piece;
                for (walk w = walk_of(b, q, lane, q->own, step + 1); next_piece(b, q, &w, &piece);)
                    trn_coll_copy(&b->program, lane, to + piece.offset, own + piece.offset,
                                  piece.bytes);
            }
            partners_have(b, q, lane, COLL_DOUBLED, step);
            trn_coll_advance(&b->program, lane);
        }
        step_ends(b, q, COLL_DOUBLED, step);
    }
}

/* Where in the slot of an exchange a byte of the own point's blocks is: the channel's parts of them
 * follow each other. */
static coll_share in_slot(const coll_builder* b, const grid* q, coll_share piece) {
    const uint64_t block = trn_coll_block_of(&b->coll->config);
    const coll_share part = trn_coll_channel_share_of(b, block);
    const uint64_t number = piece.offset / block - q->own;
    return (coll_share){(q->has_twin ? 2 : 1) * part.offset + number * part.bytes +
                            piece.offset % block - part.offset,
                        piece.bytes};
}

/* Also to the own buffer, unless it comes from there; `to` has room for one more. */
static void combine_here_too(coll_builder* b, uint32_t lane, coll_reduction what, uint64_t* to,
                             uint32_t count, uint64_t offset) {
    to[count] = own_member(b)->receive + offset;
    combine_to(b, lane, what, to, count + (what.operands[0] != to[count]));
}

/* The first step of doubling, with something of the own blocks. */
static void spread(coll_builder* b, const grid* q, uint32_t lane, coll_reduction what,
                   uint64_t offset) {
    const uint32_t step = q->steps - 1, count = others(q, step);
    uint64_t to[TRN_COMPUTE_OPERANDS];
    for (uint32_t n = 1; n <= count; ++n) to[n - 1] = receive_at(b, partner_of(q, step, n), offset);
    combine_here_too(b, lane, what, to, count, offset);
}

static void spread_ends(coll_builder* b, const grid* q) {
    const uint32_t step = q->steps - 1;
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        partners_have(b, q, lane, COLL_DOUBLED, step);
    trn_coll_wait_all_sent(b); /* other lanes pass on what a lane has written here */
    step_ends(b, q, COLL_DOUBLED, step);
}

/* A twin gets the result. */
static void finish(coll_builder* b, const grid* q) {
    if (q->has_twin)
        give(b, q, receive_at(b, q->twin, 0), own_member(b)->receive);
    else
        trn_coll_wait_all_sent(b);
}

void trn_coll_halving_all_reduce(coll_builder* b) {
    const grid q = grid_of(b);
    const trn_coll_config* c = &b->coll->config;
    if (q.aside) return stand_aside(b, &q);
    coll_share piece;
    trn_coll_exchange_begins(b);
    halve(b, &q);
    if (trn_coll_exchanges(b)) {
        const coll_share part = trn_coll_channel_share_of(b, trn_coll_block_of(c));
        const uint32_t blocks = q.has_twin ? 2 : 1;
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
            for (walk w = walk_of(b, &q, lane, q.own, q.steps); next_piece(b, &q, &w, &piece);) {
                coll_reduction what = partial_sum(b, &q, q.steps, piece);
                what.destinations[0] = trn_coll_own_slot(b) + in_slot(b, &q, piece).offset;
                trn_coll_combine(b, lane, what);
            }
        trn_coll_wait_all_sent(b);
        trn_coll_exchange(b, (coll_share){blocks * part.offset, blocks * part.bytes});
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

/* A lane's part of the own block, to where all blocks are. */
static coll_reduction own_part(const coll_builder* b, uint32_t lane, uint64_t* offset) {
    const uint64_t block = trn_coll_block_of(&b->coll->config);
    const coll_share part = trn_coll_whole_share_of(b, block, lane);
    *offset = b->coll->config.rank * block + part.offset;
    return (coll_reduction){
        .bytes = part.bytes, .operands = {own_member(b)->send + part.offset}, .operand_count = 1};
}

/* The own block to twin, and to where all blocks are. */
static void keep_own_block(coll_builder* b, const grid* q) {
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        uint64_t offset, to[2];
        const coll_reduction what = own_part(b, lane, &offset);
        to[0] = receive_at(b, q->twin, offset);
        combine_here_too(b, lane, what, to, q->aside, offset);
        if (q->aside) notify_twin(b, q, lane);
    }
    trn_coll_wait_all_sent(b);
}

static void spread_own_block(coll_builder* b, const grid* q) {
    wait_for_partners(b, q, q->steps - 1);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        uint64_t offset;
        const coll_reduction what = own_part(b, lane, &offset);
        spread(b, q, lane, what, offset);
    }
    spread_ends(b, q);
}

void trn_coll_doubling_all_gather(coll_builder* b) {
    const grid q = grid_of(b);
    if (q.aside) {
        greet_twin(b, &q);
        keep_own_block(b, &q);
        return twin_has_given(b, &q);
    }
    greet(b, &q);
    take_in_twin(b, &q);
    if (q.has_twin)
        keep_own_block(b, &q);
    else
        spread_own_block(b, &q);
    gather(b, &q, q.has_twin ? q.steps : q.steps - 1, true);
    finish(b, &q);
}
