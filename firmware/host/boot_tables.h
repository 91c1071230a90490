// SPDX-License-Identifier: Apache-2.0
// Tables by which an operating system knows a server: SMBIOS, named by a system table of UEFI
// without services. A kernel that is started without UEFI's boot services finds them by properties
// of the device tree's /chosen, as Linux' own stub leaves them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/lib/image_store.h"

/// Writes the tables into the RAM of `machine`, and their places into `tree`. The RAM below
/// `kernel` is the firmware's. False: the tables have no room, or the tree has no properties for
/// them; then the tree is unchanged.
bool boot_tables_write(const struct image_store_machine* machine, uint64_t kernel, uint8_t* tree);
