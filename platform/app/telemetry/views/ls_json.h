// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry {

/// What `neuron-ls --json-output` prints: a list of devices. The fields `status`,
/// `unhealthy_components` and `server` are ours.
nlohmann::json ls_json(const machine_state& state, bool all_processes);

}  // namespace trn::telemetry
