// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/attach/control/rpc.h"

namespace trn {

/// The list `faults`. Modules of a type whose faults are equal share an element: a rack has
/// thousands of them.
rpc::json list_faults();

/// The method `inject`: all modules that match get the fault, or if one refuses it, none.
rpc::json inject_fault(const rpc::parameters& p);

}  // namespace trn
