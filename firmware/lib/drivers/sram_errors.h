// SPDX-License-Identifier: Apache-2.0
// Error counters of a NeuronCore's memories.
#pragma once

#include <trn/sram_errors_regs.h>

#include "firmware/lib/drivers/mmio.h"

/// Errors of a NeuronCore since they were last taken.
struct sram_errors {
    uint32_t corrected, uncorrected;
    uint32_t last;  ///< offset in the aperture
};
/// Reads and clears the counters at `base`, AXI; the interrupt line falls. False: no response.
static inline bool sram_take_errors(uint64_t base, struct sram_errors* errors) {
    return axi_read_word(base + TRN_SRAM_ERRORS_CORRECTED_OFFSET, &errors->corrected) &&
           axi_read_word(base + TRN_SRAM_ERRORS_UNCORRECTED_OFFSET, &errors->uncorrected) &&
           axi_read_word(base + TRN_SRAM_ERRORS_ERROR_ADDRESS_OFFSET, &errors->last) &&
           axi_write_word(base + TRN_SRAM_ERRORS_CONTROL_OFFSET,
                          TRN_SRAM_ERRORS_CONTROL_CLEAR_COUNTERS_MASK);
}
