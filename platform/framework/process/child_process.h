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

/// A child process with one owner; the destructor kills it and waits for it.
class child_process {
public:
    using command = std::vector<std::string>;  ///< program (found as by execvp()) and arguments

    /// Standard streams of the program (-1: those of this process) and the mode of its files.
    struct streams {
        int input = -1;
        int output = -1;             ///< standard output and standard error
        bool private_files = false;  ///< start_bound(): other users cannot open what it creates
    };
    /// How the process ended.
    struct end_state {
        int status = 0;  ///< exit status, if it exited
        int signal = 0;  ///< the signal that killed it; 0: none
        /// The status in a shell: 128 + the signal for a killed process.
        int shell_status() const { return signal != 0 ? 128 + signal : status; }
    };

    /// Takes ownership of a child made by fork().
    explicit child_process(pid_t pid) : pid_(pid) {}
    child_process(child_process&& other) noexcept
        : pid_(std::exchange(other.pid_, -1)), ended_(other.ended_) {}
    ~child_process();

    /// Starts a program in a process group (0: a new one, which it leads), with its standard
    /// streams as the only open files. Does not copy this process, so its size does not matter.
    /// \throws std::system_error
    static child_process spawn(command words, streams standard, pid_t group = 0);
    /// Starts a program that the kernel kills when this process ends, with its standard streams as
    /// the only open files. A program that cannot be started exits with status 126 after an error
    /// message. \throws std::system_error when no process can be created
    static child_process start_bound(command words, streams standard);

    pid_t pid() const { return pid_; }
    /// A descriptor that becomes readable when the process has ended. \throws std::system_error
    unique_fd end_descriptor() const;
    /// How the process ended; nothing while it runs.
    std::optional<end_state> poll();
    end_state wait();
    /// Waits for at most `limit`. Returns whether the process has ended.
    bool wait_for(std::chrono::milliseconds limit);
    void kill(int signal);
    /// Sends SIGTERM, and kills the process after `grace`.
    void end(std::chrono::milliseconds grace);
    /// Gives up ownership, e.g. because the process is a child of another process.
    void release() { pid_ = -1; }

private:
    bool running() const { return pid_ > 0 && !ended_; }
    bool reap(int options);

    pid_t pid_;
    std::optional<end_state> ended_;
};

}  // namespace trn
