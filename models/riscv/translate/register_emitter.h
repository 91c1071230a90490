// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "models/riscv/decode.h"
#include "models/riscv/translate/registers.h"

namespace trn::riscv::translate {

/// Emits host code for instructions that compute a register from registers: RV64IM, Zba, Zbb, Zbs.
class register_emitter {
public:
    explicit register_emitter(x86::Assembler& to) : a(to) { assume(between_blocks); }

    /// False, and nothing emitted: not such an instruction, or one that this host cannot do well.
    bool emit(const decoded& d);

    // -- Which registers of the guest are in host registers.

    /// From here on, as code that is emitted next shall find it. Emits nothing.
    void assume(const pinning& now);
    /// Goes over from the pinning between blocks to the one assumed, and back. Keeps flags and
    /// scratch registers.
    void adopt();
    void release();

    // -- Operands; for other emitters too.

    /// A host register that holds x[index]: its own, or `scratch`, loaded.
    x86::Gp source(unsigned index, const x86::Gp& scratch);
    /// x[index] as an operand: a register, or memory of `size` bytes.
    asmjit::Operand operand(unsigned index, unsigned size = 8);
    /// The register that computes x[index]: its own or rax; settle() stores the latter.
    x86::Gp target(unsigned index) const {
        return is_pinned(index) ? pin_of(index) : x86::Gp(x86::rax);
    }
    void settle(unsigned index, const x86::Gp& value);
    void constant(unsigned index, u64 value);
    /// Sets the host's flags: x[rs1] less x[rs2].
    void compare(unsigned rs1, unsigned rs2);

    x86::Assembler& a;

private:
    using id = asmjit::x86::Inst::Id;
    static constexpr u8 not_pinned = 255;

    bool is_pinned(unsigned index) const { return place_[index] != not_pinned; }
    const x86::Gp& pin_of(unsigned index) const { return pins[place_[index]]; }

    void move(const x86::Gp& to, unsigned index);
    void copy(unsigned to, unsigned from);
    void binary(id f, const decoded& d, bool commutative);
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
    void choose(id move_if, const decoded& d);
    void single_bit(id f, const decoded& d, bool immediate);
    void lowest_bit(unsigned index);

    pinning pinned_{};
    std::array<u8, 33> place_{};  // in pins, of each register of the guest
};

}  // namespace trn::riscv::translate
