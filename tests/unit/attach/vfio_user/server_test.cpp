// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/vfio_user/server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pci_regs.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/framework/sanitized.h"
#include "platform/framework/unique_fd.h"
#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/vfio_user_peer.h"
#include "tests/unit/attach/vfio_user/fake_function.h"

namespace {

using namespace trn;
using test::packed;
using test::raw_peer;
using testing::HasSubstr;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

trn_vfio_user_options expecting(const char* board, const char* digest = nullptr) {
    trn_vfio_user_options options{};
    options.expected_board = board;
    options.expected_digest = digest;
    return options;
}

struct VfioUserServerTest : testing::Test {
    VfioUserServerTest() { start(); }

    void start(vfio_user_server::config cfg = {}) {
        server.reset();
        cfg.path = path;
        cfg.name = "chip0";
        server = std::make_unique<vfio_user_server>(io, function, cfg, hooks());
    }
    vfio_user_server::hooks hooks() {
        return {.before_access = [this] { ++before; },
                .after_access = [this](const sc_core::sc_time& delay) { charged += delay; },
                .may_answer =
                    [this](const started_work&, std::function<void()> answer) {
                        held = std::move(answer);
                        return false;
                    },
                .attached = [this](bool now) { attached += now ? 1 : -1; },
                .wait = {},
                .log = [this](std::string_view line) { log.emplace_back(line); }};
    }
    void serve(const std::function<void()>& client) { test::serve_while(io, client); }

    /// The client library with a connected device.
    struct library {
        explicit library(const std::string& path, const trn_vfio_user_options* options = nullptr) {
            error = trn_vfio_user_open(path.c_str(), options, &client, why, sizeof why);
        }
        ~library() { trn_vfio_user_close(client); }
        operator trn_vfio_user*() const { return client; }
        trn_vfio_user* client = nullptr;
        int error = 0;
        char why[256] = "";
    };

    test::scratch_folder folder;
    const std::string path = folder / "chip0.sock";
    boost::asio::io_context io;
    test::fake_function function;
    int before = 0, attached = 0;
    sc_core::sc_time charged;
    std::function<void()> held;  // completes the deferred write
    std::vector<std::string> log;
    std::unique_ptr<vfio_user_server> server;
};

TEST_F(VfioUserServerTest, LargeBarsArePrefetchableBehindABridgeOnly) {
    const auto flags_of = [this](unsigned bar) {
        u8 flags = 0xff;
        serve([&] {
            library client(path);
            trn_vfio_user_read(client, TRN_VFIO_USER_CONFIG, PCI_BASE_ADDRESS_0 + 4 * bar, &flags,
                               1);
        });
        return flags & 0xf;
    };
    function.bars[0].size = u64{4} << 30;
    function.bars[2].size = 8192;
    EXPECT_EQ(flags_of(0) & PCI_BASE_ADDRESS_MEM_PREFETCH, 0);
    start({.behind_bridge = true});
    EXPECT_EQ(flags_of(0) & PCI_BASE_ADDRESS_MEM_PREFETCH, PCI_BASE_ADDRESS_MEM_PREFETCH);
    EXPECT_EQ(flags_of(2) & PCI_BASE_ADDRESS_MEM_PREFETCH, 0);
}

TEST_F(VfioUserServerTest, SocketIsAccessibleToItsOwnerOnly) {
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    server.reset();
    EXPECT_NE(stat(path.c_str(), &status), 0);
}

TEST_F(VfioUserServerTest, RefusesASocketThatIsInUse) {
    EXPECT_THROW(vfio_user_server(io, function, {.path = path}), listen_error);
}

TEST_F(VfioUserServerTest, AccessesReachTheFunctionAndTakeItsLatency) {
    serve([&] {
        library client(path);
        ASSERT_EQ(client.error, 0) << client.why;
        u32 word = 0;
        u64 wide = 0;
        EXPECT_EQ(trn_vfio_user_write32(client, 0, 0x10, 0x1234'5678), 0);
        EXPECT_EQ(trn_vfio_user_read32(client, 0, 0x10, &word), 0);
        EXPECT_EQ(word, 0x1234'5678u);
        EXPECT_EQ(trn_vfio_user_write64(client, 0, 0x20, 0x0102'0304'0506'0708), 0);
        EXPECT_EQ(trn_vfio_user_read64(client, 0, 0x20, &wide), 0);
        EXPECT_EQ(wide, 0x0102'0304'0506'0708u);
        EXPECT_EQ(trn_vfio_user_post(client, 0, 0x10, &wide, 3), 0);
        EXPECT_EQ(trn_vfio_user_read32(client, 0, 0x10, &word), 0);
        EXPECT_EQ(word, 0x1206'0708u);
        EXPECT_EQ(trn_vfio_user_write(client, TRN_VFIO_USER_CONFIG, 4, &wide, 2), 0);
        EXPECT_EQ(trn_vfio_user_reset(client), 0);
    });
    EXPECT_EQ(function.space[4], 8);
    EXPECT_EQ(function.resets, 1);
    EXPECT_EQ(before, 7);
    EXPECT_EQ(charged, sc_core::sc_time(3 * 7, sc_core::SC_NS));
    EXPECT_EQ(attached, 0);
    EXPECT_EQ(function.detaches, 1);
    EXPECT_THAT(log, testing::ElementsAre("the client closed the connection"));
}

/// Work started by a write of register 0x38; ends when it is cancelled.
struct doorbell {
    explicit doorbell(test::fake_function& of) {
        of.on_write = [this](u64 offset) {
            if (offset == 0x38) work = started_work::current();
        };
    }
    started_work::share work;
};

std::vector<u8> write_of(u64 offset, u32 value) {
    return packed(offset, u32{0}, u32{4}, value);
}

TEST_F(VfioUserServerTest, WriteIsAnsweredWhenItsWorkIsDone) {
    doorbell bell(function);
    raw_peer client(path);
    serve([&] {
        EXPECT_TRUE(client.hello().ok());
        EXPECT_TRUE(client.request(10, write_of(0x30, 1)).ok());  // starts nothing
        EXPECT_TRUE(client.send(10, write_of(0x38, 2)));
        EXPECT_TRUE(client.send(10, write_of(0x40, 3)));
    });
    while (!held) io.run_one_for(std::chrono::milliseconds(1));
    for (int i = 0; i < 3; ++i) io.run_one_for(std::chrono::milliseconds(1));
    EXPECT_EQ(function.ram[0x38], 2);
    EXPECT_EQ(function.ram[0x40], 0);  // the next request waits
    pollfd answer{.fd = client.fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&answer, 1, 0), 0);
    held();
    while (function.ram[0x40] == 0) io.run_one_for(std::chrono::milliseconds(1));
    const auto first = client.receive(), second = client.receive();
    EXPECT_TRUE(first.ok());
    EXPECT_EQ(first.at<u64>(0), 0x38u);
    EXPECT_TRUE(second.ok());
    EXPECT_EQ(second.at<u64>(0), 0x40u);
    held();  // a second call has no effect
}

/// A reply that was sent without its callback, as after a hang-up, leaves one that comes late.
TEST_F(VfioUserServerTest, LateCallbackDoesNotReleaseALaterReply) {
    doorbell bell(function);
    raw_peer client(path);
    serve([&] {
        EXPECT_TRUE(client.hello().ok());
        EXPECT_TRUE(client.send(10, write_of(0x38, 2)));
    });
    while (!held) io.run_one_for(std::chrono::milliseconds(1));
    const auto first = std::exchange(held, {});
    first();
    EXPECT_TRUE(client.receive().ok());
    EXPECT_TRUE(client.send(10, write_of(0x38, 3)));
    while (!held) io.run_one_for(std::chrono::milliseconds(1));
    first();
    pollfd answer{.fd = client.fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&answer, 1, 0), 0);
    held();
    EXPECT_TRUE(client.receive().ok());
}

TEST_F(VfioUserServerTest, PostedWriteDoesNotDelayLaterMessages) {
    doorbell bell(function);
    raw_peer client(path);
    serve([&] {
        EXPECT_TRUE(client.hello().ok());
        constexpr u32 no_reply = 0x10;
        EXPECT_TRUE(client.send(10, write_of(0x38, 2), {}, no_reply));
        EXPECT_TRUE(client.request(10, write_of(0x40, 3)).ok());
    });
    EXPECT_FALSE(held);
}

TEST_F(VfioUserServerTest, NextClientConnectsAfterOneLeavesWithAPendingReply) {
    doorbell bell(function);
    {
        raw_peer client(path);
        serve([&] {
            EXPECT_TRUE(client.hello().ok());
            EXPECT_TRUE(client.send(10, write_of(0x38, 2)));
        });
        while (!held) io.run_one_for(std::chrono::milliseconds(1));
    }
    serve([&] {
        library next(path);
        EXPECT_EQ(next.error, 0) << next.why;
    });
    held();  // belongs to a session that has ended
    EXPECT_EQ(attached, 0);
}

TEST_F(VfioUserServerTest, DestroyedServerDisconnectsItsClient) {
    std::optional<library> client;
    serve([&] { client.emplace(path); });
    EXPECT_EQ(client->error, 0);
    EXPECT_EQ(attached, 1);
    server.reset();
    EXPECT_EQ(attached, 0);
    EXPECT_EQ(function.detaches, 1);
}

TEST_F(VfioUserServerTest, LargeTransfersAreSplitByTheClientAndArriveWhole) {
    std::vector<u8> out(test::fake_function::bar0_size), back(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<u8>(i * 7 + i / 256);
    serve([&] {
        library client(path);
        EXPECT_EQ(trn_vfio_user_write(client, 0, 0, out.data(), out.size()), 0);
        EXPECT_EQ(trn_vfio_user_read(client, 0, 0, back.data(), back.size()), 0);
        EXPECT_EQ(trn_vfio_user_read(client, 0, 1, back.data(), back.size()), -EINVAL);
    });
    EXPECT_EQ(back, out);
}

TEST_F(VfioUserServerTest, ManyPostedWritesArriveInOrder) {
    u64 last = 0;
    unsigned count = 0;
    function.on_write = [&](u64 offset) {
        EXPECT_EQ(offset, last);
        last += 4;
        ++count;
    };
    serve([&] {
        library client(path);
        for (u32 i = 0; i < 20000; ++i) {
            ASSERT_EQ(trn_vfio_user_post(client, 0, u64{4} * i, &i, sizeof i), 0);
        }
        u32 word = 0;
        EXPECT_EQ(trn_vfio_user_read32(client, 0, 4 * 19999, &word), 0);
        EXPECT_EQ(word, 19999u);
    });
    EXPECT_EQ(count, 20000u);
}

TEST_F(VfioUserServerTest, MismatchedVersionsAndCapabilitiesAreRefusedWithAMessage) {
    start({.board = "trn3-chip", .digest = "abc"});
    serve([&] {
        const auto right = expecting("trn3-chip", "abc");
        EXPECT_EQ(library(path, &right).error, 0);
    });
    serve([&] {
        const auto wrong = expecting("trn2-chip");
        const library client(path, &wrong);
        EXPECT_EQ(client.error, -EPROTO);
        EXPECT_THAT(client.why,
                    HasSubstr("expects board \"trn2-chip\", this platform has \"trn3-chip\""));
    });
    EXPECT_THAT(log.back(), HasSubstr("expects board \"trn2-chip\""));
    serve([&] {
        raw_peer peer(path);
        const auto reply = peer.request(1, packed(u16{7}, u16{0}));
        EXPECT_EQ(reply.error, u32{EPROTO});
        EXPECT_THAT(reinterpret_cast<const char*>(reply.payload.data()),
                    HasSubstr("the client speaks vfio-user 7.0"));
        EXPECT_TRUE(peer.receive().closed);
    });
}

TEST_F(VfioUserServerTest, SecondClientIsRefusedWithAMessage) {
    serve([&] {
        library first(path);
        ASSERT_EQ(first.error, 0);
        const library second(path);
        EXPECT_EQ(second.error, -EBUSY);
        EXPECT_THAT(second.why, HasSubstr("chip0 already has a client"));
        u32 word;
        EXPECT_EQ(trn_vfio_user_read32(first, 0, 0, &word), 0);
    });
    serve([&] { EXPECT_EQ(library(path).error, 0); });
}

TEST_F(VfioUserServerTest, FunctionJoinsTheProcessThatItsClientIs) {
    EXPECT_EQ(function.host, 0u);
    serve([&] { EXPECT_EQ(library(path).error, 0); });
    EXPECT_EQ(function.host, static_cast<u64>(getpid()));
}

TEST_F(VfioUserServerTest, NextClientConnectsAfterAHangUp) {
    const auto post = packed(u64{8}, u32{0}, u32{4}, u32{77});
    serve([&] {
        for (int i = 0; i < 50; ++i) {
            raw_peer peer(path);
            ASSERT_TRUE(peer.hello().ok()) << i;
            ASSERT_TRUE(peer.send(10, post, {}, 0x10));
        }
    });
    EXPECT_EQ(function.ram[8], 77);  // messages received before the disconnect are executed
    EXPECT_EQ(function.detaches, 50);
}

TEST_F(VfioUserServerTest, MemoryWithADescriptorIsMappedUntilItsClientLeaves) {
    serve([&] {
        library client(path);
        trn_dma_memory memory{};
        ASSERT_EQ(trn_vfio_user_dma_alloc(client, 5000, 0x10'0000, &memory), 0);
        EXPECT_EQ(memory.size, 8192u);
        static_cast<u8*>(memory.host)[100] = 0x42;
        const auto& range = function.ranges.at(0x10'0000);
        EXPECT_EQ(range.bytes[100], 0x42);
        range.bytes[101] = 0x43;
        EXPECT_EQ(static_cast<u8*>(memory.host)[101], 0x43);
        trn_dma_memory overlap{};
        EXPECT_EQ(trn_vfio_user_dma_alloc(client, 4096, 0x10'1000, &overlap), -EEXIST);
        trn_dma_memory other{};
        ASSERT_EQ(trn_vfio_user_dma_alloc(client, 4096, 0x20'0000, &other), 0);
        EXPECT_EQ(trn_vfio_user_dma_free(client, &other), 0);
        EXPECT_EQ(function.ranges.size(), 1u);
    });
    EXPECT_TRUE(function.ranges.empty());
    EXPECT_EQ(function.carrier, nullptr);
}

TEST_F(VfioUserServerTest, RangeOfATruncatedFileReadsZeroesAndIsUnmapped) {
    serve([&] {
        raw_peer peer(path);
        ASSERT_TRUE(peer.hello().ok());
        const int fd = memfd_create("shrinks", MFD_CLOEXEC);
        ASSERT_EQ(ftruncate(fd, 8192), 0);
        const auto map = [&](u64 iova, u64 size) {
            return peer.request(2, packed(u32{32}, u32{3}, u64{0}, iova, size), {fd});
        };
        EXPECT_EQ(map(0x1000, 8193).error, u32{EINVAL});  // claims more bytes than the file has
        EXPECT_THAT(log.back(), HasSubstr("DMA_MAP was refused: 8193 bytes at 0x0 of the file"));
        ASSERT_TRUE(map(0x1000, 8192).ok());
        ASSERT_TRUE(map(0x4000, 4096).ok());
        ASSERT_EQ(ftruncate(fd, 4096), 0);
        function.on_write = [&](u64) {
            const auto& range = function.ranges.at(0x1000);
            volatile u8* bytes = range.bytes;
            EXPECT_FALSE(range.is_lost());
            EXPECT_EQ(bytes[5000], 0);
            EXPECT_TRUE(range.is_lost());
            bytes[5000] = 1;
            EXPECT_EQ(bytes[5000], 1);
        };
        ASSERT_TRUE(peer.request(10, packed(u64{0}, u32{0}, u32{4}, u32{1})).ok());
        // Without another message of the client.
        const auto has = [&](u64 iova) {
            std::promise<bool> answer;
            boost::asio::post(io, [&] { answer.set_value(function.ranges.contains(iova)); });
            return answer.get_future().get();
        };
        for (int i = 0; i < 5000 && has(0x1000); ++i) std::this_thread::yield();
        EXPECT_FALSE(has(0x1000));
        EXPECT_TRUE(has(0x4000));
        EXPECT_TRUE(map(0x1000, 4096).ok());
        close(fd);
    });
    EXPECT_THAT(log, testing::Contains(HasSubstr("unmapped 8192 bytes at 0x1000: the client's "
                                                 "file no longer has them")));
}

TEST_F(VfioUserServerTest, MappableAreasCarryTheirDescriptor) {
    const int fd = memfd_create("hbm", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(fd, 1 << 20), 0);
    function.bars[4] = {
        .size = 1 << 20,
        .prefetchable = true,
        .descriptor = fd,
        .areas = {{.offset = 0x1000, .size = 0x2000}, {.offset = 0x8000, .size = 0x1000}}};
    start();
    serve([&] {
        library client(path);
        trn_vfio_user_region region{};
        ASSERT_EQ(trn_vfio_user_region_info(client, 4, &region), 0);
        EXPECT_EQ(region.size, 1u << 20);
        ASSERT_EQ(region.area_count, 2u);
        EXPECT_EQ(region.areas[1].offset, 0x8000u);
        void* at = nullptr;
        ASSERT_EQ(trn_vfio_user_region_map(client, 4, 0x2000, 0x1000, &at), 0);
        *static_cast<u32*>(at) = 0xfeed;
        u32 seen = 0;
        EXPECT_EQ(pread(fd, &seen, sizeof seen, 0x2000), 4);
        EXPECT_EQ(seen, 0xfeedu);
        trn_vfio_user_region_unmap(client, at, 0x1000);
        EXPECT_EQ(trn_vfio_user_region_map(client, 4, 0x2000, 0x2000, &at), -ENOTSUP);
        EXPECT_EQ(trn_vfio_user_region_map(client, 0, 0, 0x1000, &at), -ENOTSUP);
        EXPECT_EQ(trn_vfio_user_region_info(client, 9, &region), -EINVAL);
    });
    // A client with too small a buffer receives the required size and no descriptor.
    serve([&] {
        raw_peer peer(path);
        peer.hello();
        auto reply = peer.request(5, packed(u32{32}, u32{0}, u32{4}, u32{0}, u64{0}, u64{0}));
        EXPECT_EQ(reply.at<u32>(0), 32u + 16 + 2 * 16);
        EXPECT_EQ(reply.at<u32>(12), 32u);  // QEMU checks the capability's offset before the size
        EXPECT_TRUE(reply.fds.empty());
        reply = peer.request(5, packed(u32{80}, u32{0}, u32{4}, u32{0}, u64{0}, u64{0}));
        EXPECT_EQ(reply.payload.size(), 80u);
        ASSERT_EQ(reply.fds.size(), 1u);
        close(reply.fds[0]);
    });
    start({.offer_mapping = false});
    serve([&] {
        library client(path);
        trn_vfio_user_region region{};
        ASSERT_EQ(trn_vfio_user_region_info(client, 4, &region), 0);
        EXPECT_EQ(region.area_count, 0u);
    });
    close(fd);
}

TEST_F(VfioUserServerTest, VectorsSignalTheirEventfds) {
    serve([&] {
        library client(path);
        u32 count = 0;
        ASSERT_EQ(trn_vfio_user_interrupt_count(client, &count), 0);
        EXPECT_EQ(count, 32u);
        std::vector<int> fds;
        for (u32 i = 0; i < count; ++i) fds.push_back(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
        ASSERT_EQ(trn_vfio_user_interrupts(client, 0, count, fds.data()), 0);
        function.raise[31]();
        function.raise[31]();
        u64 seen = 0;
        ASSERT_EQ(read(fds[31], &seen, sizeof seen), 8);
        EXPECT_EQ(seen, 2u);
        EXPECT_EQ(read(fds[0], &seen, sizeof seen), -1);
        ASSERT_EQ(trn_vfio_user_interrupts(client, 31, 1, nullptr), 0);
        EXPECT_FALSE(function.raise[31]);
        EXPECT_TRUE(function.raise[30]);

        const u64 full = ~u64{0} - 1;  // a counter that would block the next writer
        ASSERT_EQ(write(fds[1], &full, sizeof full), 8);
        function.raise[1]();
        EXPECT_EQ(trn_vfio_user_interrupts(client, 32, 1, fds.data()), -EINVAL);
        const int waits = eventfd(0, EFD_CLOEXEC);
        ASSERT_EQ(trn_vfio_user_interrupts(client, 0, 1, &waits), 0);
        EXPECT_NE(fcntl(waits, F_GETFL) & O_NONBLOCK, 0);
        close(waits);
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        EXPECT_EQ(trn_vfio_user_interrupts(client, 0, 1, &ends[1]), -EINVAL);
        for (const int fd : fds) close(fd);
        close(ends[0]), close(ends[1]);
    });
}

TEST_F(VfioUserServerTest, ClientTimesOutWhenTheServerDoesNotAnswer) {
    server.reset();
    const std::string mute = folder / "mute.sock";
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    mute.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    trn_vfio_user_options hasty{};
    hasty.timeout_ms = 50;
    EXPECT_EQ(library(mute, &hasty).error, -ETIMEDOUT);
    close(listener);
    EXPECT_EQ(library(mute, &hasty).error, -ECONNREFUSED);
}

TEST_F(VfioUserServerTest, CallsFailAfterTheServerDies) {
    library* client = nullptr;
    serve([&] {
        client = new library(path);
        u32 word;
        EXPECT_EQ(trn_vfio_user_read32(*client, 0, 0, &word), 0);
    });
    server.reset();
    u32 word;
    EXPECT_EQ(trn_vfio_user_read32(*client, 0, 0, &word), -ENODEV);
    EXPECT_EQ(trn_vfio_user_reset(*client), -ENODEV);
    delete client;
}

/// QEMU abandons a register access that depends on its own reply to a DMA message.
TEST_F(VfioUserServerTest, RegisterWriteIsAnsweredBeforeItsDma) {
    const std::vector<u8> data{1, 2, 3, 4};
    int answers = 0;
    function.on_write = [&](u64) {
        EXPECT_TRUE(function.carrier->write(0x1000, data));
        EXPECT_TRUE(function.carrier->read(0x2000, 4, [&](auto bytes) {
            ++answers;
            EXPECT_EQ(std::vector<u8>(bytes.begin(), bytes.end()), (std::vector<u8>{5, 6, 7, 8}));
        }));
    };
    serve([&] {
        raw_peer peer(path);
        ASSERT_TRUE(peer.hello().ok());
        EXPECT_EQ(peer.request(10, packed(u64{0}, u32{0}, u32{4}, u32{1})).command, 10);
        const auto probe = peer.receive();  // queries the message layout
        EXPECT_EQ(probe.command, 11);
        EXPECT_EQ(probe.at<u64>(8), (u64{1} << 32) + 1);
        peer.send_bytes(packed(probe.id, u16{11}, u32{16}, u32{0x21}, u32{E2BIG}).data(), 16);
        const auto write = peer.receive();
        EXPECT_EQ(write.command, 12);
        EXPECT_EQ(write.payload, packed(u64{0x1000}, u64{4}, u32{0x0403'0201}));
        const auto read = peer.receive();
        EXPECT_EQ(read.payload, packed(u64{0x2000}, u64{4}));
        const auto answer = packed(read.id, u16{11}, u32{36}, u32{1}, u32{0}, u64{0x2000}, u64{4},
                                   u32{0x0807'0605});
        peer.send_bytes(answer.data(), answer.size());
        EXPECT_TRUE(peer.request(13, {}).ok());
    });
    EXPECT_EQ(answers, 1);
}

TEST_F(VfioUserServerTest, UnansweredDmaIsBounded) {
    const std::vector<u8> data(4096);
    unsigned accepted = 0;
    function.on_write = [&](u64) {
        while (accepted < 1000 && function.carrier->write(0x1000, data)) ++accepted;
    };
    const auto doorbell = packed(u64{0}, u32{0}, u32{4}, u32{1});
    serve([&] {
        raw_peer peer(path);
        ASSERT_TRUE(peer.hello().ok());
        EXPECT_TRUE(peer.request(10, doorbell).ok());
        EXPECT_EQ(accepted, 32u);  // 128 KiB
        EXPECT_EQ(function.ready, 0);
        const auto probe = peer.receive();
        peer.send_bytes(packed(probe.id, u16{11}, u32{16}, u32{0x21}, u32{E2BIG}).data(), 16);
        for (int i = 0; i < 32; ++i) {
            const auto write = peer.receive();
            EXPECT_EQ(write.command, 12);
            peer.send_bytes(packed(write.id, u16{12}, u32{16}, u32{1}, u32{0}).data(), 16);
        }
        EXPECT_TRUE(peer.request(10, doorbell).ok());  // the queue has room again
        EXPECT_EQ(accepted, 64u);
    });
    EXPECT_EQ(function.ready, 1);
}

// --- malformed messages ---

struct malformed {
    const char* name;
    u16 command;
    std::vector<u8> payload;
    u32 error;        // expected errno; 0 = the connection is closed
    u32 claimed = 0;  // the false size in the header
    u32 flags = 0;
};

std::ostream& operator<<(std::ostream& out, const malformed& row) {
    return out << row.name;
}

struct VfioUserMalformedTest : VfioUserServerTest, testing::WithParamInterface<malformed> {};

TEST_P(VfioUserMalformedTest, MessageIsAnsweredAndTheNextClientWorks) {
    const malformed& row = GetParam();
    serve([&] {
        raw_peer peer(path);
        ASSERT_TRUE(peer.hello().ok());
        peer.send(row.command, row.payload, {}, row.flags, row.claimed);
        const auto reply = peer.receive();
        EXPECT_EQ(reply.closed, row.error == 0);
        if (!reply.closed) {
            EXPECT_EQ(reply.flags, 0x21u);
            EXPECT_EQ(reply.error, row.error) << strerror(static_cast<int>(reply.error));
        }
    });
    // The log contains the reason of the refusal and the disconnect, or the reason of the
    // disconnect.
    ASSERT_EQ(log.size(), row.error == 0 ? 1u : 2u);
    if (row.error != 0) {
        EXPECT_THAT(log[0], HasSubstr("was refused: "));
    }
    serve([&] {
        library next(path);
        u32 word;
        EXPECT_EQ(next.error, 0);
        EXPECT_EQ(trn_vfio_user_read32(next, 0, 0, &word), 0);
    });
}

const malformed rows[] = {
    {"second_version", 1, packed(u16{0}, u16{0}, u8{0}), EINVAL},
    {"unknown_command", 99, {}, ENOTSUP},
    {"dma_read_from_a_client", 11, packed(u64{0}, u64{4}), ENOTSUP},
    {"short_dma_map", 2, packed(u32{32}, u32{3}), EINVAL},
    {"dma_map_of_nothing", 2, packed(u32{32}, u32{3}, u64{0}, u64{0x1000}, u64{0}), EEXIST},
    {"dma_map_that_wraps", 2, packed(u32{32}, u32{3}, u64{0}, u64{0x1000}, ~u64{0}), EEXIST},
    {"dma_map_with_an_unknown_flag", 2, packed(u32{32}, u32{7}, u64{0}, u64{0x1000}, u64{0x1000}),
     EINVAL},
    {"short_dma_unmap", 3, packed(u32{24}), EINVAL},
    {"dma_unmap_with_an_unknown_flag", 3, packed(u32{24}, u32{4}, u64{0x1000}, u64{0x1000}),
     EINVAL},
    {"dma_unmap_that_asks_for_dirty_pages", 3, packed(u32{24}, u32{1}, u64{0x1000}, u64{0x1000}),
     ENOTSUP},
    {"short_region_info", 5, packed(u32{32}), EINVAL},
    {"region_info_of_no_region", 5, packed(u32{32}, u32{0}, u32{77}, u32{0}, u64{0}, u64{0}),
     EINVAL},
    {"short_irq_info", 7, packed(u32{16}), EINVAL},
    {"irq_info_of_no_kind", 7, packed(u32{16}, u32{0}, u32{5}, u32{0}), EINVAL},
    {"short_set_irqs", 8, packed(u32{20}, u32{0x24}), EINVAL},
    {"vectors_that_do_not_exist", 8, packed(u32{20}, u32{0x24}, u32{2}, u32{30}, u32{3}), EINVAL},
    {"vectors_that_wrap", 8, packed(u32{20}, u32{0x24}, u32{2}, ~u32{0}, u32{2}), EINVAL},
    {"interrupt_masking", 8, packed(u32{20}, u32{0x09}, u32{2}, u32{0}, u32{1}), ENOTSUP},
    {"interrupt_loopback", 8, packed(u32{20}, u32{0x21}, u32{2}, u32{0}, u32{1}), ENOTSUP},
    {"short_region_read", 9, packed(u64{0}, u32{0}), EINVAL},
    {"read_of_no_region", 9, packed(u64{0}, u32{9}, u32{4}), EINVAL},
    {"read_of_an_absent_bar", 9, packed(u64{0}, u32{1}, u32{4}), EINVAL},
    {"read_past_the_end", 9, packed(u64{(1 << 20) - 3}, u32{0}, u32{4}), EINVAL},
    {"read_far_past_the_end", 9, packed(~u64{0}, u32{0}, u32{4}), EINVAL},
    {"read_of_4_gib", 9, packed(u64{0}, u32{0}, ~u32{0}), EINVAL},
    {"config_read_past_the_end", 9, packed(u64{4094}, u32{7}, u32{4}), EINVAL},
    {"write_with_less_data_than_said", 10, packed(u64{0}, u32{0}, u32{8}, u32{1}), EINVAL},
    {"short_region_write", 10, packed(u64{0}), EINVAL},
    {"write_past_the_end", 10, packed(u64{1 << 20}, u32{0}, u32{4}, u32{0}), EINVAL},
    {"wait_without_a_time", 0x8002, {}, EINVAL},
    {"wait_for_300_years", 0x8002, packed(~u64{0}), EINVAL},
    {"wait_where_it_is_not_supported", 0x8002, packed(u64{5}), ENOTSUP},
    {"account_that_is_too_large", 0x8003, std::vector<u8>(4097), E2BIG},
    {"size_below_the_header", 9, packed(u64{0}, u32{0}, u32{4}), 0, 15},
    {"size_of_zero_payload_but_more", 9, packed(u64{0}, u32{0}, u32{4}), 0, 8},
    {"size_of_4_gib", 9, packed(u64{0}, u32{0}, u32{4}), 0, 0xffff'ffff},
    {"size_just_above_the_limit", 9, {}, 0, (1 << 20) + 4097},
    {"reply_to_nothing", 11, packed(u64{0}, u64{0}), 0, 0, 1},
    {"flags_of_no_kind", 9, packed(u64{0}, u32{0}, u32{4}), 0, 0, 7},
};
INSTANTIATE_TEST_SUITE_P(Rows, VfioUserMalformedTest, testing::ValuesIn(rows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_F(VfioUserServerTest, KeepsTheLastAccountOfAClientWithoutAnAccess) {
    const std::vector<u8> first(4096, 1), second{2, 3};
    serve([&] {
        library client(path);
        ASSERT_EQ(client.error, 0) << client.why;
        EXPECT_TRUE(server->client_account().empty());
        EXPECT_EQ(trn_vfio_user_account(client, first.data(), 4096), 0);
        u64 now = 0;
        EXPECT_EQ(trn_vfio_user_now(client, &now), 0);  // the account was posted
        EXPECT_EQ(server->client_account(), first);
        EXPECT_EQ(trn_vfio_user_account(client, second.data(), 2), 0);
        EXPECT_EQ(trn_vfio_user_account(client, first.data(), 4097), 0);  // not sent
        EXPECT_EQ(trn_vfio_user_now(client, &now), 0);
        EXPECT_EQ(server->client_account(), second);
    });
    EXPECT_TRUE(server->client_account().empty());
    EXPECT_EQ(before, 0);
    EXPECT_EQ(charged, sc_core::SC_ZERO_TIME);
    EXPECT_EQ(log.size(), 1u);  // the end of the client
}

TEST_F(VfioUserServerTest, RequestsBeforeVersionNegotiationAreNotAnswered) {
    serve([&] {
        raw_peer peer(path);
        EXPECT_TRUE(peer.request(4, packed(u32{16}, u32{0}, u32{0}, u32{0})).closed);
    });
    EXPECT_THAT(log.back(), HasSubstr("command 4 before the version"));
}

TEST_F(VfioUserServerTest, BrokenVersionTextsAreRefused) {
    const std::string deep(8000, '[');
    const std::string closed =
        "{\"capabilities\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
    for (const std::string json : {"{", "[]", "nonsense", "{\"capabilities\":", deep.c_str(),
                                   closed.c_str(), R"({"capabilities":{"max_data_xfer_size":-1}})",
                                   R"({"capabilities":{"max_data_xfer_size":"big"}})",
                                   R"({"capabilities":{"max_data_xfer_size":1}})", R"({"trnvp":5})",
                                   R"({"trnvp":{"endian":"big"}})"}) {
        serve([&] {
            raw_peer peer(path);
            EXPECT_EQ(peer.hello(json).error, u32{EPROTO}) << json;
            EXPECT_TRUE(peer.receive().closed);
        });
    }
    for (const std::string json : {"{}", R"({"capabilities":[]})", R"({"later":{"unknown":1}})"}) {
        serve([&] {
            raw_peer peer(path);
            EXPECT_TRUE(peer.hello(json).ok()) << json;
        });
    }
}

TEST_F(VfioUserServerTest, SilentClientDoesNotOwnTheFunction) {
    start({.waiting = {.clients = 4, .time = std::chrono::milliseconds(200)}});
    serve([&] {
        std::vector<std::unique_ptr<raw_peer>> silent;
        for (int i = 0; i < 10; ++i) {
            silent.push_back(std::make_unique<raw_peer>(path));
            if (i % 2) silent.back()->send_bytes("half a ", 7);
        }
        const library client(path);
        EXPECT_EQ(client.error, 0) << client.why;
        EXPECT_EQ(attached, 1);
        EXPECT_TRUE(silent.back()->receive().closed);
        u32 word;
        EXPECT_EQ(trn_vfio_user_read32(client, 0, 0, &word), 0);
    });
    EXPECT_EQ(function.detaches, 1);
    EXPECT_EQ(std::ranges::count(log, "closed a client without version message"), 10);
}

TEST_F(VfioUserServerTest, MessagesMayArriveInPieces) {
    serve([&] {
        raw_peer peer(path);
        ASSERT_TRUE(peer.hello().ok());
        const auto message =
            packed(u16{5}, u16{9}, u32{32}, u32{0}, u32{0}, u64{0}, u32{0}, u32{4});
        for (const u8 byte : message) {
            ASSERT_TRUE(peer.send_bytes(&byte, 1));
            std::this_thread::yield();
        }
        const auto reply = peer.receive();
        EXPECT_EQ(reply.id, 5);
        EXPECT_EQ(reply.size, 36u);
    });
}

TEST_F(VfioUserServerTest, TooManyDescriptorsCloseTheConnection) {
    serve([&] {
        raw_peer peer(path);
        ASSERT_TRUE(peer.hello().ok());
        const std::vector<int> many(17, 0);
        EXPECT_TRUE(
            peer.request(8, packed(u32{20}, u32{0x24}, u32{2}, u32{0}, u32{17}), many).closed);
    });
    EXPECT_THAT(log.back(), HasSubstr("descriptors"));
}

TEST_F(VfioUserServerTest, RefusedRangeOfAFileIsLoggedWithItsReason) {
    serve([&] {
        raw_peer peer(path);
        ASSERT_TRUE(peer.hello().ok());
        const unique_fd fd(memfd_create("memory", MFD_CLOEXEC));
        ASSERT_EQ(ftruncate(fd.get(), 16384), 0);
        const auto map = [&](u64 offset) {
            return peer
                .request(2, packed(u32{32}, u32{3}, offset, u64{0x1000}, u64{8192}), {fd.get()})
                .error;
        };
        EXPECT_EQ(map(100), u32{EINVAL});
        EXPECT_THAT(log.back(), HasSubstr("the offset is not a multiple of 4096"));
        EXPECT_EQ(map(12288), u32{EINVAL});
        EXPECT_THAT(log.back(), HasSubstr("the file has not so many"));
    });
}

TEST_F(VfioUserServerTest, MissingDescriptorsFailTheirMessageOnly) {
    if (sanitized) GTEST_SKIP() << "the sanitizer opens files itself";
    serve([&] {
        raw_peer peer(path);
        ASSERT_TRUE(peer.hello().ok());
        const int fd = memfd_create("memory", MFD_CLOEXEC);
        ASSERT_EQ(ftruncate(fd, 4096), 0);
        const auto map = [&] {
            return peer.request(2, packed(u32{32}, u32{3}, u64{0}, u64{0x1000}, u64{4096}), {fd});
        };
        const int free = dup(fd);  // all lower descriptors are in use
        close(free);
        rlimit before{};
        getrlimit(RLIMIT_NOFILE, &before);
        rlimit none = before;
        none.rlim_cur = static_cast<rlim_t>(free);
        setrlimit(RLIMIT_NOFILE, &none);
        const auto refused = map();
        setrlimit(RLIMIT_NOFILE, &before);
        EXPECT_EQ(refused.error, u32{EMFILE});
        EXPECT_TRUE(function.ranges.empty());
        EXPECT_TRUE(map().ok());
        EXPECT_NE(function.ranges.at(0x1000).bytes, nullptr);
        close(fd);
    });
    EXPECT_THAT(log, testing::Contains(HasSubstr("too many files open")));
}

TEST_F(VfioUserServerTest, UnexpectedDescriptorsAreClosed) {
    serve([&] {
        raw_peer peer(path);
        ASSERT_TRUE(peer.hello().ok());
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        EXPECT_TRUE(peer.request(13, {}, {ends[1], ends[1]}).ok());
        close(ends[1]);
        char byte;
        EXPECT_EQ(read(ends[0], &byte, 1), 0);  // end of file: the descriptor was not leaked
        close(ends[0]);
    });
}

TEST_F(VfioUserServerTest, ClientThatReadsNoRepliesStallsOnlyItself) {
    serve([&] {
        raw_peer peer(path);
        ASSERT_TRUE(peer.hello().ok());
        const auto read_all = packed(u64{0}, u32{0}, u32{1 << 20});
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(peer.send(9, read_all));
        for (int i = 0; i < 20; ++i) EXPECT_EQ(peer.receive().size, 32u + (1 << 20));
        for (int i = 0; i < 20; ++i) peer.send(9, read_all);  // without reading the replies
    });
    serve([&] { EXPECT_EQ(library(path).error, 0); });
}

TEST_F(VfioUserServerTest, WaitRequestIsAnsweredAfterItsTime) {
    std::function<void(bool)> done;
    sc_core::sc_time asked;
    auto with_wait = hooks();
    with_wait.wait = [&](const sc_core::sc_time& time, std::function<void(bool)> then) {
        asked = time;
        done = std::move(then);
    };
    server.reset();
    server = std::make_unique<vfio_user_server>(io, function,
                                                vfio_user_server::config{.path = path}, with_wait);
    serve([&] {
        raw_peer peer(path);
        ASSERT_TRUE(peer.hello().ok());
        ASSERT_TRUE(peer.send(0x8002, packed(u64{1500})));
        EXPECT_EQ(peer.request(0x8002, packed(u64{1})).error, u32{EBUSY});
        EXPECT_TRUE(peer.request(13, {}).ok());
        boost::asio::post(io, [&] { done(true); });
        const auto reply = peer.receive();
        EXPECT_EQ(reply.id, 2);
        EXPECT_TRUE(reply.ok());
        ASSERT_TRUE(peer.send(0x8002, packed(u64{2})));
        EXPECT_TRUE(peer.request(13, {}).ok());
        boost::asio::post(io, [&] { done(false); });
        EXPECT_EQ(peer.receive().error, u32{ECANCELED});
        ASSERT_TRUE(peer.send(0x8002, packed(u64{1})));
        EXPECT_TRUE(peer.request(13, {}).ok());
    });
    EXPECT_EQ(asked, sc_core::sc_time(1, sc_core::SC_NS));
    done(true);  // the client has disconnected
}

}  // namespace
