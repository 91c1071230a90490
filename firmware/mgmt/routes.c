// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/routes.h"

#include <string.h>

#define MAX_DISTANCE 15u  // largest distance of a nibble

// --- Ring and torus: distance-vector routing ----------------------------------------------------
//
// Each chip announces its distances (hops) to the chips of its server and to the other servers, and
// routes through the partner with the shortest distance. Ties are broken by the order of
// dimensions: without dead links, first to the server, then along the row, then along the column.

static const uint8_t in_server[] = {0, 1, 2, 3}, anywhere[] = {5, 4, 0, 1, 2, 3};

/// Nibble n of an announcement: chips of the server, then servers of the rack.
static unsigned announced_distance(const struct announcement* announcement, unsigned n) {
    return announcement->words[n / 8] >> 4 * (n % 8) & 0xf;
}

/// Distance of an entry to the smaller part of a server that dead links have split. The routing
/// table has one row for all chips of another server, so traffic must enter at the larger part.
#define DETOUR_DISTANCE 5u

static bool is_smaller_part(const struct topology* t, unsigned missing) {
    return 2 * missing > topology_chips_per_server(t) - 1;
}

static unsigned entry_distance(const struct topology* t, const struct port* port) {
    unsigned missing = 0;
    for (unsigned c = 0; c < topology_chips_per_server(t); ++c) {
        const unsigned distance = announced_distance(&port->state, c);
        missing += c != port->partner.place.chip && (distance == 0 || distance == MAX_DISTANCE);
    }
    return is_smaller_part(t, missing) ? DETOUR_DISTANCE : 1;
}

struct step {
    unsigned port, distance;  ///< NO_PORT, 0: no route
};

/// Hops through a port to chip `n` of the server, or to server n - TOPOLOGY_MAX_CHIPS. 0: no route.
static unsigned distance_through(const struct topology* t, const struct port* port, unsigned n) {
    if (!topology_usable(port)) return 0;
    const struct place* place = &port->partner.place;
    if (n < TOPOLOGY_MAX_CHIPS) {
        if (place->server != t->own.server) return 0;
        if (place->chip == n) return 1;
    } else if (place->server == n - TOPOLOGY_MAX_CHIPS) {
        return entry_distance(t, port);
    }
    const unsigned rest = announced_distance(&port->state, n);
    return rest == 0 || rest == MAX_DISTANCE ? 0 : rest + 1;
}

/// At half of a dimension's length both directions are equally long. Chips at odd positions prefer
/// the reverse direction, which balances the load.
static unsigned preferred(const struct topology* t, unsigned port) {
    const unsigned position[] = {t->own.chip % t->x, t->own.chip / t->x, t->own.server};
    return port ^ (position[port / 2] & 1);
}

static struct step nearest(const struct topology* t, const struct port* ports, unsigned n) {
    const bool chip = n < TOPOLOGY_MAX_CHIPS;
    const uint8_t* order = chip ? in_server : anywhere;
    struct step best = {NO_PORT, 0};
    for (unsigned i = 0; i < (chip ? sizeof in_server : sizeof anywhere); ++i) {
        const unsigned port = preferred(t, order[i]);
        const unsigned distance = distance_through(t, &ports[port], n);
        if (distance != 0 && (best.distance == 0 || distance < best.distance))
            best = (struct step){port, distance};
    }
    return best;
}

static struct step to_chip(const struct topology* t, const struct port* ports, unsigned chip) {
    return nearest(t, ports, chip);
}

static struct step to_server(const struct topology* t, const struct port* ports, unsigned server) {
    return nearest(t, ports, TOPOLOGY_MAX_CHIPS + server);
}

/// Port by which a chip of the smaller part reaches the larger one: to a partner of another server
/// whose own route to this server does not enter at the smaller part. NO_PORT: none.
static unsigned detour_port(const struct topology* t, const struct port* ports) {
    for (unsigned i = 0; i < sizeof anywhere; ++i) {
        const struct port* port = &ports[anywhere[i]];
        if (!topology_usable(port) || port->partner.place.server == t->own.server) continue;
        const unsigned back = announced_distance(&port->state, TOPOLOGY_MAX_CHIPS + t->own.server);
        if (back != 0 && back < DETOUR_DISTANCE) return anywhere[i];
    }
    return NO_PORT;
}

static struct announcement torus_state(const struct topology* t, const struct port* ports) {
    struct announcement state = {{0}};
    const unsigned chips = topology_chips_per_server(t), servers = topology_servers_per_rack(t);
    for (unsigned c = 0; c < chips; ++c)
        if (c != t->own.chip) state.words[c / 8] |= to_chip(t, ports, c).distance << 4 * (c % 8);
    for (unsigned s = 0; s < servers; ++s) {
        const unsigned n = TOPOLOGY_MAX_CHIPS + s;
        if (s != t->own.server)
            state.words[n / 8] |= to_server(t, ports, s).distance << 4 * (n % 8);
    }
    return state;
}

// --- Switched: ports to sled, rack and other rack; one can replace another
// ------------------------

static bool announced(const struct port* port, unsigned server, unsigned chip) {
    return port->chips[server] >> chip & 1;
}

/// Route to a chip of the server: the switch at which it has announced itself. Before that the sled
/// switch, otherwise the rack switch.
static unsigned switched_chip(const struct topology* t, const struct port* ports, unsigned chip) {
    const bool sled = topology_usable(&ports[PORT_SLED]), rack = topology_usable(&ports[PORT_RACK]);
    if (sled && announced(&ports[PORT_SLED], t->own.server, chip)) return PORT_SLED;
    if (rack && announced(&ports[PORT_RACK], t->own.server, chip)) return PORT_RACK;
    return sled ? PORT_SLED : rack ? PORT_RACK : NO_PORT;
}

/// Route to another server: the rack switch, otherwise the sled switch, because another chip of the
/// sled may have a working rack port.
static unsigned switched_server(const struct port* ports) {
    if (topology_usable(&ports[PORT_RACK])) return PORT_RACK;
    return topology_usable(&ports[PORT_SLED]) ? PORT_SLED : NO_PORT;
}

/// Words of the announcement; the partner in the other rack reads them.
enum { WORD_PORTS, WORD_RACK_CHIPS };

/// Route to another rack: the own direct link, otherwise that of another chip of the sled,
/// otherwise of the rack. No route when no chip has claimed one.
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

// --- All machines ------------------------------------------------------------------------

uint32_t routes_announced_words(const struct topology* t) {
    if (t->kind == TOPOLOGY_SWITCHED) return 1u << WORD_PORTS | 1u << WORD_RACK_CHIPS;
    if (t->kind == TOPOLOGY_NONE) return 1;
    const unsigned chips = topology_chips_per_server(t), servers = topology_servers_per_rack(t);
    uint32_t words = chips > 8 ? 3 : 1;
    for (unsigned s = 0; servers > 1 && s < servers; s += 8)
        words |= 1u << (TOPOLOGY_MAX_CHIPS + s) / 8;
    return words;
}

struct announcement routes_announce(const struct topology* t, const struct port* ports) {
    if (t->kind != TOPOLOGY_SWITCHED) return torus_state(t, ports);
    struct announcement state = {{0}};
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p)
        if (topology_usable(&ports[p])) state.words[WORD_PORTS] |= 1u << 4 * p;
    state.words[WORD_RACK_CHIPS] = routes_claimed_chips(t, ports, CLAIM_RACK);
    return state;
}

static void add_detours(const struct topology* t, const struct port* ports, struct routes* found) {
    const unsigned chips = topology_chips_per_server(t);
    unsigned missing = 0;
    for (unsigned c = 0; c < chips; ++c) missing += c != t->own.chip && found->chip[c] == NO_PORT;
    if (!is_smaller_part(t, missing)) return;
    const uint8_t port = (uint8_t)detour_port(t, ports);
    for (unsigned c = 0; c < chips; ++c)
        if (c != t->own.chip && found->chip[c] == NO_PORT) found->chip[c] = port;
}

struct routes routes_find(const struct topology* t, const struct port* ports) {
    struct routes found;
    memset(&found, NO_PORT, sizeof found);
    if (t->kind == TOPOLOGY_NONE) return found;
    const bool switched = t->kind == TOPOLOGY_SWITCHED;
    for (unsigned c = 0; c < topology_chips_per_server(t); ++c)
        if (c != t->own.chip)
            found.chip[c] =
                (uint8_t)(switched ? switched_chip(t, ports, c) : to_chip(t, ports, c).port);
    if (!switched) add_detours(t, ports, &found);
    for (unsigned s = 0; s < topology_servers_per_rack(t); ++s)
        if (s != t->own.server)
            found.server[s] =
                (uint8_t)(switched ? switched_server(ports) : to_server(t, ports, s).port);
    for (unsigned r = 0; r < topology_racks(t); ++r)
        if (r != t->own.rack) found.rack[r] = (uint8_t)switched_rack(ports, r);
    return found;
}

static unsigned ones(uint32_t word) {
    unsigned count = 0;
    for (; word != 0; word &= word - 1) ++count;
    return count;
}

/// Behind switches only chips count that have announced themselves to a switch; for a rack that is
/// reached through another chip, the number that this chip has claimed. In a torus all chips of a
/// server count once a route to the server exists.
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
        if (port == NO_PORT || (switched && port != PORT_RACK)) continue;
        count.rack += switched ? ones(ports[PORT_RACK].chips[s]) : chips;
    }
    if (!switched) return count;
    if (!topology_usable(&ports[PORT_RACK]) && topology_usable(&ports[PORT_SLED])) {
        const unsigned reachable = ports[PORT_SLED].rack_chips[t->own.rack],
                       own_server = count.server + 1;
        count.rack = reachable > own_server ? reachable - own_server : 0;
    }
    for (unsigned r = 0; r < topology_racks(t); ++r) {
        const unsigned port = routes->rack[r];
        if (port == NO_PORT) continue;
        count.other += port == PORT_OTHER_RACK ? ports[port].state.words[WORD_RACK_CHIPS]
                                               : ports[port].rack_chips[r];
    }
    return count;
}

unsigned routes_claimed_chips(const struct topology* t, const struct port* ports,
                              enum claim claim) {
    if (claim == CLAIM_OTHER_RACK) return ports[PORT_OTHER_RACK].state.words[WORD_RACK_CHIPS];
    if (claim != CLAIM_RACK) return 0;
    const struct routes routes = routes_find(t, ports);
    const struct reachable count = routes_count(t, ports, &routes);
    return count.server + count.rack + 1;
}
