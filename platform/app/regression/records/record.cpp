// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/records/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "platform/app/scenario/results/description.h"
#include "platform/app/scenario/results/report.h"
#include "platform/framework/command_line/version.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/mix_in.h"

namespace trn::regression {

std::size_t run_record::failed() const {
    return static_cast<std::size_t>(std::ranges::count(results, false, &result::passed));
}

std::vector<std::string> run_record::missing() const {
    std::set<std::string> there;
    for (const auto& result : results) there.insert(run_identity(result.description));
    std::vector<std::string> none;
    for (const auto& identity : whole)
        if (parts == 1 && !there.contains(identity)) none.push_back(identity);
    return none;
}

std::vector<scenario::ended_case> ended_cases(const run_record& run) {
    std::vector<scenario::ended_case> all;
    for (const auto& result : run.results)
        all.push_back({scenario::case_of(result.description), result.passed()});
    for (const auto& identity : run.missing())
        all.push_back({scenario::case_of({.file = described_by(identity).file}), false});
    return all;
}

std::string run_identity(const scenario::description& run) {
    return run.file + '\t' + run.name;
}

scenario::description described_by(std::string_view identity) {
    const auto tab = std::min(identity.rfind('\t'), identity.size());
    return {.file = std::string(identity.substr(0, tab)),
            .name = std::string(identity.substr(std::min(tab + 1, identity.size())))};
}

std::string readable(std::string_view identity) {
    const auto run = described_by(identity);
    return run.name.empty() ? run.file : fmt::format("{}: {}", run.file, run.name);
}

std::string this_build() {
    return fmt::format("{} {}", project_version(), built_commit());
}

std::string board_key(const scenario::scenario& run) {
    auto key = run.board;
    for (const auto& parameter : board_set(run)) key += " " + parameter;
    return key;
}

namespace {

std::string hexadecimal(std::uint64_t hash) {
    return fmt::format("{:016x}", hash);
}

}  // namespace

result described(const scenario::scenario& run, std::size_t number,
                 const std::string& board_digest) {
    auto hash = mix_in(run.text_digest, board_digest);
    hash = mix_in(hash, fmt::format("{} {}{}", run.seed, run.name, run.options));
    return {.description = run,
            .outcome = {},
            .number = number,
            .board_key = board_key(run),
            .beginning = hexadecimal(mix_in(first_mix, run.beginning)),
            .fingerprint = hexadecimal(hash)};
}

std::string summary(const run_record& run) {
    const auto failed = run.failed();
    auto text = scenario::summary(run.results.size() - failed, failed);
    if (const auto missing = run.missing().size(); missing > 0)
        text += fmt::format(", {} not run", missing);
    return text;
}

const result& row::shown() const {
    const auto bad = std::ranges::find(runs, false, &result::passed);
    return bad == runs.end() ? first() : **bad;
}

std::string row::title() const {
    const auto& run = shown().description;
    return campaign() ? title_of_all_runs(run) : scenario::title(run);
}

std::size_t row::failed() const {
    return static_cast<std::size_t>(std::ranges::count(runs, false, &result::passed));
}

std::vector<row> rows_of(const run_record& run) {
    std::vector<row> all;
    std::unordered_map<std::string, std::size_t> known;
    for (const auto& result : run.results) {
        if (result.description.campaign) {
            const auto [found, fresh] = known.emplace(identity(result.description), all.size());
            if (!fresh) {
                all[found->second].runs.push_back(&result);
                continue;
            }
        }
        all.push_back({{&result}});
    }
    return all;
}

std::string campaign_text(const row& campaign) {
    constexpr std::size_t max_ranges = 100;
    std::set<std::uint64_t> bad;
    for (const auto* run : campaign.runs)
        if (!run->passed()) bad.insert(run->description.seed);
    auto text = fmt::format("{} of {} seeds passed", campaign.runs.size() - campaign.failed(),
                            campaign.runs.size());
    std::vector<std::string> ranges;
    for (auto i = bad.begin(); i != bad.end();) {
        const auto first = *i;
        auto last = first;
        for (++i; i != bad.end() && *i == last + 1; ++i) last = *i;
        ranges.push_back(first == last ? fmt::format("{}", first)
                                       : fmt::format("{}-{}", first, last));
    }
    if (ranges.size() > max_ranges) {
        ranges.resize(max_ranges);
        ranges.emplace_back("...");
    }
    if (!ranges.empty()) text += fmt::format("; failed: {}", fmt::join(ranges, ", "));
    return text;
}

std::string failures_text(const run_record& run) {
    const auto rows = rows_of(run);
    if (run.failed() == 0) return {};
    std::string text = "failed:\n";
    for (const auto& row : rows) {
        if (row.failed() == 0) continue;
        const auto& [described, outcome] = std::tie(row.shown().description, row.shown().outcome);
        const auto whole = failure_text(outcome);
        text += printable(fmt::format("  {}: {}{}: {}", place_text(described, outcome), row.title(),
                                      row.campaign() ? " (" + campaign_text(row) + ")" : "",
                                      whole.substr(0, whole.find('\n')))) +
                "\n";
    }
    return text;
}

}  // namespace trn::regression
