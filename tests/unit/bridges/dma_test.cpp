// SPDX-License-Identifier: Apache-2.0
// A DMA engine and foreign memories.
#include <gtest/gtest.h>

#include "platform/framework/bridges/socket_binder.h"
#include "tests/unit/bridges/foreign_models.h"
#include "tests/unit/dma/udma/udma_fixture.h"

namespace trn::test {
namespace {

struct ForeignDmaTest : DmaEngineTest {
    static constexpr std::uint64_t waiting_at = message_at + (1ull << 24),
                                   phased_at = waiting_at + 0x10000;
    foreign::waiting_peripheral waiting{"waiting"};
    foreign::phased_memory phased{"phased"};
    sc_core::sc_signal<bool> irq{"irq"};
    socket_binder binder;

    ForeignDmaTest() {
        waiting.irq.bind(irq);
        binder.bind(bus.initiator, waiting.in, coding_style::restricted,
                    coding_style::loosely_timed);
        binder.bind(bus.initiator, phased.in, coding_style::restricted,
                    coding_style::approximately_timed);
        bus.map({waiting_at, foreign::waiting_peripheral::size, 0, 5});
        bus.map({phased_at, 0x1000, 0, 6});
    }
};

TEST_F(ForeignDmaTest, ReadsAndWritesATargetThatWaits) {
    init_queue();
    fill(src, 0x1800, 3);
    put_copy(src, waiting_at, 0x1800);
    put_copy(waiting_at, dst, 0x1800);
    ring_both(2);
    run(100'000);
    EXPECT_EQ(done(m2s) & 0xffffff, 2u);
    EXPECT_TRUE(filled(dst, 0x1800, 3));
    EXPECT_EQ(waiting.max_inside, 1u);
}

TEST_F(ForeignDmaTest, ReadsAndWritesATargetWithPhases) {
    init_queue();
    fill(src, 0x1000, 4);
    put_copy(src, phased_at, 0x1000);
    put_copy(phased_at, dst, 0x1000);
    ring_both(2);
    run(100'000);
    EXPECT_EQ(done(m2s) & 0xffffff, 2u);
    EXPECT_TRUE(filled(dst, 0x1000, 4));
    EXPECT_EQ(phased.violations, 0u);
}

TEST_F(ForeignDmaTest, AResetEndsItsAccessToATargetThatWaits) {
    waiting.latency = sc_core::sc_time(5, sc_core::SC_US);
    init_queue();
    put_copy(waiting_at, dst, 0x100);
    ring_both(1);
    for (int n = 0; n < 40 && waiting.inside == 0; ++n) run(500);
    EXPECT_EQ(waiting.inside, 1u);
    write(reg::m2s_q_sw_control, 0x100);
    run(100'000);
    EXPECT_EQ(waiting.inside, 0u);
    EXPECT_EQ(waiting.begun, waiting.ended);
}

}  // namespace
}  // namespace trn::test
