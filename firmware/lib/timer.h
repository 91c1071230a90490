// SPDX-License-Identifier: Apache-2.0
// Time since the chip started, from the machine timer. All waits sleep in WFI.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Microseconds since mtime was 0.
uint64_t timer_now_us(void);
/// Enables the machine timer interrupt.
void timer_init(void);
/// Calls `tick` from the timer interrupt every `period_us`. One periodic callback at a time.
void timer_every(uint32_t period_us, void (*tick)(void));
/// Calls `alarm` from the timer interrupt once, at `at_us` of timer_now_us() or at once if that has
/// passed; UINT64_MAX: never. Replaces the alarm set before.
void timer_alarm(uint64_t at_us, void (*alarm)(void));
/// Sleeps for `us` microseconds; enabled interrupts are served in between.
void timer_sleep_us(uint32_t us);
/// Polls done(arg) every `step_us` and sleeps in between. False when `limit_us` has passed.
bool timer_wait(bool (*done)(const void* arg), const void* arg, uint32_t step_us,
                uint32_t limit_us);
/// Checks done(arg) after each interrupt and sleeps in between. False when `limit_us` has passed.
bool timer_wait_irq(bool (*done)(const void* arg), const void* arg, uint32_t limit_us);
/// Called by the trap dispatcher.
void timer_dispatch(void);
