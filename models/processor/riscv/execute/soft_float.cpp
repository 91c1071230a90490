// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/execute/soft_float.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

namespace trn::riscv::soft_float {

namespace {

__extension__ using u128 = unsigned __int128;

template <typename F>
constexpr int precision = fraction_bits<F> + 1;
template <typename F>
constexpr int max_exponent = sizeof(F) == 4 ? 127 : 1023;
template <typename F>
constexpr int min_exponent = 1 - max_exponent<F>;

enum class kind : u8 { zero, finite, infinite, nan };

/// A finite number: significand / 2^63 * 2^exponent; the top bit of the significand is set.
struct number {
    kind is = kind::zero;
    bool negative = false;
    int exponent = 0;
    u64 significand = 0;
};

template <typename F>
number unpack(F a) {
    constexpr F fraction_mask = (F{1} << fraction_bits<F>)-1;
    const bool negative = (a & sign_bit<F>) != 0;
    const F fraction = a & fraction_mask;
    const auto biased = static_cast<int>((a & ~sign_bit<F>) >> fraction_bits<F>);
    if (biased > 2 * max_exponent<F>)
        return {fraction == 0 ? kind::infinite : kind::nan, negative, 0, 0};
    if (biased == 0 && fraction == 0) return {kind::zero, negative, 0, 0};
    const u64 high = u64{fraction} << (64 - precision<F>);
    if (biased != 0) return {kind::finite, negative, biased - max_exponent<F>, high | u64{1} << 63};
    const int shift = std::countl_zero(high);
    return {kind::finite, negative, min_exponent<F> - shift, high << shift};
}

/// Shifts right; ORs the bits shifted out into bit 0.
template <typename U>
U shift_jam(U value, int count) {
    constexpr int width = 8 * sizeof(U);
    if (count == 0) return value;
    if (count >= width) return value != 0 ? 1 : 0;
    return value >> count | ((value << (width - count)) != 0 ? 1 : 0);
}

template <typename F>
F zero(bool negative) {
    return negative ? sign_bit<F> : 0;
}
template <typename F>
F infinite(bool negative) {
    return zero<F>(negative) | infinity<F>;
}

template <typename F>
F invalid(context& c) {
    c.flags |= flag::invalid;
    return canonical_nan<F>;
}

/// The result of an operation with at least one NaN operand.
template <typename F, typename... Operands>
F nan_result(context& c, Operands... operands) {
    if ((is_signaling<F>(operands) || ...)) c.flags |= flag::invalid;
    return canonical_nan<F>;
}

/// significand / 2^shift, rounded to an integer.
u64 round_at(u64 significand, int shift, bool negative, rounding mode) {
    const u64 kept = shift < 64 ? significand >> shift : 0;
    const u64 half = u64{1} << (shift - 1), rest = significand & (half | (half - 1));
    if (rest == 0) return kept;
    bool up = false;
    switch (mode) {
    case rounding::nearest_even:
        up = rest > half || (rest == half && (kept & 1) != 0);
        break;
    case rounding::nearest_away:
        up = rest >= half;
        break;
    case rounding::up:
        up = !negative;
        break;
    case rounding::down:
        up = negative;
        break;
    case rounding::to_zero:
        break;
    }
    return kept + (up ? 1 : 0);
}

template <typename F>
F overflow(bool negative, context& c) {
    c.flags |= flag::overflow | flag::inexact;
    const bool away = c.mode == rounding::nearest_even || c.mode == rounding::nearest_away ||
                      c.mode == (negative ? rounding::down : rounding::up);
    return away ? infinite<F>(negative) : infinite<F>(negative) - 1;
}

/// Rounds a number; bit 0 of its significand includes the bits shifted out.
template <typename F>
F round_and_pack(const number& n, context& c) {
    constexpr int shift = 64 - precision<F>;
    constexpr u64 lost_mask = (u64{1} << shift) - 1, carried = u64{1} << precision<F>;
    u64 significand = n.significand;
    const u64 as_normal = round_at(significand, shift, n.negative, c.mode);
    const bool is_subnormal = n.exponent < min_exponent<F>;
    u64 biased = 0;
    u64 rounded = as_normal;
    if (is_subnormal) {
        significand = shift_jam(significand, min_exponent<F> - n.exponent);
        rounded = round_at(significand, shift, n.negative, c.mode);
        const bool grows_normal = n.exponent == min_exponent<F> - 1 && as_normal == carried;
        if ((significand & lost_mask) != 0 && !grows_normal) c.flags |= flag::underflow;
    } else {
        const int exponent = n.exponent + (as_normal == carried ? 1 : 0);
        if (exponent > max_exponent<F>) return overflow<F>(n.negative, c);
        biased = static_cast<u64>(n.exponent + max_exponent<F> - 1);
    }
    if ((significand & lost_mask) != 0) c.flags |= flag::inexact;
    // The leading 1 of the significand, and its carry, are added to the exponent field.
    return zero<F>(n.negative) + static_cast<F>((biased << fraction_bits<F>)+rounded);
}

/// A finite number with 127 bits of significand: bit 126 is the most significant.
struct wide_number {
    bool negative;
    int exponent;
    u128 significand;
};

template <typename F>
F pack_wide(bool negative, int exponent, u128 significand, context& c) {
    const auto high = static_cast<u64>(significand >> 64), low = static_cast<u64>(significand);
    const int zeros = high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(low);
    significand <<= zeros;
    return round_and_pack<F>({kind::finite, negative, exponent + 1 - zeros,
                              static_cast<u64>(shift_jam(significand, 64))},
                             c);
}

template <typename F>
F add_wide(wide_number a, wide_number b, context& c) {
    if (a.exponent < b.exponent) std::swap(a, b);
    b.significand = shift_jam(b.significand, a.exponent - b.exponent);
    if (a.negative == b.negative)
        return pack_wide<F>(a.negative, a.exponent, a.significand + b.significand, c);
    if (a.significand == b.significand) return zero<F>(c.mode == rounding::down);
    if (a.significand < b.significand) std::swap(a.significand, b.significand), a.negative ^= true;
    return pack_wide<F>(a.negative, a.exponent, a.significand - b.significand, c);
}

wide_number widened(const number& n) {
    return {n.negative, n.exponent, u128{n.significand} << 63};
}

/// Exact: the significands have at most 53 bits that are not 0.
wide_number product(const number& a, const number& b) {
    const u128 significand = u128{a.significand} * b.significand;
    const bool carries = significand >> 127 != 0;
    return {a.negative != b.negative, a.exponent + b.exponent + (carries ? 1 : 0),
            carries ? significand >> 1 : significand};
}

/// The sum x + y if an operand is 0 or infinite and none is a NaN; a and b are the encoded
/// operands.
template <typename F>
F add_special(const number& x, const number& y, F a, F b, context& c) {
    if (x.is == kind::infinite && y.is == kind::infinite)
        return x.negative == y.negative ? a : invalid<F>(c);
    if (x.is == kind::infinite) return a;
    if (y.is == kind::infinite) return b;
    if (x.is == kind::zero && y.is == kind::zero)
        return x.negative == y.negative ? a : zero<F>(c.mode == rounding::down);
    return x.is == kind::zero ? b : a;
}

/// Floor of the square root.
u64 root(u128 radicand) {
    u64 result = 0;
    for (int bit = 63; bit >= 0; --bit) {
        const u64 candidate = result | u64{1} << bit;
        if (u128{candidate} * candidate <= radicand) result = candidate;
    }
    return result;
}

template <typename F>
bool less_number(F a, F b) {
    const bool a_negative = (a & sign_bit<F>) != 0, b_negative = (b & sign_bit<F>) != 0;
    if (a_negative != b_negative) return a_negative;
    return a_negative ? b < a : a < b;
}

template <typename F>
bool both_zero(F a, F b) {
    return ((a | b) & ~sign_bit<F>) == 0;
}

template <typename F>
F select(F a, F b, bool takes_a, context& c) {
    if (is_signaling(a) || is_signaling(b)) c.flags |= flag::invalid;
    if (is_nan(a) && is_nan(b)) return canonical_nan<F>;
    if (is_nan(a)) return b;
    if (is_nan(b)) return a;
    return takes_a ? a : b;
}

}  // namespace

template <typename F>
F add(F a, F b, context& c) {
    if (is_nan(a) || is_nan(b)) return nan_result<F>(c, a, b);
    const number x = unpack(a), y = unpack(b);
    if (x.is != kind::finite || y.is != kind::finite) return add_special(x, y, a, b, c);
    return add_wide<F>(widened(x), widened(y), c);
}

template <typename F>
F multiply(F a, F b, context& c) {
    if (is_nan(a) || is_nan(b)) return nan_result<F>(c, a, b);
    const number x = unpack(a), y = unpack(b);
    const bool negative = x.negative != y.negative;
    const bool any_zero = x.is == kind::zero || y.is == kind::zero;
    if (x.is == kind::infinite || y.is == kind::infinite)
        return any_zero ? invalid<F>(c) : infinite<F>(negative);
    if (any_zero) return zero<F>(negative);
    const wide_number p = product(x, y);
    return pack_wide<F>(p.negative, p.exponent, p.significand, c);
}

template <typename F>
F multiply_add(F a, F b, F addend, context& c) {
    const number x = unpack(a), y = unpack(b), z = unpack(addend);
    const bool infinite_product = x.is == kind::infinite || y.is == kind::infinite;
    const bool zero_product = x.is == kind::zero || y.is == kind::zero;
    // Invalid also when the addend is a quiet NaN (Unpriv. 11.6).
    if (infinite_product && zero_product) return invalid<F>(c);
    if (is_nan(a) || is_nan(b) || is_nan(addend)) return nan_result<F>(c, a, b, addend);
    const bool negative = x.negative != y.negative;
    if (infinite_product || zero_product || z.is != kind::finite) {
        const number p{infinite_product ? kind::infinite
                       : zero_product   ? kind::zero
                                        : kind::finite,
                       negative, 0, 0};
        if (p.is != kind::finite || z.is == kind::infinite)
            return add_special(p, z, infinite_product ? infinite<F>(negative) : zero<F>(negative),
                               addend, c);
        const wide_number exact = product(x, y);  // the addend is 0
        return pack_wide<F>(exact.negative, exact.exponent, exact.significand, c);
    }
    return add_wide<F>(product(x, y), widened(z), c);
}

template <typename F>
F divide(F a, F b, context& c) {
    if (is_nan(a) || is_nan(b)) return nan_result<F>(c, a, b);
    const number x = unpack(a), y = unpack(b);
    const bool negative = x.negative != y.negative;
    if (x.is == y.is && x.is != kind::finite) return invalid<F>(c);
    if (x.is == kind::infinite) return infinite<F>(negative);
    if (x.is == kind::zero || y.is == kind::infinite) return zero<F>(negative);
    if (y.is == kind::zero) {
        c.flags |= flag::divide_by_zero;
        return infinite<F>(negative);
    }
    const u128 dividend = u128{x.significand} << 63;
    const u128 quotient = dividend / y.significand;
    const bool exact = quotient * y.significand == dividend;
    return pack_wide<F>(negative, x.exponent - y.exponent, quotient << 63 | (exact ? 0 : 1), c);
}

template <typename F>
F square_root(F a, context& c) {
    if (is_nan(a)) return nan_result<F>(c, a);
    const number x = unpack(a);
    if (x.is == kind::zero) return a;
    if (x.negative) return invalid<F>(c);
    if (x.is == kind::infinite) return a;
    const bool odd = (x.exponent & 1) != 0;
    const u128 radicand = u128{x.significand} << (odd ? 64 : 63);
    const u64 result = root(radicand);
    const bool exact = u128{result} * result == radicand;
    // A result of 53 bits leaves 11 lower bits, so bit 0 can mark an inexact result.
    return round_and_pack<F>(
        {kind::finite, false, (x.exponent - (odd ? 1 : 0)) / 2, result | (exact ? 0 : 1)}, c);
}

template <typename F>
F minimum(F a, F b, context& c) {
    return select(a, b, less_number(a, b), c);
}
template <typename F>
F maximum(F a, F b, context& c) {
    return select(a, b, less_number(b, a), c);
}

template <typename F>
bool equal(F a, F b, context& c) {
    if (is_signaling(a) || is_signaling(b)) c.flags |= flag::invalid;
    if (is_nan(a) || is_nan(b)) return false;
    return a == b || both_zero(a, b);
}

template <typename F>
bool less(F a, F b, context& c) {
    if (is_nan(a) || is_nan(b)) {
        c.flags |= flag::invalid;
        return false;
    }
    return less_number(a, b) && !both_zero(a, b);
}

template <typename F>
bool less_or_equal(F a, F b, context& c) {
    if (is_nan(a) || is_nan(b)) {
        c.flags |= flag::invalid;
        return false;
    }
    return a == b || both_zero(a, b) || less_number(a, b);
}

template <typename Integer, typename F>
Integer to_integer(F a, context& c) {
    using limits = std::numeric_limits<Integer>;
    const auto out_of_range = [&](bool negative) {
        c.flags |= flag::invalid;
        return negative ? limits::min() : limits::max();
    };
    if (is_nan(a)) return out_of_range(false);
    const number x = unpack(a);
    if (x.is == kind::zero) return 0;
    constexpr int beyond = 64;
    if (x.is == kind::infinite || x.exponent >= beyond) return out_of_range(x.negative);
    u64 magnitude = x.significand;
    bool inexact = false;
    if (const int shift = 63 - x.exponent; shift > 0) {
        const int kept = std::min(shift, 2);  // number of fraction bits; the rest is ORed into them
        const u64 with_rest = shift_jam(x.significand, shift - kept);
        inexact = (with_rest & ((u64{1} << kept) - 1)) != 0;
        magnitude = round_at(with_rest, kept, x.negative, c.mode);
    }
    const u64 bound = x.negative
                          ? (std::is_signed_v<Integer> ? static_cast<u64>(limits::max()) + 1 : 0)
                          : static_cast<u64>(limits::max());
    if (magnitude > bound) return out_of_range(x.negative);
    if (inexact) c.flags |= flag::inexact;
    return static_cast<Integer>(x.negative ? 0 - magnitude : magnitude);
}

template <typename F, typename Integer>
F from_integer(Integer value, context& c) {
    if (value == 0) return 0;
    bool negative = false;
    if constexpr (std::is_signed_v<Integer>) negative = value < 0;
    const u64 wide = static_cast<u64>(value);  // sign-extends
    const u64 magnitude = negative ? 0 - wide : wide;
    const int zeros = std::countl_zero(magnitude);
    return round_and_pack<F>({kind::finite, negative, 63 - zeros, magnitude << zeros}, c);
}

namespace {

template <typename To, typename From>
To convert(From a, context& c) {
    if (is_nan(a)) {
        if (is_signaling(a)) c.flags |= flag::invalid;
        return canonical_nan<To>;
    }
    const number x = unpack(a);
    if (x.is == kind::zero) return zero<To>(x.negative);
    if (x.is == kind::infinite) return infinite<To>(x.negative);
    return round_and_pack<To>(x, c);
}

}  // namespace

u64 widen(u32 a, context& c) {
    return convert<u64>(a, c);
}
u32 narrow(u64 a, context& c) {
    return convert<u32>(a, c);
}

template <typename F>
u64 classify(F a) {
    enum : unsigned {
        negative_infinity,
        negative_normal,
        negative_subnormal,
        negative_zero,
        positive_zero,
        positive_subnormal,
        positive_normal,
        positive_infinity,
        signaling,
        quiet,
    };
    if (is_nan(a)) return u64{1} << (is_signaling(a) ? signaling : quiet);
    const F magnitude = a & ~sign_bit<F>;
    const bool negative = magnitude != a;
    unsigned kind = negative ? negative_normal : positive_normal;
    if (magnitude == infinity<F>) kind = negative ? negative_infinity : positive_infinity;
    if (magnitude >> fraction_bits<F> == 0)
        kind = negative ? negative_subnormal : positive_subnormal;
    if (magnitude == 0) kind = negative ? negative_zero : positive_zero;
    return u64{1} << kind;
}

#define TRN_FOR_FORMAT(F)                           \
    template F add(F, F, context&);                 \
    template F multiply(F, F, context&);            \
    template F multiply_add(F, F, F, context&);     \
    template F divide(F, F, context&);              \
    template F square_root(F, context&);            \
    template F minimum(F, F, context&);             \
    template F maximum(F, F, context&);             \
    template bool equal(F, F, context&);            \
    template bool less(F, F, context&);             \
    template bool less_or_equal(F, F, context&);    \
    template i32 to_integer<i32, F>(F, context&);   \
    template u32 to_integer<u32, F>(F, context&);   \
    template i64 to_integer<i64, F>(F, context&);   \
    template u64 to_integer<u64, F>(F, context&);   \
    template F from_integer<F, i32>(i32, context&); \
    template F from_integer<F, u32>(u32, context&); \
    template F from_integer<F, i64>(i64, context&); \
    template F from_integer<F, u64>(u64, context&); \
    template u64 classify(F);
TRN_FOR_FORMAT(u32)
TRN_FOR_FORMAT(u64)
#undef TRN_FOR_FORMAT

}  // namespace trn::riscv::soft_float
