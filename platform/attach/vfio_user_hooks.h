// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/attach/vfio_user_server.h"
#include "platform/kernel/run_loop.h"

namespace trn {

/// What a server needs to live in a run loop: a client counts as an attached host called `who`, its
/// accesses are charged as the time policy says, and its waits make simulated time move.
vfio_user_server::hooks hooks_into(run_loop& loop, std::string who);

}  // namespace trn
