// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/run/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "platform/app/scenario/results/report.h"
#include "platform/framework/sanitized.h"

namespace trn::scenario {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using verdict = outcome::verdict;

scenario named(const std::string& name, const std::string& beginning = "",
               double wall_limit = 200) {
    static int made = 0;
    scenario s;
    s.name = name;
    s.file = "x.yaml";
    s.wall_limit_s = wall_limit;
    s.memory_limit = 1ull << 30;
    s.beginning = beginning.empty() ? std::to_string(++made) : beginning;
    step one;
    one.place = {7, 5, 1};
    one.text = "copy";
    s.steps.push_back(one);
    return s;
}

void say(const std::string& line) {
    std::puts(line.c_str());
    std::fflush(stdout);
}

void do_as_called(const std::string& name, const progress& to) {
    say("log of " + name);
    if (name == "crash") {
        if constexpr (sanitized) std::signal(SIGSEGV, SIG_DFL);  // disables the sanitizer's report
        std::raise(SIGSEGV);
    }
    if (name == "leave") _exit(3);
    if (name == "hang") pause();
    if (name == "grow")
        for (std::vector<std::vector<char>> all;;) all.emplace_back(1 << 20, 'x');
    if (name == "throw") throw std::runtime_error("no board");
    if (name == "fail") return to.failed("byte 3 is <wrong>", 500);
    to.passed(1'500'000);
}

/// Behaves as the name of its scenario says; shared work is named by the common prefix.
execution behave(const std::vector<scenario>& all) {
    return [&all](group& alike) {
        const auto& first = all[alike.members().front()];
        if (alike.members().size() > 1) {
            say("beginning " + first.beginning);
            alike.report().begin(first.steps[0], 100);
            if (first.beginning != "alike") do_as_called(first.beginning, alike.report());
        }
        const auto& mine = all[alike.branch({})];
        alike.report().begin(mine.steps[0], 500);
        do_as_called(mine.name, alike.report());
    };
}

std::vector<outcome> run(const std::vector<scenario>& all, const run_options& how = {.jobs = 2}) {
    return run_all(all, how, behave(all), [](auto, const auto&) {});
}

TEST(ScenarioRunner, ScenarioWithMistakesFailsWithoutAProcess) {
    std::vector<scenario> all{named("pass"), named("hang"), named("pass")};
    all[1].mistakes.emplace_back().line = 3;
    std::vector<std::size_t> order;
    const auto how = run_all(all, {.jobs = 2}, behave(all),
                             [&](std::size_t number, const auto&) { order.push_back(number); });
    EXPECT_EQ(how[0].result, verdict::passed);
    EXPECT_EQ(how[1].result, verdict::not_loaded);
    EXPECT_EQ(how[1].place.line, 3);
    EXPECT_EQ(how[2].result, verdict::passed);
    EXPECT_THAT(order, testing::ElementsAre(0, 1, 2));
}

TEST(ScenarioRunner, IsolatesACrash) {
    const auto how =
        run({named("pass"), named("crash"), named("leave"), named("throw"), named("fail")});
    EXPECT_EQ(how[0].result, verdict::passed);
    EXPECT_EQ(how[0].simulated_ns, 1'500'000u);
    EXPECT_EQ(how[1].result, verdict::crashed);
    EXPECT_THAT(how[1].message, HasSubstr("SEGV"));
    EXPECT_EQ(how[1].place.line, 7);
    EXPECT_EQ(how[1].step, "copy");
    EXPECT_THAT(how[1].log, HasSubstr("log of crash"));
    EXPECT_EQ(how[2].result, verdict::crashed);
    EXPECT_THAT(how[2].message, HasSubstr("status 3"));
    EXPECT_EQ(how[3].result, verdict::failed);
    EXPECT_EQ(how[3].message, "no board");
    EXPECT_EQ(how[4].result, verdict::failed);
    EXPECT_EQ(summary(how), "1 passed, 4 failed");
}

TEST(ScenarioRunner, EndsAHangAtItsWallClockLimit) {
    const auto how = run({named("hang", "", 1), named("pass")});
    EXPECT_EQ(how[0].result, verdict::timed_out);
    EXPECT_EQ(how[0].place.line, 7);
    EXPECT_EQ(how[1].result, verdict::passed);
}

TEST(ScenarioRunner, ReportsResultsInListOrder) {
    std::vector<scenario> all{named("hang", "", 1)};
    for (int i = 0; i < 5; ++i) all.push_back(named("pass"));
    std::vector<std::size_t> order;
    run_all(all, {.jobs = 3}, behave(all),
            [&](auto number, const auto&) { order.push_back(number); });
    EXPECT_THAT(order, ElementsAre(0u, 1u, 2u, 3u, 4u, 5u));
}

TEST(ScenarioRunner, ReportsProgressAndRemainingTime) {
    run_progress last;
    run({named("pass"), named("fail"), named("pass")},
        {.jobs = 1, .on_progress = [&](const run_progress& now) {
             EXPECT_GE(now.ended, last.ended);
             last = now;
         }});
    EXPECT_EQ(last.ended, 3u);
    EXPECT_EQ(last.failed, 1u);
    EXPECT_EQ(last.total, 3u);
    EXPECT_EQ(progress_text({0, 0, 9}, 2), "0 of 9, 0:02");
    EXPECT_EQ(progress_text({3, 0, 9}, 61), "3 of 9, 1:01, 2:02 left");
    EXPECT_EQ(progress_text({9, 2, 9}, 130.2), "9 of 9, 2 failed, 2:10");
}

TEST(ScenarioRunner, NamesTheStepOfACrashOrAHang) {
    if (sanitized) GTEST_SKIP() << "the sanitizer reports a crash";
    for (const auto& one : run({named("crash"), named("hang", "", 1)})) {
        EXPECT_THAT(one.log, HasSubstr("died in\n"));
        EXPECT_THAT(one.log, testing::ContainsRegex("do_as_called.*\\(runner_test.cpp:[0-9]+\\)"));
    }
}

TEST(ScenarioRunner, EndsAScenarioAboveItsMemoryLimit) {
    auto all = std::vector{named("grow"), named("pass")};
    all[0].memory_limit = 64 << 20;
    const auto how = run(all);
    EXPECT_EQ(how[0].result, verdict::memory_exceeded);
    EXPECT_EQ(how[0].message, "more than 64 MiB of memory");
    EXPECT_EQ(how[1].result, verdict::passed);
}

TEST(ScenarioRunner, RunsASharedStartOnceAndIsolatesScenariosAfterwards) {
    const std::vector all{named("pass", "alike"), named("crash", "alike"),
                          named("pass"),          named("throw", "alike"),
                          named("fail", "alike"), named("hang", "alike", 1)};
    for (const unsigned jobs : {1u, 2u, 9u}) {
        const auto how = run(all, {.jobs = jobs});
        EXPECT_EQ(how[0].result, verdict::passed);
        ASSERT_EQ(how[0].timeline.size(), 2u);  // including the shared part
        EXPECT_EQ(how[0].timeline[0].at_ns, 100u);
        EXPECT_EQ(how[0].timeline[1].at_ns, 500u);
        EXPECT_EQ(how[0].log, "beginning alike\nlog of pass\n");
        EXPECT_EQ(how[1].result, verdict::crashed);
        EXPECT_EQ(how[1].step, "copy");
        EXPECT_THAT(how[1].log, StartsWith("beginning alike\nlog of crash\n"));
        EXPECT_EQ(how[2].log, "log of pass\n");
        EXPECT_EQ(how[3].message, "no board");
        EXPECT_EQ(how[4].message, "byte 3 is <wrong>");
        EXPECT_EQ(how[5].result, verdict::timed_out);
    }
}

TEST(ScenarioRunner, SharesNothingWhenDisabled) {
    const std::vector all{named("pass", "alike"), named("pass", "alike")};
    EXPECT_EQ(run(all, {.jobs = 1, .fork = false})[1].log, "log of pass\n");
}

TEST(ScenarioRunner, FailedSharedStartFailsItsScenarios) {
    for (const std::string beginning : {"crash", "throw", "leave", "hang"}) {
        const std::vector all{named("pass", beginning, 1), named("pass", beginning, 1),
                              named("pass")};
        const auto how = run(all);
        for (const auto& one : {how[0], how[1]}) {
            EXPECT_NE(one.result, verdict::passed) << beginning;
            EXPECT_THAT(one.log, StartsWith("beginning " + beginning + "\nlog of " + beginning));
        }
        EXPECT_EQ(how[2].result, verdict::passed);
    }
}

TEST(ScenarioRunner, CountsSharedStepsForTheWallClockLimitOfEachMember) {
    const auto one = [](double limit) { return named("pass", "slow", limit); };
    const std::vector all{one(200), one(1.1)};
    const auto behave_slowly = [&](group& alike) {
        usleep(1'000'000);
        const auto& mine = all[alike.branch({})];
        usleep(200'000);
        do_as_called(mine.name, alike.report());
    };
    // The runner's group has one limit; a member's own process has that of the member.
    const auto how = run_all(all, {.jobs = 2}, behave_slowly, [](auto, const auto&) {});
    EXPECT_EQ(how[0].result, verdict::passed);
    EXPECT_EQ(how[1].result, verdict::timed_out);
}

TEST(ScenarioRunner, ReportsASharedStepAtThePlaceInEachFile) {
    std::vector all{named("pass", "throw"), named("pass", "throw")};
    all[1].file = all[1].steps[0].file = "y.yaml";
    all[1].steps[0].place = {9, 3, 1};
    const auto how = run(all);
    EXPECT_EQ(place_text(all[1], how[1]), "y.yaml:9:3");
    EXPECT_EQ(how[1].timeline.at(0).line, 9);
    EXPECT_EQ(how[0].place.line, 7);
}

TEST(ScenarioRunner, LeavesNoProcessBehindWhenItIsKilled) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t runner = fork();
    if (runner == 0) {
        close(ends[0]);
        run({named("hang", "alike"), named("hang", "alike"), named("hang")}, {.jobs = 3});
        _exit(0);
    }
    close(ends[1]);
    usleep(200'000);
    kill(runner, SIGKILL);
    waitpid(runner, nullptr, 0);
    // Each of the scenario's processes has the other end of the pipe.
    pollfd ended{ends[0], POLLIN, 0};
    EXPECT_EQ(poll(&ended, 1, 300'000), 1);
    close(ends[0]);
}

TEST(ScenarioReport, ShowsTheLineAndLogOfAFailure) {
    const std::vector all{named("pass"), named("fail")};
    const auto how = run(all);
    const auto text = to_text(all[1], how[1]);
    EXPECT_THAT(text, HasSubstr("x.yaml:7:5: copy: byte 3 is <wrong>"));
    EXPECT_THAT(text, HasSubstr("| log of fail"));
    EXPECT_THAT(to_text(all[0], how[0]), HasSubstr("simulated 1.5 ms"));
}

TEST(ScenarioReport, OmitsTheLogOfABootThatSucceeded) {
    EXPECT_EQ(without_boot("no boot\n").log, "no boot\n");
    const auto folded = without_boot("a\nb\n[ 1 ms] scenario: booted\nc\n");
    EXPECT_EQ(folded.log, "c\n");
    EXPECT_EQ(folded.lines, 3u);
}

TEST(ScenarioReport, ShowsRatesAndTimesInUnitsThatFit) {
    const auto text = [](double value, const char* unit, std::optional<double> min,
                         std::optional<double> max) {
        return figure{"f", value, unit, min, max}.text();
    };
    EXPECT_EQ(text(57.6, "GB/s", 54.7, 58.2), "57.6 GB/s (54.7 GB/s to 58.2 GB/s)");
    EXPECT_EQ(text(0, "GB/s", 0.001, {}), "0 GB/s (at least 1 MB/s)");
    EXPECT_EQ(text(0.0000005, "GB/s", {}, {}), "500 B/s");
    EXPECT_EQ(text(1500, "us", {}, 2'000'000), "1.5 ms (at most 2 s)");
    EXPECT_EQ(text(0.25, "us", {}, {}), "250 ns");
    EXPECT_EQ(text(0, "us", {}, {}), "0 us");
    EXPECT_EQ(text(2000, "ops", {}, 1), "2000 ops (at most 1 ops)");
    EXPECT_EQ(text(7, "", 8, {}), "7 (at least 8)");
}

}  // namespace
}  // namespace trn::scenario
