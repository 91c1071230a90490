// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/framework/attach/vfio_user/settings.h"
#include "platform/framework/kernel/run_loop.h"

namespace trn {

/// Hooks that connect a server to a run loop: its client is an attachment `client` on the machine
/// `host_name`; the time policy charges its accesses, and its waits advance simulated time.
vfio_user_hooks hooks_into(run_loop& loop, std::string client, std::string host_name);

}  // namespace trn
