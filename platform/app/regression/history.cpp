// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/history.h"

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

#include "platform/app/regression/fields.h"
#include "platform/app/regression/versioned_file.h"
#include "platform/app/report_file.h"
#include "platform/app/scenario/selection.h"
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
    json figures = json::object();
    for (const auto* one : runs) {
        seconds += one->how.wall_s;
        passed = passed && one->passed();
        for (const auto& f : one->how.figures) figures[f.name] = f.value;
    }
    const auto& first = *runs.front();
    json entry{{"passed", passed}, {"wall_s", seconds}, {"figures", std::move(figures)}};
    if (runs.size() == 1 && first.how.trace_digest != 0) {
        entry["digest"] = scenario::digest_text(first.how);
        entry["fingerprint"] = first.fingerprint;
    }
    return entry;
}

past_result result_of(const fields& entry, const fields& run) {
    past_result one{
        .started = static_cast<std::int64_t>(run.number("started", std::uint64_t{1} << 40)),
        .build = run.text("build"),
        .passed = entry.boolean("passed"),
        .wall_s = entry.real("wall_s"),
        .digest = entry.text_or("digest", ""),
        .fingerprint = entry.text_or("fingerprint", "")};
    const auto& figures = entry.object("figures", 10'000);
    const auto at = entry.at("figures");
    for (const auto& [name, value] : figures.items()) one.figures[name] = at.real(name);
    return one;
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

history history::read(const fs::path& folder) {
    history all;
    std::vector<fs::path> files;
    std::error_code unreadable;
    for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
        if (entry.path().extension() == ".json") files.push_back(entry.path());
        if (files.size() > max_files) break;
    }
    // File names begin with the start time of the run.
    std::ranges::sort(files);
    if (files.size() > max_runs)
        files.erase(files.begin(), files.end() - static_cast<std::ptrdiff_t>(max_runs));
    for (const auto& file : files) try {
            all.read_run(file);
        } catch (const file_error& why) {
            all.problems_.emplace_back(why.what());
        }
    return all;
}

void history::read_run(const fs::path& file) {
    const auto value = read_versioned(file, history_format);
    const fields run(value, file.string());
    std::map<std::string, past_result> read;
    const auto in = run.at("scenarios");
    for (const auto& [scenario, entry] : run.object("scenarios", scenario::max_runs).items())
        read[scenario] = result_of(in.at(scenario), run);
    for (auto& [scenario, one] : read) scenarios_[scenario].push_back(std::move(one));
}

void history::add(const fs::path& folder, const run_record& run) {
    std::error_code refused;
    fs::create_directories(folder, refused);
    if (refused) throw file_error(fmt::format("{}: {}", folder.string(), refused.message()));
    std::map<std::string, std::vector<const result*>> runs;
    for (const auto& one : run.results) runs[identity(one.description)].push_back(&one);
    json scenarios = json::object();
    for (const auto& [scenario, all] : runs) scenarios[scenario] = entry_of(all);
    const json text{{"trnvp history", history_format.version},
                    {"started", run.started},
                    {"build", run.build},
                    {"scenarios", std::move(scenarios)}};
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

const std::vector<past_result>& history::of(const std::string& scenario) const {
    static const std::vector<past_result> none;
    const auto found = scenarios_.find(scenario);
    return found == scenarios_.end() ? none : found->second;
}

bool history::flaky(const std::string& scenario) const {
    std::map<std::tuple<std::string, std::string, std::string>, std::set<bool>> ends;
    for (const auto& one : of(scenario))
        if (!one.digest.empty()) ends[{one.build, one.fingerprint, one.digest}].insert(one.passed);
    return std::ranges::any_of(ends, [](const auto& end) { return end.second.size() > 1; });
}

}  // namespace trn::regression
