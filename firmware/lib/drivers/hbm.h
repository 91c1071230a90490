// SPDX-License-Identifier: Apache-2.0
// Controllers of the HBM stacks.
#pragma once

#include <trn/hbm_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define HBM_MAX_STACKS 4
#define HBM(stack, reg) (MAP_HBM_CTRL + (stack)*MAP_HBM_CTRL_STRIDE + TRN_HBM_##reg##_OFFSET)

static inline void hbm_start_training(unsigned stack) {
    mmio_write(HBM(stack, CONTROL), TRN_HBM_CONTROL_TRAIN_MASK);
}
static inline bool hbm_is_trained(unsigned stack) {
    return mmio_read(HBM(stack, STATUS)) & TRN_HBM_STATUS_TRAINED_MASK;
}
static inline uint32_t hbm_size_mib(unsigned stack) {
    return mmio_read(HBM(stack, SIZE_MIB));
}

/// Errors of a stack since they were last taken.
struct hbm_errors {
    uint32_t corrected, uncorrected, repairable;
    uint64_t last;  ///< offset in the stack
};
/// Reads and clears the counters; the interrupt line falls.
static inline struct hbm_errors hbm_take_errors(unsigned stack) {
    const struct hbm_errors errors = {
        .corrected = mmio_read(HBM(stack, ECC_CORRECTED)),
        .uncorrected = mmio_read(HBM(stack, ECC_UNCORRECTED)),
        .repairable = mmio_read(HBM(stack, ECC_REPAIRABLE)),
        .last = (uint64_t)mmio_read(HBM(stack, ERROR_ADDRESS_HI)) << 32 |
                mmio_read(HBM(stack, ERROR_ADDRESS_LO)),
    };
    mmio_write(HBM(stack, CONTROL), TRN_HBM_CONTROL_CLEAR_COUNTERS_MASK);
    return errors;
}
/// 0 none, 1 pending, 2 failed: the numbers of misc RAM +0x64.
static inline uint32_t hbm_repair_state(unsigned stack) {
    return TRN_HBM_STATUS_REPAIR_STATE_GET(mmio_read(HBM(stack, STATUS)));
}
static inline void hbm_start_repair(unsigned stack) {
    mmio_write(HBM(stack, CONTROL), TRN_HBM_CONTROL_REPAIR_MASK);
}
static inline bool hbm_is_repairing(unsigned stack) {
    return mmio_read(HBM(stack, STATUS)) & TRN_HBM_STATUS_REPAIRING_MASK;
}
