// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/scenario/context/scenario_context.h"
#include "sw-stubs/host/machine/machine.h"

namespace trn::scenario {

/// The chips of the machine, opened by the first call and again after a loss of power. \throws
/// device_error
machine& machine_of(scenario_context& ctx);

}  // namespace trn::scenario
