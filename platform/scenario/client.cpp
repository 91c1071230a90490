// SPDX-License-Identifier: Apache-2.0
#include "platform/scenario/client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "platform/scenario/child.h"
#include "platform/snapshots/bound_fork.h"

namespace trn::scenario {

namespace fs = std::filesystem;

namespace {

/// As a shell's status.
constexpr int cannot_start = 127;

fs::path make_private_folder() {
    auto name = (fs::temp_directory_path() / "trnvp-client-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw_errno(name.c_str());
    return name;
}

std::vector<std::string> with_folder(std::vector<std::string> words, const std::string& folder) {
    constexpr std::string_view name = "{sockets}";
    for (auto& word : words)
        for (std::size_t at = 0; (at = word.find(name, at)) != std::string::npos;
             at += folder.size())
            word.replace(at, name.size(), folder);
    return words;
}

/// In the copy that becomes the program.
[[noreturn]] void execute_program(std::vector<std::string> words, const std::string& folder,
                                  int output) {
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    close_range(3, ~0u, 0);
    std::error_code ignored;
    const auto beside = fs::read_symlink("/proc/self/exe", ignored).parent_path().string();
    const char* path = std::getenv("PATH");
    setenv("PATH", (beside + ":" + (path == nullptr ? "/usr/bin:/bin" : path)).c_str(), 1);
    setenv("TRNVP_SOCKETS", folder.c_str(), 1);
    std::vector<char*> all;
    for (auto& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    execvp(all.front(), all.data());
    fmt::print(stderr, "cannot start {}: {}\n", words.front(), std::strerror(errno));
    std::fflush(stderr);
    _exit(cannot_start);
}

}  // namespace

client::client(platform& on, visit& what)
    : on_(on),
      what_(what),
      folder_(make_private_folder()),
      keeper_(std::in_place, folder_),
      doors_(on),
      output_(memfd_create("output of a client", MFD_CLOEXEC)),
      ended_(on.loop().io()),
      limit_(on.loop().io()) {
    if (output_ < 0) throw_errno("output of a client");
    doors_.open_folder(folder_);
    start();
    watch();
}

client::~client() {
    doors_.drop_clients();
    close(output_);
}

void client::start() {
    auto words = with_folder(what_.command, folder_.string());
    pid_ = fork_bound();
    if (pid_ < 0) throw_errno("fork");
    if (pid_ == 0) {
        setpgid(0, keeper_->group());
        execute_program(std::move(words), folder_.string(), output_);
    }
    setpgid(pid_, keeper_->group());  // there too: whoever comes first
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
}

void client::finish() {
    limit_.cancel();
    keeper_.reset();  // what it started ends too
    int status = 0;
    waitpid(pid_, &status, 0);
    while (on_.loop().io().poll_one() != 0) {
    }
    what_.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    what_.output = read_log(output_);
}

}  // namespace trn::scenario
