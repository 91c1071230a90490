// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/framework/kernel/trace.h"
#include "platform/framework/unique_fd.h"

namespace trn {

/// Named states of this process, kept in memory (doc/decisions/0013): a snapshot is this process,
/// which waits; a copy made by fork() continues. Taking one costs a fork; keeping one costs the
/// pages that change later.
///
/// Files are not restored: data written by one state stay written after a restore of another. A
/// waiting process forwards SIGINT and SIGTERM to the running one, and ends with its status.
class snapshots {
public:
    static constexpr std::size_t max_snapshots = 64;

    /// Callbacks for components that must handle the copy of this process.
    struct hooks {
        std::function<void()> before = {};       ///< before each fork()
        std::function<void()> in_original = {};  ///< after each fork(), in the original process
        /// After each fork(), in the copy. A std::system_error ends the copy: keep() or prepare()
        /// throws its error code.
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
    /// \throws std::runtime_error when there are `max_snapshots` already
    /// \throws std::system_error when the machine has no process or descriptor left: this process
    /// continues with its snapshots
    std::optional<handover_state> keep(const std::string& name, const nlohmann::json& about = {});

    struct kept {
        int socket;  // the other end belongs to the waiting process
        nlohmann::json about;
    };
    /// Includes snapshots younger than this state, passed on by restore().
    const std::map<std::string, kept, std::less<>>& all() const { return kept_; }
    bool has(std::string_view name) const { return kept_.find(name) != kept_.end(); }

    /// The copy of a kept state that will continue. It exists and waits for restore(); it ends with
    /// this object.
    class successor {
    private:
        friend class snapshots;
        explicit successor(unique_fd channel) : channel_(std::move(channel)) {}
        unique_fd channel_;
    };
    /// Makes a copy of the state `name`, which receives `descriptors`. Precondition: has(name).
    /// \throws std::system_error when the machine has no process or descriptor left: nothing has
    /// changed
    successor prepare(std::string_view name, std::span<const int> descriptors = {}) const;
    /// Ends this process; `next` continues and receives `state`. Precondition: the snapshots are
    /// those of prepare(). \throws std::system_error when `next` has ended, for example killed:
    /// this process continues with its snapshots
    [[noreturn]] void restore(successor next, const nlohmann::json& state) const;

private:
    struct request;

    pid_t copy_of_this(int report_to);
    std::optional<handover_state> wait(unique_fd requests, unique_fd signals, pid_t successor);
    std::optional<handover_state> serve(request& asked, pid_t& copy);

    hooks around_;
    std::map<std::string, kept, std::less<>> kept_;
};

}  // namespace trn
