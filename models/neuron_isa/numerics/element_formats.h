// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "models/neuron_isa/numerics/elements.h"
#include "models/neuron_isa/numerics/unaligned.h"

/// One class per element type, for loops that are instantiated per type.
namespace trn::numerics::formats {

constexpr std::uint32_t sign_bit = 0x8000'0000, infinity = 0x7f80'0000, quiet = 0x0040'0000;
constexpr unsigned fp32_mantissa = 23;
constexpr int fp32_bias = 127;

// ---- floating-point formats narrower than FP32

/// Sign, exponent and mantissa in the low bits of `code`.
template <class Code, unsigned exponent_bits, unsigned mantissa_bits, bool has_infinity = true>
struct small_float {
    using code = Code;
    static constexpr unsigned mantissa = mantissa_bits;
    static constexpr unsigned width = 1 + exponent_bits + mantissa_bits;
    static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
    static constexpr int min_exponent = 1 - bias;
    static constexpr std::uint32_t top = ((1u << exponent_bits) - 1) << mantissa_bits;
    static constexpr std::uint32_t largest =
        has_infinity ? top - 1 : top + (1u << mantissa_bits) - 2;
    static constexpr std::uint32_t overflow = has_infinity ? top : largest + 1;

    static constexpr bool is_nan(std::uint32_t magnitude) {
        return has_infinity ? magnitude > top : magnitude > largest;
    }
    static constexpr std::uint32_t nan(std::uint32_t fp32_magnitude) {
        const std::uint32_t payload =
            (fp32_magnitude & (quiet - 1)) >> (fp32_mantissa - mantissa_bits);
        return has_infinity ? top | 1u << (mantissa_bits - 1) | payload : overflow;
    }
};
using tf32 = small_float<std::uint32_t, 8, 10>;
using bf16 = small_float<std::uint16_t, 8, 7>;
using fp16 = small_float<std::uint16_t, 5, 10>;
using e3m4 = small_float<std::uint8_t, 3, 4>;
using e4m3 = small_float<std::uint8_t, 4, 3>;
using e4m3fn = small_float<std::uint8_t, 4, 3, false>;
using e5m2 = small_float<std::uint8_t, 5, 2>;

template <class F>
constexpr float widened(std::uint32_t code) {
    const std::uint32_t magnitude = code & ((1u << (F::width - 1)) - 1);
    const std::uint32_t sign = code >> (F::width - 1) << 31;
    const std::uint32_t aligned = magnitude << (fp32_mantissa - F::mantissa);
    if (F::is_nan(magnitude)) return std::bit_cast<float>(sign | infinity | aligned);
    if (magnitude == F::overflow) return std::bit_cast<float>(sign | infinity);
    if (magnitude >> F::mantissa != 0)
        return std::bit_cast<float>(
            sign | (aligned + (static_cast<std::uint32_t>(fp32_bias - F::bias) << fp32_mantissa)));
    const float unit = std::bit_cast<float>(
        static_cast<std::uint32_t>(fp32_bias + F::min_exponent - static_cast<int>(F::mantissa))
        << fp32_mantissa);
    const float value = static_cast<float>(magnitude) * unit;
    return sign != 0 ? -value : value;
}

template <class F>
constexpr std::array<float, 256> widened_table() {
    std::array<float, 256> table{};
    for (std::uint32_t code = 0; code < 256; ++code) table[code] = widened<F>(code);
    return table;
}

/// Narrows FP32 bits to the format. `up(kept, rest, shift)`: whether the lost bits `rest` round
/// away from zero.
template <class F, class Up>
std::uint32_t narrowed(std::uint32_t bits, bool saturate, Up&& up) {
    const std::uint32_t magnitude = bits & ~sign_bit;
    const std::uint32_t sign = bits >> 31 << (F::width - 1);
    const std::uint32_t too_large = saturate ? F::largest : F::overflow;
    if (magnitude > infinity) return sign | F::nan(magnitude);
    if (magnitude == infinity) return sign | too_large;
    const std::uint32_t biased = magnitude >> fp32_mantissa;
    const bool normal = biased != 0;
    const std::uint64_t significand = (magnitude & 0x7f'ffff) | (normal ? 0x80'0000u : 0u);
    const int exponent = (normal ? static_cast<int>(biased) : 1) - fp32_bias;
    const bool below = exponent < F::min_exponent;
    const int wanted =
        static_cast<int>(fp32_mantissa - F::mantissa) + (below ? F::min_exponent - exponent : 0);
    const auto shift = static_cast<unsigned>(std::min(wanted, 63));
    std::uint64_t code = significand >> shift;
    const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
    code += up(code, rest, shift) ? 1 : 0;
    // A carry out of the mantissa increments the exponent, also from subnormal to normal.
    if (!below) code += static_cast<std::uint64_t>(exponent + F::bias - 1) << F::mantissa;
    return sign | (code > F::largest ? too_large : static_cast<std::uint32_t>(code));
}

/// Narrows to nearest, ties to even. Without branches and with signed compares, to vectorise.
template <class F>
std::uint32_t narrowed_to_nearest(std::uint32_t bits, bool saturate) {
    constexpr unsigned cut = fp32_mantissa - F::mantissa;
    constexpr auto rebias = static_cast<std::uint32_t>(fp32_bias - F::bias) << F::mantissa;
    constexpr auto min_normal = static_cast<std::int32_t>(fp32_bias + F::min_exponent)
                                << fp32_mantissa;
    // Adding it to a magnitude below the smallest normal rounds at the smallest subnormal.
    constexpr std::uint32_t to_subnormal =
        static_cast<std::uint32_t>(fp32_bias + F::min_exponent + static_cast<int>(cut))
        << fp32_mantissa;
    const std::uint32_t magnitude = bits & ~sign_bit;
    const auto compared = static_cast<std::int32_t>(magnitude);
    const std::uint32_t normal =
        ((magnitude + ((1u << (cut - 1)) - 1) + (magnitude >> cut & 1)) >> cut) - rebias;
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) +
                                     std::bit_cast<float>(to_subnormal)) -
        to_subnormal;
    const std::uint32_t too_large = saturate ? F::largest : F::overflow;
    std::uint32_t code = compared < min_normal ? subnormal : normal;
    code =
        static_cast<std::int32_t>(code) > static_cast<std::int32_t>(F::largest) ? too_large : code;
    code = compared > static_cast<std::int32_t>(infinity) ? F::nan(magnitude) : code;
    return code | bits >> 31 << (F::width - 1);
}

/// Shifts a format narrower than its code to the code's upper bits.
template <class F>
typename F::code placed(std::uint32_t code) {
    return static_cast<typename F::code>(code << (sizeof(typename F::code) * 8 - F::width));
}

// ---- one class per format: get() decodes one element, put() encodes a run

template <class F>
void put_stochastic(const float* source, std::uint8_t* destination, std::size_t count,
                    const rounding& mode, std::uint32_t position) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t random =
            random_word(mode.seed, position + static_cast<std::uint32_t>(i));
        const auto up = [random](std::uint64_t, std::uint64_t rest, unsigned shift) {
            const std::uint64_t fraction =
                shift <= 32 ? rest << (32 - shift) : rest >> (shift - 32);
            return fraction > random;
        };
        const auto code = narrowed<F>(std::bit_cast<std::uint32_t>(source[i]), mode.saturate, up);
        store(destination + i * sizeof(typename F::code), placed<F>(code));
    }
}

template <class F>
struct by_table {  // 8 bits
    static constexpr unsigned size = 1;
    static float get(const std::uint8_t* bytes) {
        static constexpr auto table = widened_table<F>();
        return table[*bytes];
    }
    static void put(const float* source, std::uint8_t* destination, std::size_t count,
                    const rounding& mode, std::uint32_t position) {
        if (mode.stochastic) return put_stochastic<F>(source, destination, count, mode, position);
        for (std::size_t i = 0; i < count; ++i)
            destination[i] = static_cast<std::uint8_t>(
                narrowed_to_nearest<F>(std::bit_cast<std::uint32_t>(source[i]), mode.saturate));
    }
};

struct of_fp16 {
    static constexpr unsigned size = 2;
    static float get(const std::uint8_t* bytes) {
        // Without branches, to vectorise: a multiplication rebiases the exponent, which also makes
        // subnormals normal.
        const std::uint32_t code = load<std::uint16_t>(bytes);
        const std::uint32_t aligned = (code & 0x7fff) << 13;
        const auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(aligned) * 0x1p112f);
        const std::uint32_t magnitude = (code & 0x7c00) == 0x7c00 ? aligned | infinity : finite;
        return std::bit_cast<float>(magnitude | (code & 0x8000) << 16);
    }
    static void put(const float* source, std::uint8_t* destination, std::size_t count,
                    const rounding& mode, std::uint32_t position) {
        if (mode.stochastic)
            return put_stochastic<fp16>(source, destination, count, mode, position);
        for (std::size_t i = 0; i < count; ++i)
            store(destination + i * 2,
                  static_cast<std::uint16_t>(narrowed_to_nearest<fp16>(
                      std::bit_cast<std::uint32_t>(source[i]), mode.saturate)));
    }
};

/// Rounds FP32 to fewer mantissa bits. Without branches and with signed compares, to vectorise.
template <unsigned bits>
std::uint32_t cut(std::uint32_t value, std::uint32_t largest) {
    const std::uint32_t magnitude = value & ~sign_bit;
    const std::uint32_t rounded = magnitude + ((1u << (bits - 1)) - 1) + (magnitude >> bits & 1);
    const auto less = [](std::uint32_t a, std::uint32_t b) {
        return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
    };
    const std::uint32_t finite = less(rounded, largest) ? rounded : largest;
    return ((less(infinity, magnitude) ? magnitude | quiet : finite) | (value & sign_bit)) >> bits;
}

template <class F>
struct of_cut_fp32 {
    using code = typename F::code;
    static constexpr unsigned size = sizeof(code);
    static constexpr unsigned bits = fp32_mantissa - F::mantissa;
    static constexpr unsigned to_fp32 = 32 - sizeof(code) * 8;

    static float get(const std::uint8_t* bytes) {
        std::uint32_t value = static_cast<std::uint32_t>(load<code>(bytes)) << to_fp32;
        if constexpr (bits != to_fp32) {
            // Otherwise clearing the low bits could turn a NaN into infinity.
            value |= (value & ~sign_bit) > infinity ? quiet : 0u;
            value &= ~((1u << bits) - 1);
        }
        return std::bit_cast<float>(value);
    }
    static void put(const float* source, std::uint8_t* destination, std::size_t count,
                    const rounding& mode, std::uint32_t position) {
        if (mode.stochastic) return put_stochastic<F>(source, destination, count, mode, position);
        const std::uint32_t largest = mode.saturate ? F::largest << bits : infinity;
        for (std::size_t i = 0; i < count; ++i)
            store(destination + i * size,
                  static_cast<code>(cut<bits>(std::bit_cast<std::uint32_t>(source[i]), largest)
                                    << (bits - to_fp32)));
    }
};

struct of_fp32 {
    static constexpr unsigned size = 4;
    static float get(const std::uint8_t* bytes) { return load<float>(bytes); }
    static void put(const float* source, std::uint8_t* destination, std::size_t count,
                    const rounding& mode, std::uint32_t) {
        const std::uint32_t largest = mode.saturate ? infinity - 1 : infinity;
        for (std::size_t i = 0; i < count; ++i) {
            const auto bits = std::bit_cast<std::uint32_t>(source[i]);
            const std::uint32_t magnitude = bits & ~sign_bit;
            const std::uint32_t finite = magnitude < largest ? magnitude : largest;
            store(destination + i * 4,
                  (magnitude > infinity ? magnitude | quiet : finite) | (bits & sign_bit));
        }
    }
};

template <class T>
struct of_integer {
    static constexpr unsigned size = sizeof(T);
    static float get(const std::uint8_t* bytes) { return static_cast<float>(load<T>(bytes)); }
    static void put(const float* source, std::uint8_t* destination, std::size_t count,
                    const rounding&, std::uint32_t) {
        constexpr double least = std::numeric_limits<T>::min(),
                         most = std::numeric_limits<T>::max();
        constexpr double to_whole = 0x1.8p52;  // adding it rounds to an integer
        for (std::size_t i = 0; i < count; ++i) {
            double value = source[i];
            value = value < least ? least : value;
            value = value > most ? most : value;
            value = value == value ? (value + to_whole) - to_whole : 0;
            store(destination + i * size, static_cast<T>(value));
        }
    }
};

/// Calls `visit` with the class of `type`. Precondition: decode() supports `type`.
template <class Visit>
void visit_format(element type, Visit&& visit) {
    switch (type) {
    case element::fp32:
        return visit(of_fp32());
    case element::tf32:
        return visit(of_cut_fp32<tf32>());
    case element::bf16:
        return visit(of_cut_fp32<bf16>());
    case element::fp16:
        return visit(of_fp16());
    case element::fp8_e3m4:
        return visit(by_table<e3m4>());
    case element::fp8_e4m3:
        return visit(by_table<e4m3>());
    case element::fp8_e4m3fn:
        return visit(by_table<e4m3fn>());
    case element::fp8_e5m2:
        return visit(by_table<e5m2>());
    case element::int8:
        return visit(of_integer<std::int8_t>());
    case element::uint8:
        return visit(of_integer<std::uint8_t>());
    case element::int16:
        return visit(of_integer<std::int16_t>());
    case element::uint16:
        return visit(of_integer<std::uint16_t>());
    case element::int32:
        return visit(of_integer<std::int32_t>());
    case element::uint32:
        return visit(of_integer<std::uint32_t>());
    default:
        assert(!"an element type that is only copied");
    }
}

/// The NaN that arithmetic produces.
inline const float canonical_nan = std::bit_cast<float>(infinity | quiet);

}  // namespace trn::numerics::formats
