// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/selection/selection.h"

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
using testing::SizeIs;
using testing::UnorderedElementsAre;
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

TEST(ScenarioSelection, NamesAndTagsMayHaveWildcards) {
    const auto many =
        made({{"copy [size=1 B]", {"dma"}}, {"copy [size=2 B]", {"dma-slow"}}, {"boot", {}}});
    EXPECT_THAT(names(select(many, {.names = {"copy*"}})),
                ElementsAre("copy [size=1 B]", "copy [size=2 B]"));
    EXPECT_THAT(names(select(many, {.names = {"copy [size=? B]", "b*"}, .tags = {"!*slow"}})),
                ElementsAre("copy [size=1 B]", "boot"));
    EXPECT_THAT([&] { select(many, {.names = {"cpy*"}}); },
                testing::ThrowsMessage<std::invalid_argument>(
                    testing::HasSubstr("no scenario has the name 'cpy*'")));
}

/// Of three scenarios with parameters, boards and tags, those that `how` selects.
std::vector<std::string> selected_by(const selection& how) {
    auto many = made({{"copies [size=64 KiB]", {"dma"}},
                      {"copies [size=16 MiB]", {"dma", "slow"}},
                      {"a cold boot", {"boot"}}});
    many[0].point = {{"size", "64 KiB"}};
    many[1].point = {{"size", "16 MiB"}};
    many[0].board = many[1].board = "trn3-chip";
    many[2].board = "trn2-chip";
    many[2].file = "folder/gen2_boot.yaml";
    return names(select(many, how));
}
std::vector<std::string> selected_by_words(const std::string& text) {
    return selected_by({.matching = selection_expression::parse(text)});
}
std::vector<std::string> selected_where(const std::vector<std::string>& clauses) {
    selection how;
    for (const auto& one : clauses) how.clauses.push_back(where_clause::parse(one));
    return selected_by(how);
}

TEST(SelectionExpression, FindsWordsInNamesParametersTagsAndFiles) {
    EXPECT_THAT(selected_by_words("copies"), SizeIs(2));
    EXPECT_THAT(selected_by_words("COP"), SizeIs(2));
    EXPECT_THAT(selected_by_words("'64 kib'"), ElementsAre("copies [size=64 KiB]"));
    EXPECT_THAT(selected_by_words("size=16"), ElementsAre("copies [size=16 MiB]"));
    EXPECT_THAT(selected_by_words("slow"), ElementsAre("copies [size=16 MiB]"));
    EXPECT_THAT(selected_by_words("gen2"), ElementsAre("a cold boot"));
    EXPECT_THAT(selected_by_words("not folder"), SizeIs(3));
}

TEST(SelectionExpression, NotBindsMoreThanAndAndAndMoreThanOr) {
    EXPECT_THAT(selected_by_words("copies and not slow"), ElementsAre("copies [size=64 KiB]"));
    EXPECT_THAT(selected_by_words("boot or copies and slow"),
                ElementsAre("copies [size=16 MiB]", "a cold boot"));
    EXPECT_THAT(selected_by_words("(boot or copies)and slow"), ElementsAre("copies [size=16 MiB]"));
    EXPECT_THAT(selected_by_words("not (boot or not slow)"), ElementsAre("copies [size=16 MiB]"));
    EXPECT_THAT(selected_by_words("not not boot"), ElementsAre("a cold boot"));
}

TEST(SelectionExpression, MistakeIsShownAtItsColumn) {
    const auto refused = [](const std::string& text, const std::string& why) {
        EXPECT_THAT([&] { selected_by_words(text); },
                    testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(why)))
            << text;
    };
    refused("copies and",
            "-k, column 11: a word, 'not' or '(' was expected at the end\n"
            "    copies and\n"
            "              ^");
    refused("", "column 1: a word");
    refused("a b", "column 3: 'and' or 'or' was expected before 'b'; a word with blanks");
    refused("(a b)", "column 4: 'and', 'or' or ')' was expected before 'b'");
    refused("copies or or", "column 11: a word, 'not' or '(' was expected before 'or'");
    refused("copies)", "column 7: this ')' closes nothing");
    refused("boot and (copies", "column 10: this '(' is not closed");
    refused("boot and 'copies", "column 10: this quotation does not end");
    refused("boot and ''", "an empty word");
    refused("!slow", "the operators are 'and', 'or' and 'not'");
    refused("boot && slow", "column 6");
    refused("boot or copise",
            "-k, column 9: no scenario has 'copise' in its name, tags or file: did you mean "
            "'copies'?\n    boot or copise\n            ^^^^^^");
    refused("xyzzyx", "--list shows them");
    refused("not copies and not boot", "no scenario has all");
}

TEST(SelectionExpression, LengthAndDepthAreBounded) {
    const auto nested = [](std::size_t levels) {
        return std::string(levels, '(') + "boot" + std::string(levels, ')');
    };
    EXPECT_THAT(selected_by_words(nested(selection_expression::max_depth - 1)), SizeIs(1));
    EXPECT_THROW(selected_by_words(nested(selection_expression::max_depth)), std::invalid_argument);
    EXPECT_THROW(selected_by_words(std::string(selection_expression::max_length, '(')),
                 std::invalid_argument);
    std::string nots;
    while (nots.size() < 4 * selection_expression::max_depth) nots += "not ";
    EXPECT_THROW(selected_by_words(nots + "boot"), std::invalid_argument);
    EXPECT_THROW(selected_by_words(std::string(selection_expression::max_length + 1, 'b')),
                 std::invalid_argument);
}

TEST(WhereClause, SelectsByParameterBoardTagAndFile) {
    EXPECT_THAT(selected_where({"size=64KiB"}), ElementsAre("copies [size=64 KiB]"));
    EXPECT_THAT(selected_where({"board=trn2-chip"}), ElementsAre("a cold boot"));
    EXPECT_THAT(selected_where({"board=trn?-chip"}), SizeIs(3));
    EXPECT_THAT(selected_where({"tag=slow"}), ElementsAre("copies [size=16 MiB]"));
    EXPECT_THAT(selected_where({"file=gen2_*"}), ElementsAre("a cold boot"));
}

TEST(WhereClause, ValuesOfOneKeyAreAlternativesAndKeysAllHold) {
    EXPECT_THAT(selected_where({"size = 64 KiB"}), ElementsAre("copies [size=64 KiB]"));
    EXPECT_THAT(selected_where({"size=64 KiB", "size=16 MiB"}), SizeIs(2));
    EXPECT_THAT(selected_where({"size=64 KiB", "size=16 MiB", "tag=slow"}),
                ElementsAre("copies [size=16 MiB]"));
}

TEST(WhereClause, UnknownKeyAndValueAreRefused) {
    const auto refused = [](const std::string& clause, const std::string& why) {
        EXPECT_THAT([&] { selected_where({clause}); },
                    testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(why)));
    };
    refused("sise=64 KiB",
            "no scenario has a parameter 'sise' in its matrix  did you mean 'size'?  (known: "
            "board, file, size, tag)");
    refused("size=64 MiB", "no scenario has the size '64 MiB'  did you mean '64 KiB'?  (known: ");
    refused("board", "'board' is not KEY=VALUE, such as board=trn3-chip");
    refused("=1", "is not KEY=VALUE");
    refused("board=", "is not KEY=VALUE");
}

TEST(ScenarioSelection, ShardsOfAnExpressionCoverItsScenariosExactlyOnce) {
    std::vector<std::string> together;
    for (const unsigned part : {1u, 2u})
        for (const auto& name : selected_by({.clauses = {where_clause::parse("tag=*")},
                                .matching = selection_expression::parse("not slow"),
                                .part = {part, 2}}))
            together.push_back(name);
    EXPECT_THAT(together, UnorderedElementsAre("copies [size=64 KiB]", "a cold boot"));
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
