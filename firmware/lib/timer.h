// SPDX-License-Identifier: Apache-2.0
// Time since the chip started, from the machine timer. No function polls: waiting is WFI.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Microseconds since mtime was 0.
uint64_t timer_now_us(void);
/// Opens the machine timer interrupt.
void timer_init(void);
/// Calls `tick` from the interrupt every `period_us` from now on; one tick at a time.
void timer_every(uint32_t period_us, void (*tick)(void));
/// Sleeps; interrupts are served meanwhile when they are on.
void timer_sleep_us(uint32_t us);
/// Sleeps in steps of `step_us` until `done(arg)`: false when `limit_us` passed without it.
bool timer_wait(bool (*done)(const void* arg), const void* arg, uint32_t step_us,
                uint32_t limit_us);
/// Sleeps until an interrupt has made `done(arg)` true: false when `limit_us` passed without it.
bool timer_wait_irq(bool (*done)(const void* arg), const void* arg, uint32_t limit_us);
/// Called by the trap dispatcher.
void timer_dispatch(void);
