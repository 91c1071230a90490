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
#include "firmware/mgmt/error_log.h"
#include "firmware/mgmt/events.h"
#include "firmware/mgmt/health.h"
#include "firmware/mgmt/links.h"
#include "firmware/mgmt/mailbox.h"
#include "firmware/mgmt/misc_ram.h"
#include "firmware/mgmt/power.h"
#include "firmware/mgmt/publication.h"
#include "firmware/mgmt/reset_service.h"

#define TICK_US 50000  // the driver samples power at this rate
#define BARK_US 1000000
#define BITE_US 2000000

static void on_tick(void) {
    event_raise(EVENT_TICK);
}

/// The doorbell stays high until the main loop clears the trigger.
static void on_doorbell(unsigned source) {
    irq_disable(source);
    event_raise(EVENT_DOORBELL);
}

static void on_simulator_reset(unsigned source) {
    irq_disable(source);
    event_raise(EVENT_SIMULATOR_RESET);
}

/// Not enabled again: from the first read by the host on, samples are taken periodically.
static void on_watched(unsigned source) {
    irq_disable(source);
    event_raise(EVENT_WATCHED);
}

/// The routing id's publication lowers the line.
static void on_stale(unsigned source) {
    irq_disable(source);
    event_raise(EVENT_STALE);
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
}

/// Driver threads share the doorbell: a request may be posted while the doorbell is still set for
/// an earlier one. So requests are checked again after TRIGGER is cleared, until there is none.
static void serve_doorbell(void) {
    bool more;
    do {
        const bool reset = reset_serve_handshake();
        mailbox_serve(reset ? MAILBOX_ONLY_VALID : MAILBOX_ANSWER_ALL);
        misc_ram_write(MISC_RAM(TRIGGER), 0);
        mmio_fence();
        more = reset_serve_handshake();
        more |= mailbox_serve(MAILBOX_ONLY_VALID);
    } while (more);
    irq_enable(IRQ_DOORBELL, on_doorbell);
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
        irq_enable(IRQ_SIMULATOR_RESET, on_simulator_reset);
    }
    if (events & EVENT_STALE) {
        misc_ram_write(MISC_RAM(FIRMWARE_STATUS), 0);
        publication_renew();
        irq_enable(IRQ_STALE, on_stale);
    }
    if (events & EVENT_DMA_ABORT) health_dma_abort();
    if (events & EVENT_HBM) health_hbm_error();
    if (events & EVENT_SRAM) health_sram_error();
    if (events & EVENT_TEMPERATURE) health_temperature();
    if (events & EVENT_LINK) links_serve();
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
        irq_enable(IRQ_DOORBELL, on_doorbell);
        irq_enable(IRQ_SIMULATOR_RESET, on_simulator_reset);
        irq_enable(IRQ_WATCHED, on_watched);
        irq_enable(IRQ_STALE, on_stale);
    }
    serve_tick();
    for (;;) serve(event_wait());
}
