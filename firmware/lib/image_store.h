// SPDX-License-Identifier: Apache-2.0
// The table at the start of the image store, which --load fills: the images that the loader copies
// into RAM. Invented; models/soc/image_store writes the same structures.
#pragma once

#include <stdint.h>

#define IMAGE_STORE_MAGIC 0x534e5254u  // "TRNS"
#define IMAGE_STORE_FORMAT 1u
#define IMAGE_STORE_MAX_IMAGES 169u  // that fit a table of 4 KiB

struct image_store_header {
    uint32_t magic, format, count;
    uint32_t machine;  ///< offset of a struct image_store_machine in the store; 0: none
    uint64_t entry;    ///< address of the first image, which the loader starts
    uint64_t next;     ///< address of the second image, which the first may start; 0: none
    uint64_t tree;     ///< address of the device tree
};

struct image_store_entry {
    uint64_t address, length;
    uint64_t offset;  ///< of the bytes in the store
};

/// A server, for the tables of its boot firmware. Sizes in bytes.
struct image_store_machine {
    uint64_t ram_base, ram_size;
    uint64_t tables, tables_size;       ///< the part of the RAM for tables
    char product[64], instance_id[64];  ///< end with zero; "": none
};
