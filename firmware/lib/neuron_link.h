// SPDX-License-Identifier: Apache-2.0
// The chip's ports to other chips: links, configuration accesses to partners, routing table,
// windows.
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

/// A chip's place, as in registers of the fabric.
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
/// Starts training; the link comes up when the partner trains too.
void neuron_link_train(unsigned port);

/// Ports whose link changed, and ports whose partner sent a notice (its state changed): bit masks.
struct link_events {
    uint32_t changed, noticed;
};
/// Enables the interrupts of link events and of completed configuration accesses.
void neuron_link_enable_irqs(void);
/// Returns the events since the last call and lowers the interrupt.
struct link_events neuron_link_take_events(void);

// --- Partners ----------------------------------------------------------------------------------

/// Reads or writes a word of the identity block (fabric_identity.regs.yaml) of a port's partner.
/// Sleeps until the response; false on an error or a timeout. Precondition: interrupts are on.
bool neuron_link_read_partner(unsigned port, uint32_t offset, uint32_t* answer);
bool neuron_link_write_partner(unsigned port, uint32_t offset, uint32_t word);

/// Write the identity and the announcement that partners read. The announcement also notifies them.
void neuron_link_set_identity(uint64_t serial, struct fabric_id own);
void neuron_link_announce(const uint32_t* words, unsigned count);

// --- Routes ------------------------------------------------------------------------------------

#define NEURON_LINK_NO_PORT 0xffu  // no route

void neuron_link_route_chip(unsigned chip, unsigned port);
void neuron_link_route_server(unsigned server, unsigned port);
void neuron_link_route_rack(unsigned rack, unsigned port);
/// Set the destination of a neighbour window (contract 3.1): the partner of a port, or a chip.
void neuron_link_window_to_port(unsigned window, unsigned port);
void neuron_link_window_to_chip(unsigned window, struct fabric_id destination);
