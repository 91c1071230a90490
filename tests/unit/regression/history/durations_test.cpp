// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/history/durations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "platform/app/scenario/selection/selection.h"
#include "platform/framework/config/file.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/regression/records.h"

namespace trn::regression {
namespace {

using sample::named;
using sample::shard;
using testing::Each;
using testing::HasSubstr;
using testing::Le;

struct Durations : testing::Test {
    trn::test::scratch_folder folder;
    std::vector<scenario::scenario> all;
    std::vector<result> measured;

    void add(const std::string& beginning, double beginning_s, double own_s) {
        scenario::scenario one;
        one.file = "x.yaml";
        one.name = "s" + std::to_string(all.size());
        one.beginning = beginning;
        all.push_back(one);
        auto& run = measured.emplace_back(named(one.name));
        run.outcome.beginning_s = beginning_s;
        run.outcome.own_s = own_s;
    }
    durations known() const { return durations::measured_in(shard(1, 1, {}, measured)); }
    /// Time of each shard, counted independently of the code under test: own times, and each boot
    /// once.
    std::vector<double> seconds(const std::vector<unsigned>& parts, unsigned count) const {
        std::vector<double> sums(count);
        std::vector<std::set<std::string>> booted(count);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto part = parts.at(i) - 1;
            sums.at(part) += measured[i].outcome.own_s;
            if (booted[part].insert(all[i].beginning).second)
                sums[part] += measured[i].outcome.beginning_s;
        }
        return sums;
    }
    std::string refusal(const std::string& text) {
        std::ofstream(folder / "d.json") << text;
        try {
            durations::read(folder / "d.json");
        } catch (const file_error& why) {
            return why.what();
        }
        return "";
    }
};

TEST_F(Durations, BalancedShardsDifferByAtMost15PercentInTime) {
    // 1,000 scenarios of 40 boards with lognormal times, from 0.02 s to 13 s. No scenario takes
    // longer than a shard's share, since scenarios are not divided.
    std::mt19937_64 random(7);
    const auto drawn = [&](double median, double spread) {
        double sum = 0;
        for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() % 1000) / 1000;
        return median * std::exp(spread * (sum - 6));
    };
    std::vector<double> boots;
    for (int board = 0; board < 40; ++board) boots.push_back(drawn(0.3, 1.2));
    for (int i = 0; i < 1000; ++i) {
        const auto board = random() % boots.size();
        add("board" + std::to_string(board), boots[board], drawn(0.5, 1.0));
    }
    for (const unsigned count : {2u, 5u, 16u, 50u}) {
        const auto times = seconds(divide_by_durations(known(), all, count), count);
        const auto [low, high] = std::ranges::minmax(times);
        EXPECT_LE(high, 1.15 * low) << count << " shards";
        // By index, neighbours go to different shards: the result is not balanced.
        std::vector<unsigned> by_count;
        for (unsigned i = 0; i < all.size(); ++i) by_count.push_back(i % count + 1);
        EXPECT_LE(high, std::ranges::max(seconds(by_count, count)));
    }
}

TEST_F(Durations, ScenariosThatShareABootStayTogetherWhereThatIsCheaper) {
    for (int i = 0; i < 12; ++i) add(i % 2 == 0 ? "rack" : "sled", 30, 1);
    const auto parts = divide_by_durations(known(), all, 2);
    for (std::size_t i = 2; i < all.size(); ++i) EXPECT_EQ(parts[i], parts[i % 2]) << i;
    EXPECT_THAT(seconds(parts, 2), Each(36.0));
    // If the boot is short, splitting the only group is worth a boot per shard.
    all.clear();
    measured.clear();
    for (int i = 0; i < 12; ++i) add("chip", 0.5, 10);
    EXPECT_THAT(seconds(divide_by_durations(known(), all, 4), 4), Each(30.5));
}

TEST_F(Durations, SameFileHasTheSameShardsAndEachScenarioIsInOne) {
    for (int i = 0; i < 100; ++i) add(std::to_string(i % 7), 1, 0.1 * (i % 13));
    std::ofstream(folder / "d.json") << known().text();
    const auto read = durations::read(folder / "d.json");
    const auto parts = divide_by_durations(read, all, 9);
    EXPECT_EQ(parts.size(), all.size());
    EXPECT_THAT(parts, Each(testing::AllOf(Le(9u), testing::Ge(1u))));
    EXPECT_EQ(divide_by_durations(durations::read(folder / "d.json"), all, 9), parts);
    // Through select(), which shards call.
    std::size_t count = 0;
    for (unsigned part = 1; part <= 9; ++part)
        count += select(all, {.part = {part, 9},
                              .divide =
                                  [&](const auto& list, unsigned shards) {
                                      return divide_by_durations(read, list, shards);
                                  }})
                     .size();
    EXPECT_EQ(count, all.size());
}

TEST_F(Durations, ScenarioWithoutAnEntryTakesTheMedian) {
    for (int i = 0; i < 9; ++i) add(std::to_string(i), 0, 5);
    const auto before = known();
    add("new", 0, 5);
    EXPECT_THAT(seconds(divide_by_durations(before, all, 2), 2), Each(25.0));
    EXPECT_THAT(divide_by_durations(durations(), all, 20), testing::SizeIs(10));
}

TEST_F(Durations, FileIsMergedAndFailuresDoNotCount) {
    const auto file = std::filesystem::path(folder / "d.json");
    const auto run = [&](double own_s, bool passed) {
        auto one = named("a", passed);
        one.outcome.own_s = own_s;
        one.outcome.beginning_s = 0.25;
        update_durations(file, shard(1, 1, {}, {one}));
        return durations::read(file).find(one.description).value_or(durations::entry{});
    };
    EXPECT_EQ(run(99, false), durations::entry{});
    EXPECT_EQ(run(2, true), (durations::entry{0.25, 2}));
    EXPECT_EQ(run(4, true), (durations::entry{0.25, 3}));
    EXPECT_EQ(run(99, false), (durations::entry{0.25, 3}));
}

TEST_F(Durations, DamagedFileIsRefusedWithItsPlace) {
    EXPECT_EQ(refusal("{\"trnvp durations\": 1, \"scenarios\": {}}"), "");
    EXPECT_THAT(refusal("{\"trnvp durations\": 1, \"scena"), HasSubstr("d.json: this file is not"));
    EXPECT_THAT(refusal("{\"trnvp durations\": 2}"), HasSubstr("version 2 of the format"));
    EXPECT_THAT(refusal("{}"), HasSubstr("not a file of durations"));
    const auto with = [](const std::string& entry) {
        return "{\"trnvp durations\": 1, \"scenarios\": {\"f\": {\"n\": " + entry + "}}}";
    };
    EXPECT_THAT(refusal(with("{\"beginning_s\": 1}")), HasSubstr("'f': 'n': 'own_s'"));
    EXPECT_THAT(refusal(with("{\"beginning_s\": -1, \"own_s\": 1}")), HasSubstr("not a duration"));
    EXPECT_THAT(refusal(with("3")), HasSubstr("JSON object was expected"));
    EXPECT_TRUE(durations::read(folder / "none.json").empty());
    EXPECT_THROW(durations::read(std::filesystem::path(folder)), file_error);
}

}  // namespace
}  // namespace trn::regression
