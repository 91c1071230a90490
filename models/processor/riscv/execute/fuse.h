// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "models/processor/riscv/decode/op.h"

namespace trn::riscv {

/// Fuses neighbouring operations that compilers often emit together: the first gets a function that
/// does the work of both and continues after the second. The second stays unchanged for slow paths.
void fuse(std::span<op> block);

}  // namespace trn::riscv
