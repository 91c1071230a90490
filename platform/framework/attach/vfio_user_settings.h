// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <systemc>

#include "platform/framework/attach/listen/waiting_room.h"
#include "platform/framework/kernel/started_work.h"

namespace trn {

/// How a server offers its function, for its sessions too.
struct vfio_user_config {
    std::string path = {};           ///< of the socket; made with mode 0600
    std::string name = "vfio-user";  ///< for log lines: which function
    bool offer_mapping = true;       ///< let clients map memory BARs; QEMU then never posts writes
    /// Show BARs that only the prefetchable window of a bridge has room for as prefetchable.
    bool behind_bridge = false;
    std::string board = {};  ///< compared with the board that a client of trnvp expects
    std::string digest = {};
    waiting_room::limits waiting = {};  ///< for the version message of a client
};

/// Notifications for the rest of the platform. All optional.
struct vfio_user_hooks {
    std::function<void()> before_access;  ///< each region access, configuration space too
    std::function<void(const sc_core::sc_time& delay)>
        after_access;  ///< the access took `delay`; its response has not been sent
    /// Whether a write that started `work` may be answered now; else `answer` is called (not
    /// from inside) when it may.
    std::function<bool(const started_work& work, std::function<void()> answer)> may_answer;
    std::function<void(bool attached)> attached;
    /// Calls `done` (not from inside) once `wait` of simulated time has passed.
    std::function<void(const sc_core::sc_time& wait, std::function<void()> done)> wait;
    std::function<void(std::string_view line)> log;  ///< the platform's log when empty
};

}  // namespace trn
