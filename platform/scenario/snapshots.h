// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace trn::scenario {

/// States of this process by name, kept in memory (doc/decisions/0013): a snapshot is this process,
/// which waits from then on; a copy of it, made by fork(), goes on. So taking one costs a fork, and
/// keeping one costs what changes afterwards.
///
/// Files are not kept: what one state wrote stays written when another goes on.
class snapshots {
public:
    static constexpr std::size_t most = 64;

    /// Keeps the state of this process, instead of an older one of that name. Returns nothing now,
    /// and what restore() was given each time that it goes on from here again.
    /// \throws std::runtime_error when there are `most` already
    /// \throws std::system_error when the machine has no process or socket left
    std::optional<nlohmann::json> keep(const std::string& name);

    bool has(std::string_view name) const { return kept_.find(name) != kept_.end(); }
    /// Ends this process; the state called `name` goes on and is given `carry`. Has it before.
    [[noreturn]] void restore(std::string_view name, const nlohmann::json& carry);

private:
    struct order;

    std::optional<nlohmann::json> wait(int socket, pid_t successor);

    // The other end is held by the process that waits. Snapshots that are younger than this state
    // are known too: who restored this one passed them on.
    std::map<std::string, int, std::less<>> kept_;
};

}  // namespace trn::scenario
