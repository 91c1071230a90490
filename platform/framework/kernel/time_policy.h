// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trn {

/// The policy that advances simulated time (doc/time.md).
struct time_policy {
    enum class kind {
        lockstep,  ///< only while a client waits; each host access costs a configured time
        free,  ///< while there is work; empty gaps pass at wall-clock speed unless a client waits
        realtime,  ///< like free, but at most `factor` times wall-clock speed
    };

    kind mode = kind::free;
    double factor = 1.0;  ///< simulated seconds per wall-clock second; realtime only

    static constexpr double min_factor = 1e-6, max_factor = 1e6;  ///< of parse()
    /// Parses the form of the command line: "lockstep", "free", "realtime", "realtime:0.5". Returns
    /// nothing for other text, or when the factor is outside the limits.
    static std::optional<time_policy> parse(std::string_view text);
    std::string text() const;
    bool operator==(const time_policy&) const = default;
};

}  // namespace trn
