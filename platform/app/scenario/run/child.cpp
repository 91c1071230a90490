// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/run/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "platform/app/scenario/run/backtrace.h"
#include "platform/framework/process/bound_fork.h"
#include "platform/framework/process/throw_errno.h"

namespace trn::scenario {

namespace {

constexpr std::chrono::seconds grace{10};
constexpr std::size_t longest_line = 64 * 1024 * 1024;  // all steps of a scenario and its log fit

}  // namespace

std::unique_ptr<child> child::make(const std::string& log, int& pipe) {
    constexpr auto purpose = "a process for a scenario";
    int ends[2];
    unique_fd file(memfd_create("scenario log", MFD_CLOEXEC));
    if (!file || pipe2(ends, O_CLOEXEC) != 0) throw_errno(purpose);
    unique_fd reader(ends[0]), writer(ends[1]);
    write_all(file.get(), log);
    const auto started = clock::now();
    const pid_t pid = fork_bound();
    if (pid < 0) throw_errno(purpose);
    if (pid > 0)
        return std::unique_ptr<child>(new child(started, pid, std::move(reader), std::move(file)));
    dup2(file.get(), STDOUT_FILENO);
    dup2(file.get(), STDERR_FILENO);
    // SIGINT and SIGTERM reach all processes of a terminal or a cluster's job. The runner handles
    // them and ends this process.
    for (const int request : {SIGINT, SIGTERM}) signal(request, SIG_IGN);
    pipe = writer.release();
    install_crash_report(pipe);
    return nullptr;
}

bool child::read(const listener& take) {
    char bytes[4096];
    const auto count = ::read(pipe_.get(), bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return true;
    if (count <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end; (end = buffer_.find('\n')) != std::string::npos;
         buffer_.erase(0, end + 1))
        if (end != 0) take(std::string_view(buffer_).substr(0, end));
    // No valid message is that long.
    if (buffer_.size() > longest_line) buffer_.resize(longest_line);
    return true;
}

double child::seconds() const {
    return std::chrono::duration<double>(clock::now() - started_).count();
}

std::uint64_t child::resident() const {
    return resident_memory(acting_);
}

void child::kill(const listener& take) {
    constexpr int moment_ms = 500;
    killed_ = true;
    ::kill(acting_, SIGABRT);
    pollfd input{pipe_.get(), POLLIN, 0};
    while (poll(&input, 1, moment_ms) == 1 && read(take)) {
    }
    process_.kill(SIGKILL);
}

std::string child::wait() {
    // The pipe is closed, so the process is about to end, unless a defect closed the pipe.
    if (!process_.wait_for(grace)) process_.kill(SIGKILL);
    const auto end = process_.wait();
    if (end.signal != 0)
        return fmt::format("died with signal {} ({})", end.signal, sigabbrev_np(end.signal));
    if (end.status != 0) return fmt::format("exited unexpectedly with status {}", end.status);
    return {};
}

}  // namespace trn::scenario
