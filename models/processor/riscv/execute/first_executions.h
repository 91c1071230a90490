// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/processor/riscv/decode/block.h"

namespace trn::riscv {

/// The function of an operation that has not been executed.
void first_time(TRN_FLOW);
/// Marks the first execution of `o`, whose function is first_time(); restores and returns its
/// original function.
handler first_seen(const op* o);

}  // namespace trn::riscv
