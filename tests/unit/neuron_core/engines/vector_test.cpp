// SPDX-License-Identifier: Apache-2.0
// Rows 34, 35 and 37 to 51.
#include "tests/unit/neuron_core/engines/engine_fixture.h"

namespace {

using namespace trn;
using namespace trn::test;

class VectorTest : public EngineTest {
protected:
    std::vector<std::uint32_t> codes(const tile_operand& t, unsigned p) {
        std::vector<std::uint32_t> all;
        for (std::size_t k = 0; k < t.elements(); ++k) all.push_back(code(t, p, k));
        return all;
    }
    float accumulator(unsigned p) const { return vector.accumulator(p); }
};

TEST_F(VectorTest, TransposeExchangesPartitionsAndElementsOfEachBlock) {
    for (const element type : {element::uint8, element::bf16, element::fp32, element::uint64}) {
        auto i = make(opcode::transpose_32);
        i.a = row(type, 0, 0, 64, 96);
        i.dst = row(type, 64, 0, 64, 96);
        fill(i.a);
        run_ok(vector, i);
        for (unsigned p = 0; p < 64; ++p)
            for (unsigned k = 0; k < 96; ++k) {
                const unsigned block_row = p / 32, block_column = k / 32;
                ASSERT_EQ(code(i.dst, p, k),
                          code(i.a, block_row * 32 + k % 32, block_column * 32 + p % 32));
            }
        i.a = row(type, 0, 0, 5, 12);  // one smaller block
        i.dst = row(type, 32, 4096, 12, 5);
        run_ok(vector, i);
        expect_codes(i.dst, [&](unsigned p, std::size_t k) {
            return code(i.a, static_cast<unsigned>(k), p);
        });
    }
}

TEST_F(VectorTest, TransposeInPlaceReadsAllBeforeItWrites) {
    auto i = make(opcode::transpose_32);
    i.a = i.dst = row(element::bf16, 0, 0, 32, 32);
    fill(i.a);
    std::vector<std::vector<std::uint32_t>> before;
    for (unsigned p = 0; p < 32; ++p) before.push_back(codes(i.a, p));
    run_ok(vector, i);
    expect_codes(i.dst, [&](unsigned p, std::size_t k) { return before[k][p]; });
}

TEST_F(VectorTest, ShuffleMovesPartitionsWithinEachQuadrant) {
    auto i = make(opcode::shuffle);
    i.a = row(element::fp16, 0, 0, 96, 11);
    i.dst = row(element::fp16, 0, 1024, 96, 11);
    for (unsigned m = 0; m < 32; ++m) i.shuffle[m] = static_cast<std::uint8_t>(31 - m);
    i.shuffle[3] = 255;
    i.shuffle[4] = 255;
    i.shuffle[7] = 0;
    fill(i.a), fill(i.dst);
    std::vector<std::vector<std::uint32_t>> old;
    for (unsigned p = 0; p < 96; ++p) old.push_back(codes(i.dst, p));
    run_ok(vector, i);
    expect_codes(i.dst, [&](unsigned p, std::size_t k) {
        const unsigned from = i.shuffle[p % 32];
        return from == 255 ? old[p][k] : code(i.a, p / 32 * 32 + from, k);
    });
    auto in_place = i;  // part of a quadrant: the other partitions are still sources
    in_place.a = in_place.dst = row(element::fp16, 96, 0, 8, 11);
    const auto quadrant = row(element::fp16, 96, 0, 32, 11);
    fill(quadrant);
    for (unsigned p = 0; p < 32; ++p) old[p] = codes(quadrant, p);
    run_ok(vector, in_place);
    expect_codes(quadrant, [&](unsigned p, std::size_t k) {
        return p >= 8 || i.shuffle[p] == 255 ? old[p][k] : old[i.shuffle[p]][k];
    });
}

TEST_F(VectorTest, ExponentialSubtractsTheMaximumAndAccumulates) {
    auto i = make(opcode::exponential);
    i.reduce_op = static_cast<std::uint8_t>(alu::add);
    i.a = row(element::bf16, 0, 0, 10, 64);
    i.dst = row(element::fp32, 0, 1024, 10, 64);
    i.s0 = column(element::fp32, 0, 4096);
    const auto maxima = row(element::fp32, 0, 4096, 10, 1);
    fill_small(i.a), fill_small(maxima);
    for (const unsigned command : {3, 4}) {
        i.reduce_cmd = static_cast<std::uint8_t>(command);
        if (command == 4) i.s1 = constant(100);
        run_ok(vector, i);
        for (unsigned p = 0; p < 10; ++p) {
            float sum = command == 4 ? 100 : 0;
            for (std::size_t k = 0; k < 64; ++k) {
                const float x = value(i.a, p, k) - value(maxima, p, 0);
                const auto want = static_cast<float>(std::exp(static_cast<long double>(x)));
                ASSERT_EQ(value(i.dst, p, k), want);
                sum += want;
            }
            ASSERT_EQ(accumulator(p), sum);
        }
    }
}

TEST_F(VectorTest, BnStatsDescribesEvenAndOddElements) {
    for (const std::size_t n : {1, 2, 7, 512}) {
        auto i = make(opcode::bn_stats);
        i.a = row(element::fp32, 0, 0, 4, n);
        i.dst = row(element::fp32, 0, 4096, 4, 6);
        fill_small(i.a);
        run_ok(vector, i);
        for (unsigned p = 0; p < 4; ++p)
            for (std::size_t half = 0; half < 2; ++half) {
                volatile float sum = 0, m2 = 0;
                float count = 0;
                for (std::size_t k = half; k < n; k += 2, ++count) sum = sum + value(i.a, p, k);
                const float mean = sum / count;
                for (std::size_t k = half; k < n; k += 2) {
                    volatile float difference = value(i.a, p, k) - mean;
                    volatile float square = difference * difference;
                    m2 = m2 + square;
                }
                ASSERT_EQ(value(i.dst, p, 3 * half), count);
                ASSERT_EQ(code(i.dst, p, 3 * half + 1), encoded(element::fp32, mean));
                ASSERT_EQ(value(i.dst, p, 3 * half + 2), m2);
            }
        if (n == 1) {
            EXPECT_EQ(codes(i.dst, 0), (std::vector<std::uint32_t>{bits_of(1), code(i.a, 0, 0), 0,
                                                                   0, canonical_nan, 0}));
        }
    }
}

TEST_F(VectorTest, BnAggrCombinesTriples) {
    auto i = make(opcode::bn_aggr);
    i.a = row(element::fp32, 0, 0, 3, 12);
    i.dst = row(element::fp32, 0, 4096, 3, 2);
    for (unsigned p = 0; p < 3; ++p)
        set(i.a, p, {8, 1.5f, 3, 8, -0.25f, 7.5f, 4, 2, 0.125f, 5, 0.3f, 9});
    run_ok(vector, i);
    const float c[] = {8, 8, 4, 5}, m[] = {1.5f, -0.25f, 2, 0.3f}, s[] = {3, 7.5f, 0.125f, 9};
    volatile float sum = 0, n = 0, m2 = 0, spread = 0;
    for (int t = 0; t < 4; ++t) {
        volatile float product = c[t] * m[t];
        sum = sum + product;
        n = n + c[t];
    }
    const float mean = sum / n;
    for (int t = 0; t < 4; ++t) {
        volatile float d = m[t] - mean;
        volatile float square = d * d;
        volatile float weighted = c[t] * square;
        m2 = m2 + s[t];
        spread = spread + weighted;
    }
    for (unsigned p = 0; p < 3; ++p) {
        EXPECT_EQ(value(i.dst, p, 0), mean);
        EXPECT_EQ(value(i.dst, p, 1), (m2 + spread) / n);
    }
}

TEST_F(VectorTest, Max8SortsTheLargestAndLeavesNansLast) {
    auto i = make(opcode::max8);
    i.a = row(element::fp32, 0, 0, 3, 40);
    i.dst = row(element::fp32, 0, 4096, 3, 8);
    for (unsigned p = 0; p < 3; ++p)
        for (std::size_t k = 0; k < 40; ++k)
            set(i.a, p, k, bits_of(static_cast<float>(random() % 12) - 6));
    set(i.a, 1, 3, 0xffc00001);
    for (std::size_t k = 0; k < 34; ++k) set(i.a, 2, k, canonical_nan);
    run_ok(vector, i);
    for (unsigned p = 0; p < 3; ++p) {
        std::vector<float> numbers_only;
        for (const float x : values(i.a, p))
            if (!std::isnan(x)) numbers_only.push_back(x);
        std::ranges::sort(numbers_only, std::greater<>());
        for (std::size_t j = 0; j < 8; ++j) {
            if (j >= numbers_only.size())
                EXPECT_EQ(code(i.dst, p, j), canonical_nan);
            else
                EXPECT_EQ(value(i.dst, p, j), numbers_only[j]);
        }
    }
}

TEST_F(VectorTest, FindIndex8TakesEachElementOnce) {
    auto load = make(opcode::match_load);
    load.a = row(element::bf16, 0, 0, 2, 8);
    set(load.a, 0, {5, 5, 5, 1, 9, 0, 5, -2});
    set(load.a, 1, {NAN, 1, 2, 3, 4, 5, 6, 7});
    run_ok(vector, load);
    auto i = make(opcode::find_index8);
    i.a = row(element::fp32, 32, 0, 2, 10);  // lane i serves the i-th partition of any tile
    set(i.a, 0, {1, 5, 1, -0.0f, 5, 7, 5, -2, 1, 2});
    set(i.a, 1, {NAN, 7, 6, 5, 4, 3, 2, 1, 0, 0});
    for (const element type : {element::uint16, element::uint32}) {
        const std::uint32_t none = type == element::uint16 ? 0xffffu : 0xffffffffu;
        i.dst = row(type, 0, 512, 2, 8);
        run_ok(vector, i);
        EXPECT_EQ(codes(i.dst, 0), (std::vector<std::uint32_t>{1, 4, 6, 0, none, 3, none, 7}));
        EXPECT_EQ(codes(i.dst, 1), (std::vector<std::uint32_t>{none, 7, 6, 5, 4, 3, 2, 1}));
    }
}

TEST_F(VectorTest, MatchReplace8WorksBackwardsAndReportsIndices) {
    auto load = make(opcode::match_load);
    load.a = row(element::fp32, 0, 0, 1, 8);
    set(load.a, 0, {5, 5, 3, 3, 3, 0, 77, 88});
    run_ok(vector, load);
    auto i = make(opcode::match_replace8);
    i.a = row(element::fp32, 0, 512, 1, 8);
    i.dst = row(element::fp32, 0, 1024, 1, 8);
    i.b = row(element::uint32, 0, 2048, 1, 8);
    i.imm = bits_of(-9);
    set(i.a, 0, {3, 5, 3, 4, 5, 0, 0, 5});
    set(i.a, 0, 3, 0xff800001);  // a NaN keeps its bits
    run_ok(vector, i);
    EXPECT_EQ(codes(i.dst, 0),
              (std::vector<std::uint32_t>{bits_of(-9), bits_of(-9), bits_of(-9), 0xff800001,
                                          bits_of(-9), bits_of(-9), 0, bits_of(5)}));
    const std::uint32_t none = ~0u;  // j = 4 and 3 take the threes before j = 2; j = 1 before j = 0
    EXPECT_EQ(codes(i.b, 0), (std::vector<std::uint32_t>{4, 1, none, 2, 0, 5, none, none}));
    i.b = {};
    i.dst.type = element::int16;
    run_ok(vector, i);
    EXPECT_EQ(values(i.dst, 0), (std::vector<float>{-9, -9, -9, 0, -9, -9, 0, 5}));
}

TEST_F(VectorTest, RangeSelectKeepsElementsWhoseIndexIsInRange) {
    for (const element to : {element::fp32, element::bf16}) {
        auto i = make(opcode::range_select, alu::is_ge, alu::is_lt);
        i.reduce_op = static_cast<std::uint8_t>(alu::max);
        i.reduce_cmd = 3;
        i.imm = static_cast<std::uint32_t>(-4);
        i.a = row(element::fp32, 0, 0, 4, 30);
        i.dst = row(to, 0, 1024, 4, 30);
        i.s0 = column(element::fp32, 0, 4096);
        i.s1 = constant(12);
        const auto low = row(element::fp32, 0, 4096, 4, 1);
        for (unsigned p = 0; p < 4; ++p) set(low, p, {static_cast<float>(3 * p) - 3});
        fill_small(i.a);
        run_ok(vector, i);
        const float out = -std::numeric_limits<float>::max();
        for (unsigned p = 0; p < 4; ++p) {
            float largest = -infinity;
            for (int k = 0; k < 30; ++k) {
                const bool in = k - 4 >= static_cast<int>(3 * p) - 3 && k - 4 < 12;
                const float x = in ? value(i.a, p, static_cast<std::size_t>(k)) : out;
                ASSERT_EQ(code(i.dst, p, static_cast<std::size_t>(k)), encoded(to, x));
                largest = std::max(largest, x);
            }
            EXPECT_EQ(accumulator(p), largest);
        }
    }
}

TEST_F(VectorTest, SelectReduceTakesTheElementOrTheScalar) {
    for (const element predicate : {element::uint8, element::int16})
        for (const bool reversed : {false, true}) {
            auto i = make(opcode::select_reduce);
            i.mode = reversed ? mode::predicate_reversed : std::uint16_t{0};
            i.reduce_op = static_cast<std::uint8_t>(alu::max);
            i.reduce_cmd = 3;
            i.a = row(element::bf16, 0, 0, 3, 40);
            i.b = row(predicate, 0, 1024, 3, 40);
            i.dst = row(element::bf16, 0, 2048, 3, 40);
            i.s0 = constant(-2.3f);
            fill_small(i.a);
            for (unsigned p = 0; p < 3; ++p)
                for (std::size_t k = 0; k < 40; ++k)
                    set(i.b, p, k, static_cast<std::uint32_t>(random() % 3));
            run_ok(vector, i);
            for (unsigned p = 0; p < 3; ++p) {
                float largest = -infinity;
                for (std::size_t k = 0; k < 40; ++k) {
                    const float x = (code(i.b, p, k) != 0) != reversed ? value(i.a, p, k) : -2.3f;
                    ASSERT_EQ(code(i.dst, p, k), encoded(element::bf16, x));
                    largest = std::max(largest, x);  // before the conversion
                }
                EXPECT_EQ(accumulator(p), largest);
            }
        }
}

// ---- Random numbers, computed independently of the model

std::uint64_t mix(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}
struct xorwow_reference {
    std::uint32_t s[6];
    explicit xorwow_reference(std::uint64_t first) {
        for (unsigned i = 0; i < 6; ++i) s[i] = static_cast<std::uint32_t>(mix(first + i) >> 32);
    }
    std::uint32_t operator()() {
        std::uint32_t t = s[0];
        t ^= t >> 2;
        std::memmove(s, s + 1, 4 * sizeof s[0]);
        t ^= t << 1;
        s[4] = s[4] ^ (s[4] << 4) ^ t;
        return (s[5] += 362437) + s[4];
    }
};
struct lfsr_reference {
    std::uint32_t state;
    lfsr_reference(std::uint32_t seed, std::uint32_t lane)
        : state(static_cast<std::uint32_t>(mix(std::uint64_t{seed} << 32 | lane) >> 32)) {
        if (state == 0) state = 1;
    }
    std::uint32_t operator()() {
        for (int i = 0; i < 32; ++i) {
            const bool out = (state & 1) != 0;
            state >>= 1;
            if (out) state ^= 0x80200003;
        }
        return state;
    }
};

TEST_F(VectorTest, RngOfV4HasFourXorwowGeneratorsPerLane) {
    auto i = make(opcode::rng);
    i.dst = row(element::uint32, 0, 0, 100, 10);
    std::vector<std::vector<xorwow_reference>> lanes;
    for (std::uint64_t p = 0; p < 128; ++p) {
        lanes.emplace_back();
        for (unsigned g = 0; g < 4; ++g) lanes[p].emplace_back((6 * p << 32) + 6 * g);
    }
    for (const element type : {element::uint32, element::int8}) {
        i.dst.type = type;  // the counter j mod 4 restarts
        run_ok(vector, i);
        for (unsigned p = 0; p < 100; ++p)
            for (std::size_t k = 0; k < 10; ++k) {
                const std::uint32_t mask = type == element::int8 ? 0xff : ~0u;
                ASSERT_EQ(code(i.dst, p, k), lanes[p][k % 4]() & mask);
            }
    }
    vector.reset();
    i.dst = row(element::uint32, 0, 0, 1, 1);
    run_ok(vector, i);
    EXPECT_EQ(code(i.dst, 0, 0), xorwow_reference(0)());
}

TEST_F(VectorTest, RngOfV3IsAnLfsrPerLaneThatSeedsAgain) {
    vector_engine old(memory, isa::generation::v3);
    auto i = make(opcode::rng);
    i.dst = row(element::uint16, 32, 0, 20, 7);
    auto seed = make(opcode::set_rng_seed);
    seed.a = row(element::uint32, 0, 4096, 1, 1);
    set(seed.a, 0, 0, 12345);
    for (const std::uint32_t s : {0u, 12345u}) {
        if (s != 0) {
            ASSERT_FALSE(old.execute(seed, numbers).fault);
        }
        ASSERT_FALSE(old.execute(i, numbers).fault);
        for (unsigned p = 0; p < 20; ++p) {
            lfsr_reference lane(s, p);
            for (std::size_t k = 0; k < 7; ++k) ASSERT_EQ(code(i.dst, p, k), lane() & 0xffff);
        }
    }
}

TEST_F(VectorTest, GeneratorStatesAreSavedAndRestored) {
    auto get = make(opcode::rand_get_state), put = make(opcode::rand_set_state);
    get.dst = put.a = row(element::uint32, 0, 0, 50, 24);
    auto i = make(opcode::rng);
    i.dst = row(element::uint32, 64, 4096, 50, 9);
    run_ok(vector, get);
    for (unsigned k = 0; k < 24; ++k)
        EXPECT_EQ(code(get.dst, 3, k), static_cast<std::uint32_t>(mix((18ull << 32) + k) >> 32));
    run_ok(vector, i);
    const auto first = codes(i.dst, 49);
    run_ok(vector, i);
    EXPECT_NE(codes(i.dst, 49), first);
    run_ok(vector, put);
    run_ok(vector, i);
    EXPECT_EQ(codes(i.dst, 49), first);
}

TEST_F(VectorTest, Rand2IsUniformBetweenItsLimits) {
    auto i = make(opcode::rand2);
    i.dst = row(element::fp32, 0, 0, 8, 200);
    i.s0 = constant(-1.5f);
    i.s1 = constant(2.25f);
    run_ok(vector, i);
    for (std::uint64_t p = 0; p < 8; ++p) {
        std::vector<xorwow_reference> lane;
        for (unsigned g = 0; g < 4; ++g) lane.emplace_back((6 * p << 32) + 6 * g);
        for (std::size_t k = 0; k < 200; ++k) {
            const double u = std::ldexp(static_cast<double>(lane[k % 4]() >> 8), -24);
            const float product = static_cast<float>(u * 3.75);
            ASSERT_EQ(value(i.dst, static_cast<unsigned>(p), k), -1.5f + product);
        }
    }
}

TEST_F(VectorTest, DropoutDropsOrKeepsByItsRate) {
    for (const bool keep : {false, true})
        for (const float rate : {0.0f, 0.25f, 1.0f, NAN}) {
            vector.reset();
            auto i = make(opcode::dropout);
            i.mode = keep ? mode::keep_rate : std::uint16_t{0};
            i.a = row(element::fp16, 0, 0, 6, 100);
            i.dst = row(element::fp16, 0, 1024, 6, 100);
            i.s0 = constant(rate);
            fill(i.a);
            run_ok(vector, i);
            for (std::uint64_t p = 0; p < 6; ++p) {
                std::vector<xorwow_reference> lane;
                for (unsigned g = 0; g < 4; ++g) lane.emplace_back((6 * p << 32) + 6 * g);
                for (std::size_t k = 0; k < 100; ++k) {
                    const bool below = std::ldexp(static_cast<double>(lane[k % 4]()), -32) < rate;
                    const auto q = static_cast<unsigned>(p);
                    const bool drops = below != keep && !std::isnan(rate);
                    ASSERT_EQ(code(i.dst, q, k), drops ? 0 : code(i.a, q, k));
                }
            }
        }
}

// ---- MX

TEST_F(VectorTest, QuantizeMxReportsTheNansOfAGroupThatIsNotFinite) {
    for (const element scale : {element::e8m0, element::uint8}) {
        auto i = make(opcode::quantize_mx);
        i.a = row(element::bf16, 0, 0, 32, 4);
        i.dst = row(element::fp8_e4m3fn_x4, 0, 1024, 32, 1);
        i.b = row(scale, 0, 2048, 4, 1);
        for (unsigned p = 0; p < 32; ++p)
            for (std::size_t k = 0; k < 4; ++k) set(i.a, p, k, 0x3f80);
        numbers.nan_detect = true;
        run_ok(vector, i);
        EXPECT_FALSE(last.numerical);
        set(i.a, 17, 3, 0x7f80);  // Inf
        run_ok(vector, i);
        EXPECT_TRUE(last.numerical);
    }
}

TEST_F(VectorTest, QuantizeMxScalesGroupsOfEightPartitionsTimesFour) {
    for (const element to : {element::fp8_e4m3fn_x4, element::fp8_e5m2_x4})
        for (const bool ocp : {false, true})
            for (const unsigned partitions : {32u, 96u}) {
                constexpr std::size_t columns = 6;
                auto i = make(opcode::quantize_mx);
                i.mode = ocp ? mode::ocp : std::uint16_t{0};
                i.a = row(element::bf16, 0, 0, partitions, 4 * columns);
                i.dst = row(to, 0, 1024, partitions, columns);
                i.b = row(element::e8m0, 36, 2048, 32 * (partitions / 32 - 1) + 4, columns);
                if (partitions == 96) i.b.place.partition = 4;
                for (unsigned p = 0; p < partitions; ++p)
                    for (std::size_t k = 0; k < 4 * columns; ++k)
                        set(i.a, p, k,
                            encoded(element::bf16,
                                    std::ldexp(static_cast<float>(random() % 2001) - 1000,
                                               static_cast<int>(random() % 20) - 10)));
                for (unsigned p = 8; p < 16; ++p)
                    for (std::size_t k = 0; k < 4; ++k) set(i.a, p, k, 0);  // a group of zeroes
                set(i.a, 17, 9, 0x7f80);                                    // Inf
                set(i.a, 25, 6, 1);                                         // subnormal
                run_ok(vector, i);
                const float_format& f = narrow_formats[to == element::fp8_e4m3fn_x4 ? 4 : 5];
                const neighbours all(f);
                const int emax = to == element::fp8_e4m3fn_x4 ? 8 : 15;
                for (unsigned p = 0; p < partitions; ++p)
                    for (std::size_t c = 0; c < columns; ++c) {
                        double largest = 0;
                        bool finite = true;
                        for (unsigned g = p / 8 * 8; g < p / 8 * 8 + 8; ++g)
                            for (std::size_t j = 0; j < 4; ++j) {
                                const double x = value(i.a, g, 4 * c + j);
                                finite = finite && std::isfinite(x);
                                largest = std::max(largest, std::fabs(x));
                            }
                        int exponent = -127;
                        if (finite && largest > 0)
                            exponent = std::clamp(static_cast<int>(std::floor(std::log2(largest))) -
                                                      (ocp ? emax : emax - 1),
                                                  -127, 127);
                        const unsigned scale_at = p / 32 * 32 + p % 32 / 8;
                        ASSERT_EQ(code(i.b, scale_at, c),
                                  finite ? static_cast<std::uint32_t>(exponent + 127) : 0xffu);
                        for (std::size_t j = 0; j < 4; ++j) {
                            const std::uint32_t got = code(i.dst, p, c) >> 8 * j & 0xff;
                            if (!finite) {
                                ASSERT_TRUE(std::isnan(decoded(f.type, got)));
                                continue;
                            }
                            const float x = std::ldexp(value(i.a, p, 4 * c + j), -exponent);
                            ASSERT_EQ(got, all.round(x, ocp, nullptr) |
                                               (std::signbit(x) ? f.magnitudes() : 0));
                        }
                    }
            }
}

}  // namespace
