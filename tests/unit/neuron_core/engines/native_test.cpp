// SPDX-License-Identifier: Apache-2.0
// Row 63: native functions of POOL_CALL. Expected values come from plain loops over decoded
// elements.
#include "models/neuron_isa/instructions/native_functions.h"
#include "tests/unit/neuron_core/engines/engine_fixture.h"

namespace {

using namespace trn;
using namespace trn::test;

class NativeFunctionTest : public EngineTest {
protected:
    static instruction call(std::uint32_t number) {
        instruction i = make(opcode::pool_call);
        i.imm = number;
        return i;
    }
    /// Repeated search for the smallest or largest remaining value; of equal ones the first.
    static std::vector<std::uint32_t> selected(const std::vector<float>& v, bool descending) {
        const auto precedes = [&](float x, float y) {
            if (descending) std::swap(x, y);
            return std::isnan(x) ? !std::isnan(y) : !std::isnan(y) && x < y;
        };
        std::vector<std::uint32_t> order;
        std::vector<bool> taken(v.size());
        while (order.size() < v.size()) {
            std::size_t best = v.size();
            for (std::size_t i = 0; i < v.size(); ++i)
                if (!taken[i] && (best == v.size() || precedes(v[i], v[best]))) best = i;
            taken[best] = true;
            order.push_back(static_cast<std::uint32_t>(best));
        }
        return order;
    }
};

TEST_F(NativeFunctionTest, CumulativeSumRoundsAfterEachElement) {
    for (const element type : {element::fp32, element::bf16, element::int16}) {
        auto i = call(1);
        i.a = row(type, 0, 0, 40, 100);
        i.a.partitions = 32;
        i.dst = row(element::fp32, 32, 4096, 32, 100);
        i.s0 = constant(0.1f);
        fill_small(i.a);
        run_ok(gpsimd, i);
        for (unsigned p = 0; p < 32; ++p) {
            volatile float sum = 0.1f;
            for (std::size_t k = 0; k < 100; ++k) {
                sum = sum + value(i.a, p, k);
                ASSERT_EQ(value(i.dst, p, k), sum);
            }
        }
    }
}

TEST_F(NativeFunctionTest, SortsKeepBitsAndTheOrderOfEqualElements) {
    for (const std::uint32_t number : {2u, 3u})
        for (const element type :
             {element::fp32, element::bf16, element::fp8_e5m2, element::int8}) {
            auto i = call(number);
            i.a = row(type, 0, 0, 16, 120);
            i.dst = row(type, 0, 4096, 16, 120);
            i.b = row(element::uint32, 0, 8192, 16, 120);
            fill(i.a);  // NaNs and infinities among them
            run_ok(gpsimd, i);
            for (unsigned p = 0; p < 16; ++p) {
                const auto order = selected(values(i.a, p), number == 3);
                for (std::size_t k = 0; k < 120; ++k) {
                    ASSERT_EQ(code(i.b, p, k), order[k]) << "partition " << p << ", place " << k;
                    ASSERT_EQ(code(i.dst, p, k), code(i.a, p, order[k]));
                }
            }
        }
}

TEST_F(NativeFunctionTest, SortsCompareLargeIntegersExactly) {
    auto i = call(2);
    i.a = row(element::int32, 0, 0, 1, 4);
    i.dst = row(element::int32, 0, 64, 1, 4);
    const std::uint32_t in[] = {0x7fff'ffff, 0x7fff'fffe, 0x8000'0000, 0xffff'ffff};
    for (std::size_t k = 0; k < 4; ++k) set(i.a, 0, k, in[k]);
    run_ok(gpsimd, i);
    const std::uint32_t out[] = {0x8000'0000, 0xffff'ffff, 0x7fff'fffe, 0x7fff'ffff};
    expect_codes(i.dst, [&](unsigned, std::size_t k) { return out[k]; });
}

TEST_F(NativeFunctionTest, ArgmaxAndArgminPassOverNans) {
    for (const std::uint32_t number : {4u, 5u}) {
        auto i = call(number);
        i.a = row(element::fp32, 64, 0, 64, 30);
        i.dst = row(element::uint32, 0, 4096, 64, 1);
        fill_small(i.a);
        const float nan = std::numeric_limits<float>::quiet_NaN();
        set(i.a, 0, {nan, 1, 9, 9, -9, -9, nan});
        set(i.a, 1, std::vector<float>(30, nan));
        run_ok(gpsimd, i);
        for (unsigned p = 0; p < 64; ++p) {
            std::uint32_t best = 0;
            float extreme = nan;
            for (std::size_t k = 0; k < 30; ++k) {
                const float x = number == 4 ? value(i.a, p, k) : -value(i.a, p, k);
                if (!std::isnan(x) && (std::isnan(extreme) || x > extreme)) {
                    extreme = x;
                    best = static_cast<std::uint32_t>(k);
                }
            }
            EXPECT_EQ(code(i.dst, p, 0), best) << p;
        }
    }
}

TEST_F(NativeFunctionTest, OneHotWritesOneElement) {
    auto i = call(6);
    i.a = row(element::int32, 0, 0, 32, 1);
    i.dst = row(element::bf16, 0, 4096, 32, 10);
    for (unsigned p = 0; p < 32; ++p) set(i.a, p, 0, p - 3);  // from -3 on
    run_ok(gpsimd, i);
    expect_values(i.dst, [](unsigned p, std::size_t k) { return k + 3 == p ? 1.0f : 0.0f; });
    i.s0 = constant(0.5f);
    i.s1 = constant(-2);
    run_ok(gpsimd, i);
    expect_values(i.dst, [](unsigned p, std::size_t k) { return k + 3 == p ? 0.5f : -2.0f; });
}

TEST_F(NativeFunctionTest, UniqueKeepsTheFirstOfEachValue) {
    auto i = call(7);
    i.a = row(element::fp32, 0, 0, 2, 9);
    i.dst = row(element::fp32, 0, 4096, 2, 9);
    i.b = row(element::uint32, 0, 8192, 2, 1);
    i.s0 = constant(-1);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    set(i.a, 0, {3, 1, 3, 2, 1, 1, 2, 3, 1});
    set(i.a, 1, {0.0f, 5, -0.0f, 5, -infinity, 0, 5, 5, 5});
    set(i.a, 1, 1, 0x7fc0'0001);
    set(i.a, 1, 8, bits_of(nan));
    run_ok(gpsimd, i);
    EXPECT_EQ(code(i.b, 0, 0), 3u);
    EXPECT_EQ(values(i.dst, 0), (std::vector<float>{1, 2, 3, -1, -1, -1, -1, -1, -1}));
    EXPECT_EQ(code(i.b, 1, 0), 4u);
    EXPECT_EQ(code(i.dst, 1, 0), 0x7fc0'0001u) << "the first NaN's bits";
    EXPECT_EQ(value(i.dst, 1, 1), -infinity);
    EXPECT_EQ(code(i.dst, 1, 2), 0u) << "+0 came before -0";
    EXPECT_EQ(value(i.dst, 1, 3), 5);
    EXPECT_EQ(value(i.dst, 1, 4), -1);
}

TEST_F(NativeFunctionTest, HistogramCountsSmallIntegers) {
    auto i = call(8);
    i.a = row(element::int8, 0, 0, 16, 500);
    i.dst = row(element::uint32, 0, 4096, 16, 20);
    fill(i.a);
    run_ok(gpsimd, i);
    for (unsigned p = 0; p < 16; ++p)
        for (std::size_t bin = 0; bin < 20; ++bin) {
            std::uint32_t count = 0;
            for (std::size_t k = 0; k < 500; ++k) count += code(i.a, p, k) == bin;
            EXPECT_EQ(code(i.dst, p, bin), count);
        }
}

TEST_F(NativeFunctionTest, ReverseMovesAnyType) {
    for (const element type : {element::uint8, element::fp16, element::fp8_e4m3fn_x4}) {
        auto i = call(9);
        i.a = row(type, 0, 0, 16, 33);
        i.dst = row(type, 0, 4096, 16, 33);
        fill(i.a);
        run_ok(gpsimd, i);
        expect_codes(i.dst, [&](unsigned p, std::size_t k) { return code(i.a, p, 32 - k); });
    }
}

TEST_F(NativeFunctionTest, UnknownNumbersAndOperandsThatDoNotFitAreRefused) {
    using isa::error;
    auto i = call(0);
    expect_refused(gpsimd, i, error::bad_operand, isa::operand::none);
    i.imm = 10;
    expect_refused(gpsimd, i, error::bad_operand, isa::operand::none);
    i = call(2);
    i.a = row(element::fp32, 0, 0, 16, 8);
    expect_refused(gpsimd, i, error::bad_operand, isa::operand::dst);  // absent
    i.dst = row(element::bf16, 0, 4096, 16, 8);
    expect_refused(gpsimd, i, error::bad_operand, isa::operand::a);  // types
    i.dst = row(element::fp32, 0, 4096, 16, 7);
    expect_refused(gpsimd, i, error::bad_operand, isa::operand::a);  // shape
    i.dst = row(element::fp32, 0, 4096, 32, 8);
    expect_refused(gpsimd, i, error::bad_operand, isa::operand::dst);  // partitions
    i.dst = row(element::fp32, 0, 4096, 16, 8);
    i.b = row(element::int8, 0, 8192, 16, 8);
    expect_refused(gpsimd, i, error::bad_operand, isa::operand::b);  // type
    i.b = {};
    i.s0 = constant(1);
    expect_refused(gpsimd, i, error::illegal_instruction, isa::operand::s0);  // unused
}

TEST_F(NativeFunctionTest, EveryFunctionOfTheTableIsImplemented) {
    for (const isa::native_function& f : isa::native_functions()) {
        auto i = call(f.number);
        const auto type = [](isa::types t) {
            return t == isa::types::computed || t == isa::types::moved ? element::fp32
                   : t == isa::types::integer                          ? element::int8
                                                                       : element::uint32;
        };
        const unsigned a = f.shape == isa::native_shape::one_index ? 1 : 8;
        const unsigned dst = f.shape == isa::native_shape::one_result ? 1 : 8;
        i.a = row(type(f.a.types), 0, 0, 1, a);
        i.dst = row(type(f.dst.types), 0, 64, 1, dst);
        if (f.writes_b())
            i.b = row(element::uint32, 0, 128, 1, f.shape == isa::native_shape::with_count ? 1 : 8);
        EXPECT_FALSE(run(gpsimd, i)) << f.name;
    }
}

}  // namespace
