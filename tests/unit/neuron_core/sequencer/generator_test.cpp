// SPDX-License-Identifier: Apache-2.0
// DGE_COPY: row 18 of doc/spec/neuron-core.md, through real DMA engines.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "models/misuse_rules.h"
#include "tests/unit/neuron_core/sequencer/dma_engine_test.h"

using namespace trn;

namespace {

class DgeCopy : public test::dma_engine_test {
protected:
    using test::dma_engine_test::dma_engine_test;
    void fill_table(std::uint32_t words) {
        for (std::uint32_t i = 0; i < words; ++i) word<std::uint32_t>(table + 4 * i) = 7 * i + 3;
        stack.accessed(tlm::TLM_WRITE_COMMAND, table, words * 4);
    }
};

TEST_F(DgeCopy, EachEngineMovesItsShareAndAddsOneToTheSemaphore) {
    init_rings(2, 64, 0x111);
    fill_table(1000);
    run(Y,
        "dge_copy engines=0x111 queue=2 semaphore=40 piece=64 source=0x10000000 [20:128]"
        " destination=0x2000000000 [20:262144]\n"
        "event_semaphore wait S[40]>=3\nhalt");
    ASSERT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(40), 3);
    for (unsigned p = 0; p < 20; ++p)
        for (unsigned i = 0; i < 16; ++i)
            ASSERT_EQ(sbuf<std::uint32_t>(p, 4 * i), 7 * (p * 32 + i) + 3) << p << ' ' << i;
    std::uint64_t descriptors = 0;
    for (const unsigned e : {0u, 4u, 8u}) {
        EXPECT_GE(dma.count(e).bytes, 6 * 64u);
        descriptors += dma.count(e).bytes;
    }
    EXPECT_EQ(descriptors, 20 * 64 + 3 * 4u);
    EXPECT_EQ(dma.count(1).bytes, 0u);
}

TEST_F(DgeCopy, TheGeneratorTakesItsTimeAndTheEngineGoesOn) {
    init_rings(0, 64, 1);
    fill_table(16);
    start(S,
          "rank rd=R1 what=ns_low\n"
          "dge_copy engines=1 queue=0 semaphore=1 piece=64 source=0x10000000 [1:0]"
          " destination=0x20000000 [1:0]\n"
          "rank rd=R2 what=ns_low\nwait S[1]>=1 nop\nrank rd=R3 what=ns_low\nhalt");
    run_for(100);
    ASSERT_EQ(state_of(S), halted);
    const auto reg = [&](unsigned n) { return get(control::r, S, 0, n); };
    EXPECT_LT(reg(2) - reg(1), 200u) << "accepted";
    EXPECT_GT(reg(3) - reg(1), 600u) << "generated, then copied";
}

TEST_F(DgeCopy, TwoCommandsOfOneQueueFollowEachOther) {
    init_rings(3, 64, 3);
    fill_table(64);
    run(Y,
        "dge_copy engines=3 queue=3 semaphore=1 piece=4 source=0x10000000 [8:4]"
        " destination=0x20000000 [8:4]\n"
        "dge_copy engines=3 queue=3 semaphore=1 piece=4 source=0x10000020 [8:4]"
        " destination=0x20000020 [8:4]\n"
        "event_semaphore wait S[1]>=4\nhalt");
    ASSERT_EQ(state_of(Y), halted);
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(word<std::uint32_t>(result + 4 * i), 7 * i + 3);
}

TEST_F(DgeCopy, RegistersMoveTheBasesInTheirUnits) {
    init_rings(0, 64, 1);
    fill_table(1000);
    run(Y,
        "reg_move rd=R3 imm=5\nreg_move rd=R4 imm=-2\n"
        "dge_copy engines=1 queue=0 semaphore=1 piece=8 source=0x10000000 + R3*100 [4:8, 2:40]"
        " destination=0x20000100 + R4*16 [8:8]\n"
        "event_semaphore wait S[1]>=1\nhalt");
    ASSERT_EQ(state_of(Y), halted);
    for (unsigned i = 0; i < 16; ++i)
        EXPECT_EQ(word<std::uint32_t>(result + 0xe0 + 4 * i), 7 * (125 + i / 8 * 10 + i % 8) + 3);
}

TEST_F(DgeCopy, AnOffsetOutsideTheLimitFailsAndMovesNothing) {
    init_rings(0, 64, 1);
    fill_table(1000);
    const auto at = [](int offset, const char* flags) {
        return fmt::format(
            "reg_move rd=R3 imm={}\n"
            "dge_copy engines=1 queue=0 semaphore=1 piece=8 source=0x10000000 + R3*1 [4:16]"
            " destination=0x20000000 [4:8] limit=0x40 {}\nhalt",
            offset, flags);
    };
    run(Y, at(8, ""));
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 1);
    for (const int offset : {9, -1}) {
        run(Y, at(offset, ""));
        EXPECT_EQ(state_of(Y), failed) << offset;
        EXPECT_EQ(error_of(Y), 4u);
        EXPECT_EQ(get(control::error_detail, Y) & 0xff, 1u) << "operand A";
        cpu.write(at_control(), 16u);  // RESET
    }
    EXPECT_EQ(semaphore(1), 1);
    for (unsigned i = 0; i < 8; ++i) word<std::uint32_t>(result + 4 * i) = 0;
    run(Y, at(32, "oob_skip"));  // two of four pieces are inside
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 2);
    for (unsigned i = 0; i < 8; ++i)
        EXPECT_EQ(word<std::uint32_t>(result + 4 * i), i < 4 ? 7 * (8 + i / 2 * 4 + i % 2) + 3 : 0)
            << i;
}

TEST_F(DgeCopy, TransposesAndAccumulates) {
    init_rings(0, 128, 3);
    auto* const from = &word<std::uint16_t>(table);
    for (std::uint16_t i = 0; i < 4 * 32 * 16; ++i) from[i] = static_cast<std::uint16_t>(i * 5);
    stack.accessed(tlm::TLM_WRITE_COMMAND, table, 4096);
    run(Y,
        "dge_copy engines=3 queue=0 semaphore=1 piece=32 source=0x10000000 [32:32, 4:1024]"
        " destination=0x20000000 [32:32, 4:1024] transpose\n"
        "event_semaphore wait S[1]>=2\nhalt");
    ASSERT_EQ(state_of(Y), halted);
    for (unsigned m = 0; m < 4; ++m)  // 32 rows of 16 columns
        for (unsigned r = 0; r < 32; ++r)
            for (unsigned c = 0; c < 16; ++c)
                ASSERT_EQ(word<std::uint16_t>(result + 2 * (m * 512 + c * 32 + r)),
                          static_cast<std::uint16_t>((m * 512 + r * 16 + c) * 5));
    auto* const terms = &word<float>(table);
    auto* const sums = &word<float>(result);
    for (unsigned i = 0; i < 64; ++i) {
        terms[i] = static_cast<float>(i) * 0.25f;
        sums[i] = 100;
    }
    stack.accessed(tlm::TLM_WRITE_COMMAND, table, 256);
    stack.accessed(tlm::TLM_WRITE_COMMAND, result, 256);
    run(Y,
        "dge_copy engines=3 queue=0 semaphore=2 piece=32 source=0x10000000 [8:32]"
        " destination=0x20000000 [8:32] accumulate\n"
        "event_semaphore wait S[2]>=2\nhalt");
    ASSERT_EQ(state_of(Y), halted);
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(sums[i], 100 + static_cast<float>(i) * 0.25f);
}

TEST_F(DgeCopy, CopiesThatNoGeneratorCanDoAreRefused) {
    init_rings(0, 64, 1);
    const auto error = [&](const char* text) {
        run(Y, std::string("dge_copy queue=0 semaphore=1 ") + text + "\nhalt");
        const unsigned code = state_of(Y) == failed ? error_of(Y) : 0;
        cpu.write(at_control(), 16u);
        return code;
    };
    const unsigned illegal = 1, bad = 2;
    EXPECT_EQ(error("engines=0 piece=4 source=0 [1:4] destination=64 [1:4]"), bad);
    EXPECT_EQ(error("engines=1 piece=4 source=0 [2:4] destination=64 [3:4]"), bad);
    EXPECT_EQ(error("engines=1 piece=4 source=0 [16385:4] destination=64 [16385:4]"), bad);
    EXPECT_EQ(error("engines=1 piece=3 source=0 [1:4] destination=64 [1:4] transpose"), bad);
    EXPECT_EQ(error("engines=1 piece=4 source=0 [65:4] destination=64 [65:4] transpose"), bad);
    EXPECT_EQ(error("engines=1 piece=4 source=0 [4:4, 2:16] destination=64 [8:4] transpose"), bad);
    EXPECT_EQ(error("engines=1 piece=6 source=0 [1:4] destination=64 [1:4] accumulate"), bad);
    EXPECT_EQ(error("engines=1 piece=4 source=0 [1:4] destination=64 [1:4] transpose accumulate"),
              illegal);
    EXPECT_EQ(error("engines=1 piece=4 source=0 [1:4] destination=64 [1:4] limit=64"), illegal);
    EXPECT_EQ(semaphore(1), 0);
}

class DgeCopyOfTrainium2 : public DgeCopy {
protected:
    DgeCopyOfTrainium2() : DgeCopy(isa::generation::v3) {}
};

TEST_F(DgeCopyOfTrainium2, HasNoPriorities) {
    init_rings(0, 64, 1);
    const std::string copy =
        "dge_copy engines=1 queue=0 semaphore=1 piece=4 source=0x10000000 [1:0] "
        "destination=0x20000000 [1:0]";
    run(Y, copy + "\nhalt");
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 1);
    run(Y, copy + " priority=1\nhalt");
    EXPECT_EQ(error_of(Y), 1u);
}

TEST_F(DgeCopy, AQueueThatStaysBusyEndsTheWaitAtItsLimit) {
    init_rings(0, 64, 2);
    cpu.write(at(control::wait_limit, Y, 0), 2u);
    const std::string copy =
        "dge_copy engines=2 queue=0 semaphore=1 piece=32768 source=0x10000000 [60:32768]"
        " destination=0x20000000 [60:32768]\n";
    run(Y, copy + copy + copy + "halt");  // the second one waits for room in the ring
    ASSERT_EQ(state_of(Y), failed);
    EXPECT_EQ(error_of(Y), 11u) << "TIMEOUT";
    EXPECT_EQ(get(control::error_pc, Y), 4u);
    EXPECT_EQ(get(control::error_detail, Y), 1u << 8 | 0xff) << "DMA engine 1";
}

TEST_F(DgeCopy, ARefusedCommandFailsTheEngineInsteadOfLeavingItToWait) {
    init_rings(0, 64, 1);  // of DMA engine 0 only
    run(Y,
        "nop\n"
        "dge_copy engines=3 queue=0 semaphore=1 piece=4 source=0x10000000 [2:4]"
        " destination=0x20000000 [2:4]\n"
        "event_semaphore wait S[1]>=2\nhalt");
    ASSERT_EQ(state_of(Y), failed);
    EXPECT_EQ(error_of(Y), 7u) << "WRITE_FAILED";
    EXPECT_EQ(get(control::error_pc, Y), 1u);
    EXPECT_EQ(get(control::error_detail, Y), 1u << 8 | 0xff) << "DMA engine 1, no operand";
    EXPECT_EQ(semaphore(1), 1) << "the share of DMA engine 0, whose command came first";
    EXPECT_EQ(misuse::count(misuse::generator_command), 1u);
}

}  // namespace
