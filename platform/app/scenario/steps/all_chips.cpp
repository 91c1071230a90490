// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/steps/all_chips.h"

namespace trn::scenario {

machine& machine_of(scenario_context& ctx) {
    auto* known = ctx.kept.find<machine>();
    if (known == nullptr) return ctx.kept.get<machine>(ctx.hosts);
    known->reopen();
    return *known;
}

}  // namespace trn::scenario
