// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/neuron_isa/instructions/checks.h"

namespace trn::isa {

/// Checks an instruction without tensor operands.
finding check_control(decoded& d, const core_traits& core);

}  // namespace trn::isa
