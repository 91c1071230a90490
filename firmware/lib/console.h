// SPDX-License-Identifier: Apache-2.0
// stdout on the UART. Before console_use_irqs() (boot ROM, early boot) and in a panic a full line
// is sent by sleeping between FIFO loads; afterwards interrupts drain a ring and no caller waits
// unless the ring is full.
#pragma once

void console_init(void);
void console_use_irqs(void);
/// Back to sending without interrupts, for good: what a panic does first.
void console_use_polling(void);
/// Returns when everything written has been given to the UART.
void console_flush(void);
