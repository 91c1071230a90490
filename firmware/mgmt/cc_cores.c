// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/cc_cores.h"

#include <trn/cc_core_regs.h>

#include "firmware/lib/drivers/mmio.h"
#include "firmware/lib/drivers/watchdog.h"
#include "firmware/lib/log.h"
#include "firmware/mgmt/generation.h"
#include "firmware/mgmt/reach.h"

/// AXI address of a core's aperture; 0: the chip has no core of this number.
static uint64_t aperture_of(unsigned core) {
    for (unsigned die = 0; die < generation->dies; ++die) {
        const struct block_group* blocks = &generation->top_sps[die];
        if (core < blocks->count) return block_of(blocks, core);
        core -= blocks->count;
    }
    return 0;
}

static bool set_control(uint64_t aperture, uint32_t value) {
    const uint64_t address = aperture + MAP_CC_CONTROL + TRN_CC_CORE_CONTROL_OFFSET;
    uint32_t now = ~value;
    return can_reach(address) && axi_write(address, &value, sizeof value) &&
           axi_read(address, &now, sizeof now) && now == value;
}

static bool all_exist(uint32_t cores) {
    for (unsigned core = 0; core < 32; ++core)
        if (cores >> core & 1 && aperture_of(core) == 0) return false;
    return cores != 0;
}

static const struct image_limits limits = {
    .slot_size = sizeof(struct image_header) + MAP_CC_INSTRUCTIONS_SIZE,
    .first = MAP_CC_INSTRUCTIONS,
    .end = MAP_CC_INSTRUCTIONS + MAP_CC_INSTRUCTIONS_SIZE,
};

static unsigned start(unsigned core, const struct image_header* header, const void* payload) {
    const uint64_t aperture = aperture_of(core);
    return set_control(aperture, 0) &&
                   axi_write(aperture + header->load_address, payload, header->length) &&
                   set_control(aperture, TRN_CC_CORE_CONTROL_RUN_MASK)
               ? IMAGE_OK
               : CC_LOAD_IN_RESET;
}

static unsigned load(uint64_t address, uint32_t length, uint32_t cores) {
    static uint8_t payload[MAP_CC_INSTRUCTIONS_SIZE];
    struct image_header header;
    if (!all_exist(cores)) return CC_LOAD_NO_CORE;
    if (length < sizeof header) return IMAGE_BAD_LENGTH;
    if (!axi_read(address, &header, sizeof header)) return CC_LOAD_UNREADABLE;
    const enum image_fault fault = image_check_header(&header, &limits);
    if (fault != IMAGE_OK) return fault;
    if (header.length != length - sizeof header) return IMAGE_BAD_LENGTH;
    // The hart starts at the first byte of its memory.
    if (header.entry != MAP_CC_INSTRUCTIONS || header.load_address != MAP_CC_INSTRUCTIONS)
        return IMAGE_BAD_PLACE;
    if (!axi_read(address + sizeof header, payload, header.length)) return CC_LOAD_UNREADABLE;
    if (image_check_payload(&header, payload) != IMAGE_OK) return IMAGE_BAD_PAYLOAD_CRC;
    unsigned result = IMAGE_OK;
    for (unsigned core = 0; core < 32 && result == IMAGE_OK; ++core) {
        watchdog_service();
        if (cores >> core & 1) result = start(core, &header, payload);
    }
    if (result == IMAGE_OK)
        log_info("collective firmware %s on cores %05x", header.version, (unsigned)cores);
    return result;
}

unsigned cc_cores_load(uint64_t address, uint32_t length, uint32_t cores) {
    const unsigned result = load(address, length, cores);
    if (result != IMAGE_OK)
        log_warn("collective firmware refused for cores %05x: %s", (unsigned)cores,
                 result == CC_LOAD_UNREADABLE ? "it cannot be read"
                 : result == CC_LOAD_NO_CORE  ? "unknown cores"
                 : result == CC_LOAD_IN_RESET ? "no response from a core"
                                              : image_fault_text((enum image_fault)result));
    return result;
}
