// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "models/riscv/decode.h"
#include "models/riscv/translate/registers.h"

namespace trn::riscv::translate {

/// What host code knows of the value of a register of the guest, and what it has yet to compute.
struct value {
    enum class rest : u8 {
        nothing,
        extension,  ///< its place has the low 32 bits only
        left,       ///< its place has nothing: the value is a 32-bit shift of register `of`
        right,
    };
    rest lacks = rest::nothing;
    bool is_word = false;  ///< the value is its low 32 bits, extended by their sign
    u8 of = 0, count = 0;

    bool is_shift() const { return lacks == rest::left || lacks == rest::right; }
    friend bool operator==(const value&, const value&) = default;
};

/// Emits host code for instructions that compute a register from registers: RV64IM, Zba, Zbb, Zbs.
///
/// Sign extensions and 32-bit shifts by constants are computed late: when something needs them, or
/// where the code leaves. Most are overwritten before, and two shifts make a rotation.
class register_emitter {
public:
    using values = std::array<value, 32>;
    /// What a place of a register has after an instruction: its 64 bits; the same of a value that
    /// is a word; or the low 32 bits of a word.
    enum class result : u8 { whole, word, low };

    explicit register_emitter(x86::Assembler& to) : a(to) {
        assume(between_blocks);
        forget(0);
    }

    /// False, and nothing emitted: not such an instruction, or one that this host cannot do well.
    bool emit(const decoded& d);
    /// A 32-bit shift by a constant of another register: computed when it is needed.
    static bool is_deferred(const decoded& d);

    // -- Which registers of the guest are in host registers.

    /// From here on, as code that is emitted next shall find it. Emits nothing.
    void assume(const pinning& now);
    /// Goes over from the pinning between blocks to the one assumed, and back. Keeps flags and
    /// scratch registers.
    void adopt();
    void release();

    // -- What is yet to compute. Each may change flags, rax and memory of the hart.

    const values& known() const { return values_; }
    /// Emission continues where this is known.
    void know(const values& now) { values_ = now; }
    /// Nothing is known of x[index] any more: the executor changed it.
    void forget(unsigned index) { values_[index] = {.is_word = index == 0}; }
    /// All 64 bits of x[index] are in its place from here on.
    void complete(unsigned index);
    /// Its low 32 bits are.
    void complete_low(unsigned index);
    void complete_all();
    bool is_complete() const;
    /// As it was known before a round of a loop, of which this is the end.
    void match(const values& before);
    /// Before x[index] changes: what is to be computed from it.
    void complete_users(unsigned index);

    // -- Operands; for other emitters too.

    /// A host register that holds x[index]: its own, or `scratch`, loaded.
    x86::Gp source(unsigned index, const x86::Gp& scratch);
    /// x[index] as an operand: a register, or memory of `size` bytes.
    asmjit::Operand operand(unsigned index, unsigned size = 8);
    /// The register that computes x[index]: its own or rax; settle() stores the latter.
    x86::Gp target(unsigned index) const {
        return is_pinned(index) ? pin_of(index) : x86::Gp(x86::rax);
    }
    void settle(unsigned index, const x86::Gp& from, result has = result::whole);
    void constant(unsigned index, u64 value);
    /// Sets the host's flags: x[rs1] less x[rs2]. Changes rax.
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

    void note(unsigned index, result has);
    void move(const x86::Gp& to, unsigned index);
    void copy(unsigned to, unsigned from);
    void binary(id f, const decoded& d, bool commutative, result has = result::whole);
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
    void one(id f, const decoded& d, unsigned width);
    void extend(id f, const decoded& d, unsigned width);
    void choose(id move_if, const decoded& d);
    void single_bit(id f, const decoded& d, bool immediate);
    void lowest_bit(unsigned index);

    values values_{};
    pinning pinned_{};
    std::array<u8, 33> place_{};  // in pins, of each register of the guest
};

}  // namespace trn::riscv::translate
