// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/app/scenario/context/scenario_context.h"

namespace trn::scenario {

/// Reports the beginning of a step, and runs it. \throws step_failure
void play(const step& played, scenario_context& ctx);

/// Fails after a violation of a rule with the policy `fail`. \throws step_failure
void check_misuse();
/// The violations of rules with the policy `fail`, for a message.
std::string broken_rules();

}  // namespace trn::scenario
