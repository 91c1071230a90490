// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/pages/html_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "platform/app/regression/pages/sparkline.h"
#include "platform/app/scenario/results/description.h"
#include "platform/app/scenario/results/report.h"
#include "platform/framework/config/mix_in.h"

namespace trn::regression {

namespace {

using scenario::enclosing;
using scenario::escaped;
using scenario::milliseconds;
using scenario::outcome;

/// A step, or a group of steps: a call of a sequence, a branch.
struct part {
    std::string name;
    int line = 0;
    std::string file = {};             // of `line`
    std::uint64_t begin = 0, end = 0;  // ns
    bool branch = false;               // runs in parallel with its neighbours
    bool ended_in = false;             // this part, or one of its parts, contains the failure
    std::vector<std::unique_ptr<part>> parts = {};
};

/// The latest part that `by` identifies; made when its first step is entered.
part& enter(part& whole, const enclosing& by, std::uint64_t at_ns) {
    for (auto i = whole.parts.rbegin(); i != whole.parts.rend(); ++i)
        if ((*i)->line == by.line && (*i)->file == by.file &&
            (by.name.empty() || (*i)->name == by.name))
            return **i;
    whole.parts.push_back(
        std::make_unique<part>(part{by.name, by.line, by.file, at_ns, at_ns, by.line == 0}));
    return *whole.parts.back();
}

/// Removes the names of the groups from the beginning of a step's text.
std::string_view without_groups(std::string_view text, const std::vector<enclosing>& groups) {
    for (bool found = true; std::exchange(found, false);)
        for (const auto& group : groups)
            if (!group.name.empty() && text.starts_with(group.name + ": ")) {
                text.remove_prefix(group.name.size() + 2);
                found = true;
            }
    return text;
}

/// Sets the end of each part: the beginning of the next part; for branches and the last part, the
/// end of the whole.
void set_ends(part& whole) {
    for (std::size_t i = 0; i < whole.parts.size(); ++i) {
        auto& one = *whole.parts[i];
        const bool followed = !one.branch && i + 1 < whole.parts.size();
        one.end = std::max(followed ? whole.parts[i + 1]->begin : whole.end, one.begin);
        set_ends(one);
    }
}

part parts_of(const outcome& how) {
    part whole{.name = {}, .end = std::max(how.simulated_ns, how.timeline.back().at_ns)};
    // Parts from the outermost to the failed step, which need not be the last step.
    std::vector<part*> end;
    for (const auto& one : how.timeline) {
        std::vector<part*> way{&whole};
        for (const auto& by : one.inside) way.push_back(&enter(*way.back(), by, one.at_ns));
        way.back()->parts.push_back(
            std::make_unique<part>(part{std::string(without_groups(one.step, one.inside)), one.line,
                                        one.file, one.at_ns, one.at_ns}));
        way.push_back(way.back()->parts.back().get());
        if (one.step == how.step && one.line == how.where.line && one.file == how.file)
            end = std::move(way);
    }
    if (!how.passed())
        for (auto* const at : end) at->ended_in = true;
    set_ends(whole);
    return whole;
}

/// "12"; with its file where this is not the scenario's.
std::string place_text(const part& one, const std::string& scenario_file) {
    if (one.line == 0) return {};
    return one.file.empty() || one.file == scenario_file ? std::to_string(one.line)
                                                         : fmt::format("{}:{}", one.file, one.line);
}

void add_rows(std::string& out, const part& whole, const part& in, int depth,
              const std::string& scenario_file) {
    const auto percent = [&](std::uint64_t ns) {
        return whole.end == 0 ? 0.0
                              : 100.0 * static_cast<double>(ns) / static_cast<double>(whole.end);
    };
    for (const auto& one : in.parts) {
        out += fmt::format(
            "<tr{}><td style=\"padding-left:{}em\">{}</td><td class=\"number\">{}</td>"
            "<td class=\"number\">{}</td><td class=\"number\">{}</td><td><div class=\"track\">"
            "<div style=\"left:{:.3f}%;width:{:.3f}%\"></div></div></td></tr>\n",
            one->ended_in ? " class=\"last\"" : "", depth * 1.5 + 0.6, escaped(one->name),
            escaped(place_text(*one, scenario_file)), milliseconds(one->begin),
            milliseconds(one->end - one->begin), percent(one->begin),
            percent(one->end - one->begin));
        add_rows(out, whole, *one, depth + 1, scenario_file);
    }
}

/// A table of the steps within their groups, each with a bar for its simulated time.
std::string timeline(const scenario::description& run, const outcome& how) {
    if (how.timeline.empty()) return {};
    const auto whole = parts_of(how);
    std::string out =
        "<table class=\"timeline\"><thead><tr><th>Step</th><th>Line</th><th>Begins</th>"
        "<th>Takes</th><th>Simulated time</th></tr></thead><tbody>\n";
    add_rows(out, whole, whole, 0, run.file);
    return out + "</tbody></table>\n";
}

/// Charts of the duration and the figures over past runs.
std::string trends(const std::vector<past_result>& runs) {
    if (runs.size() < 2) return {};
    std::vector<double> seconds;
    std::map<std::string, std::vector<double>> figures;
    for (const auto& one : runs) {
        seconds.push_back(one.wall_s);
        for (const auto& [name, value] : one.figures) figures[name].push_back(value);
    }
    auto out = fmt::format("<p class=\"trend\">Last {} runs {} wall clock {}", runs.size(),
                           result_strip(runs), sparkline(seconds, "wall clock, s"));
    for (const auto& [name, values] : figures)
        if (values.size() > 1) out += fmt::format(" {} {}", escaped(name), sparkline(values, name));
    return out + "</p>\n";
}

std::string seeds(const row& runs) {
    constexpr std::size_t max_commands = 20;
    if (!runs.campaign()) return {};
    auto out = fmt::format("<p class=\"seeds\">{}</p>\n", escaped(campaign_text(runs)));
    std::size_t shown = 0;
    for (const auto* one : runs.runs)
        if (!one->passed() && one != &runs.shown() && shown++ < max_commands)
            out +=
                fmt::format("<p>Seed {}: {} <code>{}</code></p>\n", one->description.seed,
                            escaped(one->how.message), escaped(repeat_command(one->description)));
    return out;
}

}  // namespace

std::string link_name(const scenario::description& run) {
    constexpr std::size_t longest = 60;
    std::string words;
    for (const unsigned char c : run.campaign ? title_of_all_runs(run) : title(run)) {
        const bool plain = c < 0x80 && std::isalnum(c) != 0;
        if (plain)
            words += static_cast<char>(std::tolower(c));
        else if (!words.empty() && words.back() != '-')
            words += '-';
        if (words.size() == longest) break;
    }
    while (words.ends_with('-')) words.pop_back();
    const auto hash = mix_in(first_mix, run.campaign ? identity(run) : run_identity(run));
    return fmt::format("{}-{:08x}", words, static_cast<std::uint32_t>(hash ^ hash >> 32));
}

std::string failure_text(const row& runs) {
    const auto& [described, how] = std::tie(runs.shown().description, runs.shown().how);
    if (how.passed()) return {};
    return fmt::format("<div class=\"message\">{}: {}</div>\n", escaped(place_text(described, how)),
                       escaped(scenario::failure_text(how)));
}

std::string scenario_details(const row& runs, const history& past) {
    const auto& [described, how] = std::tie(runs.shown().description, runs.shown().how);
    auto out = seeds(runs);
    out += fmt::format("<p>Again: <code>{}</code></p>\n", escaped(repeat_command(described)));
    if (past.flaky(identity(described)))
        out +=
            "<p class=\"flaky\">Flaky: runs with the same events (trace digest) and the same build "
            "passed and failed. This is a defect of the platform: please report it.</p>\n";
    out += trends(past.of(identity(described)));
    if (!how.state.empty())
        out += fmt::format("<pre class=\"state\">{}</pre>\n", escaped(state_text(how, "")));
    for (const auto& one : how.figures)
        out +=
            fmt::format("<p class=\"figure\">{}: {}</p>\n", escaped(one.name), escaped(one.text()));
    for (const auto& note : how.notes) out += fmt::format("<p>{}</p>\n", escaped(note));
    if (how.trace_digest != 0) out += fmt::format("<p>Trace {:016x}</p>\n", how.trace_digest);
    out += timeline(described, how);
    if (!how.log.empty())
        out += fmt::format("<pre class=\"log\">{}</pre>\n",
                           escaped(scenario::last_lines(how.log, how.passed() ? 30 : 300)));
    return out;
}

}  // namespace trn::regression
