// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace trn::scenario {

/// Tidies up when this process ends, however it does: removes a folder and ends a group of
/// processes. It is a process of its own, which leads that group.
class keeper {
public:
    /// \throws std::system_error
    explicit keeper(const std::filesystem::path& folder);
    /// Tidies up now.
    ~keeper();
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;

    pid_t group() const { return pid_; }

private:
    pid_t pid_;
    int alive_;  // a pipe, at its end when this process is at its own
};

}  // namespace trn::scenario
