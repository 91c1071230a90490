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

/// One console of the guest as a Unix socket: what it prints goes to every client, what a client
/// sends is typed at it. A client that stops reading is dropped. A client more than there may be
/// takes the place of one that has typed nothing, or else of any; of several, of the longest
/// connected.
class console_server {
public:
    static constexpr std::size_t most_clients = 8;
    static constexpr std::size_t largest_backlog = 1
                                                   << 20;  ///< bytes that a client has not read yet

    /// A new client first receives what is kept of the output. Throws listen_error.
    console_server(boost::asio::io_context& io, console_log& log, std::string module,
                   const std::filesystem::path& path);
    ~console_server();

    const std::string& address() const { return door_->address(); }
    const std::string& module() const { return module_; }

    /// All clients, for another process; take_over() is given each of them there, with its socket.
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
