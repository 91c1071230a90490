// SPDX-License-Identifier: Apache-2.0
// The client library against servers that break the protocol.
#include <gtest/gtest.h>
#include <linux/vfio.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "platform/framework/unique_fd.h"
#include "sw-stubs/transports/vfio_user/protocol.h"
#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using bytes = std::vector<std::uint8_t>;

template <class T>
void append(bytes& to, const T& value) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(&value);
    to.insert(to.end(), begin, begin + sizeof value);
}

/// Answers one client: each request with the payload that `answer` makes of its command.
class hostile_server {
public:
    struct reply {
        bytes payload;
        int fd = -1;
        std::uint32_t error = 0;
        int before = 0;                      ///< number of the device's own requests before it
        std::chrono::milliseconds pause{0};  ///< before each of them
        bool silent = false;                 ///< no reply follows
    };
    using answers = std::function<reply(std::uint16_t command)>;

    hostile_server(const std::string& path, answers answer)
        : listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), answer_(std::move(answer)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(listen(listener_.get(), 1), 0);
        thread_ = std::thread([this] { serve(); });
    }
    ~hostile_server() { thread_.join(); }

private:
    void serve() const {
        const trn::unique_fd client(accept(listener_.get(), nullptr, nullptr));
        for (;;) {
            vu_header head{};
            if (recv(client.get(), &head, sizeof head, MSG_WAITALL) != sizeof head) return;
            bytes request(head.size - sizeof head);
            if (!request.empty() &&
                recv(client.get(), request.data(), request.size(), MSG_WAITALL) <= 0)
                return;
            const auto how = answer_(head.command);
            for (int i = 0; i < how.before; ++i) {
                std::this_thread::sleep_for(how.pause);
                const vu_header own{7, VU_DMA_READ, sizeof own, VU_REQUEST, 0};
                if (send(client.get(), &own, sizeof own, MSG_NOSIGNAL) < 0) return;
            }
            if (!how.silent) send_reply(client.get(), head, how);
        }
    }
    static void send_reply(int to, vu_header head, reply how) {
        head.flags = VU_REPLY;
        if (how.error != 0) head.flags |= VU_ERROR;
        head.error = how.error;
        head.size = static_cast<std::uint32_t>(sizeof head + how.payload.size());
        bytes message;
        append(message, head);
        message.insert(message.end(), how.payload.begin(), how.payload.end());
        iovec part{message.data(), message.size()};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
        msghdr whole{};
        whole.msg_iov = &part;
        whole.msg_iovlen = 1;
        if (how.fd >= 0) {
            whole.msg_control = control;
            whole.msg_controllen = sizeof control;
            cmsghdr* rights = CMSG_FIRSTHDR(&whole);
            rights->cmsg_level = SOL_SOCKET;
            rights->cmsg_type = SCM_RIGHTS;
            rights->cmsg_len = CMSG_LEN(sizeof(int));
            std::memcpy(CMSG_DATA(rights), &how.fd, sizeof how.fd);
        }
        sendmsg(to, &whole, MSG_NOSIGNAL);
    }

    const trn::unique_fd listener_;
    const answers answer_;
    std::thread thread_;
};

hostile_server::reply version() {
    bytes payload;
    append(payload, vu_version{0, 1});
    for (const char c : std::string("{}")) payload.push_back(static_cast<std::uint8_t>(c));
    payload.push_back(0);
    return {.payload = payload};
}

struct HostileServer : testing::Test {
    const trn::test::scratch_folder folder;
    const std::string path = folder / "server.sock";
    const trn::unique_fd memory{memfd_create("bar", MFD_CLOEXEC)};

    trn_vfio_user* connect() {
        trn_vfio_user* client = nullptr;
        char why[256] = "";
        EXPECT_EQ(trn_vfio_user_open(path.c_str(), nullptr, &client, why, sizeof why), 0) << why;
        return client;
    }
    /// A region of 1 GiB whose capabilities are `chain`, from byte 32 on.
    hostile_server::reply region(const bytes& chain, std::uint32_t more_flags = 0) const {
        vfio_region_info info{};
        info.argsz = static_cast<std::uint32_t>(sizeof info + chain.size());
        info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_MMAP | more_flags;
        info.index = 4;
        info.cap_offset = sizeof info;
        info.size = 1 << 30;
        bytes payload;
        append(payload, info);
        payload.insert(payload.end(), chain.begin(), chain.end());
        return {payload, memory.get()};
    }
};

TEST_F(HostileServer, ChainOfCapabilitiesThatLeavesItsMessageOffersNoAreas) {
    bytes chain;
    for (std::uint32_t n = 0; n < 9; ++n) {
        vfio_info_cap_header capability{};
        capability.id = 99;
        capability.version = 1;
        capability.next = n == 7 ? 0x7fff'fff0 : static_cast<std::uint32_t>(32 + 16 * (n + 1));
        append(chain, capability);
        append(chain, std::uint64_t{16});
    }
    const hostile_server server(path, [&](std::uint16_t command) {
        return command == VU_VERSION ? version() : region(chain, VFIO_REGION_INFO_FLAG_CAPS);
    });
    auto* client = connect();
    trn_vfio_user_region found{};
    EXPECT_EQ(trn_vfio_user_region_info(client, 4, &found), 0);
    EXPECT_EQ(found.area_count, 0u);
    trn_vfio_user_close(client);
}

TEST_F(HostileServer, FileThatIsShorterThanItsRegionIsNotMapped) {
    ASSERT_EQ(ftruncate(memory.get(), 8192), 0);
    const hostile_server server(path, [&](std::uint16_t command) {
        return command == VU_VERSION ? version() : region({});
    });
    auto* client = connect();
    void* at = nullptr;
    EXPECT_EQ(trn_vfio_user_region_map(client, 4, 4096, 8192, &at), -EINVAL);
    EXPECT_STREQ(trn_vfio_user_error(client), "the server's file is shorter than its region 4");
    ASSERT_EQ(trn_vfio_user_region_map(client, 4, 4096, 4096, &at), 0);
    trn_vfio_user_region_unmap(client, at, 4096);
    trn_vfio_user_close(client);
}

TEST_F(HostileServer, ErrorNumberThatIsNoneIsAnInputOutputError) {
    const hostile_server server(path, [&](std::uint16_t command) {
        return command == VU_VERSION ? version()
                                     : hostile_server::reply{.payload = {}, .error = 0x8000'0000};
    });
    auto* client = connect();
    EXPECT_EQ(trn_vfio_user_reset(client), -EIO);
    trn_vfio_user_close(client);
}

TEST_F(HostileServer, SocketCanBePolled) {
    const hostile_server server(path, [](auto) { return version(); });
    trn_vfio_user* const client = connect();
    pollfd own{.fd = trn_vfio_user_socket(client), .events = POLLIN, .revents = 0};
    EXPECT_GE(own.fd, 0);
    EXPECT_EQ(poll(&own, 1, 0), 0) << "an open socket, without a request of the device";
    trn_vfio_user_close(client);
}

TEST_F(HostileServer, SignalDuringServeDoesNotExtendItsTimeout) {
    const hostile_server server(path, [](auto) { return version(); });
    trn_vfio_user* const client = connect();
    struct sigaction interrupts {};
    interrupts.sa_handler = [](int) {};
    sigaction(SIGUSR1, &interrupts, nullptr);
    std::thread sender([to = pthread_self()] {
        std::this_thread::sleep_for(50ms);
        pthread_kill(to, SIGUSR1);
    });
    const auto start = steady_clock::now();
    EXPECT_EQ(trn_vfio_user_serve(client, 200), 0);
    const auto took = steady_clock::now() - start;
    sender.join();
    EXPECT_GE(took, 199ms);
    EXPECT_LT(took, 3s);
    trn_vfio_user_close(client);
}

TEST_F(HostileServer, RequestsOfTheDeviceDoNotExtendTheTimeoutOfAReply) {
    const hostile_server server(path, [](auto command) {
        if (command == VU_VERSION) return version();
        return hostile_server::reply{.payload = {}, .before = 40, .pause = 100ms, .silent = true};
    });
    trn_vfio_user_options options{};
    options.timeout_ms = 500;
    trn_vfio_user* client = nullptr;
    ASSERT_EQ(trn_vfio_user_open(path.c_str(), &options, &client, nullptr, 0), 0);
    const auto start = steady_clock::now();
    std::uint32_t value = 0;
    EXPECT_EQ(trn_vfio_user_read32(client, 0, 0, &value), -ETIMEDOUT);
    EXPECT_LT(steady_clock::now() - start, 2s);
    trn_vfio_user_close(client);
}

}  // namespace
