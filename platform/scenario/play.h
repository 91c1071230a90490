// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/scenario/runner.h"
#include "platform/scenario/world.h"

namespace trn::scenario {

/// Does the steps of a scenario and then looks at its expectations, each told to `to` before it
/// begins. \throws step_failure at the first one that does not come out as the scenario says
void play(const scenario& what, world& on, const progress& to);

}  // namespace trn::scenario
