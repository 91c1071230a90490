/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRN_TOPOLOGY_H
#define TRN_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "trn_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Topology (doc/topology.md; this platform's own). */

#define TRN_MAX_PORTS 8u

typedef enum trn_topology_kind {
    TRN_TOPOLOGY_NONE = 0, /**< a chip alone */
    TRN_TOPOLOGY_RING = 1,
    TRN_TOPOLOGY_TORUS = 2,
    TRN_TOPOLOGY_SWITCHED = 3
} trn_topology_kind;

typedef struct trn_place {
    uint32_t rack, server, chip; /**< server in the rack, chip in the server */
} trn_place;

typedef enum trn_partner_kind {
    TRN_PARTNER_NONE = 0,
    TRN_PARTNER_NOBODY = TRN_PARTNER_NONE, /**< its name in 0.1.0 */
    TRN_PARTNER_CHIP = 1,
    TRN_PARTNER_SLED_SWITCH = 2, /**< its place has no chip */
    TRN_PARTNER_RACK_SWITCH = 3  /**< its place has only a rack */
} trn_partner_kind;
/** Name of the kind, "none" also of an unknown one. */
const char* trn_partner_text(trn_partner_kind kind);

typedef struct trn_partner {
    trn_partner_kind kind;
    trn_place place;
} trn_partner;

typedef enum trn_link_fault {
    TRN_LINK_OK = 0,
    TRN_LINK_NOT_CONNECTED = 1,
    TRN_LINK_DOWN = 2,
    TRN_LINK_SILENT = 3,
    TRN_LINK_GARBAGE = 4,
    TRN_LINK_WRONG_PARTNER = 5,
    TRN_LINK_WRONG_PORT = 6,
    TRN_LINK_UNEXPECTED = 7,
    TRN_LINK_DEGRADED = 8,
    TRN_LINK_DUPLICATE = 9 /**< the switch has another chip with this chip's place */
} trn_link_fault;
/** Name of the fault, never NULL. */
const char* trn_link_fault_text(trn_link_fault fault);

/** State of a port, as firmware publishes it. */
typedef struct trn_link {
    bool connected, up;
    uint32_t generation;        /**< PCI Express generation of the speed; 0 while down */
    uint32_t lanes, lanes_full; /**< lanes in use, and lanes of the port */
    uint32_t downs;             /**< number of link downs; saturates at 255 */
    trn_link_fault fault;
    bool identified;     /**< the partner has published its identity */
    trn_partner partner; /**< identified partner */
    uint32_t partner_port;
    uint64_t serial;
    trn_partner expected; /**< expected partner; none: the shape has no cable here */
} trn_link;

typedef struct trn_topology {
    trn_topology_kind kind;
    uint32_t x, y, z; /**< shape of the machine: doc/topology.md */
    trn_place own;
    /** Numbers of reachable other chips: of the own server, of the rest of the rack, of other racks
     */
    uint32_t reachable_server, reachable_rack, reachable_other;
    trn_link ports[TRN_MAX_PORTS];
} trn_topology;

/** Reads the topology that firmware has published. A chip without neighbours: TRN_TOPOLOGY_NONE.
 * TRN_TIMED_OUT: firmware did not finish writing the table. */
trn_status trn_get_topology(trn_device* device, trn_topology* topology);

/** Fabric address of `address` (below 2^48, no host memory) on the chip at `place`, for engines of
 * this chip through neighbour window `window`, a SENG's (doc/decisions/0009). Reaches any chip of
 * the machine to which the fabric has a route. */
uint64_t trn_remote_address(const trn_place* place, uint32_t window, uint64_t address);

/** Decodes the table of misc RAM (words from TRN_TOPOLOGY_OFFSET on), for readers without a device.
 * False: firmware is writing it; read it again. */
#define TRN_TOPOLOGY_OFFSET 0x400u
#define TRN_TOPOLOGY_WORDS 80u
bool trn_topology_decode(const uint32_t* words, trn_topology* topology);

#ifdef __cplusplus
}
#endif

#endif
