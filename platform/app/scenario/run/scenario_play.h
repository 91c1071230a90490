// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "platform/app/scenario/context/play.h"
#include "platform/app/scenario/language/scenario.h"

namespace trn::scenario {

/// Runs the steps of a scenario from number `done` on, then checks its expectations. \throws
/// step_failure at the first failure
void play(const scenario& run, scenario_context& ctx, std::size_t done = 0);

}  // namespace trn::scenario
