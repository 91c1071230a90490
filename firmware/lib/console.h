// SPDX-License-Identifier: Apache-2.0
// stdout on the UART. Before console_use_irqs() (boot ROM, early boot) and in a panic, each line is
// sent at once, with sleeps between FIFO loads. Otherwise interrupts drain a ring, and callers wait
// only while the ring is full.
#pragma once

void console_init(void);
void console_use_irqs(void);
/// Sends without interrupts from now on. For panics.
void console_use_polling(void);
/// Returns when the UART has received all characters of the ring.
void console_flush(void);
