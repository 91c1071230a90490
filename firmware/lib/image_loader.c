// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/image_loader.h"

#include <string.h>

#include "firmware/lib/csr.h"
#include "firmware/lib/log.h"

// struct fw_dynamic_info of OpenSBI, version 2 (include/sbi/fw_dynamic.h).
struct next_stage {
    unsigned long magic, version, address, mode, options, boot_hart;
};
#define NEXT_STAGE_MAGIC 0x4942534ful
#define NEXT_STAGE_VERSION 2ul
#define NEXT_STAGE_SUPERVISOR 1ul

/// Copied within the time of the boot ROM's watchdog, also byte by byte at an odd address.
#define MAX_PIECE (16ull << 20)

static bool lies_in(uint64_t address, uint64_t length, struct image_memory memory) {
    return address >= memory.base && address - memory.base <= memory.size &&
           length <= memory.size - (address - memory.base);
}

static bool copy(const struct image_store_entry* image, struct image_memory storage,
                 struct image_memory ram, void (*between)(void)) {
    const struct image_memory offsets = {0, storage.size};
    if (!lies_in(image->address, image->length, ram) ||
        !lies_in(image->offset, image->length, offsets)) {
        log_error("loader: image of %lu bytes at %lx is outside the RAM", image->length,
                  image->address);
        return false;
    }
    for (uint64_t done = 0, piece; done < image->length; done += piece) {
        piece = image->length - done < MAX_PIECE ? image->length - done : MAX_PIECE;
        between();
        memcpy((void*)(image->address + done), (const void*)(storage.base + image->offset + done),
               piece);
    }
    log_info("loader: %lu bytes at %lx", image->length, image->address);
    return true;
}

bool image_loader_copy(struct image_memory storage, struct image_memory ram,
                       void (*between)(void)) {
    const struct image_store_header* store = (const void*)storage.base;
    if (store->magic != IMAGE_STORE_MAGIC || store->format != IMAGE_STORE_FORMAT ||
        store->count > IMAGE_STORE_MAX_IMAGES) {
        log_error("loader: the image store is empty (--load FILE@ADDRESS fills it)");
        return false;
    }
    const struct image_store_entry* images = (const void*)(store + 1);
    for (uint32_t i = 0; i < store->count; ++i)
        if (!copy(&images[i], storage, ram, between)) return false;
    return true;
}

struct image_start image_loader_entry(const struct image_store_header* store) {
    static struct next_stage next;
    next = (struct next_stage){.magic = NEXT_STAGE_MAGIC,
                               .version = NEXT_STAGE_VERSION,
                               .address = store->next,
                               .mode = NEXT_STAGE_SUPERVISOR};
    return (struct image_start){store->entry, store->tree, (uint64_t)&next};
}

_Noreturn void image_loader_start(const struct image_start* start) {
    csr_write(mie, 0);
    csr_clear(mstatus, MSTATUS_MIE);
    register unsigned long hart __asm__("a0") = csr_read(mhartid);
    register unsigned long tree __asm__("a1") = start->tree;
    register unsigned long info __asm__("a2") = start->next;
    __asm__ volatile("fence.i\n jr %0" ::"r"(start->entry), "r"(hart), "r"(tree), "r"(info)
                     : "memory");
    __builtin_unreachable();
}
