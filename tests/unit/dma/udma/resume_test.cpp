// SPDX-License-Identifier: Apache-2.0
// Queues stopped inside a packet, and what they do when software lets them run again.
#include <gtest/gtest.h>

#include <random>

#include "models/dma/udma/dma_descriptor_regs.h"
#include "models/misuse_rules.h"
#include "platform/framework/kernel/trace.h"
#include "tests/unit/dma/udma/udma_fixture.h"

namespace {

using namespace trn;
using test::DmaEngineTest, test::m2s, test::s2m, test::src, test::dst, test::reg;
namespace op = dma_descriptor_regs::compute_operation;

constexpr std::uint32_t half = 32 << 10, whole = 64 << 10;
constexpr std::uint32_t with_operation = 0x01080003 | 1u << 20;

struct DmaResumeTest : DmaEngineTest {
    static constexpr std::uint32_t pending_mask = 0xffffff;

    void run_until_done(unsigned side, std::uint32_t index) {
        for (int step = 0; step < 1000 && done(side) != (0x40000000 | index); ++step) run(10);
        ASSERT_EQ(done(side), 0x40000000 | index);
    }
    void abort_and_resume() {
        write(reg::m2s_change_state, 4);
        run(100);
        write(reg::m2s_change_state, 1);
    }
    std::uint32_t pending(unsigned side) {
        return read(side == m2s ? reg::m2s_q_status : reg::s2m_q_status) & pending_mask;
    }
};

TEST_F(DmaResumeTest, OneSourceContinuesInItsSecondDestination) {
    init_queue();
    fill(src, whole, 1);
    put(m2s, src, whole, first | last);
    put(s2m, dst, half, 0);
    put(s2m, dst + half, half, 0);
    doorbell(s2m, 2);
    doorbell(m2s, 1);
    run_until_done(s2m, 1);
    EXPECT_EQ(done(m2s), 0x40000000u);
    abort_and_resume();
    run(10'000);
    EXPECT_TRUE(filled(dst, whole, 1));
    EXPECT_EQ(pending(m2s), 0u);
    EXPECT_EQ(pending(s2m), 0u);
}

TEST_F(DmaResumeTest, SecondSourceContinuesInItsDestination) {
    init_queue();
    fill(src, whole, 1);
    put(m2s, src, half, first);
    put(m2s, src + half, half, last);
    put(s2m, dst, whole, 0);
    doorbell(s2m, 1);
    doorbell(m2s, 2);
    run_until_done(m2s, 1);
    abort_and_resume();
    run(10'000);
    EXPECT_TRUE(filled(dst, whole, 1));
    EXPECT_FALSE(dma.aborted.level());
    EXPECT_EQ(misuse::count(misuse::first_bit_error), 0u);
}

TEST_F(DmaResumeTest, FailedPieceIsRepeatedAfterSoftwareHasCorrectedItsDescriptor) {
    init_queue();
    fill(src, whole, 1);
    put(m2s, src, half, first);
    put(m2s, 0x9'0000'0000, half, last);
    put(s2m, dst, whole, 0);
    doorbell(s2m, 1);
    doorbell(m2s, 2);
    run(10'000);
    EXPECT_EQ(misuse::count(misuse::unmapped_source), 1u);
    EXPECT_EQ(head(m2s), 0x40000001u);
    std::memset(at(dst), 0, half);  // what is done is not repeated
    const std::uint64_t corrected = src + half;
    std::memcpy(at(ring_at + 16 + 8), &corrected, sizeof corrected);
    write(reg::m2s_change_state, 1);
    run(10'000);
    EXPECT_EQ(std::memcmp(at(dst + half), at(src + half), half), 0);
    EXPECT_EQ(at(dst)[100], 0);
    EXPECT_EQ(pending(s2m), 0u);
}

TEST_F(DmaResumeTest, DescriptorShortenedWhileStoppedEndsAtItsNewLength) {
    init_queue();
    put(m2s, src, whole, first | last);
    put(s2m, dst, half, 0);
    put(s2m, dst + half, half, 0);
    put(s2m, dst + whole, half, 0);
    doorbell(s2m, 2);
    doorbell(m2s, 1);
    run_until_done(s2m, 1);
    write(reg::m2s_change_state, 4);
    const std::uint32_t shorter = first | last | 1u << 24 | 16;
    std::memcpy(at(ring_at), &shorter, sizeof shorter);
    write(reg::m2s_change_state, 1);
    run(10'000);
    EXPECT_EQ(misuse::count(misuse::length_mismatch), 1u);
}

TEST_F(DmaResumeTest, ResetOfOneSideRepeatsThePartlyMovedDescriptorOfTheOther) {
    init_queue();
    fill(src, whole, 1);
    put(m2s, src, whole, first | last);
    put(s2m, dst, half, 0);
    put(s2m, dst + half, half, 0);
    doorbell(s2m, 2);
    doorbell(m2s, 1);
    run_until_done(s2m, 1);
    init_side(s2m, 0, 64);
    put(s2m, dst + whole, whole, 0);
    doorbell(s2m, 1);
    run(10'000);
    EXPECT_TRUE(filled(dst + whole, whole, 1));
    EXPECT_EQ(pending(m2s), 0u);
}

TEST_F(DmaResumeTest, StopsAtAnyTimeLoseAndRepeatNoByte) {
    std::mt19937 random(7);
    const auto below = [&](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    for (int round = 0; round < 40; ++round) {
        init_queue();
        fill(src, 4 * whole, static_cast<std::uint8_t>(round));
        const std::uint32_t total = 1 + below(3 * whole);
        std::uint32_t count[2] = {0, 0};
        for (const unsigned side : {m2s, s2m})
            for (std::uint32_t at = 0, length; at < total; at += length, ++count[side]) {
                length = std::min(total - at, 1 + below(whole));
                put(side, (side == m2s ? src : dst) + at, length,
                    side == s2m ? 0 : (at == 0 ? first : 0) | (at + length == total ? last : 0));
            }
        std::memset(at(dst), 0, total);
        doorbell(s2m, count[s2m]);
        doorbell(m2s, count[m2s]);
        for (int stops = 0; stops < 4; ++stops) {
            run(below(3000));
            abort_and_resume();
        }
        run(20'000);
        ASSERT_TRUE(filled(dst, total, static_cast<std::uint8_t>(round))) << round;
        ASSERT_EQ(pending(m2s) + pending(s2m), 0u);
        ASSERT_FALSE(dma.aborted.level());
    }
}

TEST_F(DmaResumeTest, AbandonedComputePacketsAreComplete) {
    init_queue(0, 64);
    write(reg::secondary_abort_mask, 1u << 16, 0);
    fill(src, 64, 5);
    for (unsigned n = 0; n < 100; ++n) {
        const auto add = op::operation.set(0, op::operation_add) | op::operands.set(0, 2);
        put(m2s, add, 0, first, 0, 0, with_operation);  // its sources are missing
        put(m2s, src, 64, 0);
        put_copy(src, dst + n * 64, 64);
        doorbell(s2m, 1);
        doorbell(m2s, 3);
        run(10'000);
        ASSERT_TRUE(filled(dst + n * 64, 64, 5)) << n;
        ASSERT_EQ(pending(m2s), 0u) << n;
    }
    EXPECT_EQ(misuse::count(misuse::last_bit_error), 100u);
}

TEST_F(DmaResumeTest, TooManySourcesOfAComputePacketStopTheQueueThoughTheErrorIsMasked) {
    init_queue(0, 1024);
    write(reg::secondary_abort_mask, 1u << 14, 0);
    put(m2s, op::operation.set(0, op::operation_copy) | op::operands.set(0, 1), 0, first, 0, 0,
        with_operation);
    for (unsigned n = 0; n < 65; ++n) put(m2s, src, 4, n == 64 ? last : 0);
    put(s2m, dst, 65 * 4, 0);
    doorbell(s2m, 1);
    doorbell(m2s, 66);
    run(10'000);
    EXPECT_TRUE(dma.aborted.level());
}

TEST_F(DmaResumeTest, DoorbellOfEitherSideOfAStoppedQueueIsIgnored) {
    init_queue();
    put_copy(0x9'0000'0000, dst, 64);  // stops the m2s side
    ring_both(1);
    run(10'000);
    ASSERT_TRUE(dma.aborted.level());
    doorbell(s2m, 1);
    EXPECT_EQ(misuse::count(misuse::doorbell_on_aborted_queue), 1u);
    EXPECT_EQ(pending(s2m), 1u);
}

// ---- Faults

struct DmaFaultTest : DmaResumeTest {
    static constexpr std::uint64_t errors = registers_at + 0x41000 + 0x100 + 0x28;  // slot 1

    void init_error_ring() {
        cpu.write<std::uint32_t>(errors + 4, static_cast<std::uint32_t>(host_at >> 32));
        cpu.write<std::uint32_t>(errors + 0, 0x10000);
        cpu.write<std::uint32_t>(errors + 8, 4096);
    }
    std::uint32_t error_entries() { return (cpu.read(errors + 0xc) & 0x7fffffff) / 16; }
    void abort_queue() { dma.inject("dma_abort", {{"engine", "0"}, {"queue", "0"}}); }
};

TEST_F(DmaFaultTest, AbortStopsOnceAndPostsOneEntry) {
    init_queue();
    init_error_ring();
    abort_queue();
    run(1000);
    EXPECT_EQ(dma.count(0).aborts, 1u);
    EXPECT_EQ(error_entries(), 1u);
    EXPECT_EQ(read(reg::m2s_state), 0x2222u);
    EXPECT_EQ(read(reg::s2m_state), 0x2222u);
    EXPECT_EQ(read(reg::secondary_cause, 0), 1u << 7);
}

TEST_F(DmaFaultTest, ErrorOfADoorbellIsPostedThoughNothingElseIsDue) {
    init_queue();
    init_error_ring();
    doorbell(s2m, 65);
    run(1000);
    EXPECT_EQ(error_entries(), 1u);
}

TEST_F(DmaFaultTest, EngineInResetIsNotAborted) {
    reset_lines[0].set(true);
    abort_queue();
    dma.inject("descriptor_damaged", {{"engine", "0"}, {"queue", "0"}, {"bit", "45"}});
    reset_lines[0].set(false);
    EXPECT_FALSE(dma.aborted.level());
    init_queue();
    fill(src, 64, 3);
    put_copy(src, dst, 64);
    ring_both(1);
    run(10'000);
    EXPECT_TRUE(filled(dst, 64, 3));
}

TEST_F(DmaFaultTest, ResetOfTheEngineLowersTheLineOfAnAbort) {
    init_queue();
    abort_queue();
    EXPECT_TRUE(dma.aborted.level());
    reset_lines[0].set(true);
    EXPECT_FALSE(dma.aborted.level());
}

TEST_F(DmaFaultTest, ResetOfTheEngineEndsAnArmedDamage) {
    init_queue();
    dma.inject("descriptor_damaged", {{"engine", "0"}, {"queue", "0"}, {"bit", "109"}});
    reset_lines[0].set(true);
    reset_lines[0].set(false);
    init_queue();
    fill(src, 64, 3);
    put_copy(src, dst, 64);
    ring_both(1);
    run(10'000);
    EXPECT_TRUE(filled(dst, 64, 3));
}

// ---- Operations in the trace

struct DmaOperationNames : DmaResumeTest {
    DmaOperationNames() {
        sems.block.note_posters();
        fill(src, 4, 1);
    }
    ~DmaOperationNames() override { trace::close(); }
    /// Posts a copy to a semaphore on behalf of `operation`.
    void post(unsigned semaphore, trace::operation operation) {
        const trace::on_behalf_of it(operation);
        put_copy(src, semaphores_at + 0x1400 + semaphore * 4, 4);
        ring_both(1);
    }
    trace::operation poster(unsigned semaphore) {
        return sems.block.poster_of(semaphore).operation;
    }
};

TEST_F(DmaOperationNames, DescriptorsPostedBeforeTheTraceHaveNone) {
    init_queue();
    write(reg::m2s_change_state, 2);
    post(0, 0);
    trace::open("");
    post(1, 77);
    write(reg::m2s_change_state, 1);
    run(10'000);
    EXPECT_EQ(poster(0), 0u);
    EXPECT_EQ(poster(1), 77u);
}

TEST_F(DmaOperationNames, DescriptorsKeepTheirsWhenTheOtherSideIsReset) {
    trace::open("");
    init_queue();
    write(reg::m2s_change_state, 2);
    post(0, 70);
    post(1, 71);
    init_side(s2m, 0, 64);
    for (const unsigned n : {0, 1}) put(s2m, semaphores_at + 0x1400 + n * 4, 4, 0);
    {
        const trace::on_behalf_of it(72);
        doorbell(s2m, 2);
    }
    put(s2m, semaphores_at + 0x1400 + 2 * 4, 4, 0);
    put(m2s, src, 4, first | last);
    {
        const trace::on_behalf_of it(72);
        ring_both(1);
    }
    write(reg::m2s_change_state, 1);
    run(10'000);
    EXPECT_EQ(poster(0), 70u);
    EXPECT_EQ(poster(1), 71u);
    EXPECT_EQ(poster(2), 72u);
}

}  // namespace
