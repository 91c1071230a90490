// SPDX-License-Identifier: Apache-2.0
// Ring of the latest errors at the end of misc RAM, readable by the host, and by a debugger after a
// crash. Invented: no public driver reads it. Layout: doc/guide-firmware.md.
#pragma once

#include <stdint.h>

#define ERROR_LOG_MAGIC 0x4c455254  // "TREL"
#define ERROR_LOG_ENTRIES 64

enum error_code {
    ERROR_NONE,
    ERROR_BOOT_STAGE,   ///< detail: stage
    ERROR_PANIC,        ///< detail: mcause; value: pc
    ERROR_DMA_ABORT,    ///< detail: engine; value: m2s state, s2m state in the high half
    ERROR_HBM,          ///< detail: stack; value: offset of the last error
    ERROR_TEMPERATURE,  ///< detail: diode; value: millidegree
    ERROR_WATCHDOG,     ///< the previous run ended by the watchdog
    ERROR_HBM_REPAIR,   ///< detail: stack; value: repair state
    ERROR_RESET,        ///< detail: request; value: map that could not be reset
    ERROR_LINK,         ///< detail: port, fault << 8; value: partner found << 32 | expected
    ERROR_SRAM,         ///< detail: NeuronCore; value: offset of the last error in its aperture
    ERROR_DIE_TO_DIE,   ///< the link between the dies; detail: 0 lost, 1 not trained by a reset
    ERROR_FALLBACK,     ///< detail: started slot; value: enum fallback_reason
};
enum fallback_reason {
    FALLBACK_REFUSED = 1,    ///< the image of the preferred slot failed a check
    FALLBACK_NOT_READY = 2,  ///< it was started and did not become ready
};

struct error_entry {
    uint32_t time_ms;
    uint16_t code;
    uint16_t detail;
    uint64_t value;
};
_Static_assert(sizeof(struct error_entry) == 16, "layout");

/// Keeps the log of an earlier run if its magic is valid; otherwise starts an empty one.
void error_log_init(void);
void error_log_add(enum error_code code, uint16_t detail, uint64_t value);
