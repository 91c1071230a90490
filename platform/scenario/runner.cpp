// SPDX-License-Identifier: Apache-2.0
#include "platform/scenario/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

namespace trn::scenario {

namespace {

using nlohmann::json;
using wall_clock = std::chrono::steady_clock;

constexpr std::size_t log_kept = 256 * 1024;

[[noreturn]] void throw_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// A child process, from its fork to its outcome.
class child {
public:
    child(const scenario& what, std::size_t number, const execution& run);
    ~child();
    child(const child&) = delete;
    child& operator=(const child&) = delete;

    int pipe() const { return pipe_; }
    wall_clock::time_point deadline() const { return deadline_; }
    /// Takes what the pipe has; false when the child is at its end.
    bool read();
    void kill();
    outcome finish();

private:
    [[noreturn]] void become(std::size_t number, const execution& run, int pipe);
    void take(const json& message);
    std::string read_log() const;

    const scenario& what_;
    const wall_clock::time_point started_ = wall_clock::now();
    const wall_clock::time_point deadline_;
    pid_t pid_ = -1;
    int pipe_ = -1, log_ = -1;
    bool killed_ = false, told_ = false;
    std::string buffer_;
    outcome result_;
};

child::child(const scenario& what, std::size_t number, const execution& run)
    : what_(what),
      deadline_(started_ + std::chrono::duration_cast<wall_clock::duration>(
                               std::chrono::duration<double>(what.wall_limit_s))) {
    int ends[2];
    log_ = memfd_create("scenario log", MFD_CLOEXEC);
    if (log_ < 0 || pipe2(ends, O_CLOEXEC) != 0) throw_errno("scenario child");
    std::fflush(nullptr);  // or the child would print it a second time
    pid_ = fork();
    if (pid_ < 0) throw_errno("fork");
    if (pid_ == 0) {
        close(ends[0]);
        become(number, run, ends[1]);
    }
    close(ends[1]);
    pipe_ = ends[0];
}

child::~child() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    if (pipe_ >= 0) close(pipe_);
    if (log_ >= 0) close(log_);
}

void child::become(std::size_t number, const execution& run, int pipe) {
    dup2(log_, STDOUT_FILENO);
    dup2(log_, STDERR_FILENO);
    progress to(pipe);
    try {
        run(what_, number, to);
    } catch (const std::exception& wrong) {
        to.failed(wrong.what(), 0);
    }
    std::fflush(nullptr);
    _exit(0);
}

bool child::read() {
    char bytes[4096];
    const auto count = ::read(pipe_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return true;
    if (count <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end; (end = buffer_.find('\n')) != std::string::npos;
         buffer_.erase(0, end + 1))
        take(json::parse(buffer_.substr(0, end)));
    return true;
}

void child::take(const json& message) {
    if (message.contains("step")) {
        result_.step = message["step"];
        result_.where = {message["line"], message["column"], 1};
        return;
    }
    told_ = true;
    result_.simulated_ns = message["simulated_ns"];
    result_.message = message.value("failed", "");
    result_.what = message.contains("failed") ? outcome::verdict::failed : outcome::verdict::passed;
}

void child::kill() {
    killed_ = true;
    ::kill(pid_, SIGKILL);
}

std::string child::read_log() const {
    const auto size = lseek(log_, 0, SEEK_END);
    const auto kept = std::min<off_t>(size, log_kept);
    std::string text(static_cast<std::size_t>(std::max<off_t>(kept, 0)), '\0');
    const auto got = pread(log_, text.data(), text.size(), size - kept);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

outcome child::finish() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    result_.wall_s = std::chrono::duration<double>(wall_clock::now() - started_).count();
    result_.log = read_log();
    if (killed_) {
        result_.what = outcome::verdict::timed_out;
        result_.message = fmt::format("still running after {} s of wall clock", what_.wall_limit_s);
    } else if (WIFSIGNALED(status)) {
        result_.what = outcome::verdict::crashed;
        result_.message = fmt::format("the platform died with signal {} ({})", WTERMSIG(status),
                                      sigabbrev_np(WTERMSIG(status)));
    } else if (!told_) {
        result_.what = outcome::verdict::crashed;
        result_.message =
            fmt::format("the platform ended by itself with status {}", WEXITSTATUS(status));
    }
    return std::move(result_);
}

/// Waits until a child says something or its time is over.
void attend(std::vector<std::pair<std::size_t, std::unique_ptr<child>>>& running,
            std::vector<std::optional<outcome>>& done) {
    std::vector<pollfd> pipes;
    auto wake = wall_clock::time_point::max();
    for (const auto& [number, one] : running) {
        pipes.push_back({one->pipe(), POLLIN, 0});
        wake = std::min(wake, one->deadline());
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(wake - wall_clock::now()).count();
    const auto timeout = static_cast<int>(std::clamp<long long>(left + 1, 0, 3600 * 1000));
    if (poll(pipes.data(), pipes.size(), timeout) < 0 && errno != EINTR) throw_errno("poll");
    for (std::size_t i = running.size(); i-- > 0;) {
        auto& [number, one] = running[i];
        bool over = pipes[i].revents && !one->read();
        if (!over && wall_clock::now() >= one->deadline()) {
            one->kill();
            over = true;
        }
        if (!over) continue;
        done[number] = one->finish();
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

}  // namespace

void progress::send(const std::string& line) const {
    for (std::size_t sent = 0; sent < line.size();) {
        const auto count = write(pipe_, line.data() + sent, line.size() - sent);
        if (count < 0 && errno != EINTR) return;  // the runner is gone
        if (count > 0) sent += static_cast<std::size_t>(count);
    }
}

// Text of a guest may be in a message: bytes that are no UTF-8 are replaced.
static std::string line_of(const json& message) {
    return message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

void progress::at(const step& current) const {
    send(line_of(
        {{"step", current.text}, {"line", current.where.line}, {"column", current.where.column}}));
}

void progress::passed(std::uint64_t simulated_ns) const {
    send(line_of({{"simulated_ns", simulated_ns}}));
}

void progress::failed(const std::string& message, std::uint64_t simulated_ns) const {
    send(line_of({{"failed", message}, {"simulated_ns", simulated_ns}}));
}

std::vector<outcome> run_all(std::span<const scenario> all, unsigned jobs, const execution& run,
                             const std::function<void(std::size_t, const outcome&)>& finished) {
    std::vector<std::optional<outcome>> done(all.size());
    std::vector<std::pair<std::size_t, std::unique_ptr<child>>> running;
    std::size_t next = 0, told = 0;
    while (told < all.size()) {
        while (next < all.size() && running.size() < std::max(jobs, 1u)) {
            running.emplace_back(next, std::make_unique<child>(all[next], next, run));
            ++next;
        }
        attend(running, done);
        for (; told < all.size() && done[told]; ++told) finished(told, *done[told]);
    }
    std::vector<outcome> results;
    results.reserve(done.size());
    for (auto& one : done) results.push_back(std::move(*one));
    return results;
}

}  // namespace trn::scenario
