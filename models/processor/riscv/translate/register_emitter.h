// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "models/processor/riscv/decode/decode.h"
#include "models/processor/riscv/translate/registers.h"

namespace trn::riscv::translate {

/// Known properties of a guest register's value, and the part of it that is still deferred.
struct value {
    enum class rest : u8 {
        nothing,
        extension,  ///< its location holds only the low 32 bits
        left,       ///< its location holds nothing: the value is a 32-bit shift of register `of`
        right,
    };
    rest lacks = rest::nothing;
    bool is_word = false;  ///< the value is a sign-extended 32-bit word
    u8 source = 0, count = 0;

    bool is_shift() const { return lacks == rest::left || lacks == rest::right; }
    friend bool operator==(const value&, const value&) = default;
};

/// Emits host code for instructions that compute a register from registers: RV64IM, Zba, Zbb, Zbs.
///
/// Sign extensions and 32-bit shifts by constants are deferred until they are needed or the code
/// leaves. Most are overwritten before, and two shifts may combine to a rotation.
class register_emitter {
public:
    using values = std::array<value, 32>;
    /// Content of a register's location after an instruction: 64 bits; 64 bits of a sign-extended
    /// word; or only the low 32 bits of a word.
    enum class result : u8 { whole, word, low };

    explicit register_emitter(x86::Assembler& code) : a(code) {
        assume(between_blocks);
        forget(0);
    }

    /// False, with nothing emitted: not such an instruction, or one that is inefficient on this
    /// host.
    bool emit(const decoded& d);
    /// Whether it is a 32-bit shift by a constant of another register, which is deferred.
    static bool is_deferred(const decoded& d);

    // -- Pinning: guest registers held in host registers

    /// Sets the pinning assumed by code emitted next. Emits nothing.
    void assume(const pinning& now);
    /// Emits the change from the pinning between blocks to the assumed one, and back. Keeps flags
    /// and scratch registers.
    void adopt();
    void release();

    // -- Deferred values. Each function may change flags, rax and memory of the hart.

    const values& known() const { return values_; }
    /// Sets the register knowledge at the current point of emission.
    void know(const values& now) { values_ = now; }
    /// Drops the knowledge of x[index], which the executor has changed.
    void forget(unsigned index) { values_[index] = {.is_word = index == 0}; }
    /// Emits code that completes all 64 bits of x[index].
    void complete(unsigned index);
    /// Emits code that completes its low 32 bits.
    void complete_low(unsigned index);
    void complete_all();
    bool is_complete() const;
    /// At the end of a round of a loop: emits code that restores the knowledge from its start.
    void match(const values& before);
    /// Completes values deferred from x[index], before it changes.
    void complete_users(unsigned index);

    // -- Operands, also for other emitters

    /// A host register that holds x[index]: its pin, or `scratch` after loading it.
    x86::Gp source(unsigned index, const x86::Gp& scratch);
    /// x[index] as an operand: a register, or memory of `size` bytes.
    asmjit::Operand operand(unsigned index, unsigned size = 8);
    /// The host register in which x[index] is computed: its pin, or rax, which settle() stores.
    x86::Gp target(unsigned index) const {
        return is_pinned(index) ? pin_of(index) : x86::Gp(x86::rax);
    }
    void settle(unsigned index, const x86::Gp& value, result kind = result::whole);
    void constant(unsigned index, u64 value);
    /// Sets the host's flags for x[rs1] - x[rs2]. Changes rax.
    void compare(unsigned rs1, unsigned rs2);

    x86::Assembler& a;

private:
    using id = asmjit::x86::Inst::Id;
    using function = void (*)(register_emitter&, const decoded&);
    static constexpr u8 not_pinned = 255;

    bool is_pinned(unsigned index) const { return place_[index] != not_pinned; }
    const x86::Gp& pin_of(unsigned index) const { return pins[place_[index]]; }

    bool lacks_extension(unsigned index) const {
        return values_[index].lacks == value::rest::extension;
    }
    unsigned size_of_both(unsigned rs1, unsigned rs2);
    bool defer(const decoded& d);
    bool join_shifts(const decoded& d);
    void rotate_word(unsigned rd, unsigned rs, unsigned count);
    void logic(id f, const decoded& d);
    void logic_immediate(id f, const decoded& d);

    void note(unsigned index, result kind);
    void move(const x86::Gp& dst, unsigned index);
    void copy(unsigned dst, unsigned src);
    void binary(id f, const decoded& d, bool commutative, result kind = result::whole);
    void binary_immediate(id f, const decoded& d);
    void word(id f, const decoded& d, bool commutative);
    void word_immediate(const decoded& d);
    void shift(id with_count, id bmi, const decoded& d);
    void shift_immediate(id f, const decoded& d);
    void shift_word(id with_count, id bmi, const decoded& d);
    void shift_word_immediate(id f, const decoded& d);
    void set_less(id set, const decoded& d, bool immediate);
    void high_product(id f, const decoded& d);
    void high_product_mixed(const decoded& d);
    void divide(const decoded& d, bool is_signed, bool is_word, bool remainder);
    void shifted_add(unsigned scale, bool narrow, const decoded& d);
    void inverted(id f, const decoded& d);
    void unary(id f, const decoded& d, unsigned width);
    void extend(id f, const decoded& d, unsigned width);
    void choose(id move_if, const decoded& d);
    void single_bit(id f, const decoded& d, bool immediate);
    void lowest_bit(unsigned index);

    values values_{};
    pinning pinned_{};
    std::array<u8, 33> place_{};  // index in pins of each guest register
};

}  // namespace trn::riscv::translate
