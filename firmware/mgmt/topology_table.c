// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/topology_table.h"

#include "firmware/mgmt/misc_ram.h"

#define FIRST TRN_MISC_RAM_TOPOLOGY_MAGIC_OFFSET
#define WORDS ((TRN_MISC_RAM_TOPOLOGY_PORT_LINK_OFFSET(TOPOLOGY_PORTS) - FIRST) / 4)

static uint32_t table[WORDS];  // contents to publish

static uint32_t* word(uint32_t offset) {
    return &table[(offset - FIRST) / 4];
}
#define WORD(reg) (*word(TRN_MISC_RAM_##reg##_OFFSET))
#define WORD_AT(reg, index) (*word(TRN_MISC_RAM_##reg##_OFFSET(index)))

static uint32_t shown_kind(enum partner_kind kind) {
    switch (kind) {
    case PARTNER_CHIP:
        return TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_KIND_CHIP;
    case PARTNER_SLED_SWITCH:
        return TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_KIND_SLED_SWITCH;
    case PARTNER_RACK_SWITCH:
        return TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_KIND_RACK_SWITCH;
    case PARTNER_NONE:
        break;
    }
    return TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_KIND_NONE;
}

/// The layout of TOPOLOGY_PLACE, TOPOLOGY_PORT_ID and TOPOLOGY_PORT_EXPECTED_ID.
static uint32_t shown_place(const struct place* place) {
    return TRN_MISC_RAM_TOPOLOGY_PLACE_RACK_SET(place->rack) |
           TRN_MISC_RAM_TOPOLOGY_PLACE_SERVER_SET(place->server) |
           TRN_MISC_RAM_TOPOLOGY_PLACE_CHIP_SET(place->chip);
}

static void fill_port(const struct topology* t, unsigned p, const struct port* port) {
    const struct partner wanted = topology_expects(t, p);
    WORD_AT(TOPOLOGY_PORT_LINK, p) =
        TRN_MISC_RAM_TOPOLOGY_PORT_LINK_UP_SET(port->up) |
        TRN_MISC_RAM_TOPOLOGY_PORT_LINK_GENERATION_SET(port->generation) |
        TRN_MISC_RAM_TOPOLOGY_PORT_LINK_LANES_SET(port->lanes) |
        TRN_MISC_RAM_TOPOLOGY_PORT_LINK_LANES_FULL_SET(port->lanes_full) |
        TRN_MISC_RAM_TOPOLOGY_PORT_LINK_DOWNS_SET(port->downs);
    WORD_AT(TOPOLOGY_PORT_PARTNER, p) =
        TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_KIND_SET(shown_kind(port->partner.kind)) |
        TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_PORT_SET(port->partner.port) |
        TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_FAULT_SET(port->fault) |
        TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_EXPECTED_SET(shown_kind(wanted.kind)) |
        TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_IDENTIFIED_SET(port->identified);
    WORD_AT(TOPOLOGY_PORT_ID, p) = shown_place(&port->partner.place);
    WORD_AT(TOPOLOGY_PORT_SERIAL_LO, p) = (uint32_t)port->serial;
    WORD_AT(TOPOLOGY_PORT_SERIAL_HI, p) = (uint32_t)(port->serial >> 32);
    WORD_AT(TOPOLOGY_PORT_EXPECTED_ID, p) = shown_place(&wanted.place);
}

static uint32_t overview(const struct topology* t, const struct port* ports) {
    uint32_t expected = 0, connected = 0, up = 0, faulty = 0;
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) {
        expected |= (uint32_t)(topology_expects(t, p).kind != PARTNER_NONE) << p;
        connected |= (uint32_t)ports[p].connected << p;
        up |= (uint32_t)ports[p].up << p;
        faulty |= (uint32_t)(ports[p].fault != LINK_OK) << p;
    }
    return TRN_MISC_RAM_TOPOLOGY_PORTS_EXPECTED_SET(expected) |
           TRN_MISC_RAM_TOPOLOGY_PORTS_CONNECTED_SET(connected) |
           TRN_MISC_RAM_TOPOLOGY_PORTS_UP_SET(up) | TRN_MISC_RAM_TOPOLOGY_PORTS_FAULTY_SET(faulty);
}

static void fill(const struct topology* t, const struct port* ports, struct reachable reachable) {
    WORD(TOPOLOGY_MAGIC) = TRN_MISC_RAM_TOPOLOGY_MAGIC_WORD_VALUE;
    WORD(TOPOLOGY_SHAPE) =
        TRN_MISC_RAM_TOPOLOGY_SHAPE_KIND_SET(t->kind) | TRN_MISC_RAM_TOPOLOGY_SHAPE_X_SET(t->x) |
        TRN_MISC_RAM_TOPOLOGY_SHAPE_Y_SET(t->y) | TRN_MISC_RAM_TOPOLOGY_SHAPE_Z_SET(t->z);
    WORD(TOPOLOGY_PLACE) = shown_place(&t->own);
    WORD(TOPOLOGY_REACHABLE) = TRN_MISC_RAM_TOPOLOGY_REACHABLE_SERVER_SET(reachable.server) |
                               TRN_MISC_RAM_TOPOLOGY_REACHABLE_RACK_SET(reachable.rack) |
                               TRN_MISC_RAM_TOPOLOGY_REACHABLE_OTHER_SET(reachable.other);
    WORD(TOPOLOGY_PORTS) = overview(t, ports);
    for (unsigned p = 0; p < TOPOLOGY_PORTS; ++p) fill_port(t, p, &ports[p]);
}

static bool is_published(void) {
    for (unsigned n = 0; n < WORDS; ++n)
        if (misc_ram_read(MISC_RAM(TOPOLOGY_MAGIC) + 4 * n) != table[n]) return false;
    return true;
}

void topology_table_publish(const struct topology* t, const struct port* ports,
                            struct reachable reachable) {
    const uint32_t sequence = misc_ram_read(MISC_RAM(TOPOLOGY_SEQUENCE));
    fill(t, ports, reachable);
    WORD(TOPOLOGY_SEQUENCE) = sequence;
    if (sequence % 2 == 0 && is_published()) return;  // unchanged: no write
    WORD(TOPOLOGY_SEQUENCE) = sequence | 1;
    misc_ram_write(MISC_RAM(TOPOLOGY_SEQUENCE), sequence | 1);
    mmio_fence();
    for (unsigned n = 0; n < WORDS; ++n) misc_ram_write(MISC_RAM(TOPOLOGY_MAGIC) + 4 * n, table[n]);
    mmio_fence();
    misc_ram_write(MISC_RAM(TOPOLOGY_SEQUENCE), (sequence | 1) + 1);
}
