// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/coverage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <vector>

#include "models/processor/riscv/debug/commit_log.h"
#include "models/processor/riscv/execute/assemble.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/loader/elf_image.h"
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {
namespace {

/// Modes of execution; a program's coverage must not depend on the mode.
enum class way { blocks, small_budgets, alone };

class CoverageTest : public RiscvTest {
protected:
    const trn::test::scratch_folder folder_;
    const std::string file_ = folder_ / "marks";

    /// Marks by offset from `base` after running the program in this mode. Faulting instructions
    /// are skipped.
    std::map<u64, unsigned> marks_of(const std::vector<u32>& program, way how,
                                     u64 instructions = 3000) {
        memory = flat_bus();
        code = make_code_cache();
        h = make();
        for (u64 i = 0; i < program.size(); ++i) put(base + 4 * i, {program[i]});
        put(handler,
            {as::csrrs(31, 0x341, 0), as::addi(31, 31, 4), as::csrrw(0, 0x341, 31), as::mret});
        const auto image = trn::test::elf_image({memory.ram.begin(), memory.ram.begin() + 0x1000});
        std::ofstream(file_, std::ios::binary)
            .write(reinterpret_cast<const char*>(image.data()),
                   static_cast<std::streamsize>(image.size()));
        coverage all({file_});
        EXPECT_EQ(all.programs().size(), 1u);

        h->write_x(20, base + 0x10000);  // address of valid loads and stores
        streamed_file nowhere("/dev/null");
        commit_log commits(nowhere);
        if (how == way::alone) h->log_commits(&commits);
        for (u64 done = 0; done < instructions;)
            done += h->run(how == way::small_budgets ? 1 + done % 3 : instructions);

        std::map<u64, unsigned> marks;
        for (u64 at = 0; at < 0x1000; at += 2)
            if (const unsigned seen = *all.programs()[0]->marks(base + at)) marks[at] = seen;
        EXPECT_EQ(all.unknown_code(), std::nullopt);
        return marks;
    }
};

TEST_F(CoverageTest, MarksExecutedInstructionsAndBranchDirections) {
    for (const way how : {way::blocks, way::small_budgets, way::alone}) {
        const auto marks = marks_of(
            {
                as::addi(5, 0, 2),   // 0
                as::bne(0, 0, 20),   // 4: never taken
                as::addi(5, 5, -1),  // 8
                as::bne(5, 0, -4),   // 12: taken once, then passed
                as::bne(20, 0, 8),   // 16: always taken
                as::addi(6, 0, 1),   // 20: not reached
                as::jal(0, 8),       // 24: needs no operation
                as::addi(6, 0, 1),   // 28: not reached
                as::lw(6, 0, 0),     // 32: faults
                as::jal(0, 0),       // 36
            },
            how);
        constexpr unsigned ran = coverage::ran, taken = coverage::taken, passed = coverage::passed;
        const std::map<u64, unsigned> expected{
            {0, ran},          {4, ran | passed}, {8, ran},     {12, ran | taken | passed},
            {16, ran | taken}, {24, ran},         {32, ran},    {36, ran},
            {0x800, ran},      {0x804, ran},      {0x808, ran}, {0x80c, ran}};
        EXPECT_EQ(marks, expected) << "way " << static_cast<int>(how);
    }
}

/// A random program that runs three times through straight code, forward branches, jumps and
/// accesses, some of which fault, and then loops at its end.
std::vector<u32> random_program(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](u32 n) { return static_cast<u32>(random() % n); };
    const auto reg = [&] { return 5 + below(6); };
    constexpr int body = 80;
    std::vector<u32> code{as::addi(30, 0, 3)};
    for (int i = 0; i < body; ++i) {
        const auto forward =
            8 + 4 * static_cast<i32>(below(static_cast<u32>(std::min(8, body - i))));
        switch (below(9)) {  // no branch targets the instruction after it
        case 0:
            code.push_back(as::bne(reg(), reg(), forward));
            break;
        case 1:
            code.push_back(as::jal(below(2), forward));
            break;
        case 2:
            code.push_back(as::lw(reg(), below(2) ? 20 : 0, 8));
            break;
        case 3:
            code.push_back(as::sd(reg(), below(3) ? 20 : 0, 16));
            break;
        case 4:
            code.push_back(as::add(reg(), reg(), reg()));
            break;
        default:
            code.push_back(as::addi(reg(), reg(), static_cast<i32>(below(3)) - 1));
        }
    }
    code.push_back(as::nop);
    code.push_back(as::addi(30, 30, -1));
    code.push_back(as::bne(30, 0, -4 * (body + 2)));
    code.push_back(as::jal(0, 0));
    return code;
}

TEST_F(CoverageTest, IsIndependentOfFusionFaultsAndBudgets) {
    std::size_t partly = 0;
    for (unsigned seed = 1; seed <= 150; ++seed) {
        const auto program = random_program(seed);
        const auto run = [&](way how) { return marks_of(program, how); };
        const auto expected = run(way::alone);
        for (const way how : {way::blocks, way::small_budgets}) {
            const auto seen = run(how);
            std::string differs;
            for (u64 at = 0; at < 0x1000; at += 2) {
                const auto find = [&](const auto& in) {
                    const auto found = in.find(at);
                    return found == in.end() ? 0 : found->second;
                };
                if (find(seen) != find(expected))
                    differs += " " + std::to_string(at) + ": " + std::to_string(find(seen)) +
                               " instead of " + std::to_string(find(expected));
            }
            EXPECT_EQ(differs, "") << "seed " << seed;
        }
        partly += expected.size() < program.size();
    }
    EXPECT_GT(partly, 50u);  // otherwise the test would distinguish nothing
}

TEST_F(CoverageTest, DistinguishesCodeOutsideAnyProgram) {
    coverage none({});
    put(base, {as::jal(0, 0)});
    h->run(10);
    EXPECT_EQ(none.unknown_code(), base);
}

}  // namespace
}  // namespace trn::riscv::test
