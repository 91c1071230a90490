// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/results/figure.h"

namespace trn::scenario {

/// Reports the figure. \throws step_failure when it is outside its bounds
void measure(scenario_context& ctx, const figure& measured);
/// The same for a sustained rate. \throws step_failure, also when it is 0: undefined
void measure_rate(scenario_context& ctx, const figure& measured);

}  // namespace trn::scenario
