// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/history/durations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/app/regression/records/fields.h"
#include "platform/app/regression/records/versioned_file.h"
#include "platform/app/report_file.h"

namespace trn::regression {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr file_format durations_format{
    .key = "trnvp durations", .content = "durations", .version = 1};
constexpr double max_seconds = 1e7;

double seconds(const fields& entry, std::string_view key) {
    const auto value = entry.real(key);
    if (value < 0 || value > max_seconds) entry.refuse(key, "not a duration in seconds");
    return value;
}

/// Rounds to milliseconds: smaller changes are noise in a repository's history.
double rounded(double value) {
    return std::round(value * 1000) / 1000;
}

double middle(std::vector<double> all) {
    std::ranges::sort(all);
    return all[all.size() / 2];
}

}  // namespace

durations durations::read(const fs::path& file) {
    durations all;
    std::error_code unreadable;
    if (!fs::exists(file, unreadable)) return all;
    const auto name = file.string();
    const auto value = read_versioned(file, durations_format);
    const fields top(value, name);
    for (const auto& [scenario_file, names] : top.object("scenarios", scenario::max_runs).items()) {
        const fields file_entries(top.at("scenarios").object(scenario_file, scenario::max_runs),
                                  fmt::format("{}: '{}'", name, scenario_file));
        for (const auto& [scenario_name, times] : names.items()) {
            const auto entry = file_entries.at(scenario_name);
            all.entries_[scenario_file + '\t' + scenario_name] = {seconds(entry, "beginning_s"),
                                                                  seconds(entry, "own_s")};
        }
    }
    return all;
}

durations durations::measured_in(const run_record& run) {
    std::map<std::string, std::pair<entry, double>> sums;
    for (const auto& result : run.results) {
        if (!result.passed()) continue;
        auto& [sum, count] = sums[identity(result.description)];
        sum.beginning_s += result.outcome.beginning_s;
        sum.own_s += result.outcome.own_s;
        ++count;
    }
    durations all;
    for (const auto& [name, measured] : sums)
        all.entries_[name] = {measured.first.beginning_s / measured.second,
                              measured.first.own_s / measured.second};
    return all;
}

void durations::merge(const durations& other) {
    for (const auto& [name, measured] : other.entries_) {
        const auto [found, fresh] = entries_.emplace(name, measured);
        auto& known = found->second;
        if (!fresh)
            known = {(known.beginning_s + measured.beginning_s) / 2,
                     (known.own_s + measured.own_s) / 2};
    }
}

std::optional<durations::entry> durations::find(const scenario::description& run) const {
    const auto found = entries_.find(identity(run));
    return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<durations::entry> durations::median() const {
    if (entries_.empty()) return std::nullopt;
    std::vector<double> beginnings, own;
    for (const auto& [name, duration] : entries_) {
        beginnings.push_back(duration.beginning_s);
        own.push_back(duration.own_s);
    }
    return entry{middle(std::move(beginnings)), middle(std::move(own))};
}

/// One line per scenario, sorted by name, so that a diff shows single scenarios.
std::string durations::text() const {
    std::map<std::string, std::vector<std::string>> files;
    for (const auto& [name, duration] : entries_) {
        const auto tab = name.find('\t');
        files[name.substr(0, tab)].push_back(fmt::format(
            "   {}: {{\"beginning_s\": {}, \"own_s\": {}}}", line_of(name.substr(tab + 1)),
            rounded(duration.beginning_s), rounded(duration.own_s)));
    }
    std::string out =
        fmt::format("{{\n \"trnvp durations\": {},\n \"scenarios\": {{", durations_format.version);
    const char* comma = "\n";
    for (const auto& [file, lines] : files) {
        out += fmt::format("{}  {}: {{\n", std::exchange(comma, ",\n"), line_of(file));
        for (std::size_t i = 0; i < lines.size(); ++i)
            out += lines[i] + (i + 1 == lines.size() ? "\n" : ",\n");
        out += "  }";
    }
    return out + "\n }\n}\n";
}

void update_durations(const fs::path& file, const run_record& run) {
    auto all = durations::read(file);
    all.merge(durations::measured_in(run));
    write_report(file, all.text());
}

}  // namespace trn::regression
