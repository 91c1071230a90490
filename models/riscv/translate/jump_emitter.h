// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/riscv/translate/registers.h"

namespace trn::riscv::translate {

/// Continues at the block of the pc in rax, by the jump table of the hart. Where that has none,
/// the executor finds it: `leave` is shared_code::leave.
void emit_dispatch(x86::Assembler& a, u64 leave);
/// Continues with the executor at the pc in rax.
void emit_jump_by_executor(x86::Assembler& a, u64 leave);
/// Continues at the operation in rax: in its block's host code if there is any.
void emit_continue(x86::Assembler& a);
/// A jump, as code for address `from`, to host code less than 2 GiB away.
std::array<u8, 5> direct_jump(u64 from, u64 to);

}  // namespace trn::riscv::translate
