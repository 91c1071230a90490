// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/process/temporary_folder.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace trn {

namespace {

/// A shell that leads a group of processes and reads `input`. A program of its own: a copy of this
/// process would keep a copy of its memory.
pid_t start_shell(int input, const char* script, const char* first, const char* second) {
    const pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        dup2(input, STDIN_FILENO);
        close_range(3, ~0u, 0);
        execl("/bin/sh", "sh", "-c", script, first, second, nullptr);
        _exit(1);
    }
    if (pid > 0) setpgid(pid, pid);  // there too: whichever comes first
    return pid;
}

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

std::filesystem::path make_folder(const std::string& prefix) {
    auto name = (std::filesystem::temp_directory_path() / (prefix + "-XXXXXX")).string();
    if (mkdtemp(name.data()) == nullptr) throw_errno("cannot make " + name);
    return name;
}

}  // namespace

temporary_folder::temporary_folder(const std::string& prefix) : path_(make_folder(prefix)) {
    int ends[2];
    const auto give_up = [this](const char* what) {
        const int why = errno;
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
        errno = why;
        throw_errno(what);
    };
    if (pipe2(ends, O_CLOEXEC) != 0) give_up("pipe");
    alive_ = ends[1];
    leader_ = start_shell(ends[0], "read -r end", "sh", "");
    // First the processes, which could make files behind the back of rm.
    if (leader_ > 0)
        remover_ = start_shell(ends[0],
                               R"(read -r end; kill -s KILL -- "-$1"
                              rm -rf -- "$0" || { sleep 1; rm -rf -- "$0"; })",
                               path_.c_str(), std::to_string(leader_).c_str());
    close(ends[0]);
    if (leader_ > 0 && remover_ > 0) return;
    close(alive_);
    if (leader_ > 0) waitpid(leader_, nullptr, 0);
    give_up("fork");
}

temporary_folder::~temporary_folder() {
    close(alive_);
    waitpid(remover_, nullptr, 0);
    waitpid(leader_, nullptr, 0);
}

}  // namespace trn
