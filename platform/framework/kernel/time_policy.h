// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trn {

/// Who moves simulated time (doc/time.md).
struct time_policy {
    enum class kind {
        lockstep,  ///< only while a client waits; each host access costs a configured time
        free,      ///< while there is work; empty gaps pass at wall-clock speed unless awaited
        realtime,  ///< as free, but never faster than `factor` times wall clock
    };

    kind who = kind::free;
    double factor = 1.0;  ///< simulated seconds per wall-clock second; realtime only

    /// The policy as written on a command line: "lockstep", "free", "realtime", "realtime:0.5".
    /// Nothing when `text` is none of these or the factor is not a positive number.
    static std::optional<time_policy> parse(std::string_view text);
    std::string text() const;
    bool operator==(const time_policy&) const = default;
};

}  // namespace trn
