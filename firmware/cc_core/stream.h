// SPDX-License-Identifier: Apache-2.0
// A stream executes the program of a slot: a state machine that goes on until it has to wait for a
// semaphore, and then leaves the hart to the others.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/cc_core/program.h"

/// Takes a program that was checked; NULL forgets the one there is, wherever it stands.
void stream_load(unsigned slot, const struct program* program);
/// The program of the slot, or NULL.
const struct program* stream_program(unsigned slot);
bool stream_runs(unsigned slot);
/// Starts a run; while one is under way, it is counted as asked for again.
void stream_trigger(unsigned slot);
/// A stream that runs goes on as far as possible. Fails when what it waits for has not come in
/// time.
void stream_continue(unsigned slot);
/// When the wait of a stream has lasted too long; UINT64_MAX: never.
uint64_t streams_deadline(void);
