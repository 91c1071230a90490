// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "models/riscv/op.h"

namespace trn::riscv {

/// Lets neighbours that compilers often write together execute as one operation: the first gets a
/// function that does the work of both and goes on behind the second, which stays as it is (for
/// the places where things go wrong).
void fuse(std::span<op> block);

}  // namespace trn::riscv
