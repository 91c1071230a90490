// SPDX-License-Identifier: Apache-2.0
// Straps, clocks, resets, boot status.
#pragma once

#include <trn/reset_controller_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define RESET_CONTROLLER(reg) (MAP_RESET_CONTROLLER + TRN_RESET_CONTROLLER_##reg##_OFFSET)

/// Indices of the scratch words.
enum {
    BOOT_STARTS = 0,   ///< boots since firmware was last ready
    DEVICE_RESETS = 1  ///< by the host, since power-on
};
#define RESET_CONTROLLER_SCRATCH(word) \
    (MAP_RESET_CONTROLLER + TRN_RESET_CONTROLLER_SCRATCH_OFFSET(word))

struct boot_straps {
    uint8_t routing_id;
    uint8_t revision;  ///< PCI revision id: 255 simulator, 240 emulator
    uint8_t generation;
    bool recovery;  ///< stay in the boot ROM
    bool slot_b;    ///< prefer slot B
    uint32_t serial_low, serial_high;
    uint32_t server;           ///< layout of misc RAM +0x70
    uint32_t topology, place;  ///< layouts of the registers
};
struct boot_straps boot_straps_read(void);

/// Records the boot stage and error. Readable by host and debugger; only power-on clears it.
void boot_status_set(uint32_t stage, uint32_t error);
/// Adds bits of BOOT_STATUS that boot_status_set() keeps (slot, fall-back).
void boot_status_note(uint32_t bits);

/// Names of the bits of RESET_REASON, e.g. "power-on, watchdog". Returns `buffer`.
const char* reset_reason_text(uint32_t reason, char* buffer, unsigned size);

/// The blocks of a reset: bits as in the *_RESET registers.
struct reset_domains {
    uint32_t dma;     ///< 7:0 groups, 11:8 host-transfer engines
    uint32_t tpb;     ///< cores
    uint32_t top_sp;  ///< pairs as in the address map
};
extern const struct reset_domains reset_everything;
void reset_assert(const struct reset_domains* domains);
void reset_release(const struct reset_domains* domains);
