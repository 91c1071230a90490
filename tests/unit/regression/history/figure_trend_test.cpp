// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/history/figure_trend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/unit/regression/records.h"

namespace trn::regression {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// Runs of scenario "copies" with the commits c0, c1, ... and these rates.
std::vector<run_record> runs_with(const std::vector<double>& rates) {
    std::vector<run_record> all;
    for (const auto rate : rates) {
        auto one = sample::named("copies");
        one.outcome.figures.push_back({"copy rate", rate, "GB/s"});
        auto& run = all.emplace_back();
        run.build = "0.2.0 c" + std::to_string(all.size() - 1);
        run.started = static_cast<std::int64_t>(86'400 * all.size());
        run.results.push_back(one);
    }
    return all;
}

figure_trend trend_of(const std::vector<double>& rates, const figure_band& band = {}) {
    return figure_trends(runs_with(rates), "copy rate", "", band).front();
}

std::vector<std::size_t> departures(const figure_trend& trend) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < trend.points.size(); ++i)
        if (trend.points[i].left) all.push_back(i);
    return all;
}

TEST(FigureTrend, NamesTheFirstRunOutsideTheBandAndItsCommits) {
    const auto trend = trend_of({50, 51, 49, 40, 40});
    EXPECT_THAT(departures(trend), ElementsAre(3));
    const auto text = trend.text();
    EXPECT_THAT(text, HasSubstr("x.yaml: copies: copy rate (GB/s)\n  1970-01-02 00:00  c0"));
    EXPECT_THAT(text, HasSubstr("c3            40  <- left the band, 47.5 to 52.5\n"));
    EXPECT_THAT(text, HasSubstr("first run that left the band: 1970-01-05 00:00, commit c3: 40 "
                                "after 49 (-18.4 %)\n  git bisect start c3 c2\n"));
}

TEST(FigureTrend, WithoutADepartureHasNothingToBisect) {
    const auto trend = trend_of({50, 52, 48});
    EXPECT_EQ(trend.departure(), std::nullopt);
    EXPECT_THAT(trend.text(), HasSubstr("stays in its band"));
    EXPECT_THAT(trend.text(), Not(HasSubstr("bisect")));
}

TEST(FigureTrend, BandFollowsTheFigureAndTheLastDepartureIsTheAnswer) {
    const auto trend = trend_of({50, 80, 80, 50});
    EXPECT_THAT(departures(trend), ElementsAre(1, 3));
    EXPECT_THAT(trend.text(), HasSubstr("git bisect start c3 c2"));
}

TEST(FigureTrend, SlowDriftLeavesTheBand) {
    EXPECT_THAT(departures(trend_of({100, 98, 96, 94, 92})), ElementsAre(3));
}

TEST(FigureTrend, BoundsReplaceTheBand) {
    EXPECT_THAT(departures(trend_of({50, 80, 70, 50, 40}, {.min = 60})), ElementsAre(0, 3));
    EXPECT_THAT(departures(trend_of({50, 80}, {.max = 100})), ElementsAre());
    EXPECT_THAT(departures(trend_of({50, 52}, {.noise_percent = 1})), ElementsAre(1));
    EXPECT_THAT(trend_of({50}, {.min = 60}).text(), HasSubstr("no earlier run has the figure"));
}

TEST(FigureTrend, EqualBuildsAreNotBisected) {
    auto runs = runs_with({50, 40});
    runs[1].build = runs[0].build;
    const auto trend = figure_trends(runs, "copy rate", "", {}).front();
    EXPECT_THAT(trend.text(), HasSubstr("the build is the same"));
    EXPECT_EQ(trend.json()["bisect"], "");
}

TEST(FigureTrend, RunsThatDidNotMeasureAreShown) {
    auto runs = runs_with({50, 50, 40});
    runs[1].results.front().outcome.figures.clear();
    const auto trend = figure_trends(runs, "copy rate", "", {}).front();
    EXPECT_THAT(trend.text(), HasSubstr("c1            not measured\n"));
    EXPECT_THAT(trend.text(), HasSubstr("git bisect start c2 c0"));
    EXPECT_EQ(trend.json()["runs"][1]["value"], nullptr);
    EXPECT_EQ(trend.json()["first_outside"], 2);
}

TEST(FigureTrend, RunsWithoutTheScenarioAreNotShown) {
    auto runs = runs_with({50, 50, 40});
    runs[1].results = {sample::named("other")};
    EXPECT_THAT(figure_trends(runs, "copy rate", "", {}).front().points, SizeIs(2));
}

TEST(FigureTrend, TimeGrowsWithTheResultsAndNotWithTheirSquare) {
    const auto seconds = [](std::size_t scenarios) {
        auto run = runs_with({50}).front();
        const auto one = run.results.front();
        run.results.clear();
        for (std::size_t i = 0; i < scenarios; ++i) {
            run.results.push_back(one);
            run.results.back().description.name += std::to_string(i);
        }
        const auto begin = std::clock();
        EXPECT_THAT(figure_trends(std::vector{run}, "*", "", {}), SizeIs(scenarios));
        return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    EXPECT_LT(seconds(8'000), 20 * seconds(1'000) + 0.1);
}

TEST(FigureTrend, PatternsChooseFiguresAndScenarios) {
    auto runs = runs_with({50, 51});
    auto other = sample::named("collectives");
    other.outcome.figures.push_back({"bus rate", 7, "GB/s"});
    runs[0].results.push_back(other);
    EXPECT_THAT(figure_trends(runs, "* rate", "", {}), SizeIs(2));
    EXPECT_THAT(figure_trends(runs, "* rate", "coll*", {}), SizeIs(1));
    const auto refused = [&](const char* figure, const char* scenario, const char* why) {
        EXPECT_THAT([&] { figure_trends(runs, figure, scenario, {}); },
                    testing::ThrowsMessage<std::invalid_argument>(HasSubstr(why)));
    };
    refused("copy rat", "", "no figure 'copy rat'  did you mean 'copy rate'?");
    refused("copy rate", "copie", "no scenario 'copie' has the figure 'copy rate'  did you mean");
    runs.clear();
    refused("copy rate", "", "these runs have no figures");
}

}  // namespace
}  // namespace trn::regression
