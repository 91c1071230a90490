// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/topology.h"

#include <stdio.h>

struct topology topology_from_straps(uint32_t machine, uint32_t place) {
    return (struct topology){
        .kind = (enum topology_kind)TRN_RESET_CONTROLLER_STRAP_TOPOLOGY_KIND_GET(machine),
        .x = (uint8_t)TRN_RESET_CONTROLLER_STRAP_TOPOLOGY_X_GET(machine),
        .y = (uint8_t)TRN_RESET_CONTROLLER_STRAP_TOPOLOGY_Y_GET(machine),
        .z = (uint8_t)TRN_RESET_CONTROLLER_STRAP_TOPOLOGY_Z_GET(machine),
        .own = {.rack = (uint8_t)TRN_RESET_CONTROLLER_STRAP_PLACE_RACK_GET(place),
                .server = (uint8_t)TRN_RESET_CONTROLLER_STRAP_PLACE_SERVER_GET(place),
                .chip = (uint8_t)TRN_RESET_CONTROLLER_STRAP_PLACE_CHIP_GET(place)}};
}

unsigned topology_chips_per_server(const struct topology* t) {
    return t->kind == TOPOLOGY_SWITCHED ? t->x : (unsigned)t->x * t->y;
}

unsigned topology_servers_per_rack(const struct topology* t) {
    return t->kind == TOPOLOGY_SWITCHED ? t->y : t->z;
}

unsigned topology_racks(const struct topology* t) {
    return t->kind == TOPOLOGY_SWITCHED ? t->z : 1;
}

uint32_t topology_server_id(const struct topology* t, uint32_t first) {
    if (t->kind == TOPOLOGY_NONE) return first;
    const unsigned server = t->own.rack * topology_servers_per_rack(t) + t->own.server;
    return first + (TRN_MISC_RAM_SERVER_ID_RACK_SET(t->own.rack) |
                    TRN_MISC_RAM_SERVER_ID_SERVER_SET(server));
}

// --- Expected partners ------------------------------------------------------------------

/// Next position in a dimension that wraps around.
static uint8_t step(unsigned position, unsigned size, bool forward) {
    return (uint8_t)((position + (forward ? 1 : size - 1)) % size);
}

/// Ports come in pairs, one pair per dimension; a cable joins the two ports of a pair.
static struct partner torus_neighbour(const struct topology* t, unsigned port) {
    struct partner neighbour = {PARTNER_CHIP, t->own, (uint8_t)(port ^ 1)};
    const unsigned x = t->own.chip % t->x, y = t->own.chip / t->x;
    switch (port) {
    case 0:
    case 1:
        if (t->x < 2) break;
        neighbour.place.chip = (uint8_t)(y * t->x + step(x, t->x, port == 0));
        return neighbour;
    case 2:
    case 3:
        if (t->y < 2) break;
        neighbour.place.chip = (uint8_t)(step(y, t->y, port == 2) * t->x + x);
        return neighbour;
    case 4:
    case 5:
        if (t->z < 2) break;
        neighbour.place.server = step(t->own.server, t->z, port == 5);
        return neighbour;
    default:
        break;
    }
    return (struct partner){.kind = PARTNER_NONE};
}

static struct partner switched_neighbour(const struct topology* t, unsigned port) {
    struct partner neighbour = {PARTNER_NONE, t->own, 0};
    switch (port) {
    case PORT_SLED:
        if (t->x > 1) neighbour.kind = PARTNER_SLED_SWITCH;
        break;
    case PORT_RACK:
        if (t->y > 1) neighbour.kind = PARTNER_RACK_SWITCH;
        break;
    case PORT_OTHER_RACK:
        if (t->z < 2) break;
        neighbour = (struct partner){PARTNER_CHIP, t->own, PORT_OTHER_RACK};
        neighbour.place.rack = t->own.rack ^ 1;
        break;
    default:
        break;
    }
    return neighbour;
}

struct partner topology_expects(const struct topology* t, unsigned port) {
    switch (t->kind) {
    case TOPOLOGY_RING:
    case TOPOLOGY_TORUS:
        return torus_neighbour(t, port);
    case TOPOLOGY_SWITCHED:
        return switched_neighbour(t, port);
    case TOPOLOGY_NONE:
        break;
    }
    return (struct partner){.kind = PARTNER_NONE};
}

// --- Faults --------------------------------------------------------------------------------

static bool same_place(const struct partner* a, const struct partner* b) {
    if (a->kind != b->kind || a->place.rack != b->place.rack) return false;
    if (a->kind == PARTNER_RACK_SWITCH) return true;
    if (a->place.server != b->place.server) return false;
    return a->kind == PARTNER_SLED_SWITCH || a->place.chip == b->place.chip;
}

enum link_fault topology_judge(const struct topology* t, unsigned port, const struct port* found) {
    const struct partner wanted = topology_expects(t, port);
    if (wanted.kind == PARTNER_NONE && !found->up) return LINK_OK;
    if (!found->connected) return LINK_NOT_CONNECTED;
    if (!found->up) return LINK_DOWN;
    if (found->silent) return LINK_SILENT;
    if (found->garbage) return LINK_GARBAGE;
    if (wanted.kind == PARTNER_NONE) return LINK_UNEXPECTED;
    if (!found->identified) return LINK_OK;  // still booting: a notice will follow
    if (!same_place(&found->partner, &wanted)) return LINK_WRONG_PARTNER;
    if (wanted.kind == PARTNER_CHIP && found->partner.port != wanted.port) return LINK_WRONG_PORT;
    if (found->duplicate) return LINK_DUPLICATE;
    return found->degraded ? LINK_DEGRADED : LINK_OK;
}

bool topology_usable(const struct port* port) {
    return port->up && port->identified && (port->fault == LINK_OK || port->fault == LINK_DEGRADED);
}

const char* topology_name(const struct partner* partner, char* buffer, size_t size) {
    const struct place* place = &partner->place;
    switch (partner->kind) {
    case PARTNER_CHIP:
        snprintf(buffer, size, "rack %u server %u chip %u", place->rack, place->server,
                 place->chip);
        break;
    case PARTNER_SLED_SWITCH:
        snprintf(buffer, size, "the sled switch of rack %u server %u", place->rack, place->server);
        break;
    case PARTNER_RACK_SWITCH:
        snprintf(buffer, size, "the rack switch of rack %u", place->rack);
        break;
    case PARTNER_NONE:
        snprintf(buffer, size, "no device");
        break;
    }
    return buffer;
}

const char* topology_complaint(const struct topology* t, unsigned port, const struct port* found,
                               char* buffer, size_t size) {
    const struct partner wanted = topology_expects(t, port);
    char actual[48], expected[48];
    if (found->identified)
        topology_name(&found->partner, actual, sizeof actual);
    else
        snprintf(actual, sizeof actual, "an unidentified device");
    topology_name(&wanted, expected, sizeof expected);
    switch (found->fault) {
    case LINK_NOT_CONNECTED:
        snprintf(buffer, size, "port %u has no cable, expected %s", port, expected);
        break;
    case LINK_DOWN:
        snprintf(buffer, size, "port %u is down, expected %s", port, expected);
        break;
    case LINK_SILENT:
        snprintf(buffer, size, "port %u: no response, expected %s", port, expected);
        break;
    case LINK_GARBAGE:
        snprintf(buffer, size, "port %u: invalid response, expected %s", port, expected);
        break;
    case LINK_WRONG_PARTNER:
    case LINK_UNEXPECTED:
        snprintf(buffer, size, "port %u leads to %s, expected %s", port, actual, expected);
        break;
    case LINK_WRONG_PORT:
        snprintf(buffer, size, "port %u leads to port %u of %s, expected its port %u", port,
                 found->partner.port, actual, wanted.port);
        break;
    case LINK_DEGRADED:
        snprintf(buffer, size, "port %u is degraded: Gen%u, %u of %u lanes", port,
                 found->generation, found->lanes, found->lanes_full);
        break;
    case LINK_DUPLICATE:
        topology_name(&(struct partner){PARTNER_CHIP, t->own, 0}, expected, sizeof expected);
        snprintf(buffer, size, "port %u: %s knows another %s", port, actual, expected);
        break;
    case LINK_OK:
        snprintf(buffer, size, "port %u is well", port);
        break;
    }
    return buffer;
}
