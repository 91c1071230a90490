// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/processor/riscv/decode/isa.h"

/// IEEE 754 arithmetic on binary32 (u32) and binary64 (u64) with RISC-V's choices (Unpriv. chapters
/// 11 and 12): tininess is detected after rounding, and NaN results are the canonical NaN. Uses
/// integer arithmetic only, so results are independent of the host's floating point and of compiler
/// options.
namespace trn::riscv::soft_float {

/// Rounding modes by their encoding in rm.
enum class rounding : u8 { nearest_even, to_zero, down, up, nearest_away };

/// Bits of fflags.
namespace flag {
constexpr u8 inexact = 1, underflow = 2, overflow = 4, divide_by_zero = 8, invalid = 16;
}  // namespace flag

/// Rounding mode, and the flags that operations accumulate.
struct context {
    rounding mode = rounding::nearest_even;
    u8 flags = 0;
};

template <typename F>
constexpr F sign_bit = F{1} << (8 * sizeof(F) - 1);
template <typename F>
constexpr unsigned fraction_bits = sizeof(F) == 4 ? 23 : 52;
template <typename F>
constexpr F infinity = sizeof(F) == 4 ? F(0x7f80'0000) : F(0x7ff0'0000'0000'0000);
template <typename F>
constexpr F canonical_nan = infinity<F> | F{1} << (fraction_bits<F> - 1);

template <typename F>
constexpr bool is_nan(F a) {
    return (a & ~sign_bit<F>) > infinity<F>;
}
template <typename F>
constexpr bool is_signaling(F a) {
    return is_nan(a) && (a >> (fraction_bits<F> - 1) & 1) == 0;
}

template <typename F>
F add(F a, F b, context& c);
template <typename F>
F multiply(F a, F b, context& c);
/// a * b + addend, rounded once.
template <typename F>
F multiply_add(F a, F b, F addend, context& c);
template <typename F>
F divide(F a, F b, context& c);
template <typename F>
F square_root(F a, context& c);

/// If one operand is a NaN, the result is the other operand; -0 is less than +0.
template <typename F>
F minimum(F a, F b, context& c);
template <typename F>
F maximum(F a, F b, context& c);
/// False if an operand is a NaN. equal() is quiet, the other two signal.
template <typename F>
bool equal(F a, F b, context& c);
template <typename F>
bool less(F a, F b, context& c);
template <typename F>
bool less_or_equal(F a, F b, context& c);

/// Integers are i32, u32, i64 and u64. Values out of range become the nearest integer, NaNs the
/// largest, both with flag `invalid`.
template <typename Integer, typename F>
Integer to_integer(F a, context& c);
template <typename F, typename Integer>
F from_integer(Integer value, context& c);
u64 widen(u32 a, context& c);
u32 narrow(u64 a, context& c);

/// The mask of fclass (Unpriv. table 11.5).
template <typename F>
u64 classify(F a);

}  // namespace trn::riscv::soft_float
