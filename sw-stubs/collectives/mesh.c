/* SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

/* Dissemination barrier: in each round a rank notifies the rank 2^round places ahead. */
void trn_coll_rounds(coll_builder* b) {
    const uint32_t ranks = b->coll->config.ranks;
    for (uint32_t round = 0; 1u << round < ranks; ++round) {
        trn_coll_notify(b, trn_coll_ahead(b->coll, 1u << round), COLL_ROUND + round);
        trn_coll_wait_for(b, COLL_ROUND + round, 1, trn_coll_ahead(b->coll, ranks - (1u << round)));
        trn_coll_step_ends(b);
    }
}

/* The receivers of a lane: every `every`-th other rank, each with its whole block, so that an
 * engine serves few ranks. With more lanes than ranks several lanes share a block. In an all-gather
 * across domains all lanes share each block, because bytes of other domains are divided among
 * channels. */
typedef struct fan {
    uint32_t first, every, count; /* indices of the other ranks */
    uint32_t parts, part;         /* of each block; part >= parts: the lane is unused */
    uint32_t begin;               /* first receiver; differs between lanes to use all links */
} fan;

static bool share_blocks(const coll_builder* b) {
    return trn_coll_exchanges(b) && !trn_coll_is_all_to_all(b->coll->config.op);
}

static fan fan_of(const coll_builder* b, uint32_t lane) {
    const uint32_t lanes = trn_coll_all_lanes(b->coll), others = b->coll->config.ranks - 1;
    const uint32_t number = trn_coll_lane_number(b, lane);
    const uint32_t max = share_blocks(b) ? 1 : others;
    const uint32_t groups = lanes < max ? lanes : max;
    const uint32_t first = number % groups, count = (others - first + groups - 1) / groups;
    const uint32_t begin = (number * count + lanes / 2) / lanes % count;
    return (fan){first, groups, count, lanes / groups, number / groups, begin};
}

/* Sends this lane's part of a rank's block. */
static void send_block(coll_builder* b, uint32_t lane, const fan* f, uint32_t receiver) {
    const trn_coll_config* c = &b->coll->config;
    const coll_share sent = trn_coll_sent(c, c->rank, receiver),
                     received = trn_coll_received(c, c->rank, receiver);
    const coll_share part = share_blocks(b) ? trn_coll_whole_share_of(b, sent.bytes, lane)
                                            : trn_coll_part_of(sent.bytes, f->parts, f->part);
    trn_coll_copy(
        &b->program, lane,
        trn_coll_on_chip(b, receiver, c->members[receiver].receive + received.offset + part.offset),
        c->members[c->rank].send + sent.offset + part.offset, part.bytes);
    trn_coll_signal(&b->program, lane, trn_coll_semaphore_of(b, receiver, COLL_DATA + lane));
}

/* Sends every block directly to its receiver. */
void trn_coll_mesh(coll_builder* b) {
    uint32_t ahead[TRN_COLL_RANKS], behind[TRN_COLL_RANKS];
    trn_coll_others(&b->coll->config, ahead, behind);
    trn_coll_rounds(b);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const fan f = fan_of(b, lane);
        if (f.part >= f.parts) continue;
        for (uint32_t n = 0; n < f.count; ++n)
            send_block(b, lane, &f, ahead[f.first + (f.begin + n) % f.count * f.every]);
        trn_coll_advance(&b->program, lane);
    }
    trn_coll_keep_own_block(b);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const fan f = fan_of(b, lane);
        if (f.part >= f.parts) continue;
        trn_coll_wait_for(b, COLL_DATA + lane, f.count, behind[f.first]);
    }
    trn_coll_step_ends(b);
    trn_coll_wait_all_sent(b);
}
