// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/misc_ram.h"

uint32_t misc_ram_read(uintptr_t address) {
    return mmio_read(address);
}

void misc_ram_write(uintptr_t address, uint32_t value) {
    mmio_write(address, value);
}
