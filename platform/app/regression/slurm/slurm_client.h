// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace trn::regression {

/// Slurm is not installed, does not answer or refuses a job; what() is one sentence.
struct slurm_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Wraps Slurm's commands sbatch, squeue, scancel and sinfo.
class slurm_client {
public:
    /// \throws slurm_error when a command is not installed
    slurm_client();

    struct array {
        std::filesystem::path script, log;  ///< `log` contains %a for the task number
        std::vector<unsigned> tasks;
        std::string partition = {};  ///< "": Slurm's default
    };
    /// Submits the array and returns the job's number. Slurm must not restart its tasks. \throws
    /// slurm_error
    std::string submit(const array& tasks) const;

    using task = std::pair<std::string, unsigned>;  ///< job and task
    /// State of each task: "PENDING", "RUNNING", "COMPLETED", "NODE_FAIL", ... Tasks that ended
    /// long ago are missing. Nothing when Slurm does not answer.
    std::optional<std::map<task, std::string>> states(const std::vector<std::string>& jobs) const;

    void cancel(const std::vector<std::string>& jobs) const;

    /// Processors of the partition that are in use or free; at least 1. \throws slurm_error
    unsigned processors(const std::string& partition) const;
};

/// Whether a task in this state has ended. One in an unknown state has not.
bool has_ended(const std::string& state);
/// Whether a task with this final state failed because of its node.
bool is_fault_of_node(const std::string& state);

}  // namespace trn::regression
