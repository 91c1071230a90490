// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/pages/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "platform/app/regression/pages/html_scenario.h"
#include "platform/app/regression/pages/sparkline.h"
#include "platform/app/regression/pages/write_one.h"
#include "platform/app/scenario/results/description.h"
#include "platform/app/scenario/results/report.h"
#include "platform/framework/config/mix_in.h"

namespace trn::regression {

namespace fs = std::filesystem;

namespace {

using scenario::description;
using scenario::escaped;
using scenario::figure;
using scenario::milliseconds;

// The content security policy allows only pictures in the page's folder, and the scripts and styles
// in this text.
constexpr std::string_view head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src 'self' file:">
<style>
:root { color-scheme: light dark; --text: #222; --page: #fff; --soft: #f5f5f5; --line: #ddd; --track: #eef1f4;
  --good: #2e7d43; --bad: #c0392b; --bar: #2e6da4; --warn: #9a5b00; --grey: #666; }
@media (prefers-color-scheme: dark) { :root { --text: #ddd; --page: #16191d; --soft: #21262c; --line: #3a4149;
  --track: #2a3038; --good: #5fbf7a; --bad: #ff7b6b; --bar: #6aa9e0; --warn: #e0a84a; --grey: #9aa4af; } }
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5em; color: var(--text); background: var(--page); }
h1 { font-size: 1.3em; } h2 { font-size: 1.1em; margin-top: 1.5em; }
a { color: var(--bar); text-decoration: none; } a:hover { text-decoration: underline; }
input, select { font: inherit; padding: .2em .4em; margin-right: .6em; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25em .6em; vertical-align: top; }
#scenarios > thead th { border-bottom: 2px solid var(--grey); cursor: pointer; }
#scenarios > tbody { border-bottom: 1px solid var(--line); }
#scenarios > tbody:target { background: var(--soft); }
.number { text-align: right; white-space: nowrap; }
.status { font-weight: bold; white-space: nowrap; }
.about { color: var(--grey); }
.figure { margin: .2em 0; }
#figures { width: auto; } #figures tbody tr { border-bottom: 1px solid var(--line); }
.passed .status { color: var(--good); } .failed .status { color: var(--bad); }
.message { color: var(--bad); white-space: pre-wrap; }
.note, .flaky { color: var(--warn); }
pre { background: var(--soft); padding: .6em; overflow: auto; max-height: 30em; }
code { background: var(--soft); padding: .1em .3em; }
.track { position: relative; height: 1em; background: var(--track); min-width: 12em; }
.track div { position: absolute; top: 0; height: 100%; min-width: 2px; background: var(--bar); }
.last .track div { background: var(--bad); }
svg, img { max-width: 100%; height: auto; vertical-align: middle; }
img, .board svg { background: #fff; }
.spark polyline { fill: none; stroke: var(--bar); stroke-width: 1.5; } .spark .now { fill: var(--bar); }
.strip .good { fill: var(--good); } .strip .bad { fill: var(--bad); }
.trends { white-space: nowrap; }
</style>
)";

constexpr std::string_view script = R"(<script>
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
function open_linked() {
  const linked = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (linked) for (const details of linked.querySelectorAll('details')) details.open = true;
}
text.addEventListener('input', filter);
status.addEventListener('change', filter);
window.addEventListener('hashchange', open_linked);
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
open_linked();
</script>
)";

std::string page(const std::string& title, const std::string& body) {
    return fmt::format("{}<title>{}</title>\n</head>\n<body>\n{}</body>\n</html>\n", head,
                       escaped(title), body);
}

// --- Figures

/// The values of one figure over all runs of a scenario.
struct series {
    const description* run;  // one of its runs
    figure about;
    std::vector<double> values;
};

std::vector<series> series_of(const run_record& run) {
    std::vector<series> found;
    std::unordered_map<std::string, std::size_t> places;
    for (const auto& r : run.results)
        for (const auto& measured : r.outcome.figures) {
            const auto [found_place, fresh] =
                places.emplace(identity(r.description) + '\t' + measured.name, found.size());
            if (fresh) found.push_back({&r.description, measured, {}});
            found[found_place->second].values.push_back(measured.value);
        }
    return found;
}

/// An axis from the smallest to the largest value, the bounds as a band, a dot per value.
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
        const double left = s.about.min ? x(*s.about.min) : 0;
        const double right = s.about.max ? x(*s.about.max) : width;
        out += fmt::format(
            "<rect x=\"{:.1f}\" y=\"3\" width=\"{:.1f}\" height=\"{}\" fill=\"#d5e8d8\"/>", left,
            std::max(right - left, 1.0), height - 6);
    }
    out += fmt::format("<path d=\"M0 {0}H{1}\" stroke=\"#999\"/>", height / 2, width);
    for (const auto value : s.values) {
        auto dot = s.about;
        dot.value = value;
        out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{}\" r=\"3.5\" fill=\"{}\"/>", x(value),
                           height / 2, dot.within_bounds() ? "#2e6da4" : "#c0392b");
    }
    return out + "</svg>";
}

std::string bounds_text(const figure& f) {
    if (f.min && f.max) return fmt::format("{:.6g} to {:.6g}", *f.min, *f.max);
    if (f.min) return fmt::format("at least {:.6g}", *f.min);
    return f.max ? fmt::format("at most {:.6g}", *f.max) : "";
}

std::string figures(const run_record& run) {
    const auto found = series_of(run);
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
            escaped(title_of_all_runs(*s.run)), escaped(s.about.name), value,
            s.about.unit.empty() ? "" : " ", escaped(s.about.unit), runs, bounds_text(s.about),
            plot(s));
    }
    return out + "</tbody></table>\n";
}

// --- Table

std::string status_of(const row& runs, const history& past) {
    auto text = std::string(word(runs.shown().outcome.result));
    if (runs.campaign()) text += fmt::format(" {}/{}", runs.failed(), runs.runs.size());
    if (past.flaky(identity(runs.shown().description))) text += ", flaky";
    return text;
}

std::string trend_cell(const row& runs, const history& past) {
    const auto& all = past.runs_of(identity(runs.shown().description));
    std::vector<double> seconds;
    seconds.reserve(all.size());
    for (const auto& past_run : all) seconds.push_back(past_run.wall_s);
    return fmt::format("<td class=\"trends\" data-value=\"{}\">{} {}</td>",
                       std::ranges::count(all, false, &past_result::passed), result_strip(all),
                       sparkline(seconds, "wall clock, s"));
}

/// Formats of a table row: link of the name, and text below the cells.
struct row_form {
    std::string link;   // of the name
    std::string below;  // of the cells
};

std::string row_text(const row& runs, const history& past, const row_form& form) {
    const auto& [described, outcome] = std::tie(runs.shown().description, runs.shown().outcome);
    double seconds = 0;
    for (const auto* run : runs.runs) seconds += run->outcome.wall_s;
    std::string tags;
    for (const auto& tag : described.tags) tags += (tags.empty() ? "" : " ") + tag;
    const auto name = escaped(runs.title());
    std::string out = fmt::format(
        "<tbody id=\"{}\" class=\"{}{}\" data-about=\"{} {} {} {} {}\"><tr>"
        "<td class=\"status\">{}</td><td><a href=\"{}\">{}</a></td><td>{}</td><td>{}</td>"
        "<td class=\"number\" data-value=\"{}\">{}</td>"
        "<td class=\"number\" data-value=\"{:.3f}\">{:.2f} s</td>",
        link_name(described), outcome.passed() ? "passed" : "failed",
        past.flaky(identity(described)) ? " flaky" : "", name, escaped(described.file),
        escaped(described.board), escaped(tags), escaped(outcome.message), status_of(runs, past),
        form.link, name, escaped(described.board), escaped(tags), outcome.simulated_ns,
        milliseconds(outcome.simulated_ns), seconds, seconds);
    if (!past.empty()) out += trend_cell(runs, past);
    out += "</tr>\n";
    const auto below = failure_text(runs) + form.below;
    if (!below.empty())
        out += fmt::format("<tr><td></td><td colspan=\"{}\">{}</td></tr>", past.empty() ? 5 : 6,
                           below);
    return out + "</tbody>\n";
}

/// Rows sorted: failed, then flaky, then all others.
std::vector<row> ordered_rows(const run_record& run, const history& past) {
    auto rows = rows_of(run);
    std::ranges::stable_sort(rows, {}, [&](const row& runs) {
        return runs.failed() > 0 ? 0 : past.flaky(identity(runs.shown().description)) ? 1 : 2;
    });
    return rows;
}

std::string overview(const run_record& run) {
    constexpr std::size_t max_missing = 1000;
    auto out = fmt::format("<h1>{}</h1>\n<p class=\"about\">{} UTC, trnvp {}{}{}, {:.1f} s</p>\n",
                           summary(run), time_text(run.started), escaped(run.build),
                           run.machine.empty() ? "" : ", ", escaped(run.machine), run.wall_s);
    for (const auto& note : run.notes)
        out += fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
    auto missing = run.missing();
    if (missing.empty()) return out;
    if (missing.size() > max_missing) missing.resize(max_missing);
    out += fmt::format("<details open><summary>{} not run</summary><ul>\n", run.missing().size());
    for (const auto& identity : missing)
        out += fmt::format("<li>{}</li>\n", escaped(readable(identity)));
    return out + "</ul></details>\n";
}

std::string table(const history& past, const std::string& rows) {
    return fmt::format(
        "<p><input id=\"text\" placeholder=\"name, file, board, tag, message\">"
        "<select id=\"status\"><option value=\"\">all</option><option value=\"failed\">failed"
        "</option><option value=\"passed\">passed</option>{}</select><span "
        "id=\"shown\"></span></p>\n"
        "<table id=\"scenarios\"><thead><tr><th>Status</th><th>Scenario</th><th>Board</th>"
        "<th>Tags</th><th>Simulated</th><th>Wall clock</th>{}</tr></thead>\n{}</table>\n",
        past.empty() ? "" : "<option value=\"flaky\">flaky</option>",
        past.empty() ? "" : "<th>Last runs</th>", rows);
}

/// `rows`: of the table of scenarios. `boards`: their pictures, or links to them.
std::string index_page(const run_record& run, const history& past, const std::string& rows,
                       const std::string& boards) {
    return page("trnvp test", overview(run) + table(past, rows) + figures(run) +
                                  (boards.empty() ? "" : "<h2>Boards</h2>\n") + boards +
                                  std::string(script));
}

std::string board_file(const std::string& key) {
    std::string name;
    for (const char c : key.substr(0, 60))
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 && c > 0 ? c : '-';
    return fmt::format("{}-{:08x}.svg", name, static_cast<std::uint32_t>(mix_in(first_mix, key)));
}

std::string scenario_page(const run_record& run, const row& runs, const history& past) {
    const auto& shown = runs.shown();
    auto body = fmt::format(
        "<p><a href=\"../index.html#{}\">All scenarios</a></p>\n<div class=\"{}\"><h1>{} <span "
        "class=\"status\">{}</span></h1>\n<p class=\"about\">{}, seed {}, board {}, trnvp {}, {} "
        "UTC</p>\n{}{}</div>\n",
        link_name(shown.description), shown.passed() ? "passed" : "failed", escaped(runs.title()),
        status_of(runs, past), escaped(shown.description.file), shown.description.seed,
        escaped(shown.board_key), escaped(run.build), time_text(run.started), failure_text(runs),
        scenario_details(runs, past));
    if (run.boards.contains(shown.board_key))
        body += fmt::format("<h2>{}</h2>\n<img src=\"{}\" alt=\"the board\">\n",
                            escaped(shown.board_key), board_file(shown.board_key));
    return page(runs.title(), body);
}

}  // namespace

std::string to_html(const run_record& run, const history& past) {
    std::string rows;
    for (const auto& runs : ordered_rows(run, past)) {
        const auto& shown = runs.shown();
        rows += row_text(runs, past,
                         {"#" + link_name(shown.description),
                          fmt::format("<details{}><summary>{} steps, log</summary>\n{}</details>",
                                      shown.passed() ? "" : " open", shown.outcome.timeline.size(),
                                      scenario_details(runs, past))});
    }
    std::string boards;
    for (const auto& [board, about] : run.boards)
        boards += fmt::format("<details class=\"board\"><summary>{}</summary>\n{}</details>\n",
                              escaped(board), about.picture);
    return index_page(run, past, rows, boards);
}

std::string write_pages(const fs::path& folder, const run_record& run, const history& past) {
    std::error_code refused;
    fs::create_directories(folder / "pages", refused);
    std::string rows, lost;
    for (const auto& runs : ordered_rows(run, past)) {
        const auto link = fmt::format("pages/{}.html", link_name(runs.shown().description));
        rows += row_text(runs, past, {link, ""});
        lost += write_one(folder / link, [&] { return scenario_page(run, runs, past); });
    }
    std::string boards;
    for (const auto& [board, about] : run.boards) {
        const auto link = "pages/" + board_file(board);
        boards += fmt::format("<p><a href=\"{}\">{}</a></p>\n", link, escaped(board));
        lost += write_one(folder / link, [&] { return about.picture; });
    }
    return write_one(folder / "index.html", [&] { return index_page(run, past, rows, boards); }) +
           lost;
}

}  // namespace trn::regression
