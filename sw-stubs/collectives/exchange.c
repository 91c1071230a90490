/* SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

/* Exchange between several domains in the middle of an algorithm: sums are exchanged, a broadcast
 * is relayed. Each rank works with the ranks of its position in the other domains. */

#define MAX_PIECES 8u /* of a relayed broadcast */

/* ---- ready and done ---- */

void trn_coll_announce_ready(coll_builder* b) {
    const trn_coll_config* c = &b->whole->config;
    for (uint32_t n = 1; n < c->domains; ++n)
        trn_coll_net_notify(b, trn_coll_peer_in(c, trn_coll_other_domain(c, n)), COLL_NET_READY);
    trn_coll_net_doorbell(b);
}

void trn_coll_wait_until_ready(coll_builder* b) {
    const trn_coll_config* c = &b->whole->config;
    trn_coll_net_wait_for(b, COLL_NET_READY, c->domains - 1,
                          trn_coll_peer_in(c, trn_coll_other_domain(c, 1)));
}

void trn_coll_wait_for_domain(coll_builder* b, uint32_t domain, uint64_t bytes) {
    trn_coll_net_wait_for(b, COLL_NET_DATA + domain, trn_coll_net_posts(bytes),
                          trn_coll_peer_in(&b->whole->config, domain));
    trn_coll_step_ends(b);
}

/* ---- sums ---- */

bool trn_coll_exchanges(const coll_builder* b) {
    return b->whole->config.domains > 1;
}

bool trn_coll_is_linked(const coll_builder* b, uint32_t rank) {
    const trn_coll_config* c = &b->whole->config;
    return !trn_coll_exchanges(b) || rank / trn_coll_ranks_of_domain(c) == trn_coll_own_domain(c);
}

void trn_coll_exchange_begins(coll_builder* b) {
    if (trn_coll_exchanges(b)) trn_coll_announce_ready(b);
}

uint64_t trn_coll_domain_slot(const coll_builder* b, uint32_t rank, uint32_t number) {
    const trn_coll_config* c = &b->whole->config;
    return c->members[rank].scratch + trn_coll_scratch_within(c) + number * trn_coll_slot_bytes(c);
}

uint64_t trn_coll_slot_of(const coll_builder* b, uint32_t rank) {
    return trn_coll_domain_slot(b, b->coll->first_rank + rank,
                                trn_coll_own_domain(&b->whole->config));
}

uint64_t trn_coll_own_slot(const coll_builder* b) {
    return trn_coll_slot_of(b, b->coll->config.rank);
}

void trn_coll_exchange(coll_builder* b, coll_share part) {
    const trn_coll_config* c = &b->whole->config;
    trn_coll_wait_until_ready(b);
    for (uint32_t n = 1; n < c->domains; ++n) {
        const uint32_t peer = trn_coll_peer_in(c, trn_coll_other_domain(c, n)),
                       own = trn_coll_own_domain(c);
        trn_coll_net_send(b, peer, COLL_NET_DATA + own,
                          trn_coll_domain_slot(b, peer, own) + part.offset,
                          trn_coll_own_slot(b) + part.offset, part.bytes);
    }
    trn_coll_net_doorbell(b);
    for (uint32_t n = 1; n < c->domains; ++n)
        trn_coll_wait_for_domain(b, trn_coll_other_domain(c, n), part.bytes);
}

/* Operands are in the order of domains, so that all ranks compute the same sum. */
coll_reduction trn_coll_sum_of_slots(const coll_builder* b, coll_share part) {
    const trn_coll_config* c = &b->whole->config;
    coll_reduction reduction = {.bytes = part.bytes};
    for (uint32_t n = 0; n < c->domains; ++n)
        reduction.operands[reduction.operand_count++] =
            trn_coll_domain_slot(b, c->rank, n) + part.offset;
    return reduction;
}

void trn_coll_add_slots(coll_builder* b, uint32_t lane, coll_share part, uint64_t destination,
                        uint64_t second) {
    coll_reduction reduction = trn_coll_sum_of_slots(b, part);
    reduction.destinations[0] = destination;
    reduction.destinations[1] = second;
    trn_coll_combine(b, lane, reduction);
}

/* ---- broadcast: the root's card writes pieces to the ranks of its position, which relay them */

static uint32_t root_domain(const trn_coll_config* c) {
    return c->root / trn_coll_ranks_of_domain(c);
}

/* Slices per piece. Each piece has a semaphore, and a work request per lane and domain. */
static uint32_t slices_of_piece(const coll_builder* b) {
    const trn_coll* coll = b->whole;
    const uint32_t requests = coll->lanes * (coll->config.domains - 1);
    uint32_t pieces = (TRN_COLL_QUEUE_ENTRIES - COLL_MAX_DOMAINS) / requests;
    if (pieces > MAX_PIECES) pieces = MAX_PIECES;
    return (coll->slices + pieces - 1) / pieces;
}

static coll_share piece_of(const coll_builder* b, uint32_t lane, uint32_t slice) {
    const trn_coll* coll = b->whole;
    const coll_share whole = trn_coll_whole_share_of(b, coll->config.bytes, lane);
    const uint32_t end_slice = slice + slices_of_piece(b);
    const coll_share first = trn_coll_part_of(whole.bytes, coll->slices, slice);
    const uint64_t end = end_slice < coll->slices
                             ? trn_coll_part_of(whole.bytes, coll->slices, end_slice).offset
                             : whole.bytes;
    return (coll_share){whole.offset + first.offset, end - first.offset};
}

bool trn_coll_relays(const coll_builder* b) {
    return trn_coll_exchanges(b) &&
           trn_coll_own_domain(&b->whole->config) != root_domain(&b->whole->config);
}

void trn_coll_relay_begins(coll_builder* b) {
    const trn_coll* coll = b->whole;
    const trn_coll_config* c = &coll->config;
    if (trn_coll_own_position(c) != c->root % trn_coll_ranks_of_domain(c)) return;
    if (c->rank != c->root) {
        trn_coll_net_notify(b, c->root, COLL_NET_READY);
        return trn_coll_net_doorbell(b);
    }
    trn_coll_wait_until_ready(b);
    for (uint32_t slice = 0; slice < coll->slices; slice += slices_of_piece(b))
        for (uint32_t n = 1; n < c->domains; ++n)
            for (uint32_t lane = 0; lane < coll->lanes; ++lane) {
                const uint32_t peer = trn_coll_peer_in(c, trn_coll_other_domain(c, n));
                const coll_share piece = piece_of(b, lane, slice);
                trn_coll_net_send(b, peer, COLL_NET_DATA + slice / slices_of_piece(b),
                                  c->members[peer].receive + piece.offset,
                                  c->members[c->rank].send + piece.offset, piece.bytes);
            }
    trn_coll_net_doorbell(b);
}

void trn_coll_relay_waits(coll_builder* b, uint32_t lane) {
    const uint32_t slices = slices_of_piece(b);
    if (lane != 0 || b->slice % slices != 0) return;
    uint32_t posts = 0;
    for (uint32_t n = 0; n < b->whole->lanes; ++n)
        posts += trn_coll_net_posts(piece_of(b, n, b->slice).bytes);
    trn_coll_net_wait_for(b, COLL_NET_DATA + b->slice / slices, posts, b->whole->config.root);
}
