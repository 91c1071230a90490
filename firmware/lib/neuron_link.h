// SPDX-License-Identifier: Apache-2.0
// The chip's ports to other chips: links, questions to partners, routing table, windows.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <trn/fabric_identity_regs.h>
#include <trn/neuron_link_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define NEURON_LINK(reg) (MAP_NEURON_LINK + TRN_NEURON_LINK_##reg##_OFFSET)
#define NEURON_LINK_AT(reg, index) (MAP_NEURON_LINK + TRN_NEURON_LINK_##reg##_OFFSET(index))
#define NEURON_LINK_PORTS TRN_NEURON_LINK_PORT_STATUS_COUNT
#define NEURON_LINK_WINDOWS TRN_NEURON_LINK_WINDOW_COUNT

/// A chip's place as the registers of the fabric have it.
struct fabric_id {
    uint8_t rack, server, chip;
};
static inline uint32_t fabric_id_bits(struct fabric_id id) {
    return TRN_FABRIC_IDENTITY_ID_RACK_SET(id.rack) | TRN_FABRIC_IDENTITY_ID_SERVER_SET(id.server) |
           TRN_FABRIC_IDENTITY_ID_CHIP_SET(id.chip);
}

// --- Links -------------------------------------------------------------------------------------

struct link_status {
    bool up, degraded;
    uint8_t generation, lanes, lanes_full, downs;
};
/// Ports that have a cable, one bit each.
uint32_t neuron_link_connected(void);
struct link_status neuron_link_status(unsigned port);
/// Asks for the link; it comes up when the partner has asked too.
void neuron_link_train(unsigned port);

/// Ports whose link changed, and ports whose partner asks to be looked at again.
struct link_news {
    uint32_t changed, noticed;
};
/// Lets the interrupt tell news and the ends of configuration accesses.
void neuron_link_listen(void);
/// What came since the last call; lowers the interrupt.
struct link_news neuron_link_take_news(void);

// --- Partners ----------------------------------------------------------------------------------

/// A word of the identity block (fabric_identity.regs.yaml) of the partner on a port. False, after
/// a limited time, without a response. Interrupts must be on: sleeps meanwhile.
bool neuron_link_read_partner(unsigned port, uint32_t offset, uint32_t* answer);
bool neuron_link_write_partner(unsigned port, uint32_t offset, uint32_t word);

/// Writes the identity and the announcement that partners read, and signals the change to them.
void neuron_link_introduce(uint64_t serial, struct fabric_id own);
void neuron_link_announce(const uint32_t* words, unsigned count);

// --- Ways --------------------------------------------------------------------------------------

#define NEURON_LINK_NO_PORT 0xffu  // no way there

void neuron_link_route_chip(unsigned chip, unsigned port);
void neuron_link_route_server(unsigned server, unsigned port);
void neuron_link_route_rack(unsigned rack, unsigned port);
/// A window of contract 3.1 that leads to the partner of a port, or to a chip.
void neuron_link_window_to_port(unsigned window, unsigned port);
void neuron_link_window_to_chip(unsigned window, struct fabric_id to);
