// SPDX-License-Identifier: Apache-2.0
// The table at the start of the image store, which --load fills: what the loader copies into RAM.
// Invented; models/image_store writes the same structures.
#pragma once

#include <stdint.h>

#define IMAGE_STORE_MAGIC 0x534e5254u  // "TRNS"
#define IMAGE_STORE_FORMAT 1u
#define IMAGE_STORE_MAX_IMAGES 169u  // of a table of 4 KiB

struct image_store_header {
    uint32_t magic, format, count, reserved;
    uint64_t entry;  ///< address of the first image, which is started
    uint64_t next;   ///< of the second, which it may start in turn; 0: there is none
    uint64_t tree;   ///< of the device tree
};

struct image_store_entry {
    uint64_t address, length;
    uint64_t offset;  ///< in the store
};
