// SPDX-License-Identifier: Apache-2.0
// Compute packets: results in memory, timing, refusals.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>

#include "models/dma/udma/dma_descriptor_regs.h"
#include "models/misuse_rules.h"
#include "tests/unit/dma/udma/udma_fixture.h"

namespace {

using namespace trn;
using test::DmaEngineTest, test::m2s, test::s2m, test::reg, test::dst;
namespace op = dma_descriptor_regs::compute_operation;

constexpr std::uint64_t a_at = 0x1000'0000, b_at = 0x1100'0000, dst_2 = 0x2100'0000;
constexpr std::uint32_t compute_meta = 0x01080003 | 1u << 20, scales_meta = 0x01080003 | 2u << 20;

constexpr std::uint64_t word(std::uint64_t operation, std::uint64_t type, unsigned operands = 1,
                             std::uint64_t flags = 0) {
    return op::operation.set(0, operation) | op::from.set(0, type) | op::to.set(0, type) |
           op::operands.set(0, operands) | flags;
}
constexpr std::uint64_t cast(std::uint64_t from, std::uint64_t to, std::uint64_t flags = 0) {
    return op::to.set(word(op::operation_cast, from, 1, flags), to);
}
constexpr std::uint64_t bf16_add = word(op::operation_add, op::from_bf16, 2);

std::uint16_t bf16(float f) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(f) >> 16);
}

class DmaComputeTest : public DmaEngineTest {
protected:
    using DmaEngineTest::DmaEngineTest;
    using piece = std::pair<std::uint64_t, std::uint32_t>;

    void SetUp() override {
        DmaEngineTest::SetUp();
        init_queue();
    }
    /// Writes one packet: operation, scales, sources; destinations.
    void put_packet(std::uint64_t operation, std::uint32_t parameter,
                    const std::vector<piece>& sources, const std::vector<piece>& destinations,
                    const std::vector<float>& scales = {}) {
        put(m2s, operation | std::uint64_t{parameter} << 32, 0,
            first | (sources.empty() ? last : 0), 0, 0, compute_meta);
        for (std::size_t i = 0; i < scales.size(); i += 2) {
            const auto pair = std::bit_cast<std::uint32_t>(scales[i]) |
                              std::uint64_t{std::bit_cast<std::uint32_t>(scales[i + 1])} << 32;
            put(m2s, pair, 0, 0, 0, 0, scales_meta);
        }
        for (std::size_t i = 0; i < sources.size(); ++i)
            put(m2s, sources[i].first, sources[i].second, i + 1 == sources.size() ? last : 0);
        for (const auto& d : destinations) put(s2m, d.first, d.second, 0);
        posted_m2s = static_cast<std::uint32_t>(1 + scales.size() / 2 + sources.size());
        posted_s2m = static_cast<std::uint32_t>(destinations.size());
    }
    void post() {
        doorbell(s2m, posted_s2m);
        doorbell(m2s, posted_m2s);
    }
    void compute(std::uint64_t operation, std::uint32_t parameter,
                 const std::vector<piece>& sources, const std::vector<piece>& destinations,
                 const std::vector<float>& scales = {}) {
        put_packet(operation, parameter, sources, destinations, scales);
        post();
        run(200'000);
    }
    template <class T>
    void set(std::uint64_t address, const std::vector<T>& values) {
        std::memcpy(at(address), values.data(), values.size() * sizeof(T));
        stack.accessed(tlm::TLM_WRITE_COMMAND, address, values.size() * sizeof(T));
    }
    template <class T>
    std::vector<T> get(std::uint64_t address, std::size_t count) {
        std::vector<T> values(count);
        std::memcpy(values.data(), at(address), count * sizeof(T));
        return values;
    }
    /// Simulated time from the doorbell to completion, including the start latency.
    double nanoseconds() {
        const auto begin = sc_core::sc_time_stamp();
        post();
        while (dma.busy()) run(10);
        return (sc_core::sc_time_stamp() - begin).to_seconds() * 1e9;
    }
    std::uint32_t posted_m2s = 0, posted_s2m = 0;
};

TEST_F(DmaComputeTest, AddsTwoBuffersOfBf16) {
    std::vector<std::uint16_t> a, b, sum;
    for (int i = 0; i < 5000; ++i) {
        a.push_back(bf16(static_cast<float>(i % 100)));
        b.push_back(bf16(static_cast<float>(i % 28)));
        sum.push_back(bf16(static_cast<float>(i % 100 + i % 28)));  // exact: below 128
    }
    for (const auto mode : {timing_mode::contended, timing_mode::functional}) {
        set_timing(mode);
        set(a_at, a);
        set(b_at, b);
        set(dst, std::vector<std::uint16_t>(5002, 0x5555));
        compute(bf16_add, 0, {{a_at, 10000}, {b_at, 10000}}, {{dst + 2, 10000}});
        EXPECT_EQ(get<std::uint16_t>(dst + 2, 5000), sum);
        EXPECT_EQ(get<std::uint16_t>(dst, 1)[0], 0x5555);
        EXPECT_EQ(get<std::uint16_t>(dst + 10002, 1)[0], 0x5555);
    }
    EXPECT_EQ(done(m2s), 0x40000006u);
    EXPECT_EQ(done(s2m), 0x40000002u);
    EXPECT_EQ(dma.count(0).aborts, 0u);
}

TEST_F(DmaComputeTest, ResultMayOverwriteAnOperand) {
    set<float>(a_at, {1, 2, 3, 4});
    set<float>(b_at, {10, 20, 30, 40});
    compute(word(op::operation_add, op::from_fp32, 2), 0, {{a_at, 16}, {b_at, 16}}, {{b_at, 16}});
    EXPECT_EQ(get<float>(b_at, 4), (std::vector<float>{11, 22, 33, 44}));
}

TEST_F(DmaComputeTest, OperandsAndResultsMayBeScattered) {
    set<float>(a_at, {1, 2, 3});
    set<float>(a_at + 0x100, {4, 5});
    set<float>(b_at, {10, 20, 30, 40, 50});
    compute(op::to.set(word(op::operation_add, op::from_fp32, 2), op::from_bf16), 0,
            {{a_at, 12}, {a_at + 0x100, 8}, {b_at, 20}}, {{dst, 2}, {dst_2, 8}});
    EXPECT_EQ(get<std::uint16_t>(dst, 1), (std::vector<std::uint16_t>{bf16(11)}));
    EXPECT_EQ(get<std::uint16_t>(dst_2, 4),
              (std::vector<std::uint16_t>{bf16(22), bf16(33), bf16(44), bf16(55)}));
}

TEST_F(DmaComputeTest, CastsRoundPerTheirFlags) {
    set<float>(a_at, {1.5f, 464, 465, -1000, std::bit_cast<float>(0x7fc00000u), 0x1p-10f, 17, 19});
    compute(cast(op::from_fp32, op::from_fp8_e4m3fn), 0, {{a_at, 32}}, {{dst, 8}});
    EXPECT_EQ(get<std::uint8_t>(dst, 8),
              (std::vector<std::uint8_t>{0x3c, 0x7e, 0x7f, 0xff, 0x7f, 0x00, 0x58, 0x5a}));
    compute(cast(op::from_fp32, op::from_fp8_e4m3fn, op::saturate.mask()), 0, {{a_at, 32}},
            {{dst, 8}});
    EXPECT_EQ(get<std::uint8_t>(dst, 4), (std::vector<std::uint8_t>{0x3c, 0x7e, 0x7e, 0xfe}));
    compute(cast(op::from_fp8_e4m3fn, op::from_int8), 0, {{dst, 8}}, {{dst_2, 8}});
    EXPECT_EQ(get<std::int8_t>(dst_2, 5), (std::vector<std::int8_t>{2, 127, 127, -128, 0}));
}

TEST_F(DmaComputeTest, StochasticRoundingDependsOnTheSeedAlone) {
    set(a_at, std::vector<float>(1000, 1 + 0x1p-8f));  // half way between two BF16
    const auto rounded = [&](std::uint32_t seed) {
        compute(cast(op::from_fp32, op::from_bf16, op::stochastic.mask()), seed, {{a_at, 4000}},
                {{dst, 2000}});
        return get<std::uint16_t>(dst, 1000);
    };
    const auto one = rounded(1), two = rounded(2);
    EXPECT_EQ(rounded(1), one);
    EXPECT_NE(one, two);
    const auto up = std::count(one.begin(), one.end(), 0x3f81);
    EXPECT_EQ(up + std::count(one.begin(), one.end(), 0x3f80), 1000);
    EXPECT_NEAR(static_cast<double>(up), 500, 60);
}

TEST_F(DmaComputeTest, SixteenOperandsAreReducedInOrder) {
    std::vector<piece> sources;
    for (unsigned k = 0; k < 16; ++k) {
        set<float>(a_at + k * 0x1000, {k == 0 ? 0x1p24f : 1.0f, static_cast<float>(k)});
        sources.emplace_back(a_at + k * 0x1000, 8);
    }
    compute(word(op::operation_add, op::from_fp32, 16), 0, sources, {{dst, 8}});
    EXPECT_EQ(get<float>(dst, 2), (std::vector<float>{0x1p24f, 120})) << "ones vanish one by one";
    compute(word(op::operation_max, op::from_fp32, 16), 0, sources, {{dst, 8}});
    EXPECT_EQ(get<float>(dst, 2), (std::vector<float>{0x1p24f, 15}));
    compute(word(op::operation_min, op::from_fp32, 16), 0, sources, {{dst, 8}});
    EXPECT_EQ(get<float>(dst, 2), (std::vector<float>{1, 0}));
}

TEST_F(DmaComputeTest, ScaledAddReadsItsFactorsFromDescriptors) {
    set<float>(a_at, {1, 2});
    set<float>(b_at, {10, 20});
    set<float>(b_at + 0x1000, {100, 200});
    compute(word(op::operation_scaled_add, op::from_fp32, 3), 0,
            {{a_at, 8}, {b_at, 8}, {b_at + 0x1000, 8}}, {{dst, 8}}, {2, 0.5f, -1, 0});
    EXPECT_EQ(get<float>(dst, 2), (std::vector<float>{-93, -186}));
}

TEST_F(DmaComputeTest, DuplicateWritesTheResultTwice) {
    fill(a_at, 3000, 7);
    compute(word(op::operation_copy, 0, 1, op::duplicate.mask()), 0, {{a_at, 3000}},
            {{dst, 1000}, {dst + 0x1000, 2000}, {dst_2, 3000}});
    EXPECT_TRUE(filled(dst_2, 3000, 7));
    EXPECT_EQ(std::memcmp(at(dst), at(a_at), 1000), 0);
    EXPECT_EQ(std::memcmp(at(dst + 0x1000), at(a_at) + 1000, 2000), 0);
    set<float>(a_at, {1});
    set<float>(b_at, {2});
    compute(word(op::operation_add, op::from_fp32, 2, op::duplicate.mask()), 0,
            {{a_at, 4}, {b_at, 4}}, {{dst, 4}, {dst_2, 4}});
    EXPECT_EQ(get<float>(dst, 1)[0], 3);
    EXPECT_EQ(get<float>(dst_2, 1)[0], 3);
}

TEST_F(DmaComputeTest, TransposesElementsOfTwoAndFourBytes) {
    set<std::uint16_t>(a_at, {1, 2, 3, 4, 5, 6});
    compute(word(op::operation_transpose, op::from_bf16), 2 | 3 << 16, {{a_at, 12}}, {{dst, 12}});
    EXPECT_EQ(get<std::uint16_t>(dst, 6), (std::vector<std::uint16_t>{1, 4, 2, 5, 3, 6}));
    std::vector<std::uint32_t> from(128 * 96), to(128 * 96);
    for (std::uint32_t r = 0; r < 128; ++r)
        for (std::uint32_t c = 0; c < 96; ++c) to[c * 128 + r] = from[r * 96 + c] = r << 16 | c;
    set(a_at, from);
    compute(word(op::operation_transpose, op::from_fp32), 128 | 96 << 16, {{a_at, 49152}},
            {{dst, 49152}});
    EXPECT_EQ(get<std::uint32_t>(dst, 128 * 96), to);
}

TEST_F(DmaComputeTest, AccumulationAddsToTheDestination) {
    set<float>(dst, {100, 200, 300});
    set<float>(a_at, {1, 2, 3});
    const auto accumulate = word(op::operation_add, op::from_fp32, 1, op::accumulate.mask());
    for (int i = 0; i < 3; ++i) compute(accumulate, 0, {{a_at, 12}}, {{dst, 4}, {dst + 4, 8}});
    EXPECT_EQ(get<float>(dst, 3), (std::vector<float>{103, 206, 309}));
    set<std::uint16_t>(dst, {bf16(1), bf16(-2)});
    set<std::uint16_t>(a_at, {bf16(0.5f), bf16(4)});
    compute(op::to.set(op::from.set(accumulate, op::from_bf16), op::from_bf16), 0, {{a_at, 4}},
            {{dst, 4}});
    EXPECT_EQ(get<std::uint16_t>(dst, 2), (std::vector<std::uint16_t>{bf16(1.5f), bf16(2)}));
    set<float>(dst, {100});
    set<float>(a_at, {7});
    compute(word(op::operation_scaled_add, op::from_fp32, 1, op::accumulate.mask()), 0, {{a_at, 4}},
            {{dst, 4}}, {-2, 0});
    EXPECT_EQ(get<float>(dst, 1)[0], 86);
}

TEST_F(DmaComputeTest, GathersAndScattersElementsByTheirIndices) {
    set<std::uint32_t>(a_at, {3, 0, 3, 7});
    for (std::uint32_t i = 0; i < 8; ++i) fill(b_at + i * 100, 100, static_cast<std::uint8_t>(i));
    compute(word(op::operation_gather, 0), 8, {{a_at, 16}, {b_at, 100}}, {{dst, 400}});
    for (const auto& [place, element] : {std::pair{0, 3}, {1, 0}, {2, 3}, {3, 7}})
        EXPECT_TRUE(filled(dst + static_cast<unsigned>(place) * 100u, 100,
                           static_cast<std::uint8_t>(element)));

    set<std::uint32_t>(a_at, {2, 0, 2});
    set<std::uint64_t>(b_at, {111, 222, 333});
    set<std::uint64_t>(dst, {1, 2, 3});
    compute(word(op::operation_scatter, 0), 3, {{a_at, 12}, {b_at, 24}}, {{dst, 8}});
    EXPECT_EQ(get<std::uint64_t>(dst, 3), (std::vector<std::uint64_t>{222, 2, 333}));
}

TEST_F(DmaComputeTest, IndexOutOfRangeCanBeSkipped) {
    set<std::uint32_t>(a_at, {1, 9, 0});
    set<std::uint32_t>(b_at, {50, 60});
    set<std::uint32_t>(dst, {7, 7, 7});
    compute(word(op::operation_gather, 0, 1, op::skip.mask()), 2, {{a_at, 12}, {b_at, 4}},
            {{dst, 12}});
    EXPECT_EQ(get<std::uint32_t>(dst, 3), (std::vector<std::uint32_t>{60, 0, 50}));
    set<std::uint32_t>(b_at, {50, 60, 70});
    compute(word(op::operation_scatter, 0, 1, op::skip.mask()), 2, {{a_at, 12}, {b_at, 12}},
            {{dst, 4}});
    EXPECT_EQ(get<std::uint32_t>(dst, 3), (std::vector<std::uint32_t>{70, 50, 50}));
}

TEST_F(DmaComputeTest, LaterDescriptorsBecomeVisibleAfterTheResult) {
    set<float>(a_at, std::vector<float>(16384, 1));
    set<float>(b_at, std::vector<float>(16384, 2));
    set<float>(a_at + 0x100000, {1234});
    put_packet(word(op::operation_add, op::from_fp32, 2), 0, {{a_at, 65536}, {b_at, 65536}},
               {{dst, 65536}});
    put_copy(a_at + 0x100000, dst_2, 4);
    doorbell(s2m, 2);
    doorbell(m2s, 4);
    while (get<float>(dst_2, 1)[0] != 1234) run(100);
    EXPECT_EQ(get<float>(dst, 16384), std::vector<float>(16384, 3));
}

TEST_F(DmaComputeTest, RingsOfBothSidesWrapIndependently) {
    init_queue(0, 32);
    for (int i = 0; i < 50; ++i) {
        set<float>(a_at, {static_cast<float>(i)});
        set<float>(b_at, {1000});
        compute(word(op::operation_add, op::from_fp32, 2), 0, {{a_at, 4}, {b_at, 4}}, {{dst, 4}});
        ASSERT_EQ(get<float>(dst, 1)[0], static_cast<float>(1000 + i));
    }
    EXPECT_EQ(done(m2s), 1u << 30 | 22u) << "150 descriptors: pass 1 + 4 of 4";
    EXPECT_EQ(done(s2m), 2u << 30 | 18u);
}

TEST_F(DmaComputeTest, DestinationsMayArriveAfterTheSources) {
    set<float>(a_at, {5});
    put_packet(cast(op::from_fp32, op::from_fp32), 0, {{a_at, 4}}, {{dst, 4}});
    doorbell(m2s, 2);
    run(10'000);
    EXPECT_EQ(get<float>(dst, 1)[0], 0);
    doorbell(s2m, 1);
    run(10'000);
    EXPECT_EQ(get<float>(dst, 1)[0], 5);
}

TEST_F(DmaComputeTest, WaitsForDeferredMemoryResponses) {
    const std::vector<float> ones(1500, 1);
    std::memcpy(messages.bytes.data(), ones.data(), 6000);
    set(a_at, ones);
    put_packet(word(op::operation_add, op::from_fp32, 2), 0, {{a_at, 6000}, {message_at, 6000}},
               {{message_at + 0x10000, 6000}});
    post();
    for (int i = 0; i < 8; ++i) {
        run(10'000);
        messages.answer();
    }
    run(10'000);
    EXPECT_FALSE(dma.busy());
    EXPECT_EQ(messages.questions, 4u);
    EXPECT_EQ(messages.abandoned_questions, 0u);
    std::vector<float> sum(1500);
    std::memcpy(sum.data(), messages.bytes.data() + 0x10000, 6000);
    EXPECT_EQ(sum, std::vector<float>(1500, 2));
}

TEST_F(DmaComputeTest, ResetDropsAPartialPacketAndOneInFlight) {
    set(a_at, std::vector<float>(100, 1));
    put_packet(cast(op::from_fp32, op::from_fp32), 0, {{message_at, 4000}}, {{dst, 4000}});
    post();
    run(10'000);  // waits for its source
    init_queue();
    put_packet(cast(op::from_fp32, op::from_bf16), 0, {{a_at, 400}}, {{dst, 200}});
    doorbell(m2s, 2);
    run(10'000);  // waits for its destination
    init_queue();
    compute(cast(op::from_fp32, op::from_bf16), 0, {{a_at, 400}}, {{dst_2, 200}});
    EXPECT_EQ(get<std::uint16_t>(dst_2, 100), std::vector<std::uint16_t>(100, 0x3f80));
    EXPECT_EQ(get<std::uint32_t>(dst, 1000), std::vector<std::uint32_t>(1000, 0));
}

// ---- Timing

TEST_F(DmaComputeTest, ReadsAndWritesOverlapAndTheLongerDecides) {
    const auto time_of = [&](std::uint64_t operation, std::uint32_t parameter,
                             const std::vector<piece>& sources,
                             const std::vector<piece>& destinations) {
        fill(a_at, 65536, 1);
        fill(b_at, 65536, 1);
        put_packet(operation, parameter, sources, destinations);
        const double time = nanoseconds() - 1300;
        EXPECT_EQ(dma.count(0).aborts, 0u);
        return time;
    };
    const double bytes_65536 = 65536 / 38.4;
    const auto near = [&](double times) { return times * bytes_65536; };
    const auto copy = word(op::operation_copy, 0);
    EXPECT_NEAR(time_of(copy, 0, {{a_at, 65536}}, {{dst, 65536}}), near(1), 350);
    EXPECT_NEAR(time_of(bf16_add, 0, {{a_at, 65536}, {b_at, 65536}}, {{dst, 65536}}), near(2), 350);
    EXPECT_NEAR(
        time_of(copy | op::duplicate.mask(), 0, {{a_at, 65536}}, {{dst, 65536}, {dst_2, 65536}}),
        near(2), 350);
    EXPECT_NEAR(time_of(word(op::operation_add, op::from_bf16, 1, op::accumulate.mask()), 0,
                        {{a_at, 65536}}, {{dst, 65536}}),
                near(1), 350);
    EXPECT_NEAR(time_of(word(op::operation_transpose, op::from_bf16), 128 | 256 << 16,
                        {{a_at, 65536}}, {{dst, 65536}}),
                near(1 / 0.9), 350);
}

// ---- Refusals

class DmaComputeRefusal : public DmaComputeTest {
protected:
    /// Checks that the packet stops the queue with `cause`, writes nothing, and that the queue
    /// works after a reset.
    void expect_refused(std::uint64_t operation, std::uint32_t parameter,
                        const std::vector<piece>& sources, const std::vector<piece>& destinations,
                        const misuse::rule& rule, unsigned cause,
                        const std::vector<float>& scales = {}) {
        SCOPED_TRACE(testing::Message() << "operation " << std::hex << operation);
        init_queue();
        write(reg::secondary_cause, 0, m2s);
        fill(dst, 0x2000, 9);
        const auto counted = misuse::count(rule);
        compute(operation, parameter, sources, destinations, scales);
        EXPECT_EQ(misuse::count(rule), counted + 1);
        EXPECT_EQ(read(reg::secondary_cause, m2s), 1u << cause);
        EXPECT_TRUE(dma.aborted.level());
        EXPECT_TRUE(filled(dst, 0x2000, 9)) << "something was written";
        init_queue();
        set<float>(a_at, {41});
        set<float>(b_at, {1});
        compute(word(op::operation_add, op::from_fp32, 2), 0, {{a_at, 4}, {b_at, 4}}, {{dst_2, 4}});
        EXPECT_EQ(get<float>(dst_2, 1)[0], 42);
        EXPECT_FALSE(dma.aborted.level());
    }
    void SetUp() override {
        DmaComputeTest::SetUp();
        fill(a_at, 65536, 1);
        fill(b_at, 65536, 2);
    }
};

TEST_F(DmaComputeRefusal, RefusesUnknownOperations) {
    const auto impossible = [&](std::uint64_t operation, std::uint32_t parameter = 0,
                                const std::vector<float>& scales = {}) {
        expect_refused(operation, parameter, {{a_at, 64}, {b_at, 64}}, {{dst, 64}},
                       misuse::impossible_operation, 0, scales);
    };
    impossible(word(9, 0));
    impossible(bf16_add | 1u << 31);
    impossible(word(op::operation_add, op::from_bf16, 0));
    impossible(word(op::operation_add, op::from_bf16, 17));
    impossible(word(op::operation_cast, op::from_bf16, 2));
    impossible(word(op::operation_max, op::from_bf16, 2, op::accumulate.mask()));
    impossible(
        word(op::operation_add, op::from_bf16, 1, op::accumulate.mask() | op::duplicate.mask()));
    impossible(word(op::operation_scatter, 0, 1, op::duplicate.mask()), 4);
    impossible(word(op::operation_copy, 0, 1, op::saturate.mask()));
    impossible(bf16_add | op::skip.mask());
    impossible(bf16_add, 5);
    impossible(word(op::operation_scaled_add, op::from_fp32, 2));
    impossible(word(op::operation_scaled_add, op::from_fp32, 2), 0, {1, 1, 1, 1});
    impossible(bf16_add, 0, {1, 1});
}

TEST_F(DmaComputeRefusal, RefusesIncompatibleTypes) {
    const auto wrong_type = [&](std::uint64_t operation, std::uint32_t parameter = 0) {
        expect_refused(operation, parameter, {{a_at, 64}}, {{dst, 64}}, misuse::impossible_type, 0);
    };
    wrong_type(cast(14, op::from_fp32));
    wrong_type(cast(op::from_fp32, 15));
    wrong_type(word(op::operation_copy, op::from_bf16));
    wrong_type(word(op::operation_transpose, op::from_int8), 8 | 8 << 16);
    wrong_type(op::to.set(word(op::operation_transpose, op::from_bf16), op::from_fp16),
               8 | 4 << 16);
    wrong_type(word(op::operation_add, op::from_fp16, 1, op::accumulate.mask()));
    wrong_type(op::to.set(word(op::operation_add, op::from_bf16, 1, op::accumulate.mask()),
                          op::from_fp32));
    wrong_type(cast(op::from_fp32, op::from_int32, op::stochastic.mask()));
}

TEST_F(DmaComputeRefusal, RefusesMismatchedLengths) {
    const auto wrong_length = [&](std::uint64_t operation, const std::vector<piece>& sources,
                                  const std::vector<piece>& destinations,
                                  std::uint32_t parameter = 0) {
        expect_refused(operation, parameter, sources, destinations, misuse::operand_length, 1);
    };
    wrong_length(bf16_add, {}, {{dst, 64}});
    wrong_length(bf16_add, {{a_at, 64}, {b_at, 62}}, {{dst, 64}});
    wrong_length(bf16_add, {{a_at, 63}, {b_at, 63}}, {{dst, 63}});
    wrong_length(bf16_add, {{a_at, 128}}, {{dst, 64}});
    wrong_length(bf16_add, {{a_at, 65536}, {a_at, 2}, {b_at, 65536}, {b_at, 2}}, {{dst, 64}});
    wrong_length(bf16_add, {{a_at, 64}, {b_at, 64}}, {{dst, 66}});
    wrong_length(cast(op::from_bf16, op::from_fp32), {{a_at, 64}}, {{dst, 64}, {dst_2, 128}});
    wrong_length(word(op::operation_copy, 0, 1, op::duplicate.mask()), {{a_at, 64}}, {{dst, 128}});
    wrong_length(word(op::operation_transpose, op::from_bf16), {{a_at, 64}}, {{dst, 64}},
                 8 | 5 << 16);
    wrong_length(word(op::operation_gather, 0), {{a_at, 62}, {b_at, 4}}, {{dst, 64}}, 99);
    wrong_length(word(op::operation_gather, 0), {{a_at, 64}}, {{dst, 64}}, 99);
    wrong_length(word(op::operation_gather, 0), {{a_at, 64}, {b_at, 8192}}, {{dst, 64}}, 99);
    wrong_length(word(op::operation_scatter, 0), {{a_at, 64}, {b_at, 65}}, {{dst, 4}}, 99);
    wrong_length(word(op::operation_scatter, 0), {{a_at, 64}, {b_at, 64}}, {{dst, 2}, {dst_2, 2}},
                 99);
}

TEST_F(DmaComputeRefusal, RefusesZeroLengthWhereItIsInvalid) {
    write(reg::m2s_packet_length, 0x000fffff);
    const auto descriptor = [&](std::uint32_t length) {
        put(m2s, bf16_add, 0, first, 0, 0, compute_meta);
        put(m2s, a_at, length, 0);
        put(m2s, b_at, length, last);
        put(s2m, dst, 64, 0);
        doorbell(s2m, 1);
        doorbell(m2s, 3);
        run(10'000);
    };
    descriptor(0);
    EXPECT_EQ(misuse::count(misuse::operand_length), 1u);
    EXPECT_TRUE(dma.aborted.level());
}

TEST_F(DmaComputeRefusal, RefusesOverlappingDestinations) {
    const auto overlapping = [&](std::uint64_t operation, const std::vector<piece>& sources,
                                 const std::vector<piece>& destinations,
                                 std::uint32_t parameter = 0) {
        expect_refused(operation, parameter, sources, destinations, misuse::operand_overlap, 1);
    };
    overlapping(bf16_add, {{a_at, 64}, {dst + 32, 64}}, {{dst, 64}});
    overlapping(bf16_add, {{a_at, 64}, {b_at, 64}}, {{dst, 34}, {dst + 32, 30}});
    overlapping(cast(op::from_fp32, op::from_bf16), {{dst, 64}}, {{dst, 32}});
    overlapping(word(op::operation_copy, 0, 1, op::duplicate.mask()), {{a_at, 64}},
                {{dst, 64}, {dst, 64}});
    overlapping(word(op::operation_transpose, op::from_fp32), {{dst, 64}}, {{dst, 64}},
                4 | 4 << 16);
    overlapping(word(op::operation_gather, 0), {{a_at, 16}, {dst, 4}}, {{dst + 396, 16}}, 100);
    overlapping(word(op::operation_scatter, 0), {{dst + 396, 16}, {b_at, 16}}, {{dst, 4}}, 100);
}

TEST_F(DmaComputeRefusal, RefusesIndicesOutOfRange) {
    set<std::uint32_t>(a_at, {0, 8, 1});
    expect_refused(word(op::operation_gather, 0), 8, {{a_at, 12}, {b_at, 4}}, {{dst, 12}},
                   misuse::index_out_of_range, 2);
    set<std::uint32_t>(a_at, {0, 0xffffffff, 1});
    expect_refused(word(op::operation_scatter, 0), 8, {{a_at, 12}, {b_at, 12}}, {{dst, 4}},
                   misuse::index_out_of_range, 2);
}

TEST_F(DmaComputeRefusal, RefusesAComputeDescriptorInsideAPacket) {
    put(m2s, a_at, 64, first);
    put(m2s, bf16_add, 0, last, 0, 0, compute_meta);
    put(s2m, dst, 64, 0);
    put(s2m, dst, 64, 0);
    ring_both(2);
    run(10'000);
    EXPECT_EQ(misuse::count(misuse::unsupported_descriptor), 1u);
    EXPECT_TRUE(dma.aborted.level());
}

TEST_F(DmaComputeRefusal, RefusesTooManyDestinations) {
    init_queue(0, 256);
    std::vector<piece> destinations;
    for (unsigned i = 0; i < 66; ++i) destinations.emplace_back(dst + 0x10000 + i * 4, 4);
    compute(cast(op::from_fp32, op::from_fp32), 0, {{a_at, 66 * 4}}, destinations);
    EXPECT_EQ(misuse::count(misuse::too_many_descriptors), 1u);
    EXPECT_TRUE(dma.aborted.level());
}

TEST_F(DmaComputeRefusal, RefusesUnmappedAddresses) {
    expect_refused(cast(op::from_fp32, op::from_fp32), 0, {{0x900000000, 64}}, {{dst, 64}},
                   misuse::unmapped_source, 8);
    compute(cast(op::from_fp32, op::from_fp32), 0, {{a_at, 64}}, {{0x900000000, 64}});
    EXPECT_EQ(misuse::count(misuse::unmapped_destination), 1u);
    EXPECT_EQ(read(reg::secondary_cause, s2m), 2u);
}

TEST_F(DmaComputeRefusal, IsNotifiedInTheErrorSlot) {
    const std::uint64_t nq = registers_at + 0x41000 + 0x100 + 0x28;
    cpu.write<std::uint32_t>(nq + 4, static_cast<std::uint32_t>(host_at >> 32));
    cpu.write<std::uint32_t>(nq + 0, 0x10000);
    cpu.write<std::uint32_t>(nq + 8, 4096);
    compute(cast(14, op::from_fp32), 0, {{a_at, 64}}, {{dst, 64}});
    EXPECT_EQ(cpu.read(nq + 0xc), 0x80000010u);
    std::array<std::uint32_t, 4> entry;
    std::memcpy(entry.data(), at(host_at + 0x10000), 16);
    EXPECT_EQ(entry[0], 0x80000000u | 3u);
    EXPECT_EQ(entry[1], 0u) << "side m2s, cause 0";
}

class DmaComputeOnOlderChips : public DmaComputeTest {
protected:
    static udma::config older() {
        udma::config cfg;
        cfg.near_memory_accumulate = cfg.fp8_e4m3fn = false;
        return cfg;
    }
    DmaComputeOnOlderChips() : DmaComputeTest(older()) {}
};

TEST_F(DmaComputeOnOlderChips, AccumulationReadsThroughTheEngine) {
    fill(a_at, 65536, 1);
    fill(dst, 65536, 1);
    put_packet(word(op::operation_add, op::from_bf16, 1, op::accumulate.mask()), 0, {{a_at, 65536}},
               {{dst, 65536}});
    EXPECT_NEAR(nanoseconds(), 1300 + 2 * 65536 / 38.4, 350);
}

TEST_F(DmaComputeOnOlderChips, OcpFp8IsUnsupported) {
    set<float>(a_at, {1});
    compute(cast(op::from_fp32, op::from_fp8_e4m3), 0, {{a_at, 4}}, {{dst, 1}});
    EXPECT_EQ(get<std::uint8_t>(dst, 1)[0], 0x38);
    compute(cast(op::from_fp32, op::from_fp8_e4m3fn), 0, {{a_at, 4}}, {{dst, 1}});
    EXPECT_EQ(misuse::count(misuse::impossible_type), 1u);
}

}  // namespace
