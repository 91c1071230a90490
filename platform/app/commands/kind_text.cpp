// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/kind_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "platform/framework/config/units.h"
#include "platform/framework/netlist/kinds/foreign_end.h"

namespace trn {

namespace {

std::vector<std::string> notes(const parameter& p, const kind& k) {
    std::vector<std::string> list{p.type};
    if (auto limits = to_string(p.bounds, p.dimension); !limits.empty())
        list.push_back(std::move(limits));
    list.push_back(p.required ? "required" : "default " + p.show(k.defaults()));
    return list;
}

std::vector<std::string> notes(const port& p, const kind& k) {
    std::vector<std::string> list{std::string(to_string(p.role))};
    if (p.foreign) list.push_back("foreign: " + p.foreign->describe());
    const auto of_default = [&](const port::from_config& value) { return value(k.defaults()); };
    if (p.count) list.push_back(fmt::format("{} of them", of_default(p.count)));
    if (p.lines) list.push_back(fmt::format("{} lines", of_default(p.lines)));
    if (p.size && of_default(p.size) != 0) list.push_back(to_string(bytes{of_default(p.size)}));
    if (p.ranged) list.push_back("with ranges");
    if (p.many && (p.role == port_role::initiator || p.role == port_role::target))
        list.push_back("any number of bindings");
    if (p.may_be_unbound) list.push_back("may stay unbound");
    return list;
}

}  // namespace

std::string kind_text(const kind& k) {
    std::string out = fmt::format("{}: {}\n", k.name, k.doc);
    const auto row = [&](const auto& entry) {
        out += fmt::format("  {:24} {}\n  {:24} ({})\n", entry.name, entry.doc, "",
                           fmt::join(notes(entry, k), ", "));
    };
    if (!k.parameters.empty()) out += "\nparameters\n";
    for (const auto& p : k.parameters) row(p);
    if (!k.ports.empty()) out += "\nports\n";
    for (const auto& p : k.ports) row(p);
    if (!k.statistics.empty()) out += "\nstatistics\n";
    for (const auto& s : k.statistics)
        out += fmt::format("  {:24} {}{}\n", s.name, s.doc,
                           s.unit.empty() ? "" : fmt::format(" ({})", s.unit));
    if (!k.events.empty()) out += "\ntrace events\n";
    for (const auto& e : k.events)
        out += fmt::format("  {:24} {}{}\n", e.name, e.doc,
                           e.fields.empty() ? "" : fmt::format(" ({})", e.fields));
    return out;
}

namespace {

/// A cell of a table in Markdown.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out;
}

}  // namespace

std::string kind_markdown(const kind& k) {
    std::string out = fmt::format("## {}\n\n{}\n", k.name, k.doc);
    const auto table = [&](std::string_view head, const auto& entries, const auto& cells) {
        if (entries.empty()) return;
        out += fmt::format("\n| {} | | |\n|---|---|---|\n", head);
        for (const auto& e : entries)
            out += fmt::format("| `{}` | {} | {} |\n", e.name, cell(cells(e)), cell(e.doc));
    };
    const auto joined = [&](const auto& entry) {
        return fmt::format("{}", fmt::join(notes(entry, k), ", "));
    };
    table("Parameter", k.parameters, joined);
    table("Port", k.ports, joined);
    table("Statistic", k.statistics, [](const auto& s) { return s.unit; });
    table("Trace event", k.events, [](const auto& e) { return e.fields; });
    return out;
}

}  // namespace trn
