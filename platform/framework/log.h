// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// One line per event for people: simulated time, level, module, text. Never the way a guest, a
/// test or a tool learns a result. Each source line that logs is bounded: after its first 20
/// records it says so once and goes silent (a guest decides how often a line is reached).
namespace trn::log {

enum class level { info, guest_warning, error };

struct record {
    level severity;
    std::uint64_t time_ps;  ///< simulated
    std::string_view module;
    std::string_view text;
};

using sink = std::function<void(const record&)>;

/// Installs where records go (default: standard error) and returns the previous one; an empty sink
/// is silence, which is what --quiet uses.
sink replace_sink(sink next);

/// "[    1.234567 us] warning chip0.udma3: text", as the default sink prints it.
std::string to_line(const record& one);

/// Simulated time as records have it.
std::uint64_t now_ps();

/// Forgets how often each source line has spoken.
void reset_limits();

/// How many guest warnings there were, the suppressed ones included.
std::uint64_t guest_warnings();

namespace detail {

/// A line of our sources (clang 14 cannot compile libstdc++'s std::source_location).
struct source_line {
    std::string_view file;
    int line;
};

/// A checked format string that knows where it stands.
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
void emit(level severity, std::string_view module, std::string_view text);

template <class... Args>
void write(level severity, std::string_view module,
           const format<std::type_identity_t<Args>...>& text, Args&&... args) {
    bool last = false;
    if (!admit(severity, text.site, last)) return;
    auto line = fmt::format(text.text, std::forward<Args>(args)...);
    if (last) line += " (further messages like this are not shown)";
    emit(severity, module, line);
}

}  // namespace detail

/// Something a user wants to know. `module` is a hierarchical name.
template <class... Args>
void info(std::string_view module, detail::format<std::type_identity_t<Args>...> text,
          Args&&... args) {
    detail::write<Args...>(level::info, module, text, std::forward<Args>(args)...);
}

/// The guest did what software should not do; the hardware's own answer is given elsewhere.
template <class... Args>
void guest_warn(std::string_view module, detail::format<std::type_identity_t<Args>...> text,
                Args&&... args) {
    detail::write<Args...>(level::guest_warning, module, text, std::forward<Args>(args)...);
}

/// The same, for a caller that bounds its lines itself.
void bounded_guest_warn(std::string_view module, std::string_view text);

/// Something of the platform or its surroundings failed (a peer, a file); the run goes on.
template <class... Args>
void error(std::string_view module, detail::format<std::type_identity_t<Args>...> text,
           Args&&... args) {
    detail::write<Args...>(level::error, module, text, std::forward<Args>(args)...);
}

}  // namespace trn::log
