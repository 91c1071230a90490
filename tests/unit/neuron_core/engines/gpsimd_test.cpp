// SPDX-License-Identifier: Apache-2.0
// Rows 27 (rsqrt, pow), 47, 50 and 55 to 62.
#include "tests/unit/neuron_core/engines/engine_fixture.h"

namespace {

using namespace trn;
using namespace trn::test;

class GpsimdTest : public EngineTest {
protected:
    std::vector<std::uint32_t> codes(const tile_operand& t, unsigned p) {
        std::vector<std::uint32_t> all;
        for (std::size_t k = 0; k < t.elements(); ++k) all.push_back(code(t, p, k));
        return all;
    }
};

TEST_F(GpsimdTest, RsqrtAndPowAreCorrectlyRounded) {
    auto i = make(opcode::tensor_scalar, alu::rsqrt);
    i.a = row(element::fp32, 0, 0, 8, 300);
    i.dst = row(element::fp32, 0, 4096, 8, 300);
    fill(i.a);
    set(i.a, 0, {0.0f, -0.0f, infinity, -1, 4, 0.25f, 3, 0x1p-149f});
    run_ok(gpsimd, i);
    expect_values(i.dst, [&](unsigned p, std::size_t k) {
        return static_cast<float>(1 / std::sqrt(static_cast<long double>(value(i.a, p, k))));
    });
    i = make(opcode::tensor_tensor, alu::pow);
    i.a = row(element::fp32, 0, 0, 8, 300);
    i.b = row(element::fp32, 0, 2048, 8, 300);
    i.dst = row(element::fp32, 0, 4096, 8, 300);
    fill_small(i.a), fill_small(i.b);
    run_ok(gpsimd, i);
    expect_values(i.dst, [&](unsigned p, std::size_t k) {
        return static_cast<float>(std::pow(static_cast<long double>(value(i.a, p, k)),
                                           static_cast<long double>(value(i.b, p, k))));
    });
}

TEST_F(GpsimdTest, RngAndItsStateAreOneGeneratorPerLane) {
    auto get = make(opcode::rand_get_state), put = make(opcode::rand_set_state);
    get.dst = put.a = row(element::uint32, 0, 0, 40, 6);
    for (unsigned p = 0; p < 40; ++p)  // a state whose next numbers can be computed by hand
        for (unsigned k = 0; k < 6; ++k) set(put.a, p, k, k == 5 ? p : 0);
    run_ok(gpsimd, put);
    auto i = make(opcode::rng);
    i.dst = row(element::int32, 64, 0, 40, 3);
    run_ok(gpsimd, i);
    expect_codes(i.dst, [&](unsigned p, std::size_t k) {
        return p + 362437 * (static_cast<std::uint32_t>(k) + 1);
    });
    run_ok(gpsimd, get);
    expect_codes(get.dst, [&](unsigned p, std::size_t k) { return k == 5 ? p + 3 * 362437 : 0; });
}

TEST_F(GpsimdTest, IotaCountsInFourDimensionsAndWraps) {
    for (const element type : {element::int32, element::fp32, element::uint8, element::bf16}) {
        auto i = make(opcode::iota);
        i.dst = row(type, 32, 0, 20, 48);
        i.pattern = {-100, 7, {1, 10, -5, 1000}, {2, 3, 4, 2}};
        run_ok(gpsimd, i);
        expect_values(i.dst, [&](unsigned p, std::size_t k) {
            const int at = static_cast<int>(k);
            return static_cast<float>(-100 + 7 * static_cast<int>(p) + at % 2 + at / 2 % 3 * 10 -
                                      at / 6 % 4 * 5 + at / 24 * 1000);
        });
    }
    auto i = make(opcode::iota);
    i.dst = row(element::int32, 0, 0, 2, 3);
    i.pattern = {0x7fffffff, 1, {0x01000001, 0, 0, 0}, {3, 1, 1, 1}};
    run_ok(gpsimd, i);
    expect_codes(i.dst, [](unsigned p, std::size_t k) {
        return static_cast<std::uint32_t>(0x7fffffffull + p + k * 0x01000001ull);
    });
}

TEST_F(GpsimdTest, AffineSelectComparesThePatternWithZero) {
    for (const alu op :
         {alu::is_equal, alu::not_equal, alu::is_gt, alu::is_ge, alu::is_lt, alu::is_le}) {
        auto i = make(opcode::affine_select, op);
        i.a = row(element::fp16, 0, 0, 16, 16);
        i.dst = row(element::fp16, 0, 512, 16, 16);
        i.s0 = constant(-65504);
        i.pattern = {0, 1, {-1, 0, 0, 0}, {16, 1, 1, 1}};
        fill(i.a);  // NaNs keep their bits
        run_ok(gpsimd, i);
        expect_codes(i.dst, [&](unsigned p, std::size_t k) {
            const int v = static_cast<int>(p) - static_cast<int>(k);
            const bool in = op == alu::is_equal    ? v == 0
                            : op == alu::not_equal ? v != 0
                            : op == alu::is_gt     ? v > 0
                            : op == alu::is_ge     ? v >= 0
                            : op == alu::is_lt     ? v < 0
                                                   : v <= 0;
            return in ? code(i.a, p, k) : 0xfbffu;
        });
    }
}

TEST_F(GpsimdTest, LocalGatherSharesIndicesAmongSixteenPartitions) {
    auto i = make(opcode::local_gather);
    i.a = row(element::bf16, 0, 0, 48, 100);
    i.b = row(element::uint16, 0, 1024, 48, 2);
    i.imm = 4;
    i.s0 = integer(21);
    i.dst = row(element::bf16, 0, 2048, 48, 84);
    fill(i.a);
    for (unsigned p = 0; p < 48; ++p)
        for (unsigned k = 0; k < 2; ++k) set(i.b, p, k, static_cast<std::uint32_t>(random() % 97));
    run_ok(gpsimd, i);
    expect_codes(i.dst, [&](unsigned p, std::size_t k) {
        const auto j = static_cast<unsigned>(k / 4);
        return code(i.a, p, code(i.b, p / 16 * 16 + j % 16, j / 16) + k % 4);
    });
    set(i.b, 20, 0, 97);  // the last element would be number 101
    expect_refused(gpsimd, i, isa::error::indirect_oob, isa::operand::b);
}

TEST_F(GpsimdTest, GatherNTakesElementsOfItsOwnPartition) {
    auto i = make(opcode::gather_n);
    i.a = tile(element::uint8, 0, 0, 5, {{3, 10}, {40, 4}});
    i.b = row(element::uint32, 0, 1024, 5, 60);
    i.dst = row(element::uint8, 0, 2048, 5, 60);
    fill(i.a);
    for (unsigned p = 0; p < 5; ++p)
        for (unsigned k = 0; k < 60; ++k) set(i.b, p, k, static_cast<std::uint32_t>(random() % 40));
    run_ok(gpsimd, i);
    expect_codes(i.dst, [&](unsigned p, std::size_t k) { return code(i.a, p, code(i.b, p, k)); });
    set(i.b, 4, 59, 40);
    expect_refused(gpsimd, i, isa::error::indirect_oob, isa::operand::b);
}

TEST_F(GpsimdTest, PartitionReduceGoesInPartitionOrder) {
    for (const alu op : {alu::add, alu::average, alu::max}) {
        auto i = make(opcode::partition_reduce, op);
        i.a = row(element::fp32, 0, 0, 96, 20);
        i.dst = row(element::fp32, 32, 1024, 1, 20);
        fill(i.a);
        for (unsigned p = 0; p < 96; ++p)
            for (std::size_t k = 0; k < 19; ++k)
                set(i.a, p, k,
                    bits_of(
                        std::ldexp(static_cast<float>(random() % 999), static_cast<int>(p % 30))));
        run_ok(gpsimd, i);
        expect_values(i.dst, [&](unsigned, std::size_t k) {
            float acc = op == alu::max ? -infinity : 0;
            for (unsigned p = 0; p < 96; ++p) {
                const float x = value(i.a, p, k);
                if (op != alu::max)
                    acc += x;
                else if (std::isnan(x) || std::isnan(acc))
                    acc = NAN;
                else
                    acc = std::max(acc, x);
            }
            return op == alu::average ? acc / 96 : acc;
        });
    }
    for (const alu op : {alu::bitwise_and, alu::bitwise_or}) {
        auto i = make(opcode::partition_reduce, op);
        i.a = row(element::int16, 0, 0, 3, 20);
        i.dst = row(element::int16, 0, 1024, 1, 20);
        fill(i.a);
        run_ok(gpsimd, i);
        expect_codes(i.dst, [&](unsigned, std::size_t k) {
            const std::uint32_t x = code(i.a, 0, k), y = code(i.a, 1, k), z = code(i.a, 2, k);
            return op == alu::bitwise_and ? x & y & z : x | y | z;
        });
    }
}

TEST_F(GpsimdTest, SequenceBoundsFindsTheRunAroundEachElement) {
    for (const element type : {element::fp32, element::int32}) {
        auto i = make(opcode::sequence_bounds);
        i.a = row(type, 0, 0, 1, 9);
        i.dst = tile(type, 0, 512, 1, {{1, 9}, {9, 2}});
        set(i.a, 0, {0, 1, 1, 2, 2, 2, 0, 3, 3});
        run_ok(gpsimd, i);  // the specification's example
        EXPECT_EQ(values(i.dst, 0), (std::vector<float>{9, 1, 1, 3, 3, 3, 9, 7, 7,  //
                                                        -1, 3, 3, 6, 6, 6, -1, 9, 9}));
    }
}

TEST_F(GpsimdTest, SequenceBoundsComparesIdsInTheirOwnType) {
    auto i = make(opcode::sequence_bounds);
    i.a = row(element::int32, 0, 0, 1, 4);
    i.dst = tile(element::int32, 0, 512, 1, {{1, 4}, {4, 2}});
    const std::uint32_t ids[] = {1u << 24, (1u << 24) + 1, (1u << 24) + 1, 0x8000'0000};
    for (std::size_t k = 0; k < 4; ++k) set(i.a, 0, k, ids[k]);
    run_ok(gpsimd, i);  // in FP32 the first three are equal
    EXPECT_EQ(values(i.dst, 0), (std::vector<float>{0, 1, 1, 3, 1, 3, 3, 4}));
    i.a.type = element::fp32;
    set(i.a, 0, {0.0f, -0.0f, NAN, NAN});
    run_ok(gpsimd, i);
    EXPECT_EQ(values(i.dst, 0), (std::vector<float>{4, 4, 2, 3, -1, -1, 3, 4}));
}

TEST_F(GpsimdTest, NonzeroCountListsIndicesOnTheFirstPartitionOfEachProcessor) {
    auto i = make(opcode::nonzero_count);
    i.a = row(element::fp32, 0, 0, 40, 6);
    i.dst = row(element::int32, 0, 512, 40, 7);
    i.imm = 10;
    i.s0 = integer(-1);
    for (unsigned p = 0; p < 40; ++p) set(i.a, p, {0, 1, -0.0f, NAN, 0, 0.5f});
    set(i.a, 32, {0, 0, 0, 0, 0, 0});
    fill(i.dst);
    const auto untouched = codes(i.dst, 17);
    run_ok(gpsimd, i);
    const auto none = static_cast<std::uint32_t>(-1);
    for (const unsigned p : {0u, 16u})
        EXPECT_EQ(codes(i.dst, p), (std::vector<std::uint32_t>{11, 13, 15, none, none, none, 3}));
    EXPECT_EQ(codes(i.dst, 32),
              (std::vector<std::uint32_t>{none, none, none, none, none, none, 0}));
    EXPECT_EQ(codes(i.dst, 17), untouched);
}

TEST_F(GpsimdTest, TopkIsAscendingAndPutsTheLowerIndexOfEqualsLast) {
    auto i = make(opcode::topk);
    i.a = row(element::bf16, 0, 0, 32, 5);
    i.imm = 70;  // the last ten values are not used
    i.dst = row(element::bf16, 0, 512, 32, 9);
    i.b = row(element::uint32, 0, 1024, 32, 9);
    for (unsigned p = 0; p < 32; ++p)
        for (std::size_t k = 0; k < 5; ++k)
            set(i.a, p, k, encoded(element::bf16, static_cast<float>(random() % 20) - 10));
    for (unsigned p = 6; p < 16; ++p) set(i.a, p, 4, encoded(element::bf16, 1000));
    run_ok(gpsimd, i);
    for (unsigned p = 0; p < 32; ++p) {
        std::vector<std::pair<float, int>> all;  // equal values: the lower index ranks as larger
        for (int j = 0; j < 70; ++j)
            all.emplace_back(value(i.a, p / 16 * 16 + static_cast<unsigned>(j) % 16,
                                   static_cast<std::size_t>(j) / 16),
                             -j);
        std::ranges::sort(all);
        for (std::size_t k = 0; k < 9; ++k) {
            EXPECT_EQ(value(i.dst, p, k), all[61 + k].first);
            EXPECT_EQ(code(i.b, p, k), static_cast<std::uint32_t>(-all[61 + k].second));
        }
    }
}

TEST_F(GpsimdTest, TopkReportsANanThatItWrites) {
    auto i = make(opcode::topk);
    i.a = row(element::bf16, 0, 0, 16, 1);
    i.imm = 16;
    i.dst = row(element::bf16, 0, 512, 16, 16);
    i.b = row(element::uint32, 0, 1024, 16, 16);
    for (unsigned p = 0; p < 16; ++p) set(i.a, p, 0, 0);
    numbers.nan_detect = true;
    run_ok(gpsimd, i);
    EXPECT_FALSE(last.numerical);
    set(i.a, 3, 0, 0x7fc0);
    run_ok(gpsimd, i);
    EXPECT_TRUE(last.numerical);
    i.dst = row(element::bf16, 0, 512, 16, 15);  // the NaN is the smallest
    i.b = row(element::uint32, 0, 1024, 16, 15);
    run_ok(gpsimd, i);
    EXPECT_FALSE(last.numerical);
}

}  // namespace
