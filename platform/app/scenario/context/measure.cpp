// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/context/measure.h"

#include <cmath>

#include "platform/app/scenario/context/progress.h"
#include "platform/app/scenario/language/step.h"

namespace trn::scenario {

void measure_rate(scenario_context& ctx, const figure& measured) {
    if (measured.value <= 0)
        throw step_failure("the rate is undefined: twice the bytes took no more simulated time");
    measure(ctx, measured);
}

void measure(scenario_context& ctx, const figure& measured) {
    if (!std::isfinite(measured.value))
        throw step_failure("the figure is undefined: its steps took no simulated time");
    ctx.report.measured(measured);
    if (!measured.within_bounds()) throw step_failure("it is " + measured.text());
}

}  // namespace trn::scenario
