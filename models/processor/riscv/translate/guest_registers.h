// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "models/processor/riscv/translate/registers.h"

namespace trn::riscv::translate {

/// Known properties of a guest register's value, and the part of it that is still deferred.
struct value {
    enum class rest : u8 {
        nothing,
        extension,  ///< its location holds only the low 32 bits
        left,  ///< its location holds nothing: the value is a 32-bit shift of register `source`
        right,
    };
    rest lacks = rest::nothing;
    bool is_word = false;  ///< the value is a sign-extended 32-bit word
    u8 source = 0, count = 0;

    bool is_shift() const { return lacks == rest::left || lacks == rest::right; }
    friend bool operator==(const value&, const value&) = default;
};

/// The guest's registers during a block of host code: their locations, what is known of their
/// values, and the parts of them that are still deferred. Emits what moves and completes them.
///
/// Sign extensions and 32-bit shifts by constants are deferred until they are needed or the code
/// leaves. Most are overwritten before, and two shifts may combine to a rotation.
class guest_registers {
public:
    using values = std::array<value, 32>;
    /// Content of a register's location after an instruction: 64 bits; 64 bits of a sign-extended
    /// word; or only the low 32 bits of a word.
    enum class result : u8 { whole, word, low };

    explicit guest_registers(x86::Assembler& code) : a(code) {
        assume(between_blocks);
        forget(0);
    }

    // -- Pinning: guest registers held in host registers

    /// Sets the pinning assumed by code emitted next. Emits nothing.
    void assume(const pinning& now);
    /// Emits the change from the pinning between blocks to the assumed one, and back. Keeps flags
    /// and scratch registers.
    void adopt();
    void release();

    bool is_pinned(unsigned index) const { return place_[index] != not_pinned; }
    /// Precondition: is_pinned()
    const x86::Gp& pin_of(unsigned index) const { return pins[place_[index]]; }

    // -- Deferred values. Each function may change flags, rax and memory of the hart.

    const values& known() const { return values_; }
    /// Sets the register knowledge at the current point of emission.
    void know(const values& now) { values_ = now; }
    /// Drops the knowledge of x[index], which the executor has changed.
    void forget(unsigned index) { values_[index] = {.is_word = index == 0}; }
    /// Defers the 32-bit shift of another register by a constant, left or right.
    void defer_shift(unsigned index, value::rest direction, unsigned source, unsigned count);
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
    /// The operand size of an operation that gives the same result for sign-extended words with 4
    /// bytes (compares, and, or, xor): 4 if both registers hold words, else 8. Completes as many.
    unsigned size_of_both(unsigned rs1, unsigned rs2);

    // -- Operands

    /// A host register that holds x[index]: its pin, or `scratch` after loading it.
    x86::Gp source(unsigned index, const x86::Gp& scratch);
    /// x[index] as an operand: a register, or memory of `size` bytes.
    asmjit::Operand operand(unsigned index, unsigned size = 8);
    /// The host register in which x[index] is computed: its pin, or rax, which settle() stores.
    x86::Gp target(unsigned index) const {
        return is_pinned(index) ? pin_of(index) : x86::Gp(x86::rax);
    }
    void move(const x86::Gp& dst, unsigned index);
    void copy(unsigned dst, unsigned src);
    void settle(unsigned index, const x86::Gp& value, result kind = result::whole);
    /// The location of x[index] has got a result.
    void note(unsigned index, result kind);
    void constant(unsigned index, u64 value);
    /// Sets the host's flags for x[rs1] - x[rs2]. Changes rax.
    void compare(unsigned rs1, unsigned rs2);

    x86::Assembler& a;

private:
    static constexpr u8 not_pinned = 255;

    bool lacks_extension(unsigned index) const {
        return values_[index].lacks == value::rest::extension;
    }

    values values_{};
    pinning pinned_{};
    std::array<u8, 33> place_{};  // index in pins of each guest register
};

}  // namespace trn::riscv::translate
