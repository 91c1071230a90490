// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/numerics/numerics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "sw-stubs/host/values/compute_reference.h"
#include "tests/unit/neuron_isa/numerics/reference.h"

namespace {

using namespace trn;
using namespace trn::numerics;
using test::float_format;
using test::integer_formats;
using test::narrow_formats;
using test::neighbours;
using test::tf32_format;

std::uint32_t bits_of(float x) {
    return std::bit_cast<std::uint32_t>(x);
}
float float_of(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}

float decoded(element type, std::uint32_t code) {
    float value = 0;
    decode(type, reinterpret_cast<const std::uint8_t*>(&code), &value, 1);
    return value;
}
std::uint32_t encoded(element type, float value, const rounding& how = {}, std::uint32_t at = 0) {
    std::uint32_t code = 0;
    encode(type, &value, reinterpret_cast<std::uint8_t*>(&code), 1, how, at);
    return code;
}

constexpr std::uint32_t quiet_nan = 0x7fc00000, negative = 0x80000000;

/// Values that are difficult to round: every value of the format, every tie, and their neighbours.
std::vector<float> difficult(const neighbours& all) {
    std::vector<float> out;
    const auto& v = all.values();
    for (std::size_t i = 0; i + 1 < v.size(); ++i)
        for (const double x : {v[i], (v[i] + v[i + 1]) / 2})
            for (const float f :
                 {static_cast<float>(x), std::nextafterf(static_cast<float>(x), HUGE_VALF),
                  std::nextafterf(static_cast<float>(x), -1.0f)})
                out.push_back(f);
    const auto beyond =
        static_cast<float>(std::min(v.back(), double{std::numeric_limits<float>::max()}));
    for (const float f :
         {beyond, std::nextafterf(beyond, 0.0f), 2 * beyond, std::numeric_limits<float>::max(),
          std::numeric_limits<float>::infinity(), std::numeric_limits<float>::denorm_min(),
          std::numeric_limits<float>::min()})
        out.push_back(f);
    std::mt19937 random(1);
    for (int i = 0; i < 50'000; ++i) {
        const float f = float_of(static_cast<std::uint32_t>(random()));
        if (!std::isnan(f)) out.push_back(f);
    }
    return out;
}

void check_encoding(const float_format& f, const rounding& how) {
    const neighbours all(f);
    std::uint32_t at = 0;
    for (const float x : difficult(all))
        for (const float value : {x, -x}) {
            const std::uint32_t random = random_word(how.seed, ++at);
            const std::uint32_t wanted =
                all.round(value, how.saturate, how.stochastic ? &random : nullptr) |
                (std::signbit(value) ? f.magnitudes() : 0);
            ASSERT_EQ(encoded(f.type, value, how, at), wanted)
                << static_cast<int>(f.type) << ": " << std::hexfloat << value;
        }
}

TEST(NumericsTest, EveryNarrowFormatDecodesEveryCode) {
    for (const float_format& f : narrow_formats)
        for (std::uint32_t magnitude = 0; magnitude < f.magnitudes(); ++magnitude)
            for (const bool minus : {false, true}) {
                const std::uint32_t code = magnitude | (minus ? f.magnitudes() : 0);
                const float value = decoded(f.type, code);
                if (f.finite(magnitude)) {
                    const auto wanted = static_cast<float>(f.value(magnitude));
                    ASSERT_EQ(bits_of(value), bits_of(minus ? -wanted : wanted)) << code;
                    ASSERT_EQ(encoded(f.type, value), code);
                } else if (f.has_infinity && magnitude == f.infinity()) {
                    ASSERT_EQ(bits_of(value), minus ? 0xff800000 : 0x7f800000);
                    ASSERT_EQ(encoded(f.type, value), code);
                } else {
                    ASSERT_TRUE(std::isnan(value)) << code;
                    ASSERT_EQ(std::signbit(value), minus);
                    const std::uint32_t quiet = f.has_infinity ? 1u << (f.mantissa_bits - 1) : 0;
                    ASSERT_EQ(encoded(f.type, value), code | quiet) << "the payload is lost";
                }
            }
}

TEST(NumericsTest, LimitsMatchTheFactSheet) {
    for (const float_format& f : narrow_formats) {
        EXPECT_EQ(decoded(f.type, f.overflow() - 1), f.largest);
        EXPECT_EQ(decoded(f.type, 1u << f.mantissa_bits), f.min_normal);
        EXPECT_EQ(decoded(f.type, 1), f.least);
        EXPECT_EQ(f.overflow(), f.finite_codes);
    }
}

TEST(NumericsTest, RoundsToTheNearestNeighbourAndTiesToEven) {
    for (const float_format& f : narrow_formats) check_encoding(f, {});
}
TEST(NumericsTest, SaturationStopsAtTheLargestFiniteValue) {
    for (const float_format& f : narrow_formats) check_encoding(f, {.saturate = true});
}
TEST(NumericsTest, StochasticRoundingFollowsItsRandomWord) {
    for (const float_format& f : narrow_formats) {
        check_encoding(f, {.stochastic = true, .seed = 7});
        check_encoding(f, {.saturate = true, .stochastic = true, .seed = 8});
    }
}

TEST(NumericsTest, StochasticRoundingIsUnbiased) {
    const float x = 1 + 0x1p-7f * 0.3f;  // three tenths of the way to the next BF16
    const rounding how{.stochastic = true, .seed = 99};
    int up = 0;
    constexpr int tries = 20'000;
    for (std::uint32_t i = 0; i < tries; ++i) up += encoded(element::bf16, x, how, i) == 0x3f81;
    EXPECT_NEAR(static_cast<double>(up) / tries, 0.3, 0.02);
    EXPECT_NE(random_word(1, 5), random_word(2, 5));
    EXPECT_EQ(random_word(0, 0), 0xe220a839u);  // SplitMix64's first output from state 0
}

TEST(NumericsTest, Tf32DropsTheLowBitsOfFp32) {
    std::mt19937 random(2);
    for (int i = 0; i < 200'000; ++i) {
        // A third of them is one step from a tie.
        auto bits = static_cast<std::uint32_t>(random());
        if (i % 3 == 0)
            bits = (bits & ~0x1fffu) + 0x1000 + static_cast<std::uint32_t>(i / 3 % 3) - 1;
        const float x = float_of(bits);
        if (std::isnan(x)) continue;
        ASSERT_EQ(bits_of(decoded(element::tf32, bits)), bits & ~0x1fffu);
        const double unit =
            std::isinf(x) ? 1
                          : std::ldexp(1.0, std::max(std::ilogb(x == 0 ? 1e-40f : x), -126) - 10);
        const auto wanted = static_cast<float>(std::nearbyint(x / unit) * unit);
        ASSERT_EQ(encoded(element::tf32, x), bits_of(wanted)) << std::hex << bits;
        const float largest = static_cast<float>(tf32_format.largest);
        ASSERT_EQ(encoded(element::tf32, x, {.saturate = true}),
                  bits_of(std::clamp(wanted, -largest, largest)));
    }
    EXPECT_EQ(encoded(element::tf32, float_of(0x7f7fffff)), 0x7f800000u);
    EXPECT_EQ(decoded(element::tf32, 0x7f7fffff), tf32_format.largest);
    EXPECT_TRUE(std::isnan(decoded(element::tf32, 0x7f800001))) << "only low bits of the payload";
    EXPECT_EQ(encoded(element::tf32, 1 + 0x1p-12f, {.stochastic = true, .seed = 3}, 4),
              random_word(3, 4) < 0x40000000 ? 0x3f802000u : 0x3f800000u);
}

TEST(NumericsTest, Fp32IsUnchanged) {
    for (const std::uint32_t bits : {0u, negative, 1u, 0x807fffffu, 0x7f7fffffu, 0x7f800000u,
                                     0xff800000u, quiet_nan, 0x3f800001u})
        EXPECT_EQ(encoded(element::fp32, decoded(element::fp32, bits)), bits);
    EXPECT_EQ(encoded(element::fp32, float_of(0x7f800000), {.saturate = true}), 0x7f7fffffu);
    EXPECT_EQ(encoded(element::fp32, float_of(0xff800000), {.saturate = true}), 0xff7fffffu);
    EXPECT_EQ(encoded(element::fp32, float_of(0xff812345)), 0xffc12345u) << "quiet, payload kept";
}

TEST(NumericsTest, NansKeepSignAndLeadingPayloadInEveryFormat) {
    for (const float_format& f : narrow_formats)
        for (const std::uint32_t nan : {0x7f800001u, 0xffc00000u, 0x7fffffffu, 0xff955555u})
            for (const rounding& how :
                 {rounding{}, rounding{.saturate = true, .stochastic = true}}) {
                const auto payload = (nan & 0x3fffff) >> (23 - f.mantissa_bits);
                const auto wanted = f.has_infinity
                                        ? f.infinity() | 1u << (f.mantissa_bits - 1) | payload
                                        : f.overflow();
                EXPECT_EQ(encoded(f.type, float_of(nan), how),
                          wanted | (nan >> 31 != 0 ? f.magnitudes() : 0));
            }
    for (const auto& f : integer_formats) EXPECT_EQ(encoded(f.type, float_of(quiet_nan)), 0u);
}

TEST(NumericsTest, IntegersRoundToEvenAndSaturate) {
    std::mt19937 random(3);
    std::vector<float> values{0.5f,          1.5f,          2.5f,
                              0.49999997f,   126.5f,        127.5f,
                              128.0f,        254.5f,        255.5f,
                              32766.5f,      32767.5f,      65534.5f,
                              65535.5f,      2147483520.0f, 2147483648.0f,
                              4294967040.0f, 4294967296.0f, 1e38f,
                              8388607.5f,    4194303.5f,    std::numeric_limits<float>::infinity(),
                              0.0f};
    for (int i = 0; i < 20'000; ++i) {
        const float f = float_of(static_cast<std::uint32_t>(random()));
        if (!std::isnan(f)) values.push_back(f);
        values.push_back(static_cast<float>(random() % 2'000'000) / 8 - 100'000);
    }
    for (const auto& f : integer_formats)
        for (const float x : values)
            for (const float value : {x, -x}) {
                const double whole = std::clamp(std::nearbyint(double{value}), f.least, f.most);
                std::uint32_t wanted = static_cast<std::uint32_t>(static_cast<std::int64_t>(whole));
                if (size_of(f.type) < 4) wanted &= (1u << size_of(f.type) * 8) - 1;
                ASSERT_EQ(encoded(f.type, value), wanted) << value;
            }
}

TEST(NumericsTest, NarrowIntegersAreExactAndWideOnesRoundToFp32) {
    for (std::uint32_t code = 0; code < 65536; ++code) {
        ASSERT_EQ(decoded(element::uint16, code), static_cast<float>(code));
        ASSERT_EQ(decoded(element::int16, code),
                  static_cast<float>(static_cast<std::int16_t>(code)));
        ASSERT_EQ(encoded(element::int16, decoded(element::int16, code)), code);
        if (code < 256) {
            ASSERT_EQ(decoded(element::uint8, code), static_cast<float>(code));
            ASSERT_EQ(decoded(element::int8, code),
                      static_cast<float>(static_cast<std::int8_t>(code)));
        }
    }
    EXPECT_EQ(decoded(element::int32, 16777217), 16777216.0f);  // tie to even
    EXPECT_EQ(decoded(element::int32, 16777219), 16777220.0f);
    EXPECT_EQ(decoded(element::int32, negative), -2147483648.0f);
    EXPECT_EQ(decoded(element::uint32, 0xffffff7f), 4294967040.0f);
    EXPECT_EQ(decoded(element::uint32, 0xffffff80), 4294967296.0f);
}

// ---- reductions

float combine(operation op, float a, float b, float scale) {
    volatile float product = scale * b;  // volatile: rounded separately
    switch (op) {
    case operation::add:
        return a + b;
    case operation::scaled_add:
        return a + product;
    case operation::min:
        return std::isnan(a) || (!std::isnan(b) && !(b < a)) ? a : b;
    case operation::max:
        return std::isnan(a) || (!std::isnan(b) && !(b > a)) ? a : b;
    case operation::cast:
        break;
    }
    return a;
}

void check_reduction(operation op, element from, element to, std::size_t operands,
                     std::size_t count, const rounding& how = {}) {
    std::mt19937 random(static_cast<std::uint32_t>(count + operands));
    // Unaligned by one byte, with guard bytes around the result.
    std::vector<std::vector<std::uint8_t>> bytes(operands);
    std::vector<const std::uint8_t*> pointers;
    std::vector<float> scales;
    for (auto& each : bytes) {
        each.resize(count * size_of(from) + 1);
        for (auto& b : each) b = static_cast<std::uint8_t>(random());
        pointers.push_back(each.data() + 1);
        scales.push_back(static_cast<float>(random() % 1000) / 300.0f - 1.5f);
    }
    std::vector<std::uint8_t> result(count * size_of(to) + 2, 0xa5);
    reduce({op, from, to, how, scales}, pointers, result.data() + 1, count);
    EXPECT_EQ(result.front(), 0xa5);
    EXPECT_EQ(result.back(), 0xa5);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t code = 0;
        const auto element_of = [&](std::size_t k) {
            std::memcpy(&code, pointers[k] + i * size_of(from), size_of(from));
            return decoded(from, code);
        };
        float sum = element_of(0);
        if (op == operation::scaled_add) sum = scales[0] * sum;
        for (std::size_t k = 1; k < operands; ++k) sum = combine(op, sum, element_of(k), scales[k]);
        const bool adds = op == operation::add || op == operation::scaled_add;
        if (adds && std::isnan(sum)) sum = float_of(quiet_nan);
        const auto wanted = encoded(to, sum, how, static_cast<std::uint32_t>(i));
        std::uint32_t got = 0;
        std::memcpy(&got, result.data() + 1 + i * size_of(to), size_of(to));
        ASSERT_EQ(got, wanted) << "element " << i << " of " << operands << " operands, types "
                               << static_cast<int>(from) << " to " << static_cast<int>(to);
    }
}

TEST(NumericsTest, CanonicalEncodingEqualsEncodingOfCanonicalValues) {
    constexpr std::size_t count = 1037;  // more than one block, with a remainder
    std::mt19937 random(5);
    std::vector<float> values(count);
    for (float& x : values) x = float_of(static_cast<std::uint32_t>(random()));
    const float edges[] = {float_of(0x7f800001), float_of(0xffc01234), float_of(0x7f800000),
                           float_of(0xff800000), float_of(0x7f7fffff), float_of(0x7f7f8000),
                           float_of(0x7f7f7fff), float_of(0x807fffff), -0.0f};
    std::ranges::copy(edges, values.begin());
    std::ranges::copy(edges, values.end() - std::size(edges));
    std::vector<float> canonical = values;
    make_nans_canonical(canonical.data(), count);
    for (unsigned t = 0; t < element_kinds; ++t)
        for (const bool saturate : {false, true})
            for (const bool stochastic : {false, true}) {
                const auto type = static_cast<element>(t);
                const rounding how{saturate, stochastic, 77};
                std::vector<std::uint8_t> expected(count * size_of(type)), got(expected.size());
                encode(type, canonical.data(), expected.data(), count, how, 4000);
                encode_canonical(type, values.data(), got.data(), count, how, 4000);
                EXPECT_EQ(got, expected) << t << saturate << stochastic;
            }
}

TEST(NumericsTest, ReductionsUseFp32InOperandOrder) {
    for (const operation op :
         {operation::add, operation::min, operation::max, operation::scaled_add})
        for (unsigned type = 0; type < element_kinds; ++type)
            for (const std::size_t operands : {1, 2, 3, 16})
                check_reduction(op, static_cast<element>(type), static_cast<element>(type),
                                operands, 1500);
    for (const std::size_t count : {1, 2, 1023, 1024, 1025, 4097})
        for (std::size_t operands = 2; operands <= 7; ++operands)
            for (const bool saturate : {false, true})
                check_reduction(operation::add, element::bf16, element::bf16, operands, count,
                                {.saturate = saturate});
}

TEST(NumericsTest, EveryTypeCastsToEveryOther) {
    for (unsigned from = 0; from < element_kinds; ++from)
        for (unsigned to = 0; to < element_kinds; ++to) {
            check_reduction(operation::cast, static_cast<element>(from), static_cast<element>(to),
                            1, 1100);
            check_reduction(operation::cast, static_cast<element>(from), static_cast<element>(to),
                            1, 1100, {.saturate = true, .stochastic = true, .seed = 5});
        }
}

TEST(NumericsTest, SumDependsOnOperandOrder) {
    const float big = 0x1p24f, one = 1;
    const auto sum = [](std::vector<float> operands) {
        std::vector<const std::uint8_t*> pointers;
        for (const float& f : operands)
            pointers.push_back(reinterpret_cast<const std::uint8_t*>(&f));
        float result = 0;
        reduce({operation::add, element::fp32, element::fp32, {}, {}}, pointers,
               reinterpret_cast<std::uint8_t*>(&result), 1);
        return result;
    };
    EXPECT_EQ(sum({big, one, one}), big);
    EXPECT_EQ(sum({one, one, big}), big + 2);
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(bits_of(sum({infinity, -infinity})), quiet_nan);
    EXPECT_EQ(bits_of(sum({-0.0f, -0.0f})), negative);
    EXPECT_EQ(bits_of(sum({float_of(0xffc12345)})), quiet_nan);
}

TEST(NumericsTest, MinAndMaxKeepTheFirstEqualOperandAndTheFirstNan) {
    const auto reduced = [](operation op, float a, float b) {
        const std::uint8_t* const operands[] = {reinterpret_cast<const std::uint8_t*>(&a),
                                                reinterpret_cast<const std::uint8_t*>(&b)};
        std::uint32_t result = 0;
        reduce({op, element::fp32, element::fp32, {}, {}}, operands,
               reinterpret_cast<std::uint8_t*>(&result), 1);
        return result;
    };
    for (const operation op : {operation::min, operation::max}) {
        EXPECT_EQ(reduced(op, 0.0f, -0.0f), 0u);
        EXPECT_EQ(reduced(op, -0.0f, 0.0f), negative);
        EXPECT_EQ(reduced(op, 1.0f, float_of(0xffc00001)), 0xffc00001u);
        EXPECT_EQ(reduced(op, float_of(0x7fc00002), 1.0f), 0x7fc00002u);
        EXPECT_EQ(reduced(op, float_of(0x7fc00002), float_of(0x7fc00003)), 0x7fc00002u);
    }
}

TEST(NumericsTest, ResultMayOverwriteAnOperand) {
    std::vector<float> a(3000), b(3000);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i), b[i] = 0.5f;
    const std::uint8_t* const operands[] = {reinterpret_cast<const std::uint8_t*>(b.data()),
                                            reinterpret_cast<const std::uint8_t*>(a.data())};
    reduce({operation::add, element::fp32, element::fp32, {}, {}}, operands,
           reinterpret_cast<std::uint8_t*>(a.data()), a.size());
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], static_cast<float>(i) + 0.5f);
}

TEST(NumericsTest, ResultOfBf16MayOverwriteAnyOperand) {
    for (std::size_t operands = 2; operands <= 6; ++operands)
        for (std::size_t overwritten = 0; overwritten < operands; ++overwritten) {
            std::vector<std::vector<std::uint16_t>> values(operands,
                                                           std::vector<std::uint16_t>(3001));
            std::vector<const std::uint8_t*> pointers;
            for (std::size_t k = 0; k < operands; ++k) {
                for (std::size_t i = 0; i < values[k].size(); ++i)
                    values[k][i] = static_cast<std::uint16_t>(0x3f80 + (i * 7 + k) % 512);
                pointers.push_back(reinterpret_cast<const std::uint8_t*>(values[k].data()));
            }
            const reduction sum{operation::add, element::bf16, element::bf16, {}, {}};
            std::vector<std::uint16_t> apart(3001);
            reduce(sum, pointers, reinterpret_cast<std::uint8_t*>(apart.data()), apart.size());
            reduce(sum, pointers, reinterpret_cast<std::uint8_t*>(values[overwritten].data()),
                   apart.size());
            ASSERT_EQ(values[overwritten], apart);
        }
}

/// The reference used by scenarios to check devices, computed in three ways.
TEST(NumericsTest, HostReferenceGivesTheSameResult) {
    std::mt19937 random(4);
    for (unsigned type = 0; type < element_kinds; ++type) {
        const auto here = static_cast<element>(type);
        const auto there = static_cast<trn_element>(type);
        EXPECT_EQ(reference::element_size(there), size_of(here));
        for (std::uint32_t i = 0; i < 20'000; ++i) {
            const auto bits = static_cast<std::uint32_t>(random());
            const std::uint32_t code = size_of(here) == 4 ? bits : bits >> (32 - 8 * size_of(here));
            const float a = decoded(here, code);
            const auto b = static_cast<float>(reference::decode(there, code));
            ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << type << ' ' << code;
            const float value = float_of(bits);
            const std::uint32_t word = random_word(6, i);
            ASSERT_EQ(reference::random_word(6, i), word);
            const bool saturate = i % 2 == 1, stochastic = i % 3 == 1 && !is_integer(here);
            const auto code_a = encoded(here, value, {saturate, stochastic, 6}, i);
            const auto code_b =
                reference::encode(there, value, saturate, stochastic ? &word : nullptr);
            if (std::isnan(value) && !is_integer(here)) {
                ASSERT_TRUE(std::isnan(decoded(here, code_b)));
            } else {
                ASSERT_EQ(code_a, code_b) << type << ' ' << std::hexfloat << value;
            }
        }
    }
}

}  // namespace
