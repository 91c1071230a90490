// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/scenario/runner.h"
#include "platform/app/scenario/world.h"

namespace trn::scenario {

/// Does one step, told to `to` before it begins.
/// \throws step_failure when it does not come out as the scenario says
void play(const step& one, world& on, const progress& to);

/// Does the steps of a scenario but the first `done`, and then looks at its expectations.
/// \throws step_failure at the first one that does not come out
void play(const scenario& what, world& on, const progress& to, std::size_t done = 0);

}  // namespace trn::scenario
