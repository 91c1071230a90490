// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <systemc>

#include "platform/framework/attach/listen/listener.h"
#include "platform/framework/attach/listen/waiting_room.h"
#include "platform/framework/kernel/started_work.h"
#include "platform/framework/tlm/function_port.h"

namespace trn {

class vfio_user_session;

/// Offers one PCIe function on a Unix socket to one vfio-user client at a time (QEMU's
/// vfio-user-pci, the driver stub). Spec: doc/attach.md. Runs in the handlers of the io_context, on
/// the simulation's thread, between slices: each access is executed at once; a write is answered
/// when the work that it started has finished, and its client's next message waits for that. No
/// message of a client can leave the function unusable for the next.
class vfio_user_server {
public:
    struct config {
        std::string path = {};           ///< of the socket; made with mode 0600
        std::string name = "vfio-user";  ///< for log lines: which function
        bool offer_mapping = true;  ///< let clients map memory BARs; QEMU then never posts writes
        /// Show BARs that only the prefetchable window of a bridge has room for as prefetchable.
        bool behind_bridge = false;
        std::string board = {};  ///< compared with the board that a client of trnvp expects
        std::string digest = {};
        waiting_room::limits waiting = {};  ///< for the version message of a client
    };
    /// Notifications for the rest of the platform. All optional.
    struct hooks {
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

    /// Listens. Throws listen_error.
    vfio_user_server(boost::asio::io_context& io, function_port& function, config cfg,
                     hooks hooks = {});
    ~vfio_user_server();
    vfio_user_server(const vfio_user_server&) = delete;
    vfio_user_server& operator=(const vfio_user_server&) = delete;

    /// Whether a client has introduced itself by its version message and is connected.
    bool attached() const { return session_ != nullptr; }
    /// Disconnects the clients that have not introduced themselves.
    void drop_waiting() { waiting_.turn_all_away(); }
    const config& settings() const { return cfg_; }

private:
    void welcome(listener::stream client);
    /// Empty: the client owns the function. Else the reason for the refusal.
    std::string admit(vfio_user_session& client);
    void ended(vfio_user_session& client, const std::string& why);
    void report(const std::string& line) const;

    function_port& function_;
    const config cfg_;
    const hooks hooks_;
    waiting_room waiting_;
    std::shared_ptr<vfio_user_session> session_;
    std::unique_ptr<listener> listener_;
};

}  // namespace trn
