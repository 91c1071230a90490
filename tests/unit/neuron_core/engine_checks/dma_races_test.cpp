// SPDX-License-Identifier: Apache-2.0
// Races of programs with DMA transfers that they start: doc/models/neuron_core/engine_checks.md.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "models/misuse_rules.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/unit/neuron_core/sequencer/dma_engine_test.h"

namespace {

using namespace trn;

class DmaRaces : public test::dma_engine_test {
protected:
    static constexpr engine V = engine::vector;

    void SetUp() override {
        dma_engine_test::SetUp();
        misuse::set_policy(misuse::tile_race, misuse::policy::log);
        init_rings(2, 64, 1);
    }
    static std::uint64_t races() { return misuse::count(misuse::tile_race); }
};

// Each accesses memory about 4 us after its start, when instructions of a few cycles have
// completed.
const std::string store =
    "dge_copy engines=1 queue=2 semaphore=40 piece=64 source=0x2000000000 [1:0]"
    " destination=0x20000000 [1:0]\n";
const std::string load =
    "dge_copy engines=1 queue=2 semaphore=40 piece=64 source=0x10000000 [1:0]"
    " destination=0x2000000000 [1:0]\n";
const std::string write = "memset dst=sbuf[0:1, 0] fp32 [16:1] imm=2.0\n";
const std::string read = "copy dst=sbuf[0:1, 4096] fp32 [16:1] a=sbuf[0:1, 0] fp32 [16:1]\n";

TEST_F(DmaRaces, AStoreStartedBeforeTheWriteOfItsTileRaces) {
    start(Y, store + "wait S[40]>=1 halt");
    start(V, write + "halt");
    run_for(100);
    ASSERT_EQ(semaphore(40), 1);
    EXPECT_EQ(word<float>(result), 2.0f) << "the write was complete: only the order is missing";
    EXPECT_EQ(races(), 1u);
}

TEST_F(DmaRaces, AStoreStartedAfterAWaitForTheWriteDoesNot) {
    start(Y, "wait S[4]>=1 nop\n" + store + "wait S[40]>=1 halt");
    start(V, "update S[4]+=1 " + write + "halt");
    run_for(100);
    ASSERT_EQ(semaphore(40), 1);
    EXPECT_EQ(races(), 0u);
}

TEST_F(DmaRaces, ATileReadBeforeTheEndOfItsLoadIsAwaitedRaces) {
    start(Y, load + "wait S[40]>=1 update S[5]+=1 nop\nhalt");
    start(V, "delay cycles=60000\n" + read + "halt");
    run_for(100);
    ASSERT_EQ(semaphore(5), 1);
    EXPECT_EQ(races(), 1u);
}

TEST_F(DmaRaces, ATileReadAfterAWaitForItsLoadDoesNot) {
    start(Y, load + "halt");
    start(V, "wait S[40]>=1 " + read + "halt");
    run_for(100);
    ASSERT_EQ(state_of(V), halted);
    EXPECT_EQ(races(), 0u);
}

TEST_F(DmaRaces, AnEngineThatAwaitsALoadOrdersOthers) {
    start(Y, load + "wait S[40]>=1 update S[5]+=1 nop\nhalt");
    start(V, "wait S[5]>=1 " + read + "halt");
    run_for(100);
    ASSERT_EQ(state_of(V), halted);
    EXPECT_EQ(races(), 0u);
}

TEST_F(DmaRaces, ATileThatIsWrittenAgainBeforeItsStoreIsAwaitedRaces) {
    start(Y, "wait S[4]>=1 nop\n" + store + "wait S[40]>=1 halt");
    start(V, "update S[4]+=1 " + write + "delay cycles=60000\n" + write + "halt");
    run_for(100);
    ASSERT_EQ(state_of(V), halted);
    EXPECT_EQ(races(), 1u);
}

TEST_F(DmaRaces, TheSemaphoreOfAStoreOrdersOnlyWhatItsStarterKnew) {
    start(Y, "wait S[4]>=1 nop\n" + store + "halt");
    start(V, "update S[4]+=1 nop\n" + write + "halt");  // posts the descriptor before it writes
    start(S,
          "wait S[40]>=1 activate op0=copy dst=sbuf[0:1, 8192] fp32 [16:1] "
          "a=sbuf[0:1, 0] fp32 [16:1]\nhalt");
    run_for(100);
    ASSERT_EQ(state_of(S), halted);
    EXPECT_EQ(races(), 2u) << "the store and the read, both with the write";
}

TEST_F(DmaRaces, OtherTilesDoNotRace) {
    start(Y, store + "wait S[40]>=1 halt");
    start(V, "memset dst=sbuf[0:1, 64] fp32 [16:1] imm=2.0\nhalt");
    run_for(100);
    EXPECT_EQ(races(), 0u);
}

/// The host has observed the end of the program, by a notification or in STATUS.
TEST_F(DmaRaces, AQueueThatTheHostStartsAfterTheEndDoesNotRace) {
    run(Y, store + "wait S[40]>=1 halt");
    run(V, write + "halt");
    run(Y, store + "wait S[40]>=2 halt");
    ASSERT_EQ(semaphore(40), 2);
    EXPECT_EQ(races(), 0u);
}

// ---- Races between queues

/// Like `load`, by queue 3.
const std::string other_load =
    "dge_copy engines=1 queue=3 semaphore=41 piece=64 source=0x10000000 [1:0]"
    " destination=0x2000000000 [1:0]\n";
const std::string other_store =
    "dge_copy engines=1 queue=3 semaphore=41 piece=64 source=0x2000000000 [1:0]"
    " destination=0x20000000 [1:0]\n";

TEST_F(DmaRaces, TwoQueuesThatFillOneTileRace) {
    init_rings(3, 64, 1);
    start(Y, load + other_load + "wait S[40]>=1 nop\nwait S[41]>=1 halt");
    run_for(100);
    ASSERT_EQ(state_of(Y), halted);
    EXPECT_EQ(races(), 1u);
}

TEST_F(DmaRaces, AStoreByAnotherQueueThanItsLoadRacesUnlessTheLoadIsAwaited) {
    init_rings(3, 64, 1);
    start(Y, load + "delay cycles=60000\n" + other_store + "wait S[41]>=1 halt");
    run_for(100);
    ASSERT_EQ(state_of(Y), halted);
    EXPECT_EQ(races(), 1u) << "long after the load";
    start(Y, load + "wait S[40]>=2 " + other_store + "wait S[41]>=2 halt");
    run_for(100);
    ASSERT_EQ(state_of(Y), halted);
    EXPECT_EQ(races(), 1u);
}

TEST_F(DmaRaces, TwoQueuesThatReadOneTileDoNotRace) {
    init_rings(3, 64, 1);
    start(Y, store + other_store + "wait S[40]>=1 nop\nwait S[41]>=1 halt");
    run_for(100);
    ASSERT_EQ(state_of(Y), halted);
    EXPECT_EQ(races(), 0u);
}

TEST_F(DmaRaces, AQueueMovesInTheOrderOfItsDescriptors) {
    start(Y, load + store + load + "wait S[40]>=3 halt");
    run_for(100);
    ASSERT_EQ(state_of(Y), halted);
    EXPECT_EQ(races(), 0u);
}

TEST_F(DmaRaces, AWaitByTheEngineThatStartsTheOtherQueueOrders) {
    init_rings(3, 64, 1);
    start(Y, load + "wait S[40]>=1 update S[5]+=1 nop\nhalt");
    start(S, "wait S[5]>=1 " + other_store + "wait S[41]>=1 halt");
    run_for(100);
    ASSERT_EQ(state_of(S), halted);
    EXPECT_EQ(races(), 0u);
}

// ---- DMA started by another core

class DmaRacesOfACorePair : public DmaRaces {
protected:
    /// Sync of core 0 copies 64 bytes to the first partition of core 1 and waits for completion.
    static std::string push() {
        return fmt::format(
            "dge_copy engines=1 queue=2 semaphore=40 piece=64 source=0x10000000 [1:0] "
            "destination={:#x} [1:0]\nwait S[40]>=1 nop\n",
            core_at + core_stride);
    }
    static std::string post() {
        return fmt::format("write {:#x}.4=1\n",
                           core_at + core_stride + neuron_core::semaphores_offset + 0x1800 + 5 * 4);
    }
};

TEST_F(DmaRacesOfACorePair, ATileThatAnotherCoreFillsIsReadAfterItsPost) {
    start(Y, push() + post() + "halt", 0);
    start(V, "event_semaphore wait S[5]>=1\n" + read + "halt", 1);
    run_for(100);
    ASSERT_EQ(state_of(V, 1), halted);
    EXPECT_EQ(races(), 0u);
}

TEST_F(DmaRacesOfACorePair, ATileThatAnotherCoreFillsIsReadWithoutAWait) {
    start(V, "delay cycles=60000\n" + read + "halt", 1);
    start(Y, push() + post() + "halt", 0);
    testing::internal::CaptureStderr();
    run_for(100);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                testing::HasSubstr("with DMA that no engine of the core started"));
    ASSERT_EQ(state_of(V, 1), halted);
    EXPECT_EQ(races(), 1u) << "50 us after the copy";
}

TEST_F(DmaRacesOfACorePair, AnEngineThatAwaitsAnotherCoreOrdersOthers) {
    start(Y, push() + post() + "halt", 0);
    start(Y, "event_semaphore wait S[5]>=1 update S[6]+=1\nhalt", 1);
    start(V, "wait S[6]>=1 " + read + "halt", 1);
    run_for(100);
    ASSERT_EQ(state_of(V, 1), halted);
    EXPECT_EQ(races(), 0u);
}

TEST_F(DmaRaces, ARaceNamesTheQueue) {
    testing::internal::CaptureStderr();
    start(Y, load + "wait S[40]>=1 halt");
    start(V, "delay cycles=60000\n" + read + "halt");
    run_for(100);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                testing::HasSubstr("with queue 2 of DMA engine 0 of the core"));
}

}  // namespace
