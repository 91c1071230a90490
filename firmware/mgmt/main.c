// SPDX-License-Identifier: Apache-2.0
// Management firmware: brings the chip up, then serves the host. Interrupt handlers only raise
// events; the main loop serves them one after the other and sleeps in between.
#include <stdio.h>

#include "firmware/lib/console.h"
#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/reset_controller.h"
#include "firmware/lib/drivers/watchdog.h"
#include "firmware/lib/irq.h"
#include "firmware/lib/log.h"
#include "firmware/lib/panic.h"
#include "firmware/lib/timer.h"
#include "firmware/lib/version.h"
#include "firmware/mgmt/bring_up.h"
#include "firmware/mgmt/dies.h"
#include "firmware/mgmt/doorbell.h"
#include "firmware/mgmt/error_log.h"
#include "firmware/mgmt/events.h"
#include "firmware/mgmt/health.h"
#include "firmware/mgmt/level_irq.h"
#include "firmware/mgmt/links.h"
#include "firmware/mgmt/misc_ram.h"
#include "firmware/mgmt/power.h"
#include "firmware/mgmt/publication.h"
#include "firmware/mgmt/reset_counts.h"
#include "firmware/mgmt/reset_service.h"

#define TICK_US 50000  // the driver samples power at this rate
#define BARK_US 1000000
#define BITE_US 2000000

static void on_tick(void) {
    event_raise(EVENT_TICK);
}

static void watchdog_bark(unsigned source) {
    (void)source;
    panic("watchdog: the main loop has not run for %u ms, it is at pc %lx", BARK_US / 1000,
          csr_read(mepc));
}

void panic_record(unsigned long pc, unsigned long cause) {
    error_log_add(ERROR_PANIC, (uint16_t)cause, pc);
}

/// Locks the guard page below the stack with the PMP, against machine mode too.
static void close_stack_guard(void) {
    extern char stack_guard[];
    const unsigned long napot_4k = (1ul << (12 - 3)) - 1;
    csr_write(pmpaddr0, (unsigned long)stack_guard >> 2 | napot_4k);
    csr_write(pmpcfg0, (unsigned long)(PMPCFG_LOCK | PMPCFG_NAPOT));
}

static void announce(void) {
    const uint32_t reason = mmio_read(RESET_CONTROLLER(RESET_REASON));
    char reasons[64];
    log_info("management firmware %s, reset by %s", firmware_version,
             reset_reason_text(reason, reasons, sizeof reasons));
    if (reason & TRN_RESET_CONTROLLER_RESET_REASON_WATCHDOG_MASK)
        error_log_add(ERROR_WATCHDOG, 0, 0);
    mmio_write(RESET_CONTROLLER(RESET_REASON), reason);
    reset_counts_init(reason);
    const uint32_t boot = mmio_read(RESET_CONTROLLER(BOOT_STATUS));
    if (boot & TRN_RESET_CONTROLLER_BOOT_STATUS_FELL_BACK_MASK)
        error_log_add(ERROR_FALLBACK, TRN_RESET_CONTROLLER_BOOT_STATUS_SLOT_GET(boot),
                      TRN_RESET_CONTROLLER_BOOT_STATUS_NOT_READY_GET(boot) ? FALLBACK_NOT_READY
                                                                           : FALLBACK_REFUSED);
}

/// The doorbell stays high until TRIGGER is cleared, and held until no request is left.
static void serve_doorbell(void) {
    if (doorbell_serve())
        level_irq_served(IRQ_DOORBELL);
    else
        event_raise(EVENT_DOORBELL);
}

static void serve_tick(void) {
    power_sample();
    health_heartbeat();
}

/// Starts the periodic samples when a host first sends a request or reads a sample. Until then no
/// timer wakes the processor.
static void start_sampling(void) {
    static bool started;
    if (!started) timer_every(TICK_US, on_tick);
    started = true;
}

static void serve(uint32_t events) {
    if (events & (EVENT_DOORBELL | EVENT_SIMULATOR_RESET | EVENT_WATCHED)) start_sampling();
    if (events & EVENT_DOORBELL) serve_doorbell();
    if (events & EVENT_SIMULATOR_RESET) {
        reset_serve_simulator();
        level_irq_served(IRQ_SIMULATOR_RESET);
    }
    if (events & EVENT_STALE) {
        misc_ram_write(MISC_RAM(FIRMWARE_STATUS), 0);
        publication_renew();  // of the routing id: lowers the line
        level_irq_served(IRQ_STALE);
    }
    if (events & EVENT_DMA_ABORT) health_dma_abort();
    if (events & EVENT_HBM) health_hbm_error();
    if (events & EVENT_SRAM) health_sram_error();
    if (events & EVENT_TEMPERATURE) health_temperature();
    if (events & EVENT_DIE_TO_DIE) dies_serve();
    if (events & EVENT_LINK) links_serve();
    if (events & EVENT_LINK_RETRY) links_retry();
    if (events & EVENT_RESUME_IRQ) level_irq_resume_due();
    if (events & EVENT_TICK) serve_tick();
    watchdog_service();
}

int main(void) {
    close_stack_guard();
    console_init();
    timer_init();
    irq_init();
    csr_set(mstatus, MSTATUS_MIE);
    console_use_irqs();

    misc_ram_write(MISC_RAM(ROUTING_ID), MISC_RAM_BOOTING);
    error_log_init();
    boot_status_set(TRN_RESET_CONTROLLER_BOOT_STATUS_STAGE_FIRMWARE,
                    TRN_RESET_CONTROLLER_BOOT_STATUS_ERROR_NONE);
    announce();
    irq_enable(IRQ_WATCHDOG, watchdog_bark);
    watchdog_start(BARK_US, BITE_US);

    if (bring_up()) {
        health_init();
        dies_init();
        level_irq_enable(IRQ_DOORBELL, EVENT_DOORBELL, LEVEL_IRQ_UNLIMITED);
        level_irq_enable(IRQ_SIMULATOR_RESET, EVENT_SIMULATOR_RESET, LEVEL_IRQ_UNLIMITED);
        // Stays held: from the first read by the host on, samples are taken periodically.
        level_irq_enable(IRQ_WATCHED, EVENT_WATCHED, LEVEL_IRQ_UNLIMITED);
        level_irq_enable(IRQ_STALE, EVENT_STALE, LEVEL_IRQ_UNLIMITED);
    }
    serve_tick();
    for (;;) serve(event_wait());
}
