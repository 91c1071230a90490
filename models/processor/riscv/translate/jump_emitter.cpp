// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/jump_emitter.h"

#include <cstddef>
#include <cstring>

#include "models/processor/riscv/execute/threaded.h"

namespace trn::riscv::translate {

using asmjit::imm;
using x86::rax;
using x86::rcx;
using x86::rdx;

void emit_continue(x86::Assembler& a) {
    // The header precedes the first operation, and the link precedes a stub: both point to code.
    constexpr i32 before = static_cast<i32>(offsetof(op, fall)) - static_cast<i32>(sizeof(op));
    a.jmp(x86::qword_ptr(rax, before));
}

std::array<u8, 5> direct_jump(u64 place, u64 target) {
    std::array<u8, 5> jump{0xe9};
    const auto distance = static_cast<u32>(target - (place + jump.size()));
    std::memcpy(&jump[1], &distance, sizeof distance);
    return jump;
}

void emit_jump_by_executor(x86::Assembler& a, u64 leave) {
    a.mov(rdx, rax);
    a.mov(rcx, imm(reinterpret_cast<u64>(&jump_to)));
    a.jmp(imm(leave));
}

void emit_dispatch(x86::Assembler& a, u64 leave) {
    static_assert(sizeof(jump_entry) == 16);
    constexpr u64 low = (address_space::jump_size - 1) << 1;
    constexpr auto table = static_cast<i32>(offsetof(address_space, jump));
    const auto missing = a.newLabel();
    a.mov(x86::ecx, x86::eax);
    a.and_(x86::ecx, imm(low));
    a.shl(x86::ecx, 3);
    a.add(rcx, frame::slot(frame::space));
    a.cmp(x86::qword_ptr(rcx, table + static_cast<i32>(offsetof(jump_entry, pc))), rax);
    a.jne(missing);
    a.and_(rax, imm(-4096));
    a.mov(frame::slot(frame::page), rax);
    a.mov(rax, x86::qword_ptr(rcx, table + static_cast<i32>(offsetof(jump_entry, target))));
    emit_continue(a);
    a.bind(missing);
    emit_jump_by_executor(a, leave);
}

}  // namespace trn::riscv::translate
