// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/bring_up.h"

#include "firmware/lib/console.h"
#include "firmware/lib/drivers/hbm.h"
#include "firmware/lib/drivers/reset_controller.h"
#include "firmware/lib/drivers/udma.h"
#include "firmware/lib/drivers/watchdog.h"
#include "firmware/lib/log.h"
#include "firmware/lib/timer.h"
#include "firmware/mgmt/dies.h"
#include "firmware/mgmt/error_log.h"
#include "firmware/mgmt/generation.h"
#include "firmware/mgmt/health.h"
#include "firmware/mgmt/identity.h"
#include "firmware/mgmt/links.h"
#include "firmware/mgmt/misc_ram.h"
#include "firmware/mgmt/publication.h"

#define PLLS TRN_RESET_CONTROLLER_PLL_CONTROL_ENABLE_MASK
#define POLL_STEP_US 20

// Time-outs: far above the duration of each step, so that a broken part does not stall the boot.
#define PLL_LIMIT_US 5000
#define HBM_LIMIT_US 50000
#define DMA_LIMIT_US 1000

// --- Conditions, for timer_wait() -------------------------------------------------------

static bool plls_locked(const void* unused) {
    (void)unused;
    return mmio_read(RESET_CONTROLLER(PLL_STATUS)) == PLLS;
}
static bool stack_trained(const void* stack) {
    return hbm_is_trained(*(const unsigned*)stack);
}
static bool engine_quiet(const void* engine) {
    struct udma_states states;
    return udma_read_states(*(const uint64_t*)engine, &states) && !udma_aborted(&states);
}

// --- Stages: each logs its failure and returns false -------------------------------------------

static bool start_clocks(void) {
    reset_assert(&reset_everything);
    mmio_write(RESET_CONTROLLER(PLL_CONTROL), PLLS);
    if (timer_wait(plls_locked, 0, POLL_STEP_US, PLL_LIMIT_US)) {
        links_start();  // first: link training takes longest
        return true;
    }
    log_error("PLL_STATUS %x, expected %x", mmio_read(RESET_CONTROLLER(PLL_STATUS)), PLLS);
    return false;
}

static bool train_hbm(void) {
    for (unsigned stack = 0; stack < generation->stacks; ++stack)
        if (!hbm_is_trained(stack)) hbm_start_training(stack);
    for (unsigned stack = 0; stack < generation->stacks; ++stack) {
        if (!timer_wait(stack_trained, &stack, POLL_STEP_US, HBM_LIMIT_US)) {
            log_error("HBM stack %u is not trained, status %x", stack,
                      mmio_read(HBM(stack, STATUS)));
            return false;
        }
        log_info("  HBM stack %u: %u MiB", stack, hbm_size_mib(stack));
    }
    health_repair_hbm();
    return true;
}

static bool release_dma(void) {
    reset_release(&reset_everything);
    // One engine of each group is checked: all engines of a group share clock and reset.
    for (unsigned group = 0; group < generation->dma_groups; ++group) {
        const uint64_t engine = block_of(&generation->dma[group], 0);
        if (timer_wait(engine_quiet, &engine, POLL_STEP_US, DMA_LIMIT_US)) continue;
        log_error("DMA group %u does not leave reset", group);
        return false;
    }
    return true;
}

/// Writes every word that the host reads, except the routing id: it marks the others as valid.
static bool publish(void) {
    misc_ram_write(MISC_RAM(FIRMWARE_STATUS), 0);
    misc_ram_write(MISC_RAM(RESET_REQUEST), 0);
    misc_ram_write(MISC_RAM(TRIGGER), 0);
    publication_write();
    return true;
}

static const struct stage {
    const char* name;
    uint32_t number;  ///< in BOOT_STATUS
    bool (*run)(void);
} stages[] = {
    {"clocks and resets", TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_CLOCKS, start_clocks},
    {"HBM training", TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_HBM, train_hbm},
    {"die-to-die link", TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_DIE_TO_DIE, dies_connect},
    {"DMA reset", TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_DMA, release_dma},
    {"links", TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_LINKS, links_bring_up},
    {"misc RAM publication", TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_PUBLISH, publish},
};
#define STAGES (sizeof stages / sizeof stages[0])
#define STAGES_TO_MEMORY 2u  // the HBM is trained

static bool select_generation(void) {
    const unsigned number = boot_straps_read().generation;
    if (generation_select(number)) return true;
    boot_status_set(TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_FIRMWARE,
                    TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_IMAGE);
    log_error("boot stopped: this firmware does not know chip generation %u", number);
    return false;
}

static bool run_stages(unsigned count) {
    if (!select_generation()) return false;
    for (unsigned n = 0; n < count; ++n) {
        log_info("stage %u/%u: %s", n + 1, (unsigned)STAGES, stages[n].name);
        boot_status_set(stages[n].number, TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_NONE);
        watchdog_service();
        if (stages[n].run()) continue;
        boot_status_set(stages[n].number, TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_TIMEOUT);
        error_log_add(ERROR_BOOT_STAGE, (uint16_t)(n + 1), 0);
        log_error("boot stopped: stage %u/%u failed: %s", n + 1, (unsigned)STAGES, stages[n].name);
        return false;
    }
    return true;
}

bool bring_up_memory(void) {
    return run_stages(STAGES_TO_MEMORY);
}

bool bring_up(void) {
    if (!run_stages(STAGES)) return false;
    boot_status_set(TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_READY,
                    TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_NONE);
    mmio_write(RESET_CONTROLLER_SCRATCH(BOOT_STARTS), 0);
    log_info("ready: routing id %u", (unsigned)boot_straps_read().routing_id);
    console_flush();  // the boot log is complete before the host sees the chip ready
    identity_publish_routing_id();
    return true;
}
