/* SPDX-License-Identifier: Apache-2.0 */
#include "coll_builder.h"

/* What algorithms do in their middle where there are several domains: sums are exchanged, and a
 * broadcast is relayed. Each rank works with those of its position in the other domains. */

#define MAX_PIECES 8u /* of a relayed broadcast */

/* ---- ready and done ---- */

void coll_announce_ready(coll_builder* b) {
    const trn_coll_config* c = &b->whole->config;
    coll_net_begins(b);
    for (uint32_t n = 1; n < c->domains; ++n)
        coll_net_tell(b, coll_peer_in(c, coll_other_domain(c, n)), COLL_NET_READY);
    coll_net_doorbell(b);
}

void coll_wait_until_ready(coll_builder* b) {
    const trn_coll_config* c = &b->whole->config;
    coll_net_wait_for(b, COLL_NET_READY, c->domains - 1, coll_peer_in(c, coll_other_domain(c, 1)));
}

void coll_wait_for_domain(coll_builder* b, uint32_t domain, uint64_t bytes) {
    coll_net_wait_for(b, COLL_NET_DATA + domain, coll_net_posts(bytes),
                      coll_peer_in(&b->whole->config, domain));
    coll_step_ends(b);
}

/* ---- sums ---- */

bool coll_exchanges(const coll_builder* b) {
    return b->whole->config.domains > 1;
}

bool coll_is_beside(const coll_builder* b, uint32_t rank) {
    const trn_coll_config* c = &b->whole->config;
    return !coll_exchanges(b) || rank / coll_ranks_of_domain(c) == coll_own_domain(c);
}

void coll_exchange_begins(coll_builder* b) {
    if (coll_exchanges(b)) coll_announce_ready(b);
}

uint64_t coll_domain_slot(const coll_builder* b, uint32_t rank, uint32_t number) {
    const trn_coll_config* c = &b->whole->config;
    return c->members[rank].scratch + coll_scratch_within(c) + number * coll_slot_bytes(c);
}

uint64_t coll_slot_of(const coll_builder* b, uint32_t rank) {
    return coll_domain_slot(b, b->coll->first_rank + rank, coll_own_domain(&b->whole->config));
}

uint64_t coll_own_slot(const coll_builder* b) {
    return coll_slot_of(b, b->coll->config.rank);
}

void coll_exchange(coll_builder* b, coll_share part) {
    const trn_coll_config* c = &b->whole->config;
    coll_wait_until_ready(b);
    for (uint32_t n = 1; n < c->domains; ++n) {
        const uint32_t to = coll_peer_in(c, coll_other_domain(c, n)), own = coll_own_domain(c);
        coll_net_send(b, to, COLL_NET_DATA + own, coll_domain_slot(b, to, own) + part.offset,
                      coll_own_slot(b) + part.offset, part.bytes);
    }
    coll_net_doorbell(b);
    for (uint32_t n = 1; n < c->domains; ++n)
        coll_wait_for_domain(b, coll_other_domain(c, n), part.bytes);
}

/* In the order of domains, so that everybody has the same sum. */
coll_reduction coll_sum_of_slots(const coll_builder* b, coll_share part) {
    const trn_coll_config* c = &b->whole->config;
    coll_reduction what = {.bytes = part.bytes};
    for (uint32_t n = 0; n < c->domains; ++n)
        what.operands[what.operand_count++] = coll_domain_slot(b, c->rank, n) + part.offset;
    return what;
}

void coll_add_slots(coll_builder* b, uint32_t lane, coll_share part, uint64_t to,
                    uint64_t also_to) {
    coll_reduction what = coll_sum_of_slots(b, part);
    what.destinations[0] = to;
    what.destinations[1] = also_to;
    coll_combine(b, lane, what);
}

/* ---- broadcast: the root's card brings pieces to the ranks of its position, who pass them on */

static uint32_t root_domain(const trn_coll_config* c) {
    return c->root / coll_ranks_of_domain(c);
}

/* Slices of a piece: each piece has a semaphore, and as many requests as lanes and domains. */
static uint32_t slices_of_piece(const coll_builder* b) {
    const trn_coll* coll = b->whole;
    const uint32_t requests = coll->lanes * (coll->config.domains - 1);
    uint32_t pieces = (TRN_COLL_QUEUE_ENTRIES - COLL_MAX_DOMAINS) / requests;
    if (pieces > MAX_PIECES) pieces = MAX_PIECES;
    return (coll->slices + pieces - 1) / pieces;
}

static coll_share piece_of(const coll_builder* b, uint32_t lane, uint32_t slice) {
    const trn_coll* coll = b->whole;
    const coll_share whole = coll_whole_share_of(b, coll->config.bytes, lane);
    const uint32_t behind = slice + slices_of_piece(b);
    const coll_share first = coll_part_of(whole.bytes, coll->slices, slice);
    const uint64_t end = behind < coll->slices
                             ? coll_part_of(whole.bytes, coll->slices, behind).offset
                             : whole.bytes;
    return (coll_share){whole.offset + first.offset, end - first.offset};
}

bool coll_relays(const coll_builder* b) {
    return coll_exchanges(b) &&
           coll_own_domain(&b->whole->config) != root_domain(&b->whole->config);
}

void coll_relay_begins(coll_builder* b) {
    const trn_coll* coll = b->whole;
    const trn_coll_config* c = &coll->config;
    if (coll_own_position(c) != c->root % coll_ranks_of_domain(c)) return;
    coll_net_begins(b);
    if (c->rank != c->root) {
        coll_net_tell(b, c->root, COLL_NET_READY);
        return coll_net_doorbell(b);
    }
    coll_wait_until_ready(b);
    for (uint32_t slice = 0; slice < coll->slices; slice += slices_of_piece(b))
        for (uint32_t n = 1; n < c->domains; ++n)
            for (uint32_t lane = 0; lane < coll->lanes; ++lane) {
                const uint32_t to = coll_peer_in(c, coll_other_domain(c, n));
                const coll_share piece = piece_of(b, lane, slice);
                coll_net_send(b, to, COLL_NET_DATA + slice / slices_of_piece(b),
                              c->members[to].receive + piece.offset,
                              c->members[c->rank].send + piece.offset, piece.bytes);
            }
    coll_net_doorbell(b);
}

void coll_relay_waits(coll_builder* b, uint32_t lane) {
    const uint32_t slices = slices_of_piece(b);
    if (lane != 0 || b->slice % slices != 0) return;
    uint32_t posts = 0;
    for (uint32_t n = 0; n < b->whole->lanes; ++n)
        posts += coll_net_posts(piece_of(b, n, b->slice).bytes);
    coll_net_wait_for(b, COLL_NET_DATA + b->slice / slices, posts, b->whole->config.root);
}
