// SPDX-License-Identifier: Apache-2.0
#include "platform/app/fidelity_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <vector>

#include "platform/app/report_file.h"
#include "platform/framework/registers/register_bank.h"

namespace trn {

using nlohmann::json;
using source = initiator::kind;

namespace {

/// A register of a kind, over all modules of that kind.
struct row {
    std::string kind;
    std::string_view block, name;
    knowledge known_by;
    trn::fidelity fidelity;
    std::set<std::string> modules;
    register_use use;

    bool invented() const {
        return known_by == knowledge::invented || fidelity == trn::fidelity::stub;
    }
};

std::vector<row> collect(const plan& board) {
    std::map<std::tuple<std::string, std::string_view, std::string_view>, row> all;
    for (const auto& touched : touched_registers()) {
        const auto* module = board.find(touched.module);
        const std::string kind = module != nullptr ? module->type : touched.module;
        auto& r = all[{kind, touched.block, touched.name}];
        r.kind = kind;
        std::tie(r.block, r.name, r.known_by, r.fidelity) =
            std::tie(touched.block, touched.name, touched.known_by, touched.fidelity);
        r.modules.insert(touched.module);
        for (std::size_t i = 0; i < r.use.by_initiator.size(); ++i) {
            r.use.by_initiator[i].reads += touched.use.by_initiator[i].reads;
            r.use.by_initiator[i].writes += touched.use.by_initiator[i].writes;
        }
    }
    std::vector<row> rows;
    rows.reserve(all.size());
    for (auto& [key, r] : all) rows.push_back(std::move(r));
    std::ranges::stable_sort(rows, [](const row& a, const row& b) {
        return std::tie(b.fidelity, b.known_by) < std::tie(a.fidelity, a.known_by);
    });
    return rows;
}

json counts(const register_use::counts& c) {
    return {{"reads", c.reads}, {"writes", c.writes}};
}

json to_json(const plan& board, const std::vector<row>& rows) {
    json list = json::array();
    for (const auto& r : rows)
        list.push_back({{"kind", r.kind},
                        {"block", r.block},
                        {"register", r.name},
                        {"known_by", to_string(r.known_by)},
                        {"fidelity", to_string(r.fidelity)},
                        {"modules", r.modules.size()},
                        {"host", counts(r.use.counts_of(source::host))},
                        {"firmware", counts(r.use.counts_of(source::firmware))},
                        {"dma", counts(r.use.counts_of(source::dma))},
                        {"tools", counts(r.use.counts_of(source::tool))}});
    return {{"board", board.name}, {"registers", list}};
}

std::string cell(const register_use::counts& c) {
    return c.any() ? fmt::format("{} / {}", c.reads, c.writes) : "";
}

template <typename Wanted>
std::string table(const std::vector<row>& rows, Wanted&& wanted) {
    std::string text;
    for (const auto& r : rows)
        if (wanted(r))
            text += fmt::format(
                "| {} | `{}.{}` | {} | {} | {} | {} | {} | {} |\n", r.kind, r.block, r.name,
                r.known_by == knowledge::invented ? "**invented**" : to_string(r.known_by),
                r.fidelity == trn::fidelity::stub ? "**stub**" : to_string(r.fidelity),
                r.modules.size(), cell(r.use.counts_of(source::host)),
                cell(r.use.counts_of(source::firmware)), cell(r.use.counts_of(source::dma)));
    if (text.empty()) return "None.\n";
    return "| Kind | Register | Known by | Fidelity | Modules | Host | Firmware | DMA |\n"
           "|---|---|---|---|---|---|---|---|\n" +
           text;
}

std::string to_markdown(const plan& board, const std::vector<row>& rows) {
    const auto of_host = [](const row& r) { return r.use.counts_of(source::host).any(); };
    const auto count = [&](auto wanted) { return std::ranges::count_if(rows, wanted); };
    return fmt::format(
        "# Registers that a run of {} touched\n\n"
        "{} registers, {} of them by the host. Columns Host, Firmware and DMA: reads / writes.\n\n"
        "## The driver path: stub or invented\n\n{}\n"
        "## The driver path: the others\n\n{}\n"
        "## Firmware only\n\n{}",
        board.name, rows.size(), count(of_host),
        table(rows, [&](const row& r) { return of_host(r) && r.invented(); }),
        table(rows, [&](const row& r) { return of_host(r) && !r.invented(); }),
        table(rows, [&](const row& r) { return !of_host(r); }));
}

}  // namespace

fidelity_report::fidelity_report(const std::filesystem::path& file) : file_(file) {
    check_report(file_);
}

void fidelity_report::write(const plan& board) {
    const auto rows = collect(board);
    write_report(file_, file_.extension() == ".json" ? to_json(board, rows).dump(1) + "\n"
                                                     : to_markdown(board, rows));
}

}  // namespace trn
