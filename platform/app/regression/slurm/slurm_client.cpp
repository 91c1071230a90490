// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/slurm/slurm_client.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "platform/framework/process/run_command.h"

namespace trn::regression {

namespace {

bool is_installed(std::string_view program) {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (access(fmt::format("{}/{}", folder, program).c_str(), X_OK) == 0) return true;
    return false;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

unsigned number_of(std::string_view text) {
    unsigned value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

slurm_client::slurm_client() {
    for (const auto* program : {"sbatch", "squeue", "scancel", "sinfo"})
        if (!is_installed(program))
            throw slurm_error(fmt::format(
                "--slurm: there is no {} on this machine (Debian: slurm-client)", program));
}

std::string slurm_client::submit(const array& tasks) const {
    std::vector<std::string> words{"sbatch",
                                   "--parsable",
                                   "--no-requeue",
                                   "--job-name=trnvp",
                                   fmt::format("--array={}", fmt::join(tasks.tasks, ",")),
                                   "--output=" + tasks.log.string()};
    if (!tasks.partition.empty()) words.push_back("--partition=" + tasks.partition);
    words.push_back(tasks.script.string());
    const auto answer = run_command(words);
    if (answer.status != 0)
        throw slurm_error(fmt::format("sbatch refused the job: {}", first_line(answer.output)));
    // The output is "123" or "123;cluster"; site plug-ins may print lines before it.
    auto text = answer.output;
    while (text.ends_with('\n')) text.pop_back();
    text = text.substr(text.rfind('\n') + 1);
    text = text.substr(0, text.find(';'));
    if (text.empty() || text.find_first_not_of("0123456789") != text.npos)
        throw slurm_error(fmt::format("sbatch names no job: {}", first_line(answer.output)));
    return text;
}

std::optional<std::map<slurm_client::task, std::string>> slurm_client::states(
    const std::vector<std::string>& jobs) const {
    std::map<task, std::string> all;
    const auto answer =
        run_command({"squeue", "--noheader", "--array", "--states=all",
                     fmt::format("--jobs={}", fmt::join(jobs, ",")), "--format=%F %K %T"});
    // The error for a job that ended more than MinJobAge ago.
    const bool forgotten = answer.output.find("Invalid job id") != answer.output.npos;
    if (answer.status != 0 && !forgotten) return std::nullopt;
    std::istringstream lines(answer.output);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string job, number, state;
        if (words >> job >> number >> state) all[{job, number_of(number)}] = state;
    }
    return all;
}

void slurm_client::cancel(const std::vector<std::string>& jobs) const {
    std::vector<std::string> words{"scancel"};
    words.insert(words.end(), jobs.begin(), jobs.end());
    run_command(words);
}

unsigned slurm_client::processors(const std::string& partition) const {
    std::vector<std::string> words{"sinfo", "--noheader", "--format=%C"};
    if (!partition.empty()) words.push_back("--partition=" + partition);
    const auto answer = run_command(words);
    if (answer.status != 0)
        throw slurm_error(fmt::format("Slurm does not answer: {}", first_line(answer.output)));
    // Each line is "allocated/idle/other/total" for one partition.
    unsigned max_processors = 0;
    std::istringstream lines(answer.output);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream parts(line);
        std::string allocated, idle;
        std::getline(parts, allocated, '/');
        std::getline(parts, idle, '/');
        max_processors = std::max(max_processors, number_of(allocated) + number_of(idle));
    }
    if (max_processors == 0 && !partition.empty() && answer.output.find('/') == answer.output.npos)
        throw slurm_error(fmt::format("Slurm has no partition '{}'", partition));
    return std::max(max_processors, 1u);
}

bool has_ended(const std::string& state) {
    static const std::array ends{"COMPLETED",     "CANCELLED", "FAILED",        "TIMEOUT",
                                 "NODE_FAIL",     "PREEMPTED", "BOOT_FAIL",     "DEADLINE",
                                 "OUT_OF_MEMORY", "REVOKED",   "LAUNCH_FAILED", "RECONFIG_FAIL"};
    return std::ranges::find(ends, state) != ends.end();
}

bool is_fault_of_node(const std::string& state) {
    return state == "NODE_FAIL" || state == "PREEMPTED" || state == "BOOT_FAIL";
}

}  // namespace trn::regression
