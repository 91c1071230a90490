// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "platform/framework/log.h"

namespace sc_core {
class sc_report;
}

/// The log and SystemC's report handler (IEEE 1666-2011, 8). A program uses one of the two classes.
namespace trn::log {

/// Reports of foreign models and of the kernel become lines of the log, while an object exists: for
/// programs of the project. Actions that sc_report_handler computes from its settings (set_actions,
/// suppress, stop_after, ...) are obeyed; what it would display or throw is logged, when it is
/// reported. Each source line logs at most 20 of each message type. SC_FATAL does not abort: it
/// ends the simulation as an SC_ERROR does, and also if a model catches it. Only a failed
/// sc_assert() aborts.
class logged_reports {
public:
    logged_reports() { install(); }
    ~logged_reports();
    logged_reports(const logged_reports&) = delete;
    logged_reports& operator=(const logged_reports&) = delete;

    /// Replaces a handler that a model has set.
    void install();
};

/// Lines of the log become reports, while an object exists: for programs of others, whose report
/// handler decides. Message types are /trn/info, /trn/guest, /trn/error, and /trn/misuse/RULE for a
/// misuse rule. All but the first are warnings, because the simulation continues.
class reported_log {
public:
    reported_log();
    ~reported_log();
    reported_log(const reported_log&) = delete;
    reported_log& operator=(const reported_log&) = delete;

private:
    sink earlier_;
};

/// "/uart/overrun: text (uart.cpp:12)".
std::string text_of(const sc_core::sc_report& report);
/// The end of a run in a sentence, if `error` is a report: "error at 12 us: top.uart:
/// /uart/overrun: text (uart.cpp:12)". Otherwise its what().
std::string sentence(const std::exception& error);

}  // namespace trn::log
