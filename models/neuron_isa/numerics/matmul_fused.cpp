// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/numerics/matmul_fused.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

// Narrow: a b has at most 22 significant bits, so one fused multiply-add in FP32 equals
// RN32(RN64(acc + a b)): the intermediate rounding to 53 bits does not change the sum of two 24-bit
// numbers. Wide: a b is exact in binary64, a fused step is RN64(acc + a b), and one conversion to
// FP32 follows.

namespace trn::numerics::fused {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

namespace {

template <class T, unsigned lanes>
struct simd {
    typedef T type __attribute__((vector_size(sizeof(T) * lanes), aligned(sizeof(T)), may_alias));
};

/// Copies `width` columns from `first` on, with zeroes after the last column.
template <class T>
void pack(std::vector<T>& packed, const T* source, std::size_t rows, std::size_t pitch,
          std::size_t first, std::size_t columns, std::size_t width) {
    const std::size_t n = std::min(width, columns - first);
    packed.resize(rows * width);
    for (std::size_t k = 0; k < rows; ++k) {
        std::copy_n(source + k * pitch + first, n, packed.data() + k * width);
        std::fill(packed.data() + k * width + n, packed.data() + (k + 1) * width, T{});
    }
}

/// One block of the output: `rows` rows of `columns` vectors stay in registers for all k. Operands
/// are packed: a[k][rows], b[k][columns vectors].
template <unsigned lanes, unsigned rows, unsigned columns>
[[gnu::always_inline]] inline void narrow_block(std::size_t steps, const float* a, const float* b,
                                                float* out) {
    using vector = typename simd<float, lanes>::type;
    vector acc[rows][columns] = {};
    for (std::size_t k = 0; k < steps; ++k) {
        const auto* moving = reinterpret_cast<const vector*>(b + k * lanes * columns);
#pragma GCC unroll 16
        for (unsigned r = 0; r < rows; ++r) {
            const vector kept = a[k * rows + r] - vector{};
#pragma GCC unroll 4
            for (unsigned c = 0; c < columns; ++c) acc[r][c] += kept * moving[c];
        }
    }
    std::memcpy(out, acc, sizeof acc);
}

/// Rounds to the 24 bits of FP32, ties to even, by adding 2^29 times x's power of two.
/// Precondition: the result is a normal FP32 number or zero.
template <class Vector>
[[gnu::always_inline]] inline Vector rounded_to_24_bits(Vector x) {
    typedef std::int64_t words __attribute__((vector_size(sizeof(Vector))));
    const Vector power = reinterpret_cast<Vector>(reinterpret_cast<words>(x) & (0xfffll << 52));
    return (power * 0x1p29 + x) - power * 0x1p29;
}

/// Whether every rounded sum of `terms` products is a normal FP32 number or an exact subnormal.
[[gnu::always_inline]] inline bool stays_normal(const double* a, std::size_t a_count,
                                                const double* b, std::size_t b_count,
                                                std::size_t terms) {
    const auto exponents = [](const double* x, std::size_t count) __attribute__((always_inline)) {
        std::int64_t low = 2047, high = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto exponent = std::bit_cast<std::int64_t>(x[i]) >> 52 & 2047;
            high = exponent > high ? exponent : high;
            const std::int64_t nonzero = exponent == 0 ? 2047 : exponent;
            low = nonzero < low ? nonzero : low;
        }
        return std::pair(low - 1023, high - 1023);
    };
    const auto [a_low, a_high] = exponents(a, a_count);
    const auto [b_low, b_high] = exponents(b, b_count);
    // Each factor has 24 bits at most, so every sum is a multiple of 2^(lows - 46).
    return a_low + b_low - 46 >= -149 &&
           a_high + b_high + 2 + static_cast<int>(std::bit_width(terms)) < 127;
}

/// `normal`: stays_normal() holds.
template <unsigned lanes, unsigned rows, unsigned columns, unsigned products, bool normal>
[[gnu::always_inline]] inline void wide_block(std::size_t steps, const double* a, const double* b,
                                              float* out) {
    using vector = typename simd<double, lanes>::type;
    using narrow = typename simd<float, lanes>::type;
    vector acc[rows][columns] = {};
    for (std::size_t k = 0; k < steps; ++k) {
        const auto* moving = reinterpret_cast<const vector*>(b + k * products * lanes * columns);
#pragma GCC unroll 16
        for (unsigned r = 0; r < rows; ++r)
#pragma GCC unroll 4
            for (unsigned c = 0; c < columns; ++c) {
                const double* kept = a + k * products * rows + r;
                vector sum;
                if constexpr (products == 1) {
                    sum = acc[r][c] + kept[0] * moving[c];
                } else {
                    sum = kept[0] * moving[c];
#pragma GCC unroll 4
                    for (unsigned i = 1; i < products; ++i)
                        sum += kept[i * rows] * moving[i * columns + c];
                    sum += acc[r][c];
                }
                if constexpr (normal)
                    acc[r][c] = rounded_to_24_bits(sum);
                else
                    acc[r][c] =
                        __builtin_convertvector(__builtin_convertvector(sum, narrow), vector);
            }
    }
    for (unsigned r = 0; r < rows; ++r)
        for (unsigned c = 0; c < columns; ++c)
            reinterpret_cast<narrow*>(out)[r * columns + c] =
                __builtin_convertvector(acc[r][c], narrow);
}

/// Divides the output into blocks of rows x width, packs the operands of each, and calls
/// `block(a, b, out)`.
template <class T, class Block>
[[gnu::always_inline]] inline void for_blocks(const matmul_shape& s, std::size_t steps,
                                              std::size_t rows, std::size_t width, const T* a,
                                              const T* b, float* out, Block block) {
    std::vector<std::vector<T>> stationary((s.m + rows - 1) / rows);
    for (std::size_t i = 0; i < stationary.size(); ++i)
        pack(stationary[i], a, steps, s.a_pitch, i * rows, s.m, rows);
    std::vector<T> moving;
    std::vector<float> result(rows * width);
    for (std::size_t n = 0; n < s.n; n += width) {
        pack(moving, b, steps, s.b_pitch, n, s.n, width);
        for (std::size_t i = 0; i < stationary.size(); ++i) {
            block(stationary[i].data(), moving.data(), result.data());
            const std::size_t m = i * rows;
            for (std::size_t r = 0; r < std::min(rows, s.m - m); ++r)
                std::copy_n(result.data() + r * width, std::min(width, s.n - n),
                            out + (m + r) * s.out_pitch + n);
        }
    }
}

template <unsigned lanes, unsigned rows, unsigned columns>
[[gnu::always_inline]] inline void narrow_all(const matmul_shape& s, const float* a, const float* b,
                                              float* out) {
    for_blocks(
        s, s.k, rows, lanes * columns, a, b, out,
        [&s](const float* stationary, const float* moving, float* result)
            __attribute__((always_inline)) {
                narrow_block<lanes, rows, columns>(s.k, stationary, moving, result);
            });
}

template <unsigned lanes, unsigned rows, unsigned columns, unsigned products>
[[gnu::always_inline]] inline void wide_all(const matmul_shape& s, const double* a, const double* b,
                                            float* out) {
    const std::size_t steps = s.k * products;
    const auto all = [&](auto normal) __attribute__((always_inline)) {
        for_blocks(
            s, steps, rows, lanes * columns, a, b, out,
            [&s](const double* stationary, const double* moving, float* result)
                __attribute__((always_inline)) {
                    wide_block<lanes, rows, columns, products, decltype(normal)::value>(
                        s.k, stationary, moving, result);
                });
    };
    if (stays_normal(a, (steps - 1) * s.a_pitch + s.m, b, (steps - 1) * s.b_pitch + s.n, steps))
        all(std::true_type());
    else
        all(std::false_type());
}

template <unsigned lanes>
[[gnu::always_inline]] inline void sparse_all(const matmul_shape& s, const float* a,
                                              const std::uint16_t* rows, const float* b,
                                              float* out) {
    using vector = typename simd<float, lanes>::type;
    constexpr unsigned columns = 4;
    constexpr std::size_t width = lanes * columns;
    std::size_t last = 0;
    for (std::size_t k = 0; k < s.k; ++k)
        for (std::size_t m = 0; m < s.m; ++m)
            last = std::max<std::size_t>(last, rows[k * s.a_pitch + m]);
    std::vector<float> moving;
    for (std::size_t n = 0; n < s.n; n += width) {
        pack(moving, b, last + 1, s.b_pitch, n, s.n, width);
        for (std::size_t m = 0; m < s.m; ++m) {
            vector acc[columns] = {};
            for (std::size_t k = 0; k < s.k; ++k) {
                const std::size_t index = k * s.a_pitch + m;
                const auto* row =
                    reinterpret_cast<const vector*>(moving.data() + rows[index] * width);
#pragma GCC unroll 4
                for (unsigned c = 0; c < columns; ++c) acc[c] += a[index] * row[c];
            }
            std::copy_n(reinterpret_cast<const float*>(acc), std::min(width, s.n - n),
                        out + m * s.out_pitch + n);
        }
    }
}

[[gnu::target("arch=x86-64-v4")]] void narrow_v4(const matmul_shape& s, const float* a,
                                                 const float* b, float* out) {
    narrow_all<16, 8, 2>(s, a, b, out);
}
[[gnu::target("arch=x86-64-v3")]] void narrow_v3(const matmul_shape& s, const float* a,
                                                 const float* b, float* out) {
    narrow_all<8, 4, 2>(s, a, b, out);
}
[[gnu::target("arch=x86-64-v4")]] void sparse_v4(const matmul_shape& s, const float* a,
                                                 const std::uint16_t* rows, const float* b,
                                                 float* out) {
    sparse_all<16>(s, a, rows, b, out);
}
[[gnu::target("arch=x86-64-v3")]] void sparse_v3(const matmul_shape& s, const float* a,
                                                 const std::uint16_t* rows, const float* b,
                                                 float* out) {
    sparse_all<8>(s, a, rows, b, out);
}
template <unsigned products>
[[gnu::target("arch=x86-64-v4")]] void wide_v4(const matmul_shape& s, const double* a,
                                               const double* b, float* out) {
    wide_all<8, 8, 2, products>(s, a, b, out);
}
template <unsigned products>
[[gnu::target("arch=x86-64-v3")]] void wide_v3(const matmul_shape& s, const double* a,
                                               const double* b, float* out) {
    wide_all<4, 4, 2, products>(s, a, b, out);
}

enum class host { plain, v3, v4 };
host this_host() {
    static const host found =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("fma")
            ? host::v4
        : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi2")
            ? host::v3
            : host::plain;
    return found;
}

/// Whether the compiler fused multiply and add, as this file's options demand: only then is the
/// sum 2^120 - 2^128 finite.
bool fuses() {
    const float a[] = {0x1p100f, -0x1p100f}, b[] = {0x1p20f, 0x1p28f};
    float sum = 0;
    (this_host() == host::v4 ? narrow_v4 : narrow_v3)({2, 1, 1, 1, 1, 1}, a, b, &sum);
    return sum == -0x1.fep127f;
}

}  // namespace

bool narrow(const matmul_shape& s, const float* a, const float* b, float* out) {
    if (this_host() == host::plain) return false;
    static const bool fused = fuses();
    assert(fused);
    (this_host() == host::v4 ? narrow_v4 : narrow_v3)(s, a, b, out);
    return true;
}

bool sparse(const matmul_shape& s, const float* a, const std::uint16_t* rows, const float* b,
            float* out) {
    if (this_host() == host::plain) return false;
    (this_host() == host::v4 ? sparse_v4 : sparse_v3)(s, a, rows, b, out);
    return true;
}

bool wide(const matmul_shape& s, std::size_t products, const double* a, const double* b,
          float* out) {
    if (this_host() == host::plain) return false;
    const bool v4 = this_host() == host::v4;
    if (products == 1)
        (v4 ? wide_v4<1> : wide_v3<1>)(s, a, b, out);
    else if (products == 2)
        (v4 ? wide_v4<2> : wide_v3<2>)(s, a, b, out);
    else
        (v4 ? wide_v4<4> : wide_v3<4>)(s, a, b, out);
    return true;
}

#else

bool narrow(const matmul_shape&, const float*, const float*, float*) {
    return false;
}
bool sparse(const matmul_shape&, const float*, const std::uint16_t*, const float*, float*) {
    return false;
}
bool wide(const matmul_shape&, std::size_t, const double*, const double*, float*) {
    return false;
}

#endif

}  // namespace trn::numerics::fused
