// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/neuron_core/engines/execution.h"

namespace trn {

/// Executes POOL_CALL: the function of isa::native_functions() that IMM names. Precondition: the
/// instruction has passed check(). Throws isa::fault before the first write.
void call_native(execution& e);

}  // namespace trn
