// SPDX-License-Identifier: Apache-2.0
// The machine that this chip is part of, as the straps say, and whether what a port leads to is
// what they say. Nothing here touches hardware. Words and numbers: doc/topology.md.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trn/misc_ram_regs.h>
#include <trn/reset_controller_regs.h>

#define TOPOLOGY_PORTS TRN_MISC_RAM_TOPOLOGY_PORT_LINK_COUNT
// The most that a fabric address has room for.
#define TOPOLOGY_MAX_CHIPS 16    // of a server
#define TOPOLOGY_MAX_SERVERS 32  // of a rack
#define TOPOLOGY_MAX_RACKS 2

enum topology_kind {
    TOPOLOGY_NONE = TRN_RESET_CONTROLLER_STRAP_TOPOLOGY_KIND_NONE,
    TOPOLOGY_RING = TRN_RESET_CONTROLLER_STRAP_TOPOLOGY_KIND_RING,
    TOPOLOGY_TORUS = TRN_RESET_CONTROLLER_STRAP_TOPOLOGY_KIND_TORUS,
    TOPOLOGY_SWITCHED = TRN_RESET_CONTROLLER_STRAP_TOPOLOGY_KIND_SWITCHED,
};

/// Ports of a switched chip.
enum { PORT_SLED = 0, PORT_RACK = 1, PORT_OTHER_RACK = 2 };

struct place {
    uint8_t rack, server, chip;
};

struct topology {
    enum topology_kind kind;
    uint8_t x, y, z;
    struct place own;
};

enum partner_kind { PARTNER_NOBODY, PARTNER_CHIP, PARTNER_SLED_SWITCH, PARTNER_RACK_SWITCH };

/// Who should be, or is, at the other end of a port. Of a switch's place only what its tier has
/// counts: server and rack, or the rack.
struct partner {
    enum partner_kind kind;
    struct place place;
    uint8_t port;  ///< the partner's number
};

enum link_fault {
    LINK_OK = TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_FAULT_NONE,
    LINK_NOT_CONNECTED = TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_FAULT_NOT_CONNECTED,
    LINK_DOWN = TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_FAULT_DOWN,
    LINK_SILENT = TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_FAULT_SILENT,
    LINK_GARBAGE = TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_FAULT_GARBAGE,
    LINK_WRONG_PARTNER = TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_FAULT_WRONG_PARTNER,
    LINK_WRONG_PORT = TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_FAULT_WRONG_PORT,
    LINK_UNEXPECTED = TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_FAULT_UNEXPECTED,
    LINK_DEGRADED = TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_FAULT_DEGRADED,
    LINK_DUPLICATE = TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_FAULT_DUPLICATE,
};

/// What a chip announces to its partners about its routes (routes_announce()).
#define ANNOUNCED_WORDS ((TOPOLOGY_MAX_CHIPS + TOPOLOGY_MAX_SERVERS) / 8)
struct announcement {
    uint32_t words[ANNOUNCED_WORDS];
};

/// What is known of a port, and of who is at its other end.
struct port {
    bool connected;  ///< there is a cable
    bool up;
    bool degraded;    ///< slower or narrower than it could be
    bool silent;      ///< the partner did not answer the identity request
    bool garbage;     ///< the answer was none
    bool duplicate;   ///< the switch there has another chip of this place
    bool identified;  ///< `partner` counts; a chip that still boots is not
    uint8_t generation, lanes, lanes_full, downs;
    struct partner partner;
    uint64_t serial;
    struct announcement state;  ///< a chip's: routes_announce()
    /// A switch's: the chips that have announced themselves there, one bit each, by server.
    uint16_t chips[TOPOLOGY_MAX_SERVERS];
    uint32_t racks;  ///< A switch's: racks that other chips there lead to, one bit each
    uint16_t rack_chips[TOPOLOGY_MAX_RACKS];  ///< A switch's: to how many chips of each
    enum link_fault fault;
};

/// From STRAP_TOPOLOGY and STRAP_PLACE.
struct topology topology_from_straps(uint32_t machine, uint32_t place);
/// The expected partner of a port. None: the shape has no cable there.
struct partner topology_expects(const struct topology* t, unsigned port);
unsigned topology_chips_per_server(const struct topology* t);
unsigned topology_servers_per_rack(const struct topology* t);
unsigned topology_racks(const struct topology* t);
/// Ids of the own server and rack in the layout of misc RAM +0x70. `first` has those of the
/// machine's first ones, in the same layout. Servers are counted through the racks: the driver of a
/// switched pod takes the id for its node id (contract 11.4).
uint32_t topology_server_id(const struct topology* t, uint32_t first);

/// What is wrong with a port.
enum link_fault topology_judge(const struct topology* t, unsigned port, const struct port* found);
/// Whether traffic may go there: up, and leading where the shape says.
bool topology_usable(const struct port* port);
/// The same in words, e.g. "port 2 leads to rack 1 server 4 chip 1, expected rack 1 server 3
/// chip 1". Returns `buffer`.
const char* topology_complaint(const struct topology* t, unsigned port, const struct port* found,
                               char* buffer, size_t size);
/// "rack 1 server 4 chip 1", "the sled switch of rack 0 server 2", "no device".
const char* topology_name(const struct partner* partner, char* buffer, size_t size);
