// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/history/run_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "platform/app/regression/history/history.h"
#include "platform/app/regression/records/record_file.h"
#include "platform/framework/config/file.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/regression/records.h"

namespace trn::regression {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

struct RunSource : testing::Test {
    test::scratch_folder folder;
    const std::filesystem::path past = folder / "history";

    /// Adds a run with one scenario and a figure, as one record and one file of the history.
    void add(std::int64_t started, double value) {
        auto one = sample::named("copies", value > 10);
        one.outcome.figures.push_back({"rate", value, "GB/s"});
        auto run = sample::shard(1, 1, {"copies"}, {one});
        run.started = started;
        history::add(past, run);
        write_record(folder / "record", run);
    }
};

TEST_F(RunSource, RecordHistoryFileAndTheirFoldersAreTakenAlike) {
    std::filesystem::create_directory(folder / "record");
    add(1000, 5);
    const auto files = history_files(past, 10);
    ASSERT_THAT(files, SizeIs(1));
    for (const auto& where : std::vector<std::filesystem::path>{
             folder / "record", folder / "record/run.jsonl", past, files.front()}) {
        const auto run = read_run(where);
        EXPECT_EQ(run.started, 1000) << where;
        EXPECT_EQ(run.build, "1 abc") << where;
        ASSERT_THAT(run.results, SizeIs(1)) << where;
        EXPECT_EQ(run.results[0].description.name, "copies") << where;
        EXPECT_FALSE(run.results[0].passed()) << where;
        EXPECT_EQ(run.results[0].outcome.figures[0].value, 5) << where;
        EXPECT_EQ(run.results[0].outcome.figures[0].unit, "GB/s") << where;
    }
}

TEST_F(RunSource, HistoryHasAllRunsAndItsNewestIsTheRun) {
    std::filesystem::create_directory(folder / "record");
    for (const auto started : {1000, 3000, 2000}) add(started, started);
    EXPECT_THAT(read_runs(past, 10), SizeIs(3));
    EXPECT_THAT(read_runs(past, 2), SizeIs(2));
    EXPECT_EQ(read_run(past).started, 3000);
    std::ofstream(past / "20990101T000000Z-m-1-000.json") << "{";
    EXPECT_THAT(read_runs(past, 10).back().problems, SizeIs(1));
}

TEST_F(RunSource, CampaignOfTheHistoryHasItsFailedSeeds) {
    auto run = sample::shard(1, 1, {}, {});
    for (const unsigned seed : {1u, 2u, 3u}) {
        auto one = sample::named("c seed " + std::to_string(seed), seed == 1);
        one.description.campaign = true;
        one.description.seed = seed;
        run.results.push_back(one);
    }
    history::add(past, run);
    const auto read = read_run(past);
    ASSERT_THAT(read.results, SizeIs(2));
    EXPECT_EQ(read.results[0].description.name, "c seed 2");
    EXPECT_EQ(ended_cases(read)[1].tried.seed, 3u);
}

TEST_F(RunSource, ScenariosThatDidNotRunAreMissingInTheHistoryToo) {
    history::add(past, sample::shard(1, 1, {"ran", "lost"}, {sample::named("ran")}));
    const auto read = read_run(past);
    EXPECT_THAT(read.missing(), testing::ElementsAre("x.yaml\tlost"));
    EXPECT_FALSE(read.passed());
}

TEST_F(RunSource, OtherFoldersSayWhatIsMissing) {
    const auto refused = [](const std::filesystem::path& where, const std::string& why) {
        EXPECT_THAT([&] { read_run(where); }, testing::ThrowsMessage<file_error>(HasSubstr(why)));
    };
    refused(folder / "nothing", "nothing: no such file or folder");
    refused(folder.text(), "no record run.jsonl (trnvp test --report) and no file of a history");
    std::filesystem::create_directories(folder / "shard1");
    write_record(folder / "shard1", sample::shard(1, 2, {}, {}));
    refused(folder.text(), "but 1 folders with a record, such as " + (folder / "shard1"));
}

}  // namespace
}  // namespace trn::regression
