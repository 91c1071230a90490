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

/// States of this process by name, kept in memory (doc/decisions/0013): a snapshot is this process,
/// which waits from then on; a copy of it, made by fork(), goes on. So taking one costs a fork, and
/// keeping one costs what changes afterwards.
///
/// Files are not kept: what one state wrote stays written when another goes on. A process that
/// waits passes SIGINT and SIGTERM on to the one that acts, and ends as that one ends.
class snapshots {
public:
    static constexpr std::size_t most = 64;

    /// What else has to know that this process is copied.
    struct hooks {
        std::function<void()> before = {};       ///< each fork()
        std::function<void()> in_original = {};  ///< after it
        std::function<void()> in_copy = {};
        /// Once in the process that waits from now on: it lets go of what the copy goes on with.
        std::function<void()> waits = {};
    };
    /// What a state that is left gives to the one that goes on.
    struct handover_state {
        nlohmann::json what;
        std::vector<int> descriptors = {};  ///< of the one who is given it, to close
        trace::position behind = {};        ///< filled in by restore()
    };
    /// The signals that ask for an end: while a process waits they are for the one that acts.
    static sigset_t requests_to_end();

    snapshots() = default;
    explicit snapshots(hooks around) : around_(std::move(around)) {}

    /// Keeps the state of this process, instead of an older one of that name. Returns nothing now,
    /// and what restore() was given each time that it goes on from here again: what the other state
    /// traced is part of this one's history then.
    /// `about`: for all().
    /// \throws std::runtime_error when there are `most` already
    /// \throws std::system_error when the machine has no process or socket left
    std::optional<handover_state> keep(const std::string& name, const nlohmann::json& about = {});

    struct kept {
        int socket;  // the other end is held by the process that waits
        nlohmann::json about;
    };
    /// Also those that are younger than this state: who restored it passed them on.
    const std::map<std::string, kept, std::less<>>& all() const { return kept_; }
    bool has(std::string_view name) const { return kept_.find(name) != kept_.end(); }
    /// Ends this process; the state called `name` goes on and is given `carry`. Has it before.
    /// \throws std::system_error when that cannot be told: this process goes on
    [[noreturn]] void restore(std::string_view name, handover_state carry);

private:
    struct order;

    pid_t copy_of_this();
    std::optional<handover_state> wait(int socket, pid_t successor);

    hooks around_;
    std::map<std::string, kept, std::less<>> kept_;
};

}  // namespace trn
