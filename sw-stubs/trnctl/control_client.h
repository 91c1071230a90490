// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace trn {

/// The platform refused a call or cannot be reached; what() is the message for the user.
class control_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A client of the control socket (JSON-RPC 2.0, one message per line).
class control_client {
public:
    using json = nlohmann::json;
    using notification = std::function<void(const std::string& topic, const json& params)>;

    /// Connects to a Unix socket (a path) or TCP ("HOST:PORT") and sends the hello call. `token`
    /// may be "". `limit`: of each wait for the platform, instead of the usual ones. \throws
    /// control_error
    control_client(const std::string& address, const std::string& token,
                   std::optional<std::chrono::milliseconds> limit = {});
    ~control_client();
    control_client(const control_client&) = delete;
    control_client& operator=(const control_client&) = delete;

    /// \throws control_error when the platform refuses, disconnects, or does not respond in time,
    /// and user_error (session.h) for an argument that it does not know
    json call(std::string_view method, const json& params = json::object());
    /// Waits for at most `limit`.
    json call(std::string_view method, const json& params, std::chrono::milliseconds limit);
    /// Receives notifications that arrive during calls and listen().
    void on_notification(notification receiver) { notified_ = std::move(receiver); }
    /// Receives notifications for `limit`. False once the connection is closed.
    bool listen(std::chrono::milliseconds limit);

private:
    using deadline = std::chrono::steady_clock::time_point;
    void open_socket(int family, int type, int protocol);
    void connect_unix(const std::string& path);
    void connect_tcp(const std::string& address);
    void send(const std::string& line);
    bool receive(deadline until);  // more bytes; false: timeout
    bool next_message(json& message);

    const std::optional<std::chrono::milliseconds> limit_;
    int socket_ = -1;
    bool gone_ = false;
    std::uint64_t last_id_ = 0;
    std::string buffer_;
    notification notified_;
};

}  // namespace trn
