// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/translate/register_emitter.h"

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

// --- Which registers are where.

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

// --- Operands.

x86::Gp register_emitter::source(unsigned index, const x86::Gp& scratch) {
    if (is_pinned(index)) return pin_of(index);
    move(scratch, index);
    return scratch;
}

asmjit::Operand register_emitter::operand(unsigned index, unsigned size) {
    if (!is_pinned(index)) return in_file(index, size);
    return size == 4 ? pin_of(index).r32() : pin_of(index);
}

void register_emitter::move(const x86::Gp& to, unsigned index) {
    if (index == 0)
        a.xor_(to.r32(), to.r32());
    else if (!is_pinned(index))
        a.mov(to, in_file(index));
    else if (pin_of(index).id() != to.id())
        a.mov(to, pin_of(index));
}

void register_emitter::copy(unsigned to, unsigned from) {
    const auto by = is_pinned(from) ? pin_of(from) : target(to);
    move(by, from);
    settle(to, by);
}

void register_emitter::settle(unsigned index, const x86::Gp& value) {
    if (!is_pinned(index))
        a.mov(in_file(index), value.r64());
    else if (pin_of(index).id() != value.id())
        a.mov(pin_of(index), value.r64());
}

void register_emitter::constant(unsigned index, u64 value) {
    const auto to = target(index);
    const bool is_signed = static_cast<u64>(i64{static_cast<i32>(value)}) == value;
    if (!is_pinned(index) && is_signed) {
        a.mov(in_file(index), imm(static_cast<i32>(value)));
        return;
    }
    if (value == 0)
        a.xor_(to.r32(), to.r32());
    else
        a.mov(to, imm(value));
    settle(index, to);
}

void register_emitter::compare(unsigned rs1, unsigned rs2) {
    const auto left = source(rs1, rax);
    if (rs2 == 0)
        a.test(left, left);
    else
        a.emit(Inst::kIdCmp, left, operand(rs2));
}

// --- Forms.

/// rd = f(rs1, rs2), as two-operand instructions of the host do it.
void register_emitter::binary(id f, const decoded& d, bool commutative) {
    unsigned left = d.rs1, right = d.rs2;
    if (commutative && d.rd == right) std::swap(left, right);
    const auto to = d.rd == right && d.rd != left ? x86::Gp(rax) : target(d.rd);
    if (f == Inst::kIdAdd && d.rd != left && is_pinned(left) && is_pinned(right)) {
        a.lea(to, x86::ptr(pin_of(left), pin_of(right)));
    } else {
        move(to, left);
        a.emit(f, to, operand(right));
    }
    settle(d.rd, to);
}

void register_emitter::binary_immediate(id f, const decoded& d) {
    const auto to = target(d.rd);
    if (f == Inst::kIdAdd && is_pinned(d.rs1) && d.rs1 != d.rd) {
        a.lea(to, x86::ptr(pin_of(d.rs1), d.imm));
    } else {
        move(to, d.rs1);
        a.emit(f, to, imm(d.imm));
    }
    settle(d.rd, to);
}

/// 32-bit results are kept sign-extended.
void register_emitter::word(id f, const decoded& d, bool commutative) {
    unsigned left = d.rs1, right = d.rs2;
    if (commutative && d.rd == right) std::swap(left, right);
    const auto to = d.rd == right && d.rd != left ? x86::Gp(rax) : target(d.rd);
    if (f == Inst::kIdAdd && d.rd != left && is_pinned(left) && is_pinned(right)) {
        a.lea(to.r32(), x86::ptr(pin_of(left), pin_of(right)));
    } else {
        move(to, left);
        a.emit(f, to.r32(), operand(right, 4));
    }
    a.movsxd(to, to.r32());
    settle(d.rd, to);
}

void register_emitter::word_immediate(const decoded& d) {
    const auto to = target(d.rd);
    if (d.imm == 0) {
        a.emit(Inst::kIdMovsxd, to, operand(d.rs1, 4));
    } else {
        if (is_pinned(d.rs1) && d.rs1 != d.rd) {
            a.lea(to.r32(), x86::ptr(pin_of(d.rs1), d.imm));
        } else {
            move(to, d.rs1);
            a.add(to.r32(), imm(d.imm));
        }
        a.movsxd(to, to.r32());
    }
    settle(d.rd, to);
}

void register_emitter::shift(id with_count, id bmi, const decoded& d) {
    if (host().hasBMI2() && bmi != Inst::kIdNone) {
        const auto count = source(d.rs2, rcx);
        const auto to = target(d.rd);
        a.emit(bmi, to, operand(d.rs1), count);
        settle(d.rd, to);
        return;
    }
    move(rcx, d.rs2);
    const auto to = target(d.rd);
    const auto scratch = d.rd == d.rs2 && d.rd != d.rs1 ? x86::Gp(rax) : to;
    move(scratch, d.rs1);
    a.emit(with_count, scratch, x86::cl);
    settle(d.rd, scratch);
}

void register_emitter::shift_immediate(id f, const decoded& d) {
    const auto to = target(d.rd);
    move(to, d.rs1);
    if (d.imm != 0) a.emit(f, to, imm(d.imm & 63));
    settle(d.rd, to);
}

void register_emitter::shift_word(id with_count, id bmi, const decoded& d) {
    if (host().hasBMI2() && bmi != Inst::kIdNone) {
        const auto count = source(d.rs2, rcx);
        const auto to = target(d.rd);
        a.emit(bmi, to.r32(), operand(d.rs1, 4), count.r32());
        a.movsxd(to, to.r32());
        settle(d.rd, to);
        return;
    }
    move(rcx, d.rs2);
    const auto scratch = d.rd == d.rs2 && d.rd != d.rs1 ? x86::Gp(rax) : target(d.rd);
    move(scratch, d.rs1);
    a.emit(with_count, scratch.r32(), x86::cl);
    a.movsxd(scratch, scratch.r32());
    settle(d.rd, scratch);
}

void register_emitter::shift_word_immediate(id f, const decoded& d) {
    const auto to = target(d.rd);
    const i32 count = d.imm & 31;
    move(to, d.rs1);
    if (count != 0) a.emit(f, to.r32(), imm(count));
    const bool is_positive = f == Inst::kIdShr && count != 0;
    if (!is_positive) a.movsxd(to, to.r32());
    settle(d.rd, to);
}

void register_emitter::set_less(id set, const decoded& d, bool immediate) {
    const auto left = source(d.rs1, rax);
    if (immediate)
        a.cmp(left, imm(d.imm));
    else
        a.emit(Inst::kIdCmp, left, operand(d.rs2));
    a.emit(set, x86::al);
    const auto to = target(d.rd);
    a.movzx(to.r32(), x86::al);
    settle(d.rd, to);
}

void register_emitter::high_product(id f, const decoded& d) {
    move(rax, d.rs1);
    a.emit(f, operand(d.rs2));
    settle(d.rd, rdx);
}

/// Signed by unsigned: the unsigned product less rs2 where rs1 is negative.
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

/// Division never traps: by zero and on overflow it has defined results (Unpriv. 7.2), for which
/// the host's instruction faults.
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
    if (is_word) a.movsxd(rax, eax);
    settle(d.rd, rax);
}

void register_emitter::shifted_add(unsigned scale, bool narrow, const decoded& d) {
    if (narrow)
        a.emit(Inst::kIdMov, eax, operand(d.rs1, 4));
    else if (!is_pinned(d.rs1))
        move(rax, d.rs1);
    const auto index = narrow || !is_pinned(d.rs1) ? x86::Gp(rax) : pin_of(d.rs1);
    const auto base = source(d.rs2, rcx);
    const auto to = target(d.rd);
    a.lea(to, x86::ptr(base, index, scale));
    settle(d.rd, to);
}

/// rd = f(rs1, ~rs2)
void register_emitter::inverted(id f, const decoded& d) {
    move(rax, d.rs2);
    a.not_(rax);
    a.emit(f, rax, operand(d.rs1));
    settle(d.rd, rax);
}

/// rd = f(rs1); `width` of the operand in bytes. Host results of 32 bits are not negative.
void register_emitter::one(id f, const decoded& d, unsigned width) {
    const auto to = target(d.rd);
    a.emit(f, width == 4 ? to.r32() : to, operand(d.rs1, width));
    settle(d.rd, to);
}

/// rs1, or rs2 if `move_if` holds of (rs1, rs2).
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

// --- Instructions.

bool register_emitter::emit(const decoded& d) {
    using self = register_emitter;
    using function = void (*)(self&, const decoded&);
    static const std::unordered_map<std::string_view, function> table{
        {"lui", [](self& e, auto& d) { e.constant(d.rd, static_cast<u64>(i64{d.imm})); }},
        {"addi",
         [](self& e, auto& d) {
             if (d.rs1 == 0) return e.constant(d.rd, static_cast<u64>(i64{d.imm}));
             if (d.imm == 0) return e.copy(d.rd, d.rs1);
             e.binary_immediate(Inst::kIdAdd, d);
         }},
        {"xori", [](self& e, auto& d) { e.binary_immediate(Inst::kIdXor, d); }},
        {"ori", [](self& e, auto& d) { e.binary_immediate(Inst::kIdOr, d); }},
        {"andi", [](self& e, auto& d) { e.binary_immediate(Inst::kIdAnd, d); }},
        {"slti", [](self& e, auto& d) { e.set_less(Inst::kIdSetl, d, true); }},
        {"sltiu", [](self& e, auto& d) { e.set_less(Inst::kIdSetb, d, true); }},
        {"slli", [](self& e, auto& d) { e.shift_immediate(Inst::kIdShl, d); }},
        {"srli", [](self& e, auto& d) { e.shift_immediate(Inst::kIdShr, d); }},
        {"srai", [](self& e, auto& d) { e.shift_immediate(Inst::kIdSar, d); }},
        {"add",
         [](self& e, auto& d) {
             if (d.rs1 == 0) return e.copy(d.rd, d.rs2);
             e.binary(Inst::kIdAdd, d, true);
         }},
        {"sub", [](self& e, auto& d) { e.binary(Inst::kIdSub, d, false); }},
        {"xor", [](self& e, auto& d) { e.binary(Inst::kIdXor, d, true); }},
        {"or", [](self& e, auto& d) { e.binary(Inst::kIdOr, d, true); }},
        {"and", [](self& e, auto& d) { e.binary(Inst::kIdAnd, d, true); }},
        {"slt", [](self& e, auto& d) { e.set_less(Inst::kIdSetl, d, false); }},
        {"sltu", [](self& e, auto& d) { e.set_less(Inst::kIdSetb, d, false); }},
        {"sll", [](self& e, auto& d) { e.shift(Inst::kIdShl, Inst::kIdShlx, d); }},
        {"srl", [](self& e, auto& d) { e.shift(Inst::kIdShr, Inst::kIdShrx, d); }},
        {"sra", [](self& e, auto& d) { e.shift(Inst::kIdSar, Inst::kIdSarx, d); }},
        {"addiw", [](self& e, auto& d) { e.word_immediate(d); }},
        {"slliw", [](self& e, auto& d) { e.shift_word_immediate(Inst::kIdShl, d); }},
        {"srliw", [](self& e, auto& d) { e.shift_word_immediate(Inst::kIdShr, d); }},
        {"sraiw", [](self& e, auto& d) { e.shift_word_immediate(Inst::kIdSar, d); }},
        {"addw", [](self& e, auto& d) { e.word(Inst::kIdAdd, d, true); }},
        {"subw", [](self& e, auto& d) { e.word(Inst::kIdSub, d, false); }},
        {"sllw", [](self& e, auto& d) { e.shift_word(Inst::kIdShl, Inst::kIdShlx, d); }},
        {"srlw", [](self& e, auto& d) { e.shift_word(Inst::kIdShr, Inst::kIdShrx, d); }},
        {"sraw", [](self& e, auto& d) { e.shift_word(Inst::kIdSar, Inst::kIdSarx, d); }},

        {"mul", [](self& e, auto& d) { e.binary(Inst::kIdImul, d, true); }},
        {"mulw", [](self& e, auto& d) { e.word(Inst::kIdImul, d, true); }},
        {"mulh", [](self& e, auto& d) { e.high_product(Inst::kIdImul, d); }},
        {"mulhu", [](self& e, auto& d) { e.high_product(Inst::kIdMul, d); }},
        {"mulhsu", [](self& e, auto& d) { e.high_product_mixed(d); }},
        {"div", [](self& e, auto& d) { e.divide(d, true, false, false); }},
        {"divu", [](self& e, auto& d) { e.divide(d, false, false, false); }},
        {"rem", [](self& e, auto& d) { e.divide(d, true, false, true); }},
        {"remu", [](self& e, auto& d) { e.divide(d, false, false, true); }},
        {"divw", [](self& e, auto& d) { e.divide(d, true, true, false); }},
        {"divuw", [](self& e, auto& d) { e.divide(d, false, true, false); }},
        {"remw", [](self& e, auto& d) { e.divide(d, true, true, true); }},
        {"remuw", [](self& e, auto& d) { e.divide(d, false, true, true); }},

        {"add.uw", [](self& e, auto& d) { e.shifted_add(0, true, d); }},
        {"sh1add", [](self& e, auto& d) { e.shifted_add(1, false, d); }},
        {"sh2add", [](self& e, auto& d) { e.shifted_add(2, false, d); }},
        {"sh3add", [](self& e, auto& d) { e.shifted_add(3, false, d); }},
        {"sh1add.uw", [](self& e, auto& d) { e.shifted_add(1, true, d); }},
        {"sh2add.uw", [](self& e, auto& d) { e.shifted_add(2, true, d); }},
        {"sh3add.uw", [](self& e, auto& d) { e.shifted_add(3, true, d); }},
        {"slli.uw",
         [](self& e, auto& d) {
             const auto to = e.target(d.rd);
             e.a.emit(Inst::kIdMov, to.r32(), e.operand(d.rs1, 4));
             if (d.imm != 0) e.a.shl(to, imm(d.imm & 63));
             e.settle(d.rd, to);
         }},

        {"andn", [](self& e, auto& d) { e.inverted(Inst::kIdAnd, d); }},
        {"orn", [](self& e, auto& d) { e.inverted(Inst::kIdOr, d); }},
        {"xnor", [](self& e, auto& d) { e.inverted(Inst::kIdXor, d); }},
        {"max", [](self& e, auto& d) { e.choose(Inst::kIdCmovl, d); }},
        {"maxu", [](self& e, auto& d) { e.choose(Inst::kIdCmovb, d); }},
        {"min", [](self& e, auto& d) { e.choose(Inst::kIdCmovg, d); }},
        {"minu", [](self& e, auto& d) { e.choose(Inst::kIdCmova, d); }},
        {"sext.b",
         [](self& e, auto& d) {
             const auto value = e.source(d.rs1, rax);
             const auto to = e.target(d.rd);
             e.a.movsx(to, value.r8());
             e.settle(d.rd, to);
         }},
        {"sext.h",
         [](self& e, auto& d) {
             const auto value = e.source(d.rs1, rax);
             const auto to = e.target(d.rd);
             e.a.movsx(to, value.r16());
             e.settle(d.rd, to);
         }},
        {"zext.h",
         [](self& e, auto& d) {
             const auto value = e.source(d.rs1, rax);
             const auto to = e.target(d.rd);
             e.a.movzx(to.r32(), value.r16());
             e.settle(d.rd, to);
         }},
        {"rol", [](self& e, auto& d) { e.shift(Inst::kIdRol, Inst::kIdNone, d); }},
        {"ror", [](self& e, auto& d) { e.shift(Inst::kIdRor, Inst::kIdNone, d); }},
        {"rolw", [](self& e, auto& d) { e.shift_word(Inst::kIdRol, Inst::kIdNone, d); }},
        {"rorw", [](self& e, auto& d) { e.shift_word(Inst::kIdRor, Inst::kIdNone, d); }},
        {"rori", [](self& e, auto& d) { e.shift_immediate(Inst::kIdRor, d); }},
        {"roriw", [](self& e, auto& d) { e.shift_word_immediate(Inst::kIdRor, d); }},
        {"rev8",
         [](self& e, auto& d) {
             const auto to = e.target(d.rd);
             e.move(to, d.rs1);
             e.a.bswap(to);
             e.settle(d.rd, to);
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
    static const std::unordered_map<std::string_view, function> with_lzcnt{
        {"clz", [](self& e, auto& d) { e.one(Inst::kIdLzcnt, d, 8); }},
        {"clzw", [](self& e, auto& d) { e.one(Inst::kIdLzcnt, d, 4); }},
    };
    static const std::unordered_map<std::string_view, function> with_bmi{
        {"ctz", [](self& e, auto& d) { e.one(Inst::kIdTzcnt, d, 8); }},
        {"ctzw", [](self& e, auto& d) { e.one(Inst::kIdTzcnt, d, 4); }},
    };
    static const std::unordered_map<std::string_view, function> with_popcnt{
        {"cpop", [](self& e, auto& d) { e.one(Inst::kIdPopcnt, d, 8); }},
        {"cpopw", [](self& e, auto& d) { e.one(Inst::kIdPopcnt, d, 4); }},
    };
    const auto from = [&](const auto& functions) {
        const auto found = functions.find(d.what->name);
        if (found == functions.end()) return false;
        found->second(*this, d);
        return true;
    };
    if (d.what->then != flow::result || d.rd == 0) return false;
    return from(table) || (host().hasLZCNT() && from(with_lzcnt)) ||
           (host().hasBMI() && from(with_bmi)) || (host().hasPOPCNT() && from(with_popcnt));
}

void register_emitter::lowest_bit(unsigned index) {
    a.emit(Inst::kIdAnd, operand(index), imm(1));
}

}  // namespace trn::riscv::translate
