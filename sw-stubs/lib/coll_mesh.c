/* SPDX-License-Identifier: Apache-2.0 */
#include "coll_builder.h"

/* Everybody has begun: in rounds, each with the rank twice as far ahead. */
void coll_rounds(coll_builder* b) {
    const uint32_t ranks = b->coll->config.ranks;
    for (uint32_t round = 0; 1u << round < ranks; ++round) {
        coll_tell(b, coll_ahead(b->coll, 1u << round), COLL_ROUND + round);
        coll_wait_for(b, COLL_ROUND + round, 1, coll_ahead(b->coll, ranks - (1u << round)));
        coll_step_ends(b);
    }
}

/* Everybody's block straight to everybody. */
void coll_mesh(coll_builder* b) {
    const uint32_t own = b->coll->config.rank, ranks = b->coll->config.ranks;
    const trn_coll_config* c = &b->coll->config;
    coll_rounds(b);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        for (uint32_t n = 1; n < ranks; ++n) {
            const uint32_t to = coll_ahead(b->coll, n);
            const coll_share sent = coll_sent(c, own, to);
            coll_copy_share(b, lane, sent, coll_receive_of(b, to, coll_received(c, own, to), lane),
                            coll_send_of(b, sent, lane));
            coll_signal(&b->program, lane, coll_semaphore_of(b, to, COLL_DATA + lane));
        }
        coll_advance(&b->program, lane);
    }
    coll_keep_own_block(b);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane)
        coll_wait_for(b, COLL_DATA + lane, ranks - 1, coll_ahead(b->coll, ranks - 1));
    coll_step_ends(b);
    coll_everything_sent(b);
}
