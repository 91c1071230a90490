// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <system_error>

#include "platform/app/scenario/backtrace.h"
#include "platform/framework/process/bound_fork.h"

namespace trn::scenario {

namespace {

constexpr off_t log_kept = 256 * 1024;
constexpr int grace_ms = 10'000;
constexpr off_t trimmed_by = 16 * 1024 * 1024;
constexpr std::size_t longest_line = 64 * 1024 * 1024;  // all steps of a scenario and its log

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const auto count = write(file, text.data(), text.size());
        if (count < 0 && errno != EINTR) return;  // nobody is there to read
        if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    }
}

}  // namespace

void throw_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

void send_line(int pipe, const nlohmann::json& message) {
    write_all(pipe, message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::string read_log(int file) {
    const auto size = std::max<off_t>(lseek(file, 0, SEEK_END), 0);
    const auto kept = std::min(size, log_kept);
    std::string text(static_cast<std::size_t>(kept), '\0');
    const auto got = pread(file, text.data(), text.size(), size - kept);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

void trim_log(int file) {
    struct stat about {};
    if (fstat(file, &about) != 0 || about.st_blocks * 512 < trimmed_by + log_kept) return;
    const off_t page = sysconf(_SC_PAGESIZE);
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
              (about.st_size - log_kept) / page * page);
}

std::unique_ptr<child> child::make(const std::string& log, int& pipe) {
    const auto give_up = [](std::initializer_list<int> files) {
        const int why = errno;
        for (const int file : files) close(file);
        errno = why;
        throw_errno("a process for a scenario");
    };
    int ends[2];
    const int file = memfd_create("scenario log", MFD_CLOEXEC);
    if (file < 0) give_up({});
    if (pipe2(ends, O_CLOEXEC) != 0) give_up({file});
    write_all(file, log);
    const auto started = clock::now();
    const pid_t pid = fork_bound();
    if (pid < 0) give_up({file, ends[0], ends[1]});
    if (pid > 0) {
        close(ends[1]);
        return std::unique_ptr<child>(new child(started, pid, ends[0], file));
    }
    close(ends[0]);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    close(file);
    pipe = ends[1];
    tell_where_it_dies(pipe);
    return nullptr;
}

child::~child() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    close(pipe_);
    close(log_);
}

bool child::read(const listener& take) {
    char bytes[4096];
    const auto count = ::read(pipe_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return true;
    if (count <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end; (end = buffer_.find('\n')) != std::string::npos;
         buffer_.erase(0, end + 1))
        if (end != 0) take(std::string_view(buffer_).substr(0, end));
    if (buffer_.size() > longest_line) buffer_.resize(longest_line);  // no message is so long
    return true;
}

double child::seconds() const {
    return std::chrono::duration<double>(clock::now() - started_).count();
}

std::uint64_t child::resident() const {
    std::uint64_t size = 0, pages = 0;
    std::ifstream(fmt::format("/proc/{}/statm", acting_)) >> size >> pages;
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void child::kill(const listener& take) {
    constexpr int moment_ms = 500;
    killed_ = true;
    ::kill(acting_, SIGABRT);
    pollfd told{pipe_, POLLIN, 0};
    while (poll(&told, 1, moment_ms) == 1 && read(take)) {
    }
    ::kill(pid_, SIGKILL);
}

std::string child::wait() {
    // Its pipe is closed: it is ending, unless it has gone so wrong that it closed that itself.
    const int ended = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    pollfd until{ended, POLLIN, 0};
    if (ended >= 0 && poll(&until, 1, grace_ms) == 0) ::kill(pid_, SIGKILL);
    if (ended >= 0) close(ended);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (WIFSIGNALED(status))
        return fmt::format("died with signal {} ({})", WTERMSIG(status),
                           sigabbrev_np(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return fmt::format("exited unexpectedly with status {}", WEXITSTATUS(status));
    return {};
}

}  // namespace trn::scenario
