// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/routes.h"

#include <string.h>

#define MOST_IN_A_ROW 15u
#define PORTS_IN_SERVER 4u  // of a torus: the first ones

static unsigned nibble(uint32_t word, unsigned n) {
    return word >> 4 * n & 0xf;
}

// --- Ring and torus: first to the server, then along the row, then along the column -------------

enum dimension { ROW, COLUMN, SERVERS };

struct way {
    unsigned size;           ///< of the dimension
    unsigned forward, back;  ///< its ports
};

static struct way way_of(const struct topology* t, enum dimension d) {
    switch (d) {
    case ROW:
        return (struct way){t->x, 0, 1};
    case COLUMN:
        return (struct way){t->y, 2, 3};
    case SERVERS:
        break;
    }
    return (struct way){t->z, 5, 4};
}

/// The shorter way round that is whole as far as it is needed. `state` says how far each way of a
/// chip leads: this chip's own or a partner's.
static unsigned toward(struct way way, unsigned from, unsigned to, uint32_t state) {
    const unsigned ahead = (to + way.size - from) % way.size, behind = way.size - ahead;
    const bool forward = nibble(state, way.forward) >= ahead;
    const bool back = nibble(state, way.back) >= behind;
    if (forward && (ahead <= behind || !back)) return way.forward;
    return back ? way.back : NO_PORT;
}

static uint32_t torus_state(const struct topology* t, const struct port* ports) {
    uint32_t state = 0;
    for (enum dimension d = ROW; d <= SERVERS; ++d) {
        const struct way way = way_of(t, d);
        const unsigned both[] = {way.forward, way.back};
        for (unsigned n = 0; n < 2; ++n) {
            if (!topology_usable(&ports[both[n]])) continue;
            unsigned far = 1 + nibble(ports[both[n]].state, both[n]);
            if (far > way.size - 1) far = way.size - 1;  // all the way round is at home
            if (far > MOST_IN_A_ROW) far = MOST_IN_A_ROW;
            state |= far << 4 * both[n];
        }
    }
    return state;
}

/// A neighbour in another dimension who can go on along this one.
static unsigned detour(const struct port* ports, unsigned first, unsigned end, struct way way,
                       unsigned from, unsigned to) {
    for (unsigned p = first; p < end; ++p)
        if (topology_usable(&ports[p]) && toward(way, from, to, ports[p].state) != NO_PORT)
            return p;
    return NO_PORT;
}

static unsigned torus_chip(const struct topology* t, const struct port* ports, uint32_t state,
                           unsigned chip) {
    const struct way row = way_of(t, ROW), column = way_of(t, COLUMN);
    const unsigned x = t->own.chip % t->x, y = t->own.chip / t->x;
    const unsigned to_x = chip % t->x, to_y = chip / t->x;
    if (x == to_x) return toward(column, y, to_y, state);
    const unsigned port = toward(row, x, to_x, state);
    return port != NO_PORT ? port : detour(ports, column.forward, PORTS_IN_SERVER, row, x, to_x);
}

static unsigned torus_server(const struct topology* t, const struct port* ports, uint32_t state,
                             unsigned server) {
    const struct way way = way_of(t, SERVERS);
    const unsigned port = toward(way, t->own.server, server, state);
    return port != NO_PORT ? port : detour(ports, 0, PORTS_IN_SERVER, way, t->own.server, server);
}

// --- Switched: sled, rack, other rack; each can stand in for another -----------------------------

static bool announced(const struct port* port, unsigned server, unsigned chip) {
    return port->chips[server] >> chip & 1;
}

/// A switch knows who is really there. As long as it does not, the nearest one will.
static unsigned switched_chip(const struct topology* t, const struct port* ports, unsigned chip) {
    const bool sled = topology_usable(&ports[PORT_SLED]), rack = topology_usable(&ports[PORT_RACK]);
    if (sled && announced(&ports[PORT_SLED], t->own.server, chip)) return PORT_SLED;
    if (rack && announced(&ports[PORT_RACK], t->own.server, chip)) return PORT_RACK;
    return sled ? PORT_SLED : rack ? PORT_RACK : NO_PORT;
}

/// Through the sled switch there is always a neighbour who may have a port that works.
static unsigned switched_server(const struct port* ports) {
    if (topology_usable(&ports[PORT_RACK])) return PORT_RACK;
    return topology_usable(&ports[PORT_SLED]) ? PORT_SLED : NO_PORT;
}

/// By somebody else's direct link: of the sled, of the rack. A sled whose partner in the other rack
/// has no power has none.
static unsigned switched_rack(const struct port* ports, unsigned rack) {
    if (topology_usable(&ports[PORT_OTHER_RACK])) return PORT_OTHER_RACK;
    for (unsigned p = PORT_SLED; p <= PORT_RACK; ++p)
        if (topology_usable(&ports[p]) && ports[p].racks >> rack & 1) return p;
    return NO_PORT;
}

uint32_t routes_claims(const struct topology* t, const struct port* ports, unsigned port) {
    if (t->kind != TOPOLOGY_SWITCHED || !topology_usable(&ports[port])) return 0;
    const bool other = topology_usable(&ports[PORT_OTHER_RACK]);
    const uint32_t claims = CLAIM_SELF | (other ? CLAIM_OTHER_RACK : 0u);
    if (port == PORT_RACK) return claims | (topology_usable(&ports[PORT_SLED]) ? CLAIM_SERVER : 0u);
    if (port != PORT_SLED) return 0;
    return claims | (topology_usable(&ports[PORT_RACK]) ? CLAIM_RACK : 0u);
}

// --- Both --------------------------------------------------------------------------------

uint32_t routes_state_word(const struct topology* t, const struct port* ports) {
    if (t->kind != TOPOLOGY_SWITCHED) return torus_state(t, ports);
    uint32_t state = 0;
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p)
        if (topology_usable(&ports[p])) state |= 1u << 4 * p;
    return state;
}

struct routes routes_find(const struct topology* t, const struct port* ports) {
    struct routes found;
    memset(&found, NO_PORT, sizeof found);
    if (t->kind == TOPOLOGY_NONE) return found;
    const bool switched = t->kind == TOPOLOGY_SWITCHED;
    const uint32_t state = routes_state_word(t, ports);
    for (unsigned c = 0; c < topology_chips_per_server(t); ++c)
        if (c != t->own.chip)
            found.chip[c] =
                (uint8_t)(switched ? switched_chip(t, ports, c) : torus_chip(t, ports, state, c));
    for (unsigned s = 0; s < topology_servers_per_rack(t); ++s)
        if (s != t->own.server)
            found.server[s] =
                (uint8_t)(switched ? switched_server(ports) : torus_server(t, ports, state, s));
    for (unsigned r = 0; r < topology_racks(t); ++r)
        if (r != t->own.rack) found.rack[r] = (uint8_t)switched_rack(ports, r);
    return found;
}

static unsigned ones(uint32_t word) {
    unsigned count = 0;
    for (; word != 0; word &= word - 1) ++count;
    return count;
}

/// Where a switch tells who is there, only who is there counts.
struct reachable routes_count(const struct topology* t, const struct port* ports,
                              const struct routes* routes) {
    struct reachable count = {0, 0, 0};
    const bool switched = t->kind == TOPOLOGY_SWITCHED;
    const unsigned chips = topology_chips_per_server(t);
    for (unsigned c = 0; c < chips; ++c) {
        const unsigned port = routes->chip[c];
        count.server += port != NO_PORT && (!switched || announced(&ports[port], t->own.server, c));
    }
    for (unsigned s = 0; s < topology_servers_per_rack(t); ++s) {
        const unsigned port = routes->server[s];
        if (port == NO_PORT) continue;
        // Behind the sled switch nobody has said who else there is.
        const bool told = switched && port == PORT_RACK;
        count.rack += told ? ones(ports[PORT_RACK].chips[s]) : chips;
    }
    for (unsigned r = 0; r < topology_racks(t); ++r)
        if (routes->rack[r] != NO_PORT) count.other += chips * topology_servers_per_rack(t);
    return count;
}
