// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "platform/app/telemetry/host_usage.h"
#include "platform/app/telemetry/machine_state.h"
#include "platform/app/telemetry/views/monitor_choice.h"

namespace trn::telemetry {

/// One report of neuron-monitor about an instance; `before` is the state of the last report, or
/// null. What is not known is absent, and named in `error` of its group: readers of the public form
/// expect numbers, and leave out a group with an error.
nlohmann::json monitor_json(const monitor_choice& chosen, const machine_state* before,
                            const machine_state& now, const instance& machine,
                            const host_usage& host);

}  // namespace trn::telemetry
