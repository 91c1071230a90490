// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "platform/misuse/policy.h"
#include "platform/netlist/kind.h"
#include "platform/scenario/runner.h"
#include "platform/tlm/bandwidth_resource.h"

namespace trn::scenario {

struct execution_options {
    std::filesystem::path trace = {};  ///< of this run; empty: none
    timing_mode timing = timing_mode::contended;
    std::vector<misuse::policy_choice> misuse = {};  ///< after the scenario's own
    std::filesystem::path fidelity_report = {};      ///< of this run; empty: none
};

/// Builds the scenario's board in this process, attaches a host to its function and plays the
/// steps on it. One per process.
/// \throws config_error, step_failure, std::runtime_error
void execute(const scenario& what, const kind_list& kinds, const execution_options& options,
             progress& to);

}  // namespace trn::scenario
