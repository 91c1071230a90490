// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp_test/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "platform/app/commands/guarded.h"
#include "platform/app/regression/comparison/merge.h"
#include "platform/app/regression/records/record_file.h"
#include "platform/app/regression/slurm/slurm_client.h"
#include "platform/app/report_file.h"
#include "platform/app/scenario/results/report.h"
#include "platform/app/trnvp_test/first_signal.h"
#include "platform/app/trnvp_test/output.h"
#include "platform/framework/config/file.h"
#include "platform/framework/output.h"

namespace trn {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr unsigned max_attempts = 3;
constexpr unsigned max_tasks = 1000;  // Slurm's default MaxArraySize is 1001

/// Makes the folder of scripts, logs and records: inside the folder of the reports, else in the
/// current folder, because nodes share it but not the temporary folder.
fs::path make_folder(const fs::path& report) {
    const auto parent = report.empty() ? fs::current_path() : fs::absolute(report);
    std::error_code refused;
    fs::create_directories(parent, refused);
    auto name = (parent / "slurm-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
        throw file_error(fmt::format("{}: {}", name, std::strerror(errno)));
    return name;
}

/// A word for /bin/sh that is exactly `text`.
std::string shell_word(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

/// A path in the pattern of a log's name, in which Slurm replaces words that begin with '%'.
std::string in_pattern(const fs::path& path) {
    std::string text;
    for (const char c : path.string()) text += c == '%' ? std::string("%%") : std::string(1, c);
    return text;
}

std::string last_lines_of(const fs::path& file) {
    std::ostringstream all;
    all << std::ifstream(file, std::ios::binary).rdbuf();
    return std::string(scenario::last_lines(all.str(), 5));
}

using clock = std::chrono::steady_clock;

/// How long a shared file system may take to show the record of a task that has ended.
constexpr auto max_record_delay = 20s;

/// One shard is one task of an array; a repeated shard is a task of a new array.
struct slurm_shard {
    unsigned part;
    unsigned attempt = 1;
    std::string job = {};
    std::vector<fs::path> folders = {};  ///< one per attempt
    bool ended = false;
    std::optional<clock::time_point> record_due = {};  ///< while its task has ended
};

class slurm_run {
public:
    slurm_run(const test_options& chosen, const test_scenarios& all);
    slurm_result run();

private:
    void submit(const std::vector<unsigned>& parts);
    std::string script(unsigned attempt) const;
    void poll_results();
    void poll_states();
    void end(slurm_shard& shard, const std::string& state);
    bool repeat(slurm_shard& shard, const std::string& state);
    void note(const std::string& sentence);
    void wait_for_end();
    void cancel();
    bool all_ended() const {
        return std::ranges::all_of(shards_, [](const auto& shard) { return shard.ended; });
    }
    regression::run_record merged();

    const test_options& chosen_;
    const test_scenarios& all_;
    const regression::slurm_client slurm_;
    fs::path folder_;
    test_output output_;
    std::vector<slurm_shard> shards_;
    std::vector<regression::record_follower> followers_;
    std::vector<std::string> jobs_, notes_;
    std::map<std::string, bool> known_;  // results so far by run_identity(): passed
    scenario::run_progress progress_;
};

slurm_run::slurm_run(const test_options& chosen, const test_scenarios& all)
    : chosen_(chosen), all_(all), output_(chosen.json || chosen.quiet, all.mine) {
    const auto wanted = chosen.jobs != 0 ? chosen.jobs : slurm_.processors(chosen.partition);
    const auto count = static_cast<unsigned>(
        std::min<std::size_t>({wanted, max_tasks, std::max<std::size_t>(all.mine.size(), 1)}));
    folder_ = make_folder(chosen.report);
    progress_.total = all.mine.size();
    std::vector<unsigned> parts;
    for (unsigned part = 1; part <= count; ++part) {
        shards_.push_back({part});
        followers_.emplace_back(fs::path());
        parts.push_back(part);
    }
    submit(parts);
}

/// The shell script that runs one shard.
std::string slurm_run::script(unsigned attempt) const {
    // The shell expands only the number of the task, not characters of the folder's name.
    const auto shard =
        fmt::format("{}/\"$SLURM_ARRAY_TASK_ID\".{}", shell_word(folder_.string()), attempt);
    std::string text =
        fmt::format("#!/bin/sh\nexec {}", shell_word(fs::read_symlink("/proc/self/exe").string()));
    for (const auto& word : chosen_.forwarded)
        // A single shard does not write the durations.
        if (shards_.size() > 1 || !word.starts_with("--durations=")) text += " " + shell_word(word);
    text += fmt::format(" --shard \"$SLURM_ARRAY_TASK_ID/{}\" --report {}", shards_.size(), shard);
    text += " -j \"${SLURM_CPUS_PER_TASK:-1}\"";
    if (!chosen_.coverage.empty()) text += fmt::format(" --coverage {}.info", shard);
    if (!chosen_.fidelity_report.empty())
        text += fmt::format(" --fidelity-report {}.fidelity.json", shard);
    return text + "\n";
}

void slurm_run::submit(const std::vector<unsigned>& parts) {
    const auto attempt = shards_[parts.front() - 1].attempt;
    const auto file = folder_ / fmt::format("shard.{}.sh", attempt);
    write_report(file, script(attempt));
    const auto job =
        slurm_.submit({.script = file,
                       .log = fs::path(in_pattern(folder_)) / fmt::format("%a.{}.out", attempt),
                       .tasks = parts,
                       .partition = chosen_.partition});
    jobs_.push_back(job);
    for (const auto part : parts) {
        auto& shard = shards_[part - 1];
        shard.job = job;
        shard.folders.push_back(folder_ / fmt::format("{}.{}", part, attempt));
        shard.record_due = {};
        followers_[part - 1] = regression::record_follower(shard.folders.back());
    }
}

/// Prints the new results in the records of all shards; of a repeated shard, those that differ from
/// the results before.
void slurm_run::poll_results() {
    for (auto& follower : followers_)
        for (const auto& result : follower.poll()) {
            const auto [known, fresh] =
                known_.emplace(regression::run_identity(result.description), result.passed());
            if (!fresh && known->second == result.passed()) continue;
            progress_.ended += fresh;
            progress_.failed += !result.passed();
            progress_.failed -= !fresh && !known->second;
            known->second = result.passed();
            output_.add(result.description, result.outcome, !fresh);
        }
    output_.show(progress_);
}

void slurm_run::poll_states() {
    const auto states = slurm_.states(jobs_);
    if (!states) return;  // Slurm does not answer: try again at the next poll
    for (auto& shard : shards_) {
        if (shard.ended) continue;
        const auto found = states->find({shard.job, shard.part});
        const std::string state = found == states->end() ? "unknown" : found->second;
        if (found == states->end() || regression::has_ended(state))
            end(shard, state);
        else
            shard.record_due = {};
    }
}

bool is_complete(const fs::path& folder) {
    std::error_code unreadable;
    return fs::exists(folder / regression::record_name, unreadable);
}

void slurm_run::note(const std::string& sentence) {
    notes_.push_back(sentence);
    output_.say(sentence);
}

/// Submits the shard again if it was not its own fault that it ended. \returns whether it runs
bool slurm_run::repeat(slurm_shard& shard, const std::string& state) {
    if (first_signal::received() != 0 || !regression::is_fault_of_node(state) ||
        shard.attempt >= max_attempts)
        return false;
    ++shard.attempt;
    try {
        submit({shard.part});
    } catch (const std::runtime_error& why) {
        note(fmt::format("shard {} cannot run again: {}", shard.part, why.what()));
        return false;
    }
    note(fmt::format("shard {} runs again ({} of {}): {}", shard.part, shard.attempt, max_attempts,
                     state));
    return true;
}

void slurm_run::end(slurm_shard& shard, const std::string& state) {
    if (is_complete(shard.folders.back())) {
        shard.ended = true;
        return;
    }
    if (state == "COMPLETED" || state == "FAILED" || state == "unknown") {
        const auto now = clock::now();
        if (!shard.record_due) shard.record_due = now + max_record_delay;
        if (now < *shard.record_due) return;
    }
    if (repeat(shard, state)) return;
    shard.ended = true;
    note(fmt::format("shard {} did not end its run: {}", shard.part, state));
    const auto log = folder_ / fmt::format("{}.{}.out", shard.part, shard.folders.size());
    if (state == "FAILED") output_.say(last_lines_of(log));
}

/// Cancels all tasks, and waits up to 30 s for the results that they write at their end.
void slurm_run::cancel() {
    output_.say("cancelling the jobs");
    try {
        slurm_.cancel(jobs_);
        const auto limit = clock::now() + 30s;
        while (!all_ended() && clock::now() < limit) {
            poll_states();
            std::this_thread::sleep_for(200ms);
        }
    } catch (const std::exception& why) {
        note(why.what());
    }
    poll_results();
}

regression::run_record slurm_run::merged() {
    std::vector<std::vector<fs::path>> shards;
    std::error_code unreadable;
    for (const auto& shard : shards_) {
        std::vector<fs::path> begun;
        for (const auto& folder : shard.folders)
            if (fs::is_directory(folder, unreadable)) begun.push_back(folder);
        if (!begun.empty()) shards.push_back(begun);
    }
    regression::run_record run{
        .build = regression::this_build(), .options = chosen_.options, .whole = all_.whole};
    try {
        auto all = regression::merge(shards);
        for (const auto& problem : all.problems)
            print_to(stderr, "trnvp: {}\n", printable(problem));
        run = std::move(all.run);
    } catch (const file_error&) {
        // No shard has a result; all scenarios are missing.
    }
    run.notes.insert(run.notes.begin(), notes_.begin(), notes_.end());
    return run;
}

/// Polls until all shards have ended or a signal arrives.
void slurm_run::wait_for_end() {
    auto asked = clock::now();
    while (!all_ended() && first_signal::received() == 0) {
        poll_results();
        if (const auto now = clock::now(); now >= asked) {
            poll_states();
            asked = now + 1s;  // limits the load on the cluster's controller
        }
        std::this_thread::sleep_for(100ms);
    }
}

slurm_result slurm_run::run() {
    const auto begin = clock::now();
    try {
        wait_for_end();
    } catch (const std::exception& why) {  // such as no process left on this machine
        note(why.what());
    }
    if (!all_ended()) cancel();
    poll_results();
    output_.clear();
    slurm_result result{merged(), first_signal::received()};
    result.run.wall_s = std::chrono::duration<double>(clock::now() - begin).count();
    if (chosen_.report.empty() && result.run.missing().empty()) {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    } else {
        output_.say(fmt::format("jobs {}: scripts, logs and records are in {}",
                                fmt::join(jobs_, ", "), folder_.string()));
    }
    return result;
}

}  // namespace

slurm_result run_on_slurm(const test_options& chosen, const test_scenarios& all) {
    try {
        return slurm_run(chosen, all).run();
    } catch (const regression::slurm_error& why) {
        throw user_error(why.what());
    }
}

}  // namespace trn
