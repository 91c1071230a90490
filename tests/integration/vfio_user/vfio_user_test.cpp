// SPDX-License-Identifier: Apache-2.0
// The actual client, server and PCIe function, with a small DMA engine as the device.
#include "sw-stubs/transports/vfio_user/vfio_user.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pci_regs.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "platform/framework/attach/vfio_user/server.h"
#include "platform/framework/tlm/memory_port.h"
#include "sw-stubs/driver/include/trn_driver.h"
#include "tests/integration/vfio_user/replay.h"
#include "tests/support/bar0.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/vfio_user_peer.h"
#include "tests/unit/pcie/pcie/pcie_fixture.h"

namespace {

using namespace trn;
using test::packed;
using test::raw_peer;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Copies host memory to host memory in 64-byte pieces, one per 100 ns; retries deferred accesses.
class copier : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<copier, 64> out{"out"};

    explicit copier(sc_core::sc_module_name name) : sc_module(name) {
        SC_HAS_PROCESS(copier);
        SC_METHOD(step);
        sensitive << start_;
        dont_initialize();
    }
    void copy(u64 from, u64 to, unsigned pieces) {
        from_ = from, to_ = to, left_ = pieces;
        failed = false;
        start_.notify(sc_core::SC_ZERO_TIME);
    }
    bool idle() const { return left_ == 0; }

    bool failed = false;
    unsigned deferred = 0;

private:
    static constexpr unsigned piece = 64;

    void step() {
        if (left_ == 0) return;
        const bool write = loaded_;
        sc_core::sc_time delay;
        const auto how = memory_.access(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
                                        write ? to_ : from_, bytes_, piece, pending_, delay);
        if (how == memory_port::outcome::deferred) {
            ++deferred;
            return;
        }
        if (how == memory_port::outcome::failed) {
            failed = true;
            left_ = 0;
            loaded_ = false;
            return;
        }
        loaded_ = !write;
        if (write) from_ += piece, to_ += piece, --left_;
        next_trigger(delay + sc_core::sc_time(100, sc_core::SC_NS));
    }

    u64 from_ = 0, to_ = 0;
    unsigned left_ = 0;
    bool loaded_ = false;
    u8 bytes_[piece];
    memory_port memory_{out};
    sc_core::sc_event start_;
    pending_access pending_{start_};
};

/// The pcie_system of the unit tests with a copier in place of its driver.
struct VfioUserTest : testing::Test {
    VfioUserTest() {
        server = std::make_unique<vfio_user_server>(
            io, root, vfio_user_server::config{.path = path, .name = "chip0"},
            vfio_user_server::hooks{
                .before_access = {},
                .after_access = {},
                .may_answer = {},
                .attached = {},
                .wait = {},
                .log = [this](std::string_view line) { log.emplace_back(line); }});
    }

    /// Simulates while the client works.
    void serve(const std::function<void()>& client) {
        test::serve_while(io, client, [] { sc_core::sc_start(100, sc_core::SC_US); });
    }
    /// Runs a query of the models in the platform's thread.
    template <typename Call>
    void on_platform(const Call& call) {
        std::atomic<bool> done = false;
        boost::asio::post(io, [&] {
            call();
            done = true;
        });
        while (!done) std::this_thread::yield();
    }
    bool engine_is_idle() {
        bool idle = false;
        on_platform([&] { idle = engine.idle(); });
        return idle;
    }

    struct library {
        explicit library(const std::string& path, bool without_descriptors = false) {
            trn_vfio_user_options options{};
            options.without_descriptors = without_descriptors;
            char why[256] = "";
            EXPECT_EQ(trn_vfio_user_open(path.c_str(), &options, &client, why, sizeof why), 0)
                << why;
            const u16 command = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
            trn_vfio_user_write(client, TRN_VFIO_USER_CONFIG, PCI_COMMAND, &command,
                                sizeof command);
        }
        ~library() { trn_vfio_user_close(client); }
        operator trn_vfio_user*() const { return client; }
        trn_vfio_user* client = nullptr;
    };

    root_complex complex{"complex", {}};
    pcie_endpoint endpoint{"endpoint", {}};
    memory apb{"apb", {.size = u64{4} << 30}};  // RAM-like registers, as in the traces' prototype
    router bar4{"bar4", {}};
    memory hbm{"hbm", {.size = u64{256} << 30, .shared = true}};
    copier engine{"engine"};
    pcie::host_function& root = bind_and_start();
    boost::asio::io_context io;
    test::scratch_folder folder;
    const std::string path = folder / "chip0.sock";
    std::vector<std::string> log;
    std::unique_ptr<vfio_user_server> server;

private:
    pcie::host_function& bind_and_start() {
        complex.port[0].join(endpoint.link);
        endpoint.bar0.bind(apb.in);
        endpoint.bar4.bind(bar4.target);
        bar4.initiator.bind(hbm.in);
        bar4.map({.base = 0, .size = 1 << 20, .target_base = 0, .port = 0});
        engine.out.bind(endpoint.dma);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        return complex.function(0);
    }
};

TEST_F(VfioUserTest, QemusStartUpSequenceIsServed) {
    serve([&] {
        raw_peer qemu(path);
        const auto version = qemu.hello(
            R"({"capabilities":{"pgsizes":4096,"max_msg_fds":16,"max_dma_maps":65535,)"
            R"("max_data_xfer_size":1048576,"migration":{"max_bitmap_size":268435456,"pgsize":4096},)"
            R"("write_multiple":true}})");
        ASSERT_TRUE(version.ok());
        EXPECT_THAT(reinterpret_cast<const char*>(&version.payload[4]),
                    testing::Not(testing::HasSubstr("write_multiple")));

        const int ram = memfd_create("guest", MFD_CLOEXEC);
        ASSERT_EQ(ftruncate(ram, off_t{4} << 30), 0);
        const auto map = [&](u64 iova, u64 size, u64 offset, u32 flags, bool with_fd) {
            return qemu.request(2, packed(u32{32}, flags, offset, iova, size),
                                with_fd ? std::vector<int>{ram} : std::vector<int>{});
        };
        const auto unmap = [&](u64 iova, u64 size) {
            return qemu.request(3, packed(u32{24}, u32{0}, iova, size));
        };
        EXPECT_TRUE(map(0, 0x8000'0000, 0, 3, true).ok());
        EXPECT_TRUE(map(0xfffc'0000, 0x4'0000, 0, 1, false).ok());  // the ROM has no file
        EXPECT_TRUE(map(u64{1} << 32, 0x8000'0000, 0x8000'0000, 3, true).ok());

        const auto device = qemu.request(4, packed(u32{16}, u32{0}, u32{0}, u32{0}));
        EXPECT_EQ(device.payload, packed(u32{16}, u32{3}, u32{9}, u32{5}));
        const auto region = [&](u32 index) {
            return qemu.request(5, packed(u32{32}, u32{0}, index, u32{0}, u64{0}, u64{0}));
        };
        EXPECT_EQ(region(0).at<u64>(16), u64{4} << 30);
        EXPECT_EQ(region(0).at<u32>(4), 3u);
        EXPECT_EQ(region(1).at<u64>(16), 0u);
        EXPECT_EQ(region(4).at<u64>(16), u64{256} << 30);
        EXPECT_EQ(region(4).at<u32>(4), 0xfu);  // read, write, mmap, capabilities
        const auto hbm_region =
            qemu.request(5, packed(region(4).at<u32>(0), u32{0}, u32{4}, u32{0}, u64{0}, u64{0}));
        ASSERT_EQ(hbm_region.fds.size(), 1u);
        EXPECT_EQ(hbm_region.at<u64>(32 + 16 + 8), 1u << 20);  // the area's size
        close(hbm_region.fds[0]);
        EXPECT_EQ(region(7).at<u64>(16), 4096u);
        EXPECT_EQ(qemu.request(7, packed(u32{16}, u32{0}, u32{0}, u32{0})).at<u32>(12), 0u);
        const auto msix = qemu.request(7, packed(u32{16}, u32{0}, u32{2}, u32{0}));
        EXPECT_EQ(msix.at<u32>(4), 9u);
        EXPECT_EQ(msix.at<u32>(12), 32u);

        const auto config_read = [&](u64 offset, u32 count) {
            return qemu.request(9, packed(offset, u32{7}, count));
        };
        const auto config_write = [&](u64 offset, auto value) {
            return qemu.request(10, packed(offset, u32{7}, u32{sizeof value}, value));
        };
        const auto space = config_read(0, 4096);
        EXPECT_EQ(space.payload.size(), 16u + 4096);
        EXPECT_EQ(space.at<u32>(16), 0x7564'1d0fu);
        EXPECT_TRUE(config_write(0x30, 0xffff'f800u).ok());
        EXPECT_EQ(config_read(0x30, 4).at<u32>(16), 0u);
        EXPECT_TRUE(qemu.request(8, packed(u32{20}, u32{0x21}, u32{0}, u32{0}, u32{0})).ok());
        EXPECT_TRUE(qemu.request(13, {}).ok());

        // SeaBIOS relocates memory, the guest sizes BARs, QEMU maps the device's own BAR to it.
        for (int i = 0; i < 100; ++i) {
            EXPECT_TRUE(unmap(0, 0x8000'0000).ok());
            EXPECT_TRUE(map(0, 0xc'0000, 0, 3, true).ok());
            EXPECT_TRUE(map(0xc'0000, 0x2'0000, 0xc'0000, 1, true).ok());
            EXPECT_TRUE(unmap(0, 0xc'0000).ok());
            EXPECT_TRUE(unmap(0xc'0000, 0x2'0000).ok());
            EXPECT_TRUE(map(0, 0x8000'0000, 0, 3, true).ok());
        }
        EXPECT_TRUE(config_write(0x20, ~u32{0}).ok());
        EXPECT_EQ(config_read(0x20, 4).at<u32>(16), 0x0000'000cu);
        EXPECT_TRUE(config_write(0x24, u32{0x40}).ok());
        EXPECT_TRUE(config_write(4, u16{0x103}).ok());
        EXPECT_TRUE(map(u64{0x40} << 32, u64{0x40} << 32, 0, 3, false).ok());
        EXPECT_TRUE(unmap(u64{0x40} << 32, u64{0x40} << 32).ok());
        EXPECT_EQ(config_read(4, 2).at<u16>(16), 0x102);  // the function has no I/O space

        // Vectors are set one by one; a list with gaps is sent in parts, gaps without descriptor.
        const int fd = eventfd(0, EFD_CLOEXEC);
        for (u32 count = 1; count < 4; ++count) {
            EXPECT_TRUE(qemu.request(8, packed(u32{20}, u32{0x24}, u32{2}, u32{0}, count),
                                     std::vector<int>(count, fd))
                            .ok());
        }
        EXPECT_TRUE(qemu.request(8, packed(u32{20}, u32{0x24}, u32{2}, u32{0}, u32{1})).ok());
        EXPECT_TRUE(qemu.request(8, packed(u32{20}, u32{0x21}, u32{2}, u32{0}, u32{0})).ok());
        close(fd);
        close(ram);
    });
    EXPECT_EQ(log, (std::vector<std::string>{"the client closed the connection"}));
}

TEST_F(VfioUserTest, ReplaysTheProbeOfThePublicDriver) {
    serve([&] { test::replay("neuron-2.26.5-trn3-rev255-zeroedBARs.trace.gz", path, true); });
    EXPECT_EQ(endpoint.counters().unsupported_requests, 0u);
    EXPECT_EQ(endpoint.bridge().counters().failed_reads, 0u);
}

TEST_F(VfioUserTest, ReplaysTheCopiesOfThePublicDriver) {
    serve([&] { test::replay("neuron-2.26.5-trn3-rev255-udma-memcopy.trace.gz", path, true); });
}

TEST_F(VfioUserTest, ReplaysTheSiliconModeOfThePublicDriver) {
    serve([&] { test::replay("neuron-2.26.5-trn3-rev0-apiv7-fwmodel.trace.gz", path, true); });
}

TEST_F(VfioUserTest, HbmIsSharedWithAClientThatMapsIt) {
    serve([&] {
        library client(path);
        void* at = nullptr;
        ASSERT_EQ(trn_vfio_user_region_map(client, 4, 0x8000, 0x1000, &at), 0);
        static_cast<u32*>(at)[1] = 0xfeed'f00d;
        u32 word = 0;
        EXPECT_EQ(trn_vfio_user_read32(client, 4, 0x8004, &word), 0);
        EXPECT_EQ(word, 0xfeed'f00du);
        EXPECT_EQ(trn_vfio_user_write32(client, 4, 0x8ffc, 77), 0);
        EXPECT_EQ(static_cast<u32*>(at)[0x3ff], 77u);
        trn_vfio_user_region_unmap(client, at, 0x1000);
    });
}

TEST_F(VfioUserTest, DmaReachesTheClientsMemoryByDescriptor) {
    serve([&] {
        library client(path);
        trn_dma_memory from{}, to{};
        ASSERT_EQ(trn_vfio_user_dma_alloc(client, 8192, 0x10'0000, &from), 0);
        ASSERT_EQ(trn_vfio_user_dma_alloc(client, 8192, 0x20'0000, &to), 0);
        auto* source = static_cast<u8*>(from.host);
        std::iota(source, source + 8192, u8{1});
        on_platform([&] { engine.copy(0x10'0000, 0x20'0000, 8192 / 64); });
        while (!engine_is_idle()) std::this_thread::yield();
        EXPECT_EQ(memcmp(from.host, to.host, 8192), 0);
    });
    EXPECT_FALSE(engine.failed);
    EXPECT_EQ(engine.deferred, 0u);
}

TEST_F(VfioUserTest, DmaReachesTheClientsMemoryByMessages) {
    serve([&] {
        library client(path, true);
        trn_dma_memory from{}, to{};
        ASSERT_EQ(trn_vfio_user_dma_alloc(client, 4096, 0x10'0000, &from), 0);
        ASSERT_EQ(trn_vfio_user_dma_alloc(client, 4096, 0x20'0000, &to), 0);
        auto* source = static_cast<u8*>(from.host);
        std::iota(source, source + 4096, u8{1});
        on_platform([&] { engine.copy(0x10'0000, 0x20'0000, 4096 / 64); });
        while (memcmp(from.host, to.host, 4096) != 0) {
            ASSERT_GE(trn_vfio_user_serve(client, 1000), 0);
            u32 word = 0;  // accesses are answered between the device's DMA requests
            ASSERT_EQ(trn_vfio_user_read32(client, 0, 0, &word), 0);
        }
        EXPECT_EQ(memcmp(from.host, to.host, 4096), 0);
        trn_dma_memory gone = from;
        ASSERT_EQ(trn_vfio_user_dma_free(client, &gone), 0);
    });
    EXPECT_FALSE(engine.failed);
    EXPECT_GE(engine.deferred, 4096u / 64);
}

TEST_F(VfioUserTest, AccessesAreAnsweredDuringAPendingDeviceRequest) {
    serve([&] {
        raw_peer qemu(path);
        ASSERT_TRUE(qemu.hello().ok());
        ASSERT_TRUE(
            qemu.request(2, packed(u32{32}, u32{3}, u64{0}, u64{0x1000}, u64{0x1000})).ok());
        ASSERT_TRUE(qemu.request(10, packed(u64{4}, u32{7}, u32{2}, u16{6})).ok());
        on_platform([&] { engine.copy(0x1000, 0x1800, 1); });
        EXPECT_EQ(qemu.receive().command, 11);  // the request is pending without a reply
        for (int i = 0; i < 100; ++i) {
            EXPECT_TRUE(qemu.request(9, packed(u64{0}, u32{0}, u32{4})).ok());
        }
    });
}

/// A peer that uses one of the two message layouts and has `memory` at address 0.
void serve_dma(raw_peer& peer, std::vector<u8>& memory, std::size_t data_at, unsigned writes) {
    const bool old = data_at == 28;
    for (unsigned seen = 0; seen < writes;) {
        const auto asked = peer.receive();
        ASSERT_FALSE(asked.closed);
        ASSERT_GE(asked.payload.size(), 16u);
        const u64 iova = asked.at<u64>(0);
        const u64 count = old ? asked.at<u32>(8) : asked.at<u64>(8);
        std::vector<u8> reply = packed(asked.id, asked.command, u32{0}, u32{1}, u32{0});
        if (count > memory.size() || iova > memory.size() - count) {
            reply = packed(asked.id, asked.command, u32{16}, u32{0x21}, u32{E2BIG});
        } else if (asked.command == 11) {
            reply.resize(32 + count);  // QEMU 10's structure ends at 32, but its data start at 28
            memcpy(&reply[16], &iova, 8);
            memcpy(&reply[24], &count, old ? 4 : 8);
            memcpy(&reply[data_at], &memory[iova], count);
        } else {
            ASSERT_GE(asked.payload.size(), data_at - 16 + count);
            memcpy(&memory[iova], &asked.payload[data_at - 16], count);
            ++seen;
        }
        const auto size = static_cast<u32>(reply.size());
        memcpy(&reply[4], &size, 4);
        ASSERT_TRUE(peer.send_bytes(reply.data(), reply.size()));
    }
}

struct VfioUserLayoutTest : VfioUserTest, testing::WithParamInterface<std::size_t> {};

TEST_P(VfioUserLayoutTest, AcceptsBothLayoutsOfMessageDma) {
    serve([&] {
        raw_peer peer(path);
        ASSERT_TRUE(peer.hello(R"({"capabilities":{"max_data_xfer_size":4096}})").ok());
        ASSERT_TRUE(peer.request(2, packed(u32{32}, u32{3}, u64{0}, u64{0}, u64{0x4000})).ok());
        ASSERT_TRUE(peer.request(10, packed(u64{4}, u32{7}, u32{2}, u16{6})).ok());
        std::vector<u8> guest(0x4000);
        std::iota(guest.begin(), guest.begin() + 0x1000, u8{3});
        on_platform([&] { engine.copy(0, 0x2000, 16); });
        serve_dma(peer, guest, GetParam(), 16);
        EXPECT_TRUE(std::equal(guest.begin(), guest.begin() + 1024, guest.begin() + 0x2000));
        EXPECT_EQ(guest[0x2400], 0);
    });
    EXPECT_FALSE(engine.failed);
}

INSTANTIATE_TEST_SUITE_P(DataAt, VfioUserLayoutTest, testing::Values(28, 32),
                         [](const auto& at) { return std::to_string(at.param); });

TEST_F(VfioUserTest, VectorsOfTheFunctionReachTheClient) {
    serve([&] {
        library client(path);
        const int fds[] = {eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC)};
        ASSERT_EQ(trn_vfio_user_interrupts(client, 4, 2, fds), 0);
        on_platform([&] {
            endpoint.interrupt(5);
            endpoint.interrupt(3);
        });
        u64 seen = 0;
        ASSERT_EQ(read(fds[1], &seen, sizeof seen), 8);
        EXPECT_EQ(seen, 1u);
        ASSERT_EQ(trn_vfio_user_reset(client), 0);  // vectors survive a reset, as under VFIO
        on_platform([&] { endpoint.interrupt(4); });
        ASSERT_EQ(read(fds[0], &seen, sizeof seen), 8);
        close(fds[0]), close(fds[1]);
    });
}

TEST_F(VfioUserTest, PlatformSurvivesAClientKilledDuringACopy) {
    for (const bool by_messages : {false, true}) {
        int report[2];
        ASSERT_EQ(pipe(report), 0);
        const pid_t victim = fork();
        if (victim == 0) {
            library client(path, by_messages);
            trn_dma_memory from{}, to{};
            trn_vfio_user_dma_alloc(client, 16 << 20, 0x100'0000, &from);
            trn_vfio_user_dma_alloc(client, 16 << 20, 0x200'0000, &to);
            [[maybe_unused]] auto reported = write(report[1], "r", 1);
            for (;;) trn_vfio_user_serve(client, 1000);
        }
        serve([&] {
            char byte;
            ASSERT_EQ(read(report[0], &byte, 1), 1);
            on_platform([&] { engine.copy(0x100'0000, 0x200'0000, (16 << 20) / 64); });
            bool begun = false;
            while (!begun) on_platform([&] { begun = engine.deferred > 3 || !by_messages; });
            kill(victim, SIGKILL);
            waitpid(victim, nullptr, 0);
            while (!engine_is_idle()) std::this_thread::yield();
        });
        EXPECT_TRUE(engine.failed);
        close(report[0]), close(report[1]);
    }
    serve([&] {
        library next(path);
        trn_dma_memory from{}, to{};
        ASSERT_EQ(trn_vfio_user_dma_alloc(next, 4096, 0x100'0000, &from), 0);
        ASSERT_EQ(trn_vfio_user_dma_alloc(next, 4096, 0x200'0000, &to), 0);
        memset(from.host, 0x77, 4096);
        on_platform([&] { engine.copy(0x100'0000, 0x200'0000, 64); });
        while (!engine_is_idle()) std::this_thread::yield();
        EXPECT_EQ(memcmp(from.host, to.host, 4096), 0);
    });
    EXPECT_FALSE(engine.failed);
}

TEST_F(VfioUserTest, DriverStubTransportWorks) {
    serve([&] {
        trn_transport transport{};
        char why[256] = "";
        ASSERT_EQ(trn_vfio_user_transport(path.c_str(), nullptr, &transport, why, sizeof why), 0)
            << why;
        void* at = transport.context;
        EXPECT_EQ(transport.bar_size(at, 0), u64{4} << 30);
        EXPECT_EQ(transport.bar_size(at, 1), 0u);
        u32 word = 0;
        EXPECT_EQ(transport.config_read(at, 0, 4, &word), 0);
        EXPECT_EQ(word, 0x7564'1d0fu);
        EXPECT_EQ(transport.config_write(at, 4, 2, 6), 0);
        EXPECT_EQ(transport.bar_write32(at, 0, test::bar0::misc_ram, 0x1234), 0);
        EXPECT_EQ(transport.bar_read32(at, 0, test::bar0::misc_ram, &word), 0);
        EXPECT_EQ(word, 0x1234u);
        EXPECT_EQ(transport.bar_read32(at, 0, 2, &word), -EINVAL);
        EXPECT_EQ(transport.bar_write32(at, 0, u64{4} << 30, 0), -EINVAL);
        EXPECT_EQ(transport.bar_read32(at, 1, 0, &word), -EINVAL);
        std::vector<u8> block(70'001, 0x5a), back(block.size());
        EXPECT_EQ(transport.bar_write_block(at, 4, 13, block.data(), block.size()), 0);
        EXPECT_EQ(transport.bar_read_block(at, 4, 13, back.data(), back.size()), 0);
        EXPECT_EQ(back, block);
        trn_dma_memory memory{};
        EXPECT_EQ(transport.dma_alloc(at, 100, &memory), 0);
        EXPECT_EQ(memory.size, 4096u);
        EXPECT_LT(memory.iova, u64{1} << 46);
        transport.dma_free(at, &memory);
        const u64 before = transport.now(at);
        EXPECT_EQ(transport.wait(at, 2'000'000), 0);
        EXPECT_GE(transport.now(at), before + 2'000'000);
        trn_bar_mapping window{};
        EXPECT_EQ(transport.bar_map(at, 4, 0, 4096, &window), 0);
        EXPECT_EQ(static_cast<u8*>(window.host)[13], 0x5a);
        transport.bar_unmap(at, &window);
        EXPECT_EQ(transport.bar_map(at, 0, 0, 4096, &window), -ENOTSUP);
        EXPECT_EQ(transport.function_reset(at), 0);
        transport.close(at);
    });
}

/// Offset of the power management capability's control register.
u32 power_control(const trn_transport& transport) {
    u32 at = 0, header = 0;
    EXPECT_EQ(transport.config_read(transport.context, 0x34, 1, &at), 0);
    while (at != 0) {
        EXPECT_EQ(transport.config_read(transport.context, at, 2, &header), 0);
        if ((header & 0xff) == 1) return at + 4;
        at = header >> 8;
    }
    return 0;
}

TEST_F(VfioUserTest, NextClientCanUseAFunctionLeftInD3hot) {
    serve([&] {
        const auto attach = [&] {
            trn_transport transport{};
            char why[256] = "";
            EXPECT_EQ(trn_vfio_user_transport(path.c_str(), nullptr, &transport, why, sizeof why),
                      0)
                << why;
            return transport;
        };
        const auto id_word = [](const trn_transport& transport) {
            u32 word = 0;
            EXPECT_EQ(
                transport.bar_read32(transport.context, 0,
                                     test::bar0::offset(misc_ram_regs::reg::routing_id), &word),
                0);
            return word;
        };
        for (const bool by_reset : {false, true}) {
            const auto first = attach();
            const u32 control = power_control(first);
            EXPECT_EQ(first.config_write(first.context, 4, 2, 6), 0);
            EXPECT_EQ(first.bar_write32(first.context, 0,
                                        test::bar0::offset(misc_ram_regs::reg::routing_id), 5),
                      0);
            EXPECT_EQ(first.config_write(first.context, control, 2, 3), 0);
            EXPECT_EQ(id_word(first), ~0u);  // unsupported request
            EXPECT_EQ(first.bar_write32(first.context, 0,
                                        test::bar0::offset(misc_ram_regs::reg::routing_id), 6),
                      0);  // dropped
            first.close(first.context);

            const auto second = attach();
            u32 state = 0;
            EXPECT_EQ(second.config_read(second.context, control, 2, &state), 0);
            EXPECT_EQ(state & 3, 0u);  // a host begins in D0
            if (by_reset) {
                EXPECT_EQ(second.function_reset(second.context), 0);
                EXPECT_EQ(second.config_write(second.context, 4, 2, 6), 0);
                EXPECT_EQ(id_word(second), 5u);
                second.close(second.context);
                continue;
            }
            trn_device* chip = trn_create(&second, nullptr);
            EXPECT_EQ(trn_probe(chip), TRN_OK) << trn_last_error(chip);
            trn_device_info info{};
            EXPECT_EQ(trn_get_info(chip, &info), TRN_OK);
            EXPECT_EQ(info.routing_id, 5u);
            trn_destroy(chip);
        }
    });
}

}  // namespace
