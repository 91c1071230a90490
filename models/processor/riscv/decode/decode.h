// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>

#include "models/processor/riscv/decode/isa.h"
#include "models/processor/riscv/decode/op.h"

namespace trn::riscv {

/// Operand positions in the 32-bit instruction word (Unpriv. 2.2, 2.3).
/// fp and fp_to_x: bits 2:0 of the immediate are the rounding mode, bits 7:3 the third source; the
/// destination is a floating-point register, or x.
enum class format : u8 { r, i, shift, s, b, u, j, csr, fp, fp_to_x, none };

/// How an instruction continues, for the assembler of blocks.
enum class flow : u8 {
    result,  ///< writes rd and continues
    store,   ///< writes no register and continues
    other,   ///< continues; may write rd itself
    branch,  ///< continues or jumps to pc + imm
    jump,    ///< to pc + imm
    jump_register,
    leave,  ///< ends the block: may change anything
};

/// The functions that execute one kind of instruction: [bit 0: rs1, bit 1: rs2 is in acc].
using variants = std::array<handler, 4>;

/// One line of the decode table.
struct row {
    const char* name;
    u32 match, mask;
    format layout;
    extension needs;
    flow then;
    variants run;
};

/// A decoded instruction. `definition` is null if it is illegal.
struct decoded {
    const row* definition = nullptr;
    u8 rd = 0, rs1 = 0, rs2 = 0;
    i32 imm = 0;
    u32 bits = 0;  ///< as fetched: 16 bits when compressed

    unsigned length() const { return (bits & 3) == 3 ? 4 : 2; }
};

decoded decode(u32 bits, isa extensions);

/// The decode table, one part per extension, in the manual's order.
std::span<const row> rv64i_rows();
std::span<const row> rv64m_rows();
std::span<const row> rv64a_rows();
std::span<const row> zicsr_rows();
std::span<const row> privileged_rows();
std::span<const row> zb_rows();
std::span<const row> rv64f_rows();
std::span<const row> rv64d_rows();
std::span<const row> zicond_rows();
std::span<const row> zicbo_rows();

/// Rows that no encoding decodes to; the assembler uses them for special operands.
extern const row illegal_row;
/// The 32-bit equivalent of a compressed instruction, 0 when it is illegal (rv64c.cpp).
u32 expand(u16 bits);

}  // namespace trn::riscv
