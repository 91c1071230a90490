// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/app/scenario/selection.h"
#include "platform/framework/config/diagnostics.h"

namespace trn::scenario {

namespace {

constexpr std::size_t log_lines_shown = 20;

std::string digest_text(const outcome& how) {
    return fmt::format("{:016x}", how.trace_digest);
}

/// The last lines, indented.
std::string end_of(const std::string& log) {
    const auto lines = last_lines(log, log_lines_shown);
    std::string shown;
    for (std::size_t at = 0; at < lines.size();) {
        const auto end = std::min(lines.find('\n', at), lines.size());
        shown += fmt::format("    | {}\n", printable_lines(lines.substr(at, end - at)));
        at = end + 1;
    }
    return shown;
}

/// In quotes for a shell; $'...' where something cannot be shown as it is.
std::string in_quotes(std::string_view text) {
    if (printable(text) != text) {
        std::string quoted = "$'";
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            const bool plain = byte >= 0x20 && byte < 0x7f && c != '\'' && c != '\\';
            quoted += plain ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
        }
        return quoted + "'";
    }
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace

std::string milliseconds(std::uint64_t nanoseconds) {
    return fmt::format("{:.6g} ms", static_cast<double>(nanoseconds) / 1e6);
}

std::string_view last_lines(std::string_view log, std::size_t count) {
    std::size_t begin = log.size();
    if (begin > 0 && log[begin - 1] == '\n') --begin;
    for (std::size_t lines = 0; begin > 0; --begin)
        if (log[begin - 1] == '\n' && ++lines == count) break;
    return log.substr(begin);
}

std::string_view word(outcome::verdict what) {
    switch (what) {
    case outcome::verdict::passed:
        return "passed";
    case outcome::verdict::failed:
        return "failed";
    case outcome::verdict::crashed:
        return "crashed";
    case outcome::verdict::timed_out:
        return "timed out";
    case outcome::verdict::memory_exceeded:
        return "out of memory";
    }
    return "";
}

std::string place_text(const scenario& what, const outcome& how) {
    if (how.where.line == 0) return what.file;
    return fmt::format("{}:{}:{}", how.file.empty() ? what.file : how.file, how.where.line,
                       how.where.column);
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t')
            out += static_cast<unsigned char>(c) < 0x80 ? c : '?';
    }
    return out;
}

namespace {

std::string figures_junit(const outcome& how) {
    if (how.figures.empty()) return "";
    std::string out = "    <properties>\n";
    for (const auto& one : how.figures)
        out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escaped(one.name),
                           escaped(one.text()));
    return out + "    </properties>\n";
}

}  // namespace

std::string repeat_command(const scenario& what) {
    return fmt::format("trnvp test {} --name {}", in_quotes(what.file),
                       in_quotes(name_of_all_runs(what)));
}

std::string to_text(const scenario& what, const outcome& how) {
    std::string figures;
    for (const auto& one : how.figures)
        figures += fmt::format("      {}: {}\n", printable(one.name), printable(one.text()));
    if (how.passed())
        return fmt::format("pass  {:<56} {:>8.2f} s, simulated {}{}\n{}", printable(what.name),
                           how.wall_s, milliseconds(how.simulated_ns),
                           how.trace_digest == 0 ? "" : ", trace " + digest_text(how), figures);
    return fmt::format("FAIL  {}\n    {}: {}{}{}\n{}{}    again: {}\n", printable(what.name),
                       printable(place_text(what, how)), printable(how.step),
                       how.step.empty() ? "" : ": ", printable_lines(how.message), figures,
                       end_of(how.log), repeat_command(what));
}

std::string summary(std::span<const outcome> all) {
    const auto good = static_cast<std::size_t>(std::ranges::count(all, true, &outcome::passed));
    return fmt::format("{} passed, {} failed", good, all.size() - good);
}

std::string progress_text(const run_progress& now, double elapsed_s) {
    const auto clock = [](double seconds) {
        const auto whole = std::llround(std::max(seconds, 0.0));
        return fmt::format("{}:{:02}", whole / 60, whole % 60);
    };
    auto text = fmt::format("{} of {}", now.ended, now.of);
    if (now.failed > 0) text += fmt::format(", {} failed", now.failed);
    text += ", " + clock(elapsed_s);
    if (now.ended == 0 || now.ended == now.of) return text;
    const auto each = elapsed_s / static_cast<double>(now.ended);
    return text + fmt::format(", {} left", clock(each * static_cast<double>(now.of - now.ended)));
}

void to_json(nlohmann::json& message, const figure& one) {
    message = {{"name", one.name}, {"value", one.value}, {"unit", one.unit}};
    if (one.min) message["at_least"] = *one.min;
    if (one.max) message["at_most"] = *one.max;
}

void from_json(const nlohmann::json& message, figure& one) {
    one = {message["name"], message["value"], message["unit"]};
    if (message.contains("at_least")) one.min = message["at_least"].get<double>();
    if (message.contains("at_most")) one.max = message["at_most"].get<double>();
}

nlohmann::json to_json(std::span<const scenario> all, std::span<const outcome> how) {
    auto list = nlohmann::json::array();
    for (std::size_t i = 0; i < all.size(); ++i)
        list.push_back({{"name", all[i].name},
                        {"file", all[i].file},
                        {"line", how[i].where.line},
                        {"column", how[i].where.column},
                        {"status", word(how[i].what)},
                        {"step", how[i].step},
                        {"message", how[i].message},
                        {"first_step_s", how[i].first_step_s},
                        {"wall_s", how[i].wall_s},
                        {"simulated_ns", how[i].simulated_ns},
                        {"trace_digest", digest_text(how[i])},
                        {"figures", how[i].figures}});
    return list;
}

std::string to_junit(std::span<const scenario> all, std::span<const outcome> how) {
    const auto failures =
        static_cast<std::size_t>(std::ranges::count(how, false, &outcome::passed));
    std::string out = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuite name=\"trnvp\" tests=\"{}\" failures=\"{}\">\n",
        all.size(), failures);
    for (std::size_t i = 0; i < all.size(); ++i) {
        out += fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                           escaped(all[i].file), escaped(all[i].name), how[i].wall_s);
        const auto figures = figures_junit(how[i]);
        if (how[i].passed()) {
            out += figures.empty() ? "/>\n" : ">\n" + figures + "  </testcase>\n";
            continue;
        }
        out += ">\n" + figures;
        out += fmt::format(
            "    <failure type=\"{}\" message=\"{}: {}: {}\"/>\n"
            "    <system-out>{}</system-out>\n  </testcase>\n",
            word(how[i].what), escaped(place_text(all[i], how[i])), escaped(how[i].step),
            escaped(how[i].message), escaped(how[i].log));
    }
    return out + "</testsuite>\n";
}

}  // namespace trn::scenario
