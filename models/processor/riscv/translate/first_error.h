// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/processor/riscv/translate/checked_run.h"

namespace trn::riscv::translate {

/// Repeats the run, which differs when executed with this budget, in shorter parts: block by block,
/// then instruction by instruction. Prints the first instruction that is wrong, with its block, and
/// aborts. `difference`: the difference at the end of the whole run.
[[noreturn]] void report_first_error(checked_run& run, i64 budget, const std::string& difference);

}  // namespace trn::riscv::translate
