// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/framework/unique_fd.h"

namespace trn {

/// A child of this process, with one owner: killed and waited for when the owner goes.
class child_process {
public:
    using command =
        std::vector<std::string>;  ///< the program, searched as execvp() does, and its words

    /// Standard streams of a program; -1: those of this process.
    struct streams {
        int input = -1;
        int output = -1;  ///< and errors
    };
    /// How it ended.
    struct end_state {
        int status = 0;  ///< when it exited by itself
        int signal = 0;  ///< that killed it; 0: none
        /// As a shell has it: 128 + the signal.
        int shell_status() const { return signal != 0 ? 128 + signal : status; }
    };

    /// Takes a child over that was made by fork().
    explicit child_process(pid_t pid) : pid_(pid) {}
    child_process(child_process&& other) noexcept
        : pid_(std::exchange(other.pid_, -1)), ended_(other.ended_) {}
    ~child_process();

    /// Starts a program in a group of processes (0: a new one that it leads), with no file open but
    /// its streams. This process is not copied for it, so its size does not matter.
    /// \throws std::system_error
    static child_process spawn(command words, streams with, pid_t group = 0);
    /// Starts a program that the kernel kills when this process ends. A program that cannot be
    /// started exits with status 126 after a line on its standard error.
    /// \throws std::system_error when there is no process to be had
    static child_process start_bound(command words, streams with);

    pid_t pid() const { return pid_; }
    /// Readable once the process has ended. \throws std::system_error
    unique_fd end_descriptor() const;
    /// How it ended; nothing while it runs.
    std::optional<end_state> poll();
    end_state wait();
    /// Waits for at most `limit`; whether it has ended.
    bool wait_for(std::chrono::milliseconds limit);
    void kill(int signal);
    /// Asks it to end (SIGTERM), and kills it after `grace`.
    void end(std::chrono::milliseconds grace);
    /// Gives up ownership: the process is a child of another one.
    void release() { pid_ = -1; }

private:
    bool running() const { return pid_ > 0 && !ended_; }
    bool reap(int options);

    pid_t pid_;
    std::optional<end_state> ended_;
};

}  // namespace trn
