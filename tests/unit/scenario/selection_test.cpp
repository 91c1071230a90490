// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/selection.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <stdexcept>

#include "platform/framework/unique_fd.h"
#include "tests/support/scratch_folder.h"

namespace trn::scenario {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

std::vector<scenario> made(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& all) {
    std::vector<scenario> list;
    for (const auto& [name, tags] : all) {
        list.emplace_back();
        list.back().file = "x.yaml";
        list.back().name = name;
        list.back().tags = tags;
    }
    return list;
}

std::vector<std::string> names(const std::vector<scenario>& all) {
    std::vector<std::string> list;
    for (const auto& one : all) list.push_back(one.name);
    return list;
}

const auto some = made({{"a", {"dma", "slow"}}, {"b", {"boot"}}, {"c", {"dma"}}, {"d", {}}});

TEST(ScenarioSelection, SelectsAllInOrderByDefault) {
    EXPECT_THAT(names(select(some, {})), ElementsAre("a", "b", "c", "d"));
}

TEST(ScenarioSelection, TagsIncludeOrExclude) {
    EXPECT_THAT(names(select(some, {.tags = {"dma", "boot"}})), ElementsAre("a", "b", "c"));
    EXPECT_THAT(names(select(some, {.tags = {"dma", "!slow"}})), ElementsAre("c"));
    EXPECT_THAT(names(select(some, {.tags = {"!slow"}})), ElementsAre("b", "c", "d"));
}

TEST(ScenarioSelection, UnmatchedWordIsAnError) {
    const auto refused = [](const selection& how, const std::string& why) {
        EXPECT_THAT([&] { select(some, how); },
                    testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(why)));
    };
    refused({.tags = {"dmo"}}, "no scenario has the tag 'dmo'  did you mean 'dma'?");
    refused({.names = {"a", "aa"}}, "no scenario has the name 'aa'");
    refused({.names = {"aa"}, .part = {2, 3}}, "no scenario has the name 'aa'");
    refused({.names = {"a"}, .tags = {"boot"}}, "no scenario has all");
    refused({.tags = {"dma", "!dma"}}, "no scenario has all");
    EXPECT_THAT(select(some, {.failed = case_set{}}), IsEmpty());
    EXPECT_THAT(select(some, {.part = {5, 5}}), IsEmpty());
    std::vector<scenario> many(max_runs / 1000 + 1);
    EXPECT_THAT([&] { select(many, {.repeat = 1000}); },
                testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("--repeat")));
}

TEST(ScenarioSelection, ShardsCoverAllScenariosExactlyOnce) {
    for (const unsigned of : {1u, 2u, 3u, 7u}) {
        std::vector<std::string> together;
        for (unsigned i = 1; i <= of; ++i)
            for (const auto& name : names(select(some, {.part = {i, of}})))
                together.push_back(name);
        EXPECT_THAT(together, UnorderedElementsAreArray(names(some))) << of;
    }
    EXPECT_EQ(shard::parse("2/5").index, 2u);
    for (const auto* wrong : {"", "0/2", "3/2", "1", "1/0", "a/b", "-1/2", "1/2/3"})
        EXPECT_THROW(shard::parse(wrong), std::invalid_argument) << wrong;
}

TEST(ScenarioSelection, RepetitionsHaveUniqueNames) {
    EXPECT_THAT(names(select(some, {.tags = {"boot"}, .repeat = 2})), ElementsAre("b #1", "b #2"));
}

TEST(ScenarioSelection, ShuffleOrderIsReproducibleFromItsSeed) {
    const auto many = [](std::uint64_t seed) {
        return names(select(some, {.repeat = 10, .shuffle = seed}));
    };
    EXPECT_EQ(many(1), many(1));
    EXPECT_NE(many(1), many(2));
    EXPECT_THAT(many(1), UnorderedElementsAreArray(names(select(some, {.repeat = 10}))));
}

/// The list of failed cases in a folder of its own, beside the scenario file of `some`.
struct FailedCases : testing::Test {
    test::scratch_folder folder;
    const std::string file = folder / "x.yaml";
    const std::filesystem::path list = folder / "state/failed";
    std::vector<scenario> all = some;

    FailedCases() {
        std::ofstream(file) << "";
        for (auto& one : all) one.file = file;
    }
    void remember(const std::vector<scenario>& ran, const std::set<std::string>& failing) {
        std::vector<ended_case> ended;
        for (const auto& one : ran) ended.push_back({case_of(one), !failing.contains(one.name)});
        remember_failed(list, ended);
    }
    std::vector<std::string> again(selection how = {}) {
        how.failed = read_failed(list);
        return names(select(all, how));
    }
};

TEST_F(FailedCases, AreKeptUntilTheyPass) {
    remember(all, {"b", "d"});
    EXPECT_THAT(again(), ElementsAre("b", "d"));
    remember({all[0], all[1]}, {"a"});  // another shard
    EXPECT_THAT(again(), ElementsAre("a", "d"));
    remember(all, {});
    EXPECT_THAT(again(), IsEmpty());
}

TEST_F(FailedCases, OfACampaignAreItsFailedSeeds) {
    const auto campaign = select(all, {.names = {"c"}, .seeds = seed_range{1, 20}});
    remember(campaign, {"c seed 3", "c seed 17", "c seed 4"});
    EXPECT_THAT(again(), ElementsAre("c seed 3", "c seed 4", "c seed 17"));
    EXPECT_THAT(again({.seeds = seed_range{8, 9}}), ElementsAre("c seed 8", "c seed 9"));
    remember({all[2]}, {"c"});  // with its own seed
    EXPECT_THAT(again(), ElementsAre("c", "c seed 3", "c seed 4", "c seed 17"));
    remember(select(all, {.failed = read_failed(list)}), {"c seed 4"});
    EXPECT_THAT(again(), ElementsAre("c seed 4"));
}

TEST_F(FailedCases, OfRepetitionsAreOne) {
    const auto repeated = select(all, {.names = {"b"}, .repeat = 2});
    remember(repeated, {"b #1"});
    EXPECT_THAT(again(), ElementsAre("b"));
}

TEST_F(FailedCases, OfAFileAreAllOfItsScenariosOnceItCanBeRead) {
    scenario whole;
    whole.file = file;
    remember({whole}, {""});
    EXPECT_THAT(again(), ElementsAre("a", "b", "c", "d"));
    remember(all, {"d"});
    EXPECT_THAT(again(), ElementsAre("d"));
}

TEST_F(FailedCases, OfFilesThatAreGoneAreForgotten) {
    remember(all, {"a"});
    std::filesystem::remove(file);
    remember({}, {});
    EXPECT_THAT(read_failed(list), IsEmpty());
}

TEST_F(FailedCases, CostNothingWhenTheListCannotBeUsed) {
    remember_failed("/proc/no/such/folder", {});
    EXPECT_THAT(read_failed("/proc/no/such/folder"), IsEmpty());
    std::filesystem::create_directories(list.parent_path());
    std::ofstream(list) << "x.yaml\ta\n[1]\n{\"file\": 3, \"name\": \"a\"}\n{\"file\"";
    EXPECT_THAT(read_failed(list), IsEmpty());
}

TEST_F(FailedCases, DoNotWaitForAProcessThatKeepsTheLock) {
    remember(all, {});
    const unique_fd lock(open((list.string() + ".lock").c_str(), O_RDWR));
    ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
    remember(all, {"a"});
    EXPECT_THAT(again(), ElementsAre("a"));
}

TEST_F(FailedCases, OfAListThatIsNoFileAreNone) {
    std::filesystem::create_directories(list.parent_path());
    ASSERT_EQ(mkfifo(list.c_str(), 0600), 0);
    EXPECT_THAT(read_failed(list), IsEmpty());
}

TEST(ScenarioSelection, FilesWhoseNamesCannotBeReadAreAlwaysSelected) {
    auto all = some;
    auto& bad = all.emplace_back();
    bad.file = "bad.yaml";
    bad.is_labelled = false;
    EXPECT_THAT(names(select(all, {.names = {"a"}})), ElementsAre("a", ""));
    EXPECT_THAT(names(select(all, {.tags = {"!slow"}})), ElementsAre("b", "c", "d", ""));
    // An unknown name may be in that file.
    EXPECT_THAT(names(select(all, {.names = {"other"}})), ElementsAre(""));
    // Its failure selects all of its scenarios, once it can be read.
    const case_set failed{case_of({.file = "x.yaml"})};
    EXPECT_THAT(names(select(some, {.failed = failed})), ElementsAre("a", "b", "c", "d"));
}

}  // namespace
}  // namespace trn::scenario
