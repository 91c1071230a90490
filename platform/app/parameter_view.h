// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/attach/control/control.h"
#include "platform/framework/netlist/plan/plan.h"

namespace trn {

/// Adds the control method `parameters`. `board` must outlive the methods.
void add_parameter_methods(control& methods, const plan& board);

}  // namespace trn
