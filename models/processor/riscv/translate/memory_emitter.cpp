// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/memory_emitter.h"

#include <bit>
#include <cstddef>
#include <string_view>
#include <unordered_map>

namespace trn::riscv::translate {

using asmjit::imm;
using x86::eax;
using x86::ecx;
using x86::rax;
using x86::rcx;
using x86::rdx;

memory_emitter::access_kind memory_emitter::kind_of(const decoded& d) {
    static const std::unordered_map<std::string_view, access_kind> table{
        {"lb", {1, false, true}},   {"lh", {2, false, true}},   {"lw", {4, false, true}},
        {"ld", {8, false, false}},  {"lbu", {1, false, false}}, {"lhu", {2, false, false}},
        {"lwu", {4, false, false}}, {"sb", {1, true, false}},   {"sh", {2, true, false}},
        {"sw", {4, true, false}},   {"sd", {8, true, false}}};
    const auto found = table.find(d.definition->name);
    return found == table.end() ? access_kind{} : found->second;
}

void memory_emitter::prepare(const decoded& d, const access_kind& k) {
    r_.complete(d.rs1);
    if (!k.is_store)
        r_.complete_users(d.rd);
    else if (k.size == 8)
        r_.complete(d.rs2);
    else
        r_.complete_low(d.rs2);
}

void memory_emitter::emit(const decoded& d, const access_kind& k, const asmjit::Label& outside) {
    const auto base = r_.source(d.rs1, rax);
    a_.lea(rcx, x86::ptr(base, d.imm));
    a_.sub(rcx, frame::slot(frame::first));
    a_.cmp(rcx, frame::slot(frame::span));
    a_.jae(outside);
    const auto place = x86::ptr(base, delta, 0, d.imm, k.size);
    if (k.is_store)
        store(d, k, place);
    else
        load(d, k, place);
}

void memory_emitter::emit_outside(const decoded& d, const access_kind& k,
                                  const asmjit::Label& outside, const asmjit::Label& inside) {
    static_assert(sizeof(tlb_entry) == 16 && address_space::tlb_size == 256);
    const auto table = static_cast<i32>(k.is_store ? offsetof(address_space, store)
                                                   : offsetof(address_space, load));
    const auto unknown = a_.newLabel(), known = a_.newLabel();
    a_.bind(outside);
    const auto base = r_.source(d.rs1, rax);
    a_.lea(rax, x86::ptr(base, d.imm));
    if (shared_.watches) look_beside(known);
    a_.mov(rcx, rax);
    a_.shr(rcx, 12);
    a_.movzx(ecx, x86::cl);
    a_.shl(ecx, 4);
    a_.add(rcx, frame::slot(frame::space));
    a_.mov(rdx, rax);
    a_.and_(rdx, imm(i64{-4096} | (k.size - 1)));
    a_.cmp(rdx, x86::qword_ptr(rcx, table + static_cast<i32>(offsetof(tlb_entry, tag))));
    a_.jne(unknown);
    a_.mov(rcx, x86::qword_ptr(rcx, table + static_cast<i32>(offsetof(tlb_entry, host))));
    a_.bind(known);
    const auto place = x86::ptr(rax, rcx, 0, 0, k.size);
    if (k.is_store)
        store(d, k, place);
    else
        load(d, k, place);
    a_.jmp(inside);
    a_.bind(unknown);
    a_.call(imm(shared_.find_watched[k.is_store ? 1 : 0][std::countr_zero(k.size)]));
    a_.jc(known);
}

/// If the address in rax is in the second window, jumps to `known` with the host's offset in rcx.
void memory_emitter::look_beside(const asmjit::Label& known) {
    const auto beside = [](std::size_t offset) {
        return x86::qword_ptr(rdx, static_cast<i32>(offsetof(address_space, beside) + offset));
    };
    const auto elsewhere = a_.newLabel();
    a_.mov(rdx, frame::slot(frame::space));
    a_.mov(rcx, rax);
    a_.sub(rcx, beside(offsetof(data_window, first)));
    a_.cmp(rcx, beside(offsetof(data_window, span)));
    a_.jae(elsewhere);
    a_.mov(rcx, delta);
    a_.jmp(known);
    a_.bind(elsewhere);
}

void memory_emitter::load(const decoded& d, const access_kind& k, x86::Mem source) {
    using enum guest_registers::result;
    const bool kept = d.rd != 0;
    const auto dst = kept ? r_.target(d.rd) : x86::Gp(rax);
    if (k.size == 8)
        a_.mov(dst, source);
    else if (k.size == 4 && k.is_signed)
        a_.movsxd(dst, source);
    else if (k.size == 4)
        a_.mov(dst.r32(), source);
    else if (k.is_signed)
        a_.movsx(dst, source);
    else
        a_.movzx(dst.r32(), source);
    const bool is_word = k.size < 4 || (k.size == 4 && k.is_signed);
    if (kept) r_.settle(d.rd, dst, is_word ? word : whole);
}

void memory_emitter::store(const decoded& d, const access_kind& k, x86::Mem target) {
    if (checked_ != nullptr) return store_and_record(d, k, target);
    a_.mov(target, part(r_.source(d.rs2, rdx), k.size));
}

void memory_emitter::store_and_record(const decoded& d, const access_kind& k,
                                      const x86::Mem& target) {
    using stored = outcome::stored;
    const auto field = [](std::size_t offset) {
        return x86::qword_ptr(rax, static_cast<i32>(offset));
    };
    const u64 next = reinterpret_cast<u64>(&checked_->next_store);
    const auto place = x86::ptr(rcx, 0, k.size);
    a_.lea(rcx, target);
    a_.mov(rdx, imm(next));
    a_.mov(rax, x86::qword_ptr(rdx));
    a_.mov(field(offsetof(stored, host)), rcx);
    a_.mov(field(offsetof(stored, size)), imm(k.size));
    load_part(rdx, place);
    a_.mov(field(offsetof(stored, before)), rdx);
    const auto value = r_.source(d.rs2, rdx);
    a_.mov(place, part(value, k.size));
    load_part(rdx, place);
    a_.mov(field(offsetof(stored, value)), rdx);
    a_.mov(rdx, imm(next));
    a_.add(x86::qword_ptr(rdx), imm(sizeof(stored)));
}

/// Loads without a sign.
void memory_emitter::load_part(const x86::Gp& dst, const x86::Mem& source) {
    if (source.size() == 8)
        a_.mov(dst, source);
    else if (source.size() == 4)
        a_.mov(dst.r32(), source);
    else
        a_.movzx(dst.r32(), source);
}

}  // namespace trn::riscv::translate
