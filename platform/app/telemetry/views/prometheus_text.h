// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "platform/app/telemetry/host_usage.h"
#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry {

/// Media type of the text.
inline constexpr const char* prometheus_type = "text/plain; version=0.0.4; charset=utf-8";

/// Metrics by the names and labels of the public exporter of neuron-monitor, and ours, which begin
/// with "trn_". A value that is not known is absent. `before`: state at the begin of the interval
/// of utilisations; null: since the start.
std::string prometheus_text(const machine_state* before, const machine_state& now,
                            const host_usage& host);

/// What a server of metrics keeps between scrapes: utilisations are of the last second or more, for
/// any number of scrapers.
class scrapes {
public:
    /// `proc`: see read_host().
    std::string page(machine_state now, const std::string& proc = "/proc");

private:
    std::optional<machine_state> base_;  // begin of the interval; nothing: the start
    std::optional<machine_state> next_;  // begin of the next one
    std::optional<host_sample> next_host_;
    host_usage host_;
};

}  // namespace trn::telemetry
