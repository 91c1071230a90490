// SPDX-License-Identifier: Apache-2.0
#include "firmware/host/pcie_errors.h"

#include <stdbool.h>

#include "firmware/lib/drivers/mmio.h"

enum {
    config_identity = 0x00,
    config_command = 0x04,  // the upper half is the status, whose bits are cleared by ones
    config_command_mask = 0xffff,
    config_command_serr = 1 << 8,
    config_header = 0x0c,
    config_buses = 0x18,
    devices_of_bus = 32,
    functions_of_device = 8,
    max_depth = 8,  // of bridges below each other
};

static bool is_multi_function(uint32_t header) {
    return (header >> 23 & 1) != 0;
}

static bool is_bridge(uint32_t header) {
    return (header >> 16 & 0x7f) == 1;
}

static void forward_on(uintptr_t config_space, unsigned bus);

static void forward_by(uintptr_t config_space, unsigned bus, uintptr_t bridge) {
    const uint32_t command = mmio_read(bridge + config_command) & config_command_mask;
    mmio_write(bridge + config_command, command | config_command_serr);
    if (bus + 1 == max_depth) return;
    // One bridge of each level is open at a time, so that levels can be buses.
    mmio_write(bridge + config_buses, 0xffu << 16 | (bus + 1) << 8 | bus);
    forward_on(config_space, bus + 1);
    mmio_write(bridge + config_buses, 0);
}

static void forward_on(uintptr_t config_space, unsigned bus) {
    for (unsigned device = 0; device < devices_of_bus; ++device) {
        for (unsigned number = 0; number < functions_of_device; ++number) {
            const uintptr_t function =
                config_space + ((uintptr_t)bus << 20) + (device << 15) + (number << 12);
            if (mmio_read(function + config_identity) == ~0u) {
                if (number == 0) break;
                continue;
            }
            const uint32_t header = mmio_read(function + config_header);
            if (is_bridge(header)) forward_by(config_space, bus, function);
            if (number == 0 && !is_multi_function(header)) break;
        }
    }
}

void pcie_errors_forward(uintptr_t config_space) {
    forward_on(config_space, 0);
}
