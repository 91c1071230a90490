// SPDX-License-Identifier: Apache-2.0
// The link between the two dies.
#pragma once

#include <trn/die_to_die_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define DIE_TO_DIE(reg) (MAP_DIE_TO_DIE + TRN_DIE_TO_DIE_##reg##_OFFSET)

static inline void die_to_die_start_training(void) {
    mmio_write(DIE_TO_DIE(CONTROL), TRN_DIE_TO_DIE_CONTROL_TRAIN_MASK);
}
static inline bool die_to_die_is_up(void) {
    return mmio_read(DIE_TO_DIE(STATUS)) & TRN_DIE_TO_DIE_STATUS_UP_MASK;
}
static inline bool die_to_die_is_training(void) {
    return mmio_read(DIE_TO_DIE(STATUS)) & TRN_DIE_TO_DIE_STATUS_TRAINING_MASK;
}
static inline void die_to_die_enable_irq(void) {
    mmio_write(DIE_TO_DIE(IRQ_ENABLE), TRN_DIE_TO_DIE_IRQ_ENABLE_DOWN_MASK);
}
/// Acknowledges a loss of the link: the interrupt line falls. False: there was none.
static inline bool die_to_die_take_loss(void) {
    const uint32_t events = mmio_read(DIE_TO_DIE(IRQ_STATUS));
    mmio_write(DIE_TO_DIE(IRQ_STATUS), events);
    return events & TRN_DIE_TO_DIE_IRQ_STATUS_DOWN_MASK;
}
