// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sw-stubs/host/program_tensors.h"
#include "sw-stubs/programs/include/trn_program.h"
#include "sw-stubs/trnctl/commands.h"

// Commands of programs of NeuronCores (doc/programs.md).

namespace trn {

struct program_options {
    std::vector<std::uint8_t> set = {};  ///< a program set file
    trn_program_options loading{};
    tensor_texts in = {}, out = {}, check = {};
    tensors::tolerance allowed = {};
    std::uint64_t limit_ns = 100'000'000, seed = 1;
    bool counters = false;  ///< print those of its engines afterwards
};
/// Loads, runs and compares it; inputs without a text are zeroes.
void run_program(session& where, const program_options& options, const output& out);

/// State of the engines of a core, and its semaphores that are not 0. Resets nothing.
void dump_core(session& where, std::uint32_t core, const output& out);
/// Counters of the engines of a core. Resets nothing.
void core_counters(session& where, std::uint32_t core, const output& out);

}  // namespace trn
