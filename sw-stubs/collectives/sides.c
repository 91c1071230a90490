/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

/* The levels of the machine (rows, chips, servers, racks); from them the sending order of a mesh,
 * and the grid of doubling and halving: levels, the longest first, are cut into sides. Long sides
 * save steps, but each partner of a rank contributes an operand to one addition, which has a
 * limited number. */

#define LONGEST_SIDE 6u /* unless a level has larger prime factors */
#define MIN_LINK_BOUND_BYTES \
    (UINT64_C(4) << 20) /* above this size, link load matters more than the number of steps */

/* Ranks that are neighbours in this level differ by `apart` in their numbers. */
typedef struct level {
    uint32_t count, apart;
} level;

typedef struct levels {
    level level[4];
    uint32_t count;
} levels;

static void add_level(levels* all, uint32_t count, uint32_t apart) {
    uint32_t position = all->count++;
    for (; position > 0 && all->level[position - 1].count < count; --position)
        all->level[position] = all->level[position - 1];
    all->level[position] = (level){count, apart};
}

/* Whether ranks are numbered chip by chip, `chips` per server and `servers` per rack. */
static bool are_product(const trn_coll_config* c, uint32_t chips, uint32_t servers) {
    const uint32_t rack = chips * servers;
    if (trn_coll_ranks_of_domain(c) % rack != 0) return false;
    for (uint32_t n = 0; n < trn_coll_ranks_of_domain(c); ++n) {
        const trn_place* place = &c->members[n].place;
        if (place->chip != c->members[n % chips].place.chip ||
            place->server != c->members[n % rack / chips * chips].place.server ||
            place->rack != c->members[n / rack * rack].place.rack)
            return false;
    }
    return true;
}

/* Levels by descending length; of equal ones those with more links first. Torus rows have 4 chips.
 */
static levels levels_of(const trn_coll_config* c) {
    const uint32_t ranks = trn_coll_ranks_of_domain(c);
    const trn_place* first = &c->members[0].place;
    uint32_t chips = 1, rack = 1;
    while (rack < ranks && c->members[rack].place.rack == first->rack) ++rack;
    while (chips < rack && c->members[chips].place.server == first->server) ++chips;
    levels all = {.count = 0};
    if (rack % chips != 0 || !are_product(c, chips, rack / chips)) {
        add_level(&all, ranks, 1);
        return all;
    }
    if (c->topology == TRN_TOPOLOGY_TORUS && chips % 4 == 0) {
        add_level(&all, 4, 1);
        add_level(&all, chips / 4, 4);
        add_level(&all, rack / chips, chips);
    } else {
        add_level(&all, rack / chips, chips);
        add_level(&all, chips, 1);
    }
    add_level(&all, ranks / rack, rack);
    return all;
}

void trn_coll_others(const trn_coll_config* c, uint32_t* ahead, uint32_t* behind) {
    const levels all = levels_of(c);
    for (uint32_t way = 1; way < c->ranks; ++way) {
        uint32_t receiver = 0, sender = 0;
        for (uint32_t n = 0; n < all.count; ++n) {
            const level* l = &all.level[n];
            const uint32_t own = c->rank / l->apart % l->count, offset = way / l->apart % l->count;
            receiver += (own + offset) % l->count * l->apart;
            sender += (own + l->count - offset) % l->count * l->apart;
        }
        ahead[way - 1] = receiver;
        behind[way - 1] = sender;
    }
}

static bool cut_level(trn_coll_grid* g, uint32_t count, uint32_t longest) {
    while (count > 1) {
        uint32_t side = longest;
        while (side > 1 && count % side != 0) --side;
        if (side == 1)
            for (side = longest + 1; count % side != 0;) ++side;
        if (g->sides == TRN_COLL_SIDES) return false;
        g->length[g->sides++] = side;
        count /= side;
    }
    return true;
}

/* Cuts all levels into sides. False: an addition would have more operands (all partners and a twin)
 * than TRN_COMPUTE_OPERANDS. */
static bool cut(trn_coll_grid* g, const levels* all, uint32_t longest, bool twins) {
    uint32_t operands = twins ? 2 : 1;
    g->sides = 0;
    for (uint32_t n = 0; n < all->count; ++n)
        if (!cut_level(g, all->level[n].count, longest)) return false;
    for (uint32_t n = 0; n < g->sides; ++n) operands += g->length[n] - 1;
    return operands <= TRN_COMPUTE_OPERANDS;
}

/* A ring of four chips is a 2 x 2 grid whose edges are the ring's links, in the order 0 1 3 2. */
static uint32_t place_in(const level* l, uint32_t number, bool squares) {
    const uint32_t position = number / l->apart % l->count;
    return squares && l->count == 4 ? position ^ position >> 1 : position;
}

static void place_ranks(trn_coll_grid* g, const levels* all, uint32_t ranks, bool squares) {
    const uint32_t twins = ranks - g->points;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        const uint32_t number = rank < 2 * twins ? rank / 2 : rank - twins;
        uint32_t point = 0;
        for (uint32_t n = 0; n < all->count; ++n)
            point = point * all->level[n].count + place_in(&all->level[n], number, squares);
        g->point[rank] = (uint16_t)point;
    }
}

void trn_coll_get_grid(const trn_coll_config* c, trn_coll_grid* g) {
    const uint32_t ranks = trn_coll_ranks_of_domain(c);
    const bool squares = c->topology == TRN_TOPOLOGY_TORUS && c->bytes > MIN_LINK_BOUND_BYTES;
    *g = (trn_coll_grid){.points = ranks};
    for (levels all = levels_of(c);; all = (levels){{{g->points, 1}}, 1}) {
        for (uint32_t longest = squares ? 2 : LONGEST_SIDE; longest > 1; --longest)
            if (cut(g, &all, longest, g->points < ranks))
                return place_ranks(g, &all, ranks, squares);
        --g->points;
    }
}

uint64_t trn_coll_grid_scratch(const trn_coll_config* config, const trn_coll_grid* g,
                               trn_coll_algorithm algorithm) {
    const bool twins = g->points < config->ranks;
    uint64_t blocks = (g->points - 1) * (twins ? 2 : 1);
    if (algorithm == TRN_COLL_DOUBLING) {
        blocks = 0;
        for (uint32_t n = 0; n < g->sides; ++n) blocks += (g->length[n] - 1) * config->ranks;
    }
    return (blocks + (twins ? config->ranks : 0)) * trn_coll_block_of(config);
}
