// SPDX-License-Identifier: Apache-2.0
// The shape of the machine and the chip's place in it, from the straps, and the check of each
// port's partner against them. Nothing here accesses hardware. Terms: doc/topology.md.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trn/misc_ram_regs.h>
#include <trn/reset_controller_regs.h>

#define TOPOLOGY_PORTS TRN_MISC_RAM_TOPOLOGY_PORT_LINK_COUNT
// Limits of a fabric address.
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

enum partner_kind { PARTNER_NONE, PARTNER_CHIP, PARTNER_SLED_SWITCH, PARTNER_RACK_SWITCH };

/// Expected or identified partner of a port. A sled switch has rack and server as its place, a rack
/// switch only the rack.
struct partner {
    enum partner_kind kind;
    struct place place;
    uint8_t port;  ///< number of the partner's port
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

/// A chip's announcement to its partners (routes_announce()).
#define ANNOUNCED_WORDS ((TOPOLOGY_MAX_CHIPS + TOPOLOGY_MAX_SERVERS) / 8)
struct announcement {
    uint32_t words[ANNOUNCED_WORDS];
};

/// State of a port and of its partner.
struct port {
    bool connected;  ///< a cable is connected
    bool up;
    bool degraded;    ///< below full speed or full width
    bool silent;      ///< the partner did not answer the identity request
    bool garbage;     ///< the response was invalid
    bool duplicate;   ///< the switch has another chip with this chip's place
    bool identified;  ///< `partner` is valid; not while that chip boots
    uint8_t generation, lanes, lanes_full, downs;
    struct partner partner;
    uint64_t serial;
    struct announcement state;  ///< of a chip: routes_announce()
    /// Of a switch: the chips that have announced themselves, by server, one bit each.
    uint16_t chips[TOPOLOGY_MAX_SERVERS];
    uint32_t racks;  ///< of a switch: racks that other chips claim, one bit each
    uint16_t rack_chips[TOPOLOGY_MAX_RACKS];  ///< of a switch: reachable chips of each rack
    enum link_fault fault;
};

/// From STRAP_TOPOLOGY and STRAP_PLACE.
struct topology topology_from_straps(uint32_t machine, uint32_t place);
/// The expected partner of a port. PARTNER_NONE: the shape has no cable there.
struct partner topology_expects(const struct topology* t, unsigned port);
unsigned topology_chips_per_server(const struct topology* t);
unsigned topology_servers_per_rack(const struct topology* t);
unsigned topology_racks(const struct topology* t);
/// Ids of the own server and rack in the layout of misc RAM +0x70. `first`: those of the machine's
/// first server and rack, same layout. Server ids continue from rack to rack: the driver of a
/// switched pod uses the id as its node id (contract 11.4).
uint32_t topology_server_id(const struct topology* t, uint32_t first);

/// The fault of a port: compares its state with the expected partner.
enum link_fault topology_judge(const struct topology* t, unsigned port, const struct port* found);
/// Whether traffic may use a port: it is up and its partner is the expected one.
bool topology_usable(const struct port* port);
/// The port's fault as text, e.g. "port 2 leads to rack 1 server 4 chip 1, expected rack 1 server 3
/// chip 1". Returns `buffer`.
const char* topology_complaint(const struct topology* t, unsigned port, const struct port* found,
                               char* buffer, size_t size);
/// Name of a partner: "rack 1 server 4 chip 1", "the sled switch of rack 0 server 2", "no device".
const char* topology_name(const struct partner* partner, char* buffer, size_t size);
