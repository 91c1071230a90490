// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/neuron_isa/instructions/checks.h"

namespace trn::isa {

/// Checks that the shapes of the operands of an instruction on tiles agree. Precondition: its
/// fields and each operand passed their checks.
finding check_shapes(decoded& d, const core_traits& core);

}  // namespace trn::isa
