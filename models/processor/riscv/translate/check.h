// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/processor/riscv/decode/op.h"

namespace trn::riscv::translate {

/// Executes a run of host code from this operation, undoes its effects, executes the same
/// instructions without host code, and compares. On a difference, which is an error of the
/// translator, names the first instruction that is wrong and aborts.
void check_run(TRN_FLOW);

}  // namespace trn::riscv::translate
