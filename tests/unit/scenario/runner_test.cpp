// SPDX-License-Identifier: Apache-2.0
#include "platform/scenario/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "platform/scenario/report.h"

namespace trn::scenario {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using verdict = outcome::verdict;

scenario named(const std::string& name, double wall_limit = 20) {
    scenario s;
    s.name = name;
    s.file = "x.yaml";
    s.wall_limit_s = wall_limit;
    step one;
    one.where = {7, 5, 1};
    one.text = "copy";
    s.steps.push_back(one);
    return s;
}

/// Does what its scenario is called.
void behave(const scenario& what, std::size_t, progress& to) {
    to.at(what.steps[0]);
    std::puts(("log of " + what.name).c_str());
    std::fflush(stdout);
    if (what.name == "crash") {
        std::signal(SIGSEGV, SIG_DFL);  // not a sanitizer's report
        std::raise(SIGSEGV);
    }
    if (what.name == "leave") _exit(3);
    if (what.name == "hang") pause();
    if (what.name == "throw") throw std::runtime_error("no board");
    if (what.name == "fail") return to.failed("byte 3 is <wrong>", 500);
    to.passed(1'500'000);
}

std::vector<outcome> run(const std::vector<scenario>& all, unsigned jobs = 2) {
    return run_all(all, jobs, behave, [](auto, const auto&) {});
}

TEST(ScenarioRunner, KeepsACrashAwayFromTheOthers) {
    const auto how =
        run({named("pass"), named("crash"), named("leave"), named("throw"), named("fail")});
    EXPECT_EQ(how[0].what, verdict::passed);
    EXPECT_EQ(how[0].simulated_ns, 1'500'000u);
    EXPECT_EQ(how[1].what, verdict::crashed);
    EXPECT_THAT(how[1].message, HasSubstr("SEGV"));
    EXPECT_EQ(how[1].where.line, 7);
    EXPECT_EQ(how[1].step, "copy");
    EXPECT_THAT(how[1].log, HasSubstr("log of crash"));
    EXPECT_EQ(how[2].what, verdict::crashed);
    EXPECT_THAT(how[2].message, HasSubstr("status 3"));
    EXPECT_EQ(how[3].what, verdict::failed);
    EXPECT_EQ(how[3].message, "no board");
    EXPECT_EQ(how[4].what, verdict::failed);
    EXPECT_EQ(summary(how), "1 passed, 4 failed");
}

TEST(ScenarioRunner, EndsAHangAtItsWallClockLimit) {
    const auto how = run({named("hang", 0.2), named("pass")});
    EXPECT_EQ(how[0].what, verdict::timed_out);
    EXPECT_EQ(how[0].where.line, 7);
    EXPECT_EQ(how[1].what, verdict::passed);
}

TEST(ScenarioRunner, TellsResultsInTheOrderOfTheList) {
    std::vector<scenario> all{named("hang", 0.3)};
    for (int i = 0; i < 5; ++i) all.push_back(named("pass"));
    std::vector<std::size_t> order;
    run_all(all, 3, behave, [&](auto number, const auto&) { order.push_back(number); });
    EXPECT_THAT(order, ElementsAre(0u, 1u, 2u, 3u, 4u, 5u));
}

TEST(ScenarioReport, ShowsThePlaceOfAFailureAndItsLog) {
    const std::vector all{named("pass"), named("fail")};
    const auto how = run(all);
    const auto text = to_text(all[1], how[1]);
    EXPECT_THAT(text, HasSubstr("x.yaml:7:5: copy: byte 3 is <wrong>"));
    EXPECT_THAT(text, HasSubstr("| log of fail"));
    EXPECT_THAT(to_text(all[0], how[0]), HasSubstr("simulated 1.5 ms"));
    const auto xml = to_junit(all, how);
    EXPECT_THAT(xml, HasSubstr("tests=\"2\" failures=\"1\""));
    EXPECT_THAT(xml, HasSubstr("byte 3 is &lt;wrong&gt;"));
    const auto json = to_json(all, how);
    EXPECT_EQ(json[1]["status"], "failed");
    EXPECT_EQ(json[1]["line"], 7);
}

}  // namespace
}  // namespace trn::scenario
