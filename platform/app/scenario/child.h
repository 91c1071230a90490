// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "platform/framework/process/child_process.h"
#include "platform/framework/unique_fd.h"

namespace trn::scenario {

[[noreturn]] void throw_errno(const char* what);

/// Writes one message as one line. Bytes that are not UTF-8 (text of a guest) are replaced. A
/// closed pipe is no error.
void send_line(int pipe, const nlohmann::json& message);

/// The last 256 KiB of a log, a memory file.
std::string read_log(int file);
/// Releases the memory of the part that read_log() omits, in large blocks.
void trim_log(int file);

/// A process forked from this one, with a log of its own and a pipe for lines to this process. It
/// ends when its parent ends.
class child {
public:
    /// Returns null in the new process, where `pipe` is the write end for its lines. Its log begins
    /// with `log`.
    static std::unique_ptr<child> make(const std::string& log, int& pipe);

    int pipe() const { return pipe_.get(); }
    using listener = std::function<void(std::string_view line)>;
    /// Reads the available lines; false at the end of the process.
    bool read(const listener& take);
    /// A restored snapshot took its place: limits apply to `pid` from now on.
    void follow(pid_t pid) { acting_ = pid; }
    double seconds() const;          ///< since it was made
    std::uint64_t resident() const;  ///< bytes of memory; 0: unknown
    /// Kills the process, after a short time for its backtrace.
    void kill(const listener& take);
    bool killed() const { return killed_; }
    /// Waits for its end: "" for a status of 0, else "died with signal 11 (SEGV)" or so.
    std::string wait();
    std::string log() const { return read_log(log_.get()); }
    void trim_log() { trn::scenario::trim_log(log_.get()); }
    /// The process is a sibling of this one: the destructor leaves it alone.
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
    pid_t acting_;  // the same, or one whose end is its end (snapshots)
    bool killed_ = false;
    std::string buffer_;
};

}  // namespace trn::scenario
