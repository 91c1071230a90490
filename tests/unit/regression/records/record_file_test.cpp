// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/records/record_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "platform/app/report_file.h"
#include "platform/app/scenario/results/report.h"
#include "platform/framework/config/file.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/regression/records.h"

namespace trn::regression {
namespace {

using sample::named;
using sample::shard;
using testing::ElementsAre;
using testing::HasSubstr;

struct RecordFile : testing::Test {
    trn::test::scratch_folder folder;

    /// Why the record, or a line of it, cannot be read; "": all of it can.
    std::string refusal(const std::string& text) {
        std::ofstream(folder / "run.jsonl", std::ios::binary) << text;
        try {
            const auto read = read_record(std::filesystem::path(folder));
            return read.problems.empty() ? "" : read.problems.front();
        } catch (const file_error& why) {
            return why.what();
        }
    }
};

run_record full() {
    auto bad = named("bad", false);
    bad.number = 1;
    bad.description.tags = {"a", "b"};
    bad.description.seed = 7;
    bad.description.campaign = true;
    bad.outcome.log = "line\n\x1b[31m\xff\n";
    bad.outcome.file = "included.yaml";
    bad.outcome.trace_digest = 0xfedcba9876543210;
    bad.outcome.simulated_ns = 123456789012345;
    bad.outcome.beginning_s = 0.25;
    bad.outcome.timeline = {{"boot", 3, 0}, {"s: copy", 4, 100, {{"s", 9, "y.yaml"}}, "y.yaml"}};
    bad.outcome.figures = {{"rate", 57.25, "GB/s", 50.0, {}}};
    bad.fidelity = {{"board", "chip"}, {"registers", nlohmann::json::array()}};
    auto run = shard(1, 1, {"good", "bad"}, {named("good"), bad});
    run.coverage = "TN:\nSF:a.c\nend_of_record\n";
    run.notes = {"a note"};
    run.wall_s = 2.5;
    return run;
}

TEST_F(RecordFile, KeepsEverythingThatReportsShow) {
    const auto run = full();
    write_record(folder, run);
    const auto read = read_record(std::filesystem::path(folder));
    EXPECT_TRUE(read.complete);
    // The text contains every field; bytes that are not UTF-8 are replaced only once.
    EXPECT_EQ(to_text(read), to_text(run));
    ASSERT_EQ(read.results.size(), 2u);
    const auto& bad = read.results[1];
    EXPECT_EQ(bad.outcome.result, scenario::outcome::verdict::failed);
    EXPECT_EQ(bad.outcome.trace_digest, 0xfedcba9876543210);
    EXPECT_EQ(bad.outcome.timeline[1].inside[0].name, "s");
    EXPECT_EQ(bad.outcome.timeline[1].inside[0].file, "y.yaml");
    EXPECT_EQ(bad.outcome.timeline[1].file, "y.yaml");
    EXPECT_EQ(bad.outcome.timeline[0].file, bad.description.file);
    EXPECT_EQ(bad.outcome.figures[0].min, 50.0);
    EXPECT_FALSE(bad.outcome.figures[0].max);
    EXPECT_EQ(read.boards.at("chip").digest, "00ff");
    EXPECT_EQ(read.wall_s, 2.5);
    EXPECT_THAT(read.notes, ElementsAre("a note"));
}

TEST_F(RecordFile, RunThatIsCutLeavesItsResults) {
    const auto run = full();
    {
        record_writer writer(folder, run);
        writer.add(run.results[0]);
    }  // the run is killed
    auto read = read_record(std::filesystem::path(folder));
    EXPECT_FALSE(read.complete);
    ASSERT_EQ(read.results.size(), 1u);
    // The last line may be cut at any byte.
    const auto text = to_text(run);
    for (std::size_t size = 1; size < text.size(); ++size) {
        std::ofstream(folder / "cut", std::ios::binary) << text.substr(0, size);
        const auto lines = std::ranges::count(text.substr(0, size), '\n');
        if (lines == 0) {
            EXPECT_THROW(read_record(folder / "cut"), file_error);
            continue;
        }
        read = read_record(folder / "cut");
        EXPECT_FALSE(read.complete);
        EXPECT_EQ(read.results.size(), static_cast<std::size_t>(lines - 1));
    }
}

TEST_F(RecordFile, UnfinishedRunReplacesTheFinishedOneBeforeIt) {
    write_record(folder, full());
    { record_writer begun(folder, full()); }
    EXPECT_FALSE(read_record(std::filesystem::path(folder)).complete);
    {
        const auto run = full();
        record_writer again(folder, run);
        for (const auto& one : run.results) again.add(one);
        again.finish(run);
    }
    EXPECT_EQ(to_text(read_record(std::filesystem::path(folder))), to_text(full()));
}

TEST_F(RecordFile, TwoRunsDoNotWriteOneRecord) {
    record_writer first(folder, full());
    try {
        record_writer second(folder, full());
        FAIL();
    } catch (const file_error& why) {
        EXPECT_THAT(why.what(), HasSubstr("another process writes its report here"));
    }
}

TEST_F(RecordFile, FullDiskIsAnErrorAndTheRunCountsAsUnfinished) {
    write_record(folder, shard(1, 1, {}, {}));
    const rlimit limit{2000, RLIM_INFINITY};
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    auto run = full();
    run.results[1].outcome.log = std::string(100'000, 'x');
    record_writer writer(folder, run);
    for (const auto& one : run.results) writer.add(one);
    try {
        writer.finish(run);
        ADD_FAILURE();
    } catch (const output_error& lost) {
        EXPECT_THAT(lost.what(), HasSubstr("run.jsonl.part: cannot write this file"));
    }
    EXPECT_THROW(write_record(folder, run), output_error);
    setrlimit(RLIMIT_FSIZE, &before);
    const auto read = read_record(std::filesystem::path(folder));
    EXPECT_FALSE(read.complete);
    EXPECT_EQ(read.results.size(), 1u);
}

TEST_F(RecordFile, ErrorNamesFileLineAndKey) {
    const auto text = to_text(full());
    const auto with = [&](const std::string& from, const std::string& to) {
        auto changed = text;
        const auto at = changed.find(from);
        EXPECT_NE(at, changed.npos) << from;
        return refusal(changed.replace(at, from.size(), to));
    };
    EXPECT_THAT(with("\"trnvp run\":1", "\"trnvp run\":2"),
                HasSubstr("run.jsonl:1: version 2 of the format; this program reads version 1"));
    EXPECT_THAT(with("\"trnvp run\":1", "\"x\":1"), HasSubstr("not the record of a run"));
    EXPECT_THAT(with("\"status\":\"failed\"", "\"status\":\"odd\""),
                HasSubstr("run.jsonl:3: 'status': 'odd' is no status"));
    EXPECT_THAT(with("\"wall_s\":1.0", "\"wall_s\":\"1\""), HasSubstr("run.jsonl:2: 'wall_s'"));
    EXPECT_THAT(with("\"digest\":\"fedc", "\"digest\":\"xedc"), HasSubstr("hexadecimal"));
    EXPECT_THAT(with("\"n\":1", "\"n\":-1"), HasSubstr("run.jsonl:3: 'n': a whole number"));
    EXPECT_THAT(with("\"shard\":[1,1]", "\"shard\":[2,1]"), HasSubstr("run.jsonl:1: 'shard'"));
    EXPECT_THAT(with("\"steps\":[[\"boot\",3", "\"steps\":[[\"boot\",\"3\""), HasSubstr("'steps'"));
    EXPECT_THAT(refusal(text + "{}\n"), HasSubstr("run.jsonl:5: a line after the end"));
    EXPECT_THAT(refusal("{\n"), HasSubstr("run.jsonl:1: this line is not JSON"));
    EXPECT_THAT(refusal(std::string(100, '[') + "\n"), HasSubstr("run.jsonl:1"));
    EXPECT_THAT(refusal(""), HasSubstr("not a whole record"));
    EXPECT_THAT(refusal("[1]\n"), HasSubstr("run.jsonl:1: a JSON object was expected"));
}

TEST_F(RecordFile, OptionsAreWordsThatAShellTakesAsTheyAre) {
    auto run = full();
    run.options = " --misuse fail:TRN-DMA-001,ring-id-mismatch --timing functional";
    EXPECT_EQ(refusal(to_text(run)), "");
    for (int c = 1; c < 256; ++c) {
        const auto word = std::string("at=") + static_cast<char>(c) + "chip*'x y'";
        run.options = " --misuse-allow " + scenario::shell_word(word) + " --timing functional";
        EXPECT_EQ(refusal(to_text(run)), "") << c;
    }
    run.options = " --misuse-allow 'reason=größer'";
    EXPECT_EQ(refusal(to_text(run)), "");
    for (const auto* other :
         {" ; touch x", " $(touch x)", "\x1b[31m", "\n", " 'a", " 'a'b", " '\x1b[31m'", " $'\\n'",
          " $'a\\x41' >x", " a'b'", " 'a'\\''b", "--misuse"}) {
        run.options = other;
        EXPECT_THAT(refusal(to_text(run)), HasSubstr("'options'"));
    }
}

TEST_F(RecordFile, FollowerReturnsEachResultOnce) {
    const auto run = full();
    record_follower follower(folder);
    EXPECT_EQ(follower.poll().size(), 0u);
    record_writer writer(folder, run);
    EXPECT_EQ(follower.poll().size(), 0u);
    writer.add(run.results[0]);
    EXPECT_EQ(follower.poll().at(0).description.name, "good");
    writer.add(run.results[1]);
    writer.finish(run);
    EXPECT_EQ(follower.poll().at(0).description.name, "bad");
    EXPECT_EQ(follower.poll().size(), 0u);
}

TEST_F(RecordFile, DamagedLinesAreCountedAndAllOthersUsed) {
    auto run = shard(1, 1, {}, {});
    for (int n = 0; n < 30; ++n) run.results.push_back(named("s" + std::to_string(n)));
    auto text = to_text(run);
    for (int n = 0; n < 29; ++n)
        text.replace(text.find("\"name\":\"s" + std::to_string(n) + "\""), 1, "x");
    std::ofstream(folder / "run.jsonl") << text;
    const auto read = read_record(std::filesystem::path(folder));
    EXPECT_TRUE(read.complete);
    EXPECT_EQ(read.results.size(), 1u);
    ASSERT_EQ(read.problems.size(), 11u);
    EXPECT_THAT(read.problems.back(), HasSubstr("run.jsonl: 19 more damaged lines"));
}

/// A writer opens the file just before another one completes it, and gets the lock after it.
TEST_F(RecordFile, CompletedRecordIsNotEmptiedByTheNextWriter) {
    using namespace std::chrono_literals;
    const auto run = full();
    std::atomic<bool> done = false;
    std::thread other([&] {
        while (!done) try {
                record_writer(folder, run);
                std::this_thread::sleep_for(1us);  // the lock is free for the test
            } catch (const file_error&) {
                // The other writer has the lock.
            }
    });
    for (int finished = 0; finished < 200;) try {
            record_writer writer(folder, run);
            writer.finish(run);
            ++finished;
            EXPECT_GT(std::filesystem::file_size(folder / record_name), 0u);
        } catch (const file_error&) {
            std::this_thread::yield();  // the other writer has the lock
        } catch (const output_error&) {
            ++finished;
            ADD_FAILURE();
        }
    done = true;
    other.join();
    EXPECT_TRUE(read_record(folder / record_name).complete);
}

}  // namespace
}  // namespace trn::regression
