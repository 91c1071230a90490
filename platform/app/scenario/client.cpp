// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/client.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "platform/app/scenario/child.h"

namespace trn::scenario {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> with_folder(std::vector<std::string> words, const std::string& folder) {
    constexpr std::string_view name = "{sockets}";
    for (auto& word : words)
        for (std::size_t at = 0; (at = word.find(name, at)) != std::string::npos;
             at += folder.size())
            word.replace(at, name.size(), folder);
    return words;
}

/// For programs that this process starts, which is this scenario's alone.
void set_environment(const std::string& folder) {
    std::error_code ignored;
    const auto beside = fs::read_symlink("/proc/self/exe", ignored).parent_path().string();
    const char* path = std::getenv("PATH");
    setenv("PATH", (beside + ":" + (path == nullptr ? "/usr/bin:/bin" : path)).c_str(), 1);
    setenv("TRNVP_SOCKETS", folder.c_str(), 1);
}

/// A program in this group of processes, looked for as execvp() does; no copy of this process,
/// which may be large, is made for it.
pid_t start_program(std::vector<std::string> words, pid_t group, int output) {
    std::vector<char*> all;
    for (auto& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    sigset_t ignored_here;
    sigemptyset(&ignored_here);
    sigaddset(&ignored_here, SIGXFSZ);
    posix_spawnattr_setsigdefault(&how, &ignored_here);
    posix_spawnattr_setpgroup(&how, group);
    pid_t pid = -1;
    const int error = posix_spawnp(&pid, all.front(), &files, &how, all.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    if (error != 0)
        throw std::system_error(error, std::generic_category(), "cannot start " + words.front());
    return pid;
}

}  // namespace

client::client(platform& on, visit& what)
    : on_(on),
      what_(what),
      folder_(std::in_place, "trnvp-client"),
      endpoints_(on),
      output_(memfd_create("output of a client", MFD_CLOEXEC)),
      ended_(on.loop().io()),
      limit_(on.loop().io()),
      trim_(on.loop().io()) {
    if (output_ < 0) throw_errno("output of a client");
    endpoints_.open_folder(folder_->path());
    set_environment(folder_->path());
    pid_ = start_program(with_folder(what_.command, folder_->path()), folder_->group(), output_);
    watch();
}

client::~client() {
    endpoints_.drop_clients();
    close(output_);
}

void client::watch() {
    const auto fd = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    if (fd < 0) throw_errno("pidfd_open");
    ended_.assign(fd);
    ended_.async_wait(ended_.wait_read, [this](boost::system::error_code e) {
        if (!e) over_ = true;  // else this is gone
    });
    limit_.expires_after(std::chrono::nanoseconds(what_.wall_limit_ns));
    limit_.async_wait([this](boost::system::error_code e) {
        if (e || over_) return;
        what_.late = true;
        kill(pid_, SIGKILL);
    });
    trim();
}

/// A program may print without end: what is not kept takes no memory.
void client::trim() {
    trim_log(output_);
    trim_.expires_after(std::chrono::milliseconds(100));
    trim_.async_wait([this](boost::system::error_code e) {
        if (!e) trim();
    });
}

void client::finish() {
    limit_.cancel();
    trim_.cancel();
    folder_.reset();  // what it started ends too
    int status = 0;
    waitpid(pid_, &status, 0);
    while (on_.loop().io().poll_one() != 0) {
    }
    what_.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    what_.output = read_log(output_);
}

}  // namespace trn::scenario
