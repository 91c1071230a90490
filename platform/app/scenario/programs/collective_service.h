// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "platform/app/scenario/context/scenario_context.h"
#include "sw-stubs/host/collectives/collective.h"

namespace trn::scenario {

/// All chips of the board as one group for collectives, made when first needed.
class collective_service {
public:
    explicit collective_service(host_set& hosts) : hosts_(hosts) {}

    /// The group with this firmware in the chips' CC-Cores.
    collective_group& with_image(const std::string& image);
    /// Calls `work`, and returns its result. If it fails, the next with_image() resets all chips
    /// first.
    template <typename Work>
    decltype(auto) guarded(Work&& work) {
        try {
            return work();
        } catch (...) {
            group_.reset();
            throw;
        }
    }

private:
    host_set& hosts_;
    std::optional<collective_group> group_;
    std::string image_;
};

collective_service& collectives_of(scenario_context& ctx);

}  // namespace trn::scenario
