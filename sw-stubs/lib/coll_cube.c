/* SPDX-License-Identifier: Apache-2.0 */
#include "coll_builder.h"

/* Recursive doubling and halving. Ranks are the corners of a cube of as many dimensions as it
 * takes, and in each step a corner works with the one at the other end of an edge. Where ranks are
 * no power of two, some corners are two ranks that follow each other: the second one gives its
 * bytes to the first before the first step, stands aside, and gets the result after the last one.
 *
 * Corners are in the order of ranks, so what a group of neighbours has is one piece of the buffer.
 * A step ends when the partner's bytes have come and the own ones have gone. */

typedef struct cube {
    uint32_t corners, dimensions;
    uint32_t pairs; /* the first corners, each of two ranks */
    uint32_t own;   /* corner of this rank */
    uint32_t twin;  /* the other rank of the own corner */
    bool has_twin, aside;
} cube;

static cube cube_of(const trn_coll_config* c) {
    cube q = {.corners = 1};
    for (; 2 * q.corners <= c->ranks; q.corners *= 2) ++q.dimensions;
    q.pairs = c->ranks - q.corners;
    q.has_twin = c->rank < 2 * q.pairs;
    q.own = q.has_twin ? c->rank / 2 : c->rank - q.pairs;
    q.aside = q.has_twin && c->rank % 2 == 1;
    q.twin = c->rank ^ 1;
    return q;
}

/* The rank that works for a corner; also the first rank of those from that corner on. */
static uint32_t rank_of(const cube* q, uint32_t corner) {
    return corner < q->pairs ? 2 * corner : corner + q->pairs;
}

/* The blocks of all ranks of a corner's group of neighbours. */
static coll_share blocks_of(const coll_builder* b, const cube* q, uint32_t corner, uint32_t group) {
    const uint64_t block = coll_block_of(&b->coll->config);
    const uint32_t first = corner / group * group;
    const uint64_t begin = rank_of(q, first) * block;
    return (coll_share){begin, rank_of(q, first + group) * block - begin};
}

/* What a channel got in one step it sends on in the next ones, and channels do not wait for each
 * other: where there are several, each has its share of every block. One channel has what takes
 * fewest descriptors, a share of all blocks together, and so have those that double sums, which are
 * about the same bytes in every step. */
static uint32_t pieces_of(const coll_builder* b, coll_share all) {
    const trn_coll_config* c = &b->coll->config;
    const bool sums = c->op == TRN_COLL_ALL_REDUCE && c->algorithm == TRN_COLL_DOUBLING;
    return b->coll->channels == 1 || sums ? 1 : (uint32_t)(all.bytes / coll_block_of(c));
}

static coll_share piece_of(const coll_builder* b, coll_share all, uint32_t lane, uint32_t number) {
    const uint64_t each = all.bytes / pieces_of(b, all);
    const coll_share part = coll_whole_share_of(b, each, lane);
    return (coll_share){all.offset + number * each + part.offset, part.bytes};
}

/* Where there is one piece. */
static coll_share lane_part(const coll_builder* b, coll_share all, uint32_t lane) {
    return piece_of(b, all, lane, 0);
}

static const trn_coll_member* own_member(const coll_builder* b) {
    return &b->coll->members[b->coll->config.rank];
}

static uint64_t receive_at(const coll_builder* b, uint32_t rank, uint64_t offset) {
    return coll_on_chip(b, rank, b->coll->members[rank].receive + offset);
}
static uint64_t scratch_at(const coll_builder* b, uint32_t rank, uint64_t offset) {
    return coll_on_chip(b, rank, b->coll->members[rank].scratch + offset);
}

/* ---- the scratch buffer: first what twins give, then what each step brings ---- */

static uint64_t of_twin(const trn_coll_config* c, const cube* q) {
    return q->pairs ? c->bytes : 0;
}

/* Whole buffers. */
static uint64_t doubling_slot(const trn_coll_config* c, const cube* q, uint32_t step) {
    return of_twin(c, q) + step * c->bytes;
}

/* Half of what is left: the first corners have most. */
static uint64_t halving_slot(const trn_coll_config* c, const cube* q, uint32_t step) {
    uint64_t blocks = 0;
    for (uint32_t n = 0; n < step; ++n) blocks += rank_of(q, q->corners >> (n + 1));
    return of_twin(c, q) + blocks * coll_block_of(c);
}

uint64_t coll_cube_scratch(const trn_coll_config* config, trn_coll_algorithm algorithm) {
    const cube q = cube_of(config);
    return algorithm == TRN_COLL_DOUBLING ? doubling_slot(config, &q, q.dimensions)
                                          : halving_slot(config, &q, q.dimensions);
}

/* ---- steps ---- */

static void lane_goes(coll_builder* b, uint32_t lane, uint32_t step, uint32_t to) {
    coll_signal(&b->program, lane, coll_semaphore_of(b, to, COLL_STEP + step));
    coll_signal(&b->program, lane, coll_semaphore_of(b, b->coll->config.rank, COLL_SENT));
    coll_advance(&b->program, lane);
}

static void lanes_have_gone(coll_builder* b) {
    coll_wait_for(b, COLL_SENT, b->coll->lanes, b->coll->config.rank);
}

static void step_ends(coll_builder* b, uint32_t step, uint32_t from) {
    coll_wait_for(b, COLL_STEP + step, b->coll->lanes, from);
    lanes_have_gone(b);
    coll_step_ends(b);
}

/* Tells the partner of a step that it may write here. Of the next step while the bytes of this one
 * are on their way. */
static void greet(coll_builder* b, const cube* q, uint32_t step, uint32_t distance) {
    if (step < q->dimensions) coll_tell(b, rank_of(q, q->own ^ distance), COLL_ROUND + step);
}

static void greet_twin(coll_builder* b, const cube* q) {
    coll_tell(b, q->twin, COLL_READY);
    coll_wait_for(b, COLL_READY, 1, q->twin);
}

/* The twin's bytes are here when the first step begins. */
static void take_in_twin(coll_builder* b, const cube* q) {
    if (!q->has_twin) return;
    greet_twin(b, q);
    coll_wait_for(b, COLL_STEP, b->coll->lanes, q->twin);
}

/* Everything of the own input to the twin's scratch buffer. */
static void give_input_to_twin(coll_builder* b, const cube* q) {
    const coll_share all = {0, b->coll->config.bytes};
    greet_twin(b, q);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        for (uint32_t n = 0; n < pieces_of(b, all); ++n) {
            const coll_share part = piece_of(b, all, lane, n);
            coll_copy(&b->program, lane, scratch_at(b, q->twin, part.offset),
                      own_member(b)->send + part.offset, part.bytes);
        }
        lane_goes(b, lane, 0, q->twin);
    }
}

static void give_result_to_twin(coll_builder* b, const cube* q, uint32_t step) {
    const coll_share all = {0, b->coll->config.bytes};
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        for (uint32_t n = 0; n < pieces_of(b, all); ++n) {
            const coll_share part = piece_of(b, all, lane, n);
            coll_copy(&b->program, lane, receive_at(b, q->twin, part.offset),
                      own_member(b)->receive + part.offset, part.bytes);
        }
        lane_goes(b, lane, step, q->twin);
    }
    lanes_have_gone(b);
}

/* ---- doubling of sums ---- */

/* Everything each time: few steps, many bytes. Both ends of an edge add the same two operands, and
 * one addition goes to the own buffer and to the next partner. */
void coll_doubling_all_reduce(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    const cube q = cube_of(c);
    const coll_share all = {0, c->bytes};
    const uint32_t last = q.dimensions + 1;
    if (q.aside) {
        give_input_to_twin(b, &q);
        return step_ends(b, last, q.twin);
    }
    const trn_coll_member* own = own_member(b);
    uint64_t sum = own->send, come = q.has_twin ? own->scratch : 0;
    coll_exchange_begins(b);
    greet(b, &q, 0, 1);
    take_in_twin(b, &q);
    for (uint32_t n = 0; n < q.dimensions; ++n) {
        const uint32_t partner = rank_of(&q, q.own ^ 1u << n);
        const uint64_t slot = doubling_slot(c, &q, n);
        coll_wait_for(b, COLL_ROUND + n, 1, partner);
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            const coll_share part = lane_part(b, all, lane);
            const uint64_t to = scratch_at(b, partner, slot + part.offset);
            if (come)
                coll_combine(b, lane,
                             (coll_reduction){.bytes = part.bytes,
                                              .operands = {sum + part.offset, come + part.offset},
                                              .operand_count = 2,
                                              .destinations = {own->receive + part.offset, to}});
            else
                coll_copy(&b->program, lane, to, sum + part.offset, part.bytes);
            lane_goes(b, lane, 1 + n, partner);
        }
        greet(b, &q, n + 1, 2u << n);
        step_ends(b, 1 + n, partner);
        if (come) sum = own->receive;
        come = own->scratch + slot;
    }
    const bool across = coll_exchanges(b);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share part = lane_part(b, all, lane);
        coll_reduction what = {.bytes = part.bytes,
                               .operands = {sum + part.offset, come + part.offset},
                               .operand_count = 2};
        what.destinations[0] = (across ? coll_own_slot(b) : own->receive) + part.offset;
        if (q.has_twin && !across) what.destinations[1] = receive_at(b, q.twin, part.offset);
        coll_combine(b, lane, what);
    }
    if (across) {
        coll_everything_sent(b);
        coll_exchange(b, coll_channel_share_of(b, c->bytes));
    }
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share part = lane_part(b, all, lane);
        if (across)
            coll_add_slots(b, lane, part, own->receive + part.offset,
                           q.has_twin ? receive_at(b, q.twin, part.offset) : 0);
        if (q.has_twin)
            coll_signal(&b->program, lane, coll_semaphore_of(b, q.twin, COLL_STEP + last));
    }
    coll_everything_sent(b);
}

/* ---- halving: each end of an edge adds up one half of what both had ---- */

/* The sum of all that has come for a part of the buffer before that step. */
static void partial_sum(coll_builder* b, const cube* q, uint32_t lane, uint32_t step,
                        coll_share part, uint64_t to, uint64_t also_to) {
    const trn_coll_config* c = &b->coll->config;
    const trn_coll_member* own = own_member(b);
    coll_reduction what = {.bytes = part.bytes, .destinations = {to, also_to}};
    what.operands[what.operand_count++] = own->send + part.offset;
    if (q->has_twin) what.operands[what.operand_count++] = own->scratch + part.offset;
    for (uint32_t n = 0; n < step; ++n)
        what.operands[what.operand_count++] = own->scratch + halving_slot(c, q, n) + part.offset -
                                              blocks_of(b, q, q->own, q->corners >> (n + 1)).offset;
    coll_combine(b, lane, what);
}

/* Afterwards everything for the blocks of the own corner is here. */
static void halve(coll_builder* b, const cube* q) {
    greet(b, q, 0, q->corners / 2);
    take_in_twin(b, q);
    for (uint32_t n = 0; n < q->dimensions; ++n) {
        const uint32_t half = q->corners >> (n + 1), partner = rank_of(q, q->own ^ half);
        const coll_share theirs = blocks_of(b, q, q->own ^ half, half);
        const uint64_t slot = halving_slot(&b->coll->config, q, n);
        coll_wait_for(b, COLL_ROUND + n, 1, partner);
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            for (uint32_t i = 0; i < pieces_of(b, theirs); ++i) {
                const coll_share part = piece_of(b, theirs, lane, i);
                partial_sum(b, q, lane, n, part,
                            scratch_at(b, partner, slot + part.offset - theirs.offset), 0);
            }
            lane_goes(b, lane, 1 + n, partner);
        }
        greet(b, q, n + 1, half / 2);
        step_ends(b, 1 + n, partner);
    }
}

void coll_halving_reduce_scatter(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    const cube q = cube_of(c);
    const uint64_t block = coll_block_of(c);
    const uint32_t last = q.dimensions + 1;
    if (q.aside) {
        give_input_to_twin(b, &q);
        return step_ends(b, last, q.twin);
    }
    halve(b, &q);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share part = coll_whole_share_of(b, block, lane);
        const uint64_t mine = c->rank * block + part.offset;
        partial_sum(b, &q, lane, q.dimensions, (coll_share){mine, part.bytes},
                    own_member(b)->receive + part.offset, 0);
        if (!q.has_twin) continue;
        partial_sum(b, &q, lane, q.dimensions, (coll_share){mine + block, part.bytes},
                    receive_at(b, q.twin, part.offset), 0);
        coll_signal(&b->program, lane, coll_semaphore_of(b, q.twin, COLL_STEP + last));
    }
    coll_everything_sent(b);
}

/* ---- doubling of blocks ---- */

/* From the second step on: both ends of an edge have their groups' blocks and swap them. */
static void double_blocks(coll_builder* b, const cube* q, uint32_t first_step, bool greets) {
    for (uint32_t n = 1; n < q->dimensions; ++n) {
        const uint32_t partner = rank_of(q, q->own ^ 1u << n);
        const coll_share blocks = blocks_of(b, q, q->own, 1u << n);
        if (greets) coll_wait_for(b, COLL_ROUND + n, 1, partner);
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            for (uint32_t i = 0; i < pieces_of(b, blocks); ++i) {
                const coll_share part = piece_of(b, blocks, lane, i);
                coll_copy(&b->program, lane, receive_at(b, partner, part.offset),
                          own_member(b)->receive + part.offset, part.bytes);
            }
            lane_goes(b, lane, first_step + n, partner);
        }
        if (greets) greet(b, q, n + 1, 2u << n);
        step_ends(b, first_step + n, partner);
    }
    if (q->has_twin) give_result_to_twin(b, q, first_step + q->dimensions);
}

void coll_halving_all_reduce(coll_builder* b) {
    const cube q = cube_of(&b->coll->config);
    const uint32_t first = 1 + q.dimensions; /* step of the gathering half */
    if (q.aside) {
        give_input_to_twin(b, &q);
        return step_ends(b, first + q.dimensions, q.twin);
    }
    const uint32_t neighbour = rank_of(&q, q.own ^ 1);
    const coll_share mine = blocks_of(b, &q, q.own, 1);
    coll_exchange_begins(b);
    halve(b, &q);
    if (coll_exchanges(b)) {
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            const coll_share part = lane_part(b, mine, lane);
            partial_sum(b, &q, lane, q.dimensions, part,
                        coll_own_slot(b) + part.offset - mine.offset, 0);
        }
        coll_everything_sent(b);
        coll_exchange(b, (coll_share){0, mine.bytes});
    }
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        for (uint32_t n = 0; n < pieces_of(b, mine); ++n) {
            const coll_share part = piece_of(b, mine, lane, n);
            const uint64_t to = own_member(b)->receive + part.offset;
            const uint64_t also_to = receive_at(b, neighbour, part.offset);
            if (coll_exchanges(b))
                coll_add_slots(b, lane, (coll_share){part.offset - mine.offset, part.bytes}, to,
                               also_to);
            else
                partial_sum(b, &q, lane, q.dimensions, part, to, also_to);
        }
        lane_goes(b, lane, first, neighbour);
    }
    step_ends(b, first, neighbour);
    double_blocks(b, &q, first, false);
}

/* The own block, read once and written to the own buffer, unless it is there already, and to
 * another rank's. */
static void spread_own_block(coll_builder* b, uint32_t lane, uint32_t to) {
    const trn_coll_config* c = &b->coll->config;
    const uint64_t block = coll_block_of(c);
    const coll_share part = coll_whole_share_of(b, block, lane);
    const uint64_t offset = c->rank * block + part.offset;
    const uint64_t from = own_member(b)->send + part.offset;
    const uint64_t here = own_member(b)->receive + offset, there = receive_at(b, to, offset);
    coll_combine(b, lane,
                 (coll_reduction){.bytes = part.bytes,
                                  .operands = {from},
                                  .operand_count = 1,
                                  .destinations = {there, here == from ? 0 : here}});
}

void coll_doubling_all_gather(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    const cube q = cube_of(c);
    const uint64_t block = coll_block_of(c);
    if (q.aside) {
        greet_twin(b, &q);
        for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
            spread_own_block(b, lane, q.twin);
            lane_goes(b, lane, 0, q.twin);
        }
        return step_ends(b, 1 + q.dimensions, q.twin);
    }
    const uint32_t neighbour = rank_of(&q, q.own ^ 1);
    greet(b, &q, 0, 1);
    take_in_twin(b, &q);
    coll_wait_for(b, COLL_ROUND, 1, neighbour);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        spread_own_block(b, lane, neighbour);
        if (q.has_twin) {
            const coll_share part = lane_part(b, (coll_share){q.twin * block, block}, lane);
            coll_copy(&b->program, lane, receive_at(b, neighbour, part.offset),
                      own_member(b)->receive + part.offset, part.bytes);
        }
        lane_goes(b, lane, 1, neighbour);
    }
    greet(b, &q, 1, 2);
    step_ends(b, 1, neighbour);
    double_blocks(b, &q, 1, true);
}
