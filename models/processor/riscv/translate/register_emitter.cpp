// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/register_emitter.h"

#include <string_view>
#include <unordered_map>
#include <utility>

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

bool register_emitter::is_deferred(const decoded& d) {
    const std::string_view name = d.definition->name;
    return (name == "slliw" || name == "srliw") && d.imm != 0 && d.rd != d.rs1 && d.rs1 != 0;
}

bool register_emitter::defer(const decoded& d) {
    if (!is_deferred(d)) return false;
    const bool right = std::string_view(d.definition->name) == "srliw";
    r_.defer_shift(d.rd, right ? value::rest::right : value::rest::left, d.rs1,
                   static_cast<unsigned>(d.imm));
    return true;
}

/// Combines two opposite shifts of one register into a rotation.
bool register_emitter::join_shifts(const decoded& d) {
    value right = r_.known()[d.rs1], left = r_.known()[d.rs2];
    if (right.lacks == value::rest::left) std::swap(right, left);
    if (right.lacks != value::rest::right || left.lacks != value::rest::left) return false;
    if (right.source != left.source || right.count + left.count != 32) return false;
    rotate_word(d.rd, right.source, right.count);
    return true;
}

/// Emits a rotation to the right.
void register_emitter::rotate_word(unsigned rd, unsigned rs, unsigned count) {
    const auto dst = r_.target(rd);
    if (host().hasBMI2()) {
        a_.emit(Inst::kIdRorx, dst.r32(), r_.operand(rs, 4), imm(count));
    } else {
        a_.emit(Inst::kIdMov, dst.r32(), r_.operand(rs, 4));
        a_.ror(dst.r32(), imm(count));
    }
    r_.settle(rd, dst, result::low);
}

// --- Forms

/// rd = f(rs1, rs2), using a two-operand instruction of the host, of 4 bytes for a low result.
void register_emitter::binary(id f, const decoded& d, bool commutative, result kind) {
    const unsigned size = kind == result::low ? 4 : 8;
    unsigned left = d.rs1, right = d.rs2;
    if (commutative && d.rd == right) std::swap(left, right);
    if (d.rd == left && !r_.is_pinned(left) && r_.is_pinned(right) && f != Inst::kIdImul) {
        a_.emit(f, r_.operand(left, size), r_.operand(right, size));
        return r_.note(d.rd, kind);
    }
    const auto dst = d.rd == right && d.rd != left ? x86::Gp(rax) : r_.target(d.rd);
    if (f == Inst::kIdAdd && d.rd != left && r_.is_pinned(left) && r_.is_pinned(right)) {
        a_.lea(part(dst, size), x86::ptr(r_.pin_of(left), r_.pin_of(right)));
    } else {
        r_.move(dst, left);
        a_.emit(f, part(dst, size), r_.operand(right, size));
    }
    r_.settle(d.rd, dst, kind);
}

/// And, or, xor: of two words the result is a word.
void register_emitter::logic(id f, const decoded& d) {
    if (r_.size_of_both(d.rs1, d.rs2) == 4) return binary(f, d, true, result::low);
    const bool words = r_.known()[d.rs1].is_word && r_.known()[d.rs2].is_word;
    binary(f, d, true, words ? result::word : result::whole);
}

void register_emitter::logic_immediate(id f, const decoded& d) {
    const bool is_small = f == Inst::kIdAnd && d.imm >= 0;  // small for any operand
    if (!is_small && r_.size_of_both(d.rs1, 0) == 8) return binary_immediate(f, d);
    const auto dst = r_.target(d.rd);
    r_.move(dst, d.rs1);
    a_.emit(f, dst.r32(), imm(d.imm));
    r_.settle(d.rd, dst, is_small ? result::word : result::low);
}

void register_emitter::binary_immediate(id f, const decoded& d) {
    if (d.rd == d.rs1) {
        a_.emit(f, r_.operand(d.rd), imm(d.imm));
        return r_.note(d.rd, result::whole);
    }
    const auto dst = r_.target(d.rd);
    if (f == Inst::kIdAdd && r_.is_pinned(d.rs1)) {
        a_.lea(dst, x86::ptr(r_.pin_of(d.rs1), d.imm));
    } else {
        r_.move(dst, d.rs1);
        a_.emit(f, dst, imm(d.imm));
    }
    r_.settle(d.rd, dst);
}

void register_emitter::word_immediate(const decoded& d) {
    const auto dst = r_.target(d.rd);
    if (d.imm == 0) {
        if (r_.known()[d.rs1].is_word) return r_.copy(d.rd, d.rs1);
        a_.emit(Inst::kIdMovsxd, dst, r_.operand(d.rs1, 4));
        return r_.settle(d.rd, dst, result::word);
    }
    if (r_.is_pinned(d.rs1) && d.rs1 != d.rd) {
        a_.lea(dst.r32(), x86::ptr(r_.pin_of(d.rs1), d.imm));
    } else {
        r_.move(dst, d.rs1);
        a_.add(dst.r32(), imm(d.imm));
    }
    r_.settle(d.rd, dst, result::low);
}

void register_emitter::shift(id with_count, id bmi, const decoded& d, result kind) {
    const unsigned size = kind == result::low ? 4 : 8;
    if (host().hasBMI2() && bmi != Inst::kIdNone) {
        const auto count = r_.source(d.rs2, rcx);
        const auto dst = r_.target(d.rd);
        a_.emit(bmi, part(dst, size), r_.operand(d.rs1, size), part(count, size));
        return r_.settle(d.rd, dst, kind);
    }
    r_.move(rcx, d.rs2);
    const auto dst = d.rd == d.rs2 && d.rd != d.rs1 ? x86::Gp(rax) : r_.target(d.rd);
    r_.move(dst, d.rs1);
    a_.emit(with_count, part(dst, size), x86::cl);
    r_.settle(d.rd, dst, kind);
}

void register_emitter::shift_immediate(id f, const decoded& d) {
    const auto dst = r_.target(d.rd);
    r_.move(dst, d.rs1);
    if (d.imm != 0) a_.emit(f, dst, imm(d.imm & 63));
    r_.settle(d.rd, dst);
}

void register_emitter::shift_word_immediate(id f, const decoded& d) {
    const auto dst = r_.target(d.rd);
    const i32 count = d.imm & 31;
    if (f == Inst::kIdRor && count != 0)
        return rotate_word(d.rd, d.rs1, static_cast<unsigned>(count));
    r_.move(dst, d.rs1);
    if (count != 0) a_.emit(f, dst.r32(), imm(count));
    const bool is_positive = f == Inst::kIdShr && count != 0;
    r_.settle(d.rd, dst, is_positive ? result::word : result::low);
}

void register_emitter::set_less(id set, const decoded& d, bool immediate) {
    const auto left = r_.source(d.rs1, rax);
    if (immediate)
        a_.cmp(left, imm(d.imm));
    else
        a_.emit(Inst::kIdCmp, left, r_.operand(d.rs2));
    a_.emit(set, x86::al);
    const auto dst = r_.target(d.rd);
    a_.movzx(dst.r32(), x86::al);
    r_.settle(d.rd, dst, result::word);
}

void register_emitter::high_product(id f, const decoded& d) {
    r_.move(rax, d.rs1);
    a_.emit(f, r_.operand(d.rs2));
    r_.settle(d.rd, rdx);
}

/// Signed by unsigned: the unsigned product, minus rs2 if rs1 is negative.
void register_emitter::high_product_mixed(const decoded& d) {
    r_.move(rax, d.rs1);
    r_.move(rcx, d.rs2);
    a_.mul(rcx);
    const auto left = r_.source(d.rs1, rax);
    if (left != rax) a_.mov(rax, left);
    a_.sar(rax, 63);
    a_.and_(rax, rcx);
    a_.sub(rdx, rax);
    r_.settle(d.rd, rdx);
}

/// Division does not trap: division by zero and overflow have defined results (Unpriv. 7.2), for
/// which the host's instruction faults.
void register_emitter::divide(const decoded& d, bool is_signed, bool is_word, bool remainder) {
    const auto done = a_.newLabel(), zero = a_.newLabel(), minus = a_.newLabel();
    const auto narrow = [&](const x86::Gp& r) { return is_word ? r.r32() : r; };
    r_.move(rcx, d.rs2);
    r_.move(rax, d.rs1);
    a_.test(narrow(rcx), narrow(rcx));
    a_.jz(zero);
    if (is_signed) {
        a_.cmp(narrow(rcx), imm(-1));
        a_.je(minus);
        if (is_word)
            a_.cdq();
        else
            a_.cqo();
        a_.idiv(narrow(rcx));
    } else {
        a_.xor_(edx, edx);
        a_.div(narrow(rcx));
    }
    if (remainder) a_.mov(rax, rdx);
    a_.jmp(done);
    a_.bind(zero);
    if (!remainder) a_.mov(rax, imm(-1));
    if (is_signed) {
        a_.jmp(done);
        a_.bind(minus);
        if (remainder)
            a_.xor_(eax, eax);
        else
            a_.neg(narrow(rax));
    }
    a_.bind(done);
    r_.settle(d.rd, rax, is_word ? result::low : result::whole);
}

void register_emitter::shifted_add(unsigned scale, bool narrow, const decoded& d) {
    if (narrow)
        a_.emit(Inst::kIdMov, eax, r_.operand(d.rs1, 4));
    else if (!r_.is_pinned(d.rs1))
        r_.move(rax, d.rs1);
    const auto index = narrow || !r_.is_pinned(d.rs1) ? x86::Gp(rax) : r_.pin_of(d.rs1);
    const auto base = r_.source(d.rs2, rcx);
    const auto dst = r_.target(d.rd);
    a_.lea(dst, x86::ptr(base, index, scale));
    r_.settle(d.rd, dst);
}

/// rd = f(rs1, ~rs2)
void register_emitter::inverted(id f, const decoded& d) {
    r_.move(rax, d.rs2);
    a_.not_(rax);
    a_.emit(f, rax, r_.operand(d.rs1));
    r_.settle(d.rd, rax);
}

/// rd = f(rs1); `width` of the operand in bytes. Host results of 32 bits are not negative.
void register_emitter::unary(id f, const decoded& d, unsigned width) {
    const auto dst = r_.target(d.rd);
    a_.emit(f, part(dst, width), r_.operand(d.rs1, width));
    r_.settle(d.rd, dst, result::word);
}

/// rd = the low `width` bytes of rs1, extended.
void register_emitter::extend(id f, const decoded& d, unsigned width) {
    const auto dst = r_.target(d.rd);
    a_.emit(f, dst, r_.operand(d.rs1, width));
    r_.settle(d.rd, dst, result::word);
}

/// rd = rs1, or rs2 if `move_if` holds for (rs1, rs2).
void register_emitter::choose(id move_if, const decoded& d) {
    r_.move(rax, d.rs1);
    a_.emit(Inst::kIdCmp, rax, r_.operand(d.rs2));
    a_.emit(move_if, rax, r_.operand(d.rs2));
    r_.settle(d.rd, rax);
}

void register_emitter::single_bit(id f, const decoded& d, bool immediate) {
    r_.move(rax, d.rs1);
    if (immediate) {
        a_.emit(f, rax, imm(d.imm & 63));
    } else {
        const auto index = r_.source(d.rs2, rcx);
        a_.emit(f, rax, index);
    }
    r_.settle(d.rd, rax);
}

// --- Instructions

bool register_emitter::emit(const decoded& d) {
    using self = register_emitter;
    static const std::unordered_map<std::string_view, function> whole{
        {"lui", [](self& e, auto& d) { e.r_.constant(d.rd, static_cast<u64>(i64{d.imm})); }},
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
             const auto dst = e.r_.target(d.rd);
             e.a_.emit(Inst::kIdMov, dst.r32(), e.r_.operand(d.rs1, 4));
             if (d.imm != 0) e.a_.shl(dst, imm(d.imm & 63));
             e.r_.settle(d.rd, dst);
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
             const auto dst = e.r_.target(d.rd);
             e.r_.move(dst, d.rs1);
             e.a_.bswap(dst);
             e.r_.settle(d.rd, dst);
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
             if (d.rs1 == 0) return e.r_.constant(d.rd, static_cast<u64>(i64{d.imm}));
             if (d.imm == 0) return e.r_.copy(d.rd, d.rs1);
             e.r_.complete(d.rs1);
             e.binary_immediate(Inst::kIdAdd, d);
         }},
        {"add",
         [](self& e, auto& d) {
             if (d.rs1 == 0) return e.r_.copy(d.rd, d.rs2);
             e.r_.complete(d.rs1);
             e.r_.complete(d.rs2);
             e.binary(Inst::kIdAdd, d, true);
         }},
        {"addiw", [](self& e, auto& d) { e.word_immediate(d); }},
        {"slliw", [](self& e, auto& d) { e.shift_word_immediate(Inst::kIdShl, d); }},
        {"srliw", [](self& e, auto& d) { e.shift_word_immediate(Inst::kIdShr, d); }},
        {"sraiw", [](self& e, auto& d) { e.shift_word_immediate(Inst::kIdSar, d); }},
        {"addw", [](self& e, auto& d) { e.binary(Inst::kIdAdd, d, true, result::low); }},
        {"subw", [](self& e, auto& d) { e.binary(Inst::kIdSub, d, false, result::low); }},
        {"sllw", [](self& e, auto& d) { e.shift(Inst::kIdShl, Inst::kIdShlx, d, result::low); }},
        {"srlw", [](self& e, auto& d) { e.shift(Inst::kIdShr, Inst::kIdShrx, d, result::low); }},
        {"sraw", [](self& e, auto& d) { e.shift(Inst::kIdSar, Inst::kIdSarx, d, result::low); }},
        {"mulw", [](self& e, auto& d) { e.binary(Inst::kIdImul, d, true, result::low); }},
        {"divw", [](self& e, auto& d) { e.divide(d, true, true, false); }},
        {"divuw", [](self& e, auto& d) { e.divide(d, false, true, false); }},
        {"remw", [](self& e, auto& d) { e.divide(d, true, true, true); }},
        {"remuw", [](self& e, auto& d) { e.divide(d, false, true, true); }},
        {"rolw", [](self& e, auto& d) { e.shift(Inst::kIdRol, Inst::kIdNone, d, result::low); }},
        {"rorw", [](self& e, auto& d) { e.shift(Inst::kIdRor, Inst::kIdNone, d, result::low); }},
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
        (r_.*complete_operand)(d.rs1);
        if (d.definition->layout == format::r) (r_.*complete_operand)(d.rs2);
        found->second(*this, d);
        return true;
    };
    const auto all = &guest_registers::complete, half = &guest_registers::complete_low;
    if (d.definition->then != flow::result || d.rd == 0) return false;
    r_.complete_users(d.rd);
    if (defer(d) || (std::string_view(d.definition->name) == "or" && join_shifts(d))) return true;
    return emit_from(low, half) || emit_from(whole, all) ||
           (host().hasLZCNT() && emit_from(with_lzcnt, all)) ||
           (host().hasBMI() && emit_from(with_bmi, all)) ||
           (host().hasPOPCNT() && emit_from(with_popcnt, all));
}

void register_emitter::lowest_bit(unsigned index) {
    a_.emit(Inst::kIdAnd, r_.operand(index), imm(1));
}

}  // namespace trn::riscv::translate
