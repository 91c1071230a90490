// SPDX-License-Identifier: Apache-2.0
// Entries of the notification rings of several engines.
#include <gtest/gtest.h>

#include "models/misuse_rules.h"
#include "models/soc/notification_queue/notification_queue_regs.h"
#include "tests/unit/dma/udma/udma_fixture.h"

namespace {

using namespace trn;
using test::DmaEngineTest, test::m2s, test::s2m, test::src, test::dst;
namespace nq = notification_queue_regs;

struct DmaNotifications : DmaEngineTest {
    static void SetUpTestSuite() { set_timing(timing_mode::functional); }

    std::uint64_t block(unsigned engine) const {
        return registers_at + engine * dma.settings().stride + 0x41000;
    }
    void init_ring(unsigned engine, unsigned slot, std::uint64_t base, std::uint32_t size = 4096) {
        const auto write = [&](nq::reg r, std::uint64_t value) {
            cpu.write<std::uint32_t>(block(engine) + nq::offset(r, slot),
                                     static_cast<std::uint32_t>(value));
        };
        write(nq::reg::slot_base_hi, base >> 32);
        write(nq::reg::slot_base_lo, base);
        write(nq::reg::slot_size, size);
    }
    std::uint32_t entries(unsigned engine, unsigned slot = 0) {
        return (cpu.read(block(engine) + nq::offset(nq::reg::slot_head, slot)) & 0x7fffffff) / 16;
    }
    std::uint32_t lost(unsigned engine, unsigned slot = 0) {
        return cpu.read(block(engine) + nq::offset(nq::reg::slot_lost, slot));
    }
    void post(unsigned engine, unsigned slot) {
        cpu.write<std::uint32_t>(block(engine) + nq::offset(nq::reg::post), slot);
    }
    /// Posts copies whose ends are notified.
    void notify(unsigned engine, std::uint32_t count, std::uint64_t from = src) {
        for (std::uint32_t n = 0; n < count; ++n) {
            put(m2s, from, 4, first | last, 0, engine);
            put(s2m, dst, 4, interrupt, 0, engine);
        }
        ring_both(count, 0, engine);
    }
};

TEST_F(DmaNotifications, AllEntriesOfOneActivationAreDelivered) {
    init_queue(0, 256);
    init_ring(0, 0, host_at + 0x10000);
    notify(0, 100);
    run(1000);
    EXPECT_EQ(entries(0), 100u);
    EXPECT_EQ(lost(0), 0u);
}

TEST_F(DmaNotifications, EntriesOfEnginesBehindOneDeferredReadAreDelivered) {
    constexpr unsigned engines = 3;
    for (unsigned engine = 0; engine < engines; ++engine) {
        init_queue(0, 64, engine);
        init_ring(engine, 0, host_at + 0x10000 + engine * 0x1000);
        notify(engine, 1, message_at);
        notify(engine, 31);
    }
    run(1000);
    for (unsigned engine = 0; engine < engines; ++engine) EXPECT_EQ(entries(engine), 0u);
    messages.answer();
    run(1000);
    for (unsigned engine = 0; engine < engines; ++engine) {
        EXPECT_EQ(entries(engine), 32u);
        EXPECT_EQ(lost(engine), 0u);
    }
}

TEST_F(DmaNotifications, RingThatDoesNotRespondLosesItsOwnEntriesOnly) {
    for (const unsigned engine : {0, 1}) init_queue(0, 256, engine);
    init_ring(0, 0, message_at);
    init_ring(0, 2, host_at + 0x20000);
    init_ring(1, 0, host_at + 0x10000);
    notify(0, 1);
    run(1000);
    notify(0, 100);
    notify(1, 100);
    for (unsigned n = 0; n < 70; ++n) post(0, 2);
    run(1000);
    EXPECT_EQ(entries(1), 100u);
    EXPECT_EQ(entries(0, 2), 70u);
    EXPECT_EQ(lost(1) + lost(0, 2), 0u);
    EXPECT_EQ(entries(0), 0u);
    EXPECT_EQ(lost(0), 37u);
    for (unsigned n = 0; n < 64; ++n) {
        messages.answer();
        run(20);
    }
    EXPECT_EQ(entries(0), 64u);
    notify(0, 1);
    run(1000);
    messages.answer();
    run(1000);
    EXPECT_EQ(entries(0), 65u);
    EXPECT_EQ(lost(0), 37u);
}

TEST_F(DmaNotifications, RestartOfARingThatWaitsAbandonsItsEntries) {
    init_queue(0, 256);
    init_ring(0, 0, message_at);
    notify(0, 3);
    run(1000);
    init_ring(0, 0, host_at + 0x10000);
    run(1000);
    EXPECT_EQ(entries(0), 0u);
    notify(0, 2);
    run(1000);
    EXPECT_EQ(entries(0), 2u);
    EXPECT_EQ(messages.questions, 1u);
}

TEST_F(DmaNotifications, EntryThatStopsAQueueOfItsOwnEngineIsFollowedByTheErrorEntry) {
    constexpr unsigned q = 2;
    init_queue(q);
    init_ring(0, 1, host_at + 0x10000);                      // of errors
    init_ring(0, 5, address(reg::m2s_q_tail_increment, q));  // an entry's first word is a doorbell
    cpu.write<std::uint32_t>(block(0) + nq::offset(nq::reg::post),
                             static_cast<std::uint32_t>(nq::post::source.set(5, 1)));
    run(1000);
    EXPECT_EQ(entries(0, 1), 1u);
    EXPECT_TRUE(dma.aborted.level());
}

TEST_F(DmaNotifications, RingOverItsOwnSizeRegisterDropsNoEntryOfOthers) {
    const auto at_slot = [&](unsigned slot) {
        return block(0) + nq::offset(nq::reg::slot_base_lo, slot);
    };
    init_ring(0, 3, at_slot(3) - 4);  // the entry's last word is written to SIZE
    init_ring(0, 5, host_at + 0x10000);
    post(0, 3);
    post(0, 5);
    run(1000);
    EXPECT_EQ(entries(0, 5), 1u);
    EXPECT_EQ(entries(0, 3), 0u) << "restarted";
    post(0, 5);
    run(1000);
    EXPECT_EQ(entries(0, 5), 2u);
}

}  // namespace
