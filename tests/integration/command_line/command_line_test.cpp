// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "platform/framework/sanitized.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string trnvp = TRNVP, trnctl = TRNCTL;
const std::string chip = trnvp + " run trn3-chip --max-time '1 us' --uart none ";
const std::string own_chip = trnctl + " --board trn3-chip ";

/// Checks that a command prints one message with `text` and exits with this status, without an
/// uncaught exception or a signal.
void expect(const std::string& command, int status, const std::string& text) {
    const auto how = run("(" + command + ")");
    EXPECT_EQ(how.status, status) << command << ": " << how.output;
    EXPECT_THAT(how.output, HasSubstr(text)) << command;
    EXPECT_THAT(how.output, Not(HasSubstr("E549"))) << command;
}

class CommandLine : public testing::Test {
protected:
    const scratch_folder folder_;

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        return folder_ / name;
    }
    std::string content(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
        return text.str();
    }
    std::string fifo() const {
        mkfifo((folder_ / "fifo").c_str(), 0600);
        return folder_ / "fifo";
    }
};

TEST_F(CommandLine, HelpExplainsStepsKindsAndRules) {
    expect(trnvp + " help copy", 0, "size                 bytes\n");
    expect(trnvp + " help program", 0, "doc/programs.md");
    expect(trnvp + " help udma", 0, "kind of module (doc/kinds.md)\nudma: ");
    for (const std::string name : {"TRN-DMA-003", "ring-id-mismatch", "ring_id_mismatch"})
        expect(trnvp + " help " + name, 0, "TRN-DMA-003 ring-id-mismatch: a descriptor");
    expect(trnvp + " help copi", 2,
           "no command, step, kind, fault or rule 'copi': did you mean 'copy'?\n");
    expect(trnvp + " help 'xyzzy\x1b'", 2, "no command, step, kind, fault or rule 'xyzzy\\x1b'");
    expect(trnvp + " help", 2, "STEP|KIND|FAULT|RULE");
}

TEST_F(CommandLine, UnknownSubcommandGetsTheNearestSuggestion) {
    expect(trnvp + " nope", 2, "trnvp: no subcommand 'nope'");
    expect(trnvp + " bords", 2, "did you mean 'boards'");
    expect(trnvp + " bords trn3-chip --seed 1", 2, "no subcommand 'bords'");
    expect(trnctl + " --board trn3-chip copi host", 2, "did you mean 'copy'");
    expect(trnvp, 2, "subcommand is required");
    expect(trnctl, 2, "subcommand is required");
}

TEST_F(CommandLine, HelpOfAnUnknownSubcommandIsAnError) {
    expect(trnvp + " nonsense --help", 2, "no subcommand 'nonsense'  (known: boards, ");
    expect(trnvp + " --help tset", 2, "did you mean 'test'?");
    expect(trnvp + " report diff --help", 2,
           "no subcommand 'diff' of 'report'  (known: merge, compare, figure)\n"
           "trnvp report --help shows the possibilities and examples.\n");
    expect(trnvp + " report compre a b", 2,
           "no subcommand 'compre' of 'report'  did you mean 'compare'?");
    expect(trnctl + " program rum --help", 2,
           "no subcommand 'rum' of 'program'  did you mean 'run'?");
    expect(trnvp + " report compare --help", 0, "Usage: trnvp report compare [OPTIONS] old new");
    expect(trnvp + " run --help", 0, "\n\nTime:\n");
    expect(trnvp + " help run", 0, "trnvp run --help lists its options");
}

TEST_F(CommandLine, CommandsOfOtherProgramsAreFoundBesideTrnvpAndInPath) {
    const std::string alone = folder_ / "trnvp", link = folder_ / "link";
    std::filesystem::copy_file(TRNVP, alone);
    std::filesystem::create_symlink(TRNVP, link);
    const auto build = std::filesystem::path(TRNVP).parent_path().string();
    const auto in_path = "PATH=" + build + ":$PATH; ";
    const auto help = run(trnvp + " test --help");
    EXPECT_THAT(help.output, HasSubstr("Usage: trnvp test [OPTIONS]"));
    for (const auto& command : {link + " test", in_path + "trnvp test", in_path + alone + " test",
                                build + "/trnvp-test", "cd " + build + "; ./trnvp --help test"})
        expect(command + " --help", help.status, help.output);
    EXPECT_EQ(run(alone + " --help").output, run(trnvp + " --help").output);
    expect(alone + " tset", 2, "did you mean 'test'?");
    expect(in_path + alone + " x --jobs 1 test y", 2, "unexpected argument 'x'");
    expect(in_path + alone + " --jobs 1 test y", 2, "--jobs belongs after 'test'");
}

TEST_F(CommandLine, MissingProgramOfACommandIsNamedWithItsTarget) {
    const std::string alone = folder_ / "trnvp";
    std::filesystem::copy_file(TRNVP, alone);
    for (const auto& [command, program] :
         {std::pair("test", "trnvp-test"), std::pair("help", "trnvp-test"),
          std::pair("report", "trnvp-report"), std::pair("guest", "trnvp-guest")})
        EXPECT_EQ(run("PATH=/usr/bin:/bin " + alone + " " + command + " --help").output,
                  "trnvp: '" + std::string(command) + "' needs the program " + program +
                      ", which is neither in " + folder_.text() +
                      " nor in PATH: build its target, " + program +
                      ", or everything (./dev build)\n");
    expect("PATH=/usr/bin:/bin " + alone + " test x", 2, "trnvp-test");
    write("trnvp-test", "not a program");
    expect(alone + " test x", 2, "trnvp: cannot start trnvp-test: Permission denied\n");
}

TEST_F(CommandLine, StepsSayWhichOptionsTheyIgnore) {
    expect(trnvp + " test --steps --name x -j 2 2>&1 >/dev/null", 0,
           "trnvp: warning: --steps runs nothing and ignores --jobs, --name\n");
    expect(trnvp + " test --schema --json 2>&1 >/dev/null", 0,
           "--schema runs nothing and ignores --json\n");
    EXPECT_EQ(run("(" + trnvp + " test --steps --json 2>&1 >/dev/null)").output, "");
}

TEST_F(CommandLine, UnknownOptionGetsTheNearestSuggestion) {
    expect(trnvp + " run trn3-chip --seedd 1", 2, "no option '--seedd'  did you mean '--seed'");
    expect(trnvp + " run trn3-chip --seedd=1", 2, "did you mean '--seed'");
    expect(trnvp + " --jsn boards", 2, "no option '--jsn'");
    expect(trnvp + " run trn3-chip extra", 2, "unexpected argument 'extra'");
    expect(trnvp + " --seed 1 run trn3-chip", 2, "--seed belongs after 'run'");
    expect(trnctl + " info --bord trn3-chip", 2, "did you mean '--board'");
    expect(own_chip + "copy host hbm0 1MiB --vrify", 2, "did you mean '--verify'");
}

TEST_F(CommandLine, InvalidNumbersAreRefused) {
    for (const auto* wrong : {"-1", "18446744073709551616", "''", "1k", "nan", "0x", "-0x1"}) {
        SCOPED_TRACE(wrong);
        expect(chip + "--seed " + wrong, 2, "--seed: ");
        expect(trnvp + " test scenarios --list --shuffle " + wrong, 2, "--shuffle: ");
        expect(trnvp + " exec x.elf --max-instructions " + wrong, 2, "--max-instructions: ");
        expect(own_chip + "copy host hbm0 1MiB --seed " + wrong, 2, "--seed: ");
        expect(own_chip + "poke hbm0@0 " + wrong, 2, "value: ");
        expect(own_chip + "coll --op barrier --counts " + wrong, 2, "--counts: ");
    }
    expect(own_chip + "monitor --for nan", 2, "--for: ");
    expect(own_chip + "monitor --for=-1", 2, "--for: ");
    expect(own_chip + "sem set 300 1 --core 0", 2, "300");
}

TEST_F(CommandLine, EmptyValueIsRefused) {
    for (const auto* option : {"--trace", "--listen", "--uart", "--coverage", "--set", "--until"})
        expect(chip + option + " ''", 2, std::string(option) + ": an empty value");
    expect(trnvp + " run ''", 2, "board: an empty value");
    expect(trnctl + " --connect '' info", 2, "--connect: an empty value");
}

TEST_F(CommandLine, MisspeltChoiceGetsASuggestionAndHyphensEqualUnderscores) {
    expect(own_chip + "coll --op nope", 2, "--op: 'nope' is not a valid choice");
    expect(own_chip + "coll --op all_redue", 2, "did you mean 'all_reduce'");
    expect(trnctl + " --board trn3-sled coll --op all-reduce --counts 1", 2, "no counts");
    expect(trnctl + " --board trn3-sled coll --op all_reduce --counts 1", 2, "no counts");
    expect(chip + "--timing contendet", 2, "did you mean 'contended'");
}

TEST_F(CommandLine, BothProgramsPrintTheirVersion) {
    expect(trnvp + " --version", 0, "trnvp " VERSION);
    expect(trnctl + " --version", 0, "trnctl " VERSION);
}

TEST_F(CommandLine, FullDiskOnOutputFailsEveryCommand) {
    const std::string said = "cannot write to standard output";
    for (const auto& command :
         {trnvp + " boards", trnvp + " boards --json", trnvp + " inspect trn3-chip",
          trnvp + " inspect --list-kinds", trnvp + " inspect trn3-chip --graph svg",
          trnvp + " test scenarios --list", trnvp + " test --schema", trnvp + " --help",
          trnvp + " run --help", trnvp + " --version", trnvp + " exec " GUEST, chip + "--json",
          own_chip + "info", own_chip + "--json list", own_chip + "registers",
          own_chip + "peek hbm0@0", trnctl + " --help", trnctl + " --version"})
        expect(command + " >/dev/full", 1, said);
    EXPECT_EQ(run("(" + chip + " 2>/dev/full)").status, 1);
}

TEST_F(CommandLine, FullDiskOnAFileFailsItsCommand) {
    for (const std::string option :
         {"--trace", "--fidelity-report", "--uart", "--coverage",
          "--vcd-signal chip0.management.uart.LSR --vcd", "--trace /dev/null --uart"})
        expect(trnvp + " run trn3-chip --until '4 ms' " + option + " /dev/full", 1,
               "No space left");
    expect(own_chip + "--trace /dev/full info", 1, "No space left");
    // The guest exits with status 7.
    expect(trnvp + " exec " GUEST " --commit-log /dev/full", 7, "No space left");
    expect(trnvp + " exec " GUEST " --signature /dev/full", 7, "No space left");
}

TEST_F(CommandLine, UnopenableFilesAreUsageErrors) {
    for (const std::string option : {"--trace", "--fidelity-report", "--uart", "--coverage",
                                     "--vcd-signal chip0.management.uart.LSR --vcd"})
        for (const auto* file : {"/no/such/folder/file", "/tmp"})
            expect(trnvp + " run trn3-chip --max-time '1 us' " + option + " " + file, 2,
                   "cannot write");
    expect(trnvp + " exec " GUEST " --commit-log /tmp", 2, "--commit-log: cannot write /tmp: Is a");
}

TEST_F(CommandLine, ClosedPipeEndsAProgramLikeUnixTools) {
    // PIPESTATUS: ended by SIGPIPE, or before the reader closed the pipe.
    const auto how =
        run("bash -c '" + trnvp + " inspect ultracluster-2 --set racks=1 2>&1 | head -1; " +
            "echo ${PIPESTATUS[0]}'");
    EXPECT_THAT(how.output, Not(HasSubstr("trnvp:"))) << how.output;
}

TEST_F(CommandLine, ClosedStandardStreamsDoNotCorruptOtherFiles) {
    const auto trace = folder_ / "trace";
    for (const std::string closed : {"2>&-", ">&-", "<&-", "<&- >&- 2>&-"}) {
        EXPECT_EQ(run("(" + chip + "--trace " + trace + " " + closed + ")").status, 0) << closed;
        EXPECT_THAT(content("trace"), Not(HasSubstr("trnvp"))) << closed;
        EXPECT_EQ(run("(" + own_chip + "--trace " + trace + " info " + closed + ")").status, 0);
        EXPECT_THAT(content("trace"), Not(HasSubstr("NeuronCores"))) << closed;
    }
}

TEST_F(CommandLine, OnlyRegularFilesOfBoundedSizeAreRead) {
    const auto huge = write("huge", "");
    std::filesystem::resize_file(huge, std::uintmax_t{1} << 40);
    for (const std::string& file : {std::string("/dev/zero"), fifo(), folder_.text(), huge}) {
        SCOPED_TRACE(file);
        for (const std::string option : {"--firmware ", "--set firmware=", "--set boot_rom="})
            expect("timeout 20 " + chip + option + file, 2, file);
        expect("timeout 20 " + trnvp + " exec " + file, 2, file);
        if (file != folder_.text()) {
            for (const std::string command : {" run ", " test --strict ", " replay "})
                expect("timeout 20 " + trnvp + command + file, 2, file);
            expect("timeout 20 " + trnvp + " test " + file, 1, file);
        }
        expect("timeout 20 " + own_chip + "coll --op barrier --table " + file, 2, file);
        expect("timeout 20 " + chip + "--control-tcp 127.0.0.1:0 --token-file " + file, 2, file);
        expect("timeout 20 " + trnctl + " --connect x:1 --token-file " + file + " info", 2, file);
    }
}

TEST_F(CommandLine, ProcessLimitsAreReportedInOneSentence) {
    const auto log = folder_ / "log";
    expect("ulimit -f 0; " + trnvp + " exec " GUEST " --commit-log " + log + " | cat", 0,
           "File too large");
    expect("ulimit -f 1; " + trnvp + " inspect trn3-chip > " + log, 1, "standard output");
    for (const std::string text : {"--help", "--version"})
        expect("ulimit -f 0; " + trnctl + " " + text + " > " + log, 1, "File too large");
    expect("ulimit -s 32; " + chip, 1, "trnvp: a stack of 32 KiB is too small: ulimit -s 512");
    expect("ulimit -s 32; " + own_chip + "info", 1, "trnctl: a stack of 32 KiB");
    if (sanitized) GTEST_SKIP() << "the other limits are too low for sanitizers";
    expect("ulimit -n 6; " + chip, 1, "Too many open files");
    expect("ulimit -v 2000000; " + chip, 2, "not enough memory");
    expect("ulimit -v 2000000; " + own_chip + "info", 2, "not enough memory");
}

TEST_F(CommandLine, KilledGuestLeavesNoTemporaryFolder) {
    const auto qemu = write("qemu", "#!/bin/sh\nexec sleep 600\n");
    std::filesystem::permissions(qemu, std::filesystem::perms::owner_all);
    const auto temporary = folder_ / "temporary";
    std::filesystem::create_directory(temporary);
    background guest({"/usr/bin/env", "TMPDIR=" + temporary, trnvp, "guest", "trn3-chip", "--qemu",
                      qemu, "--kernel", qemu, "--initrd", qemu},
                     folder_ / "log");
    const auto holds = [&](const std::string& name) {
        return run("ls -R " + temporary).output.find(name) != std::string::npos;
    };
    ASSERT_TRUE(eventually([&] { return !guest.running() || holds("chip0.sock"); }));
    ASSERT_TRUE(guest.running()) << run("cat " + folder_.text() + "/log").output;
    guest.kill_now();
    EXPECT_TRUE(eventually([&] { return !holds("trnvp-guest"); }));
}

TEST_F(CommandLine, InputFileIsNotOverwritten) {
    const std::string program = folder_ / "program.elf", link = folder_ / "link";
    std::filesystem::copy_file(GUEST, program);
    std::filesystem::create_hard_link(program, link);
    const std::string firmware = folder_ / "firmware.elf";
    std::filesystem::copy_file(FIRMWARE "/mgmt.elf", firmware);
    const auto read = [](const std::string& file) {
        return "cannot write " + file + ": this command reads it";
    };
    const auto size = std::filesystem::file_size(program);
    for (const auto* option : {"--commit-log", "--signature", "--coverage"}) {
        expect(trnvp + " exec " + program + " " + option + " " + program, 2, read(program));
        expect(trnvp + " exec " + program + " " + option + " " + link, 2, read(link));
    }
    EXPECT_EQ(std::filesystem::file_size(program), size);
    const auto of_firmware = std::filesystem::file_size(firmware);
    for (const auto* option : {"--uart", "--trace", "--vcd-signal chip0.nc0.error --vcd",
                               "--fidelity-report", "--coverage"})
        expect(trnvp + " run trn3-chip --max-time '1 us' --firmware " + firmware + " " + option +
                   " " + firmware,
               2, read(firmware));
    EXPECT_EQ(std::filesystem::file_size(firmware), of_firmware);
}

TEST_F(CommandLine, TwoLineMessageStaysOneMessage) {
    expect(trnctl + " --connect /no/such/folder info", 1, "directory\n  is it running?");
    if (sanitized) GTEST_SKIP() << "the limit is too low for sanitizers";
    expect("ulimit -n 7; " + chip, 1, "trnvp: signal_set_service pipe: Too many open files\n");
}

TEST_F(CommandLine, RunsInARemovedWorkingDirectory) {
    const auto gone =
        "mkdir " + folder_ / "gone" + "; cd " + folder_ / "gone" + "; rmdir ../gone; ";
    expect(gone + trnvp + " boards", 0, "trn3-chip");
    expect(gone + trnvp + " inspect trn3-chip", 0, "management");
    expect(gone + chip, 0, "1 us simulated");
    expect(gone + own_chip + "info", 0, "NeuronCores");
    expect(gone + chip + "--listen sockets", 2, "sockets");
}

TEST_F(CommandLine, ControlCharactersOfAFileAreEscaped) {
    const auto board = write("b.yaml",
                             "board: \"b\\e[2J\"\ndescription: \"d\\e]0;x\\a\\u009b\"\n"
                             "modules:\n  \"a\\e[31m\": {type: \"x\\r\\n\\e[1A\"}\n");
    for (const auto& command :
         {trnvp + " inspect " + board, trnvp + " run " + board,
          "TRNVP_BOARDS=" + folder_.text() + " " + trnvp + " boards",
          trnvp + " \"$(printf 'no\\033[2Jpe')\"", trnctl + " --board " + board + " info"}) {
        const auto how = run(command);
        for (const auto* raw : {"\x1b", "\a", "\r", "\xc2\x9b"})
            EXPECT_THAT(how.output, Not(HasSubstr(raw))) << command;
    }
}

}  // namespace
}  // namespace trn::test
