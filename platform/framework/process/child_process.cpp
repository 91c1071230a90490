// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "platform/framework/process/bound_fork.h"
#include "platform/framework/process/uninterrupted.h"

namespace trn {

namespace {

std::vector<char*> pointers(child_process::command& words) {
    std::vector<char*> all;
    for (auto& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
}

}  // namespace

child_process child_process::spawn(command words, streams standard, pid_t group) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    if (standard.input >= 0) posix_spawn_file_actions_adddup2(&files, standard.input, STDIN_FILENO);
    if (standard.output >= 0) {
        posix_spawn_file_actions_adddup2(&files, standard.output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&files, standard.output, STDERR_FILENO);
    }
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    sigset_t ignored_here;
    sigemptyset(&ignored_here);
    for (const int signal : {SIGXFSZ, SIGINT, SIGTERM}) sigaddset(&ignored_here, signal);
    posix_spawnattr_setsigdefault(&attributes, &ignored_here);
    posix_spawnattr_setpgroup(&attributes, group);
    pid_t pid = -1;
    const int error = posix_spawnp(&pid, words.front().c_str(), &files, &attributes,
                                   pointers(words).data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        throw std::system_error(error, std::generic_category(), "cannot start " + words.front());
    return child_process(pid);
}

child_process child_process::start_bound(command words, streams standard) {
    const auto all = pointers(words);
    const pid_t pid = fork_bound();
    if (pid < 0)
        throw std::system_error(errno, std::generic_category(), "cannot start " + words.front());
    if (pid > 0) return child_process(pid);
    if (standard.input >= 0) dup2(standard.input, STDIN_FILENO);
    if (standard.output >= 0) {
        dup2(standard.output, STDOUT_FILENO);
        dup2(standard.output, STDERR_FILENO);
    }
    if (standard.private_files) umask(S_IRWXG | S_IRWXO);
    close_range(STDERR_FILENO + 1, ~0u, 0);
    execvp(all.front(), all.data());
    std::fprintf(stderr, "trnvp: cannot start %s: %s\n", all.front(), std::strerror(errno));
    _exit(126);
}

child_process::~child_process() {
    if (!running()) return;
    kill(SIGKILL);
    wait();
}

unique_fd child_process::end_descriptor() const {
    unique_fd ended(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!ended) throw std::system_error(errno, std::generic_category(), "pidfd_open");
    return ended;
}

bool child_process::reap(int options) {
    int status = 0;
    if (uninterrupted([&] { return waitpid(pid_, &status, options); }) != pid_) return false;
    ended_ = WIFSIGNALED(status) ? end_state{0, WTERMSIG(status)} : end_state{WEXITSTATUS(status)};
    return true;
}

std::optional<child_process::end_state> child_process::poll() {
    if (running()) reap(WNOHANG);
    return ended_;
}

child_process::end_state child_process::wait() {
    if (running()) reap(0);
    return ended_.value_or(end_state{});
}

bool child_process::wait_for(std::chrono::milliseconds limit) {
    if (!running()) return true;
    const auto ended = end_descriptor();
    pollfd until{ended.get(), POLLIN, 0};
    return uninterrupted([&] { return ::poll(&until, 1, static_cast<int>(limit.count())); }) == 1;
}

void child_process::kill(int signal) {
    if (running()) ::kill(pid_, signal);
}

void child_process::end(std::chrono::milliseconds grace) {
    if (!running()) return;
    kill(SIGTERM);
    if (!wait_for(grace)) kill(SIGKILL);
    wait();
}

}  // namespace trn
