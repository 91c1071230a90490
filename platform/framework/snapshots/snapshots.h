// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/kernel/trace.h"

namespace trn {

/// Named states of this process, kept in memory (doc/decisions/0013): a snapshot is this process,
/// which waits; a copy made by fork() continues. Taking one costs a fork; keeping one costs the
/// pages that change later.
///
/// Files are not restored: data written by one state stay written after a restore of another. A
/// waiting process forwards SIGINT and SIGTERM to the running one, and ends with its status.
class snapshots {
public:
    static constexpr std::size_t most = 64;

    /// Callbacks for components that must handle the copy of this process.
    struct hooks {
        std::function<void()> before = {};       ///< before each fork()
        std::function<void()> in_original = {};  ///< after each fork(), in the original process
        std::function<void()> in_copy = {};
        /// Called once in a process when it starts to wait: must release resources that the copy
        /// uses.
        std::function<void()> waits = {};
    };
    /// State passed from the replaced process to the one that continues.
    struct handover_state {
        nlohmann::json state;
        std::vector<int> descriptors = {};  ///< owned by the receiver, which must close them
        trace::position traced = {};        ///< filled in by restore()
    };
    /// Termination signals: while a process waits, they are forwarded to the running one.
    static sigset_t requests_to_end();

    snapshots() = default;
    explicit snapshots(hooks around) : around_(std::move(around)) {}

    /// Keeps the state of this process under `name`, replacing an older one. Returns nullopt now,
    /// and the argument of restore() each time that execution resumes here; traces of the replaced
    /// state are then part of this state's history. `about`: shown by all().
    /// \throws std::runtime_error when there are `most` already
    /// \throws std::system_error when the machine has no process or socket left
    std::optional<handover_state> keep(const std::string& name, const nlohmann::json& about = {});

    struct kept {
        int socket;  // the other end belongs to the waiting process
        nlohmann::json about;
    };
    /// Includes snapshots younger than this state, passed on by restore().
    const std::map<std::string, kept, std::less<>>& all() const { return kept_; }
    bool has(std::string_view name) const { return kept_.find(name) != kept_.end(); }
    /// Ends this process; the state `name` continues and receives `carry`. Precondition: has(name).
    /// \throws std::system_error if the state cannot be notified: this process continues
    [[noreturn]] void restore(std::string_view name, handover_state carry);

private:
    struct order;

    pid_t copy_of_this();
    std::optional<handover_state> wait(int socket, pid_t successor);

    hooks around_;
    std::map<std::string, kept, std::less<>> kept_;
};

}  // namespace trn
