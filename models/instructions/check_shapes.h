// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/instructions/checks.h"

namespace trn::isa {

/// Checks that the operands of an instruction on tiles have shapes that fit each other. Its fields
/// and operands were checked.
finding check_shapes(decoded& d, const core_traits& core);

}  // namespace trn::isa
