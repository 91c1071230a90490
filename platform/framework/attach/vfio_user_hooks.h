// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/framework/attach/vfio_user_server.h"
#include "platform/framework/kernel/run_loop.h"

namespace trn {

/// What a server needs to live in a run loop: a client counts as attached, called `who`, on the
/// machine `host`; its accesses are charged as the time policy says, and its waits make simulated
/// time move.
vfio_user_server::hooks hooks_into(run_loop& loop, std::string who, std::string host);

}  // namespace trn
