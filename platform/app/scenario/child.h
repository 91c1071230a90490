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

/// Writes one message as one line; text of a guest may be in it, so bytes that are no UTF-8 are
/// replaced. Silent when nobody reads any more.
void send_line(int pipe, const nlohmann::json& message);

/// The last 256 KiB of a log, a memory file.
std::string read_log(int file);
/// Gives back the memory of what read_log() leaves out, once that is much.
void trim_log(int file);

/// A process forked from this one, which prints into a log of its own and tells this one lines.
/// Both end with the process that made them.
class child {
public:
    /// Null in the new process, where `pipe` is what it writes its lines to.
    /// `log` is what its log begins with.
    static std::unique_ptr<child> make(const std::string& log, int& pipe);

    int pipe() const { return pipe_.get(); }
    using listener = std::function<void(std::string_view line)>;
    /// Takes what the pipe has; false when the process is at its end.
    bool read(const listener& take);
    /// A snapshot went on in its place: `pid` is what can hang, or grow, from now on.
    void follow(pid_t pid) { acting_ = pid; }
    double seconds() const;          ///< since it was made
    std::uint64_t resident() const;  ///< bytes of memory; 0 when that cannot be told
    /// Ends it, after it had a moment to tell where it was.
    void kill(const listener& take);
    bool killed() const { return killed_; }
    /// Waits for its end: "" for a status of 0, else "died with signal 11 (SEGV)" or so.
    std::string wait();
    std::string log() const { return read_log(log_.get()); }
    void trim_log() { trn::scenario::trim_log(log_.get()); }
    /// Not this process's child after all, but its brother.
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
