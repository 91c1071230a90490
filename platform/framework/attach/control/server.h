// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/framework/attach/control/control.h"
#include "platform/framework/attach/listen/handover.h"
#include "platform/framework/attach/listen/listener.h"
#include "platform/framework/attach/listen/waiting_room.h"

namespace trn {

/// Serves the control methods on sockets: JSON-RPC 2.0, one message per line. All sizes are
/// bounded; a client that exceeds a limit only loses its connection.
class control_server {
public:
    static constexpr std::size_t largest_message = 4 << 20;  ///< bytes per line
    /// Limit of bytes that a client has not read yet.
    static constexpr std::size_t largest_backlog = 16 << 20;
    /// Limit of the bytes of a client's first line.
    static constexpr std::size_t largest_greeting = 64 << 10;
    static constexpr std::size_t max_clients = 16;  ///< limit of clients that have sent hello

    explicit control_server(control& methods, const waiting_room::limits& waiting = {});
    ~control_server();
    control_server(const control_server&) = delete;
    control_server& operator=(const control_server&) = delete;

    /// Opens a Unix socket that only its owner can use (mode 0600). Replaces the socket file of a
    /// process that has died; the destructor removes the file. Throws listen_error.
    void listen_unix(const std::filesystem::path& path);

    struct tcp_options {
        std::string address;        ///< "HOST:PORT"; port 0 chooses one
        bool allow_remote = false;  ///< allows addresses other than loopback; needs a token
        std::optional<std::string> token = {};  ///< the token that 'hello' must carry
    };
    /// Returns the address as "HOST:PORT" with the port in use. Throws listen_error.
    std::string listen_tcp(const tcp_options& options);

    /// Number of clients that have sent hello.
    std::size_t clients() const { return *clients_; }

    /// Adds all clients to `handed_over`, for another process that calls take_over() for each.
    void hand_over(handover& handed_over);
    void take_over(const rpc::json& state, int socket);
    void drop_clients();

private:
    class session;
    std::shared_ptr<session> add(listener::stream client, const std::optional<std::string>& token);

    control& methods_;
    waiting_room waiting_;
    std::shared_ptr<std::size_t> clients_ = std::make_shared<std::size_t>(0);
    std::list<std::weak_ptr<session>> sessions_;
    std::vector<std::unique_ptr<listener>> endpoints_;
};

/// Reads a token from the first line of `file`. Throws listen_error when the file cannot be read,
/// has fewer than 16 characters, or is readable by users other than its owner.
std::string read_token(const std::filesystem::path& file);

}  // namespace trn
