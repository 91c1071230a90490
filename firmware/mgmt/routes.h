// SPDX-License-Identifier: Apache-2.0
// Computes routes, announcements and claims from the state of the ports. Nothing here accesses
// hardware. Rules and fall-backs: doc/topology.md.
#pragma once

#include <stdint.h>

#include "firmware/mgmt/topology.h"

#define NO_PORT 0xffu  // no route

struct routes {
    uint8_t chip[TOPOLOGY_MAX_CHIPS];      ///< of the own server
    uint8_t server[TOPOLOGY_MAX_SERVERS];  ///< of the own rack
    uint8_t rack[TOPOLOGY_MAX_RACKS];
};

/// The routes of this chip. NO_PORT also for the chip itself, and for chips that the machine does
/// not have.
struct routes routes_find(const struct topology* t, const struct port* ports);

/// The announcement to partners. Ring and torus: the distance (hops) of this chip from each other
/// chip and server, a nibble each, 0: no route. Behind switches: the usable ports, and the number
/// of reachable chips of the rack, including this one.
struct announcement routes_announce(const struct topology* t, const struct port* ports);
/// Words of the announcement that this machine uses, one bit each.
uint32_t routes_announced_words(const struct topology* t);

/// Numbers of other chips that have a route.
struct reachable {
    unsigned server, rack, other;  ///< of the own server, of the rest of the rack, of other racks
};
struct reachable routes_count(const struct topology* t, const struct port* ports,
                              const struct routes* routes);

/// Claims of a chip to the switch on a port (bits).
enum claim {
    CLAIM_SELF = 1 << 0,        ///< "here is this chip"
    CLAIM_SERVER = 1 << 1,      ///< "this port also leads to the chips of its server"
    CLAIM_RACK = 1 << 2,        ///< "... of its rack"
    CLAIM_OTHER_RACK = 1 << 3,  ///< "... of the other rack"
};
#define CLAIM_KINDS 4
/// The claims that this chip makes on a port; 0 on a port without a usable switch.
uint32_t routes_claims(const struct topology* t, const struct port* ports, unsigned port);
/// Number of chips that a claim of a rack leads to; 0 for other claims.
unsigned routes_claimed_chips(const struct topology* t, const struct port* ports, enum claim claim);
