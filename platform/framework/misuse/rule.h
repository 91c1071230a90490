// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace trn::misuse {

/// A way of using the hardware wrongly that a model notices. A rule's constant is its name with '_'
/// for '-'.
struct rule {
    std::string_view id;    ///< TRN-<area>-<number>, never given to another rule
    std::string_view name;  ///< as written in a scenario: "doorbell-past-ring"
    std::string_view text;  ///< one sentence: what software did
    /// Checking costs time: only while a policy names the rule.
    bool on_demand = false;
};

constexpr bool operator==(const rule& a, const rule& b) {
    return a.id == b.id;
}

}  // namespace trn::misuse
