// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/console.h"

#include <stdio.h>

#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/uart.h"
#include "firmware/lib/irq.h"
#include "firmware/lib/timer.h"

#define RING_SIZE 2048u  // a power of two

static char ring[RING_SIZE];
static volatile uint32_t written, sent;  // free-running
static bool by_interrupt;

/// Fills the FIFO if it is empty. True when characters are left in the ring.
static bool feed(void) {
    if (uart_can_send())
        for (unsigned i = 0; i < UART_FIFO_DEPTH && sent != written; ++i)
            uart_send(ring[sent++ % RING_SIZE]);
    return sent != written;
}

static void uart_irq(unsigned source) {
    (void)source;
    if (!feed()) uart_enable_irqs(false, false);
}

/// A UART that stops sending loses the text and does not stop the firmware.
void console_flush(void) {
    enum { MAX_SLEEPS = 16 };  // without progress
    uint32_t before = sent;
    for (unsigned sleeps = 0; by_interrupt ? sent != written : feed(); ++sleeps) {
        if (sent != before) sleeps = 0;
        before = sent;
        if (sleeps == MAX_SLEEPS) {
            sent = written;
            return;
        }
        timer_sleep_us(UART_FIFO_US);
    }
}

static void put(char c) {
    if (written - sent == RING_SIZE) console_flush();
    ring[written++ % RING_SIZE] = c;
}

static int console_put(char c, FILE* file) {
    (void)file;
    if (c == '\n') put('\r');
    put(c);
    if (c != '\n') return 0;
    if (by_interrupt) {
        const unsigned long state = irq_save();
        uart_enable_irqs(false, true);
        irq_restore(state);
    } else {
        console_flush();
    }
    return 0;
}

static FILE console = FDEV_SETUP_STREAM(console_put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE* const stdout = &console;

void console_init(void) {
    uart_init();
}

void console_use_irqs(void) {
    console_flush();
    irq_enable(IRQ_UART, uart_irq);
    by_interrupt = true;
}

void console_use_polling(void) {
    irq_disable(IRQ_UART);
    by_interrupt = false;
}
