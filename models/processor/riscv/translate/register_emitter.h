// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/processor/riscv/decode/decode.h"
#include "models/processor/riscv/translate/guest_registers.h"

namespace trn::riscv::translate {

/// Emits host code for instructions that compute a register from registers: RV64IM, Zba, Zbb, Zbs.
class register_emitter {
public:
    explicit register_emitter(guest_registers& registers) : r_(registers), a_(registers.a) {}

    /// False, with nothing emitted: not such an instruction, or one that is inefficient on this
    /// host.
    bool emit(const decoded& d);
    /// Whether it is a 32-bit shift by a constant of another register, which is deferred.
    static bool is_deferred(const decoded& d);

private:
    using id = asmjit::x86::Inst::Id;
    using function = void (*)(register_emitter&, const decoded&);
    using result = guest_registers::result;

    bool defer(const decoded& d);
    bool join_shifts(const decoded& d);
    void rotate_word(unsigned rd, unsigned rs, unsigned count);
    void logic(id f, const decoded& d);
    void logic_immediate(id f, const decoded& d);
    void binary(id f, const decoded& d, bool commutative, result kind = result::whole);
    void binary_immediate(id f, const decoded& d);
    void word_immediate(const decoded& d);
    void shift(id with_count, id bmi, const decoded& d, result kind = result::whole);
    void shift_immediate(id f, const decoded& d);
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

    guest_registers& r_;
    x86::Assembler& a_;
};

}  // namespace trn::riscv::translate
