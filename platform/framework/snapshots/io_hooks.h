// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <utility>

#include "platform/framework/snapshots/snapshots.h"

namespace trn {

/// Hooks for a process with this io_context, which must outlive them. `waits`: see
/// snapshots::hooks.
inline snapshots::hooks hooks_of(boost::asio::io_context& io, std::function<void()> waits = {}) {
    using boost::asio::execution_context;
    return {.before = [&io] { io.notify_fork(execution_context::fork_prepare); },
            .in_original = [&io] { io.notify_fork(execution_context::fork_parent); },
            .in_copy = [&io] { io.notify_fork(execution_context::fork_child); },
            .waits = std::move(waits)};
}

}  // namespace trn
