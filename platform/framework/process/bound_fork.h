// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace trn {

/// fork(); the copy ends with this process. -1 and errno as fork() does.
pid_t fork_bound();

}  // namespace trn
