// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/riscv/block.h"

namespace trn::riscv {

/// The function of an operation that was not executed yet.
void first_time(TRN_FLOW);
/// Marks the first execution of `o`, whose function is first_time(); returns the function
/// that executes it, which it has from now on.
handler first_seen(const op* o);

}  // namespace trn::riscv
