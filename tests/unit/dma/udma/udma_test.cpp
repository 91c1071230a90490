// SPDX-License-Identifier: Apache-2.0
#include "models/misuse_rules.h"
#include "tests/support/register_contract.h"
#include "tests/unit/dma/udma/udma_fixture.h"

namespace {

using namespace trn;
using namespace trn::test;

constexpr std::uint32_t abort_nibbles = 0x2222;

TEST_F(DmaEngineTest, KeepsItsRegisterContract) {
    // The last instance has the same registers as the first.
    register_contract(cpu, udma_regs::table, registers_at + 31 * dma.settings().stride).check();
}

TEST_F(DmaEngineTest, CopyAdvancesTheRingHeads) {
    init_queue();
    fill(src, 4096, 3);
    put_copy(src, dst, 4096);
    ring_both(1);
    EXPECT_EQ(read(reg::m2s_q_tail, 0), 0x40000001u);
    run(10'000);
    EXPECT_TRUE(filled(dst, 4096, 3));
    EXPECT_EQ(head(m2s), 0x40000001u);
    EXPECT_EQ(head(s2m), 0x40000001u);
    EXPECT_EQ(dma.count(0).bytes, 4096u);
    EXPECT_EQ(read(reg::m2s_state), 0u);
}

TEST_F(DmaEngineTest, CorruptedDescriptorStopsItsQueueAndTheNextIsCorrect) {
    init_queue();
    fill(src, 4096, 3);
    const fault_arguments where{{"engine", "0"}, {"queue", "0"}};
    auto damage = where;
    damage["side"] = "1";
    damage["bit"] = "109";  // bit 45 of the address
    dma.inject("descriptor_damaged", damage);
    put_copy(src, dst, 4096);
    ring_both(1);
    run(10'000);
    EXPECT_FALSE(filled(dst, 4096, 3));
    EXPECT_EQ(misuse::count(misuse::unmapped_destination), 0u);  // software is not to blame
    EXPECT_EQ(dma.count(0).aborts, 1u);
    write(reg::m2s_change_state, 1);
    write(reg::s2m_change_state, 1);
    run(10'000);
    EXPECT_TRUE(filled(dst, 4096, 3));  // the descriptor in memory is unchanged
    damage["bit"] = "128";
    EXPECT_THROW(dma.inject("descriptor_damaged", damage), fault_error);
}

TEST_F(DmaEngineTest, DamageThatDidNotStopTheQueueHidesNoMisuseOfLaterWork) {
    init_queue();
    dma.inject("descriptor_damaged",
               {{"engine", "0"}, {"queue", "0"}, {"side", "1"}, {"bit", "64"}});
    put_copy(src, dst, 64);
    ring_both(1);
    run(10'000);
    EXPECT_EQ(dma.count(0).aborts, 0u);
    put_copy(src, std::uint64_t{1} << 45, 64);
    ring_both(1);
    run(10'000);
    EXPECT_EQ(dma.count(0).aborts, 1u);
    EXPECT_EQ(misuse::count(misuse::unmapped_destination), 1u);
}

TEST_F(DmaEngineTest, WorkedExampleOfTheContractWritesTheMarkerAfterTheData) {
    // Device contract, appendix B: 4 KiB host to device, then a 4-byte marker host to host.
    init_queue(0, 8192);
    const std::uint64_t h = host_at + 0x5000, c = host_at + 0x100;
    fill(h, 4096, 9);
    const std::uint32_t marker = 0xabcdef01;
    std::memcpy(at(c), &marker, 4);
    put(m2s, h, 4096, first | last, 0, 0, 0x05080003);
    put(s2m, dst, 4096, 0);
    put_copy(c, c + 4, 4);
    ring_both(2);
    std::uint32_t seen = 0;
    for (int us = 0; us < 20 && seen == 0; ++us) {
        run(100);
        std::memcpy(&seen, at(c + 4), 4);
    }
    EXPECT_EQ(seen, marker);
    EXPECT_TRUE(filled(dst, 4096, 9));
}

/// A host's doorbell write and the work that it starts.
struct host_doorbell : DmaEngineTest {
    started_work ring(unsigned side, std::uint32_t count, unsigned q = 0) {
        started_work::collector started;
        doorbell(side, count, q);
        return started.collected();
    }
};
using DmaHostDoorbell = host_doorbell;

TEST_F(DmaHostDoorbell, CompletesWithItsDescriptors) {
    init_queue();
    for (unsigned i = 0; i < 10; ++i) put_copy(src + i * 65536, dst + i * 65536, 65536);
    fill(src, 10 * 65536, 3);
    EXPECT_TRUE(ring(s2m, 10).finished());  // destinations alone start no work
    const auto work = ring(m2s, 10);
    while (!work.finished()) {
        ASSERT_FALSE(filled(dst, 10 * 65536, 3));
        run(10);
    }
    EXPECT_TRUE(filled(dst, 10 * 65536, 3));
    EXPECT_TRUE(ring(m2s, 0).finished());
}

TEST_F(DmaHostDoorbell, CompletesIndependentlyOfOtherQueues) {
    init_queue(0);
    init_queue(1, 8192);
    for (unsigned i = 0; i < 1000; ++i) put_copy(src, dst + i * 65536, 65536, 1);
    ring_both(1000, 1);
    put_copy(src, dst, 64);
    ring(s2m, 1);
    const auto work = ring(m2s, 1);
    EXPECT_FALSE(work.finished());
    run(100'000);
    EXPECT_TRUE(work.finished());
    EXPECT_TRUE(dma.busy());
}

TEST_F(DmaHostDoorbell, CompletesWhenItsQueueStops) {
    init_queue();
    put(m2s, src, 4096, first | last);
    EXPECT_TRUE(ring(m2s, 1).finished());  // no destination is posted
    put(s2m, dst, 64, 0);
    const auto starved = ring(s2m, 1);
    EXPECT_FALSE(starved.finished());
    run(10'000);
    EXPECT_TRUE(starved.finished());  // 64 of 4096 bytes have a destination
    EXPECT_TRUE(dma.busy());

    init_queue(1);
    put_copy(1ull << 60, dst, 64, 1);
    doorbell(s2m, 1, 1);
    const auto aborted = ring(m2s, 1, 1);
    run(10'000);
    EXPECT_TRUE(aborted.finished());
    EXPECT_EQ(dma.count(0).aborts, 1u);

    init_queue(2);
    put_copy(src, dst, 64, 2);
    doorbell(s2m, 1, 2);
    const auto dropped = ring(m2s, 1, 2);
    EXPECT_FALSE(dropped.finished());
    write(reg::m2s_change_state, 4);
    EXPECT_TRUE(dropped.finished());
}

TEST_F(DmaHostDoorbell, DoesNotWaitForHostMemoryMessages) {
    init_queue();
    put_copy(message_at, dst, 64);
    ring(s2m, 1);
    const auto work = ring(m2s, 1);
    EXPECT_FALSE(work.finished());
    run(10'000);
    EXPECT_EQ(messages.questions, 1u);
    EXPECT_TRUE(work.finished());
}

TEST_F(DmaHostDoorbell, FirmwareDoorbellHasNoWaitingHost) {
    init_queue();
    put_copy(src, dst, 64);
    ring_both(1);
    EXPECT_EQ(started_work::current(), nullptr);
}

TEST_F(DmaEngineTest, LengthZeroIs64KiB) {
    init_queue();
    fill(src, 65536, 1);
    put_copy(src, dst, 65536);
    ring_both(1);
    run(10'000);
    EXPECT_TRUE(filled(dst, 65536, 1));
}

TEST_F(DmaEngineTest, DataIsVisibleOnlyWhenTheTransferCompletes) {
    init_queue();
    fill(src, 65536, 1);
    put_copy(src, dst, 65536);
    ring_both(1);
    // 50 doorbell + 1300 start + 65536 / 38.4 GB/s = 1706.7 + 16 overhead + 120 + 60 latency
    run(3252);
    EXPECT_EQ(at(dst)[0], 0);
    EXPECT_EQ(read(reg::m2s_state), 0x1111u);
    run(1);
    EXPECT_TRUE(filled(dst, 65536, 1));
}

TEST_F(DmaEngineTest, DescriptorsFollowAtTheEngineRate) {
    init_queue();
    for (unsigned i = 0; i < 10; ++i) put_copy(src + i * 65536, dst + i * 65536, 65536);
    ring_both(10);
    run(1350 + 10 * (1706.67 + 16) + 180 - 20);
    EXPECT_EQ(done(m2s), 0x40000009u);
    run(40);
    EXPECT_EQ(done(m2s), 0x4000000au);
}

TEST_F(DmaEngineTest, DoorbellDuringACopyIsNotLost) {
    init_queue();
    fill(src, 65536, 1);
    put_copy(src, dst, 65536);
    ring_both(1);
    run(2000);
    put_copy(src, dst + 65536, 65536);
    ring_both(1);
    run(10'000);
    EXPECT_TRUE(filled(dst + 65536, 65536, 1));
}

TEST_F(DmaEngineTest, DestinationsAloneStartNoTransfer) {
    init_queue();
    put_copy(src, dst, 64);
    doorbell(s2m, 1);
    run(10'000);
    EXPECT_EQ(head(s2m), 0x40000000u);
    doorbell(m2s, 1);
    run(10'000);
    EXPECT_EQ(head(s2m), 0x40000001u);
}

TEST_F(DmaEngineTest, HeadRunsAheadToTheNextDescriptorToFetch) {
    init_queue();
    for (unsigned i = 0; i < 10; ++i) put_copy(src, dst, 65536);
    ring_both(10);
    run(1400);  // the first fetch has ended, no copy has
    EXPECT_EQ(done(m2s), 0x40000000u);
    EXPECT_EQ(head(m2s), 0x40000008u);
    EXPECT_EQ(read(reg::m2s_q_completion_head), 0x40000000u);
}

TEST_F(DmaEngineTest, AddressSelectorsTruncateUpperAddressBits) {
    init_queue();
    fill(src, 64, 3);
    write(reg::address_hi_tx, ~(1u << 5));
    write(reg::address_hi_rx_0, ~(1u << 6));
    put_copy(src + (1ull << 37), dst + (1ull << 38), 64);
    ring_both(1);
    run(5'000);
    EXPECT_TRUE(filled(dst, 64, 3));
}

TEST_F(DmaEngineTest, LengthZeroCanMeanNoData) {
    init_queue();
    fill(src, 64, 3);
    write(reg::m2s_packet_length, 0x000fffff);
    put(m2s, 0x1234'5678'9000, 0, first);  // an empty copy from an unmapped address
    put(m2s, src, 64, last);
    put(s2m, dst, 64, 0);
    doorbell(s2m, 1);
    doorbell(m2s, 2);
    run(5'000);
    EXPECT_TRUE(filled(dst, 64, 3));
    EXPECT_EQ(done(m2s), 0x40000002u);
}

TEST_F(DmaEngineTest, DisabledStreamHoldsTheWork) {
    init_queue();
    fill(src, 64, 3);
    write(reg::s2m_stream_cfg, 0x111);
    put_copy(src, dst, 64);
    ring_both(1);
    run(5'000);
    EXPECT_FALSE(filled(dst, 64, 3));
    write(reg::s2m_stream_cfg, 0x110);
    run(5'000);
    EXPECT_TRUE(filled(dst, 64, 3));
}

TEST_F(DmaEngineTest, MisalignedRingIsCountedOnceAndNotAsAWrongLength) {
    misuse::set_policy_of_all(misuse::policy::count);
    init_queue();
    write(reg::m2s_q_base_lo, static_cast<std::uint32_t>(ring_at) + 0x80);
    doorbell(m2s, 1);
    EXPECT_EQ(misuse::count(misuse::ring_base_misaligned), 1u);
    EXPECT_EQ(misuse::count(misuse::ring_shape), 0u);
}

TEST_F(DmaEngineTest, RingsWrapAndCountTheirPasses) {
    init_queue(0, 32);
    for (unsigned round = 0; round < 9; ++round) {
        for (unsigned i = 0; i < 16; ++i) put_copy(src + i, dst + i, 1);
        ring_both(16);
        run(20'000);
    }
    EXPECT_EQ(head(m2s), (1u << 30) | 16u);  // 144 descriptors: passes 1 2 3 0 1
    EXPECT_EQ(read(reg::s2m_q_tail), (1u << 30) | 16u);
    EXPECT_EQ(misuse::count(misuse::ring_id_mismatch), 0u);
}

TEST_F(DmaEngineTest, SourceAndDestinationSplitsMayDiffer) {
    init_queue();
    fill(src, 10'000, 5);
    put(m2s, src, 1000, first);
    put(m2s, src + 1000, 7000, 0);
    put(m2s, src + 8000, 2000, last);
    put(s2m, dst, 4096, 0);
    put(s2m, dst + 4096, 4096, 0);
    put(s2m, dst + 8192, 1808, 0);
    ring_both(3);
    run(20'000);
    EXPECT_TRUE(filled(dst, 10'000, 5));
    EXPECT_EQ(head(m2s), 0x40000003u);
    EXPECT_EQ(head(s2m), 0x40000003u);
}

TEST_F(DmaEngineTest, QueuesTakeTurnsAtPacketBoundaries) {
    init_queue(0);
    init_queue(1);
    for (unsigned i = 0; i < 8; ++i) {
        put_copy(src, dst + i * 65536, 65536, 0);
        put_copy(src, dst + (8 + i) * 65536, 65536, 1);
    }
    ring_both(8, 0);
    ring_both(8, 1);
    run(1350 + 8 * 1723 + 200);  // half of the work
    EXPECT_EQ(done(m2s, 0), 0x40000004u);
    EXPECT_EQ(done(m2s, 1), 0x40000004u);
}

TEST_F(DmaEngineTest, EnginesRunInParallel) {
    for (unsigned e : {0u, 31u}) {
        init_queue(0, 64, e);
        for (unsigned i = 0; i < 8; ++i) put_copy(src, dst + i * 65536, 65536, 0, e);
    }
    for (unsigned e : {0u, 31u}) ring_both(8, 0, e);
    run(1350 + 8 * 1723 + 250);
    EXPECT_EQ(head(m2s, 0, 0), 0x40000008u);
    EXPECT_EQ(head(m2s, 0, 31), 0x40000008u);
    EXPECT_FALSE(dma.engine_exists(1));
}

TEST_F(DmaEngineTest, BarrierCompletesBeforeTheNextDescriptorStarts) {
    init_queue();
    for (unsigned i = 0; i < 4; ++i) {
        put(m2s, src, 4096, first | last | barrier);
        put(s2m, dst + i * 4096, 4096, 0);
    }
    ring_both(4);
    // Each adds its latencies: 1350 + 4 * (106.7 + 16 + 180).
    run(1350 + 4 * 302.66 - 20);
    EXPECT_EQ(done(m2s), 0x40000003u);
    run(40);
    EXPECT_EQ(done(m2s), 0x40000004u);
}

TEST_F(DmaEngineTest, WritesReachSemaphores) {
    init_queue();
    const std::int32_t one = 1;
    std::memcpy(at(src), &one, 4);
    const std::uint64_t increment = semaphores_at + 0x1800 + 4 * 7;
    for (unsigned i = 0; i < 16; ++i) put_copy(src, increment, 4);
    ring_both(16);
    run(20'000);
    EXPECT_EQ(sems.block.value(7), 16);
}

TEST_F(DmaEngineTest, OneQueueCanRingTheDoorbellOfAnother) {
    init_queue(0);
    init_queue(1);
    fill(src, 512, 2);
    put_copy(src, dst, 512, 1);
    const std::uint32_t one = 1;
    std::memcpy(at(src + 0x1000), &one, 4);
    put_copy(src + 0x1000, address(reg::s2m_q_tail_increment, 1), 4, 0);
    put_copy(src + 0x1000, address(reg::m2s_q_tail_increment, 1), 4, 0);
    ring_both(2, 0);
    run(20'000);
    EXPECT_TRUE(filled(dst, 512, 2));
}

/// Writes to semaphores, which have a latency, among copies in HBM.
struct DmaSlowWriteTest : DmaEngineTest {
    static constexpr std::uint64_t set = semaphores_at + 0x1400, increment = semaphores_at + 0x1800;

    void SetUp() override {
        DmaEngineTest::SetUp();
        init_queue();
        const std::int32_t one = 1;
        std::memcpy(at(src), &one, 4);
        stack.accessed(tlm::TLM_WRITE_COMMAND, src, 4);
    }
    /// Nanoseconds until a further descriptor is complete.
    double wait_for_completion() {
        const auto before = done(s2m);
        double taken = 0;
        for (; done(s2m) == before && taken < 10'000; taken += 10) run(10);
        return taken;
    }
    double time_of_a_write() {
        put_copy(src, set, 4);
        ring_both(1);
        return wait_for_completion();
    }
};

TEST_F(DmaSlowWriteTest, CompletesWhenItsBytesHaveArrived) {
    const double fast = time_of_a_write();
    sems.latency = sc_time(2, sc_core::SC_US);
    EXPECT_NEAR(time_of_a_write(), fast + 2000, 20);
    EXPECT_EQ(dma.count(0).bytes, 8u);
    EXPECT_EQ(dma.count(0).descriptors, 2u);
}

TEST_F(DmaSlowWriteTest, HoldsUpNeitherTheMovesBehindItNorTheirArrival) {
    const double fast = time_of_a_write();
    fill(src + 64, 64, 3);
    sems.latency = sc_time(2, sc_core::SC_US);
    put_copy(src, set + 4, 4);
    put_copy(src + 64, dst, 64);
    put_copy(src, set + 8, 4);
    ring_both(3);
    const auto before = done(s2m);
    run(fast + 300);
    EXPECT_TRUE(filled(dst, 64, 3));
    EXPECT_EQ(sems.block.value(2), 1);
    EXPECT_EQ(done(s2m), before);
    run(2000);
    EXPECT_EQ(done(s2m), before + 3);
}

TEST_F(DmaSlowWriteTest, DoesNotWaitForTheDataBeforeItAndThenForItself) {
    const auto time_of_data_and_write = [this] {
        put_copy(src, dst, 65536);
        put_copy(src, set, 4);
        ring_both(2);
        return wait_for_completion() + wait_for_completion();
    };
    fill(src + 4, 65536 - 4, 3);
    const double fast = time_of_data_and_write();
    sems.latency = sc_time(50, sc_core::SC_NS);
    EXPECT_NEAR(time_of_data_and_write(), fast, 20);  // the data's latency is longer
}

TEST_F(DmaSlowWriteTest, HappensOnceIfItsQueueStopsMeanwhile) {
    const double fast = time_of_a_write();
    const auto before = done(s2m);
    sems.latency = sc_time(2, sc_core::SC_US);
    put_copy(src, increment + 4 * 7, 4);
    ring_both(1);
    run(fast + 100);
    EXPECT_EQ(done(s2m), before);
    write(reg::m2s_change_state, 4);
    write(reg::m2s_change_state, 1);
    run(10'000);
    EXPECT_EQ(sems.block.value(7), 1);
    EXPECT_EQ(done(s2m), before + 1);
    EXPECT_FALSE(dma.busy());
}

TEST_F(DmaSlowWriteTest, LeavesItsQueueIdleSoThatADoorbellStartsItAgain) {
    const double fast = time_of_a_write();
    fill(src + 64, 64, 3);
    sems.latency = sc_time(2, sc_core::SC_US);
    put_copy(src, set, 4);
    ring_both(1);
    run(fast);
    put_copy(src + 64, dst, 64);
    ring_both(1);
    run(1300);  // start latency
    EXPECT_FALSE(filled(dst, 64, 3));
    run(300);
    EXPECT_TRUE(filled(dst, 64, 3));
}

TEST_F(DmaSlowWriteTest, HasTheDelayOfItsReadWhenMemoryDefersIt) {
    sems.latency = sc_time(2, sc_core::SC_US);
    put_copy(semaphores_at + 0x1000, message_at, 4);
    ring_both(1);
    const auto before = done(s2m);
    while (messages.questions == 0) run(10);
    messages.answer();
    run(1900);
    EXPECT_EQ(done(s2m), before);
    run(100);
    EXPECT_EQ(done(s2m), before + 1);
}

TEST_F(DmaEngineTest, OverlappingCopiesMoveAscendingBursts) {
    init_queue();
    fill(src, 8192, 4);
    put_copy(src, src + 100, 4096);  // within one burst: as memmove()
    ring_both(1);
    run(10'000);
    EXPECT_TRUE(filled(src + 100, 4096, 4));
}

TEST_F(DmaEngineTest, InterruptFlagNotifiesSlotZero) {
    init_queue();
    const std::uint64_t nq = registers_at + 0x41000 + 0x100;
    cpu.write<std::uint32_t>(nq + 4, static_cast<std::uint32_t>(host_at >> 32));
    cpu.write<std::uint32_t>(nq + 0, 0x10000);
    cpu.write<std::uint32_t>(nq + 8, 4096);
    put(m2s, src, 64, first | last);
    put(s2m, dst, 64, interrupt);
    ring_both(1);
    run(10'000);
    EXPECT_EQ(cpu.read(nq + 0xc), 0x80000010u);  // phase 1, one entry
    std::array<std::uint32_t, 4> entry;
    std::memcpy(entry.data(), at(host_at + 0x10000), 16);
    EXPECT_EQ(entry[0], 0x80000000u | 4u);
    EXPECT_EQ(entry[1], 0x40000001u);
}

// ---- Resets

TEST_F(DmaEngineTest, QueueResetWhileBusyDropsTheWork) {
    init_queue();
    fill(src, 65536, 1);
    put_copy(src, dst, 65536);
    ring_both(1);
    run(2000);
    init_queue();  // takes over the queue of a dead process
    run(20'000);
    EXPECT_EQ(at(dst)[0], 0);
    EXPECT_EQ(head(m2s), 0x40000000u);
    fill(src, 100, 8);
    put_copy(src, dst + 65536, 100);
    ring_both(1);
    run(10'000);
    EXPECT_TRUE(filled(dst + 65536, 100, 8));
    EXPECT_EQ(misuse::summary().size(), 0u);
}

TEST_F(DmaEngineTest, ResetOfOneSideReturnsTheOtherSidesDescriptors) {
    init_queue();
    fill(src, 65536, 1);
    put_copy(src, dst, 65536);
    ring_both(1);
    run(2000);
    init_side(m2s, 0, 64);
    put(m2s, src, 65536, first | last);
    doorbell(m2s, 1);
    run(20'000);
    EXPECT_TRUE(filled(dst, 65536, 1));
}

TEST_F(DmaEngineTest, ResetLineClearsItsHalfOfTheGroup) {
    init_queue(0, 64, 0);
    init_queue(0, 64, 16);
    fill(src, 65536, 1);
    put_copy(src, dst, 65536, 0, 0);
    put_copy(src, dst + 65536, 65536, 0, 16);
    ring_both(1, 0, 0);
    ring_both(1, 0, 16);
    run(2000);
    reset_lines[0].set(true);
    run(20'000);
    EXPECT_EQ(at(dst)[0], 0);
    EXPECT_TRUE(filled(dst + 65536, 65536, 1));
    EXPECT_EQ(read(reg::m2s_q_cfg, 0, 0), 0x03000000u);
    EXPECT_EQ(read(reg::m2s_q_length, 0, 0), 0u);
    init_queue(0, 64, 0);  // held in reset: registers keep their reset values
    EXPECT_EQ(read(reg::m2s_q_length, 0, 0), 0u);
    reset_lines[0].set(false);
    init_queue(0, 64, 0);
    put_copy(src, dst, 65536, 0, 0);
    ring_both(1, 0, 0);
    run(20'000);
    EXPECT_TRUE(filled(dst, 65536, 1));
}

TEST_F(DmaEngineTest, EngineCanBeDisabledAndEnabled) {
    init_queue();
    put_copy(src, dst, 64);
    write(reg::m2s_change_state, 2);
    ring_both(1);
    run(10'000);
    EXPECT_EQ(head(m2s), 0x40000000u);
    write(reg::m2s_change_state, 1);
    run(10'000);
    EXPECT_EQ(head(m2s), 0x40000001u);
}

TEST_F(DmaEngineTest, QueueNeedsBothEnables) {
    init_queue();
    write(reg::s2m_q_cfg, 0x03010000);
    put_copy(src, dst, 64);
    ring_both(1);
    run(10'000);
    EXPECT_EQ(head(m2s), 0x40000000u);
    write(reg::s2m_q_cfg, 0x03030000);
    run(10'000);
    EXPECT_EQ(head(m2s), 0x40000001u);
}

// ---- Errors

struct DmaErrorTest : DmaEngineTest {
    /// Runs the posted work; checks that the queue stops with `cause` and works after its reset.
    void expect_abort(unsigned side, unsigned cause, const misuse::rule& rule,
                      std::uint64_t reports = 1) {
        run(20'000'000);
        EXPECT_EQ(read(reg::secondary_cause, side) >> cause & 1, 1u);
        EXPECT_EQ(read(side == m2s ? reg::m2s_state : reg::s2m_state), abort_nibbles);
        EXPECT_EQ(misuse::count(rule), reports);
        EXPECT_TRUE(dma.aborted.level());
        EXPECT_GE(dma.count(0).aborts, 1u);
        init_queue();
        EXPECT_FALSE(dma.aborted.level());
        EXPECT_EQ(read(reg::m2s_state), 0u);
        fill(src + 0x8000, 256, 6);
        put_copy(src + 0x8000, dst + 0x100000, 256);
        ring_both(1);
        run(10'000);
        EXPECT_TRUE(filled(dst + 0x100000, 256, 6));
    }
};

TEST_F(DmaErrorTest, UnmappedSourceAborts) {
    init_queue();
    put_copy(0x900000000, dst, 4096);
    ring_both(1);
    expect_abort(m2s, 8, misuse::unmapped_source);
}

TEST_F(DmaErrorTest, UnmappedDestinationAborts) {
    init_queue();
    put_copy(src, 0xffff'ffff'ffff'f000, 4096);
    ring_both(1);
    expect_abort(s2m, 1, misuse::unmapped_destination);
}

TEST_F(DmaErrorTest, HeadShowsTheDescriptorThatFailed) {
    init_queue();
    put_copy(src, dst, 64);
    put_copy(src, dst + 64, 64);
    put_copy(0x900000000, dst, 64);
    put_copy(src, dst + 128, 64);
    ring_both(4);
    run(10'000);
    EXPECT_EQ(head(m2s), 0x40000002u);
    EXPECT_EQ(read(reg::m2s_q_status), 0x80000002u);
}

TEST_F(DmaErrorTest, UnmappedRingAborts) {
    init_queue(0, 64, 0, 0xa000'0000'0000);
    ring_both(1);
    expect_abort(m2s, 11, misuse::unmapped_descriptor);
}

TEST_F(DmaErrorTest, WrongRingIdAborts) {
    init_queue();
    put(m2s, src, 64, first | last | 2u << 24);
    put(s2m, dst, 64, 0);
    ring_both(1);
    expect_abort(m2s, 17, misuse::ring_id_mismatch);
}

TEST_F(DmaErrorTest, WrongRingIdOfADestinationAborts) {
    init_queue();
    put(m2s, src, 64, first | last);
    put(s2m, dst, 64, 2u << 24);
    ring_both(1);
    expect_abort(s2m, 11, misuse::ring_id_mismatch);
}

TEST_F(DmaErrorTest, MaskedRingIdErrorIsCountedAndTheCopyRuns) {
    init_queue();
    write(reg::secondary_abort_mask, 1u << 17, 0);
    fill(src, 64, 3);
    put(m2s, src, 64, first | last | 2u << 24);
    put(s2m, dst, 64, 0);
    ring_both(1);
    run(10'000);
    EXPECT_TRUE(filled(dst, 64, 3));
    EXPECT_EQ(misuse::count(misuse::ring_id_mismatch, "dma"), 1u);
    EXPECT_FALSE(dma.aborted.level());
}

TEST_F(DmaErrorTest, MissingFirstBitAborts) {
    init_queue();
    put(m2s, src, 64, last);
    put(s2m, dst, 64, 0);
    ring_both(1);
    expect_abort(m2s, 15, misuse::first_bit_error);
}

TEST_F(DmaErrorTest, MissingLastBitAborts) {
    init_queue();
    put(m2s, src, 64, first);
    put(m2s, src, 64, first | last);
    put(s2m, dst, 64, 0);
    put(s2m, dst, 64, 0);
    ring_both(2);
    expect_abort(m2s, 16, misuse::last_bit_error);
}

TEST_F(DmaErrorTest, TooManyDescriptorsAbort) {
    init_queue(0, 128);
    for (unsigned i = 0; i < 66; ++i) put(m2s, src, 16, i == 0 ? first : i == 65 ? last : 0);
    put(s2m, dst, 66 * 16, 0);
    doorbell(s2m, 1);
    doorbell(m2s, 66);
    expect_abort(m2s, 14, misuse::too_many_descriptors);
}

TEST_F(DmaErrorTest, SixtyFiveDescriptorsAreAllowed) {
    init_queue(0, 128);
    fill(src, 65 * 16, 2);
    for (unsigned i = 0; i < 65; ++i)
        put(m2s, src + i * 16, 16, i == 0 ? first : i == 64 ? last : 0);
    put(s2m, dst, 65 * 16, 0);
    doorbell(s2m, 1);
    doorbell(m2s, 65);
    run(20'000);
    EXPECT_TRUE(filled(dst, 65 * 16, 2));
}

TEST_F(DmaErrorTest, TooLongPacketAborts) {
    init_queue();
    for (unsigned i = 0; i < 16; ++i) {  // 1 MiB, the limit is one byte less
        put(m2s, src + i * 65536, 65536, i == 0 ? first : i == 15 ? last : 0);
        put(s2m, dst + i * 65536, 65536, 0);
    }
    ring_both(16);
    expect_abort(m2s, 13, misuse::packet_too_long);
}

TEST_F(DmaErrorTest, PacketEndingInsideADestinationAborts) {
    init_queue();
    put(m2s, src, 64, first | last);
    put(s2m, dst, 128, 0);
    ring_both(1);
    expect_abort(s2m, 24, misuse::length_mismatch);
}

TEST_F(DmaErrorTest, PacketWithoutEnoughDestinationTimesOut) {
    init_queue();
    put(m2s, src, 128, first | last);
    put(s2m, dst, 64, 0);
    ring_both(1);
    run(5'000'000);
    EXPECT_EQ(read(reg::m2s_state), 0x1111u);
    expect_abort(m2s, 3, misuse::destination_starved);
}

TEST_F(DmaErrorTest, DoorbellPastTheRingAborts) {
    init_queue();
    doorbell(m2s, 65);
    expect_abort(m2s, 14, misuse::doorbell_past_ring);
}

TEST_F(DmaErrorTest, DoorbellWithoutRingIsIgnored) {
    write(reg::m2s_q_cfg, 0x30000);
    write(reg::s2m_q_cfg, 0x30000);
    ring_both(1);
    run(10'000);
    EXPECT_EQ(misuse::count(misuse::doorbell_without_ring), 2u);
    EXPECT_EQ(read(reg::m2s_state), 0u);
}

TEST_F(DmaErrorTest, RingLengthNotAMultipleOfSixteenIsReportedAndUsed) {
    init_queue(0, 40);
    fill(src, 64, 1);
    put_copy(src, dst, 64);
    ring_both(1);
    run(10'000);
    EXPECT_EQ(misuse::count(misuse::ring_shape), 2u);
    EXPECT_TRUE(filled(dst, 64, 1));
}

TEST_F(DmaErrorTest, ReservedOperationTypeStopsTheQueue) {
    init_queue();
    fill(src, 64, 1);
    put(m2s, src, 64, first | last, 0, 0, 0x01080003 | 5u << 20);
    put(s2m, dst, 64, 0);
    ring_both(1);
    run(10'000);
    EXPECT_EQ(misuse::count(misuse::unsupported_descriptor), 1u);
    EXPECT_FALSE(filled(dst, 64, 1));
}

TEST_F(DmaErrorTest, DoorbellOfAStoppedQueueIsIgnored) {
    init_queue();
    put_copy(0x900000000, dst, 64);
    ring_both(1);
    run(10'000);
    doorbell(m2s, 1);
    EXPECT_EQ(misuse::count(misuse::doorbell_on_aborted_queue), 1u);
    EXPECT_EQ(misuse::count(misuse::doorbell_past_ring), 0u);
}

TEST_F(DmaErrorTest, MisalignedRingBaseIsReported) {
    init_queue(0, 64, 0, ring_at + 0x80);
    EXPECT_EQ(misuse::count(misuse::ring_base_misaligned, "dma"), 2u);
    init_queue(0, 64, 0, ring_at + 0x100);
    EXPECT_EQ(misuse::count(misuse::ring_base_misaligned), 2u);
}

struct named_hart final : initiator {
    named_hart() : initiator(kind::firmware) {}
    std::string describe() const override { return "a hart"; }
};

struct HostTransferTest : DmaEngineTest {
    HostTransferTest() : DmaEngineTest({.host_transfer = true}) {}
};

TEST_F(HostTransferTest, SoftwareResetOfABusyEngineIsReported) {
    const named_hart hart;
    const auto pulse = [&] {
        reset_lines[0].set(true);
        reset_lines[0].set(false);
    };
    const auto post = [&] {
        init_queue();
        put_copy(src, dst, 65536);
        ring_both(1);
    };
    post();
    pulse();  // by the watchdog
    EXPECT_EQ(misuse::count(misuse::reset_while_owned), 0u);
    fill(src, 65536, 1);
    post();
    run(100'000);
    const acting as(hart);
    pulse();  // all work has ended
    EXPECT_EQ(misuse::count(misuse::reset_while_owned), 0u);
    post();
    pulse();
    EXPECT_EQ(misuse::count(misuse::reset_while_owned), 1u);
    EXPECT_EQ(misuse::summary().at(0).first_detail, "engine 0: 2 descriptors");
}

TEST_F(DmaErrorTest, CoreEngineResetIsNotReported) {
    const named_hart hart;
    init_queue();
    put_copy(src, dst, 65536);
    ring_both(1);
    const acting as(hart);
    reset_lines[0].set(true);
    reset_lines[0].set(false);
    EXPECT_EQ(misuse::reports(), 0u);
}

TEST_F(DmaErrorTest, UnwrittenHbmReadIsReportedOnceWithItsQueue) {
    init_queue();
    for (int i = 0; i < 2; ++i) {
        put_copy(src, dst, 65536);
        ring_both(1);
        run(100'000);
    }
    EXPECT_EQ(misuse::count(misuse::dma_from_unwritten_hbm, "stack"), 1u);
    EXPECT_EQ(misuse::summary().at(0).first_initiator, "engine 0 queue 0");
    put_copy(dst, dst + 0x10000, 65536);  // was written by the first copy
    put_copy(src + 0x100000, dst, 8);     // too short for a DMI request
    ring_both(2);
    run(100'000);
    EXPECT_EQ(misuse::count(misuse::dma_from_unwritten_hbm), 2u);
}

TEST_F(DmaErrorTest, OtherQueuesContinueWhenOneStops) {
    init_queue(0);
    init_queue(1);
    fill(src, 64, 1);
    put_copy(0x900000000, dst, 64, 0);
    put_copy(src, dst, 64, 1);
    ring_both(1, 0);
    ring_both(1, 1);
    run(10'000);
    EXPECT_EQ(read(reg::m2s_state), abort_nibbles);
    EXPECT_TRUE(filled(dst, 64, 1));
}

TEST_F(DmaErrorTest, ErrorsReachThePrimaryGroupWhenUnmasked) {
    init_queue();
    write(reg::secondary_mask_clear, ~(1u << 8), 0);
    put_copy(0x900000000, dst, 64);
    ring_both(1);
    run(10'000);
    EXPECT_EQ(read(reg::primary_cause, 3), 0x100u);
    EXPECT_EQ(read(reg::secondary_status, 0), 1u << 8);
    write(reg::secondary_cause, 0, 0);
    EXPECT_EQ(read(reg::secondary_cause, 0), 0u);
}

TEST_F(DmaErrorTest, UncorrectableMemoryErrorIsAReadError) {
    init_queue();
    fill(src, 4096, 1);
    stack.inject_error(memory_error::uncorrected, src + 100);
    put_copy(src, dst, 4096);
    ring_both(1);
    expect_abort(m2s, 8, misuse::unmapped_source, 0);  // software is not to blame
    EXPECT_EQ(misuse::summary().size(), 0u);
}

TEST_F(DmaErrorTest, ChangeStateAbortsAndNormalResumes) {
    init_queue();
    fill(src, 65536, 1);
    put_copy(src, dst, 65536);
    ring_both(1);
    run(2000);
    write(reg::m2s_change_state, 4);
    write(reg::s2m_change_state, 4);
    run(10'000);
    EXPECT_EQ(read(reg::m2s_state), abort_nibbles);
    EXPECT_EQ(at(dst)[0], 0);
    write(reg::m2s_change_state, 1);
    write(reg::s2m_change_state, 1);
    run(10'000);
    EXPECT_TRUE(filled(dst, 65536, 1));
}

TEST_F(DmaErrorTest, IdleEngineCanBeAborted) {
    write(reg::m2s_change_state, 4);
    EXPECT_EQ(read(reg::m2s_state), abort_nibbles);
    EXPECT_EQ(read(reg::s2m_state), 0u);
    write(reg::m2s_change_state, 1);
    EXPECT_EQ(read(reg::m2s_state), 0u);
}

// ---- Deferred memory replies

TEST_F(DmaEngineTest, WaitsForDeferredMemoryResponses) {
    init_queue();
    for (unsigned i = 0; i < 6000; ++i) messages.bytes[i] = static_cast<std::uint8_t>(i * 3);
    put_copy(message_at, dst, 6000);
    ring_both(1);
    run(10'000);
    EXPECT_EQ(messages.questions, 1u);
    EXPECT_EQ(at(dst)[3], 0);
    ASSERT_TRUE(dma.describe_wait().has_value());
    run(1'000'000);
    EXPECT_EQ(messages.questions, 1u);
    messages.answer();
    run(1000);
    EXPECT_EQ(messages.questions, 2u);
    messages.answer();
    run(1000);
    EXPECT_EQ(head(m2s), 0x40000001u);
    EXPECT_EQ(std::memcmp(at(dst), messages.bytes.data(), 6000), 0);
    EXPECT_EQ(messages.abandoned_questions, 0u);
}

TEST_F(DmaEngineTest, WaitsForDeferredRingAndDestinationResponses) {
    init_queue();
    fill(src, 4096, 1);
    std::array<std::uint32_t, 4> d{0x0D001000, 0x01080003, src, 0};
    std::memcpy(messages.bytes.data() + 0x8000, d.data(), 16);
    write(reg::m2s_q_base_lo, static_cast<std::uint32_t>(message_at + 0x8000));
    write(reg::m2s_q_base_hi, static_cast<std::uint32_t>(message_at >> 32));
    put(s2m, message_at, 4096, 0);
    ring_both(1);
    for (int i = 0; i < 3; ++i) {
        run(10'000);
        messages.answer();
    }
    run(10'000);
    EXPECT_EQ(std::memcmp(at(src), messages.bytes.data(), 4096), 0);
    EXPECT_EQ(head(s2m), 0x40000001u);
    EXPECT_EQ(messages.abandoned_questions, 0u);
}

TEST_F(DmaEngineTest, OtherQueuesOfTheEngineStartWhileOneWaitsForMemory) {
    init_queue(0);
    init_queue(1);
    put_copy(message_at, dst, 64, 0);
    ring_both(1, 0);
    run(10'000);
    fill(src, 64, 1);
    put_copy(src, dst + 4096, 64, 1);
    ring_both(1, 1);
    run(10'000);
    EXPECT_FALSE(filled(dst + 4096, 64, 1));  // an engine completes in order
    messages.answer();
    run(1000);
    EXPECT_TRUE(filled(dst + 4096, 64, 1));
}

TEST_F(DmaEngineTest, ResetAbandonsAPendingMemoryRequest) {
    init_queue();
    put_copy(message_at, dst, 4096);
    ring_both(1);
    run(10'000);
    init_queue();
    fill(src, 64, 1);
    put_copy(src, dst, 64);
    ring_both(1);
    run(10'000);
    EXPECT_TRUE(filled(dst, 64, 1));
    messages.answer();
    run(10'000);
    EXPECT_EQ(head(m2s), 0x40000001u);
}

// ---- Functional timing

struct DmaFunctionalTest : DmaEngineTest {
    static void SetUpTestSuite() { set_timing(timing_mode::functional); }
};

TEST_F(DmaFunctionalTest, MovesTheSameBytesAtOnce) {
    init_queue();
    fill(src, 65536, 1);
    put_copy(src, dst, 65536);
    ring_both(1);
    run(61);  // 50 doorbell + 10 of the step
    EXPECT_TRUE(filled(dst, 65536, 1));
}

TEST_F(DmaFunctionalTest, BoundsTheWorkPerActivation) {
    init_queue(0, 1024);
    for (unsigned i = 0; i < 512; ++i) put_copy(src, dst + i * 65536, 65536);
    ring_both(512);
    run(61);
    const unsigned after_one = head(m2s) & 0xffffff;
    EXPECT_GT(after_one, 0u);
    EXPECT_LE(after_one, 8u);
    run(10'000);
    EXPECT_EQ(head(m2s), 0x40000200u);
}

}  // namespace
