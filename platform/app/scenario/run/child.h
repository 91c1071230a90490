// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "platform/framework/process/child_process.h"
#include "platform/framework/process/output_log.h"
#include "platform/framework/unique_fd.h"

namespace trn::scenario {

/// A process forked from this one, with a log, and a pipe for lines to this process. It ends when
/// its parent ends.
class child {
public:
    /// Forks. Returns null in the new process, where `pipe` is the write end for its lines. The log
    /// begins with the text `log`.
    static std::unique_ptr<child> make(const std::string& log, int& pipe);

    int pipe() const { return pipe_.get(); }
    using listener = std::function<void(std::string_view line)>;
    /// Reads the available lines; false at the end of the process.
    bool read(const listener& take);
    /// Applies limits to `pid`: the process of a restored snapshot, which replaced this one.
    void follow(pid_t pid) { acting_ = pid; }
    double seconds() const;          ///< since the fork
    std::uint64_t resident() const;  ///< bytes of memory; 0: unknown
    /// Kills the process; gives it 500 ms to write a backtrace.
    void kill(const listener& take);
    bool killed() const { return killed_; }
    /// Waits for the end: "" for exit status 0, else for example "died with signal 11 (SEGV)".
    std::string wait();
    std::string log() const { return read_log(log_.get()); }
    void trim_log() { trn::trim_log(log_.get()); }
    /// Call in a sibling of the process: the destructor then does not end the process.
    void forget() { process_.release(); }

private:
    using clock = std::chrono::steady_clock;
    child(clock::time_point started, pid_t pid, unique_fd pipe, unique_fd log)
        : started_(started),
          pipe_(std::move(pipe)),
          log_(std::move(log)),
          process_(pid),
          acting_(pid) {}

    const clock::time_point started_;  // before the fork
    const unique_fd pipe_, log_;
    child_process process_;
    pid_t acting_;  // process_, or the process of a restored snapshot
    bool killed_ = false;
    std::string buffer_;
};

}  // namespace trn::scenario
