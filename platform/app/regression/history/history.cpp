// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/history/history.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <set>
#include <system_error>
#include <tuple>

#include "platform/app/regression/records/fields.h"
#include "platform/app/regression/records/versioned_file.h"
#include "platform/app/report_file.h"
#include "platform/app/scenario/results/description.h"
#include "platform/app/scenario/results/report.h"
#include "platform/framework/config/file.h"
#include "platform/framework/unique_fd.h"

namespace trn::regression {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr file_format history_format{
    .key = "trnvp history", .content = "the history", .version = 1};
constexpr std::size_t max_files = 100'000;

std::tm utc(std::int64_t seconds) {
    const auto time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    gmtime_r(&time, &parts);
    return parts;
}

json entry_of(const std::vector<const result*>& runs) {
    double seconds = 0;
    bool passed = true;
    json figures = json::object(), units = json::object(), failed_seeds = json::array();
    for (const auto* run : runs) {
        seconds += run->outcome.wall_s;
        passed = passed && run->passed();
        if (!run->passed()) failed_seeds.push_back(run->description.seed);
        for (const auto& f : run->outcome.figures) {
            figures[f.name] = f.value;
            units[f.name] = f.unit;
        }
    }
    const auto& first = *runs.front();
    json entry{{"passed", passed}, {"wall_s", seconds}, {"figures", std::move(figures)}};
    if (!units.empty()) entry["units"] = std::move(units);
    if (first.description.campaign) entry["failed_seeds"] = std::move(failed_seeds);
    if (runs.size() == 1 && first.outcome.trace_digest != 0) {
        entry["digest"] = scenario::digest_text(first.outcome);
        entry["fingerprint"] = first.fingerprint;
    }
    return entry;
}

past_result result_of(const fields& entry, const fields& run) {
    past_result past{
        .started = static_cast<std::int64_t>(run.number("started", std::uint64_t{1} << 40)),
        .build = run.text("build"),
        .passed = entry.boolean("passed"),
        .wall_s = entry.real("wall_s"),
        .digest = entry.text_or_empty("digest"),
        .fingerprint = entry.text_or_empty("fingerprint")};
    const auto& figures = entry.object("figures", 10'000);
    const auto values = entry.at("figures");
    for (const auto& [name, value] : figures.items()) past.figures[name] = values.real(name);
    if (entry.has("units")) {  // newer than the format
        const auto units = entry.at("units");
        for (const auto& [name, unit] : entry.object("units", 10'000).items())
            past.units[name] = units.text(name);
    }
    past.campaign = entry.has("failed_seeds");
    if (past.campaign)
        for (const auto& seed : entry.list("failed_seeds", scenario::max_runs)) {
            if (!seed.is_number_unsigned()) entry.refuse("failed_seeds", "a seed was expected");
            past.failed_seeds.push_back(seed.get<std::uint64_t>());
        }
    return past;
}

struct past_run {
    std::int64_t started = 0;
    std::string build;
    std::map<std::string, past_result> scenarios;  // by identity
    std::vector<std::string> not_run = {};         // run_identity() of each
};

past_run read_file_of_history(const fs::path& file) {
    const auto value = read_versioned(file, history_format);
    const fields run(value, file.string());
    past_run read{
        .started = static_cast<std::int64_t>(run.number("started", std::uint64_t{1} << 40)),
        .build = run.text("build"),
        .scenarios = {}};
    const auto scenarios = run.at("scenarios");
    for (const auto& [scenario, entry] : run.object("scenarios", scenario::max_runs).items())
        read.scenarios[scenario] = result_of(scenarios.at(scenario), run);
    if (run.has("not_run")) read.not_run = run.texts("not_run", scenario::max_runs);
    return read;
}

/// A result of a past run of a scenario; of a campaign, with this seed.
result past_result_of(const std::string& scenario, const past_result& past, const fs::path& file) {
    result past_run_result;
    past_run_result.description = described_by(scenario);
    past_run_result.fingerprint = past.fingerprint;
    auto& outcome = past_run_result.outcome;
    outcome.result =
        past.passed ? scenario::outcome::verdict::passed : scenario::outcome::verdict::failed;
    outcome.wall_s = past.wall_s;
    if (!past.passed)
        outcome.message = fmt::format("failed; the history {} has no messages", file.string());
    if (past.digest.find_first_not_of("0123456789abcdef") == past.digest.npos &&
        past.digest.size() == 16)
        outcome.trace_digest = std::stoull(past.digest, nullptr, 16);
    for (const auto& [name, figure] : past.figures) {
        const auto unit = past.units.find(name);
        outcome.figures.push_back({name, figure, unit == past.units.end() ? "" : unit->second});
    }
    return past_run_result;
}

result with_seed(result past, std::uint64_t seed) {
    past.description.seed = seed;
    past.description.campaign = true;
    past.description.name += fmt::format(" seed {}", seed);
    return past;
}

/// Makes an empty file of this name and a number that no other run has, and of the ending .json.
fs::path new_file(const fs::path& name) {
    for (unsigned number = 0;; ++number) {
        const fs::path file = fmt::format("{}-{:03}.json", name.string(), number);
        const unique_fd made(open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
        if (made) return file;
        if (errno != EEXIST)
            throw output_error(
                fmt::format("{}: cannot write this file: {}", file.string(), std::strerror(errno)));
    }
}

}  // namespace

std::string time_text(std::int64_t seconds) {
    return fmt::format("{:%Y-%m-%d %H:%M}", utc(seconds));
}

std::vector<fs::path> history_files(const fs::path& folder, std::size_t limit) {
    std::vector<fs::path> files;
    std::error_code unreadable;
    for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
        if (entry.path().extension() == ".json") files.push_back(entry.path());
        if (files.size() > max_files) break;
    }
    // File names begin with the start time of the run.
    std::ranges::sort(files);
    if (files.size() > limit)
        files.erase(files.begin(), files.end() - static_cast<std::ptrdiff_t>(limit));
    return files;
}

run_record read_past_run(const fs::path& file) {
    const auto past = read_file_of_history(file);
    run_record run{.build = past.build, .started = past.started, .whole = past.not_run};
    for (const auto& [scenario, past_result] : past.scenarios) {
        const auto known = past_result_of(scenario, past_result, file);
        if (past_result.failed_seeds.empty()) run.results.push_back(known);
        for (const auto seed : past_result.failed_seeds)
            run.results.push_back(with_seed(known, seed));
    }
    for (std::size_t i = 0; i < run.results.size(); ++i) run.results[i].number = i;
    return run;
}

history history::read(const fs::path& folder) {
    history all;
    for (const auto& file : history_files(folder, max_runs)) try {
            for (auto& [scenario, past_result] : read_file_of_history(file).scenarios)
                all.scenarios_[scenario].push_back(std::move(past_result));
        } catch (const file_error& why) {
            all.problems_.emplace_back(why.what());
        }
    return all;
}

void history::add(const fs::path& folder, const run_record& run) {
    std::error_code refused;
    fs::create_directories(folder, refused);
    if (refused) throw file_error(fmt::format("{}: {}", folder.string(), refused.message()));
    std::map<std::string, std::vector<const result*>> runs;
    for (const auto& result : run.results) runs[identity(result.description)].push_back(&result);
    json scenarios = json::object();
    for (const auto& [scenario, all] : runs) scenarios[scenario] = entry_of(all);
    json text{{"trnvp history", history_format.version},
              {"started", run.started},
              {"build", run.build},
              {"scenarios", std::move(scenarios)}};
    if (auto missing = run.missing(); !missing.empty()) text["not_run"] = std::move(missing);
    const auto name =
        fmt::format("{:%Y%m%dT%H%M%SZ}-{}-{}", utc(run.started),
                    run.machine.substr(0, run.machine.find_first_of(", /")), getpid());
    const auto file = new_file(folder / name);
    try {
        write_report(file, line_of(text) + "\n");
    } catch (...) {
        fs::remove(file, refused);
        throw;
    }
}

const std::vector<past_result>& history::runs_of(const std::string& scenario) const {
    static const std::vector<past_result> none;
    const auto found = scenarios_.find(scenario);
    return found == scenarios_.end() ? none : found->second;
}

bool history::flaky(const std::string& scenario) const {
    std::map<std::tuple<std::string, std::string, std::string>, std::set<bool>> ends;
    for (const auto& past : runs_of(scenario))
        if (!past.digest.empty())
            ends[{past.build, past.fingerprint, past.digest}].insert(past.passed);
    return std::ranges::any_of(ends, [](const auto& end) { return end.second.size() > 1; });
}

}  // namespace trn::regression
