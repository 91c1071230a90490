// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/introspection.h"

#include <algorithm>

namespace trn {

std::function<bool()> ready_condition() {
    std::vector<const reports_ready*> all;
    for_each_module<reports_ready>([&](const auto&, auto& module) { all.push_back(&module); });
    return [all = std::move(all)] {
        return !all.empty() && std::ranges::all_of(all, [](const auto* m) { return m->ready(); });
    };
}

}  // namespace trn
