/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

/* Reader of the topology table that firmware publishes (doc/topology.md): invented words of misc
 * RAM, which the public driver does not read. */

#define FIRST_WORD (MISC_RAM(TOPOLOGY_MAGIC) / 4)
#define MAX_TRIES 100u
#define TRY_AGAIN (10 * NS_PER_US) /* firmware needs a few microseconds */

_Static_assert(TRN_TOPOLOGY_OFFSET == TRN_MISC_RAM_TOPOLOGY_MAGIC_OFFSET, "the table's place");
_Static_assert(TRN_MAX_PORTS == TRN_MISC_RAM_TOPOLOGY_PORT_LINK_COUNT, "the table's ports");
_Static_assert(TRN_TOPOLOGY_OFFSET + 4 * TRN_TOPOLOGY_WORDS ==
                   TRN_MISC_RAM_TOPOLOGY_PORT_LINK_OFFSET(TRN_MAX_PORTS),
               "the table's length");

#define WORD(words, name) ((words)[MISC_RAM(name) / 4 - FIRST_WORD])
#define WORD_OF(words, name, port) ((words)[MISC_RAM(name)(port) / 4 - FIRST_WORD])

static trn_place place_of(uint32_t word) {
    return (trn_place){TRN_MISC_RAM_TOPOLOGY_PLACE_RACK_GET(word),
                       TRN_MISC_RAM_TOPOLOGY_PLACE_SERVER_GET(word),
                       TRN_MISC_RAM_TOPOLOGY_PLACE_CHIP_GET(word)};
}

static trn_link link_of(const uint32_t* words, uint32_t port) {
    const uint32_t link = WORD_OF(words, TOPOLOGY_PORT_LINK, port);
    const uint32_t partner = WORD_OF(words, TOPOLOGY_PORT_PARTNER, port);
    const uint32_t ports = WORD(words, TOPOLOGY_PORTS);
    return (trn_link){
        .connected = TRN_MISC_RAM_TOPOLOGY_PORTS_CONNECTED_GET(ports) >> port & 1,
        .up = TRN_MISC_RAM_TOPOLOGY_PORT_LINK_UP_GET(link),
        .generation = TRN_MISC_RAM_TOPOLOGY_PORT_LINK_GENERATION_GET(link),
        .lanes = TRN_MISC_RAM_TOPOLOGY_PORT_LINK_LANES_GET(link),
        .lanes_full = TRN_MISC_RAM_TOPOLOGY_PORT_LINK_LANES_FULL_GET(link),
        .downs = TRN_MISC_RAM_TOPOLOGY_PORT_LINK_DOWNS_GET(link),
        .fault = (trn_link_fault)TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_FAULT_GET(partner),
        .identified = TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_IDENTIFIED_GET(partner),
        .partner = {(trn_partner_kind)TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_KIND_GET(partner),
                    place_of(WORD_OF(words, TOPOLOGY_PORT_ID, port))},
        .partner_port = TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_PORT_GET(partner),
        .serial = (uint64_t)WORD_OF(words, TOPOLOGY_PORT_SERIAL_HI, port) << 32 |
                  WORD_OF(words, TOPOLOGY_PORT_SERIAL_LO, port),
        .expected = {(trn_partner_kind)TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_EXPECTED_GET(partner),
                     place_of(WORD_OF(words, TOPOLOGY_PORT_EXPECTED_ID, port))}};
}

bool trn_topology_decode(const uint32_t* words, trn_topology* topology) {
    if (!words || !topology) return false;
    *topology = (trn_topology){.kind = TRN_TOPOLOGY_NONE};
    if (WORD(words, TOPOLOGY_MAGIC) != TRN_MISC_RAM_TOPOLOGY_MAGIC_WORD_VALUE) return true;
    if (WORD(words, TOPOLOGY_SEQUENCE) % 2 != 0) return false;
    const uint32_t shape = WORD(words, TOPOLOGY_SHAPE);
    const uint32_t reachable = WORD(words, TOPOLOGY_REACHABLE);
    topology->kind = (trn_topology_kind)TRN_MISC_RAM_TOPOLOGY_SHAPE_KIND_GET(shape);
    topology->x = TRN_MISC_RAM_TOPOLOGY_SHAPE_X_GET(shape);
    topology->y = TRN_MISC_RAM_TOPOLOGY_SHAPE_Y_GET(shape);
    topology->z = TRN_MISC_RAM_TOPOLOGY_SHAPE_Z_GET(shape);
    topology->own = place_of(WORD(words, TOPOLOGY_PLACE));
    topology->reachable_server = TRN_MISC_RAM_TOPOLOGY_REACHABLE_SERVER_GET(reachable);
    topology->reachable_rack = TRN_MISC_RAM_TOPOLOGY_REACHABLE_RACK_GET(reachable);
    topology->reachable_other = TRN_MISC_RAM_TOPOLOGY_REACHABLE_OTHER_GET(reachable);
    for (uint32_t port = 0; port < TRN_MAX_PORTS; ++port)
        topology->ports[port] = link_of(words, port);
    return true;
}

static trn_status read_table(trn_device* device, uint32_t* words) {
    trn_mmio io = trn_mmio_of(device);
    for (uint32_t n = 0; n < TRN_TOPOLOGY_WORDS; ++n)
        words[n] = trn_mmio_read(&io, trn_misc_ram_word(device, TRN_TOPOLOGY_OFFSET + 4 * n));
    /* An unchanged sequence number: no write in between. */
    const uint32_t sequence =
        trn_mmio_read(&io, trn_misc_ram_word(device, MISC_RAM(TOPOLOGY_SEQUENCE)));
    if (sequence != WORD(words, TOPOLOGY_SEQUENCE)) WORD(words, TOPOLOGY_SEQUENCE) |= 1;
    return io.status;
}

trn_status trn_get_topology(trn_device* device, trn_topology* topology) {
    if (!device || !topology) return trn_no_argument(device);
    trn_status status = trn_need_probe(device);
    for (uint32_t n = 0; status == TRN_OK && n < MAX_TRIES; ++n) {
        uint32_t words[TRN_TOPOLOGY_WORDS] = {0};
        status = read_table(device, words);
        if (status != TRN_OK || trn_topology_decode(words, topology)) return status;
        status = trn_pause(device, TRY_AGAIN);
    }
    if (status != TRN_OK) return status;
    return trn_fail(device, TRN_TIMED_OUT, "firmware does not stop writing the topology table");
}

/* Decision 0009: bit 63, the window in 62:61, then rack, server and chip above the chip's own 48.
 */
uint64_t trn_remote_address(const trn_place* place, uint32_t window, uint64_t address) {
    if (!place) return 0;
    return UINT64_C(1) << 63 | (uint64_t)(window & 3) << 61 | (uint64_t)(place->rack & 1) << 60 |
           (uint64_t)(place->server & 31) << 55 | (uint64_t)(place->chip & 15) << 51 | address;
}

const char* trn_partner_text(trn_partner_kind kind) {
    switch (kind) {
    case TRN_PARTNER_CHIP:
        return "chip";
    case TRN_PARTNER_SLED_SWITCH:
        return "sled_switch";
    case TRN_PARTNER_RACK_SWITCH:
        return "rack_switch";
    case TRN_PARTNER_NONE:
        break;
    }
    return "none";
}

const char* trn_link_fault_text(trn_link_fault fault) {
    switch (fault) {
    case TRN_LINK_OK:
        return "ok";
    case TRN_LINK_NOT_CONNECTED:
        return "no cable";
    case TRN_LINK_DOWN:
        return "down";
    case TRN_LINK_SILENT:
        return "no response";
    case TRN_LINK_GARBAGE:
        return "invalid response";
    case TRN_LINK_WRONG_PARTNER:
        return "wrong partner";
    case TRN_LINK_WRONG_PORT:
        return "wrong port of the partner";
    case TRN_LINK_UNEXPECTED:
        return "unexpected cable";
    case TRN_LINK_DEGRADED:
        return "degraded";
    case TRN_LINK_DUPLICATE:
        return "another chip has this place";
    }
    return "unknown fault";
}
