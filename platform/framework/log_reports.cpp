// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/log_reports.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <systemc>
#include <tuple>
#include <utility>

#include "platform/framework/log.h"
#include "platform/framework/log_text.h"

namespace trn::log {

using sc_core::sc_actions;
using sc_core::sc_report;
using sc_core::sc_report_handler;
using sc_core::sc_severity;

namespace {

constexpr unsigned max_per_site = 20;
/// Limit of the sites that are counted one by one; later ones are counted together.
constexpr std::size_t max_sites = 4096;

/// A line of the log becomes a report, or a report a line: neither is converted back.
bool converting = false;

class conversion {
public:
    conversion() { converting = true; }
    ~conversion() { converting = false; }
    conversion(const conversion&) = delete;
    conversion& operator=(const conversion&) = delete;
};

std::string_view view(const char* text) {
    return text == nullptr ? std::string_view() : text;
}

/// The module whose process reported: a target has no process of its own, so its reports name the
/// initiator's module. Before the simulation there is none.
std::string module_of(const sc_report& report) {
    const std::string process(view(report.get_process_name()));
    if (process.empty()) return "systemc";
    for (auto dot = process.rfind('.'); dot != process.npos && dot > 0;
         dot = process.rfind('.', dot - 1)) {
        auto name = process.substr(0, dot);  // the process itself may have ended
        if (dynamic_cast<sc_core::sc_module*>(sc_core::sc_find_object(name.c_str())) != nullptr)
            return name;
    }
    return process;
}

std::string_view file_of(const sc_report& report) {
    const auto path = view(report.get_file_name());
    return path.substr(path.rfind('/') + 1);
}

level level_of(sc_severity severity) {
    switch (severity) {
    case sc_core::SC_INFO:
        return level::info;
    case sc_core::SC_WARNING:
        return level::warning;
    default:
        return level::error;
    }
}

/// Counts a line of a site. Returns false if it has logged enough; `last`: says so.
bool admit(const sc_report& report, bool& last) {
    using site = std::tuple<std::string, std::string, int>;
    static std::map<site, unsigned> logged;
    site key{view(report.get_msg_type()), view(report.get_file_name()), report.get_line_number()};
    if (logged.size() >= max_sites && !logged.contains(key)) key = {};
    unsigned& count = logged[key];
    if (count >= max_per_site) return false;
    last = ++count == max_per_site;
    return true;
}

void write(const sc_report& report) {
    bool last = false;
    if (!admit(report, last)) return;
    std::string text(view(report.get_msg()));
    if (last) text += " (further messages like this are not shown)";
    const auto module = module_of(report);
    const conversion now;
    put({.severity = level_of(report.get_severity()),
         .time_ps = now_ps(),
         .module = module,
         .text = text,
         .type = view(report.get_msg_type()),
         .file = file_of(report),
         .line = report.get_line_number()});
}

/// Also of the kernel's implementation of sc_assert(), which has no name in the standard.
bool is_failed_assertion(const sc_report& report) {
    return view(report.get_msg_type()) == "assertion failed";
}

void handle(const sc_report& report, const sc_actions& actions) {
    if (converting) return sc_report_handler::default_handler(report, actions);
    if ((actions & (sc_core::SC_DISPLAY | sc_core::SC_THROW)) != 0) write(report);
    sc_actions rest = actions & ~sc_actions{sc_core::SC_DISPLAY};
    if ((rest & sc_core::SC_ABORT) != 0 && !is_failed_assertion(report))
        rest = (rest & ~sc_actions{sc_core::SC_ABORT}) | sc_core::SC_THROW | sc_core::SC_STOP;
    sc_report_handler::default_handler(report, rest);
}

std::string type_of(const record& logged) {
    if (!logged.rule.empty()) return fmt::format("/trn/misuse/{}", logged.rule);
    if (logged.severity == level::info) return "/trn/info";
    return logged.severity == level::error ? "/trn/error" : "/trn/guest";
}

void report(const record& logged) {
    const conversion now;
    sc_report_handler::report(
        logged.severity == level::info ? sc_core::SC_INFO : sc_core::SC_WARNING,
        type_of(logged).c_str(), fmt::format("{}: {}", logged.module, logged.text).c_str(),
        std::string(logged.file).c_str(), logged.line);
}

}  // namespace

void logged_reports::install() {
    sc_report_handler::set_handler(&handle);
}

logged_reports::~logged_reports() {
    sc_report_handler::set_handler(nullptr);
}

reported_log::reported_log()
    : earlier_(replace_sink([](const record& logged) {
          if (!converting) report(logged);
      })) {}

reported_log::~reported_log() {
    replace_sink(std::move(earlier_));
}

std::string text_of(const sc_report& report) {
    auto text = fmt::format("{}: {}", view(report.get_msg_type()), view(report.get_msg()));
    if (const auto file = file_of(report); !file.empty())
        text += fmt::format(" ({}:{})", file, report.get_line_number());
    return one_line(text);
}

std::string sentence(const std::exception& error) {
    const auto* const report = dynamic_cast<const sc_report*>(&error);
    if (report == nullptr) return error.what();
    return fmt::format("error at {}: {}: {}", report->get_time().to_string(),
                       one_line(module_of(*report)), text_of(*report));
}

}  // namespace trn::log
