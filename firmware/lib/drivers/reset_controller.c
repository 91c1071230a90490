// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/drivers/reset_controller.h"

#include <stdio.h>
#include <string.h>

const struct reset_domains reset_everything = {
    .dma = TRN_RESET_CONTROLLER_DMA_RESET_GROUPS_MASK | TRN_RESET_CONTROLLER_DMA_RESET_HOST_MASK,
    .tpb = TRN_RESET_CONTROLLER_TPB_RESET_CORES_MASK,
    .top_sp = TRN_RESET_CONTROLLER_TOP_SP_RESET_PAIRS_MASK,
};

struct boot_straps boot_straps_read(void) {
    const uint32_t platform = mmio_read(RESET_CONTROLLER(STRAP_PLATFORM));
    return (struct boot_straps){
        .routing_id = (uint8_t)mmio_read(RESET_CONTROLLER(STRAP_POSITION)),
        .revision = (uint8_t)TRN_RESET_CONTROLLER_STRAP_PLATFORM_REVISION_GET(platform),
        .generation = (uint8_t)TRN_RESET_CONTROLLER_STRAP_PLATFORM_GENERATION_GET(platform),
        .recovery = platform & TRN_RESET_CONTROLLER_STRAP_PLATFORM_RECOVERY_MASK,
        .slot_b = platform & TRN_RESET_CONTROLLER_STRAP_PLATFORM_SLOT_B_MASK,
        .serial_low = mmio_read(RESET_CONTROLLER(STRAP_SERIAL_LO)),
        .serial_high = mmio_read(RESET_CONTROLLER(STRAP_SERIAL_HI)),
        .server = mmio_read(RESET_CONTROLLER(STRAP_SERVER)),
        .topology = mmio_read(RESET_CONTROLLER(STRAP_TOPOLOGY)),
        .place = mmio_read(RESET_CONTROLLER(STRAP_PLACE)),
    };
}

void boot_status_set(uint32_t stage, uint32_t error) {
    const uint32_t kept = mmio_read(RESET_CONTROLLER(BOOT_STATUS)) &
                          (TRN_RESET_CONTROLLER_BOOT_STATUS_SLOT_MASK |
                           TRN_RESET_CONTROLLER_BOOT_STATUS_FELL_BACK_MASK |
                           TRN_RESET_CONTROLLER_BOOT_STATUS_NOT_READY_MASK);
    mmio_write(RESET_CONTROLLER(BOOT_STATUS),
               kept | TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_SET(stage) |
                   TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_SET(error));
}

void boot_status_note(uint32_t bits) {
    mmio_set(RESET_CONTROLLER(BOOT_STATUS), bits);
}

const char* reset_reason_text(uint32_t reason, char* buffer, unsigned size) {
    static const struct {
        uint32_t bit;
        const char* word;
    } causes[] = {
        {TRN_RESET_CONTROLLER_RESET_REASON_POWER_ON_MASK, "power-on"},
        {TRN_RESET_CONTROLLER_RESET_REASON_WATCHDOG_MASK, "watchdog"},
        {TRN_RESET_CONTROLLER_RESET_REASON_SOFTWARE_MASK, "software"},
        {TRN_RESET_CONTROLLER_RESET_REASON_THERMAL_MASK, "thermal trip"},
        {TRN_RESET_CONTROLLER_RESET_REASON_HOST_MASK, "host"},
    };
    snprintf(buffer, size, "unknown");
    unsigned used = 0;
    for (unsigned i = 0; i < sizeof causes / sizeof causes[0] && used < size; ++i)
        if (reason & causes[i].bit)
            used += (unsigned)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "",
                                       causes[i].word);
    return buffer;
}

void reset_assert(const struct reset_domains* domains) {
    mmio_set(RESET_CONTROLLER(DMA_RESET), domains->dma);
    mmio_set(RESET_CONTROLLER(TPB_RESET), domains->tpb);
    mmio_set(RESET_CONTROLLER(TOP_SP_RESET), domains->top_sp);
}

void reset_release(const struct reset_domains* domains) {
    mmio_clear(RESET_CONTROLLER(TOP_SP_RESET), domains->top_sp);
    mmio_clear(RESET_CONTROLLER(TPB_RESET), domains->tpb);
    mmio_clear(RESET_CONTROLLER(DMA_RESET), domains->dma);
}
