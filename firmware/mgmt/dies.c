// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/dies.h"

#include "firmware/lib/drivers/die_to_die.h"
#include "firmware/lib/log.h"
#include "firmware/lib/timer.h"
#include "firmware/mgmt/error_log.h"
#include "firmware/mgmt/generation.h"
#include "firmware/mgmt/health.h"
#include "firmware/mgmt/level_irq.h"
#include "firmware/mgmt/misc_ram.h"

#define POLL_STEP_US 20
#define TRAINING_LIMIT_US 20000  // far above the duration of a training

enum { LINK_LOST, LINK_NOT_TRAINED };  // details of ERROR_DIE_TO_DIE

/// For timer_wait(). A training that ends without a link is started again.
static bool link_up(const void* unused) {
    (void)unused;
    if (die_to_die_is_up()) return true;
    if (!die_to_die_is_training()) die_to_die_start_training();
    return false;
}

static void publish(bool up) {
    health_set(TRN_MISC_RAM_HEALTH_STATUS_AXI_FABRIC_MASK,
               up ? 0 : TRN_MISC_RAM_HEALTH_STATUS_AXI_FABRIC_MASK);
}

bool dies_connect(void) {
    if (generation->dies == 1) return true;
    if (timer_wait(link_up, 0, POLL_STEP_US, TRAINING_LIMIT_US)) return true;
    log_error("die-to-die link is down, status %x", mmio_read(DIE_TO_DIE(STATUS)));
    return false;
}

void dies_init(void) {
    if (generation->dies == 1) return;
    level_irq_enable(IRQ_DIE_TO_DIE, EVENT_DIE_TO_DIE, LEVEL_IRQ_LIMITED);
    die_to_die_enable_irq();
}

void dies_serve(void) {
    if (die_to_die_take_loss()) {
        log_error("die-to-die link lost, status %x", mmio_read(DIE_TO_DIE(STATUS)));
        error_log_add(ERROR_DIE_TO_DIE, LINK_LOST, 0);
        publish(die_to_die_is_up());
    }
    level_irq_served(IRQ_DIE_TO_DIE);
}

void dies_reset(void) {
    if (generation->dies == 1) return;
    const bool was_up = die_to_die_is_up();
    const bool up = dies_connect();
    if (!up)
        error_log_add(ERROR_DIE_TO_DIE, LINK_NOT_TRAINED, 0);
    else if (!was_up)
        log_info("die-to-die link works again");
    publish(up);  // also if the link came up after the timeout of an earlier reset
}
