// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/guest_registers.h"

#include <algorithm>
#include <cassert>

namespace trn::riscv::translate {

namespace {

namespace Inst = asmjit::x86::Inst;

}  // namespace

using asmjit::imm;
using x86::rax;

// --- Pinning

void guest_registers::assume(const pinning& now) {
    pinned_ = now;
    place_.fill(not_pinned);
    for (unsigned i = 0; i < pins.size(); ++i) place_[now[i]] = static_cast<u8>(i);
}

void guest_registers::adopt() {
    for (unsigned i = 0; i < pins.size(); ++i) {
        if (pinned_[i] == between_blocks[i]) continue;
        a.mov(in_file(between_blocks[i]), pins[i]);
        a.mov(pins[i], in_file(pinned_[i]));
    }
}

void guest_registers::release() {
    for (unsigned i = 0; i < pins.size(); ++i) {
        if (pinned_[i] == between_blocks[i]) continue;
        a.mov(in_file(pinned_[i]), pins[i]);
        a.mov(pins[i], in_file(between_blocks[i]));
    }
}

// --- Operands

x86::Gp guest_registers::source(unsigned index, const x86::Gp& scratch) {
    if (is_pinned(index)) return pin_of(index);
    move(scratch, index);
    return scratch;
}

asmjit::Operand guest_registers::operand(unsigned index, unsigned size) {
    if (!is_pinned(index)) return in_file(index, size);
    return part(pin_of(index), size);
}

void guest_registers::move(const x86::Gp& dst, unsigned index) {
    const unsigned size = lacks_extension(index) ? 4 : 8;
    if (index == 0)
        a.xor_(dst.r32(), dst.r32());
    else if (!is_pinned(index))
        a.mov(part(dst, size), in_file(index, size));
    else if (pin_of(index).id() != dst.id())
        a.mov(part(dst, size), part(pin_of(index), size));
}

void guest_registers::copy(unsigned dst, unsigned src) {
    const auto place = is_pinned(src) ? pin_of(src) : target(dst);
    const auto kind = lacks_extension(src)   ? result::low
                      : values_[src].is_word ? result::word
                                             : result::whole;
    move(place, src);
    settle(dst, place, kind);
}

void guest_registers::settle(unsigned index, const x86::Gp& value, result kind) {
    const unsigned size = kind == result::low ? 4 : 8;
    if (!is_pinned(index))
        a.mov(in_file(index, size), part(value, size));
    else if (pin_of(index).id() != value.id())
        a.mov(part(pin_of(index), size), part(value, size));
    note(index, kind);
}

void guest_registers::note(unsigned index, result kind) {
    values_[index] = {.is_word = kind != result::whole};
    if (kind == result::low) values_[index].lacks = value::rest::extension;
}

void guest_registers::constant(unsigned index, u64 value) {
    const auto dst = target(index);
    const bool is_signed = static_cast<u64>(i64{static_cast<i32>(value)}) == value;
    if (!is_pinned(index) && is_signed) {
        a.mov(in_file(index), imm(static_cast<i32>(value)));
        return note(index, result::word);
    }
    if (value == 0)
        a.xor_(dst.r32(), dst.r32());
    else
        a.mov(dst, imm(value));
    settle(index, dst, is_signed ? result::word : result::whole);
}

void guest_registers::compare(unsigned rs1, unsigned rs2) {
    const unsigned size = size_of_both(rs1, rs2);
    const auto left = part(source(rs1, rax), size);
    if (rs2 == 0)
        a.test(left, left);
    else
        a.emit(Inst::kIdCmp, left, operand(rs2, size));
}

// --- Deferred values

void guest_registers::complete_low(unsigned index) {
    const value v = values_[index];
    if (!v.is_shift()) return;
    const bool right = v.lacks == value::rest::right;
    const auto dst = target(index);
    a.emit(Inst::kIdMov, dst.r32(), operand(v.source, 4));
    a.emit(right ? Inst::kIdShr : Inst::kIdShl, dst.r32(), imm(v.count));
    settle(index, dst, right ? result::word : result::low);
}

void guest_registers::complete(unsigned index) {
    complete_low(index);
    if (!lacks_extension(index)) return;
    const auto dst = target(index);
    a.emit(Inst::kIdMovsxd, dst, operand(index, 4));
    settle(index, dst, result::word);
}

void guest_registers::complete_all() {
    for (unsigned i = 1; i < values_.size(); ++i) complete(i);
}

bool guest_registers::is_complete() const {
    return std::ranges::all_of(values_,
                               [](const value& v) { return v.lacks == value::rest::nothing; });
}

void guest_registers::match(const values& before) {
    for (unsigned i = 1; i < values_.size(); ++i) {
        if (before[i].lacks == value::rest::nothing)
            complete(i);
        else if (before[i].lacks == value::rest::extension)
            complete_low(i);
        else
            assert(values_[i] == before[i]);
        assert(values_[i].is_word || !before[i].is_word);
    }
    values_ = before;
}

void guest_registers::complete_users(unsigned index) {
    for (unsigned i = 1; i < values_.size(); ++i)
        if (values_[i].source == index && values_[i].is_shift()) complete_low(i);
}

unsigned guest_registers::size_of_both(unsigned rs1, unsigned rs2) {
    for (const unsigned index : {rs1, rs2}) complete_low(index);
    const bool words = values_[rs1].is_word && values_[rs2].is_word;
    if (words && (lacks_extension(rs1) || lacks_extension(rs2))) return 4;
    for (const unsigned index : {rs1, rs2}) complete(index);
    return 8;
}

void guest_registers::defer_shift(unsigned index, value::rest direction, unsigned source,
                                  unsigned count) {
    complete_low(source);
    values_[index] = {.lacks = direction,
                      .is_word = true,
                      .source = static_cast<u8>(source),
                      .count = static_cast<u8>(count)};
}

}  // namespace trn::riscv::translate
