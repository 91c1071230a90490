// SPDX-License-Identifier: Apache-2.0
// `trnvp exec --harts N`: several harts with one memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/exec/running_exec.h"
#include "tests/support/scratch_folder.h"

namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;
using trn::test::exec;
using trn::test::guests;

constexpr std::array hart_modes{"interpret", "translate", "check"};

class ExecHarts : public testing::Test {
protected:
    const trn::test::scratch_folder folder_;
    const std::string file_ = folder_ / "output";

    std::string file() const {
        std::ifstream in(file_);
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

/// Outcomes by test: "0 0 1 1, 1 1".
using outcomes = std::map<std::string, std::set<std::string>>;

outcomes run_litmus(const std::string& options) {
    const auto run = exec(guests + "litmus.elf --harts 2 " + options);
    EXPECT_EQ(run.status, 0) << run.output;
    outcomes seen;
    std::istringstream lines(run.output);
    for (std::string line; std::getline(lines, line);) {
        const auto name = line.find(": "), count = line.rfind(": ");
        seen[line.substr(0, name)].insert(line.substr(name + 2, count - name - 2));
    }
    return seen;
}

/// What harts that execute in turns may observe: results of both harts, then x, y at the end.
const outcomes sequential{
    {"mp", {"0 0 0 0, 1 1", "0 0 0 1, 1 1", "0 0 1 1, 1 1"}},
    {"mp_fences", {"0 0 0 0, 1 1", "0 0 0 1, 1 1", "0 0 1 1, 1 1"}},
    {"sb", {"0 0 1 0, 1 1", "1 0 0 0, 1 1", "1 0 1 0, 1 1"}},
    {"sb_fences", {"0 0 1 0, 1 1", "1 0 0 0, 1 1", "1 0 1 0, 1 1"}},
    {"lb", {"0 0 0 0, 1 1", "0 0 1 0, 1 1", "1 0 0 0, 1 1"}},
    {"corr", {"0 0 0 0, 1 0", "0 0 0 1, 1 0", "0 0 1 1, 1 0"}},
    {"s", {"0 0 0 0, 1 1", "0 0 0 0, 2 1", "0 0 1 0, 1 1"}},
    {"r", {"0 0 0 0, 1 1", "0 0 1 0, 1 1", "0 0 1 0, 1 2"}},
    {"two_writes", {"0 0 0 0, 1 2", "0 0 0 0, 2 1", "0 0 0 0, 2 2"}},
    // SC fails after the other hart's store of an equal value: never "0 0 1 0, 2 1".
    {"equal_store",
     {"0 0 0 0, 0 1", "0 0 0 0, 2 1", "0 0 1 0, 0 1", "1 0 0 0, 0 1", "1 0 1 0, 0 1"}},
    {"equal_amo", {"0 0 0 0, 0 1", "0 0 0 0, 2 1", "0 0 1 0, 0 1", "1 0 0 0, 0 1", "1 0 1 0, 0 1"}},
};

TEST_F(ExecHarts, LitmusTestsHaveEachSequentialOutcomeAndNoOther) {
    for (const auto* mode : hart_modes) {
        outcomes seen;
        for (const auto* seed : {"1", "2", "0xffffffffffffffff"})
            for (const auto& [test, found] :
                 run_litmus(std::string("--hart ") + mode + " --schedule-seed " + seed))
                seen[test].insert(found.begin(), found.end());
        EXPECT_EQ(seen, sequential) << mode;
    }
    for (const auto& [test, found] : run_litmus("--hart-clock 1='1.3 ns' --quantum 20"))
        for (const auto& outcome : found) EXPECT_TRUE(sequential.at(test).contains(outcome));
}

TEST_F(ExecHarts, SameSeedHasTheSameOrderInAllModesAndWithALog) {
    const std::string run = guests + "litmus.elf --harts 2 --schedule-seed ";
    const auto first = exec(run + "5").output;
    for (const auto* mode : hart_modes)
        EXPECT_EQ(exec(run + "5 --hart " + mode).output, first) << mode;
    EXPECT_EQ(exec(run + "5 --commit-log /dev/null").output, first);
    EXPECT_NE(exec(run + "6").output, first);
    EXPECT_EQ(exec(run + "0").output, exec(guests + "litmus.elf --harts 2").output);
}

TEST_F(ExecHarts, AtomicIncrementsAndLocksLoseNothing) {
    for (const auto* options :
         {"--harts 1", "--harts 2", "--harts 2 --quantum 1", "--harts 3 --quantum 7",
          "--harts 2 --schedule-seed 1", "--harts 5 --schedule-seed 2 --hart interpret",
          "--harts 3 --schedule-seed 3 --hart check", "--harts 32 --schedule-seed 4"})
        EXPECT_EQ(exec(guests + "increments.elf " + options).status, 0) << options;
    const auto varied = exec(guests + "increments.elf --harts 2 --schedule-seed 1").output;
    EXPECT_THAT(varied, HasSubstr("\namo: 4000 of 4000\nlr/sc: 4000 of 4000\n"));
    EXPECT_THAT(varied, testing::Not(StartsWith("plain: 4000"))) << "increments are interleaved";
}

TEST_F(ExecHarts, InterruptsOfEachHartEndItsWaitWithoutSpinning) {
    for (const auto* options :
         {"--harts 1", "--harts 2", "--harts 4 --schedule-seed 1", "--harts 32",
          "--harts 3 --hart-delay 1='300 us' --hart-clock 2='7 ns'"}) {
        const auto run =
            exec(guests + "ring.elf --statistics --max-instructions 200000 " + options);
        EXPECT_EQ(run.status, 0) << options << ": " << run.output;  // 1 ms and more of waiting
    }
}

TEST_F(ExecHarts, FenceIShowsCodeThatAnotherHartHasWritten) {
    for (const auto* mode : hart_modes)
        for (const auto* seed : {"0", "1"})
            EXPECT_EQ(
                exec(guests + "new_code.elf --harts 2 --hart " + mode + " --schedule-seed " + seed)
                    .status,
                0)
                << mode << seed;
}

TEST_F(ExecHarts, FirstExitCodeEndsTheRunOfAll) {
    for (const auto* options : {"", " --schedule-seed 1", " --schedule-seed 2", " --quantum 1"}) {
        const auto run = exec(guests + "first_exit.elf --harts 4" + options);
        EXPECT_EQ(run.status, 9) << options;
        EXPECT_EQ(run.output, "") << options;
    }
}

TEST_F(ExecHarts, CommitLogNamesTheHartOfEachLine) {
    ASSERT_EQ(exec(guests + "ring.elf --harts 3 --commit-log " + file_).status, 0);
    for (unsigned hart = 0; hart < 3; ++hart) {
        const auto id = std::to_string(hart);
        EXPECT_THAT(file(), HasSubstr("core   " + id +
                                      ": 3 0x0000000000001008 (0xf1402573) x10 "
                                      "0x000000000000000" +
                                      id + "\n"));
    }
}

TEST_F(ExecHarts, StatisticsAreASumAndALineForEachHart) {
    const auto run = exec(guests + "spin.elf --harts 2 --statistics --max-instructions 100000");
    EXPECT_EQ(run.status, 1);
    unsigned long sum = 0, first = 0, second = 0;
    const auto begin = run.output.find("executed ");
    ASSERT_NE(begin, std::string::npos) << run.output;
    EXPECT_EQ(std::sscanf(run.output.c_str() + begin, "executed %lu", &sum), 1);
    const auto harts = run.output.find("  hart 0: ", begin);
    ASSERT_NE(harts, std::string::npos) << run.output;
    EXPECT_EQ(std::sscanf(run.output.c_str() + harts,
                          "  hart 0: %lu instructions hart 1: %lu instructions", &first, &second),
              2);
    EXPECT_EQ(first + second, sum);
    EXPECT_GT(first, 0u);
    EXPECT_GT(second, 0u);
}

TEST_F(ExecHarts, RunThatDoesNotEndTellsTheStateOfEachHart) {
    const auto limited = exec(guests + "spin.elf --harts 2 --max-instructions 100000");
    EXPECT_EQ(limited.status, 1);
    EXPECT_THAT(limited.output, HasSubstr("did not end: --max-instructions was reached\n"
                                          "  hart 0: M-mode, halted, pc 0x"));
    const auto waiting =
        exec(guests + "ring.elf --harts 2 --hart-delay 0='200 us' --max-time '100 us'");
    EXPECT_THAT(waiting.output,
                HasSubstr("--max-time was reached\n  hart 0: in reset, pc 0x1000, 0 instructions\n"
                          "  hart 1: M-mode, waiting for interrupt, pc 0x"));
}

TEST_F(ExecHarts, DelayAndClockChangeTheStartAndTheSpeedOfAHart) {
    const auto executed = [](const std::string& options) {
        const auto run =
            exec(guests + "spin.elf --harts 2 --statistics --max-time '1 ms' " + options);
        std::array<double, 2> counts{};
        const auto at = run.output.find("  hart 0: ");
        if (at != std::string::npos)
            std::sscanf(run.output.c_str() + at, "  hart 0: %lf instructions hart 1: %lf",
                        &counts[0], &counts[1]);
        return counts;
    };
    const auto delayed = executed("--hart-delay 1='600 us'");
    EXPECT_NEAR(delayed[0], 1'000'000, 20'000);
    EXPECT_NEAR(delayed[1], 400'000, 20'000);
    const auto slow = executed("--hart-clock 1='4 ns'");
    EXPECT_NEAR(slow[0], 1'000'000, 20'000);
    EXPECT_NEAR(slow[1], 250'000, 20'000);
}

TEST_F(ExecHarts, DeviceTreeListsAllHarts) {
    ASSERT_EQ(exec(guests + "blob.elf --harts 32 > " + file_).status, 0);
    const auto source = trn::test::run("dtc -q -I dtb -O dts " + file_).output;
    EXPECT_THAT(source, HasSubstr("cpu@1f {"));
    EXPECT_THAT(source, HasSubstr("reg = <0x1f>"));
    ASSERT_EQ(exec(guests + "blob.elf --harts 2 > " + file_).status, 0);
    const auto of_two = trn::test::run("dtc -q -I dtb -O dts " + file_).output;
    EXPECT_THAT(of_two,
                HasSubstr("interrupts-extended = <0x01 0x03 0x01 0x07 0x04 0x03 0x04 0x07>"));
    EXPECT_THAT(of_two,
                HasSubstr("interrupts-extended = <0x01 0x0b 0x01 0x09 0x04 0x0b 0x04 0x09>"));
}

TEST_F(ExecHarts, InvalidOptionsOfHartsAreRefused) {
    for (const auto& [options, says] : std::initializer_list<std::pair<std::string, std::string>>{
             {"--harts 0", "--harts"},
             {"--harts 33", "--harts"},
             {"--harts two", "--harts"},
             {"--hart-delay 300", "--hart-delay 300: HART=TIME was expected, such as 1='300 ns'"},
             {"--hart-delay 1='300 ns'", "there is hart 0 only (see --harts)"},
             {"--harts 2 --hart-delay 2='300 ns'", "there are harts 0 to 1"},
             {"--harts 2 --hart-delay x='300 ns'", "there are harts 0 to 1"},
             {"--harts 2 --hart-delay 1=300", "--hart-delay 1=300: "},
             {"--hart-delay 0='2000 s'", "the time is 0 ps to 1000 s"},
             {"--hart-delay 0='1 ns' --hart-delay 0='2 ns'", "hart 0 has a time already"},
             {"--hart-clock 0='0 ns'", "the time is 1 ps to 1 us"},
             {"--hart-clock 0='2 us'", "the time is 1 ps to 1 us"},
             {"--hart-clock 0=fast", "--hart-clock 0=fast: "},
             {"--schedule-seed -1", "--schedule-seed"},
             {"--schedule-seed x", "--schedule-seed"}}) {
        const auto run = exec(guests + "console.elf " + options);
        EXPECT_EQ(run.status, 2) << options;
        EXPECT_THAT(run.output, HasSubstr(says)) << options;
    }
}

TEST_F(ExecHarts, DebianOpenSbiStartsFourHarts) {
    const std::string firmware = "/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.elf";
    const auto run = exec(firmware + " --harts 4 --max-time '20 ms'");
    EXPECT_EQ(run.status, 1);
    EXPECT_THAT(run.output, testing::ContainsRegex("Platform HART Count +: 4\r\n"));
    EXPECT_THAT(run.output, testing::ContainsRegex(R"(Domain0 HARTs +: 0\*,1\*,2\*,3\*)"));
}

}  // namespace
