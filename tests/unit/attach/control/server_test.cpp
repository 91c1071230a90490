// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/control/server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>

#include "tests/support/scratch_folder.h"

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using trn::rpc::json;

constexpr auto hello = R"({"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":1}})";

class ServerTest : public testing::Test {
public:
    /// Runs both ends, which share this thread, until `condition` holds; fails after a minute.
    void drive(const std::function<bool()>& condition) {
        const auto end = std::chrono::steady_clock::now() + 60s;
        while (!condition() && std::chrono::steady_clock::now() < end) loop.io().poll_one();
        ASSERT_TRUE(condition()) << "timed out";
    }

    template <typename Socket>
    std::string ask(Socket& client, const std::string& text) {
        boost::system::error_code failed;
        bool written = false;
        asio::async_write(client, asio::buffer(text),
                          [&](auto e, auto) { written = true, failed = e; });
        drive([&] { return written; });
        return line(client);
    }

    /// The next line from the server; "" when the connection has ended.
    template <typename Socket>
    std::string line(Socket& client) {
        static std::string buffer;
        bool done = false;
        std::string text;
        asio::async_read_until(client, asio::dynamic_buffer(buffer), '\n',
                               [&](auto e, std::size_t n) {
                                   done = true;
                                   if (!e) text = buffer.substr(0, n - 1);
                                   buffer.erase(0, e ? buffer.size() : n);
                               });
        drive([&] { return done; });
        return text;
    }

    asio::local::stream_protocol::socket open_unix() {
        asio::local::stream_protocol::socket client(loop.io());
        client.connect(path().string());
        return client;
    }
    std::filesystem::path path() const { return folder / "control.sock"; }

    const trn::test::scratch_folder folder;
    trn::run_loop loop{{.policy = {trn::time_policy::kind::lockstep}}};
    trn::control api{loop, {"0.1.0", "test-board", "abc"}};
};

TEST_F(ServerTest, UnixSocketIsPrivateToItsOwnerAndRemovedOnExit) {
    {
        trn::control_server server(api);
        server.listen_unix(path());
        struct stat status {};
        ASSERT_EQ(stat(path().c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777, 0600u);
    }
    EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(ServerTest, StaleSocketIsReplacedAndALiveOneIsKept) {
    {
        asio::local::stream_protocol::acceptor dead(loop.io(),
                                                    path().string());  // closing does not unlink
    }
    ASSERT_TRUE(std::filesystem::exists(path()));
    trn::control_server server(api);
    server.listen_unix(path());
    trn::control_server second(api);
    EXPECT_THROW(second.listen_unix(path()), trn::listen_error);
    EXPECT_THROW(second.listen_unix(folder / std::string(200, 'x')), trn::listen_error);
    EXPECT_THROW(second.listen_unix(folder / "no/such/folder"), trn::listen_error);
}

TEST_F(ServerTest, AnswersJoinedAndSplitRequests) {
    trn::control_server server(api);
    server.listen_unix(path());
    auto client = open_unix();
    EXPECT_EQ(json::parse(ask(client, std::string(hello) + "\n"))["result"]["board"], "test-board");
    EXPECT_EQ(loop.attached(), 1u);
    // Two requests in one packet, one request in two.
    ask(client,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,"
        "\"method\":\"status\"}\n{\"json");
    EXPECT_EQ(json::parse(line(client))["id"], 2);
    EXPECT_EQ(json::parse(ask(client, "rpc\":\"2.0\",\"id\":3,\"method\":\"status\"}\r\n"))["id"],
              3);
    EXPECT_EQ(json::parse(ask(client, "garbage\n"))["error"]["code"], -32700);
    client.close();
    drive([&] { return server.clients() == 0; });
    EXPECT_EQ(loop.attached(), 0u);
}

TEST_F(ServerTest, ClientWithoutHelloIsDisconnected) {
    trn::control_server server(api);
    server.listen_unix(path());
    for (const auto* first :
         {"POST / HTTP/1.1\n", "{}\n", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"quit\"}\n",
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"protocol\":9}}\n"}) {
        auto client = open_unix();
        EXPECT_TRUE(json::parse(ask(client, std::string(first) + hello + "\n")).contains("error"))
            << first;
        EXPECT_EQ(line(client), "") << first;
    }
    EXPECT_FALSE(loop.quitting());
}

TEST_F(ServerTest, OversizedMessageIsRefusedAndTheNextOneServed) {
    trn::control_server server(api);
    server.listen_unix(path());
    auto client = open_unix();
    ask(client, std::string(hello) + "\n");
    const std::string huge(trn::control_server::largest_message + 100'000, 'x');
    const auto reply = json::parse(ask(client, huge));
    EXPECT_EQ(reply["error"]["code"], -32600);
    EXPECT_EQ(json::parse(ask(
                  client, huge + "\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"status\"}\n"))["id"],
              9);
}

TEST_F(ServerTest, ClientThatStopsReadingIsDisconnected) {
    trn::control_server server(api);
    server.listen_unix(path());
    auto client = open_unix();
    ask(client, std::string(hello) + "\n");
    ask(client,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscribe\",\"params\":{\"topics\":[\"uart\"]}}"
        "\n");
    const json text = std::string(1 << 20, 'x');
    for (int i = 0; i < 40; ++i) api.publish("uart", {{"module", "m"}, {"text", text}});
    drive([&] { return server.clients() == 0; });
}

TEST_F(ServerTest, SeventeenthClientIsRefused) {
    trn::control_server server(api);
    server.listen_unix(path());
    std::vector<asio::local::stream_protocol::socket> clients;
    for (std::size_t i = 0; i < trn::control_server::max_clients; ++i) {
        clients.push_back(open_unix());
        ASSERT_TRUE(json::parse(ask(clients.back(), std::string(hello) + "\n")).contains("result"));
    }
    auto late = open_unix();
    EXPECT_EQ(json::parse(ask(late, std::string(hello) + "\n"))["error"]["message"],
              "16 clients are attached already");
    EXPECT_EQ(line(late), "");
    clients.pop_back();
    drive([&] { return server.clients() < trn::control_server::max_clients; });
    auto next = open_unix();
    EXPECT_TRUE(json::parse(ask(next, std::string(hello) + "\n")).contains("result"));
}

TEST_F(ServerTest, SilentClientsTimeOutAndDoNotBlockOthers) {
    trn::control_server server(api, {.clients = 16, .time = 300ms});
    server.listen_unix(path());
    std::vector<asio::local::stream_protocol::socket> silent;
    for (int i = 0; i < 40; ++i) {
        silent.push_back(open_unix());
        loop.io().poll();  // exceeds the listener's backlog
        if (i % 2) silent.back().send(asio::buffer("{\"json", 6));
    }
    drive([&] { return loop.attached() == 16; });
    auto owner = open_unix();
    EXPECT_TRUE(json::parse(ask(owner, std::string(hello) + "\n")).contains("result"));
    drive([&] { return loop.attached() == 1; });  // the owner stays connected
    EXPECT_NE(line(silent.back()).find("call hello first"), std::string::npos);
    EXPECT_EQ(server.clients(), 1u);
    EXPECT_TRUE(json::parse(ask(owner, R"({"jsonrpc":"2.0","id":3,"method":"status"})"
                                       "\n"))
                    .contains("result"));
}

TEST_F(ServerTest, UnterminatedFirstLineIsNotBuffered) {
    trn::control_server server(api);
    server.listen_unix(path());
    auto client = open_unix();
    const std::string endless(trn::control_server::largest_greeting + 100'000, 'x');
    EXPECT_NE(ask(client, endless).find("call hello first"), std::string::npos);
    EXPECT_EQ(line(client), "");
}

TEST_F(ServerTest, NestedJsonIsRefusedBeforeAndAfterHello) {
    trn::control_server server(api);
    server.listen_unix(path());
    const std::string deep = std::string(20'000, '[') + std::string(20'000, ']');
    const auto in = [&deep](std::string_view method) {
        return fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{{"protocol":{}}}}})"
                           "\n",
                           method, deep);
    };
    for (const auto& text : {deep + "\n", in("hello")}) {
        auto client = open_unix();
        EXPECT_TRUE(json::parse(ask(client, text)).contains("error"));
    }
    auto client = open_unix();
    ask(client, std::string(hello) + "\n");
    EXPECT_EQ(json::parse(ask(client, in("status")))["error"]["code"], -32700);
    EXPECT_EQ(json::parse(ask(client, in("no such method")))["error"]["code"], -32700);
    EXPECT_TRUE(json::parse(ask(client, R"({"jsonrpc":"2.0","id":3,"method":"status"})"
                                        "\n"))
                    .contains("result"));
}

TEST_F(ServerTest, TcpRequiresLoopbackOrATokenAndPermission) {
    trn::control_server server(api);
    EXPECT_THROW(server.listen_tcp({.address = "0.0.0.0:0"}), trn::listen_error);
    EXPECT_THROW(server.listen_tcp({.address = "0.0.0.0:0", .allow_remote = true}),
                 trn::listen_error);
    EXPECT_THROW(server.listen_tcp({.address = "nonsense"}), trn::listen_error);
    const auto address = server.listen_tcp({.address = "127.0.0.1:0", .token = "0123456789abcdef"});
    const auto port =
        static_cast<unsigned short>(std::stoul(address.substr(address.rfind(':') + 1)));
    const auto open = [&] {
        asio::ip::tcp::socket client(loop.io());
        client.connect({asio::ip::address_v4::loopback(), port});
        return client;
    };
    auto stranger = open();
    EXPECT_EQ(json::parse(ask(stranger, std::string(hello) + "\n"))["error"]["message"],
              "the token is missing or wrong");
    auto friendly = open();
    EXPECT_TRUE(json::parse(ask(friendly, R"({"jsonrpc":"2.0","id":0,"method":"hello",)"
                                          R"("params":{"protocol":1,"token":"0123456789abcdef"}})"
                                          "\n"))
                    .contains("result"));
}

TEST_F(ServerTest, TokenFileMustBePrivateAndLongEnough) {
    const auto file = folder / "token";
    std::ofstream(file) << "0123456789abcdef\n";
    chmod(file.c_str(), 0644);
    EXPECT_THROW(trn::read_token(file), trn::listen_error);
    chmod(file.c_str(), 0600);
    EXPECT_EQ(trn::read_token(file), "0123456789abcdef");
    std::ofstream(file) << "short\n";
    EXPECT_THROW(trn::read_token(file), trn::listen_error);
    EXPECT_THROW(trn::read_token(folder / "absent"), trn::listen_error);
}

}  // namespace
