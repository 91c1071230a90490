// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/trace.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "platform/framework/config/file.h"
#include "platform/framework/kernel/trace_append.h"
#include "platform/framework/unique_fd.h"
#include "tests/support/scratch_folder.h"

namespace {

namespace trace = trn::trace;

std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void some_events() {
    trace::event("chip0.udma3", "doorbell",
                 {{"queue", 2u}, {"tail", 7}, trace::hex("at", 0x4000u)});
    trace::span("chip0.udma3", "copy", sc_core::sc_time(10, sc_core::SC_NS),
                sc_core::sc_time(1, sc_core::SC_US), {{"why", "say \"hi\"\n"}});
    trace::event("chip0.mgmt", "trap", {{"cause", std::uint64_t{1} << 63}},
                 sc_core::sc_time(5, sc_core::SC_PS));
}

TEST(TraceTest, IsOffUntilOpened) {
    EXPECT_FALSE(trace::on());
    trace::event("uart", "printed");  // no effect without a sink
}

TEST(TraceTest, TextHasOneLinePerEvent) {
    const trn::test::scratch_folder folder;
    const auto path = folder / "events.trace";
    trace::open(path);
    EXPECT_TRUE(trace::on());
    some_events();
    trace::close();
    EXPECT_FALSE(trace::on());
    EXPECT_EQ(contents(path),
              "0 chip0.udma3 doorbell queue=2 tail=7 at=0x4000\n"
              "10000 chip0.udma3 copy for=1000000 why=\"say \\\"hi\\\"\\u000a\"\n"
              "5 chip0.mgmt trap cause=9223372036854775808\n");
}

TEST(TraceTest, UnwritableFileIsAnError) {
    EXPECT_THROW(trace::open("/nonexistent/folder/x.trace"), std::system_error);
    EXPECT_FALSE(trace::on());
}

TEST(TraceTest, FifoWithoutAReaderIsAnErrorAndWithOneIsWritten) {
    const trn::test::scratch_folder folder;
    const auto path = folder / "fifo";
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_THROW(trace::open(path), trn::file_error);
    EXPECT_FALSE(trace::on());
    const trn::unique_fd reader(open(path.c_str(), O_RDONLY | O_NONBLOCK));
    trace::open(path);
    some_events();
    trace::close();
    char text[4096] = "";
    EXPECT_GT(read(reader.get(), text, sizeof text - 1), 100);
    EXPECT_THAT(text, testing::StartsWith("0 chip0.udma3 doorbell"));
}

TEST(TraceTest, LinesAreAppendedAndOperationsContinue) {
    const trn::test::scratch_folder folder;
    const auto path = folder / "events.trace";
    std::ofstream(path) << "an earlier line\n";
    trace::resume_after({.digest = 0, .operations = 41, .returns = 0});
    trace::append_to(path);
    EXPECT_EQ(trace::new_operation(), 42u);
    trace::event("chip0.mgmt", "trap");
    trace::close();
    EXPECT_EQ(contents(path), "an earlier line\n0 chip0.mgmt trap\n");
}

TEST(TraceTest, DigestCoversTheTextEvenWhenNotWritten) {
    const trn::test::scratch_folder folder;
    trace::open(folder / "events.trace");
    const auto empty = trace::digest();
    some_events();
    const auto written = trace::digest();
    trace::close();
    EXPECT_EQ(trace::digest(), 0u);
    trace::open("");
    EXPECT_TRUE(trace::on());
    some_events();
    EXPECT_EQ(trace::digest(), written);
    EXPECT_NE(written, empty);
    trace::event("one", "more");
    EXPECT_NE(trace::digest(), written);
    trace::close();
}

TEST(TraceTest, EventsCarryTheirOperationNumber) {
    const trn::test::scratch_folder folder;
    const auto path = folder / "events.trace";
    EXPECT_EQ(trace::new_operation(), 0u);  // tracing is off
    trace::open(path);
    const auto first = trace::new_operation();
    {
        const trace::on_behalf_of it(first);
        EXPECT_EQ(trace::current_or_new_operation(), first);
        trace::event("host", "asks");
    }
    auto work = [] {
        const trace::on_behalf_of it(trace::current_or_new_operation());
        return trace::begin("engine", "copy");
    }();
    trace::event("engine", "idles");
    trace::end(work, "engine", "completed");
    trace::end(work, "engine", "completed");  // ends only once
    trace::close();
    EXPECT_EQ(contents(path),
              "0 host asks op=1\n0 engine copy op=2\n0 engine idles\n0 engine completed op=2\n");
}

TEST(TraceTest, OperationNumbersContinueAfterARestore) {
    trace::open("");
    trace::new_operation();
    trace::new_operation();
    const auto there = trace::current_position();
    trace::open("");
    trace::resume_after(there);
    EXPECT_EQ(trace::new_operation(), 3u);
    EXPECT_EQ(trace::current_position().returns, 1u);
    trace::close();
}

TEST(TraceTest, DigestOfATraceForAViewerIsThatOfItsText) {
    const auto events = [] {
        some_events();
        trace::event_for_viewer("chip0.mgmt", "main()");
        auto wait = trace::begin("chip0.nc0.vector", "wait", {{"reason", "S[1]>=1"}});
        trace::end(wait, "chip0.nc0.vector", "met");
        return trace::digest();
    };
    trace::open("");
    const auto text = events();
    const trn::test::scratch_folder folder;
    trace::open(folder / "x.perfetto-trace", true);
    EXPECT_EQ(events(), text);
    trace::close();
    EXPECT_THAT(contents(folder / "x.perfetto-trace"), testing::HasSubstr("wait S[1]>=1"));
    EXPECT_THAT(contents(folder / "x.perfetto-trace"), testing::HasSubstr("main()"));
}

TEST(TraceTest, FullDiskEndsTheTraceAndIsReported) {
    const trn::test::scratch_folder folder;
    const auto path = folder / "full.perfetto-trace";
    std::filesystem::create_symlink("/dev/full", path);
    trace::open(path);
    for (unsigned n = 0; n < 100'000 && trace::on(); ++n) some_events();
    EXPECT_FALSE(trace::on());
    EXPECT_THAT(trace::failure(), testing::HasSubstr("No space left on device"));
    EXPECT_THAT(trace::failure(), testing::StartsWith(path));
    trace::event("uart", "printed");
    trace::open("");
    EXPECT_EQ(trace::failure(), "");
    trace::close();
}

TEST(TraceTest, ChildTraceStartsWithTheParentsTrace) {
    const trn::test::scratch_folder folder;
    const auto path = folder / "parent.trace";
    trace::open(path);
    some_events();
    trace::flush();
    const auto shared = contents(path);
    trace::continue_in(path + ".child");
    trace::event("one", "more");
    trace::close();
    EXPECT_EQ(contents(path), shared);
    EXPECT_EQ(contents(path + ".child"), shared + "0 one more\n");
}

}  // namespace
