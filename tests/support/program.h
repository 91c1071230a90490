// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "platform/framework/process/child_process.h"

namespace trn::test {

struct ended {
    int status = -1;
    std::string output;  ///< stdout and stderr
};

/// Runs a command in a shell and waits until it ends.
inline ended run(const std::string& command) {
    ended result;
    std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    if (!pipe) return result;
    std::array<char, 4096> bytes;
    while (const auto count = std::fread(bytes.data(), 1, bytes.size(), pipe))
        result.output.append(bytes.data(), count);
    const int status = pclose(pipe);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

/// A program that runs in parallel with the test; the destructor terminates it.
class background {
public:
    background(const std::vector<std::string>& words, const std::string& log)
        : process_(child_process::start_bound(words, {.output = opened(log).get()})) {}
    ~background() { end(); }
    background(const background&) = delete;
    background& operator=(const background&) = delete;

    bool running() { return !process_.poll(); }
    pid_t id() const { return process_.pid(); }
    /// Sends SIGTERM and returns the exit status.
    int end() {
        process_.kill(SIGTERM);
        const auto ended = process_.wait();
        return ended.signal == 0 ? ended.status : -1;
    }
    void kill_now() { process_.kill(SIGKILL); }

private:
    static unique_fd opened(const std::string& log) {
        return unique_fd(open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600));
    }

    child_process process_;
};

/// Polls every 10 ms until the condition holds; false on timeout.
template <typename Condition>
bool eventually(Condition&& condition, std::chrono::seconds limit = std::chrono::seconds(300)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

}  // namespace trn::test
