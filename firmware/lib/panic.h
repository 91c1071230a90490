// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "firmware/lib/trap_frame.h"

/// Prints the reason and all registers on the console, calls panic_record(), then waits for the
/// watchdog. Never returns.
_Noreturn void panic(const char* format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void panic_trap(const struct trap_frame* frame);

/// Called at each panic; an image may define its own. `pc` and `cause` are of the trap, or of the
/// caller with cause 0. The library's does nothing.
void panic_record(unsigned long pc, unsigned long cause);
