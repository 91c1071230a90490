// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/app/scenario/report.h"
#include "platform/app/scenario/selection.h"

namespace trn::scenario {

namespace {

using verdict = outcome::verdict;

// The policy lets a browser fetch nothing, and run nothing but what stands here.
constexpr std::string_view head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>trnvp test</title>
<style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5em; color: #222; }
h1 { font-size: 1.3em; } h2 { font-size: 1.1em; margin-top: 1.5em; }
input, select { font: inherit; padding: .2em .4em; margin-right: .6em; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25em .6em; vertical-align: top; }
#scenarios > thead th { border-bottom: 2px solid #888; cursor: pointer; }
#scenarios > tbody { border-bottom: 1px solid #ddd; }
.number { text-align: right; white-space: nowrap; }
.status { font-weight: bold; white-space: nowrap; }
.figure { margin: .2em 0; }
#figures { width: auto; } #figures tbody tr { border-bottom: 1px solid #ddd; }
.passed .status { color: #2e7d43; } .failed .status { color: #c0392b; }
.message { color: #c0392b; white-space: pre-wrap; }
pre { background: #f5f5f5; padding: .6em; overflow: auto; max-height: 30em; }
.track { position: relative; height: 1em; background: #eef1f4; min-width: 12em; }
.track div { position: absolute; top: 0; height: 100%; min-width: 2px; background: #2e6da4; }
.last .track div { background: #c0392b; }
svg { max-width: 100%; height: auto; }
</style>
</head>
<body>
)";

constexpr std::string_view tail = R"(<script>
'use strict';
const table = document.getElementById('scenarios');
const text = document.getElementById('text'), status = document.getElementById('status');
const shown = document.getElementById('shown');
function filter() {
  const words = text.value.toLowerCase().split(/\s+/).filter(w => w);
  let count = 0;
  for (const body of table.tBodies) {
    const about = body.dataset.about.toLowerCase();
    body.hidden = (status.value && !body.classList.contains(status.value)) ||
                  !words.every(w => about.includes(w));
    if (!body.hidden) ++count;
  }
  shown.textContent = count + ' of ' + table.tBodies.length;
}
text.addEventListener('input', filter);
status.addEventListener('change', filter);
table.tHead.addEventListener('click', event => {
  const column = event.target.cellIndex;
  const key = body => {
    const cell = body.rows[0].cells[column];
    return cell.dataset.value === undefined ? cell.textContent : -Number(cell.dataset.value);
  };
  const bodies = Array.from(table.tBodies);
  bodies.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
  for (const body of bodies) table.appendChild(body);
});
filter();
</script>
</body>
</html>
)";

/// A step, or a group of steps: a call of a sequence, a branch.
struct part {
    std::string name;
    int line = 0;
    std::uint64_t begin = 0, end = 0;  // ns
    bool branch = false;               // runs beside its neighbours
    bool ended_in = false;             // it, or a part of it, is where a scenario failed
    std::vector<std::unique_ptr<part>> parts = {};
};

/// The part that `by` means, the youngest of several; a group is there once one of its steps is.
part& enter(part& whole, const enclosing& by, std::uint64_t at_ns) {
    for (auto i = whole.parts.rbegin(); i != whole.parts.rend(); ++i)
        if ((*i)->line == by.line && (by.name.empty() || (*i)->name == by.name)) return **i;
    whole.parts.push_back(
        std::make_unique<part>(part{by.name, by.line, at_ns, at_ns, by.line == 0}));
    return *whole.parts.back();
}

/// What stands in front of a step's text for each group that it is in.
std::string_view without_groups(std::string_view text, const std::vector<enclosing>& groups) {
    for (bool found = true; std::exchange(found, false);)
        for (const auto& group : groups)
            if (!group.name.empty() && text.starts_with(group.name + ": ")) {
                text.remove_prefix(group.name.size() + 2);
                found = true;
            }
    return text;
}

/// Each part ends when the next begins, the last with the whole; branches all do.
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
    std::vector<part*> end;  // the way to the step that failed; that of another branch may be last
    for (const auto& one : how.timeline) {
        std::vector<part*> way{&whole};
        for (const auto& by : one.inside) way.push_back(&enter(*way.back(), by, one.at_ns));
        way.back()->parts.push_back(std::make_unique<part>(part{
            std::string(without_groups(one.step, one.inside)), one.line, one.at_ns, one.at_ns}));
        way.push_back(way.back()->parts.back().get());
        if (one.step == how.step && one.line == how.where.line) end = std::move(way);
    }
    if (!how.passed())
        for (auto* const at : end) at->ended_in = true;
    set_ends(whole);
    return whole;
}

void add_rows(std::string& out, const part& whole, const part& in, int depth) {
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
            one->line == 0 ? "" : std::to_string(one->line), milliseconds(one->begin),
            milliseconds(one->end - one->begin), percent(one->begin),
            percent(one->end - one->begin));
        add_rows(out, whole, *one, depth + 1);
    }
}

/// The steps, each with a bar over the simulated time that it took, under what they are a part of.
std::string timeline(const outcome& how) {
    if (how.timeline.empty()) return {};
    const auto whole = parts_of(how);
    std::string out =
        "<table class=\"timeline\"><thead><tr><th>Step</th><th>Line</th><th>Begins</th>"
        "<th>Takes</th><th>Simulated time</th></tr></thead><tbody>\n";
    add_rows(out, whole, whole, 0);
    return out + "</tbody></table>\n";
}

// --- Figures

/// The values of one figure in all runs of one scenario.
struct series {
    const scenario* of;  // one of its runs
    figure about;
    std::vector<double> values;
};

std::vector<series> series_of(std::span<const scenario> all, std::span<const outcome> how) {
    std::vector<series> found;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const auto& one : how[i].figures) {
            auto known = std::ranges::find_if(found, [&](const series& s) {
                return identity(*s.of) == identity(all[i]) && s.about.name == one.name;
            });
            if (known == found.end()) known = found.insert(known, {&all[i], one, {}});
            known->values.push_back(one.value);
        }
    return found;
}

/// A line from the least to the most that there is, the bounds as a band, a dot for each value.
std::string plot(const series& s) {
    constexpr double width = 240, height = 18, margin = 6;
    const auto ends = std::ranges::minmax(s.values);
    double low = ends.min, high = ends.max;
    for (const auto& bound : {s.about.min, s.about.max})
        if (bound) low = std::min(low, *bound), high = std::max(high, *bound);
    const double span = high - low;
    const auto x = [&](double value) {
        return span == 0 ? width / 2 : margin + (width - 2 * margin) * (value - low) / span;
    };
    std::string out =
        fmt::format("<svg width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">", width, height);
    if (s.about.min || s.about.max) {
        const double from = s.about.min ? x(*s.about.min) : 0;
        const double to = s.about.max ? x(*s.about.max) : width;
        out += fmt::format(
            "<rect x=\"{:.1f}\" y=\"3\" width=\"{:.1f}\" height=\"{}\" fill=\"#d5e8d8\"/>", from,
            std::max(to - from, 1.0), height - 6);
    }
    out += fmt::format("<path d=\"M0 {0}H{1}\" stroke=\"#999\"/>", height / 2, width);
    for (const auto value : s.values) {
        auto one = s.about;
        one.value = value;
        out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{}\" r=\"3.5\" fill=\"{}\"/>", x(value),
                           height / 2, one.within_bounds() ? "#2e6da4" : "#c0392b");
    }
    return out + "</svg>";
}

std::string bounds_text(const figure& f) {
    if (f.min && f.max) return fmt::format("{:.6g} to {:.6g}", *f.min, *f.max);
    if (f.min) return fmt::format("at least {:.6g}", *f.min);
    return f.max ? fmt::format("at most {:.6g}", *f.max) : "";
}

std::string figures(std::span<const scenario> all, std::span<const outcome> how) {
    const auto found = series_of(all, how);
    if (found.empty()) return {};
    std::string out =
        "<h2>Figures</h2>\n<table id=\"figures\" "
        "class=\"figures\"><thead><tr><th>Scenario</th><th>Figure</th>"
        "<th>Value</th><th>Bounds</th><th></th></tr></thead><tbody>\n";
    for (const auto& s : found) {
        const auto [low, high] = std::ranges::minmax(s.values);
        const auto value =
            low == high ? fmt::format("{:.6g}", low) : fmt::format("{:.6g} to {:.6g}", low, high);
        const auto runs = s.values.size() == 1 ? "" : fmt::format(", {} runs", s.values.size());
        out += fmt::format(
            "<tr><td>{}</td><td>{}</td><td class=\"number\">{}{}{}{}</td><td class=\"number\">{}"
            "</td><td>{}</td></tr>\n",
            escaped(name_of_all_runs(*s.of)), escaped(s.about.name), value,
            s.about.unit.empty() ? "" : " ", escaped(s.about.unit), runs, bounds_text(s.about),
            plot(s));
    }
    return out + "</tbody></table>\n";
}

std::string row(const scenario& what, const outcome& how) {
    const bool passed = how.passed();
    std::string tags;
    for (const auto& tag : what.tags) tags += (tags.empty() ? "" : " ") + tag;
    std::string out = fmt::format(
        "<tbody class=\"{}\" data-about=\"{} {} {} {} {}\"><tr><td class=\"status\">{}</td>"
        "<td>{}</td><td>{}</td><td>{}</td><td class=\"number\" data-value=\"{}\">{}</td>"
        "<td class=\"number\" data-value=\"{:.3f}\">{:.2f} s</td></tr>\n"
        "<tr><td></td><td colspan=\"5\">",
        passed ? "passed" : "failed", escaped(what.name), escaped(what.file), escaped(what.board),
        escaped(tags), escaped(how.message), word(how.what), escaped(what.name),
        escaped(what.board), escaped(tags), how.simulated_ns, milliseconds(how.simulated_ns),
        how.wall_s, how.wall_s);
    if (!passed)
        out +=
            fmt::format("<div class=\"message\">{}: {}{}{}</div>\n", escaped(place_text(what, how)),
                        escaped(how.step), how.step.empty() ? "" : ": ", escaped(how.message));
    out +=
        fmt::format("<details{}><summary>{} steps, log</summary>\n<p>Again: <code>{}</code></p>\n",
                    passed ? "" : " open", how.timeline.size(), escaped(repeat_command(what)));
    for (const auto& one : how.figures)
        out +=
            fmt::format("<p class=\"figure\">{}: {}</p>\n", escaped(one.name), escaped(one.text()));
    if (how.trace_digest != 0) out += fmt::format("<p>Trace {:016x}</p>\n", how.trace_digest);
    out += timeline(how);
    if (!how.log.empty())
        out += fmt::format("<pre class=\"log\">{}</pre>\n",
                           escaped(last_lines(how.log, passed ? 30 : 300)));
    return out + "</details></td></tr></tbody>\n";
}

}  // namespace

std::string to_html(std::span<const scenario> all, std::span<const outcome> how,
                    const std::map<std::string, std::string>& pictures) {
    std::string out(head);
    out += fmt::format(
        "<h1>{}</h1>\n<p><input id=\"text\" placeholder=\"name, file, board, tag, message\">"
        "<select id=\"status\"><option value=\"\">all</option><option value=\"failed\">failed"
        "</option><option value=\"passed\">passed</option></select><span id=\"shown\"></span></p>\n"
        "<table id=\"scenarios\"><thead><tr><th>Status</th><th>Scenario</th><th>Board</th>"
        "<th>Tags</th><th>Simulated</th><th>Wall clock</th></tr></thead>\n",
        summary(how));
    for (std::size_t i = 0; i < all.size(); ++i) out += row(all[i], how[i]);
    out += "</table>\n";
    out += figures(all, how);
    if (!pictures.empty()) out += "<h2>Boards</h2>\n";
    for (const auto& [board, picture] : pictures)
        out += fmt::format("<details class=\"board\"><summary>{}</summary>\n{}</details>\n",
                           escaped(board), picture);
    out += tail;
    return out;
}

}  // namespace trn::scenario
