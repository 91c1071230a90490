// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// Log lines for people: simulated time, level, module, text. Guests, tests and tools must not
/// depend on them. Each source line logs at most 20 records, then a final notice, since a guest can
/// reach a line any number of times.
namespace trn::log {

enum class level { info, guest_warning, warning, error };

struct record {
    level severity;
    std::uint64_t time_ps;  ///< simulated time in ps
    std::string_view module;
    std::string_view text;
    std::string_view rule = {};  ///< of incorrect use: id of the broken rule
    std::string_view type = {};  ///< of a report of SystemC (log_reports.h): its message type
    std::string_view file = {};  ///< source of the line; "": unknown
    int line = 0;
};

using sink = std::function<void(const record&)>;

/// Sets the destination of records (default: standard error) and returns the previous one. An empty
/// sink drops them (--quiet).
sink replace_sink(sink next);

/// The form of the default sink: "[    1.234567 ms] warning chip0.udma3: text"; of a report with
/// its message type and source: "... warning top.uart: /uart/overrun: text (uart.cpp:12)".
std::string to_line(const record& logged);
/// "info", "warning" or "error", for programs.
std::string_view severity_name(level severity);

/// Current simulated time in ps.
std::uint64_t now_ps();

namespace detail {

/// A line of our sources (clang 14 cannot compile libstdc++'s std::source_location).
struct source_line {
    std::string_view file;
    int line;
};

/// A checked format string with its source line.
template <class... Args>
struct format {
    fmt::format_string<Args...> text;
    source_line site;

    template <class Text>
    consteval format(const Text& t, const char* file = __builtin_FILE(),
                     int line = __builtin_LINE())
        : text(t), site{file, line} {}
};

bool admit(level severity, const source_line& site, bool& last);
void emit(level severity, std::string_view module, std::string_view text, const source_line& site);

template <class... Args>
void write(level severity, std::string_view module,
           const format<std::type_identity_t<Args>...>& text, Args&&... args) {
    bool last = false;
    if (!admit(severity, text.site, last)) return;
    auto line = fmt::format(text.text, std::forward<Args>(args)...);
    if (last) line += " (further messages like this are not shown)";
    emit(severity, module, line, text.site);
}

}  // namespace detail

/// Logs information for the user. `module` is a hierarchical name.
template <class... Args>
void info(std::string_view module, detail::format<std::type_identity_t<Args>...> text,
          Args&&... args) {
    detail::write<Args...>(level::info, module, text, std::forward<Args>(args)...);
}

/// Logs incorrect use by the guest; the model's response is independent of it.
template <class... Args>
void guest_warn(std::string_view module, detail::format<std::type_identity_t<Args>...> text,
                Args&&... args) {
    detail::write<Args...>(level::guest_warning, module, text, std::forward<Args>(args)...);
}

/// Logs a record whose lines the caller limits.
void put(const record& made);

/// Like guest_warn(), for the rule with this id, whose lines the caller limits.
void bounded_guest_warn(std::string_view module, std::string_view text, std::string_view rule);

/// Logs a failure of the platform or its environment (a peer, a file); the run continues.
template <class... Args>
void error(std::string_view module, detail::format<std::type_identity_t<Args>...> text,
           Args&&... args) {
    detail::write<Args...>(level::error, module, text, std::forward<Args>(args)...);
}

}  // namespace trn::log
