// SPDX-License-Identifier: Apache-2.0
// Boot ROM: starts the firmware image of slot A, or of slot B when A is refused.
#include <stdio.h>
#include <string.h>

#include "firmware/lib/console.h"
#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/mmio.h"
#include "firmware/lib/drivers/reset_controller.h"
#include "firmware/lib/drivers/watchdog.h"
#include "firmware/lib/image.h"
#include "firmware/lib/log.h"
#include "firmware/lib/timer.h"
#include "firmware/lib/version.h"

static const struct slot {
    char name;
    uint32_t offset;
} slots[] = {{'A', IMAGE_SLOT_A}, {'B', IMAGE_SLOT_B}};

/// From the ROM's first instruction until the image services, starts or stops the watchdog.
#define WATCHDOG_BITE_US 2000000

extern char rom_ram_start[];  // start of the SRAM that the ROM itself uses

/// Copies the payload to its load address and checks the copy, which is what runs.
static enum image_fault load(const struct slot* slot, struct image_header* header) {
    const uintptr_t flash = MAP_FLASH_WINDOW + slot->offset;
    const struct image_limits limits = {
        .slot_size = IMAGE_SLOT_SIZE, .first = MAP_SRAM, .end = (uintptr_t)rom_ram_start};

    memcpy(header, (const void*)flash, sizeof *header);
    enum image_fault fault = image_check_header(header, &limits);
    if (fault != IMAGE_OK) return fault;
    memcpy((void*)header->load_address, (const void*)(flash + sizeof *header), header->length);
    return image_check_payload(header, (const void*)header->load_address);
}

/// `fell_back`: bits of BOOT_STATUS.
_Noreturn static void start(const struct slot* slot, const struct image_header* header,
                            uint32_t fell_back) {
    boot_status_note((slot->name == 'B' ? TRN_RESET_CONTROLLER_BOOT_STATUS_SLOT_MASK : 0) |
                     fell_back);
    log_info("boot ROM: slot %c, version %s, %u bytes at %lx", slot->name, header->version,
             header->length, header->load_address);
    csr_write(mie, 0);
    __asm__ volatile("fence.i\n jr %0" ::"r"(header->entry) : "memory");
    __builtin_unreachable();
}

_Noreturn static void wait_for_recovery(uint32_t error) {
    boot_status_set(TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_NO_IMAGE, error);
    log_error("boot ROM: waiting for recovery (write the flash, then reset the chip)");
    watchdog_stop();
    csr_write(mie, 0);
    for (;;) wait_for_interrupt();
}

/// Counts this start; firmware clears the count when it is ready. True when the other slot is to be
/// tried: after STARTS_PER_SLOT starts without ready the slots alternate. An image that passes
/// every check and never becomes ready does not cause watchdog resets for ever: after MAX_STARTS
/// the ROM waits for recovery.
static bool use_other_slot(uint32_t reset_reason) {
    enum { STARTS_PER_SLOT = 2, MAX_STARTS = 4 * STARTS_PER_SLOT };
    const uint32_t starts = mmio_read(RESET_CONTROLLER_SCRATCH(BOOT_STARTS));
    if (starts >= MAX_STARTS && (reset_reason & TRN_RESET_CONTROLLER_RESET_REASON_WATCHDOG_MASK)) {
        log_error("boot ROM: firmware did not become ready in %u starts of both slots", starts);
        mmio_write(RESET_CONTROLLER_SCRATCH(BOOT_STARTS), 0);  // the next reset starts anew
        mmio_write(RESET_CONTROLLER(RESET_REASON), reset_reason);
        wait_for_recovery(TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_NOT_READY);
    }
    mmio_write(RESET_CONTROLLER_SCRATCH(BOOT_STARTS), starts + 1);
    const bool other_slot = starts / STARTS_PER_SLOT % 2 != 0;
    if (other_slot) log_warn("boot ROM: firmware did not become ready in %u starts", starts);
    return other_slot;
}

int main(void) {
    watchdog_start_unlocked(WATCHDOG_BITE_US);
    console_init();
    timer_init();
    mmio_write(RESET_CONTROLLER(BOOT_STATUS), 0);
    boot_status_set(TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_ROM,
                    TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_NONE);

    const struct boot_straps straps = boot_straps_read();
    const uint32_t reason = mmio_read(RESET_CONTROLLER(RESET_REASON));
    char reasons[64];
    log_info("boot ROM %s: chip %u, serial %08x%08x, reset by %s", firmware_version,
             straps.routing_id, straps.serial_high, straps.serial_low,
             reset_reason_text(reason, reasons, sizeof reasons));
    if (straps.recovery) {
        log_warn("boot ROM: recovery strap is set");
        wait_for_recovery(TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_NONE);
    }

    const unsigned preferred = straps.slot_b ? 1u : 0u;
    const bool not_ready = use_other_slot(reason);
    for (unsigned attempt = 0; attempt < 2; ++attempt) {
        const unsigned number = preferred ^ (not_ready ? 1u : 0u) ^ attempt;
        const struct slot* slot = &slots[number];
        struct image_header header;
        const enum image_fault fault = load(slot, &header);
        const uint32_t because = TRN_RESET_CONTROLLER_BOOT_STATUS_FELL_BACK_MASK |
                                 (not_ready ? TRN_RESET_CONTROLLER_BOOT_STATUS_NOT_READY_MASK : 0);
        if (fault == IMAGE_OK) start(slot, &header, number != preferred ? because : 0);
        log_error("boot ROM: slot %c refused: %s", slot->name, image_fault_text(fault));
    }
    log_error("boot ROM: no usable image");
    wait_for_recovery(TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_IMAGE);
}
