// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/neuron_link.h"

#include "firmware/lib/timer.h"

// Far above the hardware's own timeout, so that broken hardware does not stall the firmware.
#define ANSWER_LIMIT_US 1000

// --- Links -------------------------------------------------------------------------------------

uint32_t neuron_link_connected(void) {
    return TRN_NEURON_LINK_PORTS_PRESENT_GET(mmio_read(NEURON_LINK(PORTS)));
}

struct link_status neuron_link_status(unsigned port) {
    const uint32_t status = mmio_read(NEURON_LINK_AT(PORT_STATUS, port));
    const uint32_t errors = mmio_read(NEURON_LINK_AT(PORT_ERRORS, port));
    const bool up = status & TRN_NEURON_LINK_PORT_STATUS_UP_MASK;
    return (struct link_status){
        .up = up,
        .degraded = status & TRN_NEURON_LINK_PORT_STATUS_DEGRADED_MASK,
        .generation = (uint8_t)(up ? TRN_NEURON_LINK_PORT_STATUS_GENERATION_GET(status) : 0),
        .lanes = (uint8_t)(up ? TRN_NEURON_LINK_PORT_STATUS_LANES_GET(status) : 0),
        .lanes_full = (uint8_t)TRN_NEURON_LINK_PORT_STATUS_LANES_FULL_GET(status),
        .downs = (uint8_t)TRN_NEURON_LINK_PORT_ERRORS_DOWNS_GET(errors)};
}

void neuron_link_train(unsigned port) {
    mmio_write(NEURON_LINK_AT(PORT_CONTROL, port), TRN_NEURON_LINK_PORT_CONTROL_TRAIN_MASK);
}

void neuron_link_enable_irqs(void) {
    mmio_write(NEURON_LINK(IRQ_ENABLE), TRN_NEURON_LINK_IRQ_ENABLE_CAUSES_MASK);
}

struct link_events neuron_link_take_events(void) {
    const uint32_t causes = mmio_read(NEURON_LINK(IRQ_STATUS));
    mmio_write(NEURON_LINK(IRQ_STATUS), causes);
    return (struct link_events){.changed = TRN_NEURON_LINK_IRQ_STATUS_CHANGED_GET(causes),
                                .noticed = TRN_NEURON_LINK_IRQ_STATUS_NOTICE_GET(causes)};
}

// --- Partners ----------------------------------------------------------------------------------

static bool access_ended(const void* port) {
    const uint32_t state = mmio_read(NEURON_LINK_AT(CONFIG_COMMAND, *(const unsigned*)port));
    return (state & TRN_NEURON_LINK_CONFIG_COMMAND_BUSY_MASK) == 0;
}

/// One configuration access. Sleeps until the interrupt at its end. False: error or timeout.
static bool access(unsigned port, uint32_t offset, uint32_t command) {
    mmio_write(NEURON_LINK_AT(CONFIG_ADDRESS, port), offset);
    mmio_write(NEURON_LINK_AT(CONFIG_COMMAND, port),
               command | TRN_NEURON_LINK_CONFIG_COMMAND_GO_MASK);
    if (!timer_wait_irq(access_ended, &port, ANSWER_LIMIT_US)) return false;
    const uint32_t state = mmio_read(NEURON_LINK_AT(CONFIG_COMMAND, port));
    return TRN_NEURON_LINK_CONFIG_COMMAND_ERROR_GET(state) ==
           TRN_NEURON_LINK_CONFIG_COMMAND_ERROR_NONE;
}

bool neuron_link_read_partner(unsigned port, uint32_t offset, uint32_t* answer) {
    if (!access(port, offset, 0)) return false;
    *answer = mmio_read(NEURON_LINK_AT(CONFIG_DATA, port));
    return true;
}

bool neuron_link_write_partner(unsigned port, uint32_t offset, uint32_t word) {
    mmio_write(NEURON_LINK_AT(CONFIG_DATA, port), word);
    return access(port, offset, TRN_NEURON_LINK_CONFIG_COMMAND_WRITE_MASK);
}

void neuron_link_set_identity(uint64_t serial, struct fabric_id own) {
    mmio_write(NEURON_LINK(OWN_SERIAL_LO), (uint32_t)serial);
    mmio_write(NEURON_LINK(OWN_SERIAL_HI), (uint32_t)(serial >> 32));
    mmio_write(NEURON_LINK(OWN_ID), fabric_id_bits(own) | TRN_NEURON_LINK_OWN_ID_VALID_MASK);
}

void neuron_link_announce(const uint32_t* words, unsigned count) {
    for (unsigned n = 1; n < count; ++n) mmio_write(NEURON_LINK_AT(OWN_DISTANCES, n - 1), words[n]);
    mmio_write(NEURON_LINK(OWN_STATE), words[0]);  // last: this write notifies the partners
}

// --- Routes ------------------------------------------------------------------------------------

static uint32_t route(unsigned port) {
    return port == NEURON_LINK_NO_PORT
               ? 0
               : TRN_NEURON_LINK_ROUTE_CHIP_VALID_MASK | TRN_NEURON_LINK_ROUTE_CHIP_PORT_SET(port);
}

void neuron_link_route_chip(unsigned chip, unsigned port) {
    mmio_write(NEURON_LINK_AT(ROUTE_CHIP, chip), route(port));
}

void neuron_link_route_server(unsigned server, unsigned port) {
    mmio_write(NEURON_LINK_AT(ROUTE_SERVER, server), route(port));
}

void neuron_link_route_rack(unsigned rack, unsigned port) {
    mmio_write(NEURON_LINK_AT(ROUTE_RACK, rack), route(port));
}

void neuron_link_window_to_port(unsigned window, unsigned port) {
    mmio_write(NEURON_LINK_AT(WINDOW, window),
               TRN_NEURON_LINK_WINDOW_VALID_MASK | TRN_NEURON_LINK_WINDOW_PORT_SET(port));
}

void neuron_link_window_to_chip(unsigned window, struct fabric_id destination) {
    mmio_write(NEURON_LINK_AT(WINDOW, window), TRN_NEURON_LINK_WINDOW_VALID_MASK |
                                                   TRN_NEURON_LINK_WINDOW_BY_ID_MASK |
                                                   fabric_id_bits(destination));
}
