// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <systemc>

#include "platform/framework/attach/listen/waiting_room.h"
#include "platform/framework/kernel/started_work.h"
#include "platform/framework/log.h"

namespace trn {

/// How a server offers its function; used by server and sessions.
struct vfio_user_config {
    std::string path = {};           ///< path of the socket, which gets mode 0600
    std::string name = "vfio-user";  ///< name of the function in log lines
    /// lets clients map memory BARs; QEMU then does not post writes
    bool offer_mapping = true;
    /// Marks BARs as prefetchable that only fit into the prefetchable window of a bridge.
    bool behind_bridge = false;
    std::string board = {};  ///< for comparison with the board that a client of trnvp expects
    std::string digest = {};
    waiting_room::limits waiting = {};  ///< limits until a client's version message
};

/// Callbacks into the rest of the platform. All are optional.
struct vfio_user_hooks {
    /// Before each access to a region, including configuration space.
    std::function<void()> before_access;
    std::function<void(const sc_core::sc_time& delay)>
        after_access;  ///< with the access's `delay`, before its reply is sent
    /// Whether a write that started `work` may be answered now; otherwise calls `answer` later (not
    /// from inside).
    std::function<bool(const started_work& work, std::function<void()> answer)> may_answer;
    std::function<void(bool attached)> attached;
    /// Calls `done` (not from inside) once `wait` of simulated time has passed, or cannot pass.
    std::function<void(const sc_core::sc_time& wait, std::function<void(bool passed)> done)> wait;
    /// An access of the client waits for its target: simulated time should advance for `text`.
    /// Nothing: it has ended, or waits for the client itself.
    std::function<void(const std::string& text)> access_waits = {};
    /// Calls `work` (not from inside) between two slices, before simulated time advances further;
    /// default: in a handler of its own.
    std::function<void(std::function<void()> work)> between_slices = {};
    std::function<void(std::string_view line)> log;  ///< default: the platform's log

    /// Logs a line on the function `name`.
    void report(std::string_view name, std::string_view line) const {
        log ? log(line) : trn::log::info(name, "{}", line);
    }
};

}  // namespace trn
