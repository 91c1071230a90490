// SPDX-License-Identifier: Apache-2.0
// DMA_GATHER, DMA_SCATTER, DMA_GATHER_TRANSPOSE (rows 19 and 20 of doc/spec/neuron-core.md) through
// real DMA engines. Expected bytes are indexed by plain loops.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "models/misuse_rules.h"
#include "tests/unit/neuron_core/sequencer/dma_engine_test.h"

using namespace trn;

namespace {

class RowTransfers : public test::dma_engine_test {
protected:
    using test::dma_engine_test::dma_engine_test;
    static constexpr unsigned queue = 13;
    static constexpr std::uint32_t indices_at = 4096;

    /// Fills the table: word i is 10 i + 1.
    void fill_table(std::uint32_t words) {
        for (std::uint32_t i = 0; i < words; ++i) word<std::uint32_t>(table + 4 * i) = 10 * i + 1;
        stack.accessed(tlm::TLM_WRITE_COMMAND, table, words * 4);
    }
    static std::uint32_t index_of(unsigned partition, unsigned column) {
        return (partition * 37 + column * 11 + 5) % 100;
    }
    void put_indices(unsigned partitions, unsigned columns) {
        for (unsigned p = 0; p < partitions; ++p)
            for (unsigned k = 0; k < columns; ++k)
                set_sbuf<std::uint32_t>(p, indices_at + 4 * k, index_of(p, k));
    }
    std::uint64_t bytes_of_engines(unsigned first, unsigned last) {
        std::uint64_t sum = 0;
        for (unsigned e = first; e <= last; ++e) sum += dma.count(e).bytes;
        return sum;
    }
    void reset_engine(engine e) {
        cpu.write(at(control::control, e, 0),
                  static_cast<std::uint32_t>(sequencer_regs::control::reset.mask()));
    }
};

TEST_F(RowTransfers, GatherBringsTheRowOfEachIndexThroughAllEngines) {
    init_rings(queue, 32);
    fill_table(100 * 16);
    put_indices(128, 3);
    run(G,
        "dma_gather imm=64 dst=sbuf[0:128, 0] fp32 [48:1] b=sbuf[0:128, 4096] int32 [3:1] "
        "s0=i32(100) table=0x10000000\nupdate S[3]+=1 nop\nhalt");
    ASSERT_EQ(state_of(G), halted);
    EXPECT_EQ(semaphore(3), 1);
    for (unsigned p = 0; p < 128; ++p)
        for (unsigned k = 0; k < 3; ++k)
            for (unsigned j = 0; j < 16; ++j)
                ASSERT_EQ(sbuf<std::uint32_t>(p, 4 * (k * 16 + j)),
                          10 * (index_of(p, k) * 16 + j) + 1)
                    << p << ' ' << k << ' ' << j;
    for (unsigned e = 0; e < 16; ++e) EXPECT_EQ(dma.count(e).bytes, 24 * 64u) << e;
}

TEST_F(RowTransfers, GatherTakesAMicrosecondAndFiftyNanosecondsPerRow) {
    init_rings(queue, 32);
    fill_table(100 * 4);
    put_indices(128, 1);
    const auto took = [&](unsigned partitions) {
        run(G, fmt::format("rank rd=R1 what=ns_low\n"
                           "dma_gather imm=16 dst=sbuf[0:{0}, 0] fp32 [4:1] "
                           "b=sbuf[0:{0}, 4096] int32 [1:1] s0=i32(100) table=0x10000000\n"
                           "rank rd=R2 what=ns_low\nhalt",
                           partitions));
        EXPECT_EQ(state_of(G), halted);
        return get(control::r, G, 0, 2) - get(control::r, G, 0, 1);
    };
    const std::uint32_t of_16 = took(16), of_128 = took(128);
    EXPECT_GT(of_16, 1000 + 16 * 50u);
    EXPECT_LT(of_16, 1000 + 16 * 50 + 3000u) << "the copies themselves";
    EXPECT_NEAR(of_128 - of_16, 112 * 50, 600);
}

TEST_F(RowTransfers, GatherWritesStridedElements) {
    init_rings(queue, 32);
    fill_table(100 * 4);
    put_indices(16, 1);
    for (unsigned p = 32; p < 48; ++p)
        for (unsigned j = 0; j < 8; ++j) set_sbuf<std::uint32_t>(p, 64 + 4 * j, 0xdead);
    for (unsigned p = 0; p < 16; ++p) set_sbuf<std::uint32_t>(p, indices_at, index_of(p, 0));
    run(G,
        "dma_gather imm=16 dst=sbuf[32:48, 64] fp32 [4:2] b=sbuf[0:16, 4096] int32 [1:1] "
        "s0=i32(100) table=0x10000000\nhalt");
    ASSERT_EQ(state_of(G), halted);
    for (unsigned p = 0; p < 16; ++p)
        for (unsigned j = 0; j < 8; ++j)
            EXPECT_EQ(sbuf<std::uint32_t>(32 + p, 64 + 4 * j),
                      j % 2 == 0 ? 10 * (index_of(p, 0) * 4 + j / 2) + 1 : 0xdead);
}

TEST_F(RowTransfers, ScatterWritesEachPartitionsRows) {
    init_rings(queue, 32);
    for (unsigned p = 0; p < 32; ++p)
        for (unsigned k = 0; k < 2; ++k) {
            set_sbuf<std::uint32_t>(p, indices_at + 4 * k, 63 - (p * 2 + k));
            for (unsigned j = 0; j < 4; ++j)
                set_sbuf<std::uint32_t>(p, 4 * (k * 4 + j), p * 1000 + k * 100 + j);
        }
    run(G,
        "dma_scatter imm=16 a=sbuf[0:32, 0] uint32 [8:1] b=sbuf[0:32, 4096] uint32 [2:1] "
        "s0=i32(64) table=0x20000000\nhalt");
    ASSERT_EQ(state_of(G), halted);
    for (unsigned row = 0; row < 64; ++row)
        for (unsigned j = 0; j < 4; ++j)
            EXPECT_EQ(word<std::uint32_t>(result + row * 16 + j * 4),
                      (63 - row) / 2 * 1000 + (63 - row) % 2 * 100 + j);
}

TEST_F(RowTransfers, AnIndexOutsideTheTableFailsAndMovesNothingOrIsSkipped) {
    init_rings(queue, 32);
    fill_table(100 * 4);
    const auto gather = [](const char* mode) {
        return fmt::format(
            "dma_gather {} imm=16 dst=sbuf[0:16, 0] fp32 [4:1] b=sbuf[0:16, 4096] int32 [1:1] "
            "s0=i32(100) table=0x10000000\nhalt",
            mode);
    };
    for (const std::uint32_t outside : {100u, 0xffff'ffffu}) {
        put_indices(16, 1);
        set_sbuf<std::uint32_t>(7, indices_at, outside);
        for (unsigned p = 0; p < 16; ++p) set_sbuf<std::uint32_t>(p, 0, 5);
        run(G, gather(""));
        EXPECT_EQ(state_of(G), failed);
        EXPECT_EQ(error_of(G), 4u);
        EXPECT_EQ(get(control::error_detail, G) & 0xff, 2u) << "operand B";
        EXPECT_EQ(sbuf<std::uint32_t>(0, 0), 5u);
        reset_engine(G);
        run(G, gather("oob_skip"));
        EXPECT_EQ(state_of(G), halted);
        for (unsigned p = 0; p < 16; ++p)
            EXPECT_EQ(sbuf<std::uint32_t>(p, 0), p == 7 ? 5 : 10 * (index_of(p, 0) * 4) + 1) << p;
    }
}

TEST_F(RowTransfers, GatherTransposePutsElementsOnPartitions) {
    init_rings(queue, 256);
    for (unsigned i = 0; i < 300 * 128; ++i)
        word<std::uint16_t>(table + 2 * i) = static_cast<std::uint16_t>(i * 3 + 1);
    stack.accessed(tlm::TLM_WRITE_COMMAND, table, 300 * 256);
    for (unsigned p = 0; p < 64; ++p)
        for (unsigned k = 0; k < 2; ++k)
            set_sbuf<std::uint32_t>(p, indices_at + 4 * k, (p * 13 + k * 7) % 300);
    set_sbuf<std::uint32_t>(9, indices_at, 300);  // index 9: skipped
    for (unsigned e = 0; e < 128; ++e) set_sbuf<std::uint16_t>(e, 2 * 9, 0x7777);
    run(G,
        "dma_gather_transpose oob_skip imm=256 dst=sbuf[0:128, 0] bf16 [128:1] "
        "b=sbuf[0:64, 4096] int32 [2:1] s0=i32(300) table=0x10000000\nhalt");
    ASSERT_EQ(state_of(G), halted);
    for (unsigned e = 0; e < 128; ++e)
        for (unsigned n = 0; n < 128; ++n) {
            const unsigned index = (n % 64 * 13 + n / 64 * 7) % 300;
            ASSERT_EQ(sbuf<std::uint16_t>(e, 2 * n),
                      n == 9 ? 0x7777 : static_cast<std::uint16_t>((index * 128 + e) * 3 + 1))
                << e << ' ' << n;
        }
}

TEST_F(RowTransfers, ATableThatDoesNotExistFailsTheEngine) {
    init_rings(queue, 32);
    put_indices(16, 1);
    run(G,
        "dma_gather imm=16 dst=sbuf[0:16, 0] fp32 [4:1] b=sbuf[0:16, 4096] int32 [1:1] "
        "s0=i32(100) table=0xf00000000000\nhalt");
    EXPECT_EQ(state_of(G), failed);
    EXPECT_EQ(error_of(G), 7u);
}

TEST_F(RowTransfers, AQueueWithoutRingFailsTheEngine) {
    put_indices(16, 1);
    run(G,
        "dma_gather imm=16 dst=sbuf[0:16, 0] fp32 [4:1] b=sbuf[0:16, 4096] int32 [1:1] "
        "s0=i32(100) table=0x10000000\nhalt");
    EXPECT_EQ(state_of(G), failed);
    EXPECT_EQ(error_of(G), 7u);
    EXPECT_EQ(bytes_of_engines(0, 15), 0u);
}

TEST_F(RowTransfers, AnUnreadableIndexFails) {
    init_rings(queue, 32);
    fill_table(400);
    put_indices(16, 1);
    cores[0].inject("sram_parity", {{"offset", std::to_string(262'144 * 3 + 4096)}});
    run(G,
        "dma_gather imm=16 dst=sbuf[0:16, 0] fp32 [4:1] b=sbuf[0:16, 4096] int32 [1:1] "
        "s0=i32(100) table=0x10000000\nhalt");
    EXPECT_EQ(state_of(G), failed);
    EXPECT_EQ(error_of(G), 5u);
}

TEST_F(RowTransfers, OperandsThatDoNotFitAreRefused) {
    init_rings(queue, 256);
    const auto error = [&](const std::string& text) {
        run(G, text + " s0=i32(100) table=0x10000000\nhalt");
        const unsigned code = state_of(G) == failed ? error_of(G) : 0;
        reset_engine(G);
        return code;
    };
    const std::string b = " b=sbuf[0:16, 4096] int32 [1:1]";
    EXPECT_EQ(error("dma_gather imm=16 dst=sbuf[0:16, 0] fp32 [5:1]" + b), 2u) << "row and tile";
    EXPECT_EQ(error("dma_gather imm=0 dst=sbuf[0:16, 0] fp32 [4:1]" + b), 2u);
    EXPECT_EQ(error("dma_gather imm=16 dst=sbuf[0:32, 0] fp32 [4:1]" + b), 2u) << "partitions";
    EXPECT_EQ(error("dma_gather imm=16 dst=psum[0:16, 0] fp32 [4:1]" + b), 2u);
    EXPECT_EQ(error("dma_gather imm=16 dst=sbuf[0:16, 0] fp32 [4:1] "
                    "b=sbuf[0:16, 4096] int16 [1:1]"),
              2u);
    EXPECT_EQ(error("dma_gather_transpose imm=64 dst=sbuf[0:32, 0] fp32 [16:1]" + b), 2u);
    EXPECT_EQ(error("dma_gather_transpose imm=258 dst=sbuf[0:128, 0] bf16 [16:1]" + b), 2u);
    EXPECT_EQ(error("dma_gather_transpose imm=64 dst=sbuf[0:32, 0] bf16 [16:2]" + b), 2u);
    EXPECT_EQ(error("dma_gather_transpose imm=64 dst=sbuf[0:32, 0] bf16 [8:1] "
                    "b=sbuf[0:8, 4096] int32 [1:1]"),
              2u)
        << "8 rows";
}

class RowTransfersOfTrainium1 : public RowTransfers {
protected:
    RowTransfersOfTrainium1() : RowTransfers(isa::generation::v2) {}
};

TEST_F(RowTransfersOfTrainium1, HaveNoTranspose) {
    init_rings(queue, 256);
    run(G,
        "dma_gather_transpose imm=64 dst=sbuf[0:32, 0] bf16 [16:1] "
        "b=sbuf[0:16, 4096] int32 [1:1] s0=i32(100) table=0x10000000\nhalt");
    EXPECT_EQ(error_of(G), 1u);
}

}  // namespace
