// SPDX-License-Identifier: Apache-2.0
// ns16550a with 32-bit register slots.
#pragma once

#include <trn/uart_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define UART_FIFO_DEPTH 16
#define UART_CLOCK_HZ 48000000
#define UART_BAUD 3000000
/// Time to send a full FIFO, at 10 bits per character (start, 8 data, stop).
#define UART_FIFO_US (UART_FIFO_DEPTH * 10 * 1000000ll / UART_BAUD + 1)

#define UART(reg) (MAP_UART + TRN_UART_##reg##_OFFSET)

/// UART_BAUD, 8 data bits, no parity, FIFOs on, interrupts off.
static inline void uart_init(void) {
    const uint32_t divisor = UART_CLOCK_HZ / 16 / UART_BAUD;
    mmio_write(UART(IER), 0);
    mmio_write(UART(LCR), TRN_UART_LCR_DLAB_MASK);
    mmio_write(UART(DATA), divisor & 0xff);
    mmio_write(UART(IER), divisor >> 8);
    mmio_write(UART(LCR), TRN_UART_LCR_WORD_LENGTH_MASK);
    mmio_write(UART(IIR_FCR), TRN_UART_IIR_FCR_FIFO_ENABLE_MASK | TRN_UART_IIR_FCR_RX_CLEAR_MASK |
                                  TRN_UART_IIR_FCR_TX_CLEAR_MASK);
}
/// True when UART_FIFO_DEPTH characters may be sent.
static inline bool uart_can_send(void) {
    return mmio_read(UART(LSR)) & TRN_UART_LSR_TX_EMPTY_MASK;
}
static inline bool uart_has_input(void) {
    return mmio_read(UART(LSR)) & TRN_UART_LSR_DATA_READY_MASK;
}
static inline void uart_send(char c) {
    mmio_write(UART(DATA), (uint8_t)c);
}
static inline char uart_receive(void) {
    return (char)mmio_read(UART(DATA));
}
/// Selects the conditions that interrupt: received data, empty transmit FIFO.
static inline void uart_enable_irqs(bool input, bool can_send) {
    mmio_write(UART(IER), (input ? TRN_UART_IER_RX_READY_MASK : 0) |
                              (can_send ? TRN_UART_IER_TX_EMPTY_MASK : 0));
}
