// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace trn {

/// fork() whose child is killed when this process ends. Returns -1 and sets errno like fork().
pid_t fork_bound();

}  // namespace trn
