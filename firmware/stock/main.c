// SPDX-License-Identifier: Apache-2.0
// Loader of stock software: trains the HBM, copies the images of the image store into it and starts
// the first one.
#include "firmware/lib/console.h"
#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/mmio.h"
#include "firmware/lib/drivers/reset_controller.h"
#include "firmware/lib/drivers/watchdog.h"
#include "firmware/lib/image_loader.h"
#include "firmware/lib/irq.h"
#include "firmware/lib/log.h"
#include "firmware/lib/panic.h"
#include "firmware/lib/timer.h"
#include "firmware/lib/version.h"
#include "firmware/mgmt/bring_up.h"
#include "firmware/mgmt/error_log.h"
#include "firmware/mgmt/misc_ram.h"

_Noreturn static void start(void) {
    const struct image_start entry = image_loader_entry((const void*)MAP_IMAGE_STORE);
    mmio_write(RESET_CONTROLLER_SCRATCH(BOOT_STARTS), 0);
    log_info("loader: starts %lx, device tree at %lx", entry.entry, entry.tree);
    console_flush();
    watchdog_stop();  // stock software does not know it
    image_loader_start(&entry);
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
    const struct image_memory storage = {MAP_IMAGE_STORE, MAP_IMAGE_STORE_SIZE};
    const struct image_memory ram = {MAP_RAM, MAP_RAM_SIZE};
    if (bring_up_memory() && image_loader_copy(storage, ram, watchdog_service)) start();
    boot_status_set(TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_NO_IMAGE,
                    TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_IMAGE);
    console_flush();
    watchdog_stop();
    csr_write(mie, 0);
    for (;;) wait_for_interrupt();
}
