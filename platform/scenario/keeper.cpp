// SPDX-License-Identifier: Apache-2.0
#include "platform/scenario/keeper.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/scenario/child.h"

namespace trn::scenario {

keeper::keeper(const std::filesystem::path& folder) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe");
    pid_ = fork();
    if (pid_ == 0) {
        setpgid(0, 0);
        dup2(ends[0], STDIN_FILENO);
        close_range(3, ~0u, 0);
        // A program of its own: a copy of this process would keep a copy of its memory.
        execl("/bin/sh", "sh", "-c", R"(read -r end; rm -rf -- "$0"; kill -KILL 0)", folder.c_str(),
              nullptr);
        _exit(1);
    }
    close(ends[0]);
    alive_ = ends[1];
    if (pid_ < 0) throw_errno("fork");
    setpgid(pid_, pid_);  // there too: whoever comes first
}

keeper::~keeper() {
    close(alive_);
    waitpid(pid_, nullptr, 0);
}

}  // namespace trn::scenario
