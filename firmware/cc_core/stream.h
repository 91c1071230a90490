// SPDX-License-Identifier: Apache-2.0
// A stream executes the program of a slot: a state machine that runs until it must wait for a
// semaphore, and then yields the hart to the other streams.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/cc_core/program.h"

/// Loads a checked program into the slot; NULL unloads the present one, even in the middle of a
/// run.
void stream_load(unsigned slot, const struct program* program);
/// The program of the slot, or NULL.
const struct program* stream_program(unsigned slot);
bool stream_runs(unsigned slot);
/// Starts a run; during a run, counts the trigger and starts again at its end.
void stream_trigger(unsigned slot);
/// Continues a running stream as far as possible. The stream fails when its wait has timed out.
void stream_continue(unsigned slot);
/// Earliest deadline (ns) of all waits; UINT64_MAX: none.
uint64_t streams_deadline(void);
