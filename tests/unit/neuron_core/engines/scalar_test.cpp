// SPDX-License-Identifier: Apache-2.0
// Rows 27, 52 and 53. tests/unit/neuron_isa/numerics/functions_test.cpp checks the functions'
// values.
#include "models/neuron_isa/numerics/activation.h"
#include "tests/unit/neuron_core/engines/engine_fixture.h"

namespace {

using namespace trn;
using namespace trn::test;
using numerics::activation;

class ScalarTest : public EngineTest {
protected:
    static instruction activate(activation f) {
        auto i = make(opcode::activate);
        i.op0 = static_cast<std::uint8_t>(f);
        return i;
    }
    static float exponential(float x) {
        return static_cast<float>(std::exp(static_cast<long double>(x)));
    }
};

TEST_F(ScalarTest, ActivateScalesThenAddsThenAppliesTheFunction) {
    for (const element type : computed_types)
        for (const bool has_bias : {false, true}) {
            auto i = activate(activation::exp);
            i.a = row(type, 0, 0, 7, 60, isa::space::psum);
            i.dst = row(type, 32, 0, 7, 60);
            i.s0 = constant(0.3f);
            const auto bias = row(element::bf16, 64, 512, 7, 1);
            if (has_bias) i.s1 = column(element::bf16, 64, 512);
            fill_small(i.a), fill_small(bias);
            run_ok(scalar, i);
            expect_values(i.dst, [&](unsigned p, std::size_t k) {
                volatile float product = value(i.a, p, k) * 0.3f;  // volatile: rounded separately
                volatile float sum = product + value(bias, p, 0);
                return exponential(has_bias ? sum : product);
            });
        }
}

TEST_F(ScalarTest, WithoutBiasMinusZeroStays) {
    auto i = activate(activation::copy);
    i.a = row(element::fp32, 0, 0, 1, 1);
    i.dst = row(element::fp32, 0, 64, 1, 1);
    set(i.a, 0, {-0.0f});
    run_ok(scalar, i);
    EXPECT_EQ(code(i.dst, 0, 0), 0x80000000u);
    i.s1 = constant(0);
    run_ok(scalar, i);
    EXPECT_EQ(code(i.dst, 0, 0), 0u);
}

TEST_F(ScalarTest, NansInFp8ArePositiveUnlessAnOverflowOfE4m3fnMakesThem) {
    const std::pair<element, std::vector<std::uint32_t>> expected[] = {
        // of: NaN, -NaN, 1e6, -1e6, Inf, -Inf
        {element::fp8_e3m4, {0x78, 0x78, 0x70, 0xf0, 0x70, 0xf0}},
        {element::fp8_e4m3, {0x7c, 0x7c, 0x78, 0xf8, 0x78, 0xf8}},
        {element::fp8_e4m3fn, {0x7f, 0x7f, 0x7f, 0xff, 0x7f, 0xff}},
        {element::fp8_e5m2, {0x7e, 0x7e, 0x7c, 0xfc, 0x7c, 0xfc}},
    };
    for (const opcode o : {opcode::activate, opcode::activate2})
        for (const auto& [type, codes] : expected) {
            auto i = make(o);  // copy, without operators
            i.a = row(element::fp32, 0, 0, 1, codes.size());
            i.dst = row(type, 0, 4096, 1, codes.size());
            const float values[] = {
                float_of(0x7fc00001), float_of(0xffc00001), 1e6f, -1e6f, infinity, -infinity};
            for (std::size_t k = 0; k < codes.size(); ++k) set(i.a, 0, k, bits_of(values[k]));
            run_ok(scalar, i);
            expect_codes(i.dst, [&](unsigned, std::size_t k) { return codes[k]; });
        }
}

TEST_F(ScalarTest, ActivateAccumulatesBeforeItConverts) {
    auto i = activate(activation::exp);
    i.reduce_op = static_cast<std::uint8_t>(alu::add);
    i.a = row(element::fp32, 0, 0, 21, 50);
    i.dst = row(element::fp8_e4m3, 0, 512, 21, 50);
    auto read = make(opcode::read_accumulator);
    read.dst = row(element::fp32, 0, 4096, 21, 1);
    std::vector<float> sums(21);
    for (const unsigned command : {3, 2, 0, 2}) {
        i.reduce_cmd = static_cast<std::uint8_t>(command);
        i.reduce_op = command == 0 ? 0 : static_cast<std::uint8_t>(alu::add);
        fill_small(i.a);
        run_ok(scalar, i);
        for (unsigned p = 0; p < 21 && command != 0; ++p) {
            if (command == 3) sums[p] = 0;
            for (std::size_t k = 0; k < 50; ++k) sums[p] += exponential(value(i.a, p, k));
        }
        run_ok(scalar, read);
        expect_values(read.dst, [&](unsigned p, std::size_t) { return sums[p]; });
    }
}

TEST_F(ScalarTest, OutsideItsRangeAFunctionIsNanWhenTheParameterSaysSo) {
    scalar_engine strict(memory, isa::generation::v4, true);
    auto i = make(opcode::activate);
    i.op0 = static_cast<std::uint8_t>(numerics::activation::sin);
    i.a = row(element::fp32, 0, 0, 1, 4);
    i.dst = row(element::fp32, 0, 64, 1, 4);
    set(i.a, 0, {9.0f, 1.0f, -4.0f, 3.0f});
    const auto f = isa::decoded{i, isa::find(i.opcode)};
    last = strict.execute(f.value, numbers);
    ASSERT_FALSE(last.fault);
    for (const std::size_t outside : {0u, 2u}) EXPECT_EQ(code(i.dst, 0, outside), canonical_nan);
    EXPECT_EQ(value(i.dst, 0, 1), static_cast<float>(std::sin(1.0L)));
    EXPECT_EQ(value(i.dst, 0, 3), static_cast<float>(std::sin(3.0L)));
    EXPECT_EQ(strict.misuse().activation_out_of_range, 2u);
    run_ok(scalar, i);
    EXPECT_EQ(value(i.dst, 0, 0), static_cast<float>(std::sin(9.0L))) << "the ideal value";
}

TEST_F(ScalarTest, PreluTakesItsSlopeFromTheInstruction) {
    auto i = activate(activation::prelu);
    i.imm = bits_of(0.1f);
    i.a = row(element::fp32, 0, 0, 3, 40);
    i.dst = row(element::fp32, 0, 512, 3, 40);
    fill_small(i.a);
    run_ok(scalar, i);
    expect_values(i.dst, [&](unsigned p, std::size_t k) {
        const float x = value(i.a, p, k);
        return x >= 0 ? x : 0.1f * x;
    });
}

TEST_F(ScalarTest, ArgumentsOutsideTheFunctionsRangeAreCounted) {
    auto i = activate(activation::sin);
    i.a = row(element::fp32, 0, 0, 1, 4);
    i.dst = row(element::fp32, 0, 64, 1, 4);
    i.s0 = constant(2);
    set(i.a, 0, {1, 1.6f, -3, NAN});
    run_ok(scalar, i);
    EXPECT_EQ(scalar.misuse().activation_out_of_range, 3u);
    EXPECT_EQ(value(i.dst, 0, 2), static_cast<float>(std::sin(-6.0L))) << "the ideal value";
    i.op0 = static_cast<std::uint8_t>(activation::tanh);
    run_ok(scalar, i);
    EXPECT_EQ(scalar.misuse().activation_out_of_range, 3u);
}

TEST_F(ScalarTest, Activate2HasTwoOperatorsBeforeTheFunction) {
    const std::pair<alu, alu> operators[] = {
        {alu::mult, alu::add},   {alu::mult, alu::subtract},   {alu::mult, alu::bypass},
        {alu::add, alu::bypass}, {alu::subtract, alu::bypass}, {alu::bypass, alu::bypass}};
    const auto apply = [](alu op, float a, float b) {
        volatile float result = op == alu::mult       ? a * b
                                : op == alu::add      ? a + b
                                : op == alu::subtract ? a - b
                                                      : a;
        return static_cast<float>(result);
    };
    for (const auto& [first, second] : operators)
        for (std::uint16_t reversed = 0; reversed < 4; ++reversed) {
            auto i = make(opcode::activate2);
            i.op0 = static_cast<std::uint8_t>(activation::prelu);
            i.imm = static_cast<std::uint32_t>(first) | static_cast<std::uint32_t>(second) << 8;
            i.mode = reversed;
            i.a = row(element::bf16, 0, 0, 5, 30);
            i.b = row(element::fp32, 64, 0, 5, 1);
            i.dst = row(element::fp32, 0, 512, 5, 30);
            if (first != alu::bypass) i.s0 = constant(1.1f);
            if (second != alu::bypass) i.s1 = constant(-0.7f);
            fill_small(i.a), fill_small(i.b);
            run_ok(scalar, i);
            expect_values(i.dst, [&](unsigned p, std::size_t k) {
                float x = value(i.a, p, k);
                const float slope = value(i.b, p, 0);
                if (first != alu::bypass)
                    x = (reversed & 1) != 0 ? apply(first, 1.1f, x) : apply(first, x, 1.1f);
                if (second != alu::bypass)
                    x = (reversed & 2) != 0 ? apply(second, -0.7f, x) : apply(second, x, -0.7f);
                return x >= 0 ? x : slope * x;
            });
        }
}

TEST_F(ScalarTest, Activate2ReducesWithFiveOperators) {
    for (const alu op : {alu::add, alu::max, alu::min, alu::abs_max, alu::abs_min}) {
        auto i = make(opcode::activate2);
        i.op0 = static_cast<std::uint8_t>(activation::copy);
        i.reduce_op = static_cast<std::uint8_t>(op);
        i.reduce_cmd = 3;
        i.a = row(element::fp32, 0, 0, 9, 33);
        i.dst = row(element::fp32, 0, 512, 9, 33);
        fill_small(i.a);
        run_ok(scalar, i);
        for (unsigned p = 0; p < 9; ++p) {
            float acc = op == alu::max                         ? -infinity
                        : op == alu::min || op == alu::abs_min ? infinity
                                                               : 0;
            for (const float x : values(i.a, p)) {
                const bool keeps = op == alu::max       ? acc >= x
                                   : op == alu::min     ? acc <= x
                                   : op == alu::abs_max ? std::fabs(acc) > std::fabs(x)
                                                        : std::fabs(acc) < std::fabs(x);
                acc = op == alu::add ? acc + x : keeps ? acc : x;
            }
            EXPECT_EQ(scalar.accumulator(p), acc);
        }
    }
}

TEST_F(ScalarTest, TensorScalarHasTheThreePairsOfOperators) {
    for (const auto& [op0, op1] :
         {std::pair{alu::mult, alu::add}, {alu::mult, alu::bypass}, {alu::add, alu::bypass}}) {
        auto i = make(opcode::tensor_scalar, op0, op1);
        i.a = row(element::fp16, 0, 0, 4, 40);
        i.dst = row(element::bf16, 0, 512, 4, 40);
        i.s0 = constant(1.7f);
        if (op1 != alu::bypass) i.s1 = integer(3);
        fill_small(i.a);
        run_ok(scalar, i);
        expect_values(i.dst, [&](unsigned p, std::size_t k) {
            const float x = value(i.a, p, k);
            volatile float first = op0 == alu::mult ? x * 1.7f : x + 1.7f;
            return op1 == alu::add ? first + 3 : first;
        });
    }
    expect_refused(scalar, make(opcode::tensor_scalar, alu::subtract),
                   isa::error::illegal_instruction, isa::operand::none);
}

}  // namespace
