// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace trn {

/// A socket cannot be opened; what() is the message for the user.
class listen_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Accepts clients of one endpoint and passes each to a function.
class listener {
public:
    using stream = boost::asio::generic::stream_protocol::socket;
    using welcome = std::function<void(stream)>;

    /// A Unix socket that only its owner can open (mode 0600). Replaces the socket file of a
    /// process that has died. The destructor removes its own file only, not one that replaced it.
    /// Throws listen_error.
    static std::unique_ptr<listener> on_unix(boost::asio::io_context& io,
                                             const std::filesystem::path& path, welcome on_client);
    /// Clients of a TCP endpoint. A protocol without a token must not set these: every user of this
    /// machine can open a port of loopback.
    struct tcp_clients {
        bool allow_remote = false;       ///< the address may be another than loopback
        bool allow_other_users = false;  ///< else only processes of this user, and of root
    };
    /// TCP on "HOST:PORT"; port 0 chooses one. Throws listen_error.
    static std::unique_ptr<listener> on_tcp(boost::asio::io_context& io, const std::string& address,
                                            const tcp_clients& clients, welcome on_client);
    ~listener();
    /// The stream of a client that another process accepted.
    static stream adopt(boost::asio::io_context& io, int connected);
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;

    /// The path, or "HOST:PORT" with the port in use.
    const std::string& address() const { return address_; }
    unsigned port() const { return port_; }  ///< 0 for a Unix socket
    bool loopback() const { return loopback_; }

private:
    using acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;
    listener(acceptor a, welcome on_client)
        : acceptor_(std::move(a)),
          retry_(acceptor_.get_executor()),
          welcome_(std::move(on_client)) {
        acceptor_.non_blocking(true);
    }
    void accept();
    void accept_later(const boost::system::error_code& why);
    bool admits(stream& client);

    acceptor acceptor_;
    boost::asio::steady_timer retry_;  // waits after a failure to accept a client
    welcome welcome_;
    std::string address_;
    std::filesystem::path file_;
    std::pair<dev_t, ino_t> file_id_{};
    unsigned port_ = 0;
    bool loopback_ = true;
    bool allows_other_users_ = true;  // a Unix socket has the mode of its file
    bool failure_logged_ = false;     // the failure to accept a client was logged
    // for handlers, which may outlive this object
    const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trn
