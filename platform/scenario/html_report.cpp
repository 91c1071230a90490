// SPDX-License-Identifier: Apache-2.0
#include "platform/scenario/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "platform/scenario/report.h"

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

/// The steps, each with a bar from its start to that of the next.
std::string timeline(const outcome& how) {
    const auto& steps = how.timeline;
    if (steps.empty()) return {};
    const auto end = std::max(how.simulated_ns, steps.back().at_ns);
    const auto percent = [&](std::uint64_t ns) {
        return end == 0 ? 0.0 : 100.0 * static_cast<double>(ns) / static_cast<double>(end);
    };
    std::string out =
        "<table class=\"timeline\"><thead><tr><th>Step</th><th>Line</th><th>Begins</th>"
        "<th>Takes</th><th>Simulated time</th></tr></thead><tbody>\n";
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto& one = steps[i];
        const bool last = i + 1 == steps.size();
        const auto until = std::max(last ? end : steps[i + 1].at_ns, one.at_ns);
        out += fmt::format(
            "<tr{}><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
            "<td class=\"number\">{}</td><td><div class=\"track\"><div style=\"left:{:.3f}%;"
            "width:{:.3f}%\"></div></div></td></tr>\n",
            last && !how.passed() ? " class=\"last\"" : "", escaped(one.step), one.line,
            milliseconds(one.at_ns), milliseconds(until - one.at_ns), percent(one.at_ns),
            percent(until - one.at_ns));
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
    if (!pictures.empty()) out += "<h2>Boards</h2>\n";
    for (const auto& [board, picture] : pictures)
        out += fmt::format("<details class=\"board\"><summary>{}</summary>\n{}</details>\n",
                           escaped(board), picture);
    out += tail;
    return out;
}

}  // namespace trn::scenario
