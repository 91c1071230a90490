// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry {

/// Attributes of devices as the published Kubernetes DRA driver names them, and the groups of 1, 4,
/// 8 and 16 devices whose connections a workload of that size needs. A device with a fault is in
/// `taints`, so that a scheduler avoids it.
nlohmann::json attributes_json(const machine_state& state);

}  // namespace trn::telemetry
