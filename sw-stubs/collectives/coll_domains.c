/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "coll_builder.h"

/* Collectives over several domains, which EFA joins: UltraServers, or servers alone. Within a
 * domain a collective is what it is elsewhere; from domain to domain bytes go between the ranks of
 * equal position, each over its own card. */

/* ---- who is who ---- */

uint32_t coll_ranks_of_domain(const trn_coll_config* c) {
    return c->domains > 1 ? c->ranks / c->domains : c->ranks;
}
static uint32_t own_domain(const trn_coll_config* c) {
    return c->rank / coll_ranks_of_domain(c);
}
static uint32_t own_position(const trn_coll_config* c) {
    return c->rank % coll_ranks_of_domain(c);
}
/* The rank of the own position in a domain. */
static uint32_t peer_in(const trn_coll_config* c, uint32_t domain) {
    return domain * coll_ranks_of_domain(c) + own_position(c);
}
/* The other domains, the next one first: n from 1 on. */
static uint32_t other_domain(const trn_coll_config* c, uint32_t n) {
    return (own_domain(c) + n) % c->domains;
}

bool coll_is_beside(const coll_builder* b, uint32_t rank) {
    const trn_coll_config* c = &b->whole->config;
    return !coll_exchanges(b) || rank / coll_ranks_of_domain(c) == own_domain(c);
}

bool coll_is_all_to_all(trn_coll_op op) {
    return op == TRN_COLL_ALL_TO_ALL || op == TRN_COLL_ALL_TO_ALL_V;
}
static bool scatters(const trn_coll_config* c) {
    return c->op == TRN_COLL_REDUCE_SCATTER || c->op == TRN_COLL_REDUCE_SCATTER_V;
}

/* The blocks of a domain's ranks, of the buffer that has all. */
static coll_share blocks_of(const trn_coll_config* c, uint32_t domain) {
    const uint32_t ranks = coll_ranks_of_domain(c), first = domain * ranks;
    const coll_share begin = coll_block(c, first), last = coll_block(c, first + ranks - 1);
    return (coll_share){begin.offset, last.offset + last.bytes - begin.offset};
}

/* Of an all-to-all: what a rank sends to a domain's ranks, and gets from them. */
static coll_share sent_to(const trn_coll_config* c, uint32_t rank, uint32_t domain) {
    const uint32_t ranks = coll_ranks_of_domain(c), first = domain * ranks;
    const coll_share begin = coll_sent(c, rank, first),
                     last = coll_sent(c, rank, first + ranks - 1);
    return (coll_share){begin.offset, last.offset + last.bytes - begin.offset};
}
static uint64_t received_from(const trn_coll_config* c, uint32_t rank, uint32_t domain) {
    return coll_received(c, domain * coll_ranks_of_domain(c), rank).offset;
}

/* ---- the scratch buffer: what the algorithm needs within the domain, then a slot for what comes
 * of each domain, and for a reduce-scatter one for what goes to each ---- */

static uint64_t largest_sent(const trn_coll_config* c) {
    uint64_t most = 0;
    for (uint32_t rank = 0; rank < c->ranks; ++rank)
        for (uint32_t domain = 0; domain < c->domains; ++domain) {
            const uint64_t bytes = sent_to(c, rank, domain).bytes;
            if (bytes > most) most = bytes;
        }
    return most;
}

static uint64_t slot_bytes(const trn_coll_config* c) {
    const uint32_t ranks = coll_ranks_of_domain(c);
    switch (c->op) {
    case TRN_COLL_ALL_REDUCE:
        if (ranks == 1 || trn_coll_choose(c) == TRN_COLL_DOUBLING) return c->bytes;
        /* two ranks that are one point of a grid have two blocks */
        return c->bytes / ranks * (trn_coll_choose(c) == TRN_COLL_HALVING ? 2 : 1);
    case TRN_COLL_REDUCE_SCATTER:
    case TRN_COLL_REDUCE_SCATTER_V:
        return coll_block_of(c);
    case TRN_COLL_ALL_TO_ALL_V:
        return largest_sent(c);
    default: /* all-to-all */
        return c->bytes / c->domains;
    }
}

static uint64_t scratch_within(const trn_coll_config* c) {
    if (coll_is_all_to_all(c->op)) return 0;
    trn_coll_config part = *c;
    part.algorithm = trn_coll_choose(c);
    part.ranks = coll_ranks_of_domain(c);
    part.rank = own_position(c);
    if (!coll_is_grid(c->op, part.algorithm)) return c->bytes;
    if (scatters(c)) part.bytes = part.ranks * coll_block_of(c);
    trn_coll_grid grid;
    trn_coll_get_grid(c, &grid);
    return coll_grid_scratch(&part, &grid, part.algorithm);
}

uint64_t coll_domains_scratch(const trn_coll_config* c) {
    const uint32_t slots = scatters(c) ? 2 * c->domains : c->domains;
    return scratch_within(c) + slots * slot_bytes(c);
}

static uint64_t slot_of(const coll_builder* b, uint32_t rank, uint32_t number) {
    const trn_coll_config* c = &b->whole->config;
    return c->members[rank].scratch + scratch_within(c) + number * slot_bytes(c);
}

/* ---- the exchange of an all-reduce ---- */

static void everybody_is_told(coll_builder* b) {
    const trn_coll_config* c = &b->whole->config;
    coll_net_begins(b);
    for (uint32_t n = 1; n < c->domains; ++n)
        coll_net_tell(b, peer_in(c, other_domain(c, n)), COLL_NET_READY);
    coll_net_doorbell(b);
}

static void everybody_is_ready(coll_builder* b) {
    const trn_coll_config* c = &b->whole->config;
    coll_net_wait_for(b, COLL_NET_READY, c->domains - 1, peer_in(c, other_domain(c, 1)));
}

static void wait_for_domain(coll_builder* b, uint32_t domain, uint64_t bytes) {
    coll_net_wait_for(b, COLL_NET_DATA + domain, coll_net_posts(bytes),
                      peer_in(&b->whole->config, domain));
    coll_step_ends(b);
}

bool coll_exchanges(const coll_builder* b) {
    return b->whole->config.domains > 1;
}

void coll_exchange_begins(coll_builder* b) {
    if (coll_exchanges(b)) everybody_is_told(b);
}

uint64_t coll_slot_of(const coll_builder* b, uint32_t rank) {
    return slot_of(b, b->coll->first_rank + rank, own_domain(&b->whole->config));
}
uint64_t coll_own_slot(const coll_builder* b) {
    return coll_slot_of(b, b->coll->config.rank);
}

void coll_exchange(coll_builder* b, coll_share part) {
    const trn_coll_config* c = &b->whole->config;
    everybody_is_ready(b);
    for (uint32_t n = 1; n < c->domains; ++n) {
        const uint32_t to = peer_in(c, other_domain(c, n)), own = own_domain(c);
        coll_net_send(b, to, COLL_NET_DATA + own, slot_of(b, to, own) + part.offset,
                      coll_own_slot(b) + part.offset, part.bytes);
    }
    coll_net_doorbell(b);
    for (uint32_t n = 1; n < c->domains; ++n) wait_for_domain(b, other_domain(c, n), part.bytes);
}

/* In the order of domains, so that everybody has the same sum. */
coll_reduction coll_sum_of_slots(const coll_builder* b, coll_share part) {
    const trn_coll_config* c = &b->whole->config;
    coll_reduction what = {.bytes = part.bytes};
    for (uint32_t n = 0; n < c->domains; ++n)
        what.operands[what.operand_count++] = slot_of(b, c->rank, n) + part.offset;
    return what;
}

void coll_add_slots(coll_builder* b, uint32_t lane, coll_share part, uint64_t to,
                    uint64_t also_to) {
    coll_reduction what = coll_sum_of_slots(b, part);
    what.destinations[0] = to;
    what.destinations[1] = also_to;
    coll_combine(b, lane, what);
}

/* ---- the part of the own domain ---- */

typedef struct part_of_domain {
    trn_coll coll;
    trn_coll_member members[TRN_COLL_RANKS];
    uint32_t ring[TRN_COLL_RINGS * TRN_COLL_RANKS];
    uint64_t* counts; /* of an all-to-all-v: from each to each */
} part_of_domain;

static part_of_domain* make_part(coll_builder* b) {
    const trn_coll* whole = b->whole;
    const trn_coll_config* c = &whole->config;
    const uint32_t ranks = coll_ranks_of_domain(c), first = own_domain(c) * ranks;
    part_of_domain* part = malloc(sizeof *part);
    if (!part) {
        b->program.full = true;
        return NULL;
    }
    const uint64_t pairs = c->op == TRN_COLL_ALL_TO_ALL_V ? (uint64_t)ranks * ranks : 1;
    part->counts = malloc(pairs * sizeof *part->counts);
    if (!part->counts) {
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
    part->coll.config.rank = own_position(c);
    part->coll.config.root = c->root % ranks;
    part->coll.config.domains = 1;
    for (uint32_t n = 0, at = 0; n < coll_rings_of(c) * c->ranks; ++n)
        if (whole->ring[n] / ranks == own_domain(c)) part->ring[at++] = whole->ring[n] - first;
    coll_find_positions(&part->coll);
    for (uint32_t n = 0; n < ranks; ++n) part->members[n] = c->members[first + n];
    return part;
}

/* What is left of an all-gather, a reduce-scatter or an all-to-all with oneself. */
static void keep_everything(coll_builder* b) {
    const coll_share all = {0, b->coll->config.bytes};
    coll_keep(b, all, all);
    coll_everything_sent(b);
}

static void add_alone(coll_builder* b) {
    const trn_coll_config* c = &b->coll->config;
    const trn_coll_member* own = &c->members[c->rank];
    coll_exchange_begins(b);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share part = coll_whole_share_of(b, c->bytes, lane);
        coll_copy(&b->program, lane, coll_own_slot(b) + part.offset, own->send + part.offset,
                  part.bytes);
    }
    coll_everything_sent(b);
    coll_exchange(b, coll_channel_share_of(b, c->bytes));
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share part = coll_whole_share_of(b, c->bytes, lane);
        coll_add_slots(b, lane, part, own->receive + part.offset, 0);
    }
    coll_everything_sent(b);
}

static void within(coll_builder* b, part_of_domain* part) {
    const trn_coll_config* c = &part->coll.config;
    b->coll = &part->coll;
    if (c->ranks > 1 || c->op == TRN_COLL_BROADCAST)
        coll_algorithm_of(c->op, c->algorithm)(b);
    else if (c->op == TRN_COLL_ALL_REDUCE)
        add_alone(b);
    else if (c->op != TRN_COLL_BARRIER)
        keep_everything(b);
    b->coll = b->whole;
}

/* ---- operations ---- */

/* The collective within the own domain is about the blocks of a domain's ranks. */
static void take_blocks_of(const coll_builder* b, part_of_domain* part, uint32_t domain) {
    const trn_coll_config* c = &b->whole->config;
    part->coll.config.bytes = blocks_of(c, domain).bytes;
    if (trn_coll_has_counts(c->op))
        part->coll.config.counts = c->counts + (uint64_t)domain * coll_ranks_of_domain(c);
}

/* Everybody's block to the other domains; meanwhile, and when they have come, each domain's blocks
 * go round as in an all-gather of that domain, from and to the receive buffer. */
static void all_gather(coll_builder* b, part_of_domain* part) {
    const trn_coll_config* c = &b->whole->config;
    const coll_share block = coll_block(c, c->rank);
    const coll_share mine = coll_channel_share_of(b, block.bytes);
    const uint64_t at = block.offset + mine.offset;
    everybody_is_told(b);
    everybody_is_ready(b);
    for (uint32_t n = 1; n < c->domains; ++n) {
        const uint32_t to = peer_in(c, other_domain(c, n));
        coll_net_send(b, to, COLL_NET_DATA + own_domain(c), c->members[to].receive + at,
                      c->members[c->rank].send + mine.offset, mine.bytes);
    }
    coll_net_doorbell(b);
    for (uint32_t n = 0; n < c->domains; ++n) {
        const uint32_t domain = other_domain(c, n);
        const uint64_t theirs = coll_block(c, peer_in(c, domain)).bytes;
        if (n > 0) wait_for_domain(b, domain, coll_channel_share_of(b, theirs).bytes);
        take_blocks_of(b, part, domain);
        for (uint32_t i = 0; i < part->coll.config.ranks; ++i) {
            trn_coll_member* member = &part->members[i];
            const trn_coll_member* as = &c->members[part->coll.first_rank + i];
            member->receive = as->receive + blocks_of(c, domain).offset;
            member->send =
                n > 0 ? member->receive + coll_block(&part->coll.config, i).offset : as->send;
        }
        within(b, part);
    }
}

/* The other domains' parts of the buffer first: their sums are under way while the own part is
 * reduced. */
static void reduce_scatter(coll_builder* b, part_of_domain* part) {
    const trn_coll_config* c = &b->whole->config;
    const uint64_t block = coll_block(c, c->rank).bytes;
    const uint32_t own = own_domain(c);
    const bool is_grid = coll_is_grid(c->op, c->algorithm);
    everybody_is_told(b);
    for (uint32_t n = 1; n <= c->domains; ++n) {
        const uint32_t domain = other_domain(c, n), to = peer_in(c, domain);
        const uint32_t slot = domain == own ? own : c->domains + domain;
        take_blocks_of(b, part, domain);
        for (uint32_t i = 0; i < part->coll.config.ranks; ++i) {
            const trn_coll_member* as = &c->members[part->coll.first_rank + i];
            part->members[i].send = as->send + blocks_of(c, domain).offset;
            part->members[i].receive = slot_of(b, part->coll.first_rank + i, slot);
            /* Channels do not wait for each other: those of a ring may be at blocks of another
             * domain, which have other sizes. */
            if (!is_grid) part->members[i].scratch = as->scratch + blocks_of(c, domain).offset;
        }
        within(b, part);
        if (domain == own) continue;
        if (n == 1) everybody_is_ready(b);
        const coll_share theirs = coll_channel_share_of(b, coll_block(c, to).bytes);
        coll_net_send(b, to, COLL_NET_DATA + own, slot_of(b, to, own) + theirs.offset,
                      slot_of(b, c->rank, slot) + theirs.offset, theirs.bytes);
        coll_net_doorbell(b);
    }
    for (uint32_t n = 1; n < c->domains; ++n)
        wait_for_domain(b, other_domain(c, n), coll_channel_share_of(b, block).bytes);
    for (uint32_t lane = 0; lane < b->coll->lanes; ++lane) {
        const coll_share share = coll_whole_share_of(b, block, lane);
        coll_add_slots(b, lane, share, c->members[c->rank].receive + share.offset, 0);
    }
    coll_everything_sent(b);
}

/* What the ranks of the own position's domain have for each other: from those of a domain, or from
 * who stands for them here. */
static void take_pairs_of(const coll_builder* b, part_of_domain* part, uint32_t domain) {
    const trn_coll_config* c = &b->whole->config;
    const uint32_t ranks = coll_ranks_of_domain(c), first = part->coll.first_rank;
    if (c->op != TRN_COLL_ALL_TO_ALL_V) {
        part->coll.config.bytes = c->bytes / c->domains;
        return;
    }
    for (uint32_t from = 0; from < ranks; ++from)
        for (uint32_t to = 0; to < ranks; ++to)
            part->counts[from * ranks + to] =
                c->counts[(uint64_t)(domain * ranks + from) * c->ranks + first + to];
    part->coll.config.counts = part->counts;
    part->coll.config.bytes = trn_coll_counted_bytes(&part->coll.config);
}

/* The first channel has all that comes, and tells the other ones. */
static void bring_everything(coll_builder* b) {
    const trn_coll_config* c = &b->whole->config;
    const uint32_t own = own_domain(c);
    if (b->channel != 0) return;
    everybody_is_told(b);
    everybody_is_ready(b);
    for (uint32_t n = 1; n < c->domains; ++n) {
        const uint32_t to = peer_in(c, other_domain(c, n));
        const coll_share sent = sent_to(c, c->rank, other_domain(c, n));
        coll_net_send(b, to, COLL_NET_DATA + own, c->members[to].scratch + own * slot_bytes(c),
                      c->members[c->rank].send + sent.offset, sent.bytes);
    }
    coll_net_doorbell(b);
}
static void wait_for_everything(coll_builder* b, uint32_t domain) {
    const trn_coll_config* c = &b->whole->config;
    const uint32_t from = peer_in(c, domain), semaphore = COLL_NET_DATA + domain;
    const uint64_t bytes = sent_to(c, from, own_domain(c)).bytes;
    coll_net_wait_for(b, semaphore, b->channel == 0 ? coll_net_posts(bytes) : 1, from);
    for (uint32_t n = 1; b->channel == 0 && n < b->whole->channels; ++n)
        coll_post(&b->program, coll_semaphore_of_channel(b, n, semaphore));
    coll_step_ends(b);
}

/* All that a domain gets from a rank goes to the rank of its position there, who distributes it. */
static void all_to_all(coll_builder* b, part_of_domain* part) {
    const trn_coll_config* c = &b->whole->config;
    const uint32_t own = own_domain(c);
    const uint64_t slot = slot_bytes(c);
    bring_everything(b);
    for (uint32_t n = 0; n < c->domains; ++n) {
        const uint32_t domain = other_domain(c, n);
        if (n > 0) wait_for_everything(b, domain);
        take_pairs_of(b, part, domain);
        for (uint32_t i = 0; i < part->coll.config.ranks; ++i) {
            const uint32_t rank = part->coll.first_rank + i;
            const trn_coll_member* as = &c->members[rank];
            part->members[i].receive = as->receive + received_from(c, rank, domain);
            part->members[i].send =
                n > 0 ? as->scratch + domain * slot : as->send + sent_to(c, rank, own).offset;
        }
        within(b, part);
    }
}

/* When all of a domain have begun, each tells the ranks of its position. */
static void barrier(coll_builder* b, part_of_domain* part) {
    const trn_coll_config* c = &b->whole->config;
    coll_net_begins(b);
    within(b, part);
    for (uint32_t n = 1; n < c->domains; ++n)
        coll_net_tell(b, peer_in(c, other_domain(c, n)), COLL_NET_DATA + own_domain(c));
    coll_net_doorbell(b);
    for (uint32_t n = 1; n < c->domains; ++n) wait_for_domain(b, other_domain(c, n), 0);
}

void coll_across_domains(coll_builder* b) {
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
        coll_relay_begins(b);
        within(b, part);
        break;
    case TRN_COLL_PERMUTE:
        coll_ring_permute(b);
        break;
    default: /* an all-reduce, which exchanges in its middle */
        within(b, part);
        break;
    }
    coll_net_ends(b);
    free(part->counts);
    free(part);
}

/* ---- broadcast: the root's card brings pieces to the ranks of its position, who pass them on ----
 */

#define MOST_PIECES 8u

static uint32_t root_domain(const trn_coll_config* c) {
    return c->root / coll_ranks_of_domain(c);
}

/* Slices of a piece: each piece has a semaphore, and as many requests as lanes and domains. */
static uint32_t slices_of_piece(const coll_builder* b) {
    const trn_coll* coll = b->whole;
    const uint32_t requests = coll->lanes * (coll->config.domains - 1);
    uint32_t pieces = (TRN_COLL_QUEUE_ENTRIES - COLL_MAX_DOMAINS) / requests;
    if (pieces > MOST_PIECES) pieces = MOST_PIECES;
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
    return coll_exchanges(b) && own_domain(&b->whole->config) != root_domain(&b->whole->config);
}

void coll_relay_begins(coll_builder* b) {
    const trn_coll* coll = b->whole;
    const trn_coll_config* c = &coll->config;
    if (own_position(c) != c->root % coll_ranks_of_domain(c)) return;
    coll_net_begins(b);
    if (c->rank != c->root) {
        coll_net_tell(b, c->root, COLL_NET_READY);
        return coll_net_doorbell(b);
    }
    everybody_is_ready(b);
    for (uint32_t slice = 0; slice < coll->slices; slice += slices_of_piece(b))
        for (uint32_t n = 1; n < c->domains; ++n)
            for (uint32_t lane = 0; lane < coll->lanes; ++lane) {
                const uint32_t to = peer_in(c, other_domain(c, n));
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
