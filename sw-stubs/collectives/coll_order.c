/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "coll_builder.h"

/* In which order the ranks stand in rings. Chips that fill a torus, or servers of one, have several
 * rings, none of which takes a link in a direction that another one takes: two cycles through all
 * chips of a server, each both ways. A ring goes from server to server at the two ends of its
 * cycle, every other server backwards, and begins where no other ring does that. */

#define MAX_CHIPS 16u /* of a server: the fabric address has room for no more */
#define MAX_SERVERS 32u
#define NOBODY UINT32_MAX

/* ---- any ranks ---- */

/* Counts so that only one digit changes by one from one to the next: every other row, plane and
 * half runs backwards. */
static uint32_t reflected(const trn_place* at, const trn_topology* t) {
    const bool torus = t->kind == TRN_TOPOLOGY_TORUS, switched = t->kind == TRN_TOPOLOGY_SWITCHED;
    const uint32_t width = t->x ? t->x : 1, rows = t->y ? t->y : 1;
    uint32_t fast = at->chip, middle = 0, slow = 0, middles = 1;
    if (torus) {
        fast = at->chip % width;
        middle = at->chip / width;
        slow = at->server;
        middles = rows;
    } else if (switched) {
        middle = at->server;
        slow = at->rack;
        middles = rows;
    }
    if (slow & 1) middle = middles - 1 - middle;
    const uint32_t row = slow * middles + middle;
    return row * width + (row & 1 ? width - 1 - fast : fast);
}

static void reflected_order(const trn_place* places, const trn_topology* t, uint32_t ranks,
                            uint32_t* order) {
    for (uint32_t n = 0; n < ranks; ++n) {
        uint32_t at = n;
        const uint32_t key = reflected(&places[n], t);
        for (; at > 0 && reflected(&places[order[at - 1]], t) > key; --at)
            order[at] = order[at - 1];
        order[at] = n;
    }
}

static void reversed(const uint32_t* order, uint32_t ranks, uint32_t* other_way) {
    for (uint32_t n = 0; n < ranks; ++n) other_way[n] = order[(ranks - n) % ranks];
}

static uint32_t way(uint32_t from, uint32_t to, uint32_t around) {
    const uint32_t size = around ? around : 1, ahead = (to + size - from % size) % size;
    return ahead < size - ahead ? ahead : size - ahead;
}

static bool are_neighbours(const trn_place* a, const trn_place* b, const trn_topology* t) {
    const uint32_t width = t->x ? t->x : 1;
    return a->rack == b->rack && way(a->chip % width, b->chip % width, t->x) +
                                         way(a->chip / width, b->chip / width, t->y) +
                                         way(a->server, b->server, t->z) ==
                                     1;
}

/* Whether each hop is a link between two chips, which has another direction. */
static bool has_another_way(const trn_place* places, const trn_topology* t, uint32_t ranks,
                            const uint32_t* order) {
    if (t->kind == TRN_TOPOLOGY_SWITCHED || ranks < 3) return false;
    for (uint32_t n = 0; n < ranks; ++n)
        if (!are_neighbours(&places[order[n]], &places[order[(n + 1) % ranks]], t)) return false;
    return true;
}

/* ---- ranks that fill a torus ---- */

typedef struct server_plane {
    uint32_t width, height;
    bool right[MAX_CHIPS], below[MAX_CHIPS]; /* links from each chip, of the first cycle */
    uint32_t cycle[2][MAX_CHIPS];
} server_plane;

/* Along each row, to the left where a bit of `turns` says so, and from its last chip down to the
 * next. False: that does not close. */
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

/* Along the links that the first one leaves: two of each chip. False: there are other chips that
 * it does not come to. */
static bool second_cycle(server_plane* p) {
    const uint32_t chips = p->width * p->height;
    uint32_t at = 0, from = NOBODY;
    for (uint32_t n = 0; n < chips; ++n) {
        const uint32_t row = at / p->width * p->width, x = at % p->width;
        const uint32_t right = row + (x + 1) % p->width, left = row + (x + p->width - 1) % p->width;
        const uint32_t below = (at + p->width) % chips, above = (at + chips - p->width) % chips;
        p->cycle[1][n] = at;
        const uint32_t next = !p->right[at] && right != from    ? right
                              : !p->right[left] && left != from ? left
                              : !p->below[at] && below != from  ? below
                                                                : above;
        from = at;
        at = next;
        if (at == 0) return n + 1 == chips;
    }
    return false;
}

static bool divide_plane(server_plane* p) {
    if (p->width < 3 || p->height < 3 || p->width * p->height > MAX_CHIPS) return false;
    for (uint32_t turns = 0; turns >> p->height == 0; ++turns)
        if (first_cycle(p, turns) && second_cycle(p)) return true;
    return false;
}

/* Which servers the ranks fill, in the order of numbers, and who is where. */
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
        const trn_place* at = &places[n];
        if (at->rack != places[0].rack || at->server >= MAX_SERVERS || at->chip >= f->chips)
            return false;
        f->rank[server_at[at->server]][at->chip] = n;
    }
    for (uint32_t n = 0; n < ranks; ++n)
        if (f->rank[n / f->chips][n % f->chips] == NOBODY) return false;
    return true;
}

/* Each server has a link to the next, and the last one to the first. */
static bool servers_are_neighbours(const trn_place* places, const trn_topology* t,
                                   const filled* f) {
    if (f->servers == 1) return true;
    for (uint32_t n = 0; n < f->servers; ++n)
        if (!are_neighbours(&places[f->rank[n][0]], &places[f->rank[(n + 1) % f->servers][0]], t))
            return false;
    return f->servers % 2 == 0;
}

/* Through each server along its cycle from a chip on, every other one backwards. */
static void through_servers(const filled* f, const uint32_t* cycle, uint32_t begin,
                            uint32_t* order) {
    for (uint32_t server = 0; server < f->servers; ++server)
        for (uint32_t n = 0; n < f->chips; ++n) {
            const uint32_t place = server % 2 == 0 ? n : f->chips - 1 - n;
            *order++ = f->rank[server][cycle[(begin + place) % f->chips]];
        }
}

/* Where a ring may begin so that it leaves servers at chips where no other one does. */
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
    if (!has_another_way(places, topology, ranks, orders)) return 1;
    reversed(orders, ranks, orders + ranks);
    return 2;
}
