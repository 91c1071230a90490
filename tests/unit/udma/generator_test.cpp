// SPDX-License-Identifier: Apache-2.0
// Descriptors that the engine generates by itself from a command.
#include <gtest/gtest.h>

#include "models/misuse_rules.h"
#include "models/udma/dma_generator_regs.h"
#include "tests/support/register_contract.h"
#include "tests/unit/udma/udma_fixture.h"

namespace {

using namespace trn;
using test::DmaEngineTest, test::m2s, test::s2m, test::src, test::dst;
namespace g = dma_generator_regs;

class DmaGeneratorTest : public DmaEngineTest {
protected:
    static constexpr std::uint64_t generator = registers_at + udma::generator_offset;

    void tell(g::reg r, std::uint32_t value, unsigned q = 0) {
        EXPECT_EQ(cpu.write(generator + g::offset(r, q), value), tlm::TLM_OK_RESPONSE);
    }
    void dimension(unsigned d, std::uint32_t count, std::int32_t source, std::int32_t destination,
                   unsigned q = 0) {
        tell(g::reg::count, count, q * 4 + d);
        tell(g::reg::source_stride, static_cast<std::uint32_t>(source), q * 4 + d);
        tell(g::reg::destination_stride, static_cast<std::uint32_t>(destination), q * 4 + d);
    }
    void pieces(std::uint64_t from, std::uint64_t to, std::uint32_t bytes, unsigned q = 0) {
        tell(g::reg::source_lo, static_cast<std::uint32_t>(from), q);
        tell(g::reg::source_hi, static_cast<std::uint32_t>(from >> 32), q);
        tell(g::reg::destination_lo, static_cast<std::uint32_t>(to), q);
        tell(g::reg::destination_hi, static_cast<std::uint32_t>(to >> 32), q);
        tell(g::reg::piece, bytes, q);
    }
    void start(unsigned q = 0) { tell(g::reg::start, g::start::go.mask(), q); }
    bool is_refused(unsigned q = 0) {
        return cpu.write(generator + g::offset(g::reg::start, q),
                         static_cast<std::uint32_t>(g::start::go.mask())) ==
               tlm::TLM_GENERIC_ERROR_RESPONSE;
    }
    std::uint32_t status(unsigned q = 0) {
        return cpu.read(generator + g::offset(g::reg::status, q));
    }
    static constexpr std::uint32_t busy = 1u << 31, failed = 1u << 30;
};

TEST_F(DmaGeneratorTest, KeepsItsRegisterContract) {
    test::register_contract(cpu, g::table, generator).check();
}

TEST_F(DmaGeneratorTest, HostCommandEndsWithItsLastDescriptor) {
    init_queue(0, 256);
    fill(src, 512, 7);
    pieces(src, dst, 512);
    dimension(0, 1, 512, 512);
    const auto work = [&] {
        started_work::collector started;
        start();
        return started.collected();
    }();
    while (!work.finished()) {
        ASSERT_FALSE(filled(dst, 512, 7));
        run(10);
    }
    EXPECT_TRUE(filled(dst, 512, 7));
}

TEST_F(DmaGeneratorTest, OneCommandCopiesAStridedTile) {
    init_queue(0, 256);
    for (unsigned row = 0; row < 128; ++row)
        fill(src + row * 2048, 512, static_cast<std::uint8_t>(row));
    pieces(src, dst, 512);
    dimension(0, 128, 2048, 4096);
    start();
    EXPECT_EQ(status(), busy);
    run(580);
    EXPECT_EQ(status(), busy) << "600 ns from the command";
    run(100);
    EXPECT_EQ(status(), 128u);
    run(50'000);
    for (unsigned row = 0; row < 128; ++row)
        ASSERT_TRUE(filled(dst + row * 4096, 512, static_cast<std::uint8_t>(row))) << row;
    EXPECT_EQ(done(m2s), 0x40000080u);
    EXPECT_EQ(done(s2m), 0x40000080u);
    EXPECT_EQ(dma.count(0).aborts, 0u);
}

TEST_F(DmaGeneratorTest, CopiesThreeDimensionsWithNegativeStrides) {
    init_queue();
    for (std::uint32_t i = 0; i < 24; ++i) fill(src + i * 8, 8, static_cast<std::uint8_t>(i));
    pieces(src + 23 * 8, dst, 8);  // backwards: 2 x 3 x 4 pieces
    dimension(0, 4, -8, 8);
    dimension(1, 3, -32, 64);
    dimension(2, 2, -96, 1024);
    start();
    run(100'000);
    for (std::uint32_t i = 0; i < 24; ++i)
        EXPECT_TRUE(filled(dst + i % 4 * 8 + i / 4 % 3 * 64 + i / 12 * 1024, 8,
                           static_cast<std::uint8_t>(23 - i)))
            << i;
}

TEST_F(DmaGeneratorTest, RingsWrapAndCoreDescriptorsFollow) {
    init_queue(0, 32);
    fill(src, 4096, 3);
    for (int round = 0; round < 5; ++round) {
        pieces(src, dst, 100);
        dimension(0, 20, 100, 100);
        start();
        run(20'000);
        ASSERT_EQ(status(), 20u);
        ASSERT_TRUE(filled(dst, 2000, 3)) << round;
        fill(dst, 2000, 0);
    }
    EXPECT_EQ(done(m2s), 4u << 30 | 100u % 32) << "100 descriptors: pass 1 + 3";
    EXPECT_EQ(dma.count(0).aborts, 0u) << "the ring ids were right";
}

TEST_F(DmaGeneratorTest, LastDescriptorCarriesTheFlags) {
    init_queue();
    const std::uint64_t nq = registers_at + 0x41000 + 0x100;
    cpu.write<std::uint32_t>(nq + 4, static_cast<std::uint32_t>(host_at >> 32));
    cpu.write<std::uint32_t>(nq + 0, 0x10000);
    cpu.write<std::uint32_t>(nq + 8, 4096);
    fill(src, 4096, 3);
    pieces(src, dst, 4);
    dimension(0, 3, 4, 4);
    tell(g::reg::last, 3);
    start();
    run(20'000);
    EXPECT_EQ(cpu.read(nq + 0xc), 0x80000010u) << "one entry";
    std::array<std::uint32_t, 4> words;
    std::memcpy(words.data(), at(ring_at + 2 * 16), 16);
    EXPECT_EQ(words[0], 0x0d000004u);
    EXPECT_EQ(words[1], 0x05080003u);
    std::memcpy(words.data(), at(ring_at + 1 * 16), 16);
    EXPECT_EQ(words[1], 0x01080003u);
}

TEST_F(DmaGeneratorTest, QueuesHaveSeparateCommands) {
    init_queue(0);
    init_queue(5);
    fill(src, 4096, 3);
    pieces(src, dst, 1000, 0);
    pieces(src + 1000, dst + 0x100000, 2000, 5);
    start(5);
    start(0);
    run(20'000);
    EXPECT_EQ(std::memcmp(at(dst), at(src), 1000), 0);
    EXPECT_EQ(std::memcmp(at(dst + 0x100000), at(src + 1000), 2000), 0);
}

TEST_F(DmaGeneratorTest, APartOfFourDimensionsEndsWithASignal) {
    init_queue();
    for (std::uint32_t i = 0; i < 24; ++i) fill(src + i * 8, 8, static_cast<std::uint8_t>(i));
    cpu.write<std::uint32_t>(generator + g::offset(g::reg::signal_value, 0), 5);
    pieces(src, dst, 8);  // 2 x 3 x 2 x 2 pieces in a row, to 24 in a row 16 bytes apart
    dimension(0, 2, 8, 16);
    dimension(1, 3, 16, 0);
    dimension(2, 2, 48, 0);
    dimension(3, 2, 96, 0);
    for (unsigned d = 0; d < 4; ++d) tell(g::reg::destination_count, d == 0 ? 24 : 1, d);
    tell(g::reg::mode, g::mode::own_counts.mask() | g::mode::part.mask());
    tell(g::reg::part_first, 5);
    tell(g::reg::part_count, 13);
    const std::uint64_t value = generator + g::offset(g::reg::signal_value, 0);
    const std::uint64_t increment = semaphores_at + 0x1800 + 7 * 4;
    tell(g::reg::signal_lo, static_cast<std::uint32_t>(increment));
    tell(g::reg::signal_hi, static_cast<std::uint32_t>(increment >> 32));
    tell(g::reg::signal_source_lo, static_cast<std::uint32_t>(value));
    tell(g::reg::signal_source_hi, static_cast<std::uint32_t>(value >> 32));
    start();
    run(100'000);
    EXPECT_EQ(status(), 14u);
    EXPECT_EQ(sems.block.value(7), 5);
    for (std::uint32_t i = 0; i < 24; ++i)
        EXPECT_EQ(filled(dst + i * 16, 8, static_cast<std::uint8_t>(i)), i >= 5 && i < 18) << i;
    tell(g::reg::part_count, 0);  // an engine without a share still signals
    start();
    run(100'000);
    EXPECT_EQ(sems.block.value(7), 10);
    tell(g::reg::part_first, 20);
    tell(g::reg::part_count, 5);
    EXPECT_TRUE(is_refused()) << "there are 24 pieces";
    EXPECT_EQ(status(), failed);
}

TEST_F(DmaGeneratorTest, TransposesEachMatrixThatDimensionZeroMakes) {
    init_queue(0, 256);
    auto* const from = reinterpret_cast<std::uint16_t*>(at(src));
    for (std::uint16_t i = 0; i < 2 * 3 * 8; ++i) from[i] = static_cast<std::uint16_t>(i + 100);
    stack.accessed(tlm::TLM_WRITE_COMMAND, src, 96);
    pieces(src, dst, 16);  // two matrices of 3 rows of 8 elements
    dimension(0, 3, 16, 16);
    dimension(1, 2, 48, 48);
    tell(g::reg::mode, g::mode::transpose.mask());
    start();
    run(100'000);
    EXPECT_EQ(status(), 6u);
    const auto* const to = reinterpret_cast<std::uint16_t*>(at(dst));
    for (unsigned m = 0; m < 2; ++m)
        for (unsigned column = 0; column < 8; ++column)
            for (unsigned row = 0; row < 3; ++row)
                EXPECT_EQ(to[m * 24 + column * 3 + row], 100 + m * 24 + row * 8 + column);
    dimension(0, 65, 16, 16);
    EXPECT_TRUE(is_refused()) << "65 rows";
    EXPECT_EQ(status(), failed);
}

TEST_F(DmaGeneratorTest, AccumulatesFp32AndBf16) {
    init_queue();
    const auto* const sums = reinterpret_cast<float*>(at(dst));
    for (unsigned i = 0; i < 4; ++i) {
        reinterpret_cast<float*>(at(src))[i] = static_cast<float>(i) + 0.5f;
        reinterpret_cast<float*>(at(dst))[i] = 10;
    }
    stack.accessed(tlm::TLM_WRITE_COMMAND, src, 16);
    stack.accessed(tlm::TLM_WRITE_COMMAND, dst, 16);
    pieces(src, dst, 8);
    dimension(0, 2, 8, 8);
    tell(g::reg::mode, g::mode::accumulate.mask());
    start();
    run(100'000);
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(sums[i], static_cast<float>(i) + 10.5f);
    auto* const halves = reinterpret_cast<std::uint16_t*>(at(src));
    halves[0] = 0x3f80;                                     // 1
    reinterpret_cast<std::uint16_t*>(at(dst))[0] = 0x4000;  // 2
    pieces(src, dst, 2);
    dimension(0, 1, 2, 2);
    tell(g::reg::mode, g::mode::accumulate.mask() | g::mode::bf16.mask());
    start();
    run(100'000);
    EXPECT_EQ(reinterpret_cast<std::uint16_t*>(at(dst))[0], 0x4040);  // 3
}

TEST_F(DmaGeneratorTest, SkipMovesOnlyPiecesInsideTheWindows) {
    init_queue();
    fill(src, 80, 1);
    pieces(src, dst, 8);
    dimension(0, 10, 8, 8);
    tell(g::reg::mode, g::mode::skip.mask());
    tell(g::reg::source_first_lo, static_cast<std::uint32_t>(src + 12));
    tell(g::reg::source_end_lo, static_cast<std::uint32_t>(src + 72));
    tell(g::reg::destination_end_lo, static_cast<std::uint32_t>(dst + 60));
    start();
    run(100'000);
    EXPECT_EQ(status(), 5u);
    for (unsigned i = 0; i < 10; ++i)
        EXPECT_EQ(std::memcmp(at(dst + i * 8), at(src + i * 8), 8) == 0, i >= 2 && i < 7) << i;
}

TEST_F(DmaGeneratorTest, AWaitingCommandOfHigherPriorityGoesFirst) {
    for (unsigned q = 0; q < 4; ++q) {
        init_queue(q);
        pieces(src, dst + q * 64, 8, q);
        dimension(0, 1, 8, 8, q);
    }
    tell(g::reg::mode, static_cast<std::uint32_t>(g::mode::priority.set(0, 1)), 1);
    tell(g::reg::mode, static_cast<std::uint32_t>(g::mode::priority.set(0, 3)), 3);
    for (unsigned q = 0; q < 4; ++q) start(q);
    run(660);  // queue 0 is being carried out when the others arrive
    EXPECT_EQ(status(0), 1u);
    run(600);
    EXPECT_EQ(status(3), 1u);
    EXPECT_EQ(status(1), busy);
    run(600);
    EXPECT_EQ(status(1), 1u);
    EXPECT_EQ(status(2), busy);
    run(600);
    EXPECT_EQ(status(2), 1u);
}

TEST_F(DmaGeneratorTest, InvalidCommandsAreRefusedAndWriteNothing) {
    init_queue(0, 32);
    const auto refused = [&](std::uint32_t bytes, std::uint32_t count, std::uint32_t outer = 1) {
        const auto counted = misuse::count(misuse::generator_command);
        pieces(src, dst, bytes);
        dimension(0, count, 4, 4);
        dimension(1, outer, 0, 0);
        EXPECT_TRUE(is_refused());
        EXPECT_EQ(status(), failed);
        run(20'000);
        EXPECT_EQ(misuse::count(misuse::generator_command), counted + 1);
        EXPECT_EQ(at(ring_at)[0], 0);
    };
    refused(0, 1);
    refused(65537, 1);
    refused(4, 0);
    refused(4, 33);
    refused(4, 65535, 65535);
    dimension(1, 1, 0, 0);
    dimension(0, 32, 4, 4);
    start();
    EXPECT_TRUE(is_refused()) << "while the command before is being carried out";
    EXPECT_EQ(status(), busy);
    EXPECT_EQ(misuse::count(misuse::generator_command), 6u);
    run(20'000);
    EXPECT_EQ(status(), 32u);
}

TEST_F(DmaGeneratorTest, QueueWithoutRingIsRefused) {
    pieces(src, dst, 4);
    EXPECT_TRUE(is_refused());
    EXPECT_EQ(status(), failed);
    EXPECT_EQ(misuse::count(misuse::generator_command), 1u);
}

TEST_F(DmaGeneratorTest, AStoppedQueueIsRefused) {
    init_queue(0, 64, 0, 0xa000'0000'0000);
    pieces(src, dst, 4);
    start();
    run(20'000);
    ASSERT_TRUE(dma.aborted.level());
    EXPECT_TRUE(is_refused());
    EXPECT_EQ(misuse::count(misuse::generator_command), 1u);
}

TEST_F(DmaGeneratorTest, ACommandWaitsUntilTheRingHasRoom) {
    init_queue(0, 32);
    fill(src, 64 << 10, 3);
    for (unsigned n = 0; n < 3; ++n) {  // 20 of 32 descriptors each, which move for longer
        pieces(src, dst + (n << 20), 40'000);
        dimension(0, 20, 0, 40'000);
        start();
        if (n == 2) {
            run(650);
            EXPECT_EQ(status(), busy) << "generation alone takes 600 ns";
            ASSERT_TRUE(dma.describe_wait().has_value());
            EXPECT_NE(dma.describe_wait()->find("no room in a ring"), std::string::npos)
                << *dma.describe_wait();
        }
        while (status() == busy && n != 2) run(10);
    }
    run(500'000);
    EXPECT_EQ(status(), 20u);
    for (unsigned n = 0; n < 60; ++n)
        EXPECT_TRUE(filled(dst + (n / 20 << 20) + n % 20 * 40'000, 40'000, 3)) << n;
    EXPECT_EQ(misuse::count(misuse::generator_command), 0u);
}

TEST_F(DmaGeneratorTest, UnmappedRingStopsTheQueue) {
    init_queue(0, 64, 0, 0xa000'0000'0000);
    pieces(src, dst, 4);
    start();
    run(20'000);
    EXPECT_EQ(status(), failed);
    EXPECT_TRUE(dma.aborted.level());
    EXPECT_EQ(misuse::count(misuse::unmapped_descriptor), 1u);
}

TEST_F(DmaGeneratorTest, WaitsForDeferredRingResponses) {
    init_queue(0, 32, 0, message_at);  // the s2m ring is 1 MiB higher, outside
    init_side(s2m, 0, 32);
    fill(src, 4096, 3);
    pieces(src, dst, 4);
    dimension(0, 8, 4, 4);
    start();
    run(20'000);
    EXPECT_EQ(status(), busy);
    ASSERT_TRUE(dma.describe_wait().has_value());
    for (int i = 0; i < 4; ++i) {
        messages.answer();
        run(20'000);
    }
    EXPECT_EQ(status(), 8u);
    EXPECT_TRUE(filled(dst, 32, 3));
    EXPECT_EQ(messages.changed_questions, 0u);
}

TEST_F(DmaGeneratorTest, ResetDropsTheCommand) {
    init_queue();
    pieces(src, dst, 4);
    start();
    init_queue();
    run(20'000);
    EXPECT_EQ(done(m2s), 0x40000000u);
    EXPECT_NE(status(), busy);
    for (auto& line : reset_lines) line.set(true);
    for (auto& line : reset_lines) line.set(false);
    EXPECT_EQ(status(), 0u);
    init_queue();
    fill(src, 4, 9);
    pieces(src, dst, 4);
    start();
    run(20'000);
    EXPECT_TRUE(filled(dst, 4, 9));
}

}  // namespace
