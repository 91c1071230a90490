// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/riscv/code_cache.h"
#include "models/riscv/decode.h"

namespace trn::riscv {

/// Predecodes the block that begins at `offset` of the page. Conditional branches do not end it
/// (not taken, it goes on) and forward jumps in the page are followed.
void assemble(block& b, code_page& page, u32 offset);

/// A block of one instruction, to be executed alone.
void assemble_one(block& b, const decoded& instruction, u32 offset, isa extensions);

}  // namespace trn::riscv
