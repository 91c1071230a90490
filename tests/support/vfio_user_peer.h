// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace trn::test {

/// Runs `client` in its own thread, where it may block, while this thread serves `io` and calls
/// `between` (to simulate) until it has finished. Aborts if the client hangs.
inline void serve_while(boost::asio::io_context& io, const std::function<void()>& client,
                        const std::function<void()>& between = {}) {
    std::atomic<bool> done = false;
    std::thread thread([&] {
        client();
        done = true;
    });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(300);
    while (!done && std::chrono::steady_clock::now() < deadline) {
        io.restart();
        io.run_one_for(std::chrono::milliseconds(1));
        if (between) between();
    }
    EXPECT_TRUE(done) << "the client hangs";
    if (!done) std::abort();  // the thread cannot be joined
    thread.join();
    io.restart();
    while (io.poll() > 0) {  // completes work pending after the client's exit
    }
}

/// A client that sends exactly the given bytes.
class raw_peer {
public:
    struct reply {
        std::uint16_t id = 0, command = 0;
        std::uint32_t size = 0, flags = 0, error = 0;
        std::vector<std::uint8_t> payload;
        std::vector<int> fds;
        bool closed = false;  // the server closed the connection

        bool ok() const { return !closed && flags == 1; }
        template <typename T>
        T at(std::size_t offset) const {
            T value{};
            if (offset + sizeof value <= payload.size())
                std::memcpy(&value, &payload[offset], sizeof value);
            return value;
        }
    };

    explicit raw_peer(const std::string& path)
        : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        const timeval patience{.tv_sec = 10, .tv_usec = 0};
        setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        connected = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }
    ~raw_peer() { hang_up(); }
    raw_peer(const raw_peer&) = delete;
    raw_peer& operator=(const raw_peer&) = delete;

    void hang_up() {
        if (fd_ >= 0) close(fd_);
        fd_ = -1;
    }

    bool send_bytes(const void* bytes, std::size_t size, const std::vector<int>& fds = {}) {
        iovec part{const_cast<void*>(bytes), size};
        std::vector<char> control(CMSG_SPACE(fds.size() * sizeof(int)));
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (!fds.empty()) {
            message.msg_control = control.data();
            message.msg_controllen = control.size();
            cmsghdr* header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
            std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
        }
        return sendmsg(fd_, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
    }

    /// Sends a header and `payload`; the header's size is `claimed` unless that is 0.
    bool send(std::uint16_t command, const std::vector<std::uint8_t>& payload,
              const std::vector<int>& fds = {}, std::uint32_t flags = 0,
              std::uint32_t claimed = 0) {
        std::vector<std::uint8_t> message(16 + payload.size());
        const std::uint16_t words[] = {++id_, command};
        const std::uint32_t rest[] = {
            claimed != 0 ? claimed : static_cast<std::uint32_t>(message.size()), flags, 0};
        std::memcpy(message.data(), words, sizeof words);
        std::memcpy(&message[4], rest, sizeof rest);
        std::ranges::copy(payload, message.begin() + 16);
        return send_bytes(message.data(), message.size(), fds);
    }

    reply receive() {
        reply got;
        std::uint8_t head[16];
        if (!receive_all(head, sizeof head, got.fds)) {
            got.closed = true;
            return got;
        }
        std::memcpy(&got.id, head, 2);
        std::memcpy(&got.command, head + 2, 2);
        std::memcpy(&got.size, head + 4, 4);
        std::memcpy(&got.flags, head + 8, 4);
        std::memcpy(&got.error, head + 12, 4);
        got.payload.resize(got.size - 16);
        got.closed = !receive_all(got.payload.data(), got.payload.size(), got.fds);
        return got;
    }

    reply request(std::uint16_t command, const std::vector<std::uint8_t>& payload,
                  const std::vector<int>& fds = {}) {
        send(command, payload, fds);
        return receive();
    }

    reply hello(std::string_view json = R"({"capabilities":{"max_msg_fds":16}})") {
        std::vector<std::uint8_t> payload{0, 0, 0, 0};
        payload.insert(payload.end(), json.begin(), json.end());
        payload.push_back(0);
        return request(1, payload);
    }

    int fd() const { return fd_; }
    bool connected = false;

private:
    bool receive_all(std::uint8_t* bytes, std::size_t size, std::vector<int>& fds) {
        while (size > 0) {
            char control[CMSG_SPACE(16 * sizeof(int))];
            iovec part{bytes, size};
            msghdr message{};
            message.msg_iov = &part;
            message.msg_iovlen = 1;
            message.msg_control = control;
            message.msg_controllen = sizeof control;
            const ssize_t got = recvmsg(fd_, &message, MSG_CMSG_CLOEXEC);
            if (got <= 0) return false;
            for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
                 header = CMSG_NXTHDR(&message, header)) {
                const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                for (std::size_t i = 0; i < count; ++i) {
                    int fd = -1;
                    std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
                    fds.push_back(fd);
                }
            }
            bytes += got;
            size -= static_cast<std::size_t>(got);
        }
        return true;
    }

    int fd_;
    std::uint16_t id_ = 0;
};

/// The bytes of the values in order, little endian.
template <typename... T>
std::vector<std::uint8_t> packed(const T&... values) {
    std::vector<std::uint8_t> bytes;
    const auto add = [&](const auto& value) {
        const auto* first = reinterpret_cast<const std::uint8_t*>(&value);
        bytes.insert(bytes.end(), first, first + sizeof value);
    };
    (add(values), ...);
    return bytes;
}

}  // namespace trn::test
