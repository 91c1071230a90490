// SPDX-License-Identifier: Apache-2.0
// Collective firmware: executes the programs that the host has loaded and triggered, several at the
// same time. The hart sleeps until a doorbell, a semaphore or the timer wakes it.
#include <stddef.h>

#include "firmware/cc_core/hardware.h"
#include "firmware/cc_core/log.h"
#include "firmware/cc_core/mailbox.h"
#include "firmware/cc_core/mailbox_words.h"
#include "firmware/cc_core/stream.h"
#include "firmware/lib/irq.h"
#include "firmware/lib/panic.h"
#include "firmware/lib/timer.h"
#include "firmware/lib/trap_frame.h"
#include "firmware/lib/version.h"

#define STATE(name) TRN_CC_MAILBOX_STATE_NOW_##name

// --- Calls of the trap dispatcher; interrupts stay disabled ------------------------------------

void irq_dispatch(void) {}
void timer_dispatch(void) {}

void panic_trap(const struct trap_frame* frame) {
    log_line("panic: cause %lx, pc %lx, address %lx", (unsigned long)frame->cause,
             (unsigned long)frame->pc, (unsigned long)frame->value);
    mmio_write(CC_MAILBOX(STATE), STATE(PANIC));
    csr_write(mie, 0);
    for (;;) wait_for_interrupt();
}

// --- Scheduler ---------------------------------------------------------------------------------

/// The count of a slot's triggers is read after its bit is cleared: a trigger in between is counted
/// now, and its bit finds nothing left.
static void serve_doorbell(void) {
    const uint32_t bits = mmio_read(CC_CORE(DOORBELL));
    mmio_write(CC_CORE(DOORBELL_CLEAR), bits);
    if (bits & DOORBELL_COMMAND) mailbox_serve();
    for (unsigned slot = 0; slot < CC_SLOTS; ++slot)
        if (bits & DOORBELL_TRIGGER(slot))
            stream_trigger(slot,
                           mmio_read(CC_CORE_AT(DOORBELL_COUNT, DOORBELL_FIRST_TRIGGER + slot)));
}

/// The timer is set only for an earlier deadline, or when it has expired: waits are frequent and
/// short compared with their timeout, and an early wake-up does no harm.
static void sleep(void) {
    static uint64_t armed = UINT64_MAX;
    const uint64_t deadline = streams_deadline();
    if (deadline < armed || deadline == UINT64_MAX || time_ns() >= armed) {
        timer_set(deadline);
        armed = deadline;
    }
    wait_for_interrupt();
    mailbox_count(CC_MAILBOX(WAKEUPS));
}

/// True: a stream can continue.
static bool continue_streams(void) {
    bool more = false;
    for (unsigned slot = 0; slot < CC_SLOTS; ++slot)
        if (stream_runs(slot)) more |= stream_continue(slot);
    return more;
}

int main(void) {
    for (unsigned n = 0; n < TRN_CC_MAILBOX_SIZE / sizeof(uint32_t); ++n)
        mmio_write(MAP_CC_DATA + n * sizeof(uint32_t), 0);
    log_init();
    for (unsigned n = 0; n < TRN_CC_CORE_MATCH_CONTROL_COUNT; ++n) match_disarm(n);
    mmio_write(CC_CORE(DOORBELL_CLEAR), 0xffffffff);
    for (unsigned slot = 0; slot < CC_SLOTS; ++slot)
        mmio_read(CC_CORE_AT(DOORBELL_COUNT, DOORBELL_FIRST_TRIGGER + slot));  // clears it
    timer_set(UINT64_MAX);
    for (unsigned slot = 0; slot < CC_SLOTS; ++slot) stream_load(slot, NULL);
    mmio_write(CC_CORE(IRQ_ENABLE),
               TRN_CC_CORE_IRQ_ENABLE_DOORBELL_MASK | TRN_CC_CORE_IRQ_ENABLE_MATCH_MASK);
    csr_write(mie, MIE_MEIE | MIE_MTIE);
    mmio_write(CC_MAILBOX(BUILD), firmware_build);
    mmio_write(CC_MAILBOX(STATE), STATE(READY));
    log_line("collective firmware %s on core %lu", firmware_version, csr_read(mhartid));
    mmio_fence();
    mmio_write(CC_MAILBOX(MAGIC), TRN_CC_MAILBOX_MAGIC_WORD_VALUE);

    for (bool more = false;;) {
        if (!more) sleep();
        more = continue_streams();  // before the doorbell: streams may wait for a semaphore
        if (mmio_read(CC_CORE(IRQ_STATUS)) & TRN_CC_CORE_IRQ_STATUS_DOORBELL_MASK) {
            serve_doorbell();
            more = continue_streams();
        }
    }
}
