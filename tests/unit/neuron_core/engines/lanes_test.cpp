// SPDX-License-Identifier: Apache-2.0
// Rows 23 to 33 and 36, and the tile access common to all instructions.
#include "tests/unit/neuron_core/engines/engine_fixture.h"

namespace {

using namespace trn;
using namespace trn::test;

class LanesTest : public EngineTest {};

TEST_F(LanesTest, CopyConvertsEveryTypeToEveryOther) {
    for (const element from : computed_types)
        for (const element to : computed_types) {
            auto i = make(opcode::copy);
            i.a = row(from, 0, 0, 4, 60);
            i.dst = row(to, 32, 4096, 4, 60);
            fill(i.a);
            run_ok(vector, i);
            expect_codes(i.dst, [&](unsigned p, std::size_t k) {
                return from == to ? code(i.a, p, k) : encoded(to, value(i.a, p, k));
            });
        }
}

TEST_F(LanesTest, CopySaturatesWhatTheConfigurationSays) {
    numbers.saturate = true;
    for (const element to : computed_types) {
        auto i = make(opcode::copy);
        i.a = row(to == element::fp32 ? element::bf16 : element::fp32, 0, 0, 1, 6);
        i.dst = row(to, 0, 4096, 1, 6);
        set(i.a, 0, {1e38f, -1e38f, infinity, -infinity, 3.4e38f, NAN});
        run_ok(vector, i);
        const bool covered = to >= element::bf16 && to <= element::fp8_e5m2;
        expect_codes(i.dst, [&](unsigned p, std::size_t k) {
            return encoded(to, value(i.a, p, k), covered);
        });
    }
}

TEST_F(LanesTest, CopyRoundsStochasticallyByPartitionAndElement) {
    numbers.stochastic = true;
    numbers.seed = 77;
    for (const element to : {element::bf16, element::tf32, element::fp8_e4m3fn, element::int16}) {
        auto i = make(opcode::copy);
        i.a = row(element::fp32, 0, 0, 3, 50);
        i.dst = row(to, 0, 4096, 3, 50);
        fill(i.a);
        run_ok(scalar, i);
        expect_codes(i.dst, [&](unsigned p, std::size_t k) {
            const auto word = numerics::random_word(77, static_cast<std::uint32_t>(p * 50 + k));
            return encoded(to, value(i.a, p, k), false, &word);
        });
    }
}

TEST_F(LanesTest, CopyOfEqualTypesKeepsEveryBitOfEveryType) {
    for (unsigned t = 0; t < numerics::all_element_kinds; ++t)
        for (isa::data_path* engine :
             {static_cast<isa::data_path*>(&vector), static_cast<isa::data_path*>(&gpsimd),
              static_cast<isa::data_path*>(&scalar)}) {
            const auto type = static_cast<element>(t);
            if (engine == &gpsimd && type == element::fp8_e3m4) continue;
            auto i = make(opcode::copy);
            i.a = row(type, 0, 0, 2, 40);
            i.dst = row(type, 0, 4096, 2, 40);
            fill(i.a);
            run_ok(*engine, i);
            for (unsigned p = 0; p < 2; ++p)
                ASSERT_EQ(
                    std::memcmp(byte(i.a, p, 0), byte(i.dst, p, 0), 40 * numerics::size_of(type)),
                    0);
        }
}

TEST_F(LanesTest, ScalarOfV2CopiesThroughFp32) {
    scalar_engine old(memory, isa::generation::v2);
    auto i = make(opcode::copy);
    i.a = row(element::fp32, 0, 0, 1, 2);
    i.dst = row(element::fp32, 0, 64, 1, 2);
    set(i.a, 0, 0, 0xff812345);
    set(i.a, 0, 1, 0x40490fdb);
    EXPECT_FALSE(old.execute(i, numbers).fault);
    EXPECT_EQ(code(i.dst, 0, 0), canonical_nan);
    EXPECT_EQ(code(i.dst, 0, 1), 0x40490fdbu);
}

TEST_F(LanesTest, EveryLegalStartPartitionWorksOnBothSides) {
    for (const auto& [count, starts] :
         std::vector<std::pair<unsigned, std::vector<unsigned>>>{{1, {0, 32, 64, 96}},
                                                                 {16, {0, 32, 64, 96}},
                                                                 {32, {0, 32, 64, 96}},
                                                                 {64, {0, 64}},
                                                                 {96, {0}},
                                                                 {128, {0}}})
        for (const unsigned from : starts)
            for (const unsigned to : starts) {
                auto i = make(opcode::copy);
                i.a = row(element::int16, from, 0, count, 5);
                i.dst = row(element::int16, to, 512, count, 5);
                fill(i.a);
                run_ok(vector, i);
                expect_codes(i.dst, [&](unsigned p, std::size_t k) { return code(i.a, p, k); });
            }
}

TEST_F(LanesTest, PatternsMayRepeatSkipAndGoBackwardsInFourDimensions) {
    const std::vector<std::vector<dimension>> patterns = {
        {{1, 24}},
        {{2, 24}},
        {{-1, 24}},
        {{0, 24}},
        {{1, 4}, {8, 6}},
        {{-3, 2}, {7, 3}, {40, 4}},
        {{1, 2}, {0, 3}, {-10, 2}, {100, 2}},
        {{100, 2}, {20, 3}, {5, 2}, {1, 2}},
    };
    for (const element type : {element::uint8, element::bf16, element::fp32, element::uint64})
        for (const auto& source : patterns)
            for (const auto& target : patterns) {
                auto i = make(opcode::copy);
                i.a = tile(type, 0, 8000, 2, source);
                i.dst = tile(type, 0, 16000, 2, target);
                fill(i.a);
                run_ok(vector, i);
                for (unsigned p = 0; p < 2; ++p)
                    for (std::size_t k = 0; k < 24; ++k) {
                        std::size_t last = k;  // the last write to an element applies
                        for (std::size_t later = k; later < 24; ++later)
                            if (byte(i.dst, p, later) == byte(i.dst, p, k)) last = later;
                        ASSERT_EQ(std::memcmp(byte(i.dst, p, k), byte(i.a, p, last),
                                              numerics::size_of(type)),
                                  0);
                    }
            }
}

TEST_F(LanesTest, SourcesAreReadBeforeTheDestinationIsWritten) {
    auto i = make(opcode::copy);
    i.a = row(element::fp32, 0, 0, 1, 100);
    i.dst = row(element::fp32, 0, 4, 1, 100);  // one element further: overlaps
    std::vector<float> before;
    fill_small(i.a);
    before = values(i.a, 0);
    run_ok(vector, i);
    EXPECT_EQ(values(i.dst, 0), before);
    i.dst = tile(element::fp32, 0, 99 * 4, 1, {{-1, 100}});  // in place, reversed
    before = values(i.a, 0);
    run_ok(vector, i);
    EXPECT_EQ(values(i.dst, 0), before);
}

TEST_F(LanesTest, IndirectTilesFollowTheSnakeOfTheirIndices) {
    constexpr unsigned n = 40;
    const auto index = row(element::uint32, 0, 20000, 64, 3);
    std::map<std::pair<unsigned, unsigned>, std::uint32_t> offsets;
    for (unsigned p = 0; p < 64; ++p)
        for (unsigned column = 0; column < 3; ++column) {
            const auto offset = static_cast<std::uint32_t>(random() % 500);
            set(index, p, column, offset);
            offsets[{p, column}] = offset;
        }
    auto i = make(opcode::copy);
    i.a = row(element::bf16, 0, 0, 64, n);
    i.a.indirect = true;
    i.a.index = index.place;
    i.dst = row(element::bf16, 64, 0, 64, n);
    const auto data = row(element::bf16, 0, 0, 64, 500);
    fill(data);
    run_ok(vector, i);
    expect_codes(i.dst, [&](unsigned p, std::size_t k) {
        return code(data, p, offsets[{p / 16 * 16 + k % 16, static_cast<unsigned>(k / 16)}]);
    });
    set(index, 33, 2, 16384);  // the last byte is the first after the partition
    expect_refused(vector, i, isa::error::indirect_oob, isa::operand::a);
}

TEST_F(LanesTest, AnUncorrectableWordOfASourceStopsTheInstruction) {
    auto i = make(opcode::tensor_scalar, alu::mult, alu::add);
    i.a = tile(element::fp32, 0, 0, 8, {{2, 10}});
    i.dst = row(element::fp32, 0, 512, 8, 10);
    i.s0 = column(element::fp32, 0, 1024);
    i.s1 = constant(1);
    memory.broken = {{5, 4 * 18}};
    expect_refused(vector, i, isa::error::memory, isa::operand::a);
    memory.broken = {{5, 4 * 17}};  // between the elements
    run_ok(vector, i);
    memory.broken = {{7, 1024}};
    expect_refused(vector, i, isa::error::memory, isa::operand::s0);
}

TEST_F(LanesTest, ANanOrInfinityThatIsWrittenIsReportedOnRequest) {
    auto i = make(opcode::copy);
    i.a = row(element::fp32, 0, 0, 1, 2);
    i.dst = row(element::fp16, 0, 64, 1, 2);
    set(i.a, 0, {1, 1e6f});  // FP16: Inf
    run_ok(vector, i);
    EXPECT_FALSE(last.numerical);
    numbers.inf_detect = true;
    run_ok(vector, i);
    EXPECT_TRUE(last.numerical);
    numbers = {.nan_detect = true};
    run_ok(vector, i);
    EXPECT_FALSE(last.numerical);
    i.dst.type = element::fp8_e4m3fn;  // its overflow is NaN
    run_ok(vector, i);
    EXPECT_TRUE(last.numerical);
    i.dst.type = element::int16;
    set(i.a, 0, {NAN, 0});
    run_ok(vector, i);
    EXPECT_FALSE(last.numerical);
}

TEST_F(LanesTest, NansInPackedElementsAndScalesAreReported) {
    numbers.nan_detect = true;
    auto i = make(opcode::copy);
    const auto reports = [&](element type, std::uint32_t bits) {
        i.a = row(type, 0, 0, 1, 1);
        i.dst = row(type, 0, 64, 1, 1);
        set(i.a, 0, 0, bits);
        run_ok(vector, i);
        return last.numerical;
    };
    EXPECT_TRUE(reports(element::fp8_e4m3fn_x4, 0x007f0000));
    EXPECT_FALSE(reports(element::fp8_e4m3fn_x4, 0x7e7e7e7e));
    EXPECT_TRUE(reports(element::fp8_e5m2_x4, 0x7d000000));
    EXPECT_FALSE(reports(element::fp8_e5m2_x4, 0x7c7c7c7c));  // Inf
    EXPECT_TRUE(reports(element::e8m0, 0xff));
    EXPECT_FALSE(reports(element::e8m0, 0xfe));
    EXPECT_FALSE(reports(element::fp4_e2m1_x4, 0xffff));
    EXPECT_FALSE(reports(element::uint64, 0xffffffff));
    numbers = {.inf_detect = true};
    EXPECT_TRUE(reports(element::fp8_e5m2_x4, 0x7c00));
}

TEST_F(LanesTest, MemsetConvertsItsImmediateToTheDestination) {
    const auto filled = [&](element type, std::uint32_t imm) {
        auto i = make(opcode::memset);
        i.dst = row(type, 0, 0, 3, 5);
        i.imm = imm;
        run_ok(gpsimd, i);
        expect_codes(i.dst, [&](unsigned, std::size_t) { return code(i.dst, 0, 0); });
        return code(i.dst, 0, 0);
    };
    EXPECT_EQ(filled(element::fp32, bits_of(-2.5f)), bits_of(-2.5f));
    EXPECT_EQ(filled(element::fp32, 0xffc00001), canonical_nan);
    EXPECT_EQ(filled(element::bf16, bits_of(1.005f)), encoded(element::bf16, 1.005f));
    EXPECT_EQ(filled(element::fp8_e5m2, bits_of(1e9f)), 0x7cu);
    EXPECT_EQ(filled(element::int8, 200), 127u);
    EXPECT_EQ(filled(element::int8, static_cast<std::uint32_t>(-200)), 0x80u);
    EXPECT_EQ(filled(element::uint8, static_cast<std::uint32_t>(-1)), 0u);
    EXPECT_EQ(filled(element::uint16, 70000), 65535u);
    EXPECT_EQ(filled(element::int32, 0x7fffffff), 0x7fffffffu);
    EXPECT_EQ(filled(element::uint32, 0xfffffffe), 0xfffffffeu);
    EXPECT_EQ(filled(element::fp8_e4m3fn_x4, 0), 0u);
}

TEST_F(LanesTest, CopyPredicatedWritesOnlyWhereThePredicateSays) {
    for (const element predicate : {element::uint8, element::uint16, element::uint32})
        for (const bool reversed : {false, true})
            for (const bool from_tile : {false, true}) {
                auto i = make(opcode::copy_predicated);
                i.mode = reversed ? mode::predicate_reversed : std::uint16_t{0};
                i.dst = row(element::fp16, 0, 0, 3, 50);
                i.b = row(predicate, 32, 4096, 3, 50);
                const auto a = row(element::fp16, 0, 8192, 3, 50);
                if (from_tile)
                    i.a = a;
                else
                    i.s0 = constant(0.1f);
                fill(i.dst), fill(a);
                for (unsigned p = 0; p < 3; ++p)
                    for (std::size_t k = 0; k < 50; ++k)
                        set(i.b, p, k,
                            random() % 2 == 0 ? 0 : static_cast<std::uint32_t>(random()));
                std::vector<std::uint32_t> want;
                for (unsigned p = 0; p < 3; ++p)
                    for (std::size_t k = 0; k < 50; ++k)
                        want.push_back((code(i.b, p, k) != 0) == reversed ? code(i.dst, p, k)
                                       : from_tile                        ? code(a, p, k)
                                                   : encoded(element::fp16, 0.1f));
                run_ok(vector, i);
                expect_codes(i.dst, [&](unsigned p, std::size_t k) { return want[p * 50 + k]; });
            }
}

/// The operators of spec 3.4, written independently of the model.
float reference(alu op, float a, float b) {
    const auto is_true = [](float x) { return !(x == 0); };
    const auto truth = [](bool t) { return t ? 1.0f : 0.0f; };
    const bool any_nan = std::isnan(a) || std::isnan(b);
    switch (op) {
    case alu::bypass:
        return a;
    case alu::add:
        return static_cast<float>(double{a} + double{b});  // innocuous double rounding
    case alu::subtract:
        return static_cast<float>(double{a} - double{b});
    case alu::mult:
        return static_cast<float>(double{a} * double{b});
    case alu::max:
        return any_nan ? NAN : b > a ? b : a;
    case alu::min:
        return any_nan ? NAN : b < a ? b : a;
    case alu::is_equal:
        return truth(!any_nan && !(a < b) && !(a > b));
    case alu::not_equal:
        return truth(any_nan || a < b || a > b);
    case alu::is_ge:
        return truth(!any_nan && !(a < b));
    case alu::is_gt:
        return truth(!any_nan && b < a);
    case alu::is_le:
        return truth(!any_nan && !(a > b));
    case alu::is_lt:
        return truth(!any_nan && b > a);
    case alu::logical_and:
        return truth(is_true(a) && is_true(b));
    case alu::logical_or:
        return truth(is_true(a) || is_true(b));
    case alu::logical_xor:
        return truth(is_true(a) != is_true(b));
    case alu::abs:
        return float_of(bits_of(a) & 0x7fffffff);
    case alu::square:
        return static_cast<float>(double{a} * double{a});
    case alu::relu:
        return std::isnan(a) ? NAN : a < 0 ? 0 : a;
    case alu::reciprocal:
        return static_cast<float>(1 / static_cast<long double>(a));
    default:
        ADD_FAILURE() << "no reference";
        return 0;
    }
}
const std::vector<alu> lane_operators = {
    alu::bypass, alu::add,      alu::subtract,    alu::mult,       alu::max,
    alu::min,    alu::is_equal, alu::not_equal,   alu::is_ge,      alu::is_gt,
    alu::is_le,  alu::is_lt,    alu::logical_and, alu::logical_or, alu::logical_xor,
    alu::abs,    alu::square,   alu::relu,        alu::reciprocal};

TEST_F(LanesTest, TensorTensorHasEveryArithmeticOperatorInFp32) {
    const std::vector<float> corners = {0.0f,  -0.0f,    1,         -1,  0x1p-149f, -0x1p-126f,
                                        3e38f, infinity, -infinity, NAN, 1.5f,      1.0000001f};
    for (isa::data_path* engine :
         {static_cast<isa::data_path*>(&vector), static_cast<isa::data_path*>(&gpsimd)})
        for (const alu op : lane_operators) {
            auto i = make(opcode::tensor_tensor, op);
            i.a = row(element::fp32, 0, 0, 2, 244);
            i.b = row(element::fp32, 0, 1024, 2, 244);
            i.dst = row(element::fp32, 0, 2048, 2, 244);
            fill(i.a), fill(i.b);
            for (std::size_t k = 0; k < 144; ++k) {
                set(i.a, 0, k, bits_of(corners[k / 12]));
                set(i.b, 0, k, bits_of(corners[k % 12]));
            }
            run_ok(*engine, i);
            SCOPED_TRACE(static_cast<int>(op));
            expect_values(i.dst, [&](unsigned p, std::size_t k) {
                return reference(op, value(i.a, p, k), value(i.b, p, k));
            });
        }
}

TEST_F(LanesTest, TensorTensorConvertsEveryTypeOnce) {
    for (const element type : computed_types) {
        auto i = make(opcode::tensor_tensor, alu::mult);
        i.a = row(type, 0, 0, 4, 70);
        i.b = row(element::bf16, 0, 1024, 4, 70, isa::space::psum);
        i.dst = row(type, 64, 2048, 4, 70);
        fill(i.a), fill(i.b);
        run_ok(vector, i);
        expect_values(i.dst, [&](unsigned p, std::size_t k) {
            return static_cast<float>(double{value(i.a, p, k)} * double{value(i.b, p, k)});
        });
    }
}

TEST_F(LanesTest, GpsimdAddsSubtractsAndMultipliesIntegersExactly) {
    for (const element type : {element::int32, element::uint32})
        for (const alu op : {alu::add, alu::subtract, alu::mult}) {
            auto i = make(opcode::tensor_tensor, op);
            i.a = row(type, 0, 0, 2, 50);
            i.b = row(type, 0, 1024, 2, 50);
            i.dst = row(type, 0, 2048, 2, 50);
            fill(i.a), fill(i.b);
            run_ok(gpsimd, i);
            expect_codes(i.dst, [&](unsigned p, std::size_t k) {
                const std::uint64_t x = code(i.a, p, k), y = code(i.b, p, k);
                return static_cast<std::uint32_t>(op == alu::add        ? x + y
                                                  : op == alu::subtract ? x - y
                                                                        : x * y);
            });
            run_ok(vector, i);  // through FP32
            expect_values(i.dst, [&](unsigned p, std::size_t k) {
                return reference(op, value(i.a, p, k), value(i.b, p, k));
            });
        }
}

std::uint32_t bit_reference(alu op, std::uint32_t a, std::uint32_t b, unsigned width) {
    std::uint32_t out = 0;
    for (unsigned bit = 0; bit < width; ++bit) {
        const auto of = [](std::uint32_t x, std::int64_t n) {
            return n >= 0 && n < 32 && (x >> n & 1) != 0;
        };
        const bool x = of(a, bit), y = of(b, bit);
        const bool left = of(a, std::int64_t{bit} - b);
        const bool right = std::int64_t{bit} + b < width && of(a, std::int64_t{bit} + b);
        const bool result = op == alu::bitwise_and   ? x && y
                            : op == alu::bitwise_or  ? x || y
                            : op == alu::bitwise_xor ? x != y
                            : op == alu::bitwise_not ? !x
                            : op == alu::shift_left  ? left
                            : op == alu::shift_right ? right
                                                     : x;
        out |= std::uint32_t{result} << bit;
    }
    return out;
}

TEST_F(LanesTest, BitvecOperatorsWorkOnTheBitsOfIntegers) {
    for (const element type : {element::int8, element::uint8, element::int16, element::uint16,
                               element::int32, element::uint32})
        for (unsigned op = 32; op < 38; ++op) {
            const unsigned width = 8 * numerics::size_of(type);
            auto i = make(opcode::tensor_tensor, static_cast<alu>(op));
            i.a = row(type, 0, 0, 2, 60);
            i.b = row(type, 0, 1024, 2, 60);
            i.dst = row(type, 0, 2048, 2, 60);
            fill(i.a), fill(i.b);
            for (std::size_t k = 0; k < 40; ++k)  // shift counts below and above the width
                set(i.b, 0, k, static_cast<std::uint32_t>(k));
            run_ok(vector, i);
            expect_codes(i.dst, [&](unsigned p, std::size_t k) {
                return bit_reference(static_cast<alu>(op), code(i.a, p, k), code(i.b, p, k), width);
            });
        }
    auto i = make(opcode::tensor_scalar, alu::shift_left, alu::bitwise_xor);
    i.a = row(element::uint16, 0, 0, 3, 20);
    i.dst = row(element::int16, 0, 512, 3, 20);
    i.s0 = column(element::uint8, 0, 1024);
    i.s1 = integer(-1);
    fill(i.a);
    const auto shifts = row(element::uint8, 0, 1024, 3, 1);
    for (unsigned p = 0; p < 3; ++p) set(shifts, p, 0, 3 * p);
    run_ok(vector, i);
    expect_codes(i.dst,
                 [&](unsigned p, std::size_t k) { return ~(code(i.a, p, k) << 3 * p) & 0xffff; });
    i.mode = mode::reverse0 | mode::reverse1;  // s0 << x, then s1 ^ that
    run_ok(vector, i);
    expect_codes(i.dst, [&](unsigned p, std::size_t k) {
        return ~bit_reference(alu::shift_left, 3 * p, code(i.a, p, k), 16) & 0xffff;
    });
}

TEST_F(LanesTest, TensorScalarHasTwoOperatorsAndTheirReverses) {
    for (const alu op0 : {alu::add, alu::subtract, alu::mult, alu::is_gt, alu::max})
        for (const alu op1 : {alu::bypass, alu::subtract, alu::mult, alu::is_le})
            for (std::uint16_t m = 0; m < 4; ++m) {
                auto i = make(opcode::tensor_scalar, op0, op1);
                i.mode = m;
                i.a = row(element::fp32, 0, 0, 5, 30);
                i.dst = row(element::fp32, 32, 0, 5, 30);
                i.s0 = column(element::bf16, 64, 512);
                if (op1 != alu::bypass)
                    i.s1 = integer(16777217);  // FP32: 2^24
                else
                    i.mode = static_cast<std::uint16_t>(m & 1);
                const auto s0 = row(element::bf16, 64, 512, 5, 1);
                fill(i.a), fill_small(s0);
                run_ok(vector, i);
                expect_values(i.dst, [&](unsigned p, std::size_t k) {
                    float x = value(i.a, p, k), s = value(s0, p, 0), t = 16777216;
                    if ((i.mode & 1) != 0) std::swap(x, s);
                    x = reference(op0, x, s);
                    if ((i.mode & 2) != 0) std::swap(x, t);
                    return reference(op1, x, t);
                });
            }
}

TEST_F(LanesTest, ScalarTensorTensorAppliesTheScalarFirst) {
    for (const alu op0 : {alu::subtract, alu::mult, alu::min})
        for (const alu op1 : {alu::subtract, alu::add, alu::mult}) {
            auto i = make(opcode::scalar_tensor_tensor, op0, op1);
            i.a = row(element::bf16, 0, 0, 4, 33);
            i.b = row(element::fp32, 0, 1024, 4, 33);
            i.dst = row(element::fp16, 0, 2048, 4, 33);
            i.s0 = constant(0.3f);
            fill(i.a), fill(i.b);
            run_ok(vector, i);
            expect_values(i.dst, [&](unsigned p, std::size_t k) {
                return reference(op1, reference(op0, value(i.a, p, k), 0.3f), value(i.b, p, k));
            });
        }
}

TEST_F(LanesTest, TensorReduceReducesTheFastestDimensionsInOrder) {
    for (const alu op : {alu::add, alu::subtract, alu::mult, alu::max, alu::min, alu::logical_and,
                         alu::logical_or, alu::logical_xor})
        for (unsigned subdim = 1; subdim <= 4; ++subdim) {
            auto i = make(opcode::tensor_reduce, op);
            i.mode = subdim % 2 == 0 ? mode::negate : std::uint16_t{0};
            i.subdim = static_cast<std::uint8_t>(subdim);
            i.a = tile(element::fp32, 0, 4096, 10, {{1, 5}, {7, 3}, {-40, 4}, {100, 2}});
            std::size_t run_of = 1;
            for (unsigned d = 0; d < subdim; ++d) run_of *= i.a.pattern[d].count;
            i.dst = row(element::fp32, 0, 0, 10, 120 / run_of);
            fill_small(i.a);
            run_ok(vector, i);
            SCOPED_TRACE(static_cast<int>(op));
            expect_values(i.dst, [&](unsigned p, std::size_t r) {
                float acc = value(i.a, p, r * run_of);
                for (std::size_t k = 1; k < run_of; ++k)
                    acc = reference(op, acc, value(i.a, p, r * run_of + k));
                return i.mode != 0 ? -acc : acc;
            });
        }
    auto i = make(opcode::tensor_reduce, alu::add);  // one element: unchanged
    i.subdim = 1;
    i.a = tile(element::fp32, 0, 0, 1, {{1, 1}, {1, 3}});
    i.dst = row(element::fp32, 0, 64, 1, 3);
    set(i.a, 0, {-0.0f, 0.0f, 7});
    run_ok(vector, i);
    EXPECT_EQ(code(i.dst, 0, 0), 0x80000000u);
}

TEST_F(LanesTest, TensorReduceOfBitsUsesTheIntegerPatterns) {
    for (const alu op : {alu::bitwise_and, alu::bitwise_or, alu::bitwise_xor}) {
        auto i = make(opcode::tensor_reduce, op);
        i.subdim = 1;
        i.a = tile(element::int16, 0, 0, 3, {{1, 6}, {6, 4}});
        i.dst = row(element::uint16, 0, 1024, 3, 4);
        fill(i.a);
        run_ok(vector, i);
        expect_codes(i.dst, [&](unsigned p, std::size_t r) {
            std::uint32_t acc = code(i.a, p, r * 6);
            for (std::size_t k = 1; k < 6; ++k)
                acc = bit_reference(op, acc, code(i.a, p, r * 6 + k), 16);
            return acc;
        });
    }
}

TEST_F(LanesTest, AccumulatorsLiveBetweenInstructions) {
    auto i = make(opcode::tensor_scalar_reduce, alu::mult);
    i.a = row(element::fp32, 0, 0, 20, 9);
    i.dst = row(element::bf16, 0, 512, 20, 9);
    i.s0 = constant(1.25f);
    auto read = make(opcode::read_accumulator);
    read.dst = row(element::fp32, 32, 0, 20, 1);
    for (const alu op : {alu::add, alu::mult, alu::max, alu::min}) {
        i.reduce_op = static_cast<std::uint8_t>(op);
        std::vector<float> acc(20, op == alu::add    ? 0.0f
                                   : op == alu::mult ? 1.0f
                                   : op == alu::max  ? -infinity
                                                     : infinity);
        for (const unsigned command : {3, 2, 1, 2, 4, 0}) {  // idle keeps the accumulators
            i.reduce_cmd = static_cast<std::uint8_t>(command);
            i.reduce_op = command == 0 ? 0 : static_cast<std::uint8_t>(op);
            i.s1 = command == 4 ? constant(-3) : scalar_operand{};
            fill_small(i.a);
            run_ok(vector, i);
            expect_values(i.dst, [&](unsigned p, std::size_t k) {
                return reference(alu::mult, value(i.a, p, k), 1.25f);
            });
            for (unsigned p = 0; p < 20; ++p) {
                if (command == 1)
                    acc[p] = op == alu::add    ? 0
                             : op == alu::mult ? 1
                             : op == alu::max  ? -infinity
                                               : infinity;
                if (command == 4) acc[p] = -3;
                if (command >= 2)
                    for (std::size_t k = 0; k < 9; ++k)  // before the conversion to BF16
                        acc[p] =
                            reference(op, acc[p], reference(alu::mult, value(i.a, p, k), 1.25f));
            }
            read.mode = command == 2 ? mode::negate : std::uint16_t{0};
            run_ok(vector, read);
            expect_values(read.dst,
                          [&](unsigned p, std::size_t) { return command == 2 ? -acc[p] : acc[p]; });
        }
    }
    EXPECT_EQ(vector.misuse().reduce_without_reset, 0u);
    vector.reset();
    i.reduce_cmd = 2;
    i.reduce_op = 1;
    run_ok(vector, i);
    EXPECT_EQ(vector.misuse().reduce_without_reset, 1u);
    i.reduce_cmd = i.reduce_op = 0;  // idle: undefined on silicon
    run_ok(vector, i);
    i.reduce_cmd = 2;
    i.reduce_op = 1;
    run_ok(vector, i);
    EXPECT_EQ(vector.misuse().reduce_without_reset, 2u);
}

TEST_F(LanesTest, TensorScalarCumulativeIsARunningReduction) {
    for (const alu op1 : {alu::add, alu::subtract, alu::mult, alu::max, alu::min}) {
        std::vector<float> acc(3);
        for (const unsigned command : {3, 2, 4}) {
            auto i = make(opcode::tensor_scalar_cumulative, alu::add, op1);
            i.reduce_cmd = static_cast<std::uint8_t>(command);
            i.a = row(element::bf16, 0, 0, 3, 20);
            i.dst = row(element::fp32, 0, 512, 3, 20);
            i.s0 = constant(0.5f);
            if (command == 4) i.s1 = constant(2);
            fill_small(i.a);
            run_ok(vector, i);
            for (unsigned p = 0; p < 3; ++p) {
                if (command == 3)
                    acc[p] = op1 == alu::mult  ? 1
                             : op1 == alu::max ? -infinity
                             : op1 == alu::min ? infinity
                                               : 0;
                if (command == 4) acc[p] = 2;
                for (std::size_t k = 0; k < 20; ++k) {
                    acc[p] = reference(op1, reference(alu::add, value(i.a, p, k), 0.5f), acc[p]);
                    ASSERT_EQ(code(i.dst, p, k), encoded(element::fp32, acc[p]));
                }
            }
        }
    }
}

TEST_F(LanesTest, TensorTensorScanIsALinearRecurrence) {
    for (std::uint16_t m = 0; m < 4; ++m) {
        auto i = make(opcode::tensor_tensor_scan, m == 0 ? alu::mult : alu::subtract,
                      m == 0 ? alu::add : alu::subtract);
        i.mode = m;
        i.a = row(element::fp32, 0, 0, 6, 40);
        i.b = row(element::bf16, 0, 1024, 6, 40);
        i.dst = row(element::fp32, 0, 2048, 6, 40);
        i.s0 = column(element::fp32, 0, 4096);
        const auto start = row(element::fp32, 0, 4096, 6, 1);
        fill_small(i.a), fill_small(i.b), fill_small(start);
        run_ok(vector, i);
        for (unsigned p = 0; p < 6; ++p) {
            float r = value(start, p, 0);
            for (std::size_t k = 0; k < 40; ++k) {
                const float x = value(i.a, p, k), y = value(i.b, p, k);
                if (m == 0)
                    r = reference(alu::add, reference(alu::mult, x, r), y);
                else {
                    const float t = (m & 1) != 0 ? r - x : x - r;
                    r = (m & 2) != 0 ? y - t : t - y;
                }
                ASSERT_EQ(code(i.dst, p, k), encoded(element::fp32, r)) << p << ' ' << k;
            }
        }
    }
}

TEST_F(LanesTest, ReciprocalIsCorrectlyRounded) {
    auto i = make(opcode::reciprocal);
    i.a = row(element::fp32, 0, 0, 4, 500);
    i.dst = row(element::fp32, 0, 4096, 4, 500);
    fill(i.a);
    run_ok(vector, i);
    expect_values(i.dst, [&](unsigned p, std::size_t k) {
        return reference(alu::reciprocal, value(i.a, p, k), 0);
    });
}

}  // namespace
