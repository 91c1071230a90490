// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/log_reports.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "platform/framework/log.h"

namespace {

using namespace trn;
using sc_core::sc_report_handler;
using testing::EndsWith;
using testing::HasSubstr;

constexpr auto type = "/uart/overrun";

/// A model of others: a process that does its work once, at 5 ns.
class foreign_uart : public sc_core::sc_module {
public:
    SC_HAS_PROCESS(foreign_uart);
    foreign_uart(sc_core::sc_module_name name, std::function<void()> work)
        : sc_module(name), work_(std::move(work)) {
        SC_THREAD(run);
    }

private:
    void run() {
        wait(5, sc_core::SC_NS);
        work_();
    }
    const std::function<void()> work_;
};

class Reports : public testing::Test {
protected:
    struct kept {
        log::level severity;
        std::uint64_t time_ps;
        std::string module, text, type, file, line;
    };

    Reports() {
        log::replace_sink([this](const log::record& r) {
            lines.push_back({r.severity, r.time_ps, std::string(r.module), std::string(r.text),
                             std::string(r.type), std::string(r.file), log::to_line(r)});
        });
        // The main function of tests lets warnings throw.
        sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DEFAULT_WARNING_ACTIONS);
    }
    ~Reports() override { log::replace_sink({}); }

    void run(std::function<void()> work) {
        foreign_uart uart("uart", std::move(work));
        sc_core::sc_start(10, sc_core::SC_NS);
    }
    /// What sc_start() throws, as the programs print it.
    std::string end_of(std::function<void()> work) {
        foreign_uart uart("uart", std::move(work));
        try {
            sc_core::sc_start(10, sc_core::SC_NS);
        } catch (const sc_core::sc_report& ended) {
            return log::sentence(ended);
        }
        return "the simulation goes on";
    }

    std::vector<kept> lines;
};

TEST_F(Reports, OfAModelAreInTheLogWithModuleTypeTimeAndSource) {
    const log::logged_reports reports;
    run([] { SC_REPORT_WARNING(type, "a byte is lost"); });
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].severity, log::level::warning);
    EXPECT_EQ(lines[0].time_ps, 5000u);
    EXPECT_EQ(lines[0].module, "uart");
    EXPECT_EQ(lines[0].type, type);
    EXPECT_EQ(lines[0].text, "a byte is lost");
    EXPECT_EQ(lines[0].file, "log_reports_test.cpp");
    EXPECT_THAT(lines[0].line,
                HasSubstr("] warning uart: /uart/overrun: a byte is lost (log_reports_test.cpp:"));
}

TEST_F(Reports, TextsWithLineEndsAreOneLineOfTheLog) {
    const log::logged_reports reports;
    run([] { SC_REPORT_WARNING("/acme/uart", "overrun\n[    0.000009 ms] chip0: no error\r\n"); });
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_THAT(lines[0].line,
                HasSubstr("overrun\\x0a[    0.000009 ms] chip0: no error\\x0d\\x0a"));
    EXPECT_EQ(lines[0].line.find('\n'), std::string::npos);
}

TEST_F(Reports, AnErrorWithLineEndsEndsTheRunWithOneLine) {
    const auto line = end_of([] { SC_REPORT_ERROR("/acme/uart", "broken\ntrnvp: all is well"); });
    EXPECT_THAT(line, HasSubstr("broken\\x0atrnvp: all is well"));
}

TEST_F(Reports, OfEachSeverityHaveALevel) {
    const log::logged_reports reports;
    SC_REPORT_INFO(type, "information");
    SC_REPORT_WARNING(type, "warning");
    EXPECT_THROW(SC_REPORT_ERROR(type, "error"), sc_core::sc_report);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(log::severity_name(lines[0].severity), "info");
    EXPECT_EQ(log::severity_name(lines[1].severity), "warning");
    EXPECT_EQ(log::severity_name(lines[2].severity), "error");
    EXPECT_EQ(lines[0].module, "systemc");  // of no process
}

TEST_F(Reports, ThatTheUserSuppressesAreNotLogged) {
    const log::logged_reports reports;
    sc_report_handler::set_actions(type, sc_core::SC_DO_NOTHING);
    SC_REPORT_WARNING(type, "suppressed");
    SC_REPORT_WARNING("/uart/other", "shown");
    sc_report_handler::set_verbosity_level(sc_core::SC_LOW);
    SC_REPORT_INFO_VERB("/uart/other", "too detailed", sc_core::SC_HIGH);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].text, "shown");
}

TEST_F(Reports, OfOneSourceLineAreLimited) {
    const log::logged_reports reports;
    for (int i = 0; i < 1000; ++i) SC_REPORT_WARNING(type, "flood");
    EXPECT_EQ(lines.size(), 20u);
    EXPECT_THAT(lines.back().text, EndsWith("(further messages like this are not shown)"));
    SC_REPORT_WARNING(type, "of another line");
    EXPECT_EQ(lines.size(), 21u);
}

TEST_F(Reports, OfVeryManyTypesAreLimitedTogether) {
    const log::logged_reports reports;
    for (int i = 0; i < 6000; ++i)
        SC_REPORT_WARNING(("/uart/" + std::to_string(i)).c_str(), "a type of its own");
    EXPECT_LE(lines.size(), 4096u + 20u);
}

TEST_F(Reports, OfAnErrorEndTheSimulationWithASentence) {
    const log::logged_reports reports;
    const auto sentence = end_of([] { SC_REPORT_ERROR(type, "no more room"); });
    EXPECT_THAT(sentence,
                HasSubstr("error at 5 ns: uart: /uart/overrun: no more room (log_reports_test"));
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].severity, log::level::error);
}

TEST_F(Reports, OfAnUncaughtExceptionOfAModelEndTheSimulationWithASentence) {
    const log::logged_reports reports;
    const auto sentence = end_of([] { throw std::out_of_range("index 9 of 4"); });
    EXPECT_THAT(sentence, HasSubstr("error at 5 ns: uart: "));
    EXPECT_THAT(sentence, HasSubstr("index 9 of 4"));
}

TEST_F(Reports, OfAFatalErrorEndTheSimulationWithoutAbort) {
    const log::logged_reports reports;
    const auto sentence = end_of([] { SC_REPORT_FATAL(type, "cannot go on"); });
    EXPECT_THAT(sentence, HasSubstr("error at 5 ns: uart: /uart/overrun: cannot go on"));
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].severity, log::level::error);
}

TEST_F(Reports, OfAFatalErrorThatTheModelCatchesStopTheSimulation) {
    const log::logged_reports reports;
    run([] {
        try {
            SC_REPORT_FATAL(type, "cannot go on");
        } catch (...) {
        }
    });
    EXPECT_EQ(sc_core::sc_get_status(), sc_core::SC_STOPPED);
}

TEST_F(Reports, OfAFailedAssertionAbort) {
    const log::logged_reports reports;
    log::replace_sink(
        [](const log::record& r) { fprintf(stderr, "%s\n", log::to_line(r).c_str()); });
    EXPECT_DEATH(sc_assert(lines.size() == 99), "assertion failed");
}

TEST_F(Reports, StopTheSimulationAfterTheUsersLimit) {
    const log::logged_reports reports;
    sc_report_handler::stop_after(type, 2);
    run([] {
        SC_REPORT_WARNING(type, "first");
        EXPECT_NE(sc_core::sc_get_status(), sc_core::SC_STOPPED);
        SC_REPORT_WARNING(type, "second");
    });
    EXPECT_EQ(sc_core::sc_get_status(), sc_core::SC_STOPPED);
}

TEST_F(Reports, AreOfTheKernelAgainAfterwards) {
    { const log::logged_reports reports; }
    sc_report_handler::set_actions(type, sc_core::SC_DO_NOTHING);
    SC_REPORT_WARNING(type, "not ours");
    EXPECT_TRUE(lines.empty());
}

/// A program of others with a handler of its own.
struct foreign_program {
    static std::vector<std::string>& seen() {
        static std::vector<std::string> all;
        return all;
    }
    foreign_program() {
        sc_report_handler::set_handler([](const sc_core::sc_report& r, const sc_core::sc_actions&) {
            seen().push_back(
                std::string(r.get_severity() == sc_core::SC_INFO ? "info " : "warning ") +
                r.get_msg_type() + " " + r.get_msg());
        });
    }
    ~foreign_program() { sc_report_handler::set_handler(nullptr); }
};

TEST_F(Reports, OfTheLogReachTheHandlerOfAnotherProgram) {
    const foreign_program program;
    {
        const log::reported_log reported;
        log::info("chip0", "booted");
        log::guest_warn("chip0.udma0", "ring base {:#x}", 0x40);
        log::bounded_guest_warn("chip0.udma0", "unaligned", "TRN-DMA-003");
        log::error("attach", "a peer is gone");
    }
    log::info("chip0", "later");
    EXPECT_THAT(program.seen(),
                testing::ElementsAre("info /trn/info chip0: booted",
                                     "warning /trn/guest chip0.udma0: ring base 0x40",
                                     "warning /trn/misuse/TRN-DMA-003 chip0.udma0: unaligned",
                                     "warning /trn/error attach: a peer is gone"));
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].text, "later");
}

TEST_F(Reports, OfTheLogObeyTheActionsOfTheirType) {
    const log::reported_log reported;
    sc_report_handler::set_actions("/trn/misuse/TRN-DMA-003", sc_core::SC_THROW);
    EXPECT_THROW(log::bounded_guest_warn("chip0.udma0", "unaligned", "TRN-DMA-003"),
                 sc_core::sc_report);
    sc_report_handler::set_actions("/trn/guest", sc_core::SC_DO_NOTHING);
    log::guest_warn("chip0.udma0", "suppressed");
    EXPECT_EQ(sc_report_handler::get_count("/trn/guest"), 1);
}

TEST_F(Reports, AreConvertedOnceIfAProgramUsesBothDirections) {
    const log::logged_reports reports;
    const log::reported_log reported;  // takes the place of the sink
    log::guest_warn("chip0.udma0", "once");
    EXPECT_EQ(sc_report_handler::get_count("/trn/guest"), 1);
    SC_REPORT_WARNING(type, "once");
    EXPECT_EQ(sc_report_handler::get_count("/trn/guest"), 1);
    EXPECT_EQ(sc_report_handler::get_count(type), 1);
}

}  // namespace
