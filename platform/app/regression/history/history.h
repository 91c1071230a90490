// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "platform/app/regression/records/record.h"

namespace trn::regression {

/// The result of one scenario in one run; all seeds of a campaign are combined.
struct past_result {
    std::int64_t started = 0;  ///< start of the run, seconds since 1970
    std::string build = {};
    bool passed = false;
    double wall_s = 0;
    std::string digest = {};       ///< "": unknown
    std::string fingerprint = {};  ///< digest of the scenario's files, seed and board
    std::map<std::string, double> figures = {};
    std::map<std::string, std::string> units = {};  ///< of figures; older files have none
    bool campaign = false;                          ///< several seeds
    std::vector<std::uint64_t> failed_seeds = {};   ///< of a campaign
};

/// Results of past runs by scenario, from a folder with one small file per run.
class history {
public:
    static constexpr std::size_t max_runs = 30;

    /// Reads the latest runs. problems() lists files that cannot be read.
    static history read(const std::filesystem::path& folder);
    /// \throws file_error, output_error
    static void add(const std::filesystem::path& folder, const run_record& run);

    /// Results in order, oldest first; empty for a scenario that never ran. `scenario`: an
    /// identity().
    const std::vector<past_result>& runs_of(const std::string& scenario) const;
    /// Whether runs with the same build, scenario and trace ended differently. That is a defect of
    /// the platform or of its checks.
    bool flaky(const std::string& scenario) const;
    bool empty() const { return scenarios_.empty(); }
    const std::vector<std::string>& problems() const { return problems_; }

private:
    std::map<std::string, std::vector<past_result>> scenarios_;
    std::vector<std::string> problems_;
};

/// Files of the history in a folder, the latest runs last. At most `limit`.
std::vector<std::filesystem::path> history_files(const std::filesystem::path& folder,
                                                 std::size_t limit);
/// The run of one file of the history, without logs, steps and messages; of a campaign, its failed
/// seeds; of the scenarios that it lacks, their names. \throws file_error
run_record read_past_run(const std::filesystem::path& file);

/// "2026-11-23 14:05", UTC
std::string time_text(std::int64_t seconds);

}  // namespace trn::regression
