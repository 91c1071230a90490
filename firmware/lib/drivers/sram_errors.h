// SPDX-License-Identifier: Apache-2.0
// Error counters of a NeuronCore's memories.
#pragma once

#include <trn/sram_errors_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define SRAM_ERRORS(base, reg) (axi(base) + TRN_SRAM_ERRORS_##reg##_OFFSET)

/// Errors of a NeuronCore since they were last taken.
struct sram_errors {
    uint32_t corrected, uncorrected;
    uint32_t last;  ///< offset in the aperture
};
/// Reads and clears the counters at `base`, AXI; the interrupt line falls.
static inline struct sram_errors sram_take_errors(uint64_t base) {
    const struct sram_errors errors = {
        .corrected = mmio_read(SRAM_ERRORS(base, CORRECTED)),
        .uncorrected = mmio_read(SRAM_ERRORS(base, UNCORRECTED)),
        .last = mmio_read(SRAM_ERRORS(base, ERROR_ADDRESS)),
    };
    mmio_write(SRAM_ERRORS(base, CONTROL), TRN_SRAM_ERRORS_CONTROL_CLEAR_COUNTERS_MASK);
    return errors;
}
