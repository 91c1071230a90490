// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry_program/metrics_port.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "platform/app/telemetry/sources/state_source.h"
#include "platform/app/telemetry_program/tool.h"

namespace trn::telemetry {

metrics_port::metrics_port(const std::string& address) {
    const auto colon = address.rfind(':');
    auto host = colon == std::string::npos ? "127.0.0.1" : address.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const auto port = colon == std::string::npos ? address : address.substr(colon + 1);
    const bool is_number = !port.empty() && port.size() <= 5 &&
                           std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; }) &&
                           std::stoul(port) <= 65535;
    if (!is_number)
        throw source_usage(
            fmt::format("--prometheus {}: expected PORT (0 to 65535) or HOST:PORT", address));
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found))
        throw source_usage(fmt::format("--prometheus {}: {}", address, gai_strerror(error)));
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
    listener_ =
        unique_fd(socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int enabled = 1;
    setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof enabled);
    constexpr int backlog = 64;
    if (!listener_ || bind(listener_.get(), found->ai_addr, found->ai_addrlen) != 0 ||
        listen(listener_.get(), backlog) != 0)
        throw source_usage(fmt::format("--prometheus {}: {}", address, std::strerror(errno)));
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                              : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

void metrics_port::accept() {
    unique_fd arrived(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!arrived) return;
    if (clients_.size() >= max_clients) clients_.pop_front();
    clients_.push_back({.socket = std::move(arrived), .end = clock::now() + time_limit});
}

bool metrics_port::serve(client& served, short events, const std::function<std::string()>& page) {
    if (served.output.empty() && (events & (POLLIN | POLLHUP | POLLERR)) != 0) {
        std::array<char, 4096> bytes{};
        const auto count = recv(served.socket.get(), bytes.data(), bytes.size(), 0);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
        if (count <= 0) return false;
        if (auto response =
                served.request.receive({bytes.data(), static_cast<std::size_t>(count)}, page))
            served.output = std::move(*response);
    }
    while (served.sent < served.output.size()) {
        const auto count = send(served.socket.get(), served.output.data() + served.sent,
                                served.output.size() - served.sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return true;
        if (count <= 0) return false;
        served.sent += static_cast<std::size_t>(count);
    }
    if (served.output.empty()) return true;
    // Unread input would make the kernel reset the connection, and the response be lost.
    shutdown(served.socket.get(), SHUT_WR);
    std::array<char, 4096> rest{};
    while (recv(served.socket.get(), rest.data(), rest.size(), MSG_DONTWAIT) > 0) continue;
    return false;
}

void metrics_port::serve(double seconds, const std::function<std::string()>& page) {
    const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(
                                        std::chrono::duration<double>(seconds));
    while (!should_end()) {
        auto next = end;
        std::vector<pollfd> wanted{{listener_.get(), POLLIN, 0}};
        for (const auto& each : clients_) {
            wanted.push_back(
                {each.socket.get(), static_cast<short>(each.output.empty() ? POLLIN : POLLOUT), 0});
            next = std::min(next, each.end);
        }
        const auto now = clock::now();
        if (now >= end) return;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
        if (poll(wanted.data(), wanted.size(),
                 static_cast<int>(std::clamp<long long>(left, 0, 60'000))) < 0)
            continue;
        std::size_t n = 0;
        for (auto each = clients_.begin(); each != clients_.end();) {
            const auto events = wanted[++n].revents;
            const bool stays =
                clock::now() < each->end && (events == 0 || serve(*each, events, page));
            each = stays ? std::next(each) : clients_.erase(each);
        }
        if ((wanted[0].revents & POLLIN) != 0) accept();
    }
}

}  // namespace trn::telemetry
