// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sw-stubs/host/programs/group.h"
#include "sw-stubs/trnctl/commands.h"

// Commands for programs of NeuronCores (doc/programs.md).

namespace trn {

struct program_options {
    program_request request = {};
    program_outcome expected = {};
    tensor_texts out = {};
    std::vector<std::uint8_t> image = {};  ///< for the CC-Cores
    std::uint64_t seed = 1;
    bool counters = false;  ///< print the engines' counters afterwards
};
/// Loads and runs the program on one chip or all, and compares its outputs. Inputs without a text
/// are zeroes. `failure`: the engine that made the run fail, if one did.
void run_program(session& platform, const program_options& options, const output& out,
                 std::optional<engine_failure>& failure);

/// Prints the state of a core's engines and its nonzero semaphores, without a reset.
void dump_core(session& platform, std::uint32_t core, const output& out);
/// Prints the counters of a core's engines, without a reset.
void core_counters(session& platform, std::uint32_t core, const output& out);

}  // namespace trn
