// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/log.h"

#include <array>
#include <cstdio>
#include <map>
#include <systemc>
#include <utility>

#include "platform/framework/log_text.h"
#include "platform/framework/output.h"

namespace trn::log {

namespace {

constexpr unsigned max_per_site = 20;

/// Compares text, not pointers: an inline function may occur in several translation units.
using site_key = std::pair<std::string_view, int>;

struct state {
    sink out = [](const record& logged) { print_to(stderr, "{}\n", to_line(logged)); };
    std::map<site_key, unsigned> spoken;
};

state& current() {
    static state the_log;
    return the_log;
}

std::string_view word(level severity) {
    constexpr std::array<std::string_view, 4> words{"", "warning ", "warning ", "error "};
    return words.at(static_cast<std::size_t>(severity));
}

/// Of a report: the text between its message type and its source.
std::string body(const record& logged) {
    if (logged.type.empty()) return std::string(logged.text);
    auto text = fmt::format("{}: {}", logged.type, logged.text);
    if (!logged.file.empty()) text += fmt::format(" ({}:{})", logged.file, logged.line);
    return text;
}

}  // namespace

sink replace_sink(sink next) {
    return std::exchange(current().out, std::move(next));
}

std::string to_line(const record& logged) {
    return fmt::format("[{:>5}.{:06} ms] {}{}: {}", logged.time_ps / 1'000'000'000,
                       logged.time_ps % 1'000'000'000 / 1000, word(logged.severity),
                       one_line(logged.module), one_line(body(logged)));
}

std::string_view severity_name(level severity) {
    constexpr std::array<std::string_view, 4> names{"info", "warning", "warning", "error"};
    return names.at(static_cast<std::size_t>(severity));
}

std::uint64_t now_ps() {
    // Initializes the kernel; the default resolution is 1 ps.
    static const double tick_ps =
        sc_core::sc_get_time_resolution() / sc_core::sc_time(1, sc_core::SC_PS);
    return static_cast<std::uint64_t>(static_cast<double>(sc_core::sc_time_stamp().value()) *
                                      tick_ps);
}

void put(const record& made) {
    if (current().out) current().out(made);
}

void bounded_guest_warn(std::string_view module, std::string_view text, std::string_view rule) {
    put({level::guest_warning, now_ps(), module, text, rule});
}

bool detail::admit(level severity, const source_line& site, bool& last) {
    state& log = current();
    if (!log.out) return false;
    // Messages of the platform itself, which are bounded already.
    if (severity == level::info) return true;
    unsigned& count = log.spoken[{site.file, site.line}];
    if (count >= max_per_site) return false;
    last = ++count == max_per_site;
    return true;
}

void detail::emit(level severity, std::string_view module, std::string_view text,
                  const source_line& site) {
    put({.severity = severity,
         .time_ps = now_ps(),
         .module = module,
         .text = text,
         .file = site.file,
         .line = site.line});
}

}  // namespace trn::log
