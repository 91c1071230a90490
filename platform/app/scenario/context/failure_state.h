// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trn {
class platform;
}

namespace trn::scenario {

class scenario_context;

/// What happened on the board when a scenario failed, as lines of its report: injected faults,
/// steps that have not ended and what they wait for, harts that do not sleep, waiting modules.
/// The first line is the time; empty when there is nothing else to say.
std::vector<std::string> state_at_failure(const scenario_context& ctx);

/// Which chip is the first that has not booted, and what its harts do.
std::string boot_state(const scenario_context& ctx);

}  // namespace trn::scenario
