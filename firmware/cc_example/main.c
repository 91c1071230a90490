// SPDX-License-Identifier: Apache-2.0
// A first firmware for a CC-Core (doc/guide-firmware.md): prints into the log ring of its mailbox,
// and sleeps until a host or an engine rings its doorbell.
#include "firmware/cc_core/hardware.h"
#include "firmware/cc_core/log.h"
#include "firmware/cc_core/mailbox_words.h"
#include "firmware/lib/irq.h"
#include "firmware/lib/panic.h"
#include "firmware/lib/timer.h"
#include "firmware/lib/trap_frame.h"

// Calls of the trap dispatcher: interrupts stay disabled, and end the sleep only.
void irq_dispatch(void) {}
void timer_dispatch(void) {}
void panic_trap(const struct trap_frame* frame) {
    log_line("panic: cause %lx, pc %lx", (unsigned long)frame->cause, (unsigned long)frame->pc);
    for (;;) wait_for_interrupt();
}

int main(void) {
    log_init();
    mmio_write(CC_CORE(DOORBELL_CLEAR), 0xffffffff);
    mmio_write(CC_CORE(IRQ_ENABLE), TRN_CC_CORE_IRQ_ENABLE_DOORBELL_MASK);
    csr_write(mie, MIE_MEIE);
    log_line("hello from core %lu", csr_read(mhartid));
    mmio_fence();
    mmio_write(CC_MAILBOX(MAGIC), TRN_CC_MAILBOX_MAGIC_WORD_VALUE);  // the loader waits for it

    for (;;) {
        wait_for_interrupt();
        const uint32_t bits = mmio_read(CC_CORE(DOORBELL));
        if (bits == 0) continue;
        mmio_write(CC_CORE(DOORBELL_CLEAR), bits);
        log_line("rung with %x, argument %u", (unsigned)bits,
                 (unsigned)mmio_read(CC_MAILBOX(ARGUMENT)));
    }
}
