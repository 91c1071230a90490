// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/pages/merged_fidelity.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "platform/app/regression/records/fields.h"

namespace trn::regression {

using nlohmann::json;

namespace {

constexpr std::array initiators{"host", "firmware", "dma", "tools"};

struct register_row {
    std::string known_by, fidelity;
    std::uint64_t modules = 0, runs = 0;
    std::array<std::pair<std::uint64_t, std::uint64_t>, initiators.size()> counts{};
};
using key = std::tuple<std::string, std::string, std::string>;

void add(const fields& entry, std::map<key, register_row>& rows) {
    auto& row = rows[{entry.text("kind"), entry.text("block"), entry.text("register")}];
    row.known_by = entry.text("known_by");
    row.fidelity = entry.text("fidelity");
    row.modules = std::max(row.modules, entry.number("modules"));
    ++row.runs;
    for (std::size_t i = 0; i < initiators.size(); ++i) {
        const auto counts = entry.at(initiators[i]);
        row.counts[i].first += counts.number("reads");
        row.counts[i].second += counts.number("writes");
    }
}

}  // namespace

json merged_fidelity(const run_record& run) {
    constexpr std::size_t max_registers = 1'000'000;
    std::map<key, register_row> rows;
    std::set<std::string> boards;
    for (const auto& result : run.results) {
        if (result.fidelity.is_null()) continue;
        const fields report(result.fidelity,
                            readable(run_identity(result.description)) + ": fidelity");
        boards.insert(report.text("board"));
        for (const auto& r : report.list("registers", max_registers))
            add(fields(r, report.place()), rows);
    }
    if (boards.empty()) return nullptr;
    json list = json::array();
    for (const auto& [name, row] : rows) {
        const auto& [kind, block, reg] = name;
        json line{{"kind", kind},
                  {"block", block},
                  {"register", reg},
                  {"known_by", row.known_by},
                  {"fidelity", row.fidelity},
                  {"modules", row.modules},
                  {"runs", row.runs}};
        for (std::size_t i = 0; i < initiators.size(); ++i)
            line[initiators[i]] = {{"reads", row.counts[i].first},
                                   {"writes", row.counts[i].second}};
        list.push_back(std::move(line));
    }
    return {{"boards", boards}, {"registers", list}};
}

}  // namespace trn::regression
