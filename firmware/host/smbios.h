// SPDX-License-Identifier: Apache-2.0
// SMBIOS 3.3 tables of a server: firmware, system, board and chassis, with the names of an EC2
// instance.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/lib/image_store.h"

/// Writes the entry point, then the structures, into `size` bytes at `place`, a multiple of 16.
/// False: they have no room.
bool smbios_write(const struct image_store_machine* machine, uint8_t* place, size_t size);
