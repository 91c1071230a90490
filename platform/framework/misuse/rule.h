// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace trn::misuse {

/// A kind of incorrect use that a model detects. The name of a rule's constant is `name` with '_'
/// for '-'.
struct rule {
    std::string_view id;    ///< TRN-<area>-<number>; never reused
    std::string_view name;  ///< as written in a scenario: "doorbell-past-ring"
    std::string_view text;  ///< one sentence: what software did
    /// The check is expensive: it is only made when a policy names the rule.
    bool on_demand = false;
};

constexpr bool operator==(const rule& a, const rule& b) {
    return a.id == b.id;
}

}  // namespace trn::misuse
