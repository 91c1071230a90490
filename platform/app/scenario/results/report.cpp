// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/results/report.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/terminal_text.h"

namespace trn::scenario {

namespace {

constexpr std::size_t log_lines_shown = 20;

/// Lines of a log with a margin.
std::string with_margin(std::string_view margin, std::string_view lines) {
    std::string shown;
    for (std::size_t begin = 0; begin < lines.size();) {
        const auto end = std::min(lines.find('\n', begin), lines.size());
        shown += fmt::format("{}{}\n", margin, printable_lines(lines.substr(begin, end - begin)));
        begin = end + 1;
    }
    return shown;
}

/// Place and message of a failure, figures and the end of the log. The log of a scenario that was
/// not loaded has all of its mistakes with their places.
std::string failure(const description& run, const outcome& run_outcome,
                    const std::string& figures) {
    if (run_outcome.result == outcome::verdict::not_loaded)
        return with_margin("    ", run_outcome.log);
    const auto [log, folded] = without_boot(run_outcome.log);
    const auto boot =
        folded == 0 ? "" : fmt::format("    | ({} lines of the boot are in the reports)\n", folded);
    return fmt::format("    {}: {}{}{}\n{}{}{}{}", printable(place_text(run, run_outcome)),
                       printable(run_outcome.step), run_outcome.step.empty() ? "" : ": ",
                       printable_lines(run_outcome.message), figures,
                       state_text(run_outcome, "    "), boot,
                       with_margin("    | ", last_lines(log, log_lines_shown)));
}

/// A word of characters that a shell takes as themselves.
constexpr const char* plain_word = "[0-9A-Za-z:,./_=-]+";

/// RE2's string view is not std::string_view in all of its releases.
bool full_match(std::string_view text, const RE2& expression) {
    return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), expression);
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

std::string shell_word(std::string_view text) {
    static const RE2 plain(plain_word);
    return full_match(text, plain) ? std::string(text) : in_quotes(text);
}

bool is_shell_words(std::string_view text) {
    static const RE2 words(fmt::format(
        R"(( +({}|'[^']*'(\\''[^']*')*|\$'([ -&(-[\]-~]|\\x[0-9a-f]{{2}})*'))*)", plain_word));
    return printable(text) == text && full_match(text, words);
}

std::string digest_text(const outcome& run_outcome) {
    return fmt::format("{:016x}", run_outcome.trace_digest);
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

folded_log without_boot(std::string_view log) {
    const auto place = log.find(booted_line);
    if (place == log.npos) return {log};
    const auto boot = log.substr(0, place + booted_line.size());
    return {log.substr(boot.size()),
            static_cast<std::size_t>(std::count(boot.begin(), boot.end(), '\n'))};
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
    case outcome::verdict::not_loaded:
        return "not loaded";
    }
    return "";
}

std::string place_text(const description& run, const outcome& run_outcome) {
    if (run_outcome.place.line == 0) return run.file;
    return fmt::format("{}:{}:{}", run_outcome.file.empty() ? run.file : run_outcome.file,
                       run_outcome.place.line, run_outcome.place.column);
}

std::string failure_text(const outcome& run_outcome) {
    return run_outcome.step.empty() ? run_outcome.message
                                    : run_outcome.step + ": " + run_outcome.message;
}

std::string state_text(const outcome& run_outcome, std::string_view margin) {
    if (run_outcome.state.empty()) return {};
    auto text = fmt::format("{}state {}:\n", margin, printable(run_outcome.state.front()));
    for (std::size_t i = 1; i < run_outcome.state.size(); ++i)
        text += with_margin(fmt::format("{}  ", margin), run_outcome.state[i]);
    return text;
}

std::string escaped(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto length = terminal::code_point(text);
        const auto first = text.substr(0, std::max<std::size_t>(length, 1));
        text.remove_prefix(first.size());
        if (first == "&")
            out += "&amp;";
        else if (first == "<")
            out += "&lt;";
        else if (first == ">")
            out += "&gt;";
        else if (first == "\"")
            out += "&quot;";
        else if (first == "\n" || first == "\t")
            out += first;
        else if (length == 0 || terminal::is_control(first) || first == "\xef\xbf\xbe" ||
                 first == "\xef\xbf\xbf")  // U+FFFE and U+FFFF are no characters of XML
            out += '?';
        else
            out += first;
    }
    return out;
}

std::string repeat_command(const description& run) {
    const auto name = name_of_all_runs(run);
    return fmt::format("trnvp test {}{}{}{}", in_quotes(run.file),
                       name.empty() ? "" : " --name " + in_quotes(name), run.options,
                       run.campaign ? fmt::format(" --seeds {}", run.seed) : "");
}

std::string to_text(const description& run, const outcome& run_outcome) {
    std::string figures;
    for (const auto& measured : run_outcome.figures)
        figures +=
            fmt::format("      {}: {}\n", printable(measured.name), printable(measured.text()));
    for (const auto& note : run_outcome.notes)
        figures += fmt::format("      {}\n", printable(note));
    if (run_outcome.passed())
        return fmt::format(
            "pass  {:<56} {:>8.2f} s, simulated {}{}\n{}", printable(title(run)),
            run_outcome.wall_s, milliseconds(run_outcome.simulated_ns),
            run_outcome.trace_digest == 0 ? "" : ", trace " + digest_text(run_outcome), figures);
    return fmt::format("FAIL  {}\n{}    again: {}\n", printable(title(run)),
                       failure(run, run_outcome, figures), repeat_command(run));
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
    auto text = fmt::format("{} of {}", now.ended, now.total);
    if (now.failed > 0) text += fmt::format(", {} failed", now.failed);
    text += ", " + clock(elapsed_s);
    if (now.ended == 0 || now.ended == now.total) return text;
    const auto each = elapsed_s / static_cast<double>(now.ended);
    return text +
           fmt::format(", {} left", clock(each * static_cast<double>(now.total - now.ended)));
}

}  // namespace trn::scenario
