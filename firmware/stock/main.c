// SPDX-License-Identifier: Apache-2.0
// Loader of stock software: trains the HBM, copies the images of the image store into it and starts
// the first one in machine mode, as OpenSBI expects (a0: hart, a1: device tree, a2: next stage).
#include <string.h>

#include "firmware/lib/console.h"
#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/mmio.h"
#include "firmware/lib/drivers/reset_controller.h"
#include "firmware/lib/drivers/watchdog.h"
#include "firmware/lib/image_store.h"
#include "firmware/lib/irq.h"
#include "firmware/lib/log.h"
#include "firmware/lib/panic.h"
#include "firmware/lib/timer.h"
#include "firmware/lib/version.h"
#include "firmware/mgmt/bring_up.h"
#include "firmware/mgmt/error_log.h"
#include "firmware/mgmt/misc_ram.h"

// struct fw_dynamic_info of OpenSBI, version 2 (include/sbi/fw_dynamic.h).
struct next_stage {
    unsigned long magic, version, address, mode, options, boot_hart;
};
#define NEXT_STAGE_MAGIC 0x4942534ful
#define NEXT_STAGE_VERSION 2ul
#define NEXT_STAGE_SUPERVISOR 1ul

/// Whether [address, address + length) lies in [base, base + size).
static bool lies_in(uint64_t address, uint64_t length, uint64_t base, uint64_t size) {
    return address >= base && address - base <= size && length <= size - (address - base);
}

/// Copied within the time of the boot ROM's watchdog, also byte by byte at an odd address.
#define MAX_PIECE (16ull << 20)

static bool copy(const struct image_store_entry* image) {
    if (!lies_in(image->address, image->length, MAP_RAM, MAP_RAM_SIZE) ||
        !lies_in(image->offset, image->length, 0, MAP_IMAGE_STORE_SIZE)) {
        log_error("loader: image of %lu bytes at %lx is outside the RAM", image->length,
                  image->address);
        return false;
    }
    for (uint64_t done = 0, piece; done < image->length; done += piece) {
        piece = image->length - done < MAX_PIECE ? image->length - done : MAX_PIECE;
        watchdog_service();
        memcpy((void*)(image->address + done),
               (const void*)(MAP_IMAGE_STORE + image->offset + done), piece);
    }
    log_info("loader: %lu bytes at %lx", image->length, image->address);
    return true;
}

static bool copy_all(const struct image_store_header* store) {
    if (store->magic != IMAGE_STORE_MAGIC || store->format != IMAGE_STORE_FORMAT ||
        store->count > IMAGE_STORE_MAX_IMAGES) {
        log_error("loader: the image store is empty (--load FILE@ADDRESS fills it)");
        return false;
    }
    const struct image_store_entry* images = (const void*)(store + 1);
    for (uint32_t i = 0; i < store->count; ++i)
        if (!copy(&images[i])) return false;
    return true;
}

_Noreturn static void start(const struct image_store_header* store) {
    static struct next_stage next;
    next = (struct next_stage){.magic = NEXT_STAGE_MAGIC,
                               .version = NEXT_STAGE_VERSION,
                               .address = store->next,
                               .mode = NEXT_STAGE_SUPERVISOR};
    mmio_write(RESET_CONTROLLER_SCRATCH(BOOT_STARTS), 0);
    log_info("loader: starts %lx, device tree at %lx", store->entry, store->tree);
    console_flush();
    watchdog_stop();  // stock software does not know it
    csr_write(mie, 0);
    csr_clear(mstatus, MSTATUS_MIE);
    register unsigned long hart __asm__("a0") = csr_read(mhartid);
    register unsigned long tree __asm__("a1") = store->tree;
    register unsigned long info __asm__("a2") = (unsigned long)&next;
    __asm__ volatile("fence.i\n jr %0" ::"r"(store->entry), "r"(hart), "r"(tree), "r"(info)
                     : "memory");
    __builtin_unreachable();
}

void panic_record(unsigned long pc, unsigned long cause) {
    error_log_add(ERROR_PANIC, (uint16_t)cause, pc);
}

int main(void) {
    console_init();
    timer_init();
    irq_init();
    misc_ram_write(MISC_RAM(ROUTING_ID), MISC_RAM_BOOTING);
    error_log_init();
    boot_status_set(TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_FIRMWARE,
                    TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_NONE);
    log_info("loader of stock software %s", firmware_version);
    const struct image_store_header* store = (const void*)MAP_IMAGE_STORE;
    if (bring_up_memory() && copy_all(store)) start(store);
    boot_status_set(TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_NO_IMAGE,
                    TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_IMAGE);
    console_flush();
    watchdog_stop();
    csr_write(mie, 0);
    for (;;) wait_for_interrupt();
}
