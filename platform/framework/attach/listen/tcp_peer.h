// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>

namespace trn {

/// The user whose process has the other end of a TCP connection on this machine, from the kernel's
/// tables of sockets. Nothing when no process has it, for example after it was closed: the kernel
/// then reports user 0.
std::optional<uid_t> user_of_tcp_peer(int connected);

}  // namespace trn
