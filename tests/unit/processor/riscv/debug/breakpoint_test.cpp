// SPDX-License-Identifier: Apache-2.0
// Breakpoints amid code that is executed in blocks, in all modes of harts.
#include "models/processor/riscv/translate/translate.h"
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;
using translate::mode;

class BreakpointInBlocks : public RiscvTest, public testing::WithParamInterface<mode> {
protected:
    static constexpr u64 instructions = 14, data = base + 0x4000;
    static constexpr u64 max_ticks = 600;

    void SetUp() override {
        if (!translate::choose(GetParam(), {.threshold = 3}) && GetParam() != mode::interpret)
            GTEST_SKIP() << "this host does not translate";
        code = make_code_cache();
    }
    void TearDown() override { translate::choose(mode::interpret); }

    /// A hart with a program that goes over some of its instructions in several ways.
    std::unique_ptr<hart> make_program() {
        auto made = make();
        constexpr u32 andi_8_5_3 = i(0x13, 7, 8, 5, 3);
        put(base, {addi(5, 5, 1), sd(5, 6, 0), andi_8_5_3,
                   bne(8, 9, 12),  // over the next two, except in each fourth round
                   addi(10, 10, 1), addi(10, 10, 2), jal(1, 16),  // a call, which blocks follow
                   ld(7, 6, 0), bne(7, 0, -32),                   // to the start
                   jal(0, 0), add(11, 11, 7),                     // the procedure
                   addi(12, 12, 1), jalr(0, 1, 0), ecall});
        made->write_x(6, data);
        made->write_x(9, 1);
        return made;
    }
    /// The numbers of instructions after which `pc` is next, when each is executed alone.
    std::vector<u64> arrivals(u64 pc) {
        h = make_program();
        std::vector<u64> at;
        for (; h->ticks() < max_ticks; step())
            if (h->pc() == pc) at.push_back(h->ticks());
        return at;
    }
    /// The numbers of instructions after which a breakpoint at `pc` stops, with runs of `length`.
    std::vector<u64> stops(u64 pc, u64 length) {
        h = make_program();
        h->run(300);  // until the code is translated
        h->add_breakpoint(pc);
        std::vector<u64> at;
        while (h->ticks() < max_ticks) {
            h->run(length);
            if (!h->halted()) continue;
            EXPECT_EQ(h->last_stop().why, hart::stop_reason::breakpoint);
            EXPECT_EQ(h->pc(), pc);
            at.push_back(h->ticks());
            h->resume();
        }
        return at;
    }
};

TEST_P(BreakpointInBlocks, StopsEachTimeThatItsInstructionIsNext) {
    for (u64 n = 0; n < instructions; ++n)
        for (const u64 length : {1, 7, 1000}) {
            SCOPED_TRACE(testing::Message() << "instruction " << n << ", runs of " << length);
            std::vector<u64> expected = arrivals(base + 4 * n);
            const std::vector<u64> all = stops(base + 4 * n, length);
            std::erase_if(expected, [](u64 at) { return at < 300; });
            // The first run and the last one end with a block.
            for (const u64 at : all) EXPECT_EQ(std::ranges::count(expected, at), at < max_ticks);
            constexpr u64 block = 64;
            for (const u64 at : expected)
                if (at > 300 + block && at < max_ticks) {
                    EXPECT_EQ(std::ranges::count(all, at), 1) << at;
                }
        }
}

TEST_P(BreakpointInBlocks, OnesOfAnotherHartDoNotStop) {
    h = make_program();
    h->add_breakpoint(base + 4);
    auto other = make_program();
    for (int round = 0; round < 5; ++round) {
        h->run(100);
        other->run(100);
        EXPECT_TRUE(h->halted());
        EXPECT_FALSE(other->halted());
        EXPECT_GE(other->ticks(), 100u);
        h->resume();
    }
}

TEST_P(BreakpointInBlocks, CodeBesideABreakpointIsExecutedInBlocks) {
    h = make_program();
    h->add_breakpoint(base + 4 * (instructions - 1));
    u64 longest = 0;
    for (int run = 0; run < 50; ++run) longest = std::max(longest, h->run(1));
    EXPECT_GT(longest, 3u) << "a run ends with a block";
    if (GetParam() != mode::interpret) {
        EXPECT_GT(back_end::chosen()->blocks(), 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(Modes, BreakpointInBlocks,
                         testing::Values(mode::interpret, mode::translate, mode::check),
                         [](const auto& info) {
                             return info.param == mode::interpret   ? "Interpreted"
                                    : info.param == mode::translate ? "Translated"
                                                                    : "Checked";
                         });

}  // namespace trn::riscv::test
