// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry {

/// A drawing of the connections between an instance's devices, and the state of each link where it
/// is known.
std::string topology_text(const machine_state& state);

}  // namespace trn::telemetry
