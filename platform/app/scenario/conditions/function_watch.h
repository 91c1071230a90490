// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/context/watch.h"

namespace trn::scenario {

/// Counts calls of the function on the hart from now on, by a breakpoint that does not stop the
/// hart: other functions run at full speed. The count can be ahead of simulated time by up to the
/// hart's quantum. \throws step_failure when the board has no such hart or function
std::unique_ptr<watch> watch_function(scenario_context& ctx, const std::string& hart,
                                      const std::string& function, range wanted);

/// \throws step_failure when the board has no such hart or function
void check_function(scenario_context& ctx, const std::string& hart, const std::string& function);

}  // namespace trn::scenario
