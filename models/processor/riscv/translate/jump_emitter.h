// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/processor/riscv/translate/registers.h"

namespace trn::riscv::translate {

/// Emits a jump to the block of the pc in rax, by the hart's jump table; on a miss the executor
/// continues. `leave` is shared_code::leave.
void emit_dispatch(x86::Assembler& a, u64 leave);
/// Emits an exit to the executor, which continues at the pc in rax.
void emit_jump_by_executor(x86::Assembler& a, u64 leave);
/// Emits a jump to the operation in rax, or to its block's host code if there is any.
void emit_continue(x86::Assembler& a);
/// A jump at address `from` to host code less than 2 GiB away.
std::array<u8, 5> direct_jump(u64 place, u64 target);

}  // namespace trn::riscv::translate
