// SPDX-License-Identifier: Apache-2.0
#include "platform/kernel/introspection.h"

namespace trn {

bool everything_ready() {
    bool any = false;
    bool all = true;
    for_each_module<reports_ready>([&](const auto&, auto& module) {
        any = true;
        all = all && module.ready();
    });
    return any && all;
}

}  // namespace trn
