// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/register_emitter.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <unordered_map>

namespace trn::riscv::translate {

namespace {

namespace Inst = asmjit::x86::Inst;
using asmjit::imm;
using x86::eax;
using x86::ecx;
using x86::edx;
using x86::rax;
using x86::rcx;
using x86::rdx;

const asmjit::CpuFeatures::X86& host() {
    return asmjit::CpuInfo::host().features().x86();
}

}  // namespace

// --- Pinning

void register_emitter::assume(const pinning& now) {
    pinned_ = now;
    place_.fill(not_pinned);
    for (unsigned i = 0; i < pins.size(); ++i) place_[now[i]] = static_cast<u8>(i);
}

void register_emitter::adopt() {
    for (unsigned i = 0; i < pins.size(); ++i) {
        if (pinned_[i] == between_blocks[i]) continue;
        a.mov(in_file(between_blocks[i]), pins[i]);
        a.mov(pins[i], in_file(pinned_[i]));
    }
}

void register_emitter::release() {
    for (unsigned i = 0; i < pins.size(); ++i) {
        if (pinned_[i] == between_blocks[i]) continue;
        a.mov(in_file(pinned_[i]), pins[i]);
        a.mov(pins[i], in_file(between_blocks[i]));
    }
}

// --- Operands

x86::Gp register_emitter::source(unsigned index, const x86::Gp& scratch) {
    if (is_pinned(index)) return pin_of(index);
    move(scratch, index);
    return scratch;
}

asmjit::Operand register_emitter::operand(unsigned index, unsigned size) {
    if (!is_pinned(index)) return in_file(index, size);
    return part(pin_of(index), size);
}

void register_emitter::move(const x86::Gp& dst, unsigned index) {
    const unsigned size = lacks_extension(index) ? 4 : 8;
    if (index == 0)
        a.xor_(dst.r32(), dst.r32());
    else if (!is_pinned(index))
        a.mov(part(dst, size), in_file(index, size));
    else if (pin_of(index).id() != dst.id())
        a.mov(part(dst, size), part(pin_of(index), size));
}

void register_emitter::copy(unsigned dst, unsigned src) {
    const auto place = is_pinned(src) ? pin_of(src) : target(dst);
    const auto kind = lacks_extension(src)   ? result::low
                      : values_[src].is_word ? result::word
                                             : result::whole;
    move(place, src);
    settle(dst, place, kind);
}

void register_emitter::settle(unsigned index, const x86::Gp& value, result kind) {
    const unsigned size = kind == result::low ? 4 : 8;
    if (!is_pinned(index))
        a.mov(in_file(index, size), part(value, size));
    else if (pin_of(index).id() != value.id())
        a.mov(part(pin_of(index), size), part(value, size));
    note(index, kind);
}

void register_emitter::note(unsigned index, result kind) {
    values_[index] = {.is_word = kind != result::whole};
    if (kind == result::low) values_[index].lacks = value::rest::extension;
}

void register_emitter::constant(unsigned index, u64 value) {
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

void register_emitter::compare(unsigned rs1, unsigned rs2) {
    const unsigned size = size_of_both(rs1, rs2);
    const auto left = part(source(rs1, rax), size);
    if (rs2 == 0)
        a.test(left, left);
    else
        a.emit(Inst::kIdCmp, left, operand(rs2, size));
}

// --- Deferred values

void register_emitter::complete_low(unsigned index) {
    const value v = values_[index];
    if (!v.is_shift()) return;
    const bool right = v.lacks == value::rest::right;
    const auto dst = target(index);
    a.emit(Inst::kIdMov, dst.r32(), operand(v.source, 4));
    a.emit(right ? Inst::kIdShr : Inst::kIdShl, dst.r32(), imm(v.count));
    settle(index, dst, right ? result::word : result::low);
}

void register_emitter::complete(unsigned index) {
    complete_low(index);
    if (!lacks_extension(index)) return;
    const auto dst = target(index);
    a.emit(Inst::kIdMovsxd, dst, operand(index, 4));
    settle(index, dst, result::word);
}

void register_emitter::complete_all() {
    for (unsigned i = 1; i < values_.size(); ++i) complete(i);
}

bool register_emitter::is_complete() const {
    return std::ranges::all_of(values_,
                               [](const value& v) { return v.lacks == value::rest::nothing; });
}

void register_emitter::match(const values& before) {
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

void register_emitter::complete_users(unsigned index) {
    for (unsigned i = 1; i < values_.size(); ++i)
        if (values_[i].source == index && values_[i].is_shift()) complete_low(i);
}

/// The operand size of an operation that gives the same result for sign-extended words with 4 bytes
/// (compares, and, or, xor): 4 if both registers hold words, else 8. The bytes are then computed.
unsigned register_emitter::size_of_both(unsigned rs1, unsigned rs2) {
    for (const unsigned index : {rs1, rs2}) complete_low(index);
    const bool words = values_[rs1].is_word && values_[rs2].is_word;
    if (words && (lacks_extension(rs1) || lacks_extension(rs2))) return 4;
    for (const unsigned index : {rs1, rs2}) complete(index);
    return 8;
}

bool register_emitter::is_deferred(const decoded& d) {
    const std::string_view name = d.definition->name;
    return (name == "slliw" || name == "srliw") && d.imm != 0 && d.rd != d.rs1 && d.rs1 != 0;
}

bool register_emitter::defer(const decoded& d) {
    if (!is_deferred(d)) return false;
    complete_low(d.rs1);
    const bool right = std::string_view(d.definition->name) == "srliw";
    values_[d.rd] = {.lacks = right ? value::rest::right : value::rest::left,
                     .is_word = true,
                     .source = static_cast<u8>(d.rs1),
                     .count = static_cast<u8>(d.imm)};
    return true;
}

/// Combines two opposite shifts of one register into a rotation.
bool register_emitter::join_shifts(const decoded& d) {
    value right = values_[d.rs1], left = values_[d.rs2];
    if (right.lacks == value::rest::left) std::swap(right, left);
    if (right.lacks != value::rest::right || left.lacks != value::rest::left) return false;
    if (right.source != left.source || right.count + left.count != 32) return false;
    rotate_word(d.rd, right.source, right.count);
    return true;
}

/// Emits a rotation to the right.
void register_emitter::rotate_word(unsigned rd, unsigned rs, unsigned count) {
    const auto dst = target(rd);
    if (host().hasBMI2()) {
        a.emit(Inst::kIdRorx, dst.r32(), operand(rs, 4), imm(count));
    } else {
        a.emit(Inst::kIdMov, dst.r32(), operand(rs, 4));
        a.ror(dst.r32(), imm(count));
    }
    settle(rd, dst, result::low);
}

// --- Forms

/// rd = f(rs1, rs2), using a two-operand instruction of the host.
void register_emitter::binary(id f, const decoded& d, bool commutative, result kind) {
    unsigned left = d.rs1, right = d.rs2;
    if (commutative && d.rd == right) std::swap(left, right);
    if (d.rd == left && !is_pinned(left) && is_pinned(right) && f != Inst::kIdImul) {
        a.emit(f, operand(left), operand(right));
        return note(d.rd, kind);
    }
    const auto dst = d.rd == right && d.rd != left ? x86::Gp(rax) : target(d.rd);
    if (f == Inst::kIdAdd && d.rd != left && is_pinned(left) && is_pinned(right)) {
        a.lea(dst, x86::ptr(pin_of(left), pin_of(right)));
    } else {
        move(dst, left);
        a.emit(f, dst, operand(right));
    }
    settle(d.rd, dst, kind);
}

/// And, or, xor: of two words the result is a word.
void register_emitter::logic(id f, const decoded& d) {
    if (size_of_both(d.rs1, d.rs2) == 4) return word(f, d, true);
    const bool words = values_[d.rs1].is_word && values_[d.rs2].is_word;
    binary(f, d, true, words ? result::word : result::whole);
}

void register_emitter::logic_immediate(id f, const decoded& d) {
    const bool is_small = f == Inst::kIdAnd && d.imm >= 0;  // small for any operand
    if (!is_small && size_of_both(d.rs1, 0) == 8) return binary_immediate(f, d);
    const auto dst = target(d.rd);
    move(dst, d.rs1);
    a.emit(f, dst.r32(), imm(d.imm));
    settle(d.rd, dst, is_small ? result::word : result::low);
}

void register_emitter::binary_immediate(id f, const decoded& d) {
    if (d.rd == d.rs1) {
        a.emit(f, operand(d.rd), imm(d.imm));
        return note(d.rd, result::whole);
    }
    const auto dst = target(d.rd);
    if (f == Inst::kIdAdd && is_pinned(d.rs1)) {
        a.lea(dst, x86::ptr(pin_of(d.rs1), d.imm));
    } else {
        move(dst, d.rs1);
        a.emit(f, dst, imm(d.imm));
    }
    settle(d.rd, dst);
}

void register_emitter::word(id f, const decoded& d, bool commutative) {
    unsigned left = d.rs1, right = d.rs2;
    if (commutative && d.rd == right) std::swap(left, right);
    if (d.rd == left && !is_pinned(left) && is_pinned(right) && f != Inst::kIdImul) {
        a.emit(f, operand(left, 4), operand(right, 4));
        return note(d.rd, result::low);
    }
    const auto dst = d.rd == right && d.rd != left ? x86::Gp(rax) : target(d.rd);
    if (f == Inst::kIdAdd && d.rd != left && is_pinned(left) && is_pinned(right)) {
        a.lea(dst.r32(), x86::ptr(pin_of(left), pin_of(right)));
    } else {
        move(dst, left);
        a.emit(f, dst.r32(), operand(right, 4));
    }
    settle(d.rd, dst, result::low);
}

void register_emitter::word_immediate(const decoded& d) {
    const auto dst = target(d.rd);
    if (d.imm == 0) {
        if (values_[d.rs1].is_word) return copy(d.rd, d.rs1);
        a.emit(Inst::kIdMovsxd, dst, operand(d.rs1, 4));
        return settle(d.rd, dst, result::word);
    }
    if (is_pinned(d.rs1) && d.rs1 != d.rd) {
        a.lea(dst.r32(), x86::ptr(pin_of(d.rs1), d.imm));
    } else {
        move(dst, d.rs1);
        a.add(dst.r32(), imm(d.imm));
    }
    settle(d.rd, dst, result::low);
}

void register_emitter::shift(id with_count, id bmi, const decoded& d) {
    if (host().hasBMI2() && bmi != Inst::kIdNone) {
        const auto count = source(d.rs2, rcx);
        const auto dst = target(d.rd);
        a.emit(bmi, dst, operand(d.rs1), count);
        settle(d.rd, dst);
        return;
    }
    move(rcx, d.rs2);
    const auto dst = target(d.rd);
    const auto scratch = d.rd == d.rs2 && d.rd != d.rs1 ? x86::Gp(rax) : dst;
    move(scratch, d.rs1);
    a.emit(with_count, scratch, x86::cl);
    settle(d.rd, scratch);
}

void register_emitter::shift_immediate(id f, const decoded& d) {
    const auto dst = target(d.rd);
    move(dst, d.rs1);
    if (d.imm != 0) a.emit(f, dst, imm(d.imm & 63));
    settle(d.rd, dst);
}

void register_emitter::shift_word(id with_count, id bmi, const decoded& d) {
    if (host().hasBMI2() && bmi != Inst::kIdNone) {
        const auto count = source(d.rs2, rcx);
        const auto dst = target(d.rd);
        a.emit(bmi, dst.r32(), operand(d.rs1, 4), count.r32());
        settle(d.rd, dst, result::low);
        return;
    }
    move(rcx, d.rs2);
    const auto scratch = d.rd == d.rs2 && d.rd != d.rs1 ? x86::Gp(rax) : target(d.rd);
    move(scratch, d.rs1);
    a.emit(with_count, scratch.r32(), x86::cl);
    settle(d.rd, scratch, result::low);
}

void register_emitter::shift_word_immediate(id f, const decoded& d) {
    const auto dst = target(d.rd);
    const i32 count = d.imm & 31;
    if (f == Inst::kIdRor && count != 0)
        return rotate_word(d.rd, d.rs1, static_cast<unsigned>(count));
    move(dst, d.rs1);
    if (count != 0) a.emit(f, dst.r32(), imm(count));
    const bool is_positive = f == Inst::kIdShr && count != 0;
    settle(d.rd, dst, is_positive ? result::word : result::low);
}

void register_emitter::set_less(id set, const decoded& d, bool immediate) {
    const auto left = source(d.rs1, rax);
    if (immediate)
        a.cmp(left, imm(d.imm));
    else
        a.emit(Inst::kIdCmp, left, operand(d.rs2));
    a.emit(set, x86::al);
    const auto dst = target(d.rd);
    a.movzx(dst.r32(), x86::al);
    settle(d.rd, dst, result::word);
}

void register_emitter::high_product(id f, const decoded& d) {
    move(rax, d.rs1);
    a.emit(f, operand(d.rs2));
    settle(d.rd, rdx);
}

/// Signed by unsigned: the unsigned product, minus rs2 if rs1 is negative.
void register_emitter::high_product_mixed(const decoded& d) {
    move(rax, d.rs1);
    move(rcx, d.rs2);
    a.mul(rcx);
    const auto left = source(d.rs1, rax);
    if (left != rax) a.mov(rax, left);
    a.sar(rax, 63);
    a.and_(rax, rcx);
    a.sub(rdx, rax);
    settle(d.rd, rdx);
}

/// Division does not trap: division by zero and overflow have defined results (Unpriv. 7.2), for
/// which the host's instruction faults.
void register_emitter::divide(const decoded& d, bool is_signed, bool is_word, bool remainder) {
    const auto done = a.newLabel(), zero = a.newLabel(), minus = a.newLabel();
    const auto narrow = [&](const x86::Gp& r) { return is_word ? r.r32() : r; };
    move(rcx, d.rs2);
    move(rax, d.rs1);
    a.test(narrow(rcx), narrow(rcx));
    a.jz(zero);
    if (is_signed) {
        a.cmp(narrow(rcx), imm(-1));
        a.je(minus);
        if (is_word)
            a.cdq();
        else
            a.cqo();
        a.idiv(narrow(rcx));
    } else {
        a.xor_(edx, edx);
        a.div(narrow(rcx));
    }
    if (remainder) a.mov(rax, rdx);
    a.jmp(done);
    a.bind(zero);
    if (!remainder) a.mov(rax, imm(-1));
    if (is_signed) {
        a.jmp(done);
        a.bind(minus);
        if (remainder)
            a.xor_(eax, eax);
        else
            a.neg(narrow(rax));
    }
    a.bind(done);
    settle(d.rd, rax, is_word ? result::low : result::whole);
}

void register_emitter::shifted_add(unsigned scale, bool narrow, const decoded& d) {
    if (narrow)
        a.emit(Inst::kIdMov, eax, operand(d.rs1, 4));
    else if (!is_pinned(d.rs1))
        move(rax, d.rs1);
    const auto index = narrow || !is_pinned(d.rs1) ? x86::Gp(rax) : pin_of(d.rs1);
    const auto base = source(d.rs2, rcx);
    const auto dst = target(d.rd);
    a.lea(dst, x86::ptr(base, index, scale));
    settle(d.rd, dst);
}

/// rd = f(rs1, ~rs2)
void register_emitter::inverted(id f, const decoded& d) {
    move(rax, d.rs2);
    a.not_(rax);
    a.emit(f, rax, operand(d.rs1));
    settle(d.rd, rax);
}

/// rd = f(rs1); `width` of the operand in bytes. Host results of 32 bits are not negative.
void register_emitter::unary(id f, const decoded& d, unsigned width) {
    const auto dst = target(d.rd);
    a.emit(f, part(dst, width), operand(d.rs1, width));
    settle(d.rd, dst, result::word);
}

/// rd = the low `width` bytes of rs1, extended.
void register_emitter::extend(id f, const decoded& d, unsigned width) {
    const auto dst = target(d.rd);
    a.emit(f, dst, operand(d.rs1, width));
    settle(d.rd, dst, result::word);
}

/// rd = rs1, or rs2 if `move_if` holds for (rs1, rs2).
void register_emitter::choose(id move_if, const decoded& d) {
    move(rax, d.rs1);
    a.emit(Inst::kIdCmp, rax, operand(d.rs2));
    a.emit(move_if, rax, operand(d.rs2));
    settle(d.rd, rax);
}

void register_emitter::single_bit(id f, const decoded& d, bool immediate) {
    move(rax, d.rs1);
    if (immediate) {
        a.emit(f, rax, imm(d.imm & 63));
    } else {
        const auto index = source(d.rs2, rcx);
        a.emit(f, rax, index);
    }
    settle(d.rd, rax);
}

// --- Instructions

bool register_emitter::emit(const decoded& d) {
    using self = register_emitter;
    static const std::unordered_map<std::string_view, function> whole{
        {"lui", [](self& e, auto& d) { e.constant(d.rd, static_cast<u64>(i64{d.imm})); }},
        {"slti", [](self& e, auto& d) { e.set_less(Inst::kIdSetl, d, true); }},
        {"sltiu", [](self& e, auto& d) { e.set_less(Inst::kIdSetb, d, true); }},
        {"slli", [](self& e, auto& d) { e.shift_immediate(Inst::kIdShl, d); }},
        {"srli", [](self& e, auto& d) { e.shift_immediate(Inst::kIdShr, d); }},
        {"srai", [](self& e, auto& d) { e.shift_immediate(Inst::kIdSar, d); }},
        {"sub", [](self& e, auto& d) { e.binary(Inst::kIdSub, d, false); }},
        {"slt", [](self& e, auto& d) { e.set_less(Inst::kIdSetl, d, false); }},
        {"sltu", [](self& e, auto& d) { e.set_less(Inst::kIdSetb, d, false); }},
        {"sll", [](self& e, auto& d) { e.shift(Inst::kIdShl, Inst::kIdShlx, d); }},
        {"srl", [](self& e, auto& d) { e.shift(Inst::kIdShr, Inst::kIdShrx, d); }},
        {"sra", [](self& e, auto& d) { e.shift(Inst::kIdSar, Inst::kIdSarx, d); }},
        {"mul", [](self& e, auto& d) { e.binary(Inst::kIdImul, d, true); }},
        {"mulh", [](self& e, auto& d) { e.high_product(Inst::kIdImul, d); }},
        {"mulhu", [](self& e, auto& d) { e.high_product(Inst::kIdMul, d); }},
        {"mulhsu", [](self& e, auto& d) { e.high_product_mixed(d); }},
        {"div", [](self& e, auto& d) { e.divide(d, true, false, false); }},
        {"divu", [](self& e, auto& d) { e.divide(d, false, false, false); }},
        {"rem", [](self& e, auto& d) { e.divide(d, true, false, true); }},
        {"remu", [](self& e, auto& d) { e.divide(d, false, false, true); }},
        {"add.uw", [](self& e, auto& d) { e.shifted_add(0, true, d); }},
        {"sh1add", [](self& e, auto& d) { e.shifted_add(1, false, d); }},
        {"sh2add", [](self& e, auto& d) { e.shifted_add(2, false, d); }},
        {"sh3add", [](self& e, auto& d) { e.shifted_add(3, false, d); }},
        {"sh1add.uw", [](self& e, auto& d) { e.shifted_add(1, true, d); }},
        {"sh2add.uw", [](self& e, auto& d) { e.shifted_add(2, true, d); }},
        {"sh3add.uw", [](self& e, auto& d) { e.shifted_add(3, true, d); }},
        {"slli.uw",
         [](self& e, auto& d) {
             const auto dst = e.target(d.rd);
             e.a.emit(Inst::kIdMov, dst.r32(), e.operand(d.rs1, 4));
             if (d.imm != 0) e.a.shl(dst, imm(d.imm & 63));
             e.settle(d.rd, dst);
         }},
        {"andn", [](self& e, auto& d) { e.inverted(Inst::kIdAnd, d); }},
        {"orn", [](self& e, auto& d) { e.inverted(Inst::kIdOr, d); }},
        {"xnor", [](self& e, auto& d) { e.inverted(Inst::kIdXor, d); }},
        {"max", [](self& e, auto& d) { e.choose(Inst::kIdCmovl, d); }},
        {"maxu", [](self& e, auto& d) { e.choose(Inst::kIdCmovb, d); }},
        {"min", [](self& e, auto& d) { e.choose(Inst::kIdCmovg, d); }},
        {"minu", [](self& e, auto& d) { e.choose(Inst::kIdCmova, d); }},
        {"rol", [](self& e, auto& d) { e.shift(Inst::kIdRol, Inst::kIdNone, d); }},
        {"ror", [](self& e, auto& d) { e.shift(Inst::kIdRor, Inst::kIdNone, d); }},
        {"rori", [](self& e, auto& d) { e.shift_immediate(Inst::kIdRor, d); }},
        {"rev8",
         [](self& e, auto& d) {
             const auto dst = e.target(d.rd);
             e.move(dst, d.rs1);
             e.a.bswap(dst);
             e.settle(d.rd, dst);
         }},
        {"bclr", [](self& e, auto& d) { e.single_bit(Inst::kIdBtr, d, false); }},
        {"bclri", [](self& e, auto& d) { e.single_bit(Inst::kIdBtr, d, true); }},
        {"bset", [](self& e, auto& d) { e.single_bit(Inst::kIdBts, d, false); }},
        {"bseti", [](self& e, auto& d) { e.single_bit(Inst::kIdBts, d, true); }},
        {"binv", [](self& e, auto& d) { e.single_bit(Inst::kIdBtc, d, false); }},
        {"binvi", [](self& e, auto& d) { e.single_bit(Inst::kIdBtc, d, true); }},
        {"bext",
         [](self& e, auto& d) {
             e.shift(Inst::kIdShr, Inst::kIdShrx, d);
             e.lowest_bit(d.rd);
         }},
        {"bexti",
         [](self& e, auto& d) {
             e.shift_immediate(Inst::kIdShr, d);
             e.lowest_bit(d.rd);
         }},
    };
    // These use only the low 32 bits of their operands, or complete the upper bits themselves.
    static const std::unordered_map<std::string_view, function> low{
        {"addi",
         [](self& e, auto& d) {
             if (d.rs1 == 0) return e.constant(d.rd, static_cast<u64>(i64{d.imm}));
             if (d.imm == 0) return e.copy(d.rd, d.rs1);
             e.complete(d.rs1);
             e.binary_immediate(Inst::kIdAdd, d);
         }},
        {"add",
         [](self& e, auto& d) {
             if (d.rs1 == 0) return e.copy(d.rd, d.rs2);
             e.complete(d.rs1);
             e.complete(d.rs2);
             e.binary(Inst::kIdAdd, d, true);
         }},
        {"addiw", [](self& e, auto& d) { e.word_immediate(d); }},
        {"slliw", [](self& e, auto& d) { e.shift_word_immediate(Inst::kIdShl, d); }},
        {"srliw", [](self& e, auto& d) { e.shift_word_immediate(Inst::kIdShr, d); }},
        {"sraiw", [](self& e, auto& d) { e.shift_word_immediate(Inst::kIdSar, d); }},
        {"addw", [](self& e, auto& d) { e.word(Inst::kIdAdd, d, true); }},
        {"subw", [](self& e, auto& d) { e.word(Inst::kIdSub, d, false); }},
        {"sllw", [](self& e, auto& d) { e.shift_word(Inst::kIdShl, Inst::kIdShlx, d); }},
        {"srlw", [](self& e, auto& d) { e.shift_word(Inst::kIdShr, Inst::kIdShrx, d); }},
        {"sraw", [](self& e, auto& d) { e.shift_word(Inst::kIdSar, Inst::kIdSarx, d); }},
        {"mulw", [](self& e, auto& d) { e.word(Inst::kIdImul, d, true); }},
        {"divw", [](self& e, auto& d) { e.divide(d, true, true, false); }},
        {"divuw", [](self& e, auto& d) { e.divide(d, false, true, false); }},
        {"remw", [](self& e, auto& d) { e.divide(d, true, true, true); }},
        {"remuw", [](self& e, auto& d) { e.divide(d, false, true, true); }},
        {"rolw", [](self& e, auto& d) { e.shift_word(Inst::kIdRol, Inst::kIdNone, d); }},
        {"rorw", [](self& e, auto& d) { e.shift_word(Inst::kIdRor, Inst::kIdNone, d); }},
        {"roriw", [](self& e, auto& d) { e.shift_word_immediate(Inst::kIdRor, d); }},
        {"and", [](self& e, auto& d) { e.logic(Inst::kIdAnd, d); }},
        {"or", [](self& e, auto& d) { e.logic(Inst::kIdOr, d); }},
        {"xor", [](self& e, auto& d) { e.logic(Inst::kIdXor, d); }},
        {"andi", [](self& e, auto& d) { e.logic_immediate(Inst::kIdAnd, d); }},
        {"ori", [](self& e, auto& d) { e.logic_immediate(Inst::kIdOr, d); }},
        {"xori", [](self& e, auto& d) { e.logic_immediate(Inst::kIdXor, d); }},
        {"sext.b", [](self& e, auto& d) { e.extend(Inst::kIdMovsx, d, 1); }},
        {"sext.h", [](self& e, auto& d) { e.extend(Inst::kIdMovsx, d, 2); }},
        {"zext.h", [](self& e, auto& d) { e.extend(Inst::kIdMovzx, d, 2); }},
    };
    static const std::unordered_map<std::string_view, function> with_lzcnt{
        {"clz", [](self& e, auto& d) { e.unary(Inst::kIdLzcnt, d, 8); }},
        {"clzw", [](self& e, auto& d) { e.unary(Inst::kIdLzcnt, d, 4); }},
    };
    static const std::unordered_map<std::string_view, function> with_bmi{
        {"ctz", [](self& e, auto& d) { e.unary(Inst::kIdTzcnt, d, 8); }},
        {"ctzw", [](self& e, auto& d) { e.unary(Inst::kIdTzcnt, d, 4); }},
    };
    static const std::unordered_map<std::string_view, function> with_popcnt{
        {"cpop", [](self& e, auto& d) { e.unary(Inst::kIdPopcnt, d, 8); }},
        {"cpopw", [](self& e, auto& d) { e.unary(Inst::kIdPopcnt, d, 4); }},
    };
    const auto emit_from = [&](const auto& functions, auto complete_operand) {
        const auto found = functions.find(d.definition->name);
        if (found == functions.end()) return false;
        (this->*complete_operand)(d.rs1);
        if (d.definition->layout == format::r) (this->*complete_operand)(d.rs2);
        found->second(*this, d);
        return true;
    };
    const auto all = &self::complete, half = &self::complete_low;
    if (d.definition->then != flow::result || d.rd == 0) return false;
    complete_users(d.rd);
    if (defer(d) || (std::string_view(d.definition->name) == "or" && join_shifts(d))) return true;
    return emit_from(low, half) || emit_from(whole, all) ||
           (host().hasLZCNT() && emit_from(with_lzcnt, all)) ||
           (host().hasBMI() && emit_from(with_bmi, all)) ||
           (host().hasPOPCNT() && emit_from(with_popcnt, all));
}

void register_emitter::lowest_bit(unsigned index) {
    a.emit(Inst::kIdAnd, operand(index), imm(1));
}

}  // namespace trn::riscv::translate
