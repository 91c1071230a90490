// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "tests/integration/exec/running_exec.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace {

using testing::HasSubstr;
using testing::StartsWith;

using trn::test::exec;
using trn::test::guests;
using result = trn::test::ended;

class Exec : public testing::Test {
protected:
    const trn::test::scratch_folder folder_;
    const std::string file_ = folder_ / "output";

    /// A copy of the guest, which uses no absolute addresses, as a position independent program.
    std::string position_independent(const std::string& guest) const {
        const std::string copy = folder_ / guest;
        std::filesystem::copy_file(guests + guest, copy);
        std::fstream(copy, std::ios::in | std::ios::out | std::ios::binary).seekp(16).put(3);
        return copy;
    }
    std::string file() const {
        std::ifstream in(file_);
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

TEST_F(Exec, PrintsTheProgramsOutputAndExitsWithItsStatus) {
    const result r = exec(guests + "console.elf");
    EXPECT_EQ(r.status, 7);
    EXPECT_EQ(r.output, "hi\nwritten\n");
}

TEST_F(Exec, PageOfTohostIsRamAndNoBitOfAnExitCodeIsLost) {
    EXPECT_EQ(exec(guests + "tohost_page.elf").status, 255);
    EXPECT_EQ(exec(guests + "tohost_page.elf --commit-log /dev/null").status, 255);
}

TEST_F(Exec, TimerInterruptsComeFromTheAclint) {
    EXPECT_EQ(exec(guests + "timer.elf").status, 0);
}

TEST_F(Exec, WritesTheSignatureByGranularity) {
    exec(guests + "console.elf --signature " + file_);
    EXPECT_EQ(file(), "11223344\n55667788\n99aabbcc\n");
    exec(guests + "console.elf --signature " + file_ + " --signature-granularity 8");
    EXPECT_EQ(file(), "5566778811223344\n0000000099aabbcc\n");
}

TEST_F(Exec, CommitLogHasSpikesFormat) {
    exec(guests + "console.elf --commit-log " + file_);
    EXPECT_THAT(file(),
                StartsWith("core   0: 3 0x0000000000001000 (0x00000297) x5  0x0000000000001000\n"
                           "core   0: 3 0x0000000000001004 (0x02028593) x11 0x0000000000001020\n"
                           "core   0: 3 0x0000000000001008 (0xf1402573) x10 0x0000000000000000\n"
                           "core   0: 3 0x000000000000100c (0x0182b283) x5  0x0000000080000000 "
                           "mem 0x0000000000001018\n"));
    EXPECT_THAT(file(), HasSubstr(" 0x0101000000000068\n"));  // the store of 'h' to tohost
}

TEST_F(Exec, EndlessProgramFailsTheRun) {
    const result r = exec(guests + "spin.elf --max-instructions 1000");
    EXPECT_EQ(r.status, 1);
    EXPECT_THAT(r.output, HasSubstr("--max-instructions was reached"));
}

TEST_F(Exec, HartsExecuteInTheGivenMode) {
    const auto spin = [](const std::string& how) {
        return trn::test::run(how + " --statistics --max-instructions 100000 " + guests +
                              "spin.elf");
    };
    const auto translated = [&](const std::string& how) {
        const result r = spin(how);
        const std::string before = "MIPS, ", after = " blocks translated";
        const auto begin = r.output.find(before), end = r.output.find(after);
        EXPECT_NE(end, std::string::npos) << r.output;
        return std::stoul(r.output.substr(begin + before.size()));
    };
    const std::string exec = TRNVP " exec";
    if (spin(exec + " --hart translate").output.find("harts interpret: ") != std::string::npos)
        GTEST_SKIP() << "this host or build does not translate";
    EXPECT_GT(translated(exec), 0u);
    EXPECT_GT(translated(exec + " --hart translate"), 0u);
    EXPECT_GT(translated(exec + " --hart check"), 0u);
    EXPECT_EQ(translated(exec + " --hart interpret"), 0u);
    EXPECT_EQ(translated("TRNVP_HART=interpret " + exec), 0u);
    EXPECT_GT(translated("TRNVP_HART=interpret " + exec + " --hart translate"), 0u);
}

TEST_F(Exec, ProgramThatWaitsForeverFailsTheRun) {
    const result r = exec(guests + "wait.elf");
    EXPECT_EQ(r.status, 1);
    EXPECT_THAT(r.output, HasSubstr("waits for an interrupt, but none is pending"));
}

TEST_F(Exec, EndOfSimulatedTimeEndsTheRun) {
    for (const char* guest : {"timer_before_end.elf", "timer_after_end.elf"}) {
        SCOPED_TRACE(guest);
        const result r = exec(guests + guest);
        EXPECT_EQ(r.status, 1);
        EXPECT_THAT(r.output, HasSubstr("did not end: simulated time ends at 17280000 s"));
    }
}

TEST_F(Exec, AllowancesNameModulesOfTheMachine) {
    const auto run = [](const std::string& at) {
        return exec(guests + "timer.elf --misuse-allow rule=firmware-bus-error,at=" + at +
                    ",reason=x");
    };
    const result wrong = run("machine.hrat");
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.output, HasSubstr("E40 the machine has no module 'machine.hrat'"));
    EXPECT_THAT(wrong.output, HasSubstr("machine.hart"));
    EXPECT_EQ(run("machine.h*").status, 0);
}

TEST_F(Exec, UsageErrorsExitWithStatus2) {
    EXPECT_EQ(exec("no-such-file.elf").status, 2);
    EXPECT_THAT(exec("no-such-file.elf").output, HasSubstr("no-such-file.elf: No such file"));
    EXPECT_EQ(exec(std::string(TRNVP)).status, 2);
    EXPECT_THAT(exec(std::string(TRNVP)).output, HasSubstr("not for RISC-V"));
    EXPECT_EQ(exec(guests + "spin.elf --isa rv64imv").status, 2);
    EXPECT_THAT(exec(guests + "spin.elf --isa rv64imv").output, HasSubstr("unknown extension 'v'"));
    EXPECT_EQ(exec(guests + "spin.elf --signature /no/such/folder/x --max-instructions 10").status,
              2);
    EXPECT_EQ(exec("--no-such-option").status, 2);
}

TEST_F(Exec, IsaWithoutCompressedInstructionsRefusesThem) {
    // The guest is built with C: its first compressed instruction traps, and mtvec is 0.
    const result r = exec(guests + "console.elf --isa rv64ima --max-instructions 1000");
    EXPECT_EQ(r.status, 1);
}

TEST_F(Exec, DebianOpenSbiPrintsItsBanner) {
    const std::string firmware = "/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.elf";
    const result r = exec(firmware + " --max-time '20 ms'");
    EXPECT_EQ(r.status, 1);
    // Releases have columns of different widths, and take different devices of the tree.
    for (const auto* line :
         {"OpenSBI v", "Platform Name +: trnvp exec\r\n", "Timer Device +: aclint-mtimer",
          "Console Device +: uart8250\r\n", "Shutdown Device +: (sifive_test|syscon-poweroff)\r\n",
          "Base ISA +: rv64imac", "did not end: --max-time was reached"})
        EXPECT_THAT(r.output, testing::ContainsRegex(line));
}

TEST_F(Exec, DeviceTreeListsTheMachinesDevices) {
    ASSERT_EQ(exec(guests + "blob.elf --ram '256 MiB' --isa rv64imac_zba > " + file_).status, 0);
    const auto blob = file();
    const auto source = trn::test::run("dtc -q -I dtb -O dts " + file_).output;
    for (const auto* line : {"device_type = \"memory\"", "reg = <0x00 0x80000000 0x00 0x10000000>",
                             "riscv,isa = \"rv64imac_zicsr_zba\"", "serial@10000000",
                             "compatible = \"ns16550a\"", "stdout-path = \"/soc/serial@10000000\"",
                             "timebase-frequency = <0x989680>", "compatible = \"syscon-poweroff\""})
        EXPECT_THAT(source, HasSubstr(line));
    const std::string other = folder_ / "other";
    EXPECT_EQ(exec(guests + "blob.elf --dtb " + file_ + " > " + other).status, 0);
    EXPECT_EQ(trn::test::run("cmp " + other + " " + file_).status, 0) << "a tree of the user's";
}

TEST_F(Exec, StandardInputReachesTheUart) {
    const std::string text = "one\ntwo\nand a third line\nend\n";
    std::ofstream(file_) << text;
    const std::string fifo = folder_ / "fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    for (const auto& way :
         {"--input " + file_, "--input - < " + file_, "--input - < <(cat " + file_ + ")",
          "--input <(sleep 0.1; cat " + file_ + ")",
          "--input " + fifo + " & sleep 0.2; cat " + file_ + " > " + fifo + "; wait $!"}) {
        const result r =
            trn::test::run("bash -c '" TRNVP " exec " + guests + "echo.elf " + way + "'");
        EXPECT_EQ(r.status, 42) << way;
        EXPECT_EQ(r.output, text) << way;
    }
    const result ended = exec(guests + "echo.elf --input /dev/null");
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.output, HasSubstr("waits for an interrupt, but none is pending"));
}

TEST_F(Exec, InvalidMachineOptionsAreRefused) {
    const std::string program = guests + "spin.elf ";
    for (const auto& [options, says] : std::initializer_list<std::pair<std::string, std::string>>{
             {"--ram 0", "--ram"},
             {"--ram '1 MiB' --max-time nonsense", "--max-time"},
             {"--ram '4097 B'", "must be a multiple of 4 KiB"},
             {"--ram '65 GiB'", "at most 64 GiB"},
             {"--dtb /no/such/file", "No such file"},
             {"--dtb " + program, "not a flattened device tree"},
             {"--dtb /dev/zero", "at most"},
             {"--input /no/such/file", "No such file"},
             {"--input /tmp", "Is a directory"}}) {
        const result r = exec(program + options);
        EXPECT_EQ(r.status, 2) << options;
        EXPECT_THAT(r.output, HasSubstr(says)) << options;
    }
    const result small = exec(program + "--ram '4 KiB'");
    EXPECT_EQ(small.status, 2);
    EXPECT_THAT(small.output,
                HasSubstr("is outside the RAM, 0x80000000..0x80000fff (--ram 4 KiB)"));
}

/// Counts per line of one file of a tracefile, and per branch direction.
struct seen {
    std::map<int, int> lines;
    std::map<int, std::multiset<std::string>> ways;
};

seen read_tracefile(const std::string& text, const std::string& of) {
    seen all;
    std::istringstream in(text);
    bool ours = false;
    for (std::string line; std::getline(in, line);) {
        int number = 0, count = 0, block = 0, way = 0;
        std::array<char, 8> went{};
        if (line.starts_with("SF:")) ours = line.ends_with(of);
        if (!ours) continue;
        if (std::sscanf(line.c_str(), "DA:%d,%d", &number, &count) == 2) {
            EXPECT_TRUE(all.lines.emplace(number, count).second) << line;
        }
        if (std::sscanf(line.c_str(), "BRDA:%d,%d,%d,%7s", &number, &block, &way, went.data()) == 4)
            all.ways[number].insert(went.data());
    }
    return all;
}

TEST_F(Exec, CoverageReportsExecutedLinesAndBranchDirections) {
    const result r = exec(guests + "lines.elf --coverage " + file_);
    ASSERT_EQ(r.status, 0) << r.output;
    EXPECT_EQ(r.output, "");
    const auto found = read_tracefile(file(), "guests/lines.c");
    std::ifstream source("tests/integration/exec/guests/lines.c");
    int number = 0, checked = 0;
    for (std::string line; std::getline(source, line);) {
        ++number;
        const bool ran = line.ends_with("// ran") || line.find("// ran,") != line.npos;
        if (!ran && !line.ends_with("// skipped")) continue;
        ++checked;
        ASSERT_TRUE(found.lines.contains(number)) << line;
        EXPECT_EQ(found.lines.at(number), ran ? 1 : 0) << line;
        const std::multiset<std::string> both{"1", "1"}, one{"0", "1"};
        if (line.ends_with("both")) {
            EXPECT_EQ(found.ways.at(number), both) << line;
        } else if (line.ends_with("one")) {
            EXPECT_EQ(found.ways.at(number), one) << line;
        }
    }
    EXPECT_EQ(checked, 9);
    EXPECT_THAT(file(), HasSubstr("FNDA:1,on_odd"));
    EXPECT_THAT(file(), HasSubstr("FNDA:0,never"));
}

TEST_F(Exec, CoverageOfAMovedProgramHasTheLinesOfOneThatIsLinkedInTheRam) {
    exec(guests + "lines.elf --coverage " + file_);
    const auto in_ram = read_tracefile(file(), "guests/lines.c");
    const std::string moved = position_independent("lines_at_0.elf");
    for (const auto* options : {"", "--commit-log /dev/null"}) {
        const result r = exec(moved + " --coverage " + file_ + " " + options);
        ASSERT_EQ(r.status, 0) << r.output;
        EXPECT_EQ(r.output, "");
        const auto found = read_tracefile(file(), "guests/lines.c");
        EXPECT_EQ(found.lines, in_ram.lines);
        EXPECT_EQ(found.ways, in_ram.ways);
    }
}

TEST_F(Exec, MovedProgramKeepsItsAlignment) {
    exec(position_independent("lines_at_0.elf") + " --commit-log " + file_);
    EXPECT_THAT(file(), HasSubstr("core   0: 3 0x0000000080000840 "));
}

TEST_F(Exec, ProgramWhoseSegmentsCannotBeMovedIntoTheRamIsRefused) {
    constexpr std::streamoff alignment = 64 + 56 + 48;  // of the second program header: 2^12
    const std::string moved = position_independent("lines_at_0.elf");
    std::fstream(moved, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(alignment + 7)
        .put('\x80');
    const result r = exec(moved);
    EXPECT_EQ(r.status, 0) << r.output;  // no power of two: it is ignored
    std::fstream(moved, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(alignment + 1)
        .put('\0');  // 2^63
    const result far = exec(moved);
    EXPECT_EQ(far.status, 2);
    EXPECT_THAT(far.output, HasSubstr("is outside the RAM"));
}

TEST_F(Exec, CoverageIsTheSameWhenSingleStepping) {
    // Without start.S, which runs briefly after the program has ended.
    const auto seen_with = [&](const std::string& options) {
        exec(guests + "lines.elf --coverage " + file_ + " " + options);
        return read_tracefile(file(), "guests/lines.c");
    };
    const auto in_blocks = seen_with("");
    EXPECT_GT(in_blocks.lines.size(), 10u);
    for (const auto* options : {"--commit-log /dev/null", "--quantum 1", "--quantum 7"}) {
        const auto other = seen_with(options);
        EXPECT_EQ(other.lines, in_blocks.lines) << options;
        EXPECT_EQ(other.ways, in_blocks.ways) << options;
    }
}

TEST_F(Exec, CoverageWithoutDebugInformationIsAWarning) {
    const result r = exec(guests + "timer.elf --coverage " + file_);
    EXPECT_EQ(r.status, 0);
    EXPECT_THAT(r.output, HasSubstr("timer.elf has no debugging information (compile it with -g)"));
    EXPECT_EQ(exec(guests + "timer.elf --coverage /no/such/folder/x").status, 2);
}

}  // namespace
