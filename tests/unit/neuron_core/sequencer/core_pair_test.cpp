// SPDX-License-Identifier: Apache-2.0
// The two cores of an LNC pair: spec 6 and 8.1, row 16.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/neuron_core/sequencer/dma_engine_test.h"

using namespace trn;

namespace {

class CorePair : public test::dma_engine_test {
protected:
    /// Waits `cycles`, synchronises with the peer, and stores the time; twice.
    static std::string meeting(unsigned peer, unsigned first, unsigned second) {
        const std::string barrier = fmt::format(
            "write {:#x}.4=1\nevent_semaphore wait S[5]>=1:subtract\n",
            core_at + peer * core_stride + neuron_core::semaphores_offset + 0x1800 + 5 * 4);
        return fmt::format(
            "rank rd=R1 what=core_in_chip\nrank rd=R2 what=core_in_pair\n"
            "delay cycles={}\n{}rank rd=R3 what=ns_low\n"
            "delay cycles={}\n{}rank rd=R4 what=ns_low\nhalt",
            first, barrier, second, barrier);
    }
};

TEST_F(CorePair, ABarrierHoldsEachCoreUntilItsPeerArrives) {
    start(Y, meeting(1, 120'000, 1'200), 0);  // 100 us, then 1 us
    start(Y, meeting(0, 1'200, 240'000), 1);  // 1 us, then 200 us
    run_for(50);
    EXPECT_EQ(state_of(Y, 0), running);
    EXPECT_EQ(state_of(Y, 1), waiting);
    run_for(950);
    ASSERT_EQ(state_of(Y, 0), halted);
    ASSERT_EQ(state_of(Y, 1), halted);
    const auto reg = [&](unsigned core, unsigned n) { return get(control::r, Y, core, n); };
    for (unsigned core = 0; core < 2; ++core) {
        EXPECT_EQ(reg(core, 1), core);
        EXPECT_EQ(reg(core, 2), core);
        EXPECT_EQ(semaphore(5, core), 0) << "subtracted: ready for the next barrier";
        EXPECT_NEAR(reg(core, 3), 100'000, 500);
        EXPECT_NEAR(reg(core, 4), 300'000, 1'000);
    }
}

TEST_F(CorePair, ABarrierOfOneEngineEachOrdersTheDataOfAnother) {
    // GPSIMD of core 0 fills a tile, Sync copies it to core 1's SBUF and synchronises with core 1's
    // GPSIMD.
    init_rings(0, 64, 1);
    start(G, "update S[7]+=1 memset imm=3.5 dst=sbuf[0:4, 0] fp32 [16:1]\nhalt", 0);
    start(Y,
          fmt::format("wait S[7]>=1 dge_copy engines=1 queue=0 semaphore=8 piece=64 "
                      "source={:#x} [4:262144] destination={:#x} [4:262144]\n"
                      "event_semaphore wait S[8]>=1\nwrite {:#x}.4=1\nhalt",
                      core_at, core_at + core_stride,
                      core_at + core_stride + neuron_core::semaphores_offset + 0x1800 + 5 * 4),
          0);
    start(G,
          "event_semaphore wait S[5]>=1:subtract\n"
          "copy dst=sbuf[0:4, 4096] fp32 [16:1] a=sbuf[0:4, 0] fp32 [16:1]\nhalt",
          1);
    run_for(1000);
    ASSERT_EQ(state_of(G, 1), halted);
    for (unsigned p = 0; p < 4; ++p)
        for (unsigned i = 0; i < 16; ++i) {
            float x;
            std::memcpy(&x, cores[1].sbuf().data() + p * 262'144ull + 4096 + 4 * i, sizeof x);
            EXPECT_EQ(x, 3.5f);
        }
}

}  // namespace
