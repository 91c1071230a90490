// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/pages/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "platform/app/scenario/selection/selection.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"

namespace trn::regression {
namespace {

using scenario::outcome;
using scenario::select;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

struct HtmlReport : testing::Test {
    test::scratch_folder folder;

    static run_record record(const std::vector<scenario::scenario>& all,
                             const std::vector<outcome>& how,
                             const std::map<std::string, std::string>& pictures) {
        run_record run;
        for (std::size_t i = 0; i < all.size(); ++i) {
            run.results.push_back(described(all[i], i, ""));
            run.results.back().outcome = how[i];
        }
        for (const auto& [board, picture] : pictures) run.boards[board] = {"", picture};
        return run;
    }

    /// The contents of the report, read by an HTML parser.
    nlohmann::json read(const std::vector<scenario::scenario>& all, const std::vector<outcome>& how,
                        const std::map<std::string, std::string>& pictures = {}) {
        const auto file = folder / "report.html";
        std::ofstream(file, std::ios::binary) << to_html(record(all, how, pictures));
        const auto found = test::run("python3 tests/support/read_html.py " + file);
        EXPECT_EQ(found.status, 0) << found.output;
        auto page = nlohmann::json::parse(found.output);
        EXPECT_EQ(page["wrong"], nlohmann::json::array());
        EXPECT_EQ(page["outside"], nlohmann::json::array());
        EXPECT_EQ(page["handlers"], nlohmann::json::array());
        EXPECT_EQ(page["scripts"].size(), 1u);
        return page;
    }
    static scenario::scenario named(const std::string& name) {
        scenario::scenario s;
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
    how[0].result = outcome::verdict::passed;
    how[0].simulated_ns = 4'000'000;
    how[0].wall_s = 1.5;
    how[0].timeline = {{"boot", 3, 0}, {"copy", 4, 3'000'000}};
    how[1].result = outcome::verdict::timed_out;
    how[1].message = "still running";
    how[1].step = "wait";
    how[1].place = {7, 5, 1};
    how[1].timeline = {{"wait", 7, 500}};
    how[1].log = "first\nlast\n";
    const auto page = read(all, how, {{"trn3-chip", "<svg></svg>"}});
    const auto& rows = page["scenarios"];
    ASSERT_EQ(rows.size(), 2u);
    // Failures first.
    EXPECT_EQ(rows[1]["class"][0], "passed");
    EXPECT_EQ(rows[1]["cells"][0], "passed");
    EXPECT_EQ(rows[1]["cells"][1], "good");
    EXPECT_EQ(rows[1]["cells"][2], "trn3-chip");
    EXPECT_EQ(rows[1]["cells"][3], "dma quick");
    EXPECT_EQ(rows[1]["cells"][4], "4 ms");
    EXPECT_EQ(rows[1]["cells"][5], "1.50 s");
    ASSERT_EQ(rows[1]["steps"].size(), 2u);
    EXPECT_EQ(rows[1]["steps"][0]["cells"],
              nlohmann::json::parse(R"(["boot","3","0 ms","3 ms",""])"));
    EXPECT_EQ(rows[1]["steps"][1]["cells"],
              nlohmann::json::parse(R"(["copy","4","3 ms","1 ms",""])"));
    EXPECT_EQ(rows[0]["class"][0], "failed");
    EXPECT_EQ(rows[0]["cells"][0], "timed out");
    EXPECT_EQ(rows[0]["message"], "x.yaml:7:5: wait: still running");
    EXPECT_EQ(rows[0]["steps"][0]["class"][0], "last");
    EXPECT_EQ(rows[0]["log"], "first\nlast\n");
    EXPECT_EQ(page["pictures"], 1);
    EXPECT_EQ(page["boards"][0], "trn3-chip");
}

TEST_F(HtmlReport, StepsAreNestedUnderTheirSequenceBranchOrStep) {
    std::vector<outcome> how(1);
    how[0].result = outcome::verdict::passed;
    how[0].simulated_ns = 4'000'000;
    how[0].timeline = {{"boot", 3, 0},
                       {"flap: inject x", 30, 1'000'000, {{"flap", 5}}},
                       {"flap: wait", 31, 1'000'000, {{"flap", 5}}},
                       {"together a, b", 6, 2'000'000},
                       {"a: copy", 7, 2'000'000, {{"", 6}, {"a", 0}}},
                       {"b: wait", 8, 2'000'000, {{"", 6}, {"b", 0}}},
                       {"a: flap: wait", 31, 3'000'000, {{"", 6}, {"a", 0}, {"flap", 7}}}};
    std::vector<std::string> rows;
    const auto page = read({named("nested")}, how);
    for (const auto& one : page["scenarios"][0]["steps"])
        rows.push_back(std::string(one["cells"][0]) + "|" + std::string(one["cells"][1]) + "|" +
                       std::string(one["cells"][2]) + "|" + std::string(one["cells"][3]));
    EXPECT_THAT(rows, ElementsAre("boot|3|0 ms|1 ms", "flap|5|1 ms|1 ms", "inject x|30|1 ms|0 ms",
                                  "wait|31|1 ms|1 ms", "together a, b|6|2 ms|2 ms", "a||2 ms|2 ms",
                                  "copy|7|2 ms|1 ms", "flap|7|3 ms|1 ms", "wait|31|3 ms|1 ms",
                                  "b||2 ms|2 ms", "wait|8|2 ms|2 ms"));
}

TEST_F(HtmlReport, LinesOfIncludedFilesHaveTheirFile) {
    std::vector<outcome> how(1);
    how[0].result = outcome::verdict::failed;
    how[0].step = "cut: wait";
    how[0].file = "lib.yaml";
    how[0].place = {5, 3, 1};
    how[0].timeline = {{"boot", 5, 0, {}, "x.yaml"},
                       {"cut: wait", 5, 0, {{"cut", 5, "x.yaml"}}, "lib.yaml"},
                       {"cut: wait", 5, 0, {{"cut", 5, "lib.yaml"}}, "lib.yaml"},
                       {"cut: wait", 5, 0, {}, "x.yaml"}};
    std::vector<std::string> rows;
    const auto page = read({named("nested")}, how);
    for (const auto& one : page["scenarios"][0]["steps"])
        rows.push_back(std::string(one["cells"][0]) + "|" + std::string(one["cells"][1]) +
                       (one["class"].empty() ? "" : "|failed"));
    EXPECT_THAT(rows, ElementsAre("boot|5", "cut|5", "wait|lib.yaml:5", "cut|lib.yaml:5|failed",
                                  "wait|lib.yaml:5|failed", "cut: wait|5"));
}

TEST_F(HtmlReport, FailedStepIsMarkedWhenAnotherBranchStartedALaterOne) {
    std::vector<outcome> how(1);
    how[0].result = outcome::verdict::failed;
    how[0].step = "a: flap: copy";
    how[0].place = {7, 5, 1};
    how[0].timeline = {{"flap: together a, b", 6, 0, {{"flap", 3}}},
                       {"a: flap: copy", 7, 1'000'000, {{"flap", 3}, {"", 6}, {"a", 0}}},
                       {"b: flap: wait", 8, 2'000'000, {{"flap", 3}, {"", 6}, {"b", 0}}}};
    std::vector<std::string> marked;
    const auto page = read({named("s")}, how);
    for (const auto& one : page["scenarios"][0]["steps"])
        if (one["class"] == nlohmann::json::parse(R"(["last"])")) marked.push_back(one["cells"][0]);
    EXPECT_THAT(marked, ElementsAre("flap", "together a, b", "a", "copy"));
}

TEST_F(HtmlReport, PlotsMeasurementsOfAllRunsWithTheirBounds) {
    std::vector<outcome> how(3);
    how[0].figures = {{"rate <", 57, "GB/s", 50.0, 60.0}, {"copies", 3, ""}};
    how[1].figures = {{"rate <", 61, "GB/s", 50.0, 60.0}};
    how[2].figures = {{"rate <", 7, "GB/s", 5.0}};
    // The first two are named by --repeat; the author chose the same form for the last.
    auto all = select({named("one")}, {.repeat = 2});
    all.push_back(named("one #3"));
    const auto page = read(all, how);
    const auto rows = page["figures"];
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0]["cells"],
              nlohmann::json::parse(R"(["one","rate <","57 to 61 GB/s, 2 runs","50 to 60",""])"));
    EXPECT_EQ(rows[1]["cells"], nlohmann::json::parse(R"(["one","copies","3","",""])"));
    EXPECT_EQ(rows[2]["cells"],
              nlohmann::json::parse(R"(["one #3","rate <","7 GB/s","at least 5",""])"));
    // One dot per run; the outlier is red.
    EXPECT_EQ(rows[0]["dots"], nlohmann::json::parse(R"(["#2e6da4","#c0392b"])"));
    EXPECT_EQ(rows[1]["dots"].size(), 1u);
}

TEST_F(HtmlReport, ForeignTextIsEscaped) {
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
    EXPECT_EQ(row["log"], hostile + "\n?[31m?\n");
    EXPECT_THAT(std::string(page["scripts"][0]), Not(HasSubstr("alert")));
}

TEST_F(HtmlReport, CampaignListsTheCommandsOfItsOtherFailedSeeds) {
    constexpr std::size_t seeds = 30;
    std::vector<scenario::scenario> all(seeds, named("many"));
    std::vector<outcome> how(seeds);
    for (std::size_t i = 0; i < seeds; ++i) {
        all[i].seed = i + 1;
        all[i].campaign = true;
        if (i < 3) how[i].result = outcome::verdict::passed;
    }
    const auto page = to_html(record(all, how, {}));
    EXPECT_THAT(page, Not(HasSubstr("<p>Seed 3: "))) << "it passed";
    EXPECT_THAT(page, Not(HasSubstr("<p>Seed 4: "))) << "it is the one that is shown";
    EXPECT_THAT(page, HasSubstr("<p>Seed 5: "));
    EXPECT_THAT(page, HasSubstr("<p>Seed 24: ")) << "the last of 20";
    EXPECT_THAT(page, Not(HasSubstr("<p>Seed 25: ")));
}

TEST_F(HtmlReport, ShowsTheEndOfALongLog) {
    std::vector<outcome> how(1);
    for (int i = 0; i < 10'000; ++i) how[0].log += "line " + std::to_string(i) + "\n";
    const std::string log = read({named("long")}, how)["scenarios"][0]["log"];
    EXPECT_THAT(log, EndsWith("line 9999\n"));
    EXPECT_EQ(std::ranges::count(log, '\n'), 300);
}

}  // namespace
}  // namespace trn::regression
