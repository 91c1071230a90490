// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/framework/attach/listen/listener.h"
#include "platform/framework/attach/listen/waiting_room.h"
#include "platform/framework/attach/vfio_user/session.h"
#include "platform/framework/attach/vfio_user/settings.h"
#include "platform/framework/tlm/function_port.h"

namespace trn {

/// Offers one PCIe function on a Unix socket to one vfio-user client at a time (QEMU's
/// vfio-user-pci, the driver stub). Spec: doc/attach.md. Runs in handlers of the io_context, on the
/// simulation's thread, between slices. Each access is executed immediately; the reply to a write
/// is held until the work that it started has finished, and the client's next message waits for
/// that. Messages of one client cannot make the function unusable for the next.
class vfio_user_server {
public:
    using config = vfio_user_config;
    using hooks = vfio_user_hooks;

    /// Starts listening. Throws listen_error.
    vfio_user_server(boost::asio::io_context& io, function_port& function, config cfg,
                     hooks hooks = {});
    ~vfio_user_server();
    vfio_user_server(const vfio_user_server&) = delete;
    vfio_user_server& operator=(const vfio_user_server&) = delete;

    /// Whether a client that has sent its version message is connected.
    bool attached() const { return session_ != nullptr; }
    /// Its process; nothing without a client, or if the kernel does not say.
    std::optional<std::uint64_t> client_process() const {
        return session_ ? session_->process_id() : std::nullopt;
    }
    /// What it says that it holds and did (doc/attach.md), not checked; empty: nothing.
    std::vector<std::uint8_t> client_account() const {
        return session_ ? session_->account() : std::vector<std::uint8_t>();
    }
    /// Disconnects clients that have not sent a version message.
    void drop_waiting() { waiting_.turn_all_away(); }
    const config& settings() const { return cfg_; }

private:
    void welcome(listener::stream client);
    /// Returns "" when the client now owns the function, else the reason for the refusal.
    std::string admit(vfio_user_session& client);
    void ended(vfio_user_session& client, const std::string& why);

    function_port& function_;
    const config cfg_;
    const hooks hooks_;
    waiting_room waiting_;
    std::shared_ptr<vfio_user_session> session_;
    std::unique_ptr<listener> listener_;
};

}  // namespace trn
