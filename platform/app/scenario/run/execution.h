// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "platform/app/scenario/run/runner.h"
#include "platform/app/wave_options.h"
#include "platform/framework/misuse/policy.h"
#include "platform/framework/netlist/kinds/kind.h"
#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn::scenario {

struct execution_options {
    std::filesystem::path trace = {};  ///< trace file of this run; empty: none
    bool digest = false;               ///< computes the trace's digest, also without a file
    timing_mode timing = timing_mode::contended;
    misuse::choices misuse = {};  ///< applied after the scenario's own
    /// file for this run, which must not share steps; empty: none
    std::filesystem::path fidelity_report = {};
    wave_options waves = {};
};

/// Executes a group of scenarios in this process: builds their board, attaches a host to its
/// function, runs the shared first steps, calls branch(), and runs the remaining steps of the
/// scenario that this process gets. Call it once per process. `options_of`: options of a scenario
/// by its number. \throws config_error, step_failure, std::runtime_error
void execute(std::span<const scenario> all, const kind_list& kinds,
             const std::function<execution_options(std::size_t)>& options_of, group& scenarios);

/// Gives each member of a group that ended before its branch a trace of its own. Call it when the
/// process of execute() has ended.
void divide_trace(std::span<const std::size_t> members,
                  const std::function<execution_options(std::size_t)>& options_of);

}  // namespace trn::scenario
