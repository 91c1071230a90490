// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "platform/app/scenario/progress.h"
#include "platform/app/scenario/scenario.h"
#include "platform/app/scenario/scenario_context.h"

namespace trn::scenario {

/// Reports the beginning of a step to `to`, and runs it. \throws step_failure
void play(const step& one, scenario_context& on, const progress& to);

/// Runs the steps of a scenario from number `done` on, then checks its expectations. \throws
/// step_failure at the first failure
void play(const scenario& run, scenario_context& on, const progress& to, std::size_t done = 0);

/// The violations of rules with the policy `fail`, for a message.
std::string broken_rules();

}  // namespace trn::scenario
