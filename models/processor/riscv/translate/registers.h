// SPDX-License-Identifier: Apache-2.0
// Location of a hart's state while host code runs.
#pragma once

#include <asmjit/x86.h>

#include <array>

#include "models/processor/riscv/decode/isa.h"

namespace trn::riscv::translate {

namespace x86 = asmjit::x86;

// Nine guest registers are in host registers: between blocks x8 to x16, because compilers use these
// most (and most compressed instructions use only these); within a loop the ones it uses most. The
// others are in the hart. rax, rcx and rdx are scratch registers.
inline constexpr std::array<x86::Gp, 9> pins{x86::rbx, x86::rsi, x86::rdi, x86::r8, x86::r9,
                                             x86::r10, x86::r11, x86::r12, x86::r14};
/// Guest registers, in the order of `pins`.
using pinning = std::array<u8, pins.size()>;
inline constexpr pinning between_blocks{8, 9, 10, 11, 12, 13, 14, 15, 16};

constexpr auto file = x86::rbp;    ///< &hart.x[16]: x[0] to x[31] have offsets of one byte
constexpr auto delta = x86::r13;   ///< host - virtual address in the data window
constexpr auto budget = x86::r15;  ///< instructions that may still be executed

inline x86::Mem in_file(unsigned index, unsigned size = 8) {
    return x86::ptr(file, (static_cast<i32>(index) - 16) * 8, size);
}

/// The low `size` bytes of a register.
inline x86::Gp part(const x86::Gp& r, unsigned size) {
    if (size == 1) return r.r8();
    if (size == 2) return r.r16();
    return size == 4 ? x86::Gp(r.r32()) : x86::Gp(r.r64());
}

/// Offsets from rsp of host code's variables on the stack.
namespace frame {
constexpr int page = 0;    ///< virtual address of the page that is executed
constexpr int space = 8;   ///< address_space*
constexpr int first = 16;  ///< of the data window
constexpr int span = 24;   ///< of the data window
constexpr int size = 40;
inline x86::Mem slot(int offset) {
    return x86::qword_ptr(x86::rsp, offset);
}
}  // namespace frame

/// The registers that a function must preserve, in push order.
inline constexpr std::array<x86::Gp, 6> preserved{x86::rbx, x86::rbp, x86::r12,
                                                  x86::r13, x86::r14, x86::r15};

}  // namespace trn::riscv::translate
