// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/comparison/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "platform/app/regression/comparison/compare.h"
#include "platform/app/regression/pages/junit.h"
#include "platform/app/regression/pages/merged_fidelity.h"
#include "platform/app/regression/records/record_file.h"
#include "platform/framework/config/file.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/regression/records.h"

namespace trn::regression {
namespace {

using sample::named;
using sample::shard;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Merge : testing::Test {
    trn::test::scratch_folder folder;
    std::vector<std::filesystem::path> written;

    void add(const run_record& run) {
        written.emplace_back(folder / ("s" + std::to_string(written.size())));
        std::filesystem::create_directory(written.back());
        write_record(written.back(), run);
    }
    static std::vector<std::string> names(const run_record& run) {
        std::vector<std::string> all;
        for (const auto& one : run.results)
            all.push_back(one.description.name + (one.passed() ? "" : "!"));
        return all;
    }
};

TEST_F(Merge, ShardsBecomeOneRunInTheOrderOfTheList) {
    add(shard(2, 2, {"a", "b", "c"}, {named("b", false)}));
    add(shard(1, 2, {"a", "b", "c"}, {named("a"), named("c")}));
    const auto all = merge(written);
    EXPECT_THAT(all.problems, IsEmpty());
    EXPECT_THAT(names(all.run), ElementsAre("a", "b!", "c"));
    EXPECT_EQ(all.run.parts, 1u);
    EXPECT_EQ(summary(all.run), "2 passed, 1 failed");
    // A merged record can be merged again.
    written.clear();
    add(all.run);
    EXPECT_EQ(to_text(merge(written).run), to_text(all.run));
}

TEST_F(Merge, MissingShardAndItsScenariosAreNamedAndNotPassed) {
    add(shard(1, 3, {"a", "b", "c"}, {named("a")}));
    add(shard(3, 3, {"a", "b", "c"}, {named("c")}));
    const auto all = merge(written);
    EXPECT_THAT(all.problems,
                ElementsAre("of 3 shards these are missing: 2", "not run: x.yaml: b"));
    EXPECT_FALSE(all.run.passed());
    EXPECT_EQ(summary(all.run), "2 passed, 0 failed, 1 not run");
    EXPECT_THAT(to_junit(all.run), HasSubstr("errors=\"1\""));
    EXPECT_THAT(to_junit(all.run), HasSubstr("name=\"b\">\n    <error type=\"not run\""));
}

TEST_F(Merge, OfSeveralResultsTheNewestIsUsedAndNamed) {
    const auto at = [](std::int64_t started, run_record run) {
        run.started = started;
        return run;
    };
    add(at(300, shard(1, 1, {"b"}, {named("b")})));  // a repetition of what failed
    add(at(100, shard(1, 2, {"a", "b", "c"}, {named("a"), named("c", false)})));
    add(at(100, shard(2, 2, {"a", "b", "c"}, {named("b", false)})));
    const auto all = merge(written);
    EXPECT_THAT(names(all.run), ElementsAre("a", "b", "c!"));
    EXPECT_THAT(all.problems, IsEmpty());
    EXPECT_THAT(all.replaced,
                ElementsAre("several results, of which the newest is used: x.yaml: b"));
    EXPECT_THAT(all.run.notes, ElementsAre(all.replaced.front()));
}

TEST_F(Merge, ShardThatIsThereTwiceIsNamed) {
    add(shard(1, 2, {"a", "b"}, {named("a"), named("b")}));
    add(shard(1, 2, {"a", "b"}, {named("a", false), named("b")}));
    const auto all = merge(written);
    EXPECT_THAT(names(all.run), ElementsAre("a!", "b"));  // of one second: the last in the list
    EXPECT_THAT(all.problems, ElementsAre(HasSubstr("(shard 1/2): this shard is there twice"),
                                          "of 2 shards these are missing: 2"));
    EXPECT_THAT(all.replaced, ElementsAre("several results, of which the newest is used: "
                                          "x.yaml: a, x.yaml: b"));
}

TEST_F(Merge, ForeignShardsAreLeftOutAndNamed) {
    const std::vector<std::string> list{"a", "b", "c", "d"};
    auto build = shard(2, 4, list, {named("b")});
    build.build = "2 def";
    auto board = shard(3, 4, list, {named("c")});
    board.boards["chip"].digest = "1234";
    add(shard(1, 4, list, {named("a")}));
    add(build);
    add(board);
    add(shard(4, 4, list, {named("d")}));
    add(shard(2, 5, list, {named("b")}));
    add(shard(2, 4, {"other"}, {named("b")}));
    const auto all = merge(written);
    EXPECT_THAT(names(all.run), ElementsAre("a", "d"));
    EXPECT_THAT(
        all.problems,
        ElementsAre(HasSubstr("s1 (shard 2/4): left out: its build is 2 def, not 1 abc"),
                    HasSubstr("s4 (shard 2/5): left out: it is one of 5 shards, not of 4"),
                    HasSubstr("s5 (shard 2/4): left out: it is a shard of another list"),
                    HasSubstr("s2 (shard 3/4): left out: 1 results on board 'chip', which has the "
                              "digest 1234, not 00ff"),
                    "of 4 shards these are missing: 2", "not run: x.yaml: b, x.yaml: c"));
}

TEST_F(Merge, CutAndUnreadableShardsAreNamedAndTheOthersMerged) {
    add(shard(1, 3, {"a", "b", "c"}, {named("a")}));
    written.emplace_back(folder / "cut");
    {
        const auto run = shard(2, 3, {"a", "b", "c"}, {});
        record_writer writer(written.back(), run);
        writer.add(named("b"));
    }
    written.emplace_back(folder / "none");
    std::ofstream(folder / "bad") << "{\"trnvp run\": 99}\n";
    written.emplace_back(folder / "bad");
    const auto all = merge(written);
    EXPECT_THAT(names(all.run), ElementsAre("a", "b"));
    EXPECT_THAT(all.problems,
                ElementsAre(HasSubstr("cut (shard 2/3): the run did not end; it has 1 results"),
                            HasSubstr("none"), HasSubstr("bad:1: version 99"),
                            "of 3 shards these are missing: 3", "not run: x.yaml: c"));
    written = {folder / "bad"};
    EXPECT_THROW(merge(written), file_error);
}

TEST_F(Merge, CoverageIsTheUnion) {
    auto one = shard(1, 2, {}, {}), two = shard(2, 2, {}, {});
    one.coverage =
        "TN:\nSF:a.c\nFN:1,f\nFNDA:0,f\nFNF:1\nFNH:0\nBRDA:2,0,0,-\nBRDA:2,0,1,-\nBRF:2\nBRH:0\n"
        "DA:2,0\nDA:3,1\nLF:2\nLH:1\nend_of_record\n";
    two.coverage =
        "TN:\nSF:a.c\nFN:1,f\nFNDA:1,f\nFNF:1\nFNH:1\nBRDA:2,0,0,1\nBRDA:2,0,1,0\nBRF:2\nBRH:1\n"
        "DA:2,1\nDA:3,0\nLF:2\nLH:1\nend_of_record\nTN:\nSF:b.c\nFNF:0\nFNH:0\nBRF:0\nBRH:0\n"
        "DA:1,0\nLF:1\nLH:0\nend_of_record\n";
    add(one);
    add(two);
    EXPECT_EQ(merge(written).run.coverage,
              "TN:\nSF:a.c\nFN:1,f\nFNDA:1,f\nFNF:1\nFNH:1\nBRDA:2,0,0,1\nBRDA:2,0,1,0\nBRF:2\n"
              "BRH:1\nDA:1,1\nDA:2,1\nDA:3,1\nLF:3\nLH:3\nend_of_record\nTN:\nSF:b.c\nFNF:0\n"
              "FNH:0\nBRF:0\nBRH:0\nDA:1,0\nLF:1\nLH:0\nend_of_record\n");
}

TEST_F(Merge, DamagedCoverageOfOneShardIsNamedAndTheOthersMerged) {
    auto one = shard(1, 2, {"a"}, {named("a")}), two = shard(2, 2, {"a"}, {});
    one.coverage = "SF:a.c\nDA:x,1\n";
    two.coverage = "TN:\nSF:b.c\nDA:1,1\nend_of_record\n";
    add(one);
    add(two);
    const auto all = merge(written);
    EXPECT_THAT(names(all.run), ElementsAre("a"));
    EXPECT_THAT(all.problems,
                ElementsAre(HasSubstr("s0 (shard 1/2): coverage, line 2: not a line")));
    EXPECT_THAT(all.run.coverage, HasSubstr("SF:b.c"));
}

TEST_F(Merge, LinesAndBranchesOfAllShardsStayConsistent) {
    // The line ran in one shard; its branch was reached in none.
    auto one = shard(1, 2, {}, {}), two = shard(2, 2, {}, {});
    one.coverage = "SF:a.c\nFN:1,f\nDA:1,1\nDA:2,1\nend_of_record\n";
    two.coverage =
        "SF:a.c\nFN:1,f\nFN:9,unused\nBRDA:2,0,0,-\nBRDA:2,0,1,-\nDA:1,0\nDA:2,0\n"
        "end_of_record\n";
    add(one);
    add(two);
    EXPECT_EQ(merge(written).run.coverage,
              "TN:\nSF:a.c\nFN:1,f\nFNDA:1,f\nFNF:1\nFNH:1\nBRF:0\nBRH:0\nDA:1,1\nDA:2,1\n"
              "LF:2\nLH:2\nend_of_record\n");
}

TEST_F(Merge, DamagedLineOfARecordCostsItsResultOnly) {
    add(shard(1, 1, {"a", "b", "c"}, {named("a"), named("b"), named("c")}));
    const auto file = written[0] / record_name;
    std::string text;
    {
        std::ifstream in(file);
        text.assign(std::istreambuf_iterator<char>(in), {});
    }
    const auto at = text.find("\"name\":\"b\"");
    ASSERT_NE(at, text.npos);
    text.replace(at, 2, std::string(2, '\0'));
    std::ofstream(file) << text;
    const auto all = merge(written);
    EXPECT_THAT(names(all.run), ElementsAre("a", "c"));
    EXPECT_THAT(all.problems,
                ElementsAre(HasSubstr("run.jsonl:3: this line is not JSON"), "not run: x.yaml: b"));
    record_follower follower(written[0]);
    EXPECT_EQ(follower.poll().size(), 2u);
    EXPECT_THAT(follower.poll(), IsEmpty());
}

TEST_F(Merge, RecordsThatAreEachOddOnOneBoardKeepTheirOtherResults) {
    for (int odd = 0; odd < 3; ++odd) {
        auto run = shard(1, 1, {"a0", "a1", "a2"}, {named("a" + std::to_string(odd))});
        for (const std::string board : {"x", "y", "z"})
            run.boards[board] = {
                board == std::string(1, static_cast<char>('x' + odd)) ? "odd" : "usual", ""};
        run.results.back().board_key = "chip";
        add(run);
    }
    const auto all = merge(written);
    EXPECT_THAT(names(all.run), ElementsAre("a0", "a1", "a2"));
    EXPECT_THAT(all.problems, ElementsAre(HasSubstr("0 results on board 'x'"),
                                          HasSubstr("0 results on board 'y'"),
                                          HasSubstr("0 results on board 'z'")));
}

TEST_F(Merge, RunsWithOtherOptionsAreLeftOut) {
    const std::vector<std::string> list{"a", "b", "c"};
    auto strict = shard(3, 3, list, {named("c")});
    strict.options = " --misuse fail";
    add(shard(1, 3, list, {named("a")}));
    add(shard(2, 3, list, {named("b")}));
    add(strict);
    const auto all = merge(written);
    EXPECT_THAT(names(all.run), ElementsAre("a", "b"));
    EXPECT_THAT(all.problems.front(),
                HasSubstr("(shard 3/3): left out: its options are --misuse fail, not none"));
}

TEST_F(Merge, NewestAttemptOfAShardWinsAndOlderOnesFillItUp) {
    add(shard(1, 1, {"a", "b"}, {named("a"), named("b", false)}));
    auto again = shard(1, 1, {"a", "b"}, {named("a", false)});
    add(again);
    const auto all = merge(std::vector(1, written));
    EXPECT_THAT(names(all.run), ElementsAre("a!", "b!"));
    EXPECT_THAT(all.problems, IsEmpty());
}

TEST_F(Merge, AbandonedRecordDoesNotHideTheMergedOne) {
    const auto out = folder / "out";
    { record_writer(out, shard(1, 1, {"a"}, {})).add(named("a", false)); }
    write_record(out, shard(1, 1, {"b"}, {named("b")}));
    EXPECT_THAT(names(read_record(out)), ElementsAre("b"));
}

TEST_F(Merge, FidelityAddsTheCountsOfAllRuns) {
    const auto report = [](unsigned reads) {
        const nlohmann::json none{{"reads", 0u}, {"writes", 0u}};
        return nlohmann::json{{"board", "chip"},
                              {"registers",
                               {{{"kind", "uart"},
                                 {"block", "uart"},
                                 {"register", "LSR"},
                                 {"known_by", "document"},
                                 {"fidelity", "full"},
                                 {"modules", reads},
                                 {"host", {{"reads", reads}, {"writes", 1u}}},
                                 {"firmware", none},
                                 {"dma", none},
                                 {"tools", none}}}}};
    };
    auto run = shard(1, 1, {}, {named("a"), named("b"), named("c")});
    EXPECT_TRUE(merged_fidelity(run).is_null());
    run.results[0].fidelity = report(3);
    run.results[1].fidelity = report(4);
    const auto all = merged_fidelity(run);
    ASSERT_EQ(all["registers"].size(), 1u);
    const auto& row = all["registers"][0];
    EXPECT_EQ(row["host"]["reads"], 7);
    EXPECT_EQ(row["host"]["writes"], 2);
    EXPECT_EQ(row["modules"], 4);
    EXPECT_EQ(row["runs"], 2);
}

TEST_F(Merge, CampaignIsOneRowAndOneTestCasePerSeed) {
    std::vector<result> seeds;
    for (unsigned seed = 1; seed <= 20; ++seed) {
        auto one = named("a seed " + std::to_string(seed), seed != 3 && (seed < 7 || seed > 9));
        one.description.campaign = true;
        one.description.seed = seed;
        seeds.push_back(one);
    }
    const auto run = shard(1, 1, {}, seeds);
    ASSERT_EQ(rows_of(run).size(), 1u);
    EXPECT_EQ(campaign_text(rows_of(run)[0]), "16 of 20 seeds passed; failed: 3, 7-9");
    const auto xml = to_junit(run);
    EXPECT_THAT(xml, HasSubstr("tests=\"20\" failures=\"4\""));
    EXPECT_THAT(xml, HasSubstr("name=\"a seed 1\" time=\"1.000\" file=\"x.yaml\"/>"));
    EXPECT_THAT(xml, HasSubstr("name=\"a seed 3\" time=\"1.000\" file=\"x.yaml\" line=\"7\">"));
    EXPECT_THAT(xml, HasSubstr("again: trnvp test 'x.yaml' --name 'a' --seeds 3"));
    EXPECT_THAT(xml, HasSubstr("timestamp=\"1970-01-01T00:16:40Z\""));
}

TEST(Compare, NamesWhatIsDifferent) {
    auto before = shard(1, 1, {},
                        {named("gone"), named("breaks"), named("heals", false),
                         named("same", true, 10), named("slower", true, 10)});
    auto now = shard(1, 1, {},
                     {named("breaks", false), named("heals"), named("same", true, 14),
                      named("slower", true, 15.1), named("new")});
    before.results[3].outcome.trace_digest = 1;
    now.results[2].outcome.trace_digest = 2;
    before.results[4].outcome.figures = {{"in", 100, "us"}, {"out", 100, "us"}};
    now.results[3].outcome.figures = {{"in", 104.9, "us"}, {"out", 105.1, "us"}};
    const auto found = compare(before, now, {});
    EXPECT_THAT(found.newly_failing, ElementsAre("x.yaml: breaks: x.yaml:7:5: wrong byte"));
    EXPECT_THAT(found.newly_passing, ElementsAre("x.yaml: heals"));
    EXPECT_THAT(found.missing, ElementsAre("x.yaml: gone"));
    EXPECT_THAT(found.added, ElementsAre("x.yaml: new"));
    EXPECT_THAT(found.digests,
                ElementsAre("x.yaml: same: 0000000000000001 became 0000000000000002"));
    EXPECT_THAT(found.figures, ElementsAre("x.yaml: slower: out: 100 us became 105.1 us (+5.1 %)"));
    EXPECT_THAT(found.durations, ElementsAre("x.yaml: slower: 10.00 s became 15.10 s"));
    EXPECT_EQ(compare(before, before, {}).text(), "no difference\n");
}

TEST(Compare, FailureAtAnotherStepIsADifference) {
    const auto before = shard(1, 1, {}, {named("breaks", false), named("passes")});
    auto now = before;
    now.results[0].outcome.message = "another byte";
    EXPECT_EQ(compare(before, now, {}).text(), "no difference\n");
    now.results[0].outcome.place.line = 9;
    EXPECT_EQ(compare(before, now, {}).text(),
              "failing at another step (1):\n  x.yaml: breaks: x.yaml:9:5: another byte\n");
}

TEST(Compare, NoiseOfAFigureIsTheRangeOfItsEarlierRuns) {
    const auto repeated = [](std::vector<double> values) {
        std::vector<result> all;
        for (const auto value : values) {
            auto one = named("a #" + std::to_string(all.size() + 1));
            one.description.run = static_cast<unsigned>(all.size() + 1);
            one.outcome.figures = {{"rate", value, "GB/s"}};
            all.push_back(one);
        }
        return shard(1, 1, {}, all);
    };
    const auto before = repeated({80, 120});
    EXPECT_THAT(compare(before, repeated({110}), {}).figures, IsEmpty());
    EXPECT_THAT(compare(before, repeated({127}), {}).figures, testing::SizeIs(1));
    EXPECT_THAT(compare(before, repeated({73}), {.noise_percent = 2}).figures, testing::SizeIs(1));
}

TEST(Compare, CampaignOfWhichMoreSeedsFailIsADifference) {
    const auto campaign = [](std::vector<bool> passed) {
        std::vector<result> all;
        for (std::size_t seed = 1; seed <= passed.size(); ++seed) {
            all.push_back(named("c seed " + std::to_string(seed), passed[seed - 1]));
            all.back().description.campaign = true;
            all.back().description.seed = seed;
        }
        return shard(1, 1, {}, all);
    };
    auto found =
        compare(campaign({true, true, false, true}), campaign({false, false, false, false}), {});
    EXPECT_THAT(found.newly_failing, ElementsAre("x.yaml: c: 1 of 4 failed, now 4 of 4: "
                                                 "x.yaml:7:5: wrong byte"));
    EXPECT_THAT(found.newly_passing, IsEmpty());
    // As many, but other seeds.
    found = compare(campaign({true, false}), campaign({false, true}), {});
    EXPECT_EQ(found.newly_failing.size(), 1u);
    EXPECT_EQ(found.newly_passing.size(), 1u);
    found = compare(campaign({true, false}), campaign({true, false}), {});
    EXPECT_EQ(found.text(), "no difference\n");
}

TEST(Compare, SeedWithoutAResultIsMissing) {
    const auto campaign = [](unsigned seeds) {
        run_record run = shard(1, 1, {"c seed 1", "c seed 2"}, {});
        for (unsigned seed = 1; seed <= seeds; ++seed) {
            run.results.push_back(named("c seed " + std::to_string(seed)));
            run.results.back().description.campaign = true;
        }
        return run;
    };
    EXPECT_THAT(compare(campaign(2), campaign(1), {}).missing, ElementsAre("x.yaml: c seed 2"));
}

}  // namespace
}  // namespace trn::regression
