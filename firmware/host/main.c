// SPDX-License-Identifier: Apache-2.0
// Boot ROM of a server's processors: hart 0 copies the images of the image store into RAM, writes
// the tables of the machine, and lets ports forward errors; then all harts start the first image.
#include "firmware/host/boot_tables.h"
#include "firmware/host/pcie_errors.h"
#include "firmware/lib/console.h"
#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/memory_map.h"
#include "firmware/lib/drivers/mmio.h"
#include "firmware/lib/image_loader.h"
#include "firmware/lib/irq.h"
#include "firmware/lib/log.h"
#include "firmware/lib/timer.h"
#include "firmware/lib/version.h"

struct image_start host_start;  ///< of the other harts, which read it in entry.S

static void nothing(void) {}

static void wake(unsigned hart) {
    mmio_write(MAP_ACLINT + 4 * hart, 1);
}

static void write_tables(const struct image_store_header* store) {
    if (store->machine == 0) return;
    const struct image_store_machine* const machine =
        (const void*)(MAP_HOST_IMAGE_STORE + store->machine);
    if (boot_tables_write(machine, store->next, (uint8_t*)store->tree))
        log_info("tables: %s at %lx", machine->product, machine->tables);
    else
        log_warn("tables: no places for them in the device tree");
}

int main(void) {
    console_init();
    timer_init();
    csr_set(mstatus, MSTATUS_MIE);
    log_info("host boot ROM %s", firmware_version);
    const struct image_memory storage = {MAP_HOST_IMAGE_STORE, MAP_HOST_IMAGE_STORE_SIZE};
    const struct image_memory ram = {MAP_RAM, MAP_HOST_IMAGE_STORE - MAP_RAM};
    if (image_loader_copy(storage, ram, nothing)) {
        const struct image_store_header* const store = (const void*)MAP_HOST_IMAGE_STORE;
        write_tables(store);
        pcie_errors_forward(MAP_HOST_CONFIG_SPACE);
        host_start = image_loader_entry(store);
        log_info("loader: starts %lx, device tree at %lx", host_start.entry, host_start.tree);
        console_flush();
        for (unsigned hart = 1; hart < HOST_MAX_HARTS; ++hart) wake(hart);
        image_loader_start(&host_start);
    }
    console_flush();
    csr_write(mie, 0);
    for (;;) wait_for_interrupt();
}
