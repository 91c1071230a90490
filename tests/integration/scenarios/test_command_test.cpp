// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "platform/framework/sanitized.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string contents(const std::string& file) {
    std::ostringstream all;
    all << std::ifstream(file, std::ios::binary).rdbuf();
    return all.str();
}

struct TestCommand : testing::Test {
    scratch_folder folder;

    std::string scenario(const std::string& steps) {
        const auto file = folder / "s.yaml";
        std::ofstream(file) << "scenario: s\nboard: trn3-chip\nseed: 3\nsteps:\n" << steps;
        return file;
    }
    static ended test(const std::string& arguments) {
        return run(std::string(TRNVP) + " test " + arguments);
    }
};

TEST_F(TestCommand, SameSeedWritesTheSameTraceByteForByte) {
    const auto file = scenario(
        "  - boot: {within: 1 s}\n"
        "  - copy: {from: host, to: hbm0@16 MiB, size: 300001 B}\n"
        "  - copy: {from: hbm0@16 MiB, to: hbm3@16 MiB, size: 300001 B}\n"
        "  - mailbox: {power_profile: 1}\n"
        "  - reset: {cores: 0x3}\n");
    for (const auto* trace : {"1.txt", "2.txt"}) {
        const auto how = test(file + " --trace " + (folder / trace));
        ASSERT_EQ(how.status, 0) << how.output;
    }
    const auto first = contents(folder / "1.txt");
    EXPECT_GT(first.size(), 1000u);
    EXPECT_TRUE(first == contents(folder / "2.txt"));
}

TEST_F(TestCommand, SharedBootDoesNotChangeTraces) {
    const auto file = folder / "m.yaml";
    std::ofstream(file) << "scenario: m\nboard: trn3-chip\nmatrix: {size: [1 B, 4097 B, 1 MiB]}\n"
                           "steps:\n  - boot: {within: 1 s}\n"
                           "  - copy: {from: host, to: hbm0@16 MiB, size: '${size}'}\n";
    const std::array<std::string, 3> ways{"-j 1 --no-share", "-j 1", "-j 3"};
    for (std::size_t i = 0; i < ways.size(); ++i) {
        const auto trace = folder / ("t" + std::to_string(i) + ".txt");
        const auto how = test(file + " --trace " + trace + " " + ways[i]);
        ASSERT_EQ(how.status, 0) << how.output;
    }
    for (const auto* point : {".0.txt", ".1.txt", ".2.txt"}) {
        const auto alone = contents(folder / (std::string("t0") + point));
        EXPECT_GT(alone.size(), 1000u);
        for (const auto* way : {"t1", "t2"})
            EXPECT_TRUE(alone == contents(folder / (std::string(way) + point))) << way << point;
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "shared.t1.0.txt"));
}

TEST_F(TestCommand, SetupIsRunOnceAndIsPartOfTheReportOfEachScenario) {
    const auto one = folder / "one.yaml", two = folder / "two.yaml";
    const std::string count = folder / "count";
    const auto head = [&](const std::string& name) {
        return "scenario: " + name +
               "\nboard: trn3-chip\nsetup:\n  - boot: {within: 1 s}\n"
               "  - client: {command: [sh, -c, 'echo ran >>" +
               count +
               "']}\n"
               "  - peek: {register: chip0.udma0.M2S_STATE, as: revision}\n"
               "  - compute_rate: {name: FP32, file: " +
               std::filesystem::absolute("scenarios/programs/peak_fp32.trn").string() +
               ", rounds: 1}\n";
    };
    std::ofstream(one) << head("one") << "steps:\n  - wait: 1 us\n";
    std::ofstream(two)
        << "# a line\n"
        << head("two")
        << "steps:\n  - peek: {register: chip0.udma0.M2S_STATE, equals: '${revision}'}\n";
    std::vector<nlohmann::json> results;
    for (const auto* way : {"-j 1", "-j 2", "-j 1 --no-share"}) {
        std::filesystem::remove(count);
        const auto how = test(one + " " + two + " --json --digest " + way);
        EXPECT_EQ(how.status, 0) << how.output;
        EXPECT_EQ(contents(count), results.size() < 2 ? "ran\n" : "ran\nran\n") << way;
        auto& list = results.emplace_back(nlohmann::json::parse(how.output));
        for (auto& each : list) {
            EXPECT_EQ(each["figures"].size(), 1u) << each;
            for (const auto* key : {"wall_s", "own_s", "beginning_s", "first_step_s"})
                each.erase(key);
        }
        EXPECT_EQ(list, results.front()) << way;
    }
    EXPECT_NE(results[0][0]["trace_digest"], results[0][1]["trace_digest"]);
}

TEST_F(TestCommand, FailedStepOfASetupHasAPlaceInEachFile) {
    const std::string setup = "setup:\n  - boot: {within: 1 s}\n  - client: {command: ['false']}\n";
    std::ofstream(folder / "one.yaml") << "scenario: one\nboard: trn3-chip\n"
                                       << setup << "steps:\n  - wait: 1 us\n";
    std::ofstream(folder / "two.yaml") << "# a line\nscenario: two\nboard: trn3-chip\n"
                                       << setup << "steps:\n  - wait: 2 us\n";
    const auto how = test(std::string(folder.text()) + " --json");
    EXPECT_EQ(how.status, 1);
    const auto list = nlohmann::json::parse(how.output);
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0]["line"], 5);
    EXPECT_EQ(list[1]["line"], 6);
    EXPECT_EQ(list[1]["place_file"], folder / "two.yaml");
}

TEST_F(TestCommand, MisuseInASetupFailsItsStepUnlessTheScenarioExpectsIt) {
    const std::string setup =
        "board: trn3-chip\nmisuse: fail\nsetup:\n"
        "  - boot: {within: 1 s}\n"
        "  - copy: {from: host, to: 'axi@0x600000000000', size: 4 KiB, verify: false}\n"
        "    fails: aborted\n"
        "  - restart_queue: {core: 0}\n"
        "  - memset: {at: hbm0@1 MiB, size: 4 KiB, value: 1}\n";
    std::ofstream(folder / "one.yaml") << "scenario: one\n" << setup << "steps: [wait: 1 us]\n";
    std::ofstream(folder / "two.yaml") << "# a line\nscenario: two\n"
                                       << setup
                                       << "steps:\n"
                                          "  - verify: {at: hbm0@1 MiB, size: 4 KiB, value: 1}\n"
                                          "  - expect: {misuse: TRN-PCI-005, at_least: 1}\n";
    for (const auto* way : {"-j 1", "--no-share"}) {
        const auto how = test(std::string(folder.text()) + " --json " + way);
        const auto list = nlohmann::json::parse(how.output);
        ASSERT_EQ(list.size(), 2u);
        EXPECT_EQ(list[0]["status"], "failed");
        EXPECT_EQ(list[0]["line"], 6) << list[0];
        EXPECT_EQ(list[1]["status"], "passed") << list[1];
    }
}

TEST_F(TestCommand, TraceDigestDoesNotDependOnHowScenariosAreRun) {
    const auto digests = [](const std::string& how) {
        std::map<std::string, std::string> all;
        const auto list = nlohmann::json::parse(
            test("scenarios/copy_sizes.yaml scenarios/wrong_rings.yaml --json --digest " + how)
                .output);
        for (const auto& one : list) all[one["name"]] = one["trace_digest"];
        return all;
    };
    const auto expected = digests("-j 1");
    EXPECT_GT(expected.size(), 5u);
    std::set<std::string> different;
    for (const auto& [name, digest] : expected) different.insert(digest);
    EXPECT_EQ(different.size(), expected.size());
    EXPECT_FALSE(different.contains("0000000000000000"));
    EXPECT_EQ(digests("-j 3 --shuffle 5"), expected);
    EXPECT_EQ(digests("-j 2 --no-share"), expected);
}

TEST_F(TestCommand, FirmwareCoverageMergesAllProcessesAndChangesNoTrace) {
    const auto file = folder / "m.yaml";
    std::ofstream(file) << "scenario: m\nboard: trn3-chip\nmatrix: {profile: [1, 99]}\n"
                           "steps:\n  - boot: {within: 1 s}\n  - mailbox: {power_profile: "
                           "'${profile}'}\n";
    const auto info = [&](const std::string& name, const std::string& how) {
        const auto ran = test(file + " --coverage " + (folder / name) + " " + how);
        EXPECT_THAT(ran.output, Not(HasSubstr("warning")));
        return contents(folder / name);
    };
    const auto both = info("both.info", "-j 2");
    for (const auto* part : {"SF:firmware/bootrom/main.c\n", "SF:firmware/mgmt/mailbox.c\n",
                             "SF:firmware/lib/crc32c.c\n", "FNDA:1,crc32c_update\n"})
        EXPECT_TRUE(both.find(part) != both.npos) << part;
    EXPECT_TRUE(both.find("newlib") == both.npos);
    EXPECT_TRUE(info("alone.info", "-j 1 --no-share") == both);
    // Each run covers less than both together: both processes are counted.
    EXPECT_TRUE(info("first.info", "--name 'm [profile=1]'") != both);
    EXPECT_TRUE(info("second.info", "--name 'm [profile=99]'") != both);

    const auto digests = [&](const std::string& how) {
        const auto list = nlohmann::json::parse(test(file + " --json --digest " + how).output);
        return std::vector<std::string>{list[0]["trace_digest"], list[1]["trace_digest"]};
    };
    EXPECT_EQ(digests("--coverage " + (folder / "x.info")), digests(""));
    EXPECT_EQ(test(file + " --coverage " + (folder / "no/such/x.info")).status, 2);

    if (run("genhtml --version").status != 0) GTEST_SKIP() << "genhtml is not installed";
    const auto pages =
        run("genhtml -q --branch-coverage -o " + (folder / "html") + " " + (folder / "both.info"));
    EXPECT_EQ(pages.status, 0) << pages.output;
    EXPECT_THAT(pages.output, Not(HasSubstr("ERROR")));  // lcov 2 always warns
    EXPECT_THAT(contents(folder / "html/mgmt/mailbox.c.gcov.html"), HasSubstr("set_power_profile"));
}

TEST_F(TestCommand, FailurePrintsItsRerunCommandAndCanBeRerun) {
    const auto file = folder / "m.yaml";
    std::ofstream(file) << "scenario: m\ntags: [quick]\nboard: trn3-chip\n"
                           "matrix: {limit: [1 ms, 10 us]}\ntime_limit: '${limit}'\n"
                           "steps:\n  - wait: 500 us\n";
    setenv("XDG_STATE_HOME", folder.text().c_str(), 1);
    const auto how = test(file);
    EXPECT_THAT(how.output, HasSubstr("1 passed, 1 failed"));
    EXPECT_THAT(how.output, HasSubstr("again: trnvp test '" + file + "' --name 'm [limit=10 us]'"));
    EXPECT_THAT(test(file + " --name 'm [limit=10 us]'").output, HasSubstr("0 passed, 1 failed"));
    EXPECT_THAT(test(file + " --rerun-failed").output, HasSubstr("0 passed, 1 failed"));
    EXPECT_EQ(test(file + " --tag slow").status, 2);
    EXPECT_THAT(test(file + " --tag quick --shard 1/2 --repeat 3").output,
                HasSubstr("3 passed, 0 failed"));
    EXPECT_EQ(test(file + " --until-fail").status, 1);
    EXPECT_EQ(test(file + " --shard 3/2").status, 2);
}

TEST_F(TestCommand, ReportsTheFailedStep) {
    const auto file = scenario(
        "  - boot: {within: 1 s}\n"
        "  - verify: {at: hbm0@16 MiB, size: 1 B, value: 1}\n");
    const auto how = test(file + " --junit " + (folder / "report.xml"));
    EXPECT_EQ(how.status, 1) << how.output;
    EXPECT_THAT(how.output, HasSubstr("s.yaml:6:5"));
    EXPECT_THAT(how.output, HasSubstr("byte 0x0 is 0x00 instead of 0x01"));
    EXPECT_THAT(how.output, HasSubstr("| "));  // the run's log
    EXPECT_THAT(how.output, HasSubstr("0 passed, 1 failed"));
    EXPECT_THAT(contents(folder / "report.xml"), HasSubstr("failures=\"1\""));
}

TEST_F(TestCommand, OffsetNearTheEndOfTheAddressSpaceFailsItsStep) {
    const auto how =
        test(scenario("  - boot: {within: 1 s}\n"
                      "  - copy: {from: host@0xffffffffffff0000, to: hbm0, size: 65 KiB}\n"));
    EXPECT_EQ(how.status, 1) << how.output;
    EXPECT_THAT(how.output, HasSubstr("s.yaml:6:5"));
    EXPECT_THAT(how.output, HasSubstr("pass the end of the address space"));
}

TEST_F(TestCommand, HtmlReportIsValidAndComplete) {
    const auto file = scenario(
        "  - boot: {within: 1 s}\n"
        "  - wait: 20 us\n"
        "  - expect_uart: {text: '<script>alert(1)</script>'}\n");
    std::ofstream(folder / "t.yaml") << "scenario: t\nboard: trn3-chip\nseed: 3\ntags: [quick]\n"
                                        "steps:\n  - boot: {within: 1 s}\n";
    const auto how = test(file + " " + (folder / "t.yaml") + " --html " + (folder / "r.html"));
    EXPECT_EQ(how.status, 1) << how.output;
    const auto found = run("python3 tests/support/read_html.py " + (folder / "r.html"));
    ASSERT_EQ(found.status, 0) << found.output;
    const auto page = nlohmann::json::parse(found.output);
    for (const auto* nothing : {"wrong", "outside", "handlers"})
        EXPECT_TRUE(page[nothing].empty()) << page[nothing];
    EXPECT_EQ(page["scripts"].size(), 1u);
    EXPECT_EQ(page["boards"], nlohmann::json::array({"trn3-chip"}));
    EXPECT_EQ(page["pictures"], 1);
    ASSERT_EQ(page["scenarios"].size(), 2u);
    const auto& bad = page["scenarios"][0];
    EXPECT_EQ(bad["cells"][0], "failed");
    EXPECT_THAT(std::string(bad["message"]), HasSubstr("s.yaml:7:5"));
    EXPECT_THAT(std::string(bad["message"]), HasSubstr("<script>alert(1)</script>"));
    EXPECT_THAT(std::string(bad["log"]), HasSubstr("boot"));  // of the firmware
    // The shared boot is the first step of each, with its own duration.
    for (const auto& one : page["scenarios"]) EXPECT_NE(one["steps"][0]["cells"][3], "0 ms");
    ASSERT_EQ(bad["steps"].size(), 3u);
    EXPECT_EQ(bad["steps"][1]["cells"][0], "wait 20 us");
    EXPECT_EQ(bad["steps"][1]["cells"][3], "0.02 ms");
    EXPECT_EQ(bad["steps"][2]["class"][0], "last");
    EXPECT_EQ(page["scenarios"][1]["cells"][3], "quick");
}

TEST_F(TestCommand, ProgressIsShownOnATerminalAndNotInAPipe) {
    if (run("command -v script").status != 0) GTEST_SKIP() << "script(1) is not installed";
    // Long enough that no two scenarios end between two looks at them.
    const auto file = scenario("  - client: {command: [sleep, '0.2']}\n");
    const std::string arguments = file + " -j 1 --repeat 3";
    const auto terminal =
        run("script -qec \"" + std::string(TRNVP) + " test " + arguments + "\" /dev/null");
    EXPECT_THAT(terminal.output, HasSubstr("\r\033[K1 of 3, 0:0"));
    EXPECT_THAT(terminal.output, HasSubstr(" left\r\033[K"));  // erased before a result is printed
    EXPECT_THAT(terminal.output, HasSubstr("3 passed, 0 failed"));
    const auto pipe = test(arguments);
    EXPECT_THAT(pipe.output, HasSubstr("3 passed, 0 failed"));
    EXPECT_THAT(pipe.output, Not(HasSubstr("\r")));
    EXPECT_THAT(pipe.output, Not(HasSubstr("left")));
}

TEST_F(TestCommand, UnwritableReportIsAnErrorAndLeavesNoFile) {
    const auto file = scenario("  - wait: 10 us\n");
    for (const auto* option : {"--html", "--junit", "--coverage"}) {
        const auto nowhere = test(file + " " + option + " " + (folder / "no/such/report"));
        EXPECT_EQ(nowhere.status, 2);
        EXPECT_THAT(nowhere.output, HasSubstr("cannot write this file: No such file or directory"));
        EXPECT_THAT(nowhere.output, Not(HasSubstr("passed")));  // reported before anything runs
        const auto full = test(file + " " + option + " /dev/full");
        EXPECT_EQ(full.status, 1) << full.output;  // not a user error
        EXPECT_THAT(full.output, HasSubstr("/dev/full: "));
        EXPECT_THAT(full.output, HasSubstr("No space left on device"));
    }
    // The disk becomes full while the report is written.
    std::ofstream(folder / "kept.html") << "earlier";
    for (const auto* name : {"kept.html", "new.html"}) {
        const auto limited = run("trap '' XFSZ; ulimit -f 8; " + std::string(TRNVP) + " test " +
                                 file + " --html " + (folder / name));
        EXPECT_EQ(limited.status, 1) << limited.output;
        EXPECT_THAT(limited.output, HasSubstr("cannot write this file: File too large"));
    }
    EXPECT_EQ(contents(folder / "kept.html"), "earlier");
    std::set<std::string> left;
    for (const auto& one : std::filesystem::directory_iterator(folder.text()))
        left.insert(one.path().filename());
    EXPECT_EQ(left, (std::set<std::string>{"s.yaml", "kept.html"}));
}

TEST_F(TestCommand, LostOutputIsReportedAndFailsTheCommand) {
    const auto file = scenario("  - wait: 10 us\n");
    const std::string with_junit = "--junit " + (folder / "j.xml");
    for (const auto& options : {file, file + " --json", file + " --list", with_junit + " " + file,
                                std::string("--schema")}) {
        const auto full = run("(" + std::string(TRNVP) + " test " + options + " >/dev/full)");
        EXPECT_EQ(full.status, 1) << options;
        EXPECT_THAT(full.output, HasSubstr("cannot write to standard output")) << options;
    }
    // A full standard output must not lose a report.
    EXPECT_THAT(contents(folder / "j.xml"), HasSubstr("failures=\"0\""));
    const auto touched = test(file + " --fidelity-report /dev/full");
    EXPECT_EQ(touched.status, 1);
    EXPECT_THAT(touched.output, HasSubstr("/dev/full: cannot write this file: No space left"));
}

TEST_F(TestCommand, OneScenarioCannotPreventTheReportsOfOthers) {
    const std::vector<std::pair<std::string, std::string>> bad{
        {"figure: {name: f, bytes: 1 B, time_of: [deposit: {register: chip0.udma0.M2S_STATE, "
         "value: 0}]}",
         "no simulated time"},
        {"client: {command: [sh, -c, 'kill -9 $PPID; sleep 9'], wall_limit: 20 s}", "signal 9"},
        {"client: {command: ['true'], matches: '(a|b)*c'}", "output does not match"},
        {"client: {command: [sh, -c, 'printf \"\\377\\033]0;x\\007<&\"; exit 3']}",
         "\\x1b]0;x\\x07<&"},
        {"client: {command: [sh, -c, 'head -c 300000000 /dev/zero'], matches: x}",
         "output does not match"}};
    std::string files;
    for (std::size_t i = 0; i < bad.size(); ++i) {
        const auto file = folder / ("bad" + std::to_string(i) + ".yaml");
        std::ofstream(file) << "scenario: \"bad \\e]0;x\\a" << i
                            << "\"\nboard: trn3-chip\nsteps:\n  - boot: {}\n  - " << bad[i].first
                            << "\n";
        files += " " + file;
    }
    const auto how = test(scenario("  - boot: {}\n") + files + " --junit " + (folder / "j.xml") +
                          " --html " + (folder / "r.html") + " --coverage " + (folder / "c.info"));
    EXPECT_EQ(how.status, 1) << how.output;
    EXPECT_THAT(how.output, HasSubstr("1 passed, 5 failed"));
    EXPECT_THAT(how.output, HasSubstr("FAIL  bad \\x1b]0;x\\x070\n"));
    for (const auto& [_, why] : bad) EXPECT_THAT(how.output, HasSubstr(why));
    for (const char c : how.output) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ');
    EXPECT_THAT(contents(folder / "c.info"), HasSubstr("end_of_record"));
    const auto xml =
        run("python3 -c 'import sys, xml.dom.minidom as m; print(len(m.parse(sys.argv[1])."
            "getElementsByTagName(\"testcase\")))' " +
            (folder / "j.xml"));
    EXPECT_EQ(xml.output, "6\n");
    const auto page = run("python3 tests/support/read_html.py " + (folder / "r.html"));
    EXPECT_EQ(nlohmann::json::parse(page.output)["scenarios"].size(), 6u);
}

TEST_F(TestCommand, InvalidRunIsOneMessageAndStatus2) {
    const auto file = scenario("  - wait: 10 us\n");
    std::filesystem::create_directory(folder / "empty");
    const auto refused = [&](const std::string& arguments, const std::string& why) {
        const auto how = test(arguments);
        EXPECT_EQ(how.status, 2) << arguments << how.output;
        EXPECT_THAT(how.output, HasSubstr(why)) << arguments;
        EXPECT_THAT(how.output, Not(HasSubstr("passed"))) << arguments;
    };
    refused(folder / "empty", "there is no scenario in");
    refused((folder / "empty") + " " + file, "there is no scenario in");
    for (const auto* jobs : {"0", "-1", "1025", "65536", "99999999999", "1.5", "x"})
        refused(file + " -j " + jobs, "--jobs");
    const auto x = folder / "x";
    refused(file + " --junit " + x + " --html " + x, "this file is --junit already");
    refused(file + " --trace " + x + " --html " + (folder / "empty/../x"), "--html already");
    refused(file + " --junit " + file, "this file is a scenario already");
    refused(file + " --name z", "no scenario has the name 'z'");
    refused(file + " --repeat 10000 --name s --tag t", "no scenario has the tag 't'");
    EXPECT_EQ(test(file + " --junit /dev/null --html /dev/null").status, 0);
}

TEST_F(TestCommand, InvalidScenarioParameterIsReportedAtItsLine) {
    const auto place = [&](const std::string& lines) {
        std::ofstream(folder / "s.yaml") << "scenario: s\nboard: trn3-chip\n"
                                         << lines << "steps:\n  - wait: 10 us\n";
        const auto how = test(folder / "s.yaml");
        EXPECT_EQ(how.status, 1) << how.output;
        return how.output;
    };
    EXPECT_THAT(place("set: {revsion: 240}\n"), HasSubstr("s.yaml:3:7: E12"));
    EXPECT_THAT(place("set: {revision: 240, devices: x}\n"), HasSubstr("s.yaml:3:31: E24"));
    EXPECT_THAT(place("set: {revision: 999}\n"), HasSubstr("s.yaml:3:17: E22"));
    EXPECT_THAT(place("firmware: none.img\n"), HasSubstr("s.yaml:3:11: E01"));
}

TEST_F(TestCommand, ResourceShortagesAreReportedInOneSentence) {
    const auto file = scenario("  - boot: {}\n");
    const auto limited = [&](const std::string& limits, const std::string& options = "") {
        // Closes descriptors that the test may have inherited.
        const auto how = run("(exec 3<&- 4<&- 5<&- 6<&-; " + limits + "; timeout 100 " +
                             std::string(TRNVP) + " test " + file + " " + options + ")");
        EXPECT_NE(how.status, 124) << limits;  // did not end
        EXPECT_THAT(how.output, Not(HasSubstr("terminate"))) << limits;
        EXPECT_THAT(how.output, Not(HasSubstr("signal"))) << limits;
        EXPECT_THAT(how.output, Not(HasSubstr("uncaught"))) << limits;
        return how;
    };
    EXPECT_EQ(limited("ulimit -f 0; trap '' XFSZ", "--junit " + (folder / "j.xml")).status, 1);
    limited("mkdir " + (folder / "gone") + "; cd " + (folder / "gone") + "; rmdir " +
            (folder / "gone"));
    limited("exec 1>&-");
    if (sanitized) GTEST_SKIP() << "the other limits are too low for sanitizers";
    limited("ulimit -n 8");  // may suffice
    for (const auto* few : {"ulimit -n 4", "ulimit -n 5", "ulimit -v 120000"}) {
        const auto how = limited(few);
        EXPECT_EQ(how.status, 1) << few << how.output;
    }
    // With descriptors for only some at a time, the others wait.
    EXPECT_EQ(limited("ulimit -n 32", "-j 64 --repeat 20 --no-share").status, 0);
}

TEST_F(TestCommand, HtmlReportFiltersInABrowser) {
    std::string browser;
    for (const auto* name : {"chromium", "chromium-browser", "google-chrome"})
        if (browser.empty() && run(std::string("command -v ") + name).status == 0) browser = name;
    if (browser.empty()) GTEST_SKIP() << "no Chromium is installed";
    test(scenario("  - wait: 10 us\n") + " --html " + (folder / "r.html"));
    const auto page = run(browser + " --headless --no-sandbox --disable-gpu --dump-dom file://" +
                          (folder / "r.html"));
    EXPECT_THAT(page.output, HasSubstr(">1 of 1<"));  // written by the page's script
}

/// A Python client step; `p` is the connected platform.
std::string client_of(const std::string& work) {
    return "[env, PYTHONPATH=sw-stubs/python, python3, -c, \"import os, time, trnvp_control; "
           "p = trnvp_control.connect(os.environ['TRNVP_SOCKETS']); " +
           work + "\"]";
}

TEST_F(TestCommand, ClientAdvancesSimulatedTimeReproducibly) {
    const auto file = scenario(
        "  - boot: {}\n  - figure:\n      name: client's\n      time_of:\n"
        "        - client: {command: " +
        client_of("p.run(**{'for': '25 us'}); time.sleep(0.2); "
                  "p.poke('chip0.hbm0.in', 4096, b'x'); print('at', 4096)") +
        ", matches: 'at (\\d+)', as: place}\n"
        "      at_least: 25 us\n      at_most: 25 us\n"
        "  - peek: {space: chip0.hbm0.in, address: '${place}', width: 1, equals: 120}\n"
        "  - wait: 10 us\n");
    std::set<std::string> digests;
    for (int again = 0; again < 3; ++again) {
        const auto how = test(file + " --json --digest" + (again == 1 ? " --no-share" : ""));
        ASSERT_EQ(how.status, 0) << how.output;
        digests.insert(nlohmann::json::parse(how.output)[0]["trace_digest"].dump());
    }
    EXPECT_EQ(digests.size(), 1u);
}

TEST_F(TestCommand, ClientResultDecidesItsStep) {
    const auto client = [&](const std::string& rest) {
        const auto how = test(scenario("  - client: {command: " + rest + "}\n"));
        EXPECT_EQ(how.status, 1);
        return how.output;
    };
    EXPECT_THAT(client("[sh, -c, 'echo some words; exit 3']"),
                HasSubstr("it ended with status 3 instead of 0:\nsome words"));
    EXPECT_THAT(client("[sh, -c, 'kill -9 $$'], status: 0"),
                HasSubstr("it ended with status 137 instead of 0, without output"));
    EXPECT_THAT(client("[no-such-program]"),
                HasSubstr("s.yaml:5:5: client no-such-program: cannot start no-such-program: "
                          "No such file or directory"));
    const auto branches =
        test(scenario("  - together:\n      a:\n        - client: {command: [no-such-program]}\n"
                      "      b:\n        - expect_uart: {text: never, within: 100 s}\n"));
    EXPECT_THAT(branches.output, HasSubstr("s.yaml:7:11: a: client no-such-program: cannot start "
                                           "no-such-program: No such file or directory"));
    EXPECT_THAT(client("['true'], matches: 'w(o)rds'"),
                HasSubstr("output does not match 'w(o)rds'"));
    EXPECT_THAT(client(client_of("p.quit()")), HasSubstr("quit: trnvp_control.py said quit"));
    EXPECT_THAT(client(client_of("p.run(until='1000 s')")), HasSubstr("time_limit"));
    const auto empty = test(scenario("  - client: {command: []}\n  - client: {status: 256}\n"));
    EXPECT_EQ(empty.status, 1);
    EXPECT_THAT(empty.output, HasSubstr("a program and its words"));
    EXPECT_THAT(empty.output, HasSubstr("must be 0 to 255"));
}

TEST_F(TestCommand, ClientGetsTheUsersEnvironmentOnly) {
    const auto finds = [&](const std::string& given, const std::string& wanted) {
        const auto file = scenario("  - client: {command: [sh, -c, 'test x\"$GLIBC_TUNABLES\" = x" +
                                   wanted + "']}\n");
        const auto how = run("env -u GLIBC_TUNABLES " + given + " " + TRNVP + " test " + file);
        EXPECT_EQ(how.status, 0) << how.output;
    };
    finds("", "");
    finds("GLIBC_TUNABLES=glibc.malloc.arena_max=2", "glibc.malloc.arena_max=2");
}

/// A client that hangs together with its child processes; it writes their ids to `file`.
std::string hanging_client(const std::string& file) {
    return "  - client: {command: [sh, -c, 'sleep 1000 & echo $! $$ > " + file + "; wait']";
}

/// Checks that the processes listed in the file have ended; the system may need a moment.
void expect_ended(const std::string& file) {
    std::istringstream processes(contents(file));
    int count = 0;
    for (int one = 0; processes >> one; ++count) {
        EXPECT_TRUE(trn::test::eventually([one] { return kill(one, 0) != 0; }));
    }
    EXPECT_EQ(count, 2);
}

bool no_sockets_in(const std::string& temporary) {
    return std::ranges::none_of(std::filesystem::directory_iterator(temporary), [](const auto& e) {
        return e.path().string().find("trnvp-client") != std::string::npos;
    });
}

TEST_F(TestCommand, RequestToEndIsForTheRunnerAlone) {
    // Terminals and Slurm signal all processes of a group: the scenario's process must not fail it.
    const auto file = scenario(
        "  - client: {command: [sh, -c, 'kill -s TERM $PPID; kill -s INT $PPID']}\n"
        "  - client: {command: [sh, -c, 'kill -s TERM $$'], status: 143}\n");
    const auto how = test(file);
    EXPECT_EQ(how.status, 0) << how.output;
}

TEST_F(TestCommand, RequestToEndAllProcessesLeavesNothingBehind) {
    const auto file =
        scenario("  - client: {command: [sh, -c, 'sleep 1000 & echo $! $$ > " + (folder / "pids") +
                 "; kill -s TERM -- -$(cut -d\" \" -f5 /proc/$PPID/stat); wait']}\n");
    const auto how =
        run("TMPDIR=" + folder.text() + " setsid -w " + TRNVP + " test " + file + "; exit $?");
    EXPECT_EQ(how.status, 128 + SIGTERM);
    EXPECT_THAT(how.output, Not(HasSubstr("FAIL")));
    expect_ended(folder / "pids");
    EXPECT_TRUE(eventually([this] { return no_sockets_in(folder.text()); }));
}

TEST_F(TestCommand, ClientIsEndedAtItsTimeLimit) {
    const auto file = scenario(hanging_client(folder / "pids") + ", wall_limit: 2 s}\n");
    const auto how = run("TMPDIR=" + folder.text() + " " + TRNVP + " test " + file);
    EXPECT_THAT(how.output, HasSubstr("s.yaml:5:5: client sh -c"));
    EXPECT_THAT(how.output, HasSubstr("still running after 2 s of wall clock"));
    expect_ended(folder / "pids");
    EXPECT_TRUE(no_sockets_in(folder.text()));
}

TEST_F(TestCommand, ClientAndItsSocketsEndWithTheScenario) {
    const auto file = scenario(hanging_client(folder / "pids") + "}\n");
    std::ofstream(file, std::ios::app) << "wall_limit: 3 s\n";
    const auto how = run("TMPDIR=" + folder.text() + " " + TRNVP + " test " + file);
    EXPECT_THAT(how.output, HasSubstr("still running after"));
    EXPECT_THAT(how.output, HasSubstr("trn::scenario::execute("));
    EXPECT_THAT(how.output, Not(HasSubstr("CLI::"))) << "callers that every scenario has";
    expect_ended(folder / "pids");
    EXPECT_TRUE(no_sockets_in(folder.text()));
}

TEST_F(TestCommand, ClientAndItsSocketsEndWithAKilledRunner) {
    const auto file = scenario(hanging_client(folder / "pids") + "}\n");
    const auto how =
        run("TMPDIR=" + folder.text() + " timeout -s KILL 4 " + TRNVP + " test " + file);
    EXPECT_NE(how.status, 0);
    expect_ended(folder / "pids");
    EXPECT_TRUE(trn::test::eventually([this] { return no_sockets_in(folder.text()); }));
}

TEST_F(TestCommand, EndsAScenarioAtItsSimulatedTimeLimit) {
    const auto file = folder / "s.yaml";
    std::ofstream(file) << "scenario: s\nboard: trn3-chip\ntime_limit: 10 us\n"
                           "steps:\n  - wait: 1 s\n";
    const auto how = test(file);
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output, HasSubstr("time_limit"));
}

TEST_F(TestCommand, UnexpectedMisuseCanFailAScenario) {
    const std::string steps =
        "  - boot: {within: 1 s}\n"
        "  - write_register: {offset: 0x3c000000, value: 1}\n";
    const auto quiet = test(scenario(steps));
    EXPECT_EQ(quiet.status, 0) << quiet.output;
    const auto how = test(scenario(steps) + " --misuse fail");
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output, HasSubstr("misuse: TRN-PCI-002 host-write-to-nothing (1 times by"));
    EXPECT_EQ(test(scenario(steps) + " --misuse fail:TRN-PCI-001").status, 0);
    const auto expected =
        scenario(steps + "  - expect: {misuse: host-write-to-nothing, equals: 1}\n");
    EXPECT_EQ(test(expected + " --misuse fail").status, 0);
}

TEST_F(TestCommand, MisuseFailsTheStepDuringWhichItHappens) {
    const auto how = test(scenario("  - boot: {within: 1 s}\n"
                                   "  - together:\n"
                                   "      a: [wait: 10 us]\n"
                                   "      b: [write_register: {offset: 0x3c000000, value: 1}]\n"
                                   "  - wait: 1 s\n") +
                          " --misuse fail --json");
    const auto result = nlohmann::json::parse(how.output)[0];
    EXPECT_EQ(result["line"], 8) << result;
    EXPECT_THAT(std::string(result["message"]), HasSubstr("misuse: TRN-PCI-002"));
    EXPECT_LT(result["simulated_ns"], 200'000'000);  // later steps do not run
}

TEST_F(TestCommand, InjectedErrorsOfMemoryAreNoMisuseOfSoftware) {
    const auto how =
        test(scenario("  - boot: {within: 1 s}\n"
                      "  - fill: {at: hbm0@16 MiB, size: 4 KiB, value: 7}\n"
                      "  - inject: {module: chip0.hbm0, fault: hbm_uncorrected, with: "
                      "{offset: 0x1000000}}\n"
                      "  - copy: {from: hbm0@16 MiB, to: hbm1@16 MiB, size: 4 KiB, verify: false}\n"
                      "    fails: aborted\n"
                      "  - verify: {at: hbm0@16 MiB, size: 4 KiB, value: 7}\n") +
             " --misuse fail");  // by DMA, then through BAR4
    EXPECT_THAT(how.output, HasSubstr("s.yaml:10:5: verify hbm0@0x1000000 has 0x07, 4096 bytes: "));
    EXPECT_THAT(how.output, Not(HasSubstr("TRN-")));
}

TEST_F(TestCommand, CountersOfAStackOfHbmAreCheapToWatch) {
    const auto how = test(
        scenario("  - boot: {within: 1 s}\n"
                 "  - expect: {counter: ecc_corrected, module: chip0.hbm0, at_least: 1, within: "
                 "20 ms}\n") +
        " --json");
    const auto result = nlohmann::json::parse(how.output)[0];
    EXPECT_EQ(result["message"], "waited 20 ms: it is 0");  // 2,000 looks within the wall limit
}

TEST_F(TestCommand, AllowedMisuseDoesNotFailAScenarioUntilItsCount) {
    const auto with = [&](const std::string& allowance, int writes) {
        std::string text =
            "scenario: s\nboard: trn3-chip\nmisuse:\n  policy: fail\n  allow:\n    - {" +
            allowance + "}\nsteps:\n  - boot: {within: 1 s}\n";
        for (int i = 0; i < writes; ++i)
            text += "  - write_register: {offset: 0x3c000000, value: 1}\n";
        std::ofstream(folder / "s.yaml")
            << text << "  - expect: {misuse: host-write-to-nothing, at_least: 0}\n";
        return test(folder / "s.yaml");
    };
    const std::string twice =
        "rule: TRN-PCI-002, at: chip0.pcie, count: 2, reason: a driver of another chip";
    auto how = with(twice, 2);
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("2 allowed: TRN-PCI-002 host-write-to-nothing at chip0.pcie "
                                      "(a driver of another chip), " +
                                      (folder / "s.yaml") + ":6:7\n"));
    how = with(twice, 3);
    EXPECT_EQ(how.status, 1) << how.output;
    EXPECT_THAT(how.output,
                HasSubstr("TRN-PCI-002 host-write-to-nothing (1 times by chip0.pcie: 4 bytes at "));
    EXPECT_THAT(how.output, HasSubstr("2 allowed: "));
    how = with("rule: TRN-PCI-002, until: 1 us, reason: x", 1);
    EXPECT_EQ(how.status, 1) << how.output;
    how = with("rule: TRN-PCI-002, from: 1 ms, reason: x", 1);
    EXPECT_EQ(how.status, 0) << how.output;
    how = with(twice, 0);
    EXPECT_EQ(how.status, 0) << how.output;
    EXPECT_THAT(how.output, HasSubstr("warning: " + (folder / "s.yaml") +
                                      ":6:7: unused allowance: no TRN-PCI-002"));
    how = with("rule: TRN-PCI-002, at: chip0.pice, reason: x", 0);
    EXPECT_EQ(how.status, 1) << how.output;
    EXPECT_THAT(how.output, HasSubstr("s.yaml:6:31: E40 the board has no module 'chip0.pice'"));
    EXPECT_THAT(how.output, HasSubstr("did you mean 'pcie'?"));
}

TEST_F(TestCommand, AllowancesOfTheCommandLineAndOfAFileAreUsed) {
    const auto file = scenario(
        "  - boot: {within: 1 s}\n"
        "  - write_register: {offset: 0x3c000000, value: 1}\n"
        "  - read_register: {offset: 0x3c000000, equals: 0}\n");
    std::ofstream(folder / "allow.yaml")
        << "allow:\n  - {rule: host-read-of-nothing, reason: from a file}\n";
    const auto how = test(file + " --misuse fail --misuse-allow " + (folder / "allow.yaml") +
                          " --misuse-allow 'rule=TRN-PCI-002,at=chip*,reason=a, b' --junit " +
                          (folder / "j.xml") + " --report " + (folder / "report") + " --html " +
                          (folder / "h.html"));
    EXPECT_EQ(how.status, 0) << how.output;
    const auto file_line = "1 allowed: TRN-PCI-001 host-read-of-nothing (from a file), " +
                           (folder / "allow.yaml") + ":2:5";
    const std::string option_line =
        "1 allowed: TRN-PCI-002 host-write-to-nothing at chip* (a, b), --misuse-allow";
    for (const auto& all : {how.output, contents(folder / "j.xml"),
                            contents(folder / "report/run.jsonl"), contents(folder / "h.html")}) {
        EXPECT_THAT(all, HasSubstr(file_line));
        EXPECT_THAT(all, HasSubstr(option_line));
    }
    const auto fingerprint = [&] {
        const auto record = contents(folder / "report/run.jsonl");
        const std::string key = R"("fingerprint":")";
        const auto at = record.find(key);
        EXPECT_NE(at, record.npos) << record;
        return record.substr(at + key.size(), 16);
    };
    const auto before = fingerprint();
    std::ofstream(folder / "allow.yaml")
        << "allow:\n  - {rule: host-read-of-nothing, count: 1, reason: from a file}\n";
    const auto again = test(file + " --misuse fail --misuse-allow " + (folder / "allow.yaml") +
                            " --misuse-allow 'rule=TRN-PCI-002,at=chip*,reason=a, b' --report " +
                            (folder / "report"));
    EXPECT_EQ(again.status, 0) << again.output;
    EXPECT_NE(fingerprint(), before) << "another content of the file is another case";
    const auto unknown = test(file + " --misuse-allow rule=TRN-PCI-202,reason=x");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.output, HasSubstr("--misuse-allow: E26 there is no misuse rule"));
    const auto failed = test(file + " --misuse fail --misuse-allow 'rule=TRN-PCI-002,reason=a b'");
    EXPECT_EQ(failed.status, 1);
    EXPECT_THAT(failed.output,
                HasSubstr("--misuse fail --misuse-allow 'rule=TRN-PCI-002,reason=a b'\n"));
}

TEST_F(TestCommand, MisuseIsAllowedInAFunctionOfTheFirmware) {
    const auto file = scenario(
        "  - boot: {within: 1 s}\n"
        "  - mailbox: {command: 99}\n"
        "    fails: refused\n");
    const std::string allowed = " --misuse fail --misuse-allow rule=TRN-MBX-004,";
    auto how = test(file + allowed + "function=execute,reason=x");
    EXPECT_EQ(how.status, 0) << how.output;
    how = test(file + allowed + "function=serve,reason=x");
    EXPECT_EQ(how.status, 1) << how.output;
    const auto at = how.output.find("mailbox.c:");
    ASSERT_NE(at, std::string::npos) << how.output;
    const auto line = how.output.substr(at, how.output.find(')', at) - at);
    how = test(file + allowed + "line=" + line + ",reason=x");
    EXPECT_EQ(how.status, 0) << how.output;
}

/// Vector and GPSIMD write the same bytes in any order.
TEST_F(TestCommand, ExpectedCountEnablesARuleThatIsCheckedOnDemand) {
    std::filesystem::copy("scenarios/programs/misuse.trn", folder / "misuse.trn");
    const auto with = [&](const std::string& count) {
        return scenario(
            "  - boot: {within: 1 s}\n"
            "  - deposit: {space: chip0.nc0.aperture, address: 0x0, value: 0, width: 8}\n"
            "  - deposit: {space: chip0.nc0.aperture, address: 0x8, value: 0, width: 8}\n"
            "  - program: {file: misuse.trn}\n"
            "  - expect: {misuse: tile-race, " +
            count + "}\n");
    };
    const auto how = test(with("equals: 0"));
    EXPECT_EQ(how.status, 1) << how.output;
    EXPECT_THAT(how.output, HasSubstr("misuse tile-race to be 0: it is 1"));
    for (const auto* policy : {"count", "log", "fail:tile-race"})
        EXPECT_EQ(test(with("equals: 1") + " --misuse " + policy).status, 0) << policy;
}

TEST_F(TestCommand, FirmwareMisuseReportNamesItsFunctionAndLine) {
    const auto how = test(scenario("  - boot: {within: 1 s}\n"
                                   "  - mailbox: {command: 99}\n"
                                   "    fails: refused\n") +
                          " --misuse fail");
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output,
                testing::ContainsRegex("TRN-MBX-004.*by chip0.management.cpu in execute "
                                       "\\(firmware/mgmt/mailbox.c:[0-9]+\\), pc 0x4000"));
}

TEST_F(TestCommand, FidelityReportListsTouchedRegisters) {
    const auto file = scenario(
        "  - boot: {within: 1 s}\n"
        "  - copy: {from: host, to: hbm0@16 MiB, size: 64 KiB}\n");
    for (const auto* name : {"report.json", "report.md"})
        ASSERT_EQ(test(file + " --fidelity-report " + (folder / name)).status, 0);
    const auto report = nlohmann::json::parse(contents(folder / "report.json"));
    std::map<std::string, nlohmann::json> rows;
    for (const auto& row : report["registers"]) rows[row["register"]] = row;
    EXPECT_EQ(rows["M2S_Q_TAIL_INCREMENT"]["kind"], "udma");
    EXPECT_EQ(rows["M2S_Q_TAIL_INCREMENT"]["known_by"], "driver");
    EXPECT_GT(rows["M2S_Q_TAIL_INCREMENT"]["host"]["writes"], 0);
    EXPECT_EQ(rows["M2S_Q_TAIL_INCREMENT"]["firmware"]["writes"], 0);
    EXPECT_GT(rows["BOOT_STATUS"]["firmware"]["writes"], 0);
    EXPECT_EQ(rows["BOOT_STATUS"]["known_by"], "invented");
    const auto text = contents(folder / "report.md");
    EXPECT_THAT(text, HasSubstr("| udma | `sdma_misc.READ_REORDER` | driver | **stub** |"));
    EXPECT_EQ(test(file + " --fidelity-report /no/such/folder/f.md").status, 2);
    EXPECT_EQ(run(std::string(TRNVP) + " run trn3-chip --fidelity-report /no/such/f.md").status, 2);
}

TEST_F(TestCommand, InvalidMisusePolicyIsAUsageError) {
    auto how = test(scenario("  - wait: 1 us\n") + " --misuse fail:ring-id-mismach");
    EXPECT_EQ(how.status, 2);
    EXPECT_THAT(how.output, HasSubstr("did you mean 'ring-id-mismatch'"));
    const auto file = folder / "s.yaml";
    std::ofstream(file) << "scenario: s\nboard: trn3-chip\nmisuse: fial\nsteps:\n  - wait: 1 s\n";
    how = test(file);
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output, HasSubstr("s.yaml:3:9: E26"));
    EXPECT_THAT(how.output, HasSubstr("did you mean 'fail'"));
    EXPECT_EQ(run(std::string(TRNVP) + " run trn3-chip --misuse fial").status, 2);
}

TEST_F(TestCommand, InvalidFileFailsItsScenarioAndStrictRunsNone) {
    const auto file = scenario("  - wiat: 1 s\n");
    const auto strict = test(file + " --strict");
    EXPECT_EQ(strict.status, 2);
    EXPECT_THAT(strict.output, HasSubstr("s.yaml:5:5: E10"));
    EXPECT_THAT(strict.output, Not(HasSubstr("failed")));
    const auto how = test(file);
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output, HasSubstr("0 passed, 1 failed"));
    EXPECT_THAT(how.output, HasSubstr("s.yaml:5:5: E10"));
    EXPECT_THAT(how.output, HasSubstr("did you mean 'wait'"));
    EXPECT_EQ(test("no-such-folder").status, 2);
}

TEST_F(TestCommand, PrintsJsonForScripts) {
    const auto how = test(scenario("  - wait: 1 us\n") + " --json");
    ASSERT_EQ(how.status, 0) << how.output;
    const auto all = nlohmann::json::parse(how.output);
    EXPECT_EQ(all.at(0)["status"], "passed");
    EXPECT_EQ(all.at(0)["name"], "s");
}

TEST_F(TestCommand, MisspeltNameGetsTheNearestSuggestion) {
    const auto message = [this](const std::string& step) {
        const auto how = test(scenario("  - " + step + "\n"));
        EXPECT_EQ(how.status, 1) << how.output;
        return how.output;
    };
    EXPECT_THAT(message("peek: {register: chip0.udma0.M2S_STAET, equals: 0}"),
                HasSubstr("did you mean 'M2S_STATE'"));
    EXPECT_THAT(message("expect: {register: chip0.udma0.M2S_STATE.DTAA, equals: 0}"),
                HasSubstr("did you mean 'DATA'"));
    EXPECT_THAT(message("poke: {register: chip0.udma9.M2S_STATE, value: 0}"),
                HasSubstr("did you mean 'chip0.udma0'"));
    EXPECT_THAT(message("expect: {module: chip0.udma0, counter: descriptor, equals: 0}"),
                HasSubstr("did you mean 'descriptors'"));
    EXPECT_THAT(message("inject: {module: chip0.hbm4, fault: hbm_corrected}"),
                HasSubstr("did you mean 'chip0.hbm0'"));
    EXPECT_THAT(message("inject: {module: 'chip*.hbm*', fault: hbm_corected}"),
                HasSubstr("did you mean 'hbm_corrected'"));
    EXPECT_THAT(message("wait: {reached: mailbox_srve, hart: chip0.management.cpu}"),
                HasSubstr("did you mean 'mailbox_serve'"));
}

/// Writes a program like `from` with another function name and other code.
void write_unrelated(const std::string& from, const std::string& to, const std::string& name,
                     const std::string& new_name) {
    auto elf = contents(from);
    std::uint64_t headers = 0, offset = 0, size = 0;
    std::memcpy(&headers, &elf[32], sizeof headers);
    std::memcpy(&offset, &elf[headers + 8], sizeof offset);
    std::memcpy(&size, &elf[headers + 32], sizeof size);
    for (std::uint64_t n = offset; n < offset + size; ++n) elf[n] = static_cast<char>(~elf[n]);
    elf.replace(elf.rfind(name), name.size(), new_name);  // in the table of symbols
    std::ofstream(to, std::ios::binary) << elf;
}

TEST_F(TestCommand, FunctionOfAnUnrelatedProgramIsRefused) {
    const std::filesystem::path firmware = std::filesystem::path(TRNVP).parent_path() / "firmware";
    for (const auto* file : {"flash.img", "mgmt.elf"})
        std::filesystem::copy(firmware / file, folder / file);
    write_unrelated(firmware / "cc_core.elf", folder / "other.elf", "network_posts",
                    "network_pests");
    const auto file = folder / "own.yaml";
    const auto reached = [&](const std::string& function) {
        std::ofstream(file) << "scenario: own\nboard: trn3-chip\nfirmware: flash.img\nsteps:\n"
                               "  - wait: {reached: "
                            << function << ", hart: chip0.management.cpu, within: 50 ms}\n";
        return test(file);
    };
    EXPECT_EQ(reached("main").status, 0);
    EXPECT_THAT(reached("network_pest").output,
                AllOf(HasSubstr("did you mean 'network_posts'"), Not(HasSubstr("network_pests"))));
    EXPECT_THAT(reached("network_pests").output,
                HasSubstr("other.elf has it, which is in no image"));
}

TEST_F(TestCommand, MistakesInInjectAndFunctionsFailTheScenarioBeforeItsSteps) {
    const auto how =
        test(scenario("  - wait: 1 s\n"
                      "  - together:\n"
                      "      a: [inject: {module: chip0.hbm7, fault: hbm_corrected}]\n") +
             " --json");
    const auto result = nlohmann::json::parse(how.output)[0];
    EXPECT_EQ(result["line"], 7);
    EXPECT_THAT(std::string(result["message"]), HasSubstr("did you mean 'chip0.hbm"));
    EXPECT_LT(result["simulated_ns"], 1'000'000);
    EXPECT_THAT(test(scenario("  - wait: 1 s\n"
                              "  - wait: {reached: mian, hart: chip0.management.cpu}\n") +
                     " --json")
                    .output,
                AllOf(HasSubstr("did you mean 'main'"), HasSubstr("\"simulated_ns\":0,"),
                      Not(HasSubstr("__riscv"))));
    EXPECT_THAT(test(scenario("  - wait: 1 s\n  - inject: {module: chip0.hbm0, fault: "
                              "hbm_corrected, with: {ofset: 1}}\n"))
                    .output,
                AllOf(HasSubstr("s.yaml:6:5: inject"), HasSubstr("did you mean 'offset'?")));
}

TEST_F(TestCommand, BootEndsAtItsLimitWhenFirmwareTakesNoReset) {
    const auto how =
        test(scenario("  - boot: {reset: false}\n"
                      "  - inject: {module: chip0.management.cpu, fault: hang}\n"
                      "  - boot: {within: 20 ms}\n"));
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output, HasSubstr("s.yaml:7:5"));
    EXPECT_THAT(how.output, HasSubstr("firmware did not take the reset request in "));
    EXPECT_THAT(how.output, HasSubstr("'within' of boot, 20 ms, bounds this wait"));
    EXPECT_THAT(how.output, HasSubstr("write 'boot: {reset: false}'"));
}

TEST_F(TestCommand, BootEndsAtItsLimitWhenTheProbeTakesAllOfIt) {
    const auto how = test(scenario("  - boot: {reset: false}\n  - boot: {within: 1 us}\n"));
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output, HasSubstr("s.yaml:6:5: boot: after the probe no time is left for the "
                                      "reset; 'within' of boot, 1 us, bounds this wait"));
}

TEST_F(TestCommand, PokeOfAFieldKeepsTheOthers) {
    const auto how = test(scenario(
        "  - peek: {register: chip0.udma0.M2S_PREFETCH_CFG_3, equals: 0x4181}\n"
        "  - poke: {register: chip0.udma0.M2S_PREFETCH_CFG_3.BURST, value: 3}\n"
        "  - peek: {register: chip0.udma0.M2S_PREFETCH_CFG_3, equals: 0x4131, as: all}\n"
        "  - poke: {register: chip0.udma0.M2S_PREFETCH_CFG_3, instance: 1, value: '${all}'}\n"
        "  - peek: {register: chip0.udma0.M2S_PREFETCH_CFG_3.BURST, instance: 1, equals: 3}\n"));
    EXPECT_EQ(how.status, 0) << how.output;
    const auto wide =
        test(scenario("  - poke: {register: chip0.udma0.M2S_PREFETCH_CFG_3.BURST, value: 16}\n"));
    EXPECT_THAT(wide.output, HasSubstr("at most 0xf"));
}

TEST_F(TestCommand, EndlessWaitNamesItsCondition) {
    const auto how = test(
        scenario("  - boot: {within: 1 s}\n"
                 "  - wait: {counter: aborts, module: chip0.udma0, at_least: 1, within: 1 ms}\n"));
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output, HasSubstr("s.yaml:6:5: wait for aborts of chip0.udma0 to be at least 1:"
                                      " waited 1 ms: it is 0\n"));
}

TEST_F(TestCommand, FailureSaysWhatWasInjectedAndWhatTheBoardDoes) {
    const auto file = scenario(
        "  - boot: {within: 1 s}\n"
        "  - inject: {module: 'chip0.hbm*', fault: hbm_corrected, with: {offset: 3}, some: 1}\n"
        "  - inject: {module: chip0.management.cpu, fault: hang}\n"
        "  - wait: {counter: aborts, module: chip0.udma0, at_least: 1, within: 100 us}\n");
    const auto reports = folder / "r";
    const auto how = test(file + " --report " + reports);
    EXPECT_EQ(how.status, 1);
    const auto state = AllOf(
        HasSubstr("state at 107."), HasSubstr("injected hbm_corrected {offset: 3} into chip0.hbm"),
        HasSubstr(", one of 4 that"), HasSubstr("injected hang into chip0.management.cpu, at 107."),
        HasSubstr("chip0.management.cpu: M-mode, hangs, in "), HasSubstr(".c:"));
    EXPECT_THAT(how.output, state);
    EXPECT_THAT(contents(reports + "/report.xml"), state);
    std::string page;
    for (const auto& one : std::filesystem::directory_iterator(reports + "/pages"))
        page += contents(one.path());
    EXPECT_THAT(page, AllOf(HasSubstr("class=\"state\""), HasSubstr("M-mode, hangs, in ")));
    const auto result = nlohmann::json::parse(test(file + " --json").output)[0];
    EXPECT_EQ(result["state"].size(), 4u) << result;
    // The reports alone have the log of the boot.
    EXPECT_THAT(how.output, AllOf(HasSubstr("lines of the boot are in the reports"),
                                  Not(HasSubstr("boot ROM"))));
    EXPECT_THAT(contents(reports + "/report.xml"), HasSubstr("boot ROM"));
}

TEST_F(TestCommand, FailureNamesTheLastOfManyInjectedFaults) {
    std::string steps;
    for (int number = 0; number < 40; ++number)
        steps += fmt::format(
            "  - inject: {{module: chip0.hbm0, fault: hbm_corrected, with: {{offset: {}}}}}\n",
            number);
    steps += "  - expect: {register: chip0.udma0.M2S_Q_LENGTH, equals: 77}\n";
    const auto result = nlohmann::json::parse(test(scenario(steps) + " --json").output)[0];
    const std::vector<std::string> state = result["state"];
    ASSERT_GE(state.size(), 17u) << result;
    EXPECT_EQ(state[1], "injected 25 faults before these:");
    EXPECT_THAT(state[2], HasSubstr("{offset: 25}"));
    EXPECT_THAT(state[16], HasSubstr("{offset: 39}"));
}

TEST_F(TestCommand, EndsWithALineForEachFailureAndQuietPrintsOnlyThese) {
    const auto file = folder / "m.yaml";
    std::ofstream(file) << "scenario: m\nboard: trn3-chip\nmatrix: {value: [0, 1]}\nsteps:\n"
                           "  - expect: {register: chip0.udma0.M2S_Q_LENGTH, equals: '${value}'}\n";
    const auto line = "failed:\n  " + file +
                      ":5:5: m [value=1]: expect chip0.udma0.M2S_Q_LENGTH to be 1: it is 0\n"
                      "1 passed, 1 failed\n";
    const auto how = test(file);
    EXPECT_THAT(how.output, AllOf(testing::StartsWith("pass  m"), testing::EndsWith(line)));
    EXPECT_EQ(test(file + " --quiet").output, line);
    EXPECT_EQ(test(file + " -q --name 'm [value=0]'").output, "1 passed, 0 failed\n");
    const auto alone = test(file + " -q --name 'm [value=1]'").output;
    EXPECT_THAT(alone, AllOf(testing::StartsWith("failed:\n  " + file + ":5:5: m [value=1]: "),
                             testing::EndsWith(": it is 0\n0 passed, 1 failed\n")));
    EXPECT_THAT(test(file + " --name 'm [value=1]'").output, Not(HasSubstr("failed:\n")));
}

TEST_F(TestCommand, TimeLimitSaysWhatEachBranchWaitsFor) {
    const auto file = folder / "s.yaml";
    std::ofstream(file) << "scenario: s\nboard: trn3-chip\ntime_limit: 110 ms\nsteps:\n"
                           "  - boot: {within: 1 s}\n"
                           "  - together:\n"
                           "      a:\n"
                           "        - copy: {from: hbm0@16 MiB, to: hbm1@16 MiB, size: 16 GiB, "
                           "verify: false}\n"
                           "      b:\n"
                           "        - wait: {counter: aborts, module: chip0.udma0, equals: 5, "
                           "within: 5 s}\n";
    EXPECT_THAT(test(file).output,
                AllOf(HasSubstr("not done after 110 ms simulated (time_limit)"),
                      HasSubstr("      'a: copy hbm0@0x1000000 to hbm1@0x1000000, 17179869184 "
                                "bytes' runs since 107."),
                      HasSubstr("      a step waits for aborts of chip0.udma0 to be 5: it is 0")));
}

TEST_F(TestCommand, BootThatTakesTooLongSaysWhereItsFirmwareIs) {
    const auto how = test(scenario("  - boot: {within: 2 ms}\n"));
    EXPECT_THAT(how.output,
                AllOf(HasSubstr("boot: not ready after 2 ms: the firmware of chip0.management has "
                                "not published its routing id; chip0.management.cpu: M-mode, "),
                      HasSubstr(".c:"), HasSubstr("), pc 0x4")));
}

TEST_F(TestCommand, BranchesShareSimulatedTimeAndReportTheFirstFailure) {
    // 3 ms, not 5: the waits run in parallel.
    const auto together = test(scenario(
        "  - figure:\n      name: both\n      at_least: 3 ms\n      at_most: 3 ms\n"
        "      time_of:\n        - together: {a: [wait: 2 ms], b: [wait: 1 ms, wait: 2 ms]}\n"));
    EXPECT_EQ(together.status, 0) << together.output;
    const auto failing =
        test(scenario("  - together:\n"
                      "      slow: [wait: 1 ms, wait: 1 s]\n"
                      "      wrong:\n"
                      "        - peek: {register: chip0.udma0.M2S_STATE, equals: 9}\n"));
    EXPECT_EQ(failing.status, 1);
    EXPECT_THAT(failing.output, HasSubstr("s.yaml:8:11: wrong: peek chip0.udma0.M2S_STATE: it is"));
    EXPECT_THAT(failing.output, testing::Not(HasSubstr("slow: wait 1000000000")));
}

TEST_F(TestCommand, StepsOfBranchesThatUseTheDriverTakeTurns) {
    const auto file = scenario(
        "  - boot: {within: 1 s}\n"
        "  - together:\n"
        "      a: [copy: {from: host, to: hbm0@16 MiB, size: 1 MiB, pattern: a}]\n"
        "      b: [copy: {from: host, to: hbm0@32 MiB, size: 1 MiB, pattern: b}]\n"
        "      c: [wait: {written: chip0.h2t0.M2S_Q_TAIL_INCREMENT, by: host, every: 1 us}]\n"
        "  - verify: {at: hbm0@16 MiB, size: 1 MiB, pattern: a}\n"
        "  - verify: {at: hbm0@32 MiB, size: 1 MiB, pattern: b}\n");
    const auto digest = [&] {
        const auto how = test(file + " --json --digest");
        EXPECT_EQ(how.status, 0) << how.output;
        return nlohmann::json::parse(how.output)[0]["trace_digest"].get<std::string>();
    };
    EXPECT_EQ(digest(), digest());
}

TEST_F(TestCommand, StepsOfBranchesGetTheDriverInTheOrderOfTheirStart) {
    const auto how =
        test(scenario("  - boot: {}\n"
                      "  - together:\n"
                      "      a:\n"
                      "        - memset: {at: hbm0@16 MiB, size: 64 B, value: 1}\n"
                      "        - memset: {at: hbm0@16 MiB, size: 64 B, value: 2}\n"
                      "      b: [verify: {at: hbm0@16 MiB, size: 64 B, value: 1}]\n"));
    EXPECT_EQ(how.status, 0) << how.output;
}

TEST_F(TestCommand, RuleExpectedWithACapturedBoundDoesNotFailTheRun) {
    const auto how =
        test(scenario("  - boot: {}\n"
                      "  - copy: {from: host, to: axi@0x900000000000, size: 64 B}\n"
                      "    fails: aborted\n"
                      "expectations:\n"
                      "  - peek: {register: chip0.udma0.M2S_Q_LENGTH, as: none}\n"
                      "  - expect: {misuse: unmapped-destination, at_least: '${none}'}\n") +
             " --misuse fail");
    EXPECT_EQ(how.status, 0) << how.output;
}

TEST_F(TestCommand, MisuseOfAModuleThatDoesNotExistFails) {
    const auto how =
        test(scenario("  - boot: {}\n"
                      "  - expect: {misuse: unmapped-destination, module: nowhere, equals: 0}\n"));
    EXPECT_EQ(how.status, 1);
    EXPECT_THAT(how.output, HasSubstr("there is no module 'nowhere'"));
}

TEST_F(TestCommand, FailedSharedBootLeavesATraceAndAPlaceForEachScenario) {
    const auto one = folder / "one.yaml", two = folder / "two.yaml";
    std::ofstream(one) << "scenario: one\nboard: trn3-chip\nsteps:\n"
                          "  - boot: {within: 1 us}\n  - wait: 1 us\n";
    std::ofstream(two) << "# a line\nscenario: two\nboard: trn3-chip\nsteps:\n"
                          "  - boot: {within: 1 us}\n  - wait: 2 us\n";
    const auto together =
        test(one + " " + two + " --json --digest --trace " + (folder / "t.txt")).output;
    const auto list = nlohmann::json::parse(together);
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0]["line"], 4);
    EXPECT_EQ(list[1]["line"], 5);
    EXPECT_EQ(list[1]["place_file"], two);
    EXPECT_EQ(list[0]["trace_digest"], list[1]["trace_digest"]);
    EXPECT_NE(list[0]["trace_digest"], "0000000000000000");
    const auto alone = test(two + " --json --digest").output;
    EXPECT_EQ(nlohmann::json::parse(alone)[0]["trace_digest"], list[1]["trace_digest"]);
    EXPECT_THAT(contents(folder / "t.0.txt"), HasSubstr("scenario step text=\"boot\""));
    EXPECT_EQ(contents(folder / "t.0.txt"), contents(folder / "t.1.txt"));
    EXPECT_FALSE(std::filesystem::exists(folder / "shared.t.0.txt"));
}

TEST_F(TestCommand, LimitsOfAScenarioDoNotEndTheOthers) {
    const auto limited = [&](const std::string& name, const std::string& limit) {
        const auto file = folder / (name + ".yaml");
        std::ofstream(file) << "scenario: " << name << "\nboard: trn3-chip\n"
                            << limit << "steps:\n  - boot: {}\n  - wait: 1 us\n";
        return file + " ";
    };
    const auto how =
        test(limited("short", "wall_limit: 1 ms\n") + limited("early", "time_limit: 1 ms\n") +
             limited("small", "memory_limit: 16 MiB\n") + limited("usual", ""));
    EXPECT_THAT(how.output, HasSubstr("pass  usual"));
    EXPECT_THAT(how.output, HasSubstr("1 passed, 3 failed"));
}

TEST_F(TestCommand, TraceForAViewerHasTheDigestOfTheText) {
    const auto file = scenario("  - boot: {}\n  - program: {file: add.trn, in: {x: 1}}\n");
    std::filesystem::copy("scenarios/programs/add.trn", folder / "add.trn");
    const auto digest = [&](const std::string& trace) {
        return nlohmann::json::parse(
            test(file + " --json --digest" + trace).output)[0]["trace_digest"];
    };
    const auto text = digest("");
    EXPECT_NE(text, "0000000000000000");
    EXPECT_EQ(digest(" --trace " + (folder / "t.perfetto-trace")), text);
}

TEST_F(TestCommand, KernelsOfACampaignHaveTheInputsOfTheirSeeds) {
    const auto kernel = [&](const std::string& check) {
        const auto file = folder / "k.yaml";
        std::filesystem::create_directory_symlink(std::filesystem::absolute("scenarios/kernels"),
                                                  folder / "kernels");
        std::ofstream(file) << "scenario: k\nboard: trn3-chip\nseed: 5\nsteps:\n  - boot: {}\n"
                               "  - kernel: {function: 'kernels/tiles.py:softmax', in: {x: "
                               "'float32[128, 512] random(-4, 4)'}, check: {result0: '"
                            << check << "'}}\n";
        return file;
    };
    // The digest of the result with the scenario's seed, 5, is that of the campaign's run with it.
    const auto told = test(kernel("digest(0000000000000000)")).output;
    const auto at = told.find("the digest of result0 is ");
    ASSERT_NE(at, told.npos) << told;
    const auto digest = told.substr(at + 25, 16);
    std::filesystem::remove(folder / "kernels");
    const auto how = test(kernel("digest(" + digest + ")") + " --seeds 5..6");
    EXPECT_THAT(how.output, HasSubstr("1 of 2 seeds passed; failed: 6"));
    EXPECT_THAT(how.output, HasSubstr("FAIL  k seed 6"));
}

TEST_F(TestCommand, FaultHitsTheRequestedNumberOfInstancesChosenBySeed) {
    const auto hit = [this](int seed, int some) {
        const auto file = folder / "f.yaml", trace = folder / "f.txt";
        std::ofstream(file) << "scenario: f\nboard: trn3-chip\nseed: " << seed
                            << "\nsteps:\n  - inject: {module: 'chip0.hbm*', fault: hbm_corrected,"
                               " with: {offset: 0x2000000}, some: "
                            << some << "}\n";
        const auto how = test(file + " --trace " + trace);
        EXPECT_EQ(how.status, some > 4 ? 1 : 0) << how.output;
        const auto text = contents(trace);
        std::string stacks;
        for (const auto* stack : {"0", "1", "2", "3"})
            if (text.find(std::string("fault module=\"chip0.hbm") + stack) != std::string::npos)
                stacks += stack;
        return stacks;
    };
    EXPECT_EQ(hit(1, 0), "0123");
    std::set<std::string> drawn;
    for (const int seed : {1, 2, 3, 4, 5}) {
        drawn.insert(hit(seed, 2));
        EXPECT_EQ(drawn.rbegin()->size(), 2u);
    }
    EXPECT_GT(drawn.size(), 1u);
    EXPECT_EQ(hit(1, 2), hit(1, 2));
    EXPECT_EQ(hit(1, 5), "");
}

TEST_F(TestCommand, FaultsDrawTheirModulesIndependently) {
    const auto file = folder / "f.yaml", trace = folder / "f.txt";
    bool differ = false;
    for (int seed = 1; seed <= 6; ++seed) {
        std::ofstream(file) << "scenario: f\nboard: trn3-chip\nseed: " << seed << "\nsteps:\n";
        for (const auto* fault : {"hbm_corrected", "hbm_uncorrected"})
            std::ofstream(file, std::ios::app)
                << "  - inject: {module: 'chip0.hbm*', fault: " << fault
                << ", with: {offset: 0x2000000}, some: 1}\n";
        ASSERT_EQ(test(file + " --trace " + trace).status, 0);
        const auto text = contents(trace);
        std::set<std::string> stacks;
        for (const std::string stack : {"0", "1", "2", "3"})
            if (text.find("fault module=\"chip0.hbm" + stack) != text.npos) stacks.insert(stack);
        differ = differ || stacks.size() == 2;
    }
    EXPECT_TRUE(differ);
}

TEST_F(TestCommand, ReportsMeasurementsWithTheirBounds) {
    const auto file = scenario(
        "  - figure: {name: a pause, at_least: 1 us, at_most: 3 us, time_of: [wait: 2 us]}\n"
        "  - figure: {name: moved <, bytes: 1 kB, at_most: 1 GB/s, time_of: [wait: 2 us]}\n"
        "  - figure: {name: aborts, module: chip0.udma0, counter: aborts, at_least: 1}\n");
    const auto how = test(file + " --json --junit " + (folder / "j.xml"));
    EXPECT_EQ(how.status, 1);  // status of the last run
    const auto figures = nlohmann::json::parse(how.output)[0]["figures"];
    ASSERT_EQ(figures.size(), 3u);
    EXPECT_EQ(figures[0], (nlohmann::json{{"name", "a pause"},
                                          {"value", 2.0},
                                          {"unit", "us"},
                                          {"at_least", 1.0},
                                          {"at_most", 3.0}}));
    EXPECT_EQ(figures[1]["value"], 0.5);
    EXPECT_EQ(figures[1]["unit"], "GB/s");
    EXPECT_THAT(contents(folder / "j.xml"),
                HasSubstr("<property name=\"moved &lt;\" value=\"500 MB/s (at most 1 GB/s)\"/>"));
    EXPECT_THAT(test(file).output, HasSubstr("aborts: it is 0 (at least 1)"));
    test(file + " --repeat 2 --html " + (folder / "r.html"));
    const auto page = nlohmann::json::parse(
        run("python3 tests/support/read_html.py " + (folder / "r.html")).output);
    EXPECT_EQ(page["figures"].size(), 3u);
    EXPECT_EQ(page["figures"][0]["dots"].size(), 2u);
    // Each measurement is followed by its description, exactly once.
    std::vector<std::string> steps;
    for (const auto& one : page["scenarios"][0]["steps"]) steps.push_back(one["cells"][0]);
    EXPECT_THAT(steps,
                testing::ElementsAre("a pause", "wait 2 us", "moved <", "wait 2 us", "aborts"));
}

}  // namespace
}  // namespace trn::test
