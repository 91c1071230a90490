// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/context/waits.h"

#include <memory>
#include <systemc>

#include "platform/framework/kernel/time_value.h"

namespace trn::scenario {

bool waits::wait_for(const timeout& limit, watch& condition, const std::string& text) {
    const auto mine = current_.insert(current_.end(), {text, &condition});
    const std::shared_ptr<void> end(nullptr, [&](void*) { current_.erase(mine); });
    const auto* changed = condition.changed();
    return wait(
        changed ? timeout{limit.within, limit.within} : limit, [&] { return condition.is_met(); },
        [&](std::uint64_t max) {
            if (changed == nullptr) return sleep(max);
            const sc_core::sc_time now = sc_core::sc_time_stamp();
            const sc_core::sc_time span(static_cast<double>(max), sc_core::SC_NS);
            sc_core::wait(later(now, span) - now, *changed);
        });
}

}  // namespace trn::scenario
