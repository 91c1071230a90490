// SPDX-License-Identifier: Apache-2.0
// Copies the images of an image store into RAM and starts the first one in machine mode, as OpenSBI
// expects it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/lib/image_store.h"

struct image_memory {
    uint64_t base, size;  ///< bytes
};

/// What the first image is started with, besides its hart in a0.
struct image_start {
    uint64_t entry;
    uint64_t tree;  ///< address of the device tree, for a1
    uint64_t next;  ///< address of OpenSBI's struct fw_dynamic_info, for a2
};

/// Copies all images of the store at `storage.base` and calls `between` after every 16 MiB. False,
/// with a line in the log: the store is empty, or an image is not inside the RAM.
bool image_loader_copy(struct image_memory storage, struct image_memory ram, void (*between)(void));
/// What starts the images of the store; the second one is the next stage, in supervisor mode.
struct image_start image_loader_entry(const struct image_store_header* store);
/// Starts the first image on this hart, without interrupts.
_Noreturn void image_loader_start(const struct image_start* start);
