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

/// One console of the guest as a Unix socket: every client receives its output, the input of a
/// client is typed at it. A client that stops reading is dropped. At the limit of clients a new one
/// replaces the longest connected that has typed nothing, or else the longest connected.
class console_server {
public:
    static constexpr std::size_t max_clients = 8;
    static constexpr std::size_t largest_backlog = 1
                                                   << 20;  ///< bytes that a client has not read yet

    /// A new client first receives the kept output. Throws listen_error.
    console_server(boost::asio::io_context& io, console_log& log, std::string module,
                   const std::filesystem::path& path);
    ~console_server();

    const std::string& address() const { return door_->address(); }
    const std::string& module() const { return module_; }

    /// All clients, for another process, which passes each with its socket to take_over().
    void hand_over(handover& to);
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
    std::unique_ptr<listener> door_;
};

}  // namespace trn
