/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "builder.h"

/* Collectives over several domains (UltraServers or single servers), joined by EFA. Within a domain
 * the usual algorithms run; between domains, ranks of equal position exchange bytes, each over its
 * own card. */

/* The blocks of a domain's ranks, in the buffer of all blocks. */
static coll_share blocks_of(const trn_coll_config* c, uint32_t domain) {
    const uint32_t ranks = trn_coll_ranks_of_domain(c), first = domain * ranks;
    const coll_share begin = trn_coll_block(c, first), last = trn_coll_block(c, first + ranks - 1);
    return (coll_share){begin.offset, last.offset + last.bytes - begin.offset};
}

static uint64_t received_from(const trn_coll_config* c, uint32_t rank, uint32_t domain) {
    return trn_coll_received(c, domain * trn_coll_ranks_of_domain(c), rank).offset;
}

/* ---- the part of the own domain ---- */

typedef struct part_of_domain {
    trn_coll coll;
    trn_coll_member members[TRN_COLL_RANKS];
    uint32_t ring[TRN_COLL_RINGS * TRN_COLL_RANKS];
    uint64_t* counts; /* all-to-all-v: of each pair of ranks */
} part_of_domain;

static part_of_domain* make_part(coll_builder* b) {
    const trn_coll* whole = b->whole;
    const trn_coll_config* c = &whole->config;
    const uint32_t ranks = trn_coll_ranks_of_domain(c), first = trn_coll_own_domain(c) * ranks;
    const uint64_t pairs = c->op == TRN_COLL_ALL_TO_ALL_V ? (uint64_t)ranks * ranks : 1;
    part_of_domain* part = malloc(sizeof *part);
    if (part) part->counts = malloc(pairs * sizeof *part->counts);
    if (!part || !part->counts) {
        free(part);
        b->program.full = true;
        return NULL;
    }
    part->coll = *whole;
    part->coll.first_rank = first;
    part->coll.members = part->members;
    part->coll.ring = part->ring;
    part->coll.config.members = part->members;
    part->coll.config.ring = part->ring;
    part->coll.config.ranks = ranks;
    part->coll.config.rank = trn_coll_own_position(c);
    part->coll.config.root = c->root % ranks;
    part->coll.config.domains = 1;
    /* an all-reduce divides the whole buffer among the domain's ranks, other operations keep their
     * blocks */
    part->coll.config.block = c->op == TRN_COLL_ALL_REDUCE ? 0 : trn_coll_block_of(c);
    for (uint32_t n = 0, count = 0; n < trn_coll_rings_of(c) * c->ranks; ++n)
        if (whole->ring[n] / ranks == trn_coll_own_domain(c))
            part->ring[count++] = whole->ring[n] - first;
    trn_coll_find_positions(&part->coll);
    for (uint32_t n = 0; n < ranks; ++n) part->members[n] = c->members[first + n];
    return part;
}

/* All-gather, reduce-scatter or all-to-all in a domain of one rank: a copy. */
static void copy_alone(coll_builder* b) {
    const coll_share all = {0, b->coll->config.bytes};
    trn_coll_keep(b, all, all);
    trn_coll_wait_all_sent(b);
}

static void add_alone(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    const trn_coll_member* own = &c->members[c->rank];
    trn_coll_exchange_begins(b);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share part = trn_coll_whole_share_of(b, c->bytes, lane);
        trn_coll_copy(&b->program, lane, trn_coll_own_slot(b) + part.offset,
                      own->send + part.offset, part.bytes);
    }
    trn_coll_wait_all_sent(b);
    trn_coll_exchange(b, trn_coll_channel_share_of(b, c->bytes));
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share part = trn_coll_whole_share_of(b, c->bytes, lane);
        trn_coll_add_slots(b, lane, part, own->receive + part.offset, 0);
    }
    trn_coll_wait_all_sent(b);
}

static void run_within_domain(coll_builder* b, part_of_domain* part) {
    const trn_coll_config* c = &part->coll.config;
    b->coll = &part->coll;
    if (c->ranks > 1 || c->op == TRN_COLL_BROADCAST)
        trn_coll_algorithm_of(c->op, c->algorithm)(b);
    else if (c->op == TRN_COLL_ALL_REDUCE)
        add_alone(b);
    else if (c->op != TRN_COLL_BARRIER)
        copy_alone(b);
    b->coll = b->whole;
}

/* ---- operations ---- */

/* Sets the collective within the own domain to the blocks of `domain`. */
static void select_blocks_of(const coll_builder* b, part_of_domain* part, uint32_t domain) {
    const trn_coll_config* c = &b->whole->config;
    part->coll.config.bytes = blocks_of(c, domain).bytes;
    if (trn_coll_has_counts(c->op))
        part->coll.config.counts = c->counts + (uint64_t)domain * trn_coll_ranks_of_domain(c);
}

/* Sends each rank's block to the other domains. Meanwhile the own domain gathers its blocks, then
 * those of each other domain as they arrive, from and to the receive buffer. */
static void all_gather(coll_builder* b, part_of_domain* part) {
    const trn_coll_config* c = &b->whole->config;
    const coll_share block = trn_coll_block(c, c->rank);
    const coll_share mine = trn_coll_channel_share_of(b, block.bytes);
    const uint64_t offset = block.offset + mine.offset;
    trn_coll_announce_ready(b);
    trn_coll_wait_until_ready(b);
    for (uint32_t n = 1; n < c->domains; ++n) {
        const uint32_t peer = trn_coll_peer_in(c, trn_coll_other_domain(c, n));
        trn_coll_net_send(b, peer, COLL_NET_DATA + trn_coll_own_domain(c),
                          c->members[peer].receive + offset, c->members[c->rank].send + mine.offset,
                          mine.bytes);
    }
    trn_coll_net_doorbell(b);
    for (uint32_t n = 0; n < c->domains; ++n) {
        const uint32_t domain = trn_coll_other_domain(c, n);
        const uint64_t theirs = trn_coll_block(c, trn_coll_peer_in(c, domain)).bytes;
        if (n > 0) trn_coll_wait_for_domain(b, domain, trn_coll_channel_share_of(b, theirs).bytes);
        select_blocks_of(b, part, domain);
        for (uint32_t i = 0; i < part->coll.config.ranks; ++i) {
            trn_coll_member* member = &part->members[i];
            const trn_coll_member* original = &c->members[part->coll.first_rank + i];
            member->receive = original->receive + blocks_of(c, domain).offset;
            member->send = n > 0 ? member->receive + trn_coll_block(&part->coll.config, i).offset
                                 : original->send;
        }
        run_within_domain(b, part);
    }
}

/* Reduces the other domains' parts of the buffer first, so that their sums are in flight while the
 * own part is reduced. */
static void reduce_scatter(coll_builder* b, part_of_domain* part) {
    const trn_coll_config* c = &b->whole->config;
    const uint64_t block = trn_coll_block(c, c->rank).bytes;
    const uint32_t own = trn_coll_own_domain(c);
    const bool is_grid = trn_coll_is_grid(c);
    trn_coll_announce_ready(b);
    for (uint32_t n = 1; n <= c->domains; ++n) {
        const uint32_t domain = trn_coll_other_domain(c, n), peer = trn_coll_peer_in(c, domain);
        const uint32_t slot = domain == own ? own : c->domains + domain;
        select_blocks_of(b, part, domain);
        for (uint32_t i = 0; i < part->coll.config.ranks; ++i) {
            const trn_coll_member* original = &c->members[part->coll.first_rank + i];
            part->members[i].send = original->send + blocks_of(c, domain).offset;
            part->members[i].receive = trn_coll_domain_slot(b, part->coll.first_rank + i, slot);
            /* Channels do not wait for each other: ring channels may be at blocks of different
             * domains, whose sizes differ. */
            if (!is_grid)
                part->members[i].scratch = original->scratch + blocks_of(c, domain).offset;
        }
        run_within_domain(b, part);
        if (domain == own) continue;
        if (n == 1) trn_coll_wait_until_ready(b);
        const coll_share theirs = trn_coll_channel_share_of(b, trn_coll_block(c, peer).bytes);
        trn_coll_net_send(b, peer, COLL_NET_DATA + own,
                          trn_coll_domain_slot(b, peer, own) + theirs.offset,
                          trn_coll_domain_slot(b, c->rank, slot) + theirs.offset, theirs.bytes);
        trn_coll_net_doorbell(b);
    }
    for (uint32_t n = 1; n < c->domains; ++n)
        trn_coll_wait_for_domain(b, trn_coll_other_domain(c, n),
                                 trn_coll_channel_share_of(b, block).bytes);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share share = trn_coll_whole_share_of(b, block, lane);
        trn_coll_add_slots(b, lane, share, c->members[c->rank].receive + share.offset, 0);
    }
    trn_coll_wait_all_sent(b);
}

/* Sets the all-to-all within the own domain to the blocks that come from `domain`'s ranks; the rank
 * of equal position here sends them. */
static void select_pairs_of(const coll_builder* b, part_of_domain* part, uint32_t domain) {
    const trn_coll_config* c = &b->whole->config;
    const uint32_t ranks = trn_coll_ranks_of_domain(c), first = part->coll.first_rank;
    if (c->op != TRN_COLL_ALL_TO_ALL_V) {
        part->coll.config.bytes = blocks_of(c, trn_coll_own_domain(c)).bytes;
        return;
    }
    for (uint32_t sender = 0; sender < ranks; ++sender)
        for (uint32_t receiver = 0; receiver < ranks; ++receiver)
            part->counts[sender * ranks + receiver] =
                c->counts[(uint64_t)(domain * ranks + sender) * c->ranks + first + receiver];
    part->coll.config.counts = part->counts;
    part->coll.config.bytes = trn_coll_counted_bytes(&part->coll.config);
}

/* Channel 0 receives the bytes of all domains and notifies the other channels. */
static void exchange_all(coll_builder* b) {
    const trn_coll_config* c = &b->whole->config;
    const uint32_t own = trn_coll_own_domain(c);
    if (b->channel != 0) return;
    trn_coll_announce_ready(b);
    trn_coll_wait_until_ready(b);
    for (uint32_t n = 1; n < c->domains; ++n) {
        const uint32_t peer = trn_coll_peer_in(c, trn_coll_other_domain(c, n));
        const coll_share sent = trn_coll_sent_to_domain(c, c->rank, trn_coll_other_domain(c, n));
        trn_coll_net_send(b, peer, COLL_NET_DATA + own,
                          c->members[peer].scratch + own * trn_coll_slot_bytes(c),
                          c->members[c->rank].send + sent.offset, sent.bytes);
    }
    trn_coll_net_doorbell(b);
}

static void wait_for_all_of(coll_builder* b, uint32_t domain) {
    const trn_coll_config* c = &b->whole->config;
    const uint32_t peer = trn_coll_peer_in(c, domain), semaphore = COLL_NET_DATA + domain;
    const uint64_t bytes = trn_coll_sent_to_domain(c, peer, trn_coll_own_domain(c)).bytes;
    trn_coll_net_wait_for(b, semaphore, b->channel == 0 ? trn_coll_net_posts(bytes) : 1, peer);
    for (uint32_t n = 1; b->channel == 0 && n < b->whole->channels; ++n)
        trn_coll_post(&b->program, trn_coll_semaphore_of_channel(b, n, semaphore));
    trn_coll_step_ends(b);
}

/* A rank sends all its bytes for a domain to the rank of its position there, which distributes
 * them. */
static void all_to_all(coll_builder* b, part_of_domain* part) {
    const trn_coll_config* c = &b->whole->config;
    const uint32_t own = trn_coll_own_domain(c);
    const uint64_t slot = trn_coll_slot_bytes(c);
    exchange_all(b);
    for (uint32_t n = 0; n < c->domains; ++n) {
        const uint32_t domain = trn_coll_other_domain(c, n);
        if (n > 0) wait_for_all_of(b, domain);
        select_pairs_of(b, part, domain);
        for (uint32_t i = 0; i < part->coll.config.ranks; ++i) {
            const uint32_t rank = part->coll.first_rank + i;
            const trn_coll_member* original = &c->members[rank];
            part->members[i].receive = original->receive + received_from(c, rank, domain);
            part->members[i].send =
                n > 0 ? original->scratch + domain * slot
                      : original->send + trn_coll_sent_to_domain(c, rank, own).offset;
        }
        run_within_domain(b, part);
    }
}

/* After a barrier within the domain, each rank notifies the ranks of its position. */
static void barrier(coll_builder* b, part_of_domain* part) {
    const trn_coll_config* c = &b->whole->config;
    run_within_domain(b, part);
    for (uint32_t n = 1; n < c->domains; ++n)
        trn_coll_net_notify(b, trn_coll_peer_in(c, trn_coll_other_domain(c, n)),
                            COLL_NET_DATA + trn_coll_own_domain(c));
    trn_coll_net_doorbell(b);
    for (uint32_t n = 1; n < c->domains; ++n)
        trn_coll_wait_for_domain(b, trn_coll_other_domain(c, n), 0);
}

void trn_coll_across_domains(coll_builder* b) {
    part_of_domain* part = make_part(b);
    if (!part) return;
    switch (b->whole->config.op) {
    case TRN_COLL_ALL_GATHER:
    case TRN_COLL_ALL_GATHER_V:
        all_gather(b, part);
        break;
    case TRN_COLL_REDUCE_SCATTER:
    case TRN_COLL_REDUCE_SCATTER_V:
        reduce_scatter(b, part);
        break;
    case TRN_COLL_ALL_TO_ALL:
    case TRN_COLL_ALL_TO_ALL_V:
        all_to_all(b, part);
        break;
    case TRN_COLL_BARRIER:
        barrier(b, part);
        break;
    case TRN_COLL_BROADCAST:
        trn_coll_relay_begins(b);
        run_within_domain(b, part);
        break;
    case TRN_COLL_PERMUTE:
        trn_coll_ring_permute(b);
        break;
    default: /* an all-reduce, which exchanges in its middle */
        run_within_domain(b, part);
        break;
    }
    trn_coll_net_ends(b);
    free(part->counts);
    free(part);
}
