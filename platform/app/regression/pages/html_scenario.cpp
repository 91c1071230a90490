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

/// The latest part that `container` identifies; made when its first step is entered.
part& enter(part& whole, const enclosing& container, std::uint64_t at_ns) {
    for (auto i = whole.parts.rbegin(); i != whole.parts.rend(); ++i)
        if ((*i)->line == container.line && (*i)->file == container.file &&
            (container.name.empty() || (*i)->name == container.name))
            return **i;
    whole.parts.push_back(std::make_unique<part>(
        part{container.name, container.line, container.file, at_ns, at_ns, container.line == 0}));
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
        auto& child = *whole.parts[i];
        const bool followed = !child.branch && i + 1 < whole.parts.size();
        child.end = std::max(followed ? whole.parts[i + 1]->begin : whole.end, child.begin);
        set_ends(child);
    }
}

part parts_of(const outcome& run_outcome) {
    part whole{.name = {},
               .end = std::max(run_outcome.simulated_ns, run_outcome.timeline.back().at_ns)};
    // Parts from the outermost to the failed step, which need not be the last step.
    std::vector<part*> end;
    for (const auto& step : run_outcome.timeline) {
        std::vector<part*> way{&whole};
        for (const auto& container : step.inside)
            way.push_back(&enter(*way.back(), container, step.at_ns));
        way.back()->parts.push_back(
            std::make_unique<part>(part{std::string(without_groups(step.step, step.inside)),
                                        step.line, step.file, step.at_ns, step.at_ns}));
        way.push_back(way.back()->parts.back().get());
        if (step.step == run_outcome.step && step.line == run_outcome.place.line &&
            step.file == run_outcome.file)
            end = std::move(way);
    }
    if (!run_outcome.passed())
        for (auto* const failed : end) failed->ended_in = true;
    set_ends(whole);
    return whole;
}

/// "12"; with its file where this is not the scenario's.
std::string place_text(const part& step, const std::string& scenario_file) {
    if (step.line == 0) return {};
    return step.file.empty() || step.file == scenario_file
               ? std::to_string(step.line)
               : fmt::format("{}:{}", step.file, step.line);
}

void add_rows(std::string& out, const part& whole, const part& parent, int depth,
              const std::string& scenario_file) {
    const auto percent = [&](std::uint64_t ns) {
        return whole.end == 0 ? 0.0
                              : 100.0 * static_cast<double>(ns) / static_cast<double>(whole.end);
    };
    for (const auto& child : parent.parts) {
        out += fmt::format(
            "<tr{}><td style=\"padding-left:{}em\">{}</td><td class=\"number\">{}</td>"
            "<td class=\"number\">{}</td><td class=\"number\">{}</td><td><div class=\"track\">"
            "<div style=\"left:{:.3f}%;width:{:.3f}%\"></div></div></td></tr>\n",
            child->ended_in ? " class=\"last\"" : "", depth * 1.5 + 0.6, escaped(child->name),
            escaped(place_text(*child, scenario_file)), milliseconds(child->begin),
            milliseconds(child->end - child->begin), percent(child->begin),
            percent(child->end - child->begin));
        add_rows(out, whole, *child, depth + 1, scenario_file);
    }
}

/// A table of the steps within their groups, each with a bar for its simulated time.
std::string timeline(const scenario::description& run, const outcome& run_outcome) {
    if (run_outcome.timeline.empty()) return {};
    const auto whole = parts_of(run_outcome);
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
    for (const auto& run : runs) {
        seconds.push_back(run.wall_s);
        for (const auto& [name, value] : run.figures) figures[name].push_back(value);
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
    for (const auto* run : runs.runs)
        if (!run->passed() && run != &runs.shown() && shown++ < max_commands)
            out += fmt::format("<p>Seed {}: {} <code>{}</code></p>\n", run->description.seed,
                               escaped(run->outcome.message),
                               escaped(repeat_command(run->description)));
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
    const auto& [described, run_outcome] = std::tie(runs.shown().description, runs.shown().outcome);
    if (run_outcome.passed()) return {};
    return fmt::format("<div class=\"message\">{}: {}</div>\n",
                       escaped(place_text(described, run_outcome)),
                       escaped(scenario::failure_text(run_outcome)));
}

std::string scenario_details(const row& runs, const history& past) {
    const auto& [described, run_outcome] = std::tie(runs.shown().description, runs.shown().outcome);
    auto out = seeds(runs);
    out += fmt::format("<p>Again: <code>{}</code></p>\n", escaped(repeat_command(described)));
    if (past.flaky(identity(described)))
        out +=
            "<p class=\"flaky\">Flaky: runs with the same events (trace digest) and the same build "
            "passed and failed. This is a defect of the platform: please report it.</p>\n";
    out += trends(past.runs_of(identity(described)));
    if (!run_outcome.state.empty())
        out += fmt::format("<pre class=\"state\">{}</pre>\n", escaped(state_text(run_outcome, "")));
    for (const auto& measured : run_outcome.figures)
        out += fmt::format("<p class=\"figure\">{}: {}</p>\n", escaped(measured.name),
                           escaped(measured.text()));
    for (const auto& note : run_outcome.notes) out += fmt::format("<p>{}</p>\n", escaped(note));
    if (run_outcome.trace_digest != 0)
        out += fmt::format("<p>Trace {:016x}</p>\n", run_outcome.trace_digest);
    out += timeline(described, run_outcome);
    if (!run_outcome.log.empty())
        out += fmt::format(
            "<pre class=\"log\">{}</pre>\n",
            escaped(scenario::last_lines(run_outcome.log, run_outcome.passed() ? 30 : 300)));
    return out;
}

}  // namespace trn::regression
