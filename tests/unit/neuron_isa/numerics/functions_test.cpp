// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <vector>

#include "models/neuron_isa/numerics/activation.h"
#include "models/neuron_isa/numerics/alu.h"
#include "models/neuron_isa/numerics/exact.h"
#include "models/neuron_isa/numerics/numerics.h"

namespace {

using trn::numerics::activate;
using trn::numerics::activation;
using trn::numerics::alu;

std::uint32_t activated(activation f, std::uint32_t bits, float parameter = 0) {
    auto x = std::bit_cast<float>(bits);
    activate(f, &x, 1, parameter);
    trn::numerics::make_nans_canonical(&x, 1);
    return std::bit_cast<std::uint32_t>(x);
}
std::uint32_t activated(activation f, float x, float parameter = 0) {
    return activated(f, std::bit_cast<std::uint32_t>(x), parameter);
}

struct golden_row {
    unsigned code, argument, result;
};
std::vector<golden_row> golden_rows() {
    std::vector<golden_row> rows;
    std::FILE* reference =
        popen("python3 tests/unit/neuron_isa/numerics/function_reference.py", "r");
    golden_row r{};
    while (std::fscanf(reference, "%u %x %x", &r.code, &r.argument, &r.result) == 3)
        rows.push_back(r);
    EXPECT_EQ(pclose(reference), 0);
    return rows;
}

TEST(FunctionsTest, EveryFunctionIsCorrectlyRounded) {
    std::map<unsigned, std::vector<golden_row>> by_code;
    for (const golden_row& r : golden_rows()) by_code[r.code].push_back(r);
    ASSERT_EQ(by_code.size(), 20u);
    for (const auto& [code, rows] : by_code) {
        std::vector<float> x;
        for (const golden_row& r : rows) x.push_back(std::bit_cast<float>(r.argument));
        activate(static_cast<activation>(code), x.data(), x.size());
        for (std::size_t k = 0; k < rows.size(); ++k) {
            ASSERT_EQ(std::bit_cast<std::uint32_t>(x[k]), rows[k].result)
                << "function " << code << " of " << std::hexfloat
                << std::bit_cast<float>(rows[k].argument);
            // A vector of one element.
            ASSERT_EQ(activated(static_cast<activation>(code), rows[k].argument), rows[k].result);
        }
    }
}

TEST(FunctionsTest, TheSlowPathAgreesWithTheFastOne) {
    namespace exact = trn::numerics::exact;
    const std::pair<activation, float (*)(float)> functions[] = {
        {activation::sigmoid, exact::sigmoid},
        {activation::tanh, exact::tanh},
        {activation::exp, exact::exp},
        {activation::gelu, exact::gelu},
        {activation::gelu_dx, exact::gelu_dx},
        {activation::gelu_apprx_tanh, exact::gelu_apprx_tanh},
        {activation::gelu_apprx_sigmoid, exact::gelu_apprx_sigmoid},
        {activation::gelu_apprx_sigmoid_dx, exact::gelu_apprx_sigmoid_dx},
        {activation::silu, exact::silu},
        {activation::silu_dx, exact::silu_dx},
        {activation::softplus, exact::softplus},
        {activation::mish, exact::mish},
        {activation::erf, exact::erf},
        {activation::erf_dx, exact::erf_dx},
        {activation::log, exact::log},
        {activation::sin, exact::sin},
        {activation::arctan, exact::arctan}};
    std::mt19937 random(5);
    for (const auto& [f, slow] : functions)
        for (int k = 0; k < 1000; ++k) {
            float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
            if (k % 2 == 0) x = static_cast<float>(random() % 40'000'001) / 1e6f - 20;
            if (!std::isfinite(x)) continue;
            if (f == activation::log) x = std::fabs(x);
            ASSERT_EQ(activated(f, x), std::bit_cast<std::uint32_t>(slow(x)))
                << "function " << static_cast<int>(f) << " of " << std::hexfloat << x;
        }
}

TEST(FunctionsTest, InfinitiesGiveLimitsAndNansStay) {
    constexpr std::uint32_t inf = 0x7f800000, minus = 0x80000000, nan = 0x7fc00000,
                            one = 0x3f800000;
    const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    const std::uint32_t half_pi = bits(1.57079632679f);
    struct {
        activation f;
        std::uint32_t low, high, zero, minus_zero;
    } const rows[] = {
        {activation::copy, minus | inf, inf, 0, minus},
        {activation::square, inf, inf, 0, 0},
        {activation::abs, inf, inf, 0, 0},
        {activation::sign, minus | one, one, 0, minus},
        {activation::relu, 0, inf, 0, minus},
        {activation::prelu, minus | inf, inf, 0, minus},
        {activation::sigmoid, 0, one, bits(0.5f), bits(0.5f)},
        {activation::tanh, minus | one, one, 0, minus},
        {activation::exp, 0, inf, one, one},
        {activation::gelu, minus, inf, 0, minus},
        {activation::gelu_dx, minus, one, bits(0.5f), bits(0.5f)},
        {activation::gelu_apprx_tanh, minus, inf, 0, minus},
        {activation::gelu_apprx_sigmoid, minus, inf, 0, minus},
        {activation::gelu_apprx_sigmoid_dx, minus, one, bits(0.5f), bits(0.5f)},
        {activation::silu, minus, inf, 0, minus},
        {activation::silu_dx, minus, one, bits(0.5f), bits(0.5f)},
        {activation::softplus, 0, inf, bits(0.69314718056f), bits(0.69314718056f)},
        {activation::mish, minus, inf, 0, minus},
        {activation::erf, minus | one, one, 0, minus},
        {activation::erf_dx, 0, 0, bits(1.1283791671f), bits(1.1283791671f)},
        {activation::log, nan, inf, minus | inf, minus | inf},
        {activation::sin, nan, nan, 0, minus},
        {activation::arctan, minus | half_pi, half_pi, 0, minus},
        {activation::sqrt, nan, inf, 0, minus},
        {activation::rsqrt, nan, 0, inf, minus | inf},
        {activation::reciprocal, minus, 0, inf, minus | inf},
    };
    for (const auto& r : rows) {
        SCOPED_TRACE(static_cast<int>(r.f));
        EXPECT_EQ(activated(r.f, minus | inf, 0.5f), r.low);
        EXPECT_EQ(activated(r.f, inf, 0.5f), r.high);
        EXPECT_EQ(activated(r.f, 0u, 0.5f), r.zero);
        EXPECT_EQ(activated(r.f, minus, 0.5f), r.minus_zero);
        EXPECT_EQ(activated(r.f, nan), nan);
    }
    EXPECT_EQ(activated(activation::prelu, -3.0f, 0.25f), bits(-0.75f));
    EXPECT_EQ(activated(activation::log, -1.0f), nan);
    EXPECT_EQ(activated(activation::sqrt, -1.0f), nan);
}

TEST(FunctionsTest, RangesAreThoseOfTheSpecification) {
    using trn::numerics::in_promised_range;
    EXPECT_TRUE(in_promised_range(activation::sin, -3.1415927f));
    EXPECT_FALSE(in_promised_range(activation::sin, 3.142f));
    EXPECT_FALSE(in_promised_range(activation::log, 0x1p65f));
    EXPECT_FALSE(in_promised_range(activation::log, -1));
    EXPECT_TRUE(in_promised_range(activation::arctan, 1.57f));
    EXPECT_FALSE(in_promised_range(activation::arctan, -1.58f));
    EXPECT_FALSE(in_promised_range(activation::sqrt, 0));
    EXPECT_TRUE(in_promised_range(activation::rsqrt, 0x1p97f));
    EXPECT_FALSE(in_promised_range(activation::reciprocal, 0x1p-43f));
    EXPECT_TRUE(in_promised_range(activation::exp, 1e30f));
}

TEST(FunctionsTest, RsqrtIsRightForEveryMantissaOfTwoBinades) {
    // 1 / sqrt(x) = r: r is nearest when (r - ulp/2)^2 x < 1 < (r + ulp/2)^2 x, in integers.
    for (std::uint32_t m = 0; m < 0x1000000; m += 61) {
        const float x = std::bit_cast<float>(0x3f800000 + m);  // 1 to 4
        const float r = trn::numerics::exact::rsqrt(x);
        const int scale = r > 0.5f || (r == 0.5f) ? 25 : 26;
        const auto half = [&](int sign) {  // (r + sign ulp/2) 2^scale is an integer
            return static_cast<unsigned __int128>(
                static_cast<std::int64_t>(std::ldexp(double{r}, scale)) + sign);
        };
        const auto mantissa = static_cast<unsigned __int128>(std::ldexp(double{x}, 23));
        const unsigned __int128 unity = static_cast<unsigned __int128>(1) << (2 * scale + 23);
        if (r == 1) continue;
        ASSERT_LT(half(-1) * half(-1) * mantissa, unity) << m;
        ASSERT_GT(half(1) * half(1) * mantissa, unity) << m;
    }
}

TEST(FunctionsTest, PowRoundsExactTiesToEven) {
    const auto power = [](float a, float b) { return trn::numerics::apply(alu::pow, a, b); };
    EXPECT_EQ(power(4097, 2), 16785408.0f);  // 16785409 lies between two FP32 values
    EXPECT_EQ(power(8193, 2), 67125248.0f);
    EXPECT_EQ(power(2, -149), 0x1p-149f);
    EXPECT_EQ(power(2, -150), 0.0f);
    EXPECT_EQ(power(-2, 3), -8.0f);
    EXPECT_TRUE(std::isnan(power(-2, 0.5f)));
    EXPECT_EQ(power(0, -1), std::numeric_limits<float>::infinity());
    EXPECT_EQ(power(3, 0), 1.0f);
}

}  // namespace
