// SPDX-License-Identifier: Apache-2.0
// Work left by an activation that has used up its bytes or transfers, exactly or nearly.
#include <gtest/gtest.h>

#include "models/misuse_rules.h"
#include "tests/unit/dma/udma/udma_fixture.h"

namespace {

using namespace trn;
using test::DmaEngineTest, test::m2s, test::s2m, test::src, test::dst, test::reg;

constexpr std::uint32_t long_copy = 64 << 10;

struct DmaBudgetTest : DmaEngineTest {
    static void SetUpTestSuite() { set_timing(timing_mode::functional); }

    /// Posts the copies of queue 0; 5 ns later one of `second` (engine, queue), which becomes due
    /// just after the activation that executes them.
    void expect_both_served(const std::vector<std::uint32_t>& lengths, unsigned engine,
                            unsigned queue) {
        init_queue(0, 1024);
        init_queue(queue, 64, engine);
        for (const std::uint32_t length : lengths) put_copy(src, dst, length);
        put_copy(src, dst + (1 << 20), 4, queue, engine);
        const auto count = static_cast<std::uint32_t>(lengths.size());
        ring_both(count);
        run(5);
        ring_both(1, queue, engine);
        run(1000);
        EXPECT_EQ(done(m2s), 0x40000000 | count);
        EXPECT_EQ(done(m2s, queue, engine), 0x40000001u) << count << " copies";
    }
};

TEST_F(DmaBudgetTest, EveryNumberOfTransfersLetsTheNextQueueAndEngineWork) {
    for (std::size_t count = 250; count <= 262; ++count) {
        expect_both_served(std::vector<std::uint32_t>(count, 4), 0, 1);
        expect_both_served(std::vector<std::uint32_t>(count, 4), 31, 0);
    }
    expect_both_served(std::vector<std::uint32_t>(512, 4), 0, 1);
}

TEST_F(DmaBudgetTest, EveryNumberOfBytesLetsTheNextQueueAndEngineWork) {
    for (std::uint32_t last = 0x8000 - 8; last <= 0x8000 + 8; ++last) {
        const std::vector<std::uint32_t> lengths{long_copy, long_copy, long_copy, 0x8000, last};
        expect_both_served(lengths, 0, 1);
        expect_both_served(lengths, 31, 0);
    }
}

TEST_F(DmaBudgetTest, StarvedPacketTimesOutAfterEveryNumberOfBytes) {
    for (std::uint32_t last = 0x8000 - 2; last <= 0x8000 + 2; ++last) {
        init_queue();
        put(m2s, src, long_copy, first);
        for (const std::uint32_t length : {long_copy, long_copy, 0x8000u, last})
            put(m2s, src, length, 0);
        put(m2s, src, 4, test::dma_bench::last);
        for (const std::uint32_t length : {long_copy, long_copy, long_copy, 0x8000u, last})
            put(s2m, dst, length, 0);
        doorbell(s2m, 5);
        doorbell(m2s, 6);
        const auto before = misuse::count(misuse::destination_starved);
        run(9e6);
        EXPECT_EQ(misuse::count(misuse::destination_starved), before);
        run(2e6);
        EXPECT_EQ(misuse::count(misuse::destination_starved), before + 1) << last;
        EXPECT_TRUE(dma.aborted.level());
        run(50e6);
        EXPECT_EQ(misuse::count(misuse::destination_starved), before + 1) << "stopped once";
    }
}

TEST_F(DmaBudgetTest, TimePassesWhileAQueueRingsItsOwnDoorbells) {
    init_queue(0, 32);
    // Each pair of copies posts the next pair. The ring ids are those of the first pass.
    write(reg::secondary_abort_mask, 1u << 17, 0);
    write(reg::secondary_abort_mask, 1u << 11, 1);
    const std::uint32_t two = 2;
    std::memcpy(at(src), &two, sizeof two);
    for (unsigned pair = 0; pair < 16; ++pair) {
        put_copy(src, address(reg::s2m_q_tail_increment), 4);
        put_copy(src, address(reg::m2s_q_tail_increment), 4);
    }
    ring_both(2);
    run(1000);  // returns
    const auto descriptors = dma.count(0).descriptors;
    EXPECT_GT(descriptors, 256u);
    EXPECT_LE(descriptors, 256u * 100);
}

// ---- Limits of the transfers in flight

struct DmaInFlightTest : DmaEngineTest {
    static void SetUpTestSuite() { set_timing(timing_mode::contended); }

    /// Posts the copies of queue 0, and one of queue 1 behind them.
    void expect_all_served(const std::vector<std::uint32_t>& lengths) {
        init_queue(0, 64);
        init_queue(1, 64);
        std::uint64_t at = 0;
        for (const std::uint32_t length : lengths) {
            put_copy(src + at, dst + at, length);
            at += length;
        }
        fill(src, at, static_cast<std::uint8_t>(at));
        put_copy(src, dst + 0x100'0000, 4, 1);
        const auto count = static_cast<std::uint32_t>(lengths.size());
        ring_both(count);
        run(10);
        ring_both(1, 1);
        run(100'000);
        EXPECT_EQ(done(m2s), 0x40000000 | count);
        EXPECT_EQ(done(m2s, 1), 0x40000001u) << count << " copies of " << at << " bytes";
        EXPECT_TRUE(filled(dst, at, static_cast<std::uint8_t>(at)));
    }
};

TEST_F(DmaInFlightTest, EveryNumberOfTransfersCompletes) {
    for (std::size_t count = 30; count <= 35; ++count)
        expect_all_served(std::vector<std::uint32_t>(count, 64));
}

TEST_F(DmaInFlightTest, EveryNumberOfBytesCompletes) {
    for (std::uint32_t last = 0x8000 - 2; last <= 0x8000 + 2; ++last)
        expect_all_served({long_copy, long_copy, long_copy, 0x8000, last, long_copy});
}

}  // namespace
