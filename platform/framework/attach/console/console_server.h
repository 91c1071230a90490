// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <list>
#include <memory>
#include <string>

#include "platform/framework/attach/control/console_log.h"
#include "platform/framework/attach/listen/handover.h"
#include "platform/framework/attach/listen/listener.h"

namespace trn {

/// Serves one console of the guest on a Unix socket: every client receives its output, and input of
/// every client is typed at it. A client that stops reading is disconnected. At the limit of
/// clients, a new client replaces the oldest one that has typed nothing, or else the oldest one.
class console_server {
public:
    static constexpr std::size_t max_clients = 8;
    /// Limit of bytes that a client has not read yet.
    static constexpr std::size_t largest_backlog = 1 << 20;

    /// New clients first receive the stored output. Throws listen_error.
    console_server(boost::asio::io_context& io, console_log& log, std::string module,
                   const std::filesystem::path& path);
    ~console_server();

    const std::string& address() const { return listener_->address(); }
    const std::string& module() const { return module_; }

    /// Adds all clients to `handed_over`, for another process that calls take_over() for each.
    void hand_over(handover& handed_over);
    void take_over(const nlohmann::json& state, int socket);
    void drop_clients();

private:
    class client;
    void welcome(listener::stream socket);
    void make_room();
    void add(listener::stream socket, std::string_view first);

    boost::asio::io_context& io_;
    console_log& log_;
    const std::string module_;
    std::list<std::weak_ptr<client>> clients_;
    std::unique_ptr<listener> listener_;
};

}  // namespace trn
