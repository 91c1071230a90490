// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/shared_code.h"

#include <cstddef>

#include "models/processor/riscv/execute/threaded.h"
#include "models/processor/riscv/translate/jump_emitter.h"

namespace trn::riscv::translate {

namespace {

using asmjit::imm;
using x86::r8;
using x86::r9;
using x86::rax;
using x86::rcx;
using x86::rdi;
using x86::rdx;
using x86::rsi;
using x86::rsp;

/// Offset of x[16] in a hart.
i32 file_offset() {
    return static_cast<i32>(hart::offset_of_registers + 16 * sizeof(u64));
}

void emit_enter(x86::Assembler& a) {
    for (const auto& r : preserved) a.push(r);
    a.sub(rsp, imm(frame::size));
    a.mov(frame::slot(frame::page), r8);
    a.mov(frame::slot(frame::space), r9);
    a.mov(budget, rcx);
    a.lea(file, x86::ptr(rdi, file_offset()));
    constexpr auto window = static_cast<i32>(offsetof(address_space, window));
    const auto in_window = [](std::size_t offset) {
        return x86::qword_ptr(r9, window + static_cast<i32>(offset));
    };
    a.mov(rcx, in_window(offsetof(data_window, first)));
    a.mov(frame::slot(frame::first), rcx);
    a.mov(rcx, in_window(offsetof(data_window, span)));
    a.mov(frame::slot(frame::span), rcx);
    a.mov(delta, in_window(offsetof(data_window, host)));
    for (unsigned i = 0; i < pins.size(); ++i) a.mov(pins[i], in_file(between_blocks[i]));
    a.jmp(rax);
}

/// Emits the exit: guest registers are stored to the hart, host registers restored.
void emit_restore(x86::Assembler& a) {
    a.add(rsp, imm(frame::size));
    for (auto r = preserved.rbegin(); r != preserved.rend(); ++r) a.pop(*r);
}

void emit_leave(x86::Assembler& a) {
    a.lea(rdi, x86::ptr(file, -file_offset()));
    a.mov(rsi, rax);
    a.mov(rax, rcx);
    a.mov(rcx, budget);
    a.mov(r8, frame::slot(frame::page));
    a.mov(r9, frame::slot(frame::space));
    emit_restore(a);
    a.jmp(rax);
}

void emit_report(x86::Assembler& a, outcome& report) {
    a.mov(rsi, imm(reinterpret_cast<u64>(&report)));
    const auto field = [](std::size_t offset) {
        return x86::qword_ptr(rsi, static_cast<i32>(offset));
    };
    a.mov(field(offsetof(outcome, next)), rax);
    a.mov(field(offsetof(outcome, continues)), rcx);
    a.mov(field(offsetof(outcome, acc)), rdx);
    a.mov(field(offsetof(outcome, budget)), budget);
    a.mov(rax, frame::slot(frame::page));
    a.mov(field(offsetof(outcome, page)), rax);
    emit_restore(a);
    a.ret();
}

void emit_find_watched(x86::Assembler& a, std::size_t table, unsigned size) {
    static_assert(sizeof(watched_entry) == 32);
    constexpr int return_address = 8;  // above it is the frame
    const auto entry = [&](std::size_t offset) {
        return x86::qword_ptr(rcx, static_cast<i32>(table + offset));
    };
    const auto missing = a.newLabel(), found = a.newLabel();
    a.mov(rcx, rax);
    a.shr(rcx, 12);
    a.and_(x86::ecx, imm(address_space::watched_size - 1));
    a.shl(x86::ecx, 5);
    a.add(rcx, frame::slot(frame::space + return_address));
    a.mov(rdx, rax);
    a.and_(rdx, imm(i64{-4096} | (size - 1)));
    a.cmp(rdx, entry(offsetof(watched_entry, tag)));
    a.jne(missing);
    a.cmp(rax, entry(offsetof(watched_entry, last)));
    a.ja(found);
    a.lea(rdx, x86::ptr(rax, static_cast<i32>(size - 1)));
    a.cmp(rdx, entry(offsetof(watched_entry, first)));
    a.jae(missing);
    a.bind(found);
    a.mov(rcx, entry(offsetof(watched_entry, host)));
    a.stc();
    a.ret();
    a.bind(missing);
    a.clc();
    a.ret();
}

}  // namespace

std::vector<u8> shared_code::make(u64 base, outcome* checked) {
    asmjit::CodeHolder holder;
    holder.init(asmjit::Environment::host(), base);
    x86::Assembler a(&holder);

    enter = base + a.offset();
    emit_enter(a);

    a.align(asmjit::AlignMode::kCode, 16);
    leave_to = base + a.offset();
    a.mov(rcx, x86::qword_ptr(rax, static_cast<i32>(offsetof(op, run))));
    leave = base + a.offset();
    for (unsigned i = 0; i < pins.size(); ++i) a.mov(in_file(between_blocks[i]), pins[i]);
    if (checked == nullptr)
        emit_leave(a);
    else
        emit_report(a, *checked);

    a.align(asmjit::AlignMode::kCode, 16);
    dispatch = base + a.offset();
    emit_dispatch(a, leave);

    constexpr std::array tables{offsetof(address_space, watched_load),
                                offsetof(address_space, watched_store)};
    for (std::size_t kind = 0; kind < tables.size(); ++kind)
        for (unsigned log_size = 0; log_size < 4; ++log_size) {
            a.align(asmjit::AlignMode::kCode, 16);
            find_watched[kind][log_size] = base + a.offset();
            emit_find_watched(a, tables[kind], 1u << log_size);
        }

    const auto& code = holder.textSection()->buffer();
    return {code.data(), code.data() + code.size()};
}

}  // namespace trn::riscv::translate
