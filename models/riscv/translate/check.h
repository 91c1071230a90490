// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/riscv/op.h"

namespace trn::riscv::translate {

/// Executes the block's host code from this operation to its exit, undoes its effects, executes the
/// same instructions alone, and compares. On a difference, which is an error of the translator,
/// prints both with the block and aborts.
void check_block(TRN_FLOW);

}  // namespace trn::riscv::translate
