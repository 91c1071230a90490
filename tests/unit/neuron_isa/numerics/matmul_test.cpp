// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/numerics/matmul.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace {

using namespace trn::numerics;

std::mt19937 source(3);

/// Random values with `bits` of mantissa and exponents in +-`spread`; with `specials`, some NaNs
/// and infinities.
std::vector<float> random_values(std::size_t count, unsigned bits, int spread, bool specials) {
    std::vector<float> out;
    for (std::size_t i = 0; i < count; ++i) {
        const auto random = static_cast<std::uint32_t>(source());
        const std::uint32_t mantissa = random & 0x7fffff & ~((1u << (24 - bits)) - 1);
        const int exponent =
            127 + static_cast<int>(source() % (2u * static_cast<unsigned>(spread) + 1)) - spread;
        float x = std::bit_cast<float>((random & 0x80000000) |
                                       static_cast<std::uint32_t>(exponent) << 23 | mantissa);
        if (specials && random % 4001 == 0) x = random % 2 == 0 ? INFINITY : NAN;
        if (random % 97 == 0) x = 0;
        out.push_back(x);
    }
    return out;
}

struct sizes {
    std::size_t k, m, n;
};
constexpr sizes shapes[] = {{1, 1, 1},     {3, 5, 7},   {128, 128, 512},
                            {64, 33, 100}, {17, 8, 32}, {128, 9, 1000}};

void expect_equal(const std::vector<float>& got, const std::vector<float>& want) {
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(want[i])) << i;
}

TEST(MatmulTest, NarrowKernelsHaveTheBitsOfThePlainOne) {
    for (const auto& [bits, spread] : {std::pair{8u, 4}, {8u, 120}, {11u, 6}, {11u, 100}, {4u, 3}})
        for (const sizes& s : shapes)
            for (const bool specials : {false, true}) {
                const auto a = random_values(s.k * s.m, bits, spread, specials);
                const auto b = random_values(s.k * s.n, bits, spread, specials);
                const std::vector<double> wide_a(a.begin(), a.end()), wide_b(b.begin(), b.end());
                std::vector<float> got(s.m * s.n), want(s.m * s.n);
                const matmul_shape shape{s.k, s.m, s.n, s.m, s.n, s.n};
                matmul_narrow(shape, a.data(), b.data(), got.data());
                matmul_plain(shape, 1, wide_a.data(), wide_b.data(), want.data());
                expect_equal(got, want);
            }
}

TEST(MatmulTest, WideKernelsHaveTheBitsOfThePlainOne) {
    for (const std::size_t products : {1, 2, 4})
        for (const auto& [bits, spread] : {std::pair{24u, 3}, {24u, 120}, {4u, 100}})
            for (const sizes& s : shapes) {
                const auto a = random_values(s.k * products * s.m, bits, spread, spread == 3);
                const auto b = random_values(s.k * products * s.n, bits, spread, spread == 3);
                const std::vector<double> wide_a(a.begin(), a.end()), wide_b(b.begin(), b.end());
                std::vector<float> got(s.m * s.n), want(s.m * s.n);
                const matmul_shape shape{s.k, s.m, s.n, s.m, s.n, s.n};
                matmul_wide(shape, products, wide_a.data(), wide_b.data(), got.data());
                matmul_plain(shape, products, wide_a.data(), wide_b.data(), want.data());
                expect_equal(got, want);
            }
}

TEST(MatmulTest, PlainIsTheDefinition) {
    constexpr std::size_t k = 20, m = 3, n = 4, products = 4;
    const auto a = random_values(k * products * m, 24, 5, false),
               b = random_values(k * products * n, 24, 5, false);
    const std::vector<double> wide_a(a.begin(), a.end()), wide_b(b.begin(), b.end());
    std::vector<float> got(m * n);
    matmul_plain({k, m, n, m, n, n}, products, wide_a.data(), wide_b.data(), got.data());
    for (std::size_t r = 0; r < m; ++r)
        for (std::size_t c = 0; c < n; ++c) {
            float acc = 0;
            for (std::size_t step = 0; step < k; ++step) {
                volatile double q = 0;
                for (std::size_t i = 0; i < products; ++i) {
                    volatile double p = wide_a[(step * products + i) * m + r] *
                                        wide_b[(step * products + i) * n + c];
                    q = i == 0 ? p : q + p;
                }
                volatile double sum = acc + q;
                acc = static_cast<float>(sum);
            }
            ASSERT_EQ(got[r * n + c], acc);
        }
}

TEST(MatmulTest, SparseRowsFindTheirPartners) {
    for (const sizes& s : shapes) {
        const std::size_t dense = 4 * s.k;
        const auto a = random_values(s.k * s.m, 8, 5, true),
                   b = random_values(dense * s.n, 11, 5, true);
        std::vector<std::uint16_t> rows(s.k * s.m);
        for (auto& r : rows) r = static_cast<std::uint16_t>(source() % dense);
        std::vector<float> got(s.m * s.n);
        matmul_sparse({s.k, s.m, s.n, s.m, s.n, s.n}, a.data(), rows.data(), b.data(), got.data());
        for (std::size_t m = 0; m < s.m; m += 5) {  // column m of `a`, through its gathered rows
            std::vector<double> one, gathered;
            for (std::size_t k = 0; k < s.k; ++k) {
                one.push_back(a[k * s.m + m]);
                const float* from = b.data() + rows[k * s.m + m] * s.n;
                gathered.insert(gathered.end(), from, from + s.n);
            }
            std::vector<float> want(s.n);
            matmul_plain({s.k, 1, s.n, 1, s.n, s.n}, 1, one.data(), gathered.data(), want.data());
            expect_equal({got.begin() + static_cast<std::ptrdiff_t>(m * s.n),
                          got.begin() + static_cast<std::ptrdiff_t>((m + 1) * s.n)},
                         want);
        }
    }
}

}  // namespace
