// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sw-stubs/host/program_group.h"
#include "sw-stubs/trnctl/commands.h"

// Commands of programs of NeuronCores (doc/programs.md).

namespace trn {

struct program_options {
    program_request what = {};
    program_outcome expected = {};
    tensor_texts out = {};
    std::vector<std::uint8_t> image = {};  ///< for the collective cores
    std::uint64_t seed = 1;
    bool counters = false;  ///< print those of its engines afterwards
};
/// Loads, runs and compares it, on one chip or on all; inputs without a text are zeroes.
void run_program(session& where, const program_options& options, const output& out);

/// State of the engines of a core, and its semaphores that are not 0. Resets nothing.
void dump_core(session& where, std::uint32_t core, const output& out);
/// Counters of the engines of a core. Resets nothing.
void core_counters(session& where, std::uint32_t core, const output& out);

}  // namespace trn
