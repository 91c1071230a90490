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

namespace trn::test {

struct ended {
    int status = -1;
    std::string output;  ///< of both streams
};

/// Runs a program to its end, through a shell.
inline ended run(const std::string& command) {
    ended how;
    std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    if (!pipe) return how;
    std::array<char, 4096> bytes;
    while (const auto count = std::fread(bytes.data(), 1, bytes.size(), pipe))
        how.output.append(bytes.data(), count);
    const int status = pclose(pipe);
    how.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return how;
}

/// A program that runs beside the test and is ended by it.
class background {
public:
    explicit background(std::vector<std::string> words, const std::string& log) {
        const int out = open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
        pid_ = fork();
        if (pid_ != 0) {
            close(out);
            return;
        }
        dup2(out, STDOUT_FILENO);
        dup2(out, STDERR_FILENO);
        std::vector<char*> arguments;
        for (auto& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        execv(arguments[0], arguments.data());
        _exit(127);
    }
    ~background() { end(); }
    background(const background&) = delete;
    background& operator=(const background&) = delete;

    bool running() {
        if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
        return pid_ > 0;
    }
    /// Sends SIGTERM and returns the exit status.
    int end() {
        if (pid_ > 0) {
            kill(pid_, SIGTERM);
            waitpid(pid_, &status_, 0);
            pid_ = -1;
        }
        return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
    }
    void kill_now() {
        if (pid_ > 0) kill(pid_, SIGKILL);
    }

private:
    pid_t pid_ = -1;
    int status_ = 0;
};

/// Polls every 10 ms until the timeout.
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
