// SPDX-License-Identifier: Apache-2.0
#include "platform/scenario/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/program.h"

namespace trn::scenario {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

struct HtmlReport : testing::Test {
    test::scratch_folder folder;

    /// What an HTML parser finds in the report.
    nlohmann::json read(const std::vector<scenario>& all, const std::vector<outcome>& how,
                        const std::map<std::string, std::string>& pictures = {}) {
        const auto file = folder / "report.html";
        std::ofstream(file, std::ios::binary) << to_html(all, how, pictures);
        const auto found = test::run("python3 tests/support/read_html.py " + file);
        EXPECT_EQ(found.status, 0) << found.output;
        auto page = nlohmann::json::parse(found.output);
        EXPECT_EQ(page["wrong"], nlohmann::json::array());
        EXPECT_EQ(page["outside"], nlohmann::json::array());
        EXPECT_EQ(page["handlers"], nlohmann::json::array());
        EXPECT_EQ(page["scripts"].size(), 1u);
        return page;
    }
    static scenario named(const std::string& name) {
        scenario s;
        s.name = name;
        s.file = "x.yaml";
        s.board = "trn3-chip";
        return s;
    }
};

TEST_F(HtmlReport, HasARowForEachScenarioWithItsStepsOverSimulatedTime) {
    std::vector all{named("good"), named("bad")};
    all[0].tags = {"dma", "quick"};
    std::vector<outcome> how(2);
    how[0].what = outcome::verdict::passed;
    how[0].simulated_ns = 4'000'000;
    how[0].wall_s = 1.5;
    how[0].timeline = {{"boot", 3, 0}, {"copy", 4, 3'000'000}};
    how[1].what = outcome::verdict::timed_out;
    how[1].message = "still running";
    how[1].step = "wait";
    how[1].where = {7, 5, 1};
    how[1].timeline = {{"wait", 7, 500}};
    how[1].log = "first\nlast\n";
    const auto page = read(all, how, {{"trn3-chip", "<svg></svg>"}});
    const auto& rows = page["scenarios"];
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["class"][0], "passed");
    EXPECT_EQ(rows[0]["cells"][0], "passed");
    EXPECT_EQ(rows[0]["cells"][1], "good");
    EXPECT_EQ(rows[0]["cells"][2], "trn3-chip");
    EXPECT_EQ(rows[0]["cells"][3], "dma quick");
    EXPECT_EQ(rows[0]["cells"][4], "4 ms");
    EXPECT_EQ(rows[0]["cells"][5], "1.50 s");
    ASSERT_EQ(rows[0]["steps"].size(), 2u);
    EXPECT_EQ(rows[0]["steps"][0]["cells"],
              nlohmann::json::parse(R"(["boot","3","0 ms","3 ms",""])"));
    EXPECT_EQ(rows[0]["steps"][1]["cells"],
              nlohmann::json::parse(R"(["copy","4","3 ms","1 ms",""])"));
    EXPECT_EQ(rows[1]["class"][0], "failed");
    EXPECT_EQ(rows[1]["cells"][0], "timed out");
    EXPECT_EQ(rows[1]["message"], "x.yaml:7:5: wait: still running");
    EXPECT_EQ(rows[1]["steps"][0]["class"][0], "last");
    EXPECT_EQ(rows[1]["log"], "first\nlast\n");
    EXPECT_EQ(page["pictures"], 1);
    EXPECT_EQ(page["boards"][0], "trn3-chip");
}

TEST_F(HtmlReport, WhatOthersWroteIsTextInIt) {
    const std::string hostile =
        "</pre></td><script>alert('1')</script>\" onclick=\"x\" <img src=http://x/> &lt; ]]>";
    std::vector all{named(hostile)};
    all[0].file = all[0].board = hostile;
    all[0].tags = {hostile};
    std::vector<outcome> how(1);
    how[0].message = how[0].step = hostile;
    how[0].log = hostile + "\n\x1b[31m\xff\n";
    how[0].timeline = {{hostile, 1, 0}};
    const auto page = read(all, how);
    const auto& row = page["scenarios"].at(0);
    EXPECT_EQ(row["cells"][1], hostile);
    EXPECT_THAT(std::string(row["message"]), EndsWith(hostile));
    EXPECT_EQ(row["steps"][0]["cells"][0], hostile);
    EXPECT_EQ(row["log"], hostile + "\n[31m?\n");
    EXPECT_THAT(std::string(page["scripts"][0]), Not(HasSubstr("alert")));
}

TEST_F(HtmlReport, ShowsTheEndOfALongLog) {
    std::vector<outcome> how(1);
    for (int i = 0; i < 10'000; ++i) how[0].log += "line " + std::to_string(i) + "\n";
    const std::string log = read({named("long")}, how)["scenarios"][0]["log"];
    EXPECT_THAT(log, EndsWith("line 9999\n"));
    EXPECT_EQ(std::ranges::count(log, '\n'), 300);
}

}  // namespace
}  // namespace trn::scenario
