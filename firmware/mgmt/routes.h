// SPDX-License-Identifier: Apache-2.0
// Which port leads to which chip, from what is known of the ports. Nothing here touches hardware.
// Rules and fall-backs: doc/topology.md.
#pragma once

#include <stdint.h>

#include "firmware/mgmt/topology.h"

#define NO_PORT 0xffu  // no way there

struct routes {
    uint8_t chip[TOPOLOGY_MAX_CHIPS];      ///< of the own server
    uint8_t server[TOPOLOGY_MAX_SERVERS];  ///< of the own rack
    uint8_t rack[TOPOLOGY_MAX_RACKS];
};

/// For chips that are this one, or that the machine does not have: NO_PORT.
struct routes routes_find(const struct topology* t, const struct port* ports);

/// The announcement to partners. In a ring or torus how far this chip is from others, a nibble
/// each, 0: no way; behind switches which ports can be used, and how many chips of its rack, with
/// itself, are to be reached here.
struct announcement routes_announce(const struct topology* t, const struct port* ports);
/// Which words of that are in use in this machine, one bit each.
uint32_t routes_announced_words(const struct topology* t);

/// Other chips to which there is a way.
struct reachable {
    unsigned server, rack, other;  ///< of the own server, of the rest of the rack, of other racks
};
struct reachable routes_count(const struct topology* t, const struct port* ports,
                              const struct routes* routes);

/// What this chip announces to the switch on a port: bits of enum claim.
enum claim {
    CLAIM_SELF = 1 << 0,        ///< "here is this chip"
    CLAIM_SERVER = 1 << 1,      ///< "this port also leads to the chips of its server"
    CLAIM_RACK = 1 << 2,        ///< "... of its rack"
    CLAIM_OTHER_RACK = 1 << 3,  ///< "... of the other rack"
};
#define CLAIM_KINDS 4
uint32_t routes_claims(const struct topology* t, const struct port* ports, unsigned port);
/// To how many chips that leads, where the claim is of a rack; else 0.
unsigned routes_claimed_chips(const struct topology* t, const struct port* ports, enum claim claim);
