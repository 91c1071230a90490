// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "firmware/lib/trap_frame.h"

/// Says why, with all registers, on the console and through panic_record(); then waits for the
/// watchdog. Never returns.
_Noreturn void panic(const char* format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void panic_trap(const struct trap_frame* frame);

/// What an image does with a panic besides printing it. `pc` and `cause` are of the trap, or of the
/// caller with cause 0. The library's own does nothing.
void panic_record(unsigned long pc, unsigned long cause);
