// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/listen/listener.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "platform/framework/attach/listen/tcp_peer.h"
#include "platform/framework/attach/listen/waiting_room.h"
#include "platform/framework/log.h"
#include "platform/framework/sanitized.h"
#include "platform/framework/unique_fd.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace std::chrono_literals;
using trn::listener;
using unix_stream = boost::asio::local::stream_protocol;

struct ListenerTest : testing::Test {
    std::unique_ptr<listener> listen() {
        return listener::on_unix(
            io, path, [this](listener::stream client) { clients.push_back(std::move(client)); });
    }
    std::string refusal(const std::string& address) {
        try {
            listener::on_tcp(io, address, {}, [](auto) {});
        } catch (const trn::listen_error& why) {
            return why.what();
        }
        return "";
    }

    const trn::test::scratch_folder folder;
    const std::filesystem::path path = folder / "a.sock";
    boost::asio::io_context io;
    std::vector<listener::stream> clients;
};

TEST_F(ListenerTest, RemovesOnlyItsOwnSocketFile) {
    auto first = listen();
    std::filesystem::remove(path);
    const auto second = listen();  // another run in the same folder
    first.reset();
    EXPECT_TRUE(std::filesystem::exists(path));
    first = nullptr;
    std::filesystem::remove(path);
    std::ofstream(path) << "a user's file";
    EXPECT_THROW(listen(), trn::listen_error);
    EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

TEST_F(ListenerTest, RefusesASocketWhoseListenerAcceptsNoClients) {
    unix_stream::acceptor stopped(io, path.string());  // its process does not run
    stopped.listen(0);
    const unix_stream::endpoint there(path.string());
    std::vector<trn::unique_fd> queue;
    do {
        queue.emplace_back(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
    } while (connect(queue.back().get(), there.data(), static_cast<socklen_t>(there.size())) == 0);
    ASSERT_EQ(errno, EAGAIN);  // a blocking connect() would not return
    EXPECT_THROW(listen(), trn::listen_error);
    EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(ListenerTest, AcceptsPortsBelow65536Only) {
    for (const auto* port :
         {"65536", "70000", "-1", "http", "0x50", "", "80 ", "18446744073709551616"})
        EXPECT_NE(refusal(std::string("127.0.0.1:") + port).find("is not a TCP port (0 to 65535)"),
                  std::string::npos)
            << port;
    EXPECT_EQ(refusal("127.0.0.1:0"), "");
}

/// A child process that connects to a port of loopback as `user`, and ends when it is disconnected.
struct tcp_client {
    tcp_client(unsigned port, uid_t user) : process(fork()) {
        if (process != 0) return;
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<std::uint16_t>(port));
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        char byte = 0;
        if (setuid(user) != 0) _exit(1);
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) _exit(2);
        _exit(read(fd, &byte, 1) == 0 ? 0 : 3);
    }
    int status() const {
        int how = 0;
        waitpid(process, &how, 0);
        return how;
    }
    const pid_t process;
};

TEST_F(ListenerTest, TcpPortOfLoopbackServesItsOwnUserOnly) {
    const auto door = listener::on_tcp(io, "127.0.0.1:0", {}, [this](listener::stream client) {
        clients.push_back(std::move(client));
    });
    const tcp_client own(door->port(), geteuid());
    while (clients.empty()) io.run_one();
    EXPECT_EQ(trn::user_of_tcp_peer(clients.front().native_handle()), geteuid());
    clients.clear();
    EXPECT_EQ(own.status(), 0);
    if (geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
    std::vector<std::string> lines;
    const auto before =
        trn::log::replace_sink([&](const auto& record) { lines.emplace_back(record.text); });
    constexpr uid_t unprivileged = 65534;
    const tcp_client other(door->port(), unprivileged);
    while (lines.empty()) io.run_one();
    trn::log::replace_sink(before);
    EXPECT_TRUE(clients.empty());
    EXPECT_EQ(lines.front(), "refused a client of user 65534: this port is for its own user");
    EXPECT_EQ(other.status(), 0);
}

TEST_F(ListenerTest, TcpPeerThatHasClosedHasNoUser) {
    const auto door =
        listener::on_tcp(io, "127.0.0.1:0", {.allow_other_users = true},
                         [this](listener::stream client) { clients.push_back(std::move(client)); });
    {
        boost::asio::ip::tcp::socket client(io);
        client.connect(
            {boost::asio::ip::address_v4::loopback(), static_cast<unsigned short>(door->port())});
        while (clients.empty()) io.run_one();
        EXPECT_EQ(trn::user_of_tcp_peer(clients.front().native_handle()), geteuid());
    }
    EXPECT_EQ(trn::user_of_tcp_peer(clients.front().native_handle()), std::nullopt);
}

TEST_F(ListenerTest, WaitsAndWarnsOnceWhenDescriptorsRunOut) {
    if (trn::sanitized) GTEST_SKIP() << "the sanitizer opens files itself";
    std::vector<std::string> lines;
    const auto before =
        trn::log::replace_sink([&](const auto& record) { lines.emplace_back(record.text); });
    const auto door = listen();
    unix_stream::socket client(io);
    client.connect(path.string());
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    // All lower descriptors are in use.
    const rlimit none{static_cast<rlim_t>(dup(0)), limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    std::size_t handlers = 0;
    for (const auto end = std::chrono::steady_clock::now() + 700ms;
         std::chrono::steady_clock::now() < end;)
        handlers += io.run_one_until(end);
    setrlimit(RLIMIT_NOFILE, &limit);
    EXPECT_TRUE(clients.empty());
    EXPECT_LT(handlers, 20u);
    while (clients.empty()) io.run_one();
    trn::log::replace_sink(before);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0], "cannot accept a client: Too many open files");
}

TEST_F(ListenerTest, PendingClientsAreDroppedOnTimeoutOrWhenTheQueueIsFull) {
    std::vector<int> away;
    const int keys[4] = {};
    trn::waiting_room room(io, {.clients = 2, .time = 50ms});
    const auto enter = [&](int n) { room.enter(&keys[n], [&away, n] { away.push_back(n); }); };
    enter(0);
    enter(1);
    enter(2);
    EXPECT_EQ(away, std::vector{0});
    room.leave(&keys[1]);
    room.leave(&keys[1]);
    io.run();
    EXPECT_EQ(away, (std::vector{0, 2}));
    enter(3);
    room.turn_all_away();
    EXPECT_EQ(away, (std::vector{0, 2, 3}));
}

}  // namespace
