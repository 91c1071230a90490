// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/process/bound_fork.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>

namespace trn {

pid_t fork_bound() {
    std::fflush(nullptr);  // otherwise both processes would print buffered text
    const pid_t parent = getpid(), pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent ended before prctl()
    return 0;
}

}  // namespace trn
