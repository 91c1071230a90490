// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "platform/app/scenario/runner.h"
#include "platform/framework/misuse/policy.h"
#include "platform/framework/netlist/kind.h"
#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn::scenario {

struct execution_options {
    std::filesystem::path trace = {};  ///< of this run; empty: none
    bool digest = false;               ///< of the trace, without writing it
    timing_mode timing = timing_mode::contended;
    std::vector<misuse::policy_choice> misuse = {};  ///< after the scenario's own
    std::filesystem::path fidelity_report = {};  ///< of this run, which shares nothing; empty: none
    std::filesystem::path vcd = {};              ///< likewise
    std::vector<std::string> vcd_signals = {};
};

/// Builds the board of the group's scenarios in this process, attaches a host to its function and
/// plays the first step if they share it; and after branch() the steps of the one that is left.
/// Call it once in a process. `options_of`: of the scenario with this number.
/// \throws config_error, step_failure, std::runtime_error
void execute(std::span<const scenario> all, const kind_list& kinds,
             const std::function<execution_options(std::size_t)>& options_of, group& scenarios);

}  // namespace trn::scenario
