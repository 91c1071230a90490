/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "builder.h"

/* Order of the ranks in rings. Ranks that fill a torus, or whole servers of it, have four rings,
 * which share no link in the same direction: two cycles through all chips of a server, each in both
 * directions. A ring crosses from server to server at the ends of its cycle, which every other
 * server runs backwards; its first chip differs from those where other rings cross. */

#define MAX_CHIPS 16u /* of a server: limit of fabric addresses */
#define MAX_SERVERS 32u
#define NO_RANK UINT32_MAX

/* ---- any ranks ---- */

/* Reflected (boustrophedon) number of a place: consecutive numbers differ by one step in one
 * dimension, because every other row, plane and rack runs backwards. */
static uint32_t reflected(const trn_place* place, const trn_topology* t) {
    const bool torus = t->kind == TRN_TOPOLOGY_TORUS, switched = t->kind == TRN_TOPOLOGY_SWITCHED;
    const uint32_t width = t->x ? t->x : 1, rows = t->y ? t->y : 1;
    uint32_t fast = place->chip, middle = 0, slow = 0, middles = 1;
    if (torus) {
        fast = place->chip % width;
        middle = place->chip / width;
        slow = place->server;
        middles = rows;
    } else if (switched) {
        middle = place->server;
        slow = place->rack;
        middles = rows;
    }
    if (slow & 1) middle = middles - 1 - middle;
    const uint32_t row = slow * middles + middle;
    return row * width + (row & 1 ? width - 1 - fast : fast);
}

static void reflected_order(const trn_place* places, const trn_topology* t, uint32_t ranks,
                            uint32_t* order) {
    for (uint32_t n = 0; n < ranks; ++n) {
        uint32_t position = n;
        const uint32_t key = reflected(&places[n], t);
        for (; position > 0 && reflected(&places[order[position - 1]], t) > key; --position)
            order[position] = order[position - 1];
        order[position] = n;
    }
}

static void reversed(const uint32_t* order, uint32_t ranks, uint32_t* backwards) {
    for (uint32_t n = 0; n < ranks; ++n) backwards[n] = order[(ranks - n) % ranks];
}

static uint32_t ring_distance(uint32_t first, uint32_t second, uint32_t around) {
    const uint32_t size = around ? around : 1, ahead = (second + size - first % size) % size;
    return ahead < size - ahead ? ahead : size - ahead;
}

static bool are_neighbours(const trn_place* a, const trn_place* b, const trn_topology* t) {
    const uint32_t width = t->x ? t->x : 1;
    return a->rack == b->rack && ring_distance(a->chip % width, b->chip % width, t->x) +
                                         ring_distance(a->chip / width, b->chip / width, t->y) +
                                         ring_distance(a->server, b->server, t->z) ==
                                     1;
}

/* Whether every hop is a direct link between two chips, so that a second ring can use the reverse
 * directions. */
static bool is_reversible(const trn_place* places, const trn_topology* t, uint32_t ranks,
                          const uint32_t* order) {
    if (t->kind == TRN_TOPOLOGY_SWITCHED || ranks < 3) return false;
    for (uint32_t n = 0; n < ranks; ++n)
        if (!are_neighbours(&places[order[n]], &places[order[(n + 1) % ranks]], t)) return false;
    return true;
}

/* ---- ranks that fill a torus ---- */

typedef struct server_plane {
    uint32_t width, height;
    bool right[MAX_CHIPS], below[MAX_CHIPS]; /* links of the first cycle from each chip */
    uint32_t cycle[2][MAX_CHIPS];
} server_plane;

/* First cycle: along each row, to the left where its bit in `turns` is set, and from the row's last
 * chip down to the next row. False: the path is not closed. */
static bool first_cycle(server_plane* p, uint32_t turns) {
    uint32_t x = 0, n = 0;
    memset(p->right, 0, sizeof p->right);
    memset(p->below, 0, sizeof p->below);
    for (uint32_t row = 0; row < p->height; ++row) {
        const uint32_t step = turns >> row & 1 ? p->width - 1 : 1, first = row * p->width;
        for (uint32_t i = 0; i < p->width; ++i) {
            const uint32_t next = (x + step) % p->width;
            p->cycle[0][n++] = first + x;
            if (i + 1 == p->width) break;
            p->right[first + (step == 1 ? x : next)] = true;
            x = next;
        }
        p->below[first + x] = true;
    }
    return x == 0;
}

/* Second cycle: along the links that the first one does not use, two at each chip. False: it does
 * not reach all chips. */
static bool second_cycle(server_plane* p) {
    const uint32_t chips = p->width * p->height;
    uint32_t chip = 0, previous = NO_RANK;
    for (uint32_t n = 0; n < chips; ++n) {
        const uint32_t row = chip / p->width * p->width, x = chip % p->width;
        const uint32_t right = row + (x + 1) % p->width, left = row + (x + p->width - 1) % p->width;
        const uint32_t below = (chip + p->width) % chips, above = (chip + chips - p->width) % chips;
        p->cycle[1][n] = chip;
        const uint32_t next = !p->right[chip] && right != previous   ? right
                              : !p->right[left] && left != previous  ? left
                              : !p->below[chip] && below != previous ? below
                                                                     : above;
        previous = chip;
        chip = next;
        if (chip == 0) return n + 1 == chips;
    }
    return false;
}

static bool divide_plane(server_plane* p) {
    if (p->width < 3 || p->height < 3 || p->width * p->height > MAX_CHIPS) return false;
    for (uint32_t turns = 0; turns >> p->height == 0; ++turns)
        if (first_cycle(p, turns) && second_cycle(p)) return true;
    return false;
}

/* The servers that the ranks fill, in ascending order, and the rank at each place. */
typedef struct filled {
    uint32_t servers, chips;
    uint32_t rank[MAX_SERVERS][MAX_CHIPS];
} filled;

static bool find_all_places(const trn_place* places, uint32_t ranks, filled* f) {
    uint32_t server_at[MAX_SERVERS];
    f->servers = 0;
    for (uint32_t server = 0; server < MAX_SERVERS; ++server) {
        bool here = false;
        for (uint32_t n = 0; n < ranks; ++n) here = here || places[n].server == server;
        server_at[server] = f->servers;
        if (here) ++f->servers;
    }
    if (ranks != f->servers * f->chips) return false;
    memset(f->rank, 0xff, sizeof f->rank);
    for (uint32_t n = 0; n < ranks; ++n) {
        const trn_place* place = &places[n];
        if (place->rack != places[0].rack || place->server >= MAX_SERVERS ||
            place->chip >= f->chips)
            return false;
        f->rank[server_at[place->server]][place->chip] = n;
    }
    for (uint32_t n = 0; n < ranks; ++n)
        if (f->rank[n / f->chips][n % f->chips] == NO_RANK) return false;
    return true;
}

/* Whether each server is linked to the next one, and the last to the first. */
static bool servers_are_neighbours(const trn_place* places, const trn_topology* t,
                                   const filled* f) {
    if (f->servers == 1) return true;
    for (uint32_t n = 0; n < f->servers; ++n)
        if (!are_neighbours(&places[f->rank[n][0]], &places[f->rank[(n + 1) % f->servers][0]], t))
            return false;
    return f->servers % 2 == 0;
}

/* Order through all servers along `cycle` from chip `begin` on; every other server backwards. */
static void through_servers(const filled* f, const uint32_t* cycle, uint32_t begin,
                            uint32_t* order) {
    for (uint32_t server = 0; server < f->servers; ++server)
        for (uint32_t n = 0; n < f->chips; ++n) {
            const uint32_t place = server % 2 == 0 ? n : f->chips - 1 - n;
            *order++ = f->rank[server][cycle[(begin + place) % f->chips]];
        }
}

/* Start position in `cycle` for which the ring crosses servers at chips that no other ring uses. */
static uint32_t free_begin(const server_plane* p, const uint32_t* cycle, bool* leaves) {
    const uint32_t chips = p->width * p->height;
    uint32_t begin = 0;
    while (leaves[cycle[begin]] || leaves[cycle[(begin + chips - 1) % chips]]) ++begin;
    leaves[cycle[begin]] = leaves[cycle[(begin + chips - 1) % chips]] = true;
    return begin;
}

static uint32_t torus_orders(const trn_place* places, const trn_topology* t, uint32_t ranks,
                             uint32_t* orders) {
    server_plane plane = {.width = t->x, .height = t->y};
    filled all = {.chips = t->x * t->y};
    bool leaves[MAX_CHIPS] = {false};
    if (t->kind != TRN_TOPOLOGY_TORUS || !divide_plane(&plane) ||
        !find_all_places(places, ranks, &all) || !servers_are_neighbours(places, t, &all))
        return 0;
    const uint32_t count = 4;
    for (uint32_t n = 0; n < count; n += 2) {
        const uint32_t* cycle = plane.cycle[n / 2 % 2];
        uint32_t* order = orders + n * ranks;
        through_servers(&all, cycle, free_begin(&plane, cycle, leaves), order);
        reversed(order, ranks, order + ranks);
    }
    return count;
}

uint32_t trn_coll_rings(const trn_place* places, const trn_topology* topology, uint32_t ranks,
                        uint32_t* orders) {
    const uint32_t several = torus_orders(places, topology, ranks, orders);
    if (several) return several;
    reflected_order(places, topology, ranks, orders);
    if (!is_reversible(places, topology, ranks, orders)) return 1;
    reversed(orders, ranks, orders + ranks);
    return 2;
}
