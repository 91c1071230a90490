// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/framework/config/diagnostics.h"

namespace trn::scenario {

namespace {

constexpr std::size_t log_lines_shown = 20;

/// The last lines of a log, indented.
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

}  // namespace

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

std::string digest_text(const outcome& how) {
    return fmt::format("{:016x}", how.trace_digest);
}

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

std::string_view word(outcome::verdict result) {
    switch (result) {
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

std::string place_text(const description& run, const outcome& how) {
    if (how.where.line == 0) return run.file;
    return fmt::format("{}:{}:{}", how.file.empty() ? run.file : how.file, how.where.line,
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

std::string repeat_command(const description& run) {
    return fmt::format("trnvp test {} --name {}{}", in_quotes(run.file),
                       in_quotes(name_of_all_runs(run)),
                       run.campaign ? fmt::format(" --seeds {}", run.seed) : "");
}

std::string to_text(const description& run, const outcome& how) {
    std::string figures;
    for (const auto& one : how.figures)
        figures += fmt::format("      {}: {}\n", printable(one.name), printable(one.text()));
    if (how.passed())
        return fmt::format("pass  {:<56} {:>8.2f} s, simulated {}{}\n{}", printable(run.name),
                           how.wall_s, milliseconds(how.simulated_ns),
                           how.trace_digest == 0 ? "" : ", trace " + digest_text(how), figures);
    return fmt::format("FAIL  {}\n    {}: {}{}{}\n{}{}    again: {}\n", printable(run.name),
                       printable(place_text(run, how)), printable(how.step),
                       how.step.empty() ? "" : ": ", printable_lines(how.message), figures,
                       end_of(how.log), repeat_command(run));
}

std::string summary(std::span<const outcome> all) {
    const auto good = static_cast<std::size_t>(std::ranges::count(all, true, &outcome::passed));
    return summary(good, all.size() - good);
}

std::string summary(std::size_t passed, std::size_t failed) {
    return fmt::format("{} passed, {} failed", passed, failed);
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

}  // namespace trn::scenario
