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
/// Starts `runs` runs, one after the other, after the present run and those requested before.
void stream_trigger(unsigned slot, uint32_t runs);
/// Continues a running stream until it waits, ends or fails. True: it could continue, but has
/// executed a limited number of steps, so that commands and other streams are served. The stream
/// fails when its wait has timed out.
bool stream_continue(unsigned slot);
/// Earliest deadline (ns) of all waits; UINT64_MAX: none.
uint64_t streams_deadline(void);
