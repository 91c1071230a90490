// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "platform/app/scenario/condition.h"

namespace trn::scenario {

/// Counts how often the hart begins the function from now on, by a breakpoint that lets it run on:
/// what is not reached costs nothing. A hart runs ahead of simulated time by its quantum, and so
/// does this. \throws step_failure when the board has no such hart or function
std::unique_ptr<watch> watch_function(world& w, const std::string& hart,
                                      const std::string& function, range wanted);

}  // namespace trn::scenario
