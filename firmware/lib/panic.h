// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "firmware/lib/trap_frame.h"

/// Prints the reason and all registers on the console, calls panic_record(), then waits for the
/// watchdog. Never returns.
_Noreturn void panic(const char* format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void panic_trap(const struct trap_frame* frame);

/// Called at each panic, with pc and cause of the trap; for panic(): the caller's pc and cause 0. A
/// weak default does nothing; an image may define its own.
void panic_record(unsigned long pc, unsigned long cause);
