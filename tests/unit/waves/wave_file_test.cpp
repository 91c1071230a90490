// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/waves/wave_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <systemc>

#include "platform/framework/kernel/run_loop.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/waves/make_wave_writer.h"
#include "platform/framework/waves/transactions.h"
#include "platform/framework/waves/vcd_writer.h"
#include "tests/support/scratch_folder.h"

namespace trn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST(SignalList, GivesStatesTheBitsThatTheirNamesNeed) {
    signal_list list;
    const auto zero = [] { return std::uint64_t{0}; };
    list.state("one", {"on"}, zero);
    list.state("two", {"on", "off"}, zero);
    list.state("three", {"a", "b", "c"}, zero);
    list.state("five", {"a", "b", "c", "d", "e"}, zero);
    std::vector<unsigned> widths;
    for (const auto& signal : list.all) widths.push_back(signal.width);
    EXPECT_THAT(widths, ElementsAre(1, 1, 2, 3));
}

TEST(ValueChangeDump, WritesNumbersWordsRealsStatesAndTexts) {
    using enum wave_variable::kind;
    const test::scratch_folder folder;
    const auto path = folder / "a.vcd";
    const std::vector<wave_variable> all{
        {"a.bit", bits, 1, {}},   {"a.byte", bits, 8, {}}, {"a.s.state", state, 2, {"on", "off"}},
        {"b.real", real, 64, {}}, {"b.text", text, 0, {}}, {"b.wide", bits, 70, {}}};
    {
        vcd_writer file(path);
        file.declare(all);
        file.time(5);
        file.begin(wave_writer::section::initial);
        file.number(0, 1);
        file.number(1, 0x12);
        file.number(2, 1);
        file.real(3, 1.5);
        file.text(4, "a b\\c");
        file.words(5, std::vector<std::uint32_t>{1, 0, 0x20});
        file.end_section();
        file.time(7);
        file.number(2, 3);
        file.unknown(0);
        file.unknown(1);
        file.unknown(2);
        file.finish();
    }
    EXPECT_EQ(contents(path),
              "$version trnvp $end\n$timescale 1 ps $end\n"
              "$scope module a $end\n$var wire 1 ! bit $end\n$var wire 8 \" byte $end\n"
              "$scope module s $end\n$var string 1 # state $end\n$upscope $end\n$upscope $end\n"
              "$scope module b $end\n$var real 64 $ real $end\n$var string 1 % text $end\n"
              "$var wire 70 & wide $end\n$upscope $end\n$enddefinitions $end\n"
              "#5\n$dumpvars\n1!\nb10010 \"\nsoff #\nr1.5 $\nsa\\040b\\134c %\n"
              "b1" +
                  std::string(4, '0') + std::string(63, '0') +
                  "01 &\n$end\n"
                  "#7\ns3 #\nx!\nbx \"\nsx #\n");
}

/// Changes of one lane of a module, or of its event, as transactions report them.
class Transactions : public ::testing::Test {
protected:
    static sc_core::sc_time ns(double n) { return {n, sc_core::SC_NS}; }
    std::vector<std::pair<std::uint64_t, std::string>> changes(std::size_t variable) {
        std::vector<std::pair<std::uint64_t, std::string>> found;
        for (const auto& [time, of, text] : all)
            if (of == variable) found.emplace_back(time / 1000, text);
        return found;
    }
    void take(std::uint64_t until_ns) {
        shown.take_until(until_ns * 1000, [&](const auto& change) {
            all.emplace_back(change.time, change.variable, change.text);
        });
    }
    std::vector<std::tuple<std::uint64_t, std::size_t, std::string>> all;
    transactions shown{{"dma"}, 2};
    static constexpr std::size_t event = 0, lane0 = 1, lane1 = 2;
};

TEST_F(Transactions, KeepTheTraceOnWhileTheyExist) {
    EXPECT_TRUE(trace::on());
    {
        const test::scratch_folder folder;
        trace::open(folder / "t");
        trace::close();
    }
    EXPECT_TRUE(trace::on());
}

TEST_F(Transactions, ShowOverlappingActivitiesInLanes) {
    trace::span("dma", "copy", ns(10), ns(20), {{"bytes", 64}});
    trace::span("dma", "copy", ns(20), ns(20), {{"bytes", 128}});
    trace::span("dma", "copy", ns(30), ns(5));  // where the first has ended
    trace::span("other", "copy", ns(10), ns(20));
    take(100);
    EXPECT_THAT(changes(lane0),
                ElementsAre(Pair(10, "copy(bytes=64)"), Pair(30, "copy"), Pair(35, "")));
    EXPECT_THAT(changes(lane1), ElementsAre(Pair(20, "copy(bytes=128)"), Pair(40, "")));
    EXPECT_EQ(shown.lost(), 0u);
}

TEST_F(Transactions, CountWhatHasNoLane) {
    for (int n = 0; n < 5; ++n) trace::span("dma", "copy", ns(10), ns(20));
    EXPECT_EQ(shown.lost(), 3u);
}

TEST_F(Transactions, EndWhereTheirEndIsReported) {
    auto first = trace::begin("dma", "copy", {{"queue", 1}});
    auto second = trace::begin("dma", "copy", {{"queue", 2}});
    trace::end(first, "dma", "completed", {{"bytes", 3}}, ns(50));
    trace::end(second, "dma", "dropped", {}, ns(60));
    take(1000);
    EXPECT_THAT(changes(lane0), ElementsAre(Pair(0, "copy(queue=1)"), Pair(50, "")));
    EXPECT_THAT(changes(lane1), ElementsAre(Pair(0, "copy(queue=2)"), Pair(60, "")));
    EXPECT_THAT(changes(event), ElementsAre(Pair(50, "completed(bytes=3)"), Pair(60, "dropped")));
}

TEST_F(Transactions, WaitUntilTheirTime) {
    trace::span("dma", "copy", ns(10), ns(20));
    take(15);
    EXPECT_THAT(changes(lane0), ElementsAre(Pair(10, "copy")));
    take(30);
    EXPECT_THAT(changes(lane0), ElementsAre(Pair(10, "copy"), Pair(30, "")));
}

TEST_F(Transactions, JoinEventsOfOneTimeAndAreBounded) {
    trace::event("dma", "doorbell", {{"queue", 1}});
    trace::event("dma", "doorbell", {{"queue", 2}});
    trace::event("dma", "printed", {{"text", "two words"}}, ns(1));
    trace::event("dma", "printed", {{"text", std::string(1000, 'x')}}, ns(2));
    take(10);
    const auto found = changes(event);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].second, "doorbell(queue=1);doorbell(queue=2)");
    EXPECT_EQ(found[1].second, "printed(text=two_words)");
    EXPECT_EQ(found[2].second.size(), 256u);
    for (int n = 0; n < 100'000; ++n) trace::event("dma", "later", {}, ns(1000));
    EXPECT_GT(shown.lost(), 30'000u);
}

/// The trace of a run is the same with and without an observer.
TEST(TraceObserver, DoesNotChangeTheTrace) {
    const auto run = [] {
        auto first = trace::begin("dma", "copy");
        auto second = trace::begin("dma", "copy");
        trace::end(first, "dma", "completed");
        auto third = trace::begin("dma", "copy");
        trace::end(third, "dma", "completed");
        trace::end(second, "dma", "completed");
        trace::close();
    };
    const test::scratch_folder folder;
    trace::open(folder / "a.perfetto-trace");
    run();
    trace::open(folder / "b.perfetto-trace");
    {
        const transactions shown({"dma"}, 2);
        run();
    }
    EXPECT_EQ(contents(folder / "a.perfetto-trace"), contents(folder / "b.perfetto-trace"));
    EXPECT_FALSE(trace::on());
}

/// A counter that counts each 10 ns.
class Window : public ::testing::Test {
protected:
    struct counter : sc_core::sc_module {
        SC_HAS_PROCESS(counter);
        explicit counter(sc_core::sc_module_name name) : sc_module(name) { SC_THREAD(run); }
        void run() {
            for (;; ++value) wait(10, sc_core::SC_NS);
        }
        std::uint64_t value = 0;
    };
    /// The lines of the dump after its declarations, until 100 ns.
    std::string record(std::function<bool()> begins, std::function<bool()> ends) {
        const test::scratch_folder folder;
        counter dut("dut");
        run_loop loop({});
        loop.elaborate();
        wave_content content;
        content.signals.push_back(
            watched_signal::of_number("dut.value", 8, [&dut] { return dut.value; }));
        content.begins = begins ? [&dut, begins, this] { now = dut.value; return begins(); } : begins;
        content.ends = ends ? [&dut, ends, this] { now = dut.value; return ends(); } : ends;
        wave_file file(folder / "w.vcd", std::move(content));
        loop.on_time_step([&file] { file.time_step_ended(); });
        loop.run({.waiter = "test",
                  .condition_text = "end",
                  .until = sc_core::sc_time(95, sc_core::SC_NS)});
        file.finish();
        const auto all = contents(folder / "w.vcd");
        return all.substr(all.find("$enddefinitions $end\n") + 21);
    }
    std::uint64_t now = 0;
};

TEST_F(Window, IsTheWholeRunWithoutConditions) {
    const auto found = record({}, {});
    EXPECT_THAT(found, HasSubstr("#0\n$dumpvars\nb0 !\n$end\n#10000\nb1 !\n#20000\nb10 !\n"));
    EXPECT_THAT(found, HasSubstr("#90000\nb1001 !\n#95000\n"));
}

TEST_F(Window, BeginsAndEndsAtConditionsAndBeginsAgain) {
    const auto found = record([this] { return now == 2 || now == 6; }, [this] { return now == 3; });
    EXPECT_EQ(found,
              "#0\n$dumpvars\nbx !\n$end\n"
              "#20000\n$dumpon\nb10 !\n$end\n#30000\nb11 !\n#40000\n$dumpoff\nbx !\n$end\n"
              "#60000\n$dumpon\nb110 !\n$end\n#70000\nb111 !\n#80000\nb1000 !\n#90000\nb1001 !\n"
              "#95000\n");
}

TEST_F(Window, OfOneStepLastsUntilTheNext) {
    const auto found = record([this] { return now >= 4; }, [this] { return now >= 4; });
    EXPECT_EQ(found,
              "#0\n$dumpvars\nbx !\n$end\n#40000\n$dumpon\nb100 !\n$end\n"
              "#50000\n$dumpoff\nbx !\n$end\n#95000\n");
}

TEST(WaveFormat, IsRefusedOrWritten) {
    const test::scratch_folder folder;
    EXPECT_EQ(wave_format_refusal("a.vcd"), "");
    const auto why = wave_format_refusal("a.fst");
    if (why.empty())
        EXPECT_NE(make_wave_writer(folder / "a.fst"), nullptr);
    else
        EXPECT_THAT(why, HasSubstr("install the packages verilator"));
}

}  // namespace
}  // namespace trn
