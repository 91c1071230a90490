// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/trnctl/control_client.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "sw-stubs/trnctl/session.h"

namespace trn {

namespace {

constexpr unsigned protocol = 1;
constexpr std::size_t max_message_bytes = 16 << 20;
constexpr int max_depth = 64;  // nesting of arrays and objects
constexpr std::chrono::milliseconds hello_timeout{10'000};
constexpr std::chrono::milliseconds connect_timeout{10'000};  // also of each send()
constexpr std::chrono::milliseconds call_timeout{30'000};

/// The peer sent an invalid message, did not answer in time, or has closed the connection.
class not_a_platform : public control_error {
    using control_error::control_error;
};

[[noreturn]] void cannot_connect(const std::string& address, const std::string& why) {
    throw control_error(
        fmt::format("cannot connect to {}: {}\n  is it running? start one with: trnvp run "
                    "trn3-chip --listen DIR",
                    address, why));
}

/// A line. \throws user_error
std::string to_text(const nlohmann::json& request) {
    try {
        return request.dump() + "\n";
    } catch (const nlohmann::json::type_error&) {
        throw user_error(
            fmt::format("{}: an argument is not UTF-8", request.at("method").get<std::string>()));
    }
}

/// \throws user_error, control_error
[[noreturn]] void fail(const nlohmann::json& error) {
    const std::string text = error.value("message", "the platform refused");
    if (is_of_user(error.value("code", 0))) throw user_error(text);
    throw control_error(text);
}

/// Depth of the brackets outside of strings.
bool is_too_deep(std::string_view text) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t n = 0; n < text.size(); ++n) {
        const char c = text[n];
        if (in_string) {
            if (c == '\\') ++n;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > max_depth) return true;
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return false;
}

/// Discarded if `text` is not JSON, or nested deeper than max_depth (copies need stack).
nlohmann::json parse_bounded(std::string_view text) {
    return is_too_deep(text) ? nlohmann::json(nlohmann::json::value_t::discarded)
                             : nlohmann::json::parse(text, nullptr, false);
}

}  // namespace

control_client::control_client(const std::string& address, const std::string& token,
                               std::optional<std::chrono::milliseconds> limit)
    : limit_(limit) {
    if (address.find('/') == std::string::npos && address.find(':') != std::string::npos)
        connect_tcp(address);
    else
        connect_unix(address);
    json hello{{"protocol", protocol}, {"client", "trnctl"}};
    if (!token.empty()) hello["token"] = token;
    try {
        call("hello", hello, limit_.value_or(hello_timeout));
    } catch (const not_a_platform& why) {
        throw control_error(fmt::format(
            "{} is not the control socket of a platform: {}\n  give the folder of `trnvp run "
            "--listen DIR`, DIR/control.sock, or HOST:PORT of --control-tcp",
            address, why.what()));
    }
}

control_client::~control_client() {
    if (socket_ >= 0) close(socket_);
}

void control_client::open_socket(int family, int type, int protocol) {
    socket_ = socket(family, type | SOCK_CLOEXEC, protocol);
    const auto limit = limit_.value_or(connect_timeout).count();
    const timeval timeout{.tv_sec = limit / 1000, .tv_usec = limit % 1000 * 1000};
    if (socket_ >= 0) setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
}

void control_client::connect_unix(const std::string& path) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    if (path.size() >= sizeof name.sun_path) cannot_connect(path, "the path is too long");
    std::ranges::copy(path, name.sun_path);
    open_socket(AF_UNIX, SOCK_STREAM, 0);
    if (socket_ < 0 || connect(socket_, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0) {
        // A stopped process with a full queue accepts no client.
        const std::string why = errno == EAGAIN ? "no response" : std::strerror(errno);
        if (socket_ >= 0) close(std::exchange(socket_, -1));
        cannot_connect(path, why);
    }
}

void control_client::connect_tcp(const std::string& address) {
    const auto colon = address.rfind(':');
    const auto port = address.substr(colon + 1);
    std::uint16_t number = 0;
    const auto [end, wrong] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (wrong != std::errc{} || end != port.data() + port.size())
        cannot_connect(address, fmt::format("'{}' is not a TCP port (0 to 65535)", port));
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    const int error = getaddrinfo(address.substr(0, colon).c_str(), port.c_str(), &hints, &found);
    if (error) cannot_connect(address, gai_strerror(error));
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
    for (auto* candidate = found; candidate; candidate = candidate->ai_next) {
        open_socket(candidate->ai_family, candidate->ai_socktype, candidate->ai_protocol);
        if (socket_ >= 0 && connect(socket_, candidate->ai_addr, candidate->ai_addrlen) == 0)
            return;
        if (socket_ >= 0) close(std::exchange(socket_, -1));
    }
    cannot_connect(address, std::strerror(errno));
}

void control_client::send(const std::string& line) {
    for (std::size_t sent = 0; sent < line.size();) {
        const auto count = ::send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (count < 0 && (errno == EPIPE || errno == ECONNRESET))
            return;  // its last message may have the reason: receive() reports it
        if (count < 0 && errno == EAGAIN) throw control_error("the platform takes no requests");
        if (count < 0 && errno != EINTR)
            throw control_error(
                fmt::format("cannot send to the platform: {}", std::strerror(errno)));
        if (count > 0) sent += static_cast<std::size_t>(count);
    }
}

bool control_client::receive(deadline until) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          until - std::chrono::steady_clock::now())
                          .count();
    pollfd readable{socket_, POLLIN, 0};
    const auto limit = static_cast<int>(std::clamp<long long>(left, 0, 3'600'000));
    if (poll(&readable, 1, limit) <= 0) return false;
    char bytes[65536];
    const auto count = recv(socket_, bytes, sizeof bytes, 0);
    if (count < 0 && errno == EINTR) return true;
    if (count <= 0 || buffer_.size() > max_message_bytes)
        gone_ = true;
    else
        buffer_.append(bytes, static_cast<std::size_t>(count));
    return true;
}

bool control_client::next_message(json& message) {
    const auto end = buffer_.find('\n');
    if (end == std::string::npos) return false;
    message = parse_bounded(std::string_view(buffer_).substr(0, end));
    buffer_.erase(0, end + 1);
    if (!message.is_object()) throw not_a_platform("the platform sent an invalid message");
    return true;
}

control_client::json control_client::call(std::string_view method, const json& params) {
    return call(method, params, limit_.value_or(call_timeout));
}

control_client::json control_client::call(std::string_view method, const json& params,
                                          std::chrono::milliseconds limit) {
    const auto id = ++last_id_;
    send(to_text({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}));
    const auto until = std::chrono::steady_clock::now() + limit;
    for (;;) {
        json message;
        while (next_message(message)) {
            if (message.contains("method")) {
                if (notified_)
                    notified_(message["method"], message.value("params", json::object()));
                continue;
            }
            // An error without an id refuses the client before its first call.
            const auto answers = message.value("id", json());
            if (!answers.is_null() && answers != json(id)) continue;
            if (message.contains("error")) fail(message["error"]);
            return std::move(message["result"]);
        }
        if (gone_) throw not_a_platform("the platform has closed the connection");
        if (std::chrono::steady_clock::now() >= until)  // also while notifications arrive
            throw not_a_platform(fmt::format("no response of the platform to '{}' within {} s",
                                             method, static_cast<double>(limit.count()) / 1000));
        receive(until);
    }
}

bool control_client::listen(std::chrono::milliseconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    do {
        json message;
        while (next_message(message))
            if (message.contains("method") && notified_)
                notified_(message["method"], message.value("params", json::object()));
        if (gone_) return false;
        receive(until);
    } while (std::chrono::steady_clock::now() < until);
    return true;
}

}  // namespace trn
