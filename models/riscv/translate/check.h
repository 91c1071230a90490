// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/riscv/op.h"

namespace trn::riscv::translate {

/// Executes the block's host code from this operation to where it leaves, undoes it, executes the
/// same instructions alone, and compares. A difference is a fault of the translator: it is printed
/// with the block, and the program aborts.
void check_block(TRN_FLOW);

}  // namespace trn::riscv::translate
