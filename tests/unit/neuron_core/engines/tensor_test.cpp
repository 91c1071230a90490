// SPDX-License-Identifier: Apache-2.0
// Rows 21 and 22. Expected values are computed one output at a time, in binary64 (spec 3.7).
#include "tests/unit/neuron_core/engines/engine_fixture.h"

namespace {

using namespace trn;
using namespace trn::test;

class TensorTest : public EngineTest {
protected:
    static constexpr auto psum = isa::space::psum;

    instruction load = make(opcode::load_stationary), multiply = make(opcode::multiply);

    /// acc = RN32(RN64(acc + q)) over k.
    static float sum(std::size_t count, const std::function<double(std::size_t)>& term) {
        float acc = 0;
        for (std::size_t k = 0; k < count; ++k) {
            volatile double exact = double{acc} + term(k);
            acc = static_cast<float>(exact);
        }
        return acc;
    }
    void run_pair() {
        run_ok(tensor, load);
        run_ok(tensor, multiply);
    }
    /// Fills a tile with finite values up to 2^12 that use all mantissa bits of the type.
    void fill_finite(const tile_operand& t) {
        for (unsigned p = 0; p < t.partitions; ++p)
            for (std::size_t k = 0; k < t.elements(); ++k)
                set(t, p, k,
                    encoded(t.type,
                            std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())),
                                       -static_cast<int>(random() % 12) - 27)));
    }
};

TEST_F(TensorTest, ProductsOfAllFloatTypesAddUpInPartitionOrder) {
    const element types[] = {element::fp32,       element::tf32,     element::bf16,
                             element::fp16,       element::fp8_e3m4, element::fp8_e4m3,
                             element::fp8_e4m3fn, element::fp8_e5m2};
    for (const element stationary : types)
        for (const element moving : types) {
            load.a = row(stationary, 0, 0, 40, 9);
            multiply.a = row(moving, 0, 1024, 40, 50);
            multiply.dst = row(element::fp32, 0, 2048, 9, 50, psum);
            fill_finite(load.a), fill_finite(multiply.a);
            const auto is_32_bit = [](element t) { return t <= element::tf32; };
            run_ok(tensor, load);
            const bool both_e4m3 =
                std::set{stationary, moving} == std::set{element::fp8_e4m3, element::fp8_e4m3fn};
            if (is_32_bit(stationary) != is_32_bit(moving) || both_e4m3) {
                expect_refused(tensor, multiply, isa::error::bad_operand, isa::operand::a);
                continue;
            }
            run_ok(tensor, multiply);
            expect_values(multiply.dst, [&](unsigned m, std::size_t n) {
                return sum(40, [&](std::size_t k) {
                    const auto p = static_cast<unsigned>(k);
                    return double{value(load.a, p, m)} * double{value(multiply.a, p, n)};
                });
            });
        }
}

TEST_F(TensorTest, FullSizeIsTheSameAsOneOutputAfterTheOther) {
    for (const element type : {element::bf16, element::fp32}) {
        load.a = row(type, 0, 0, 128, 128);
        multiply.a = row(type, 0, 1024, 128, 100);
        multiply.dst = row(element::fp32, 0, 0, 128, 100, psum);
        fill_finite(load.a), fill_finite(multiply.a);
        run_pair();
        std::vector<std::vector<float>> a, b;
        for (unsigned k = 0; k < 128; ++k) a.push_back(values(load.a, k));
        for (unsigned k = 0; k < 128; ++k) b.push_back(values(multiply.a, k));
        for (unsigned m = 0; m < 128; m += 3)
            for (std::size_t n = 0; n < 100; n += 7)
                ASSERT_EQ(value(multiply.dst, m, n), sum(128, [&](std::size_t k) {
                              return double{a[k][m]} * double{b[k][n]};
                          }));
    }
}

TEST_F(TensorTest, ExtremeProductsAreNotRoundedOnTheWay) {
    // BF16 products beyond FP32's range, below its subnormals, and halfway between two sums.
    load.a = row(element::bf16, 0, 0, 4, 4);
    multiply.a = row(element::bf16, 0, 1024, 4, 1);
    multiply.dst = row(element::fp32, 0, 0, 4, 1, psum);
    const float columns[4][4] = {{0x1p100f, -0x1p100f, 0x1p70f, 1},
                                 {0x1p-100f, 0x1.04p-50f, 1, 1},
                                 {infinity, 1, 1, 1},
                                 {1, 0x1.02p-24f, 0, 0}};
    const float moving[4] = {0x1p60f, 0x1p60f, 0x1p50f, 1};
    for (unsigned k = 0; k < 4; ++k) {
        for (unsigned m = 0; m < 4; ++m) set(load.a, k, m, encoded(element::bf16, columns[m][k]));
        set(multiply.a, k, {moving[k]});
    }
    run_pair();
    expect_values(multiply.dst, [&](unsigned m, std::size_t) {
        return sum(4, [&](std::size_t k) { return double{columns[m][k]} * double{moving[k]}; });
    });
    EXPECT_EQ(value(multiply.dst, 0, 0), infinity) << "2^160 is too large for FP32";
    set(multiply.a, 0, {0});  // Inf x 0
    run_ok(tensor, multiply);
    EXPECT_EQ(code(multiply.dst, 2, 0), canonical_nan);
}

TEST_F(TensorTest, AccumulationAddsToPsumInFp32OrBf16) {
    for (const element type : {element::fp32, element::bf16}) {
        load.a = row(element::fp16, 0, 0, 16, 5);
        multiply.a = row(element::fp16, 0, 1024, 16, 30);
        multiply.dst = row(type, 0, 4096, 5, 30, psum);
        multiply.mode = mode::accumulate;
        fill_finite(load.a), fill_finite(multiply.a), fill_small(multiply.dst);
        std::vector<std::vector<float>> old;
        for (unsigned m = 0; m < 5; ++m) old.push_back(values(multiply.dst, m));
        run_pair();
        expect_values(multiply.dst, [&](unsigned m, std::size_t n) {
            return old[m][n] + sum(16, [&](std::size_t k) {
                       const auto p = static_cast<unsigned>(k);
                       return double{value(load.a, p, m)} * double{value(multiply.a, p, n)};
                   });
        });
    }
}

TEST_F(TensorTest, RowsThatOneSideLacksContributeNothing) {
    load.a = row(element::bf16, 0, 0, 20, 3);
    multiply.a = row(element::bf16, 0, 1024, 12, 8);
    multiply.dst = row(element::fp32, 0, 0, 3, 8, psum);
    fill_small(load.a), fill_small(multiply.a);
    set(load.a, 15, {infinity, NAN, 1});
    run_pair();
    expect_values(multiply.dst, [&](unsigned m, std::size_t n) {
        return sum(12, [&](std::size_t k) {
            const auto p = static_cast<unsigned>(k);
            return double{value(load.a, p, m)} * double{value(multiply.a, p, n)};
        });
    });
}

TEST_F(TensorTest, TilesOfTheArrayUseTheirRowsAndColumns) {
    const std::uint8_t tiles[] = {0xa6 /* 32 x 32 at 64, 32 */, 0x98 /* 64 x 32 at 0, 64 */};
    for (const std::uint8_t tile_field : tiles) {
        const isa::pe_tile t = isa::pe_tile_of(tile_field);
        load.tile = multiply.tile = tile_field;
        load.a = row(element::bf16, t.row, 0, t.rows, t.columns);
        multiply.a = row(element::bf16, t.row, 1024, t.rows, 10);
        multiply.dst = row(element::fp32, t.column, 0, t.columns, 10, psum);
        fill_small(load.a), fill_small(multiply.a);
        run_pair();
        expect_values(multiply.dst, [&](unsigned m, std::size_t n) {
            return sum(t.rows, [&](std::size_t k) {
                const auto p = static_cast<unsigned>(k);
                return double{value(load.a, p, m)} * double{value(multiply.a, p, n)};
            });
        });
    }
    load.tile = 0;
    load.a.place.partition = 0;
    run_ok(tensor, load);
    expect_refused(tensor, multiply, isa::error::bad_operand, isa::operand::none);
}

TEST_F(TensorTest, MultiplyWithoutItsStationaryIsABadOperand) {
    multiply.a = row(element::bf16, 0, 1024, 4, 4);
    multiply.dst = row(element::fp32, 0, 0, 4, 4, psum);
    expect_refused(tensor, multiply, isa::error::bad_operand, isa::operand::none);
    load.a = row(element::bf16, 0, 0, 4, 3);
    run_ok(tensor, load);
    expect_refused(tensor, multiply, isa::error::bad_operand, isa::operand::dst);  // 3 columns
    multiply.dst.partitions = 3;
    run_ok(tensor, multiply);
    tensor.reset();
    expect_refused(tensor, multiply, isa::error::bad_operand, isa::operand::none);
}

TEST_F(TensorTest, DoubleRowContractsOverTwoRowsOfEachPartition) {
    for (const element type : {element::fp8_e4m3, element::fp8_e5m2, element::fp8_e4m3fn}) {
        load.mode = multiply.mode = mode::double_row;
        load.a = tile(type, 0, 0, 100, {{1, 6}, {64, 2}});
        multiply.a = tile(type, 0, 1024, 100, {{1, 20}, {100, 2}});
        multiply.dst = row(element::fp32, 0, 0, 6, 20, psum);
        fill_finite(load.a), fill_finite(multiply.a);
        run_pair();
        expect_values(multiply.dst, [&](unsigned m, std::size_t n) {
            return sum(100, [&](std::size_t k) {
                const auto p = static_cast<unsigned>(k);
                return double{value(load.a, p, m)} * double{value(multiply.a, p, n)} +
                       double{value(load.a, p, 6 + m)} * double{value(multiply.a, p, 20 + n)};
            });
        });
    }
}

TEST_F(TensorTest, SparseRowsMeetTheDenseRowsThatTheirTagsName) {
    for (const auto& [kept, ratio] : std::vector<std::pair<unsigned, unsigned>>{
             {4, 4}, {4, 3}, {4, 2}, {2, 4}, {2, 2}, {1, 4}, {1, 2}}) {
        const unsigned dense = kept * ratio;
        load.mode = multiply.mode =
            static_cast<std::uint16_t>((ratio - 1) << isa::mode::sparse_shift);
        load.imm = multiply.imm = kept;
        load.a = row(element::bf16, 0, 0, 32, 8);
        load.b = row(element::uint16, 0, 512, 32, 2);
        multiply.a =
            tile(element::fp16, 0, 1024, 32, {{1, 12}, {12, static_cast<std::uint16_t>(ratio)}});
        multiply.dst = row(element::fp32, 0, 0, 8, 12, psum);
        fill_finite(load.a), fill_finite(multiply.a);
        for (unsigned k = 0; k < 32; ++k)
            for (unsigned w = 0; w < 2; ++w) {
                std::uint32_t tags = 0;
                for (unsigned j = 0; j < 4; ++j)
                    tags |= static_cast<std::uint32_t>(random() % dense) << 4 * j;
                set(load.b, k, w, tags);
            }
        run_pair();
        expect_values(multiply.dst, [&](unsigned m, std::size_t n) {
            return sum(32, [&](std::size_t k) {
                const auto p = static_cast<unsigned>(k);
                const unsigned r = p / kept * dense + (code(load.b, p, m / 4) >> m % 4 * 4 & 15);
                return double{value(load.a, p, m)} *
                       double{value(multiply.a, r / ratio, r % ratio * 12 + n)};
            });
        });
        if (dense == 16) continue;
        set(load.b, 5, 1, dense << 8);
        expect_refused(tensor, load, isa::error::bad_operand, isa::operand::b);
    }
}

TEST_F(TensorTest, TransposeMovesBits) {
    for (const element type : {element::fp32, element::bf16, element::fp16, element::fp8_e4m3}) {
        load.mode = multiply.mode = mode::transpose;
        load.a = row(type, 0, 0, 60, 33);
        multiply.a = row(type, 0, 4096, 60, 60);  // "identity": its values are ignored
        multiply.dst = row(type == element::fp8_e4m3 ? element::uint16 : type, 0, 0, 33, 60, psum);
        fill(load.a), fill(multiply.a);
        run_pair();
        expect_codes(multiply.dst, [&](unsigned f, std::size_t p) {
            return code(load.a, static_cast<unsigned>(p), f);
        });
        multiply.dst.type = type == element::fp16 ? element::bf16 : element::fp16;
        if (type != element::fp8_e4m3) {
            expect_refused(tensor, multiply, isa::error::bad_operand, isa::operand::dst);
        }
    }
}

TEST_F(TensorTest, TransposesTakeOnlyOperandsThatMayMeet) {
    load.mode = multiply.mode = mode::transpose;
    const auto refused = [&](element stationary, element moving, element result) {
        load.a = row(stationary, 0, 0, 16, 8);
        multiply.a = row(moving, 0, 4096, 16, 16);
        multiply.dst = row(result, 0, 0, 8, 16, psum);
        run_ok(tensor, load);
        expect_refused(tensor, multiply, isa::error::bad_operand, isa::operand::a);
    };
    refused(element::fp32, element::bf16, element::fp32);
    refused(element::tf32, element::fp8_e5m2, element::tf32);
    refused(element::fp16, element::fp32, element::fp16);
    refused(element::fp8_e4m3, element::fp8_e4m3fn, element::uint16);
    refused(element::fp8_e4m3fn, element::fp8_e4m3, element::uint16);
    multiply.a.type = element::fp8_e5m2;
    run_ok(tensor, multiply);
    multiply.a.partitions = 8;  // [8, 16] is no identity of 16 partitions
    expect_refused(tensor, multiply, isa::error::bad_operand, isa::operand::a);
}

TEST_F(TensorTest, MxScalesEachGroupOfThirtyTwo) {
    // Value j of an x4 element with this code.
    const auto part = [](element type, std::uint32_t code, unsigned j) -> double {
        if (type == element::fp8_e4m3fn_x4)
            return decoded(element::fp8_e4m3fn, code >> 8 * j & 255);
        if (type == element::fp8_e5m2_x4) return decoded(element::fp8_e5m2, code >> 8 * j & 255);
        const std::uint32_t e2m1 = code >> 4 * j & 15;
        const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
        return (e2m1 & 8) != 0 ? -magnitudes[e2m1 & 7] : magnitudes[e2m1 & 7];
    };
    const element types[] = {element::fp8_e4m3fn_x4, element::fp8_e5m2_x4, element::fp4_e2m1_x4};
    for (const element stationary : types)
        for (const element moving : types)
            for (const unsigned partitions : {32u, 128u}) {
                load.mode = multiply.mode = mode::mx;
                load.a = row(stationary, 0, 0, partitions, 6);
                multiply.a = row(moving, 0, 512, partitions, 10);
                const unsigned scale_rows = 32 * (partitions / 32 - 1) + 4;
                load.b = row(element::e8m0, 4, 1024, scale_rows, 6);
                multiply.b = row(element::uint8, 12, 2048, scale_rows, 10);
                multiply.dst = row(element::fp32, 0, 0, 6, 10, psum);
                fill(load.a), fill(multiply.a);
                for (const auto& t : {load.b, multiply.b})
                    for (unsigned p = 0; p < scale_rows; ++p)
                        for (std::size_t k = 0; k < t.elements(); ++k)
                            set(t, p, k, 117 + static_cast<std::uint32_t>(random() % 20));
                set(load.b, 1, 2, 255);                      // NaN
                for (unsigned p = 0; p < partitions; ++p) {  // no other NaN or Inf
                    for (unsigned k = 0; k < 6; ++k)
                        set(load.a, p, k, code(load.a, p, k) & 0x77777777);
                    for (unsigned k = 0; k < 10; ++k)
                        set(multiply.a, p, k, code(multiply.a, p, k) & 0xf7f7f7f7);
                }
                if (stationary == element::fp8_e5m2_x4)
                    for (unsigned p = 0; p < partitions; ++p)
                        for (unsigned k = 0; k < 6; ++k)
                            set(load.a, p, k, code(load.a, p, k) & 0xbbbbbbbb);
                if (moving == element::fp8_e5m2_x4)
                    for (unsigned p = 0; p < partitions; ++p)
                        for (unsigned k = 0; k < 10; ++k)
                            set(multiply.a, p, k, code(multiply.a, p, k) & 0xbbbbbbbb);
                run_pair();
                expect_values(multiply.dst, [&](unsigned m, std::size_t n) {
                    return sum(partitions, [&](std::size_t k) {
                        const auto p = static_cast<unsigned>(k);
                        const unsigned at = p / 32 * 32 + p % 32 / 8;
                        const std::uint32_t ea = code(load.b, at, m), eb = code(multiply.b, at, n);
                        if (ea == 255 || eb == 255) return double{NAN};
                        double q = 0;
                        for (unsigned j = 0; j < 4; ++j)
                            q += part(stationary, code(load.a, p, m), j) *
                                 part(moving, code(multiply.a, p, n), j);
                        return std::ldexp(q, static_cast<int>(ea + eb) - 254);
                    });
                });
            }
}

TEST_F(TensorTest, AccumulatingOnBytesThatNoMultiplyWroteIsMisuseBeforeV4) {
    tensor_engine old(memory, isa::generation::v3);
    load.a = row(element::bf16, 0, 0, 4, 4);
    multiply.a = row(element::bf16, 0, 1024, 4, 4);
    multiply.dst = row(element::fp32, 0, 2048, 4, 4, psum);
    multiply.mode = mode::accumulate;
    ASSERT_FALSE(old.execute(load, numbers).fault);
    ASSERT_FALSE(old.execute(multiply, numbers).fault);
    EXPECT_EQ(old.misuse().psum_accumulate_undefined, 1u);
    ASSERT_FALSE(old.execute(multiply, numbers).fault);
    EXPECT_EQ(old.misuse().psum_accumulate_undefined, 1u);
    run_pair();
    EXPECT_EQ(tensor.misuse().psum_accumulate_undefined, 0u);
}

TEST_F(TensorTest, AnUncorrectableWordStopsLoadAndMultiply) {
    load.a = row(element::bf16, 0, 0, 8, 8);
    multiply.a = row(element::bf16, 0, 1024, 8, 8);
    multiply.dst = row(element::fp32, 0, 0, 8, 8, psum);
    memory.broken = {{7, 14}};
    expect_refused(tensor, load, isa::error::memory, isa::operand::a);
    memory.broken = {{3, 1030}};
    run_ok(tensor, load);
    expect_refused(tensor, multiply, isa::error::memory, isa::operand::a);
}

}  // namespace
