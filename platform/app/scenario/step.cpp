// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/step.h"

#include <fmt/format.h>

namespace trn::scenario {

std::string figure::text() const {
    std::string bounds;
    if (min && max)
        bounds = fmt::format(" ({:.6g} to {:.6g})", *min, *max);
    else if (min)
        bounds = fmt::format(" (at least {:.6g})", *min);
    else if (max)
        bounds = fmt::format(" (at most {:.6g})", *max);
    return fmt::format("{:.6g}{}{}{}", value, unit.empty() ? "" : " ", unit, bounds);
}

}  // namespace trn::scenario
