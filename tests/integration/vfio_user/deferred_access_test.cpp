// SPDX-License-Identifier: Apache-2.0
// Accesses of a vfio-user client to a BAR whose target defers them, in a run loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "models/pcie/pcie/pcie_endpoint.h"
#include "models/pcie/root_complex/root_complex.h"
#include "platform/framework/attach/vfio_user/hooks.h"
#include "platform/framework/attach/vfio_user/server.h"
#include "tests/support/deferring_memory.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/vfio_user_peer.h"
#include "tests/unit/bridges/restricted_models.h"

namespace {

using namespace trn;
using namespace sc_core;
using test::packed;
using test::raw_peer;
using testing::HasSubstr;

constexpr std::uint16_t map_memory = 2, read_region = 9, write_region = 10, dma_read = 11,
                        reset_device = 13;
constexpr std::uint32_t posted = 0x10;  // flag of a message without reply

std::vector<std::uint8_t> place(std::uint32_t region, std::uint64_t offset, std::uint32_t count) {
    return packed(offset, region, count);
}

/// A register that answers when the card has read four bytes of its host's memory.
class dma_register : public sc_module {
public:
    target_socket<dma_register> in{"in"};
    test::method_initiator engine{"engine"};

    SC_HAS_PROCESS(dma_register);
    explicit dma_register(sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &dma_register::b_transport);
        SC_METHOD(look);
        sensitive << asked_;
        dont_initialize();
    }

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_time&) {
        if (engine.results.empty()) {
            if (!asker_.is_used()) {
                engine.read(0x1000);
                asked_.notify(SC_ZERO_TIME);
            }
            return asker_.hold(payload);
        }
        std::memcpy(payload.get_data_ptr(), &engine.results.front().word, 4);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    void look() {
        if (engine.results.empty()) return next_trigger(1, SC_US);
        asker_.wake();
    }

    sc_event asked_;
    deferral asker_;
};

struct DeferredAccessTest : testing::Test {
    DeferredAccessTest() {
        std::iota(registers.bytes.begin(), registers.bytes.end(), std::uint8_t{0});
        host.port[0].join(slow.link);
        slow.bar0.bind(registers.in);
        slow.bar4.bind(dma.in);
        dma.engine.out.bind(slow.dma);
        loop.elaborate();
        server = std::make_unique<vfio_user_server>(
            loop.io(), host.function(0), vfio_user_server::config{.path = path, .name = "slow"},
            hooks_into(loop, "host of slow", "host"));
    }
    /// Runs the platform until the client has finished.
    void serve(const std::function<void()>& client) {
        std::thread thread([&] {
            client();
            on_platform([this] { loop.quit("the client has finished"); });
        });
        loop.serve();
        server.reset();
        thread.join();
    }
    void on_platform(const std::function<void()>& work) { boost::asio::post(loop.io(), work); }

    /// A client that has enabled memory space.
    struct client : raw_peer {
        explicit client(const std::string& path) : raw_peer(path) {
            EXPECT_TRUE(hello().ok());
            auto command = place(7, 4, 2);
            command.push_back(6);
            command.push_back(0);
            EXPECT_TRUE(request(write_region, command).ok());
        }
        void start_read(std::uint64_t offset) { send(read_region, place(0, offset, 4)); }
        std::uint32_t finish_read() {
            const auto got = receive();
            EXPECT_TRUE(got.ok());
            return got.at<std::uint32_t>(16);
        }
        std::uint32_t read(std::uint64_t offset) {
            start_read(offset);
            return finish_read();
        }
    };

    test::scratch_folder folder;
    const std::string path = folder / "slow.sock";
    run_loop loop{{.policy = {.mode = time_policy::kind::lockstep}}};
    root_complex host{"host", {}};
    pcie_endpoint slow{"slow", {.bar0_size = 1 << 20, .bar4_size = 1 << 20}};
    test::deferring_memory registers{"registers"};
    dma_register dma{"dma"};
    std::unique_ptr<vfio_user_server> server;
};

TEST_F(DeferredAccessTest, TheReplyIsSentWhenTheTargetHasAnswered) {
    registers.latency = sc_time(5, SC_US);
    serve([this] { EXPECT_EQ(client(path).read(0x10), 0x1312'1110u); });
    // Two accesses of 1 us; the request arrives 100 ns after the start of the second.
    EXPECT_EQ(sc_time_stamp(), sc_time(7100, SC_NS));
}

TEST_F(DeferredAccessTest, ItTakesAtLeastTheTimeOfAnAccess) {
    registers.annotated = sc_time(3, SC_US);
    serve([this] { client(path).read(0x10); });
    EXPECT_EQ(sc_time_stamp(), sc_time(4130, SC_NS));
}

TEST_F(DeferredAccessTest, RequestsStayBehindAPostedWrite) {
    registers.latency = sc_time(5, SC_US);
    serve([this] {
        client peer(path);
        auto write = place(0, 0x20, 4);
        for (std::uint8_t byte = 1; byte <= 4; ++byte) write.push_back(byte);
        peer.send(write_region, write, {}, posted);
        peer.start_read(0x20);
        peer.start_read(0x24);
        EXPECT_EQ(peer.finish_read(), 0x0403'0201u);
        EXPECT_EQ(peer.finish_read(), 0x2726'2524u);
    });
    EXPECT_EQ(registers.questions, 3u);
    EXPECT_EQ(sc_time_stamp(), sc_time(1000 + 3 * 6100, SC_NS));
}

TEST_F(DeferredAccessTest, MoreRequestsThanAreKeptAreAnsweredInOrder) {
    serve([this] {
        client peer(path);
        for (std::uint8_t n = 0; n < 200; ++n) peer.start_read(n);
        for (std::uint8_t n = 0; n < 200; ++n) EXPECT_EQ(peer.finish_read() & 0xff, n);
    });
}

TEST_F(DeferredAccessTest, ATargetThatNeverAnswersTimesOut) {
    registers.latency = sc_time(1, SC_SEC);
    serve([this] { EXPECT_EQ(client(path).read(0x10), ~0u); });
    EXPECT_EQ(host.counters().timeouts, 1u);
}

TEST_F(DeferredAccessTest, TheClientServesMessagesMeanwhile) {
    serve([this] {
        client peer(path);
        ASSERT_TRUE(
            peer.request(map_memory, packed(std::uint32_t{32}, std::uint32_t{3}, std::uint64_t{0},
                                            std::uint64_t{0x1000}, std::uint64_t{0x1000}))
                .ok());
        peer.send(read_region, place(4, 0, 4));
        for (;;) {
            const auto got = peer.receive();
            if (got.command != dma_read) {
                EXPECT_EQ(got.command, read_region);
                EXPECT_EQ(got.at<std::uint32_t>(16), 0x4433'2211u);
                break;
            }
            const auto address = got.at<std::uint64_t>(0), count = got.at<std::uint64_t>(8);
            const bool probes = count > 4096;  // for 32-bit counts, which this client has not
            auto message =
                packed(got.id, got.command, std::uint32_t{0}, std::uint32_t{probes ? 0x21u : 1u},
                       std::uint32_t{probes ? E2BIG : 0u});
            if (!probes) {
                const auto place = packed(address, count);
                message.insert(message.end(), place.begin(), place.end());
                for (std::uint8_t n = 1; n <= count; ++n)
                    message.push_back(static_cast<std::uint8_t>(0x11 * n));
            }
            const auto size = static_cast<std::uint32_t>(message.size());
            std::memcpy(&message[4], &size, sizeof size);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            peer.send_bytes(message.data(), message.size());
        }
    });
    EXPECT_EQ(host.counters().timeouts, 0u);
    EXPECT_LT(sc_time_stamp(), sc_time(1, SC_MS));
}

TEST_F(DeferredAccessTest, AResetEndsIt) {
    loop.pause("the test");
    serve([this] {
        client peer(path);
        peer.start_read(0x10);
        peer.send(reset_device, {});
        const auto first = peer.receive(), second = peer.receive();
        for (const auto& got : {first, second}) EXPECT_TRUE(got.ok());
        EXPECT_EQ((first.command == read_region ? first : second).at<std::uint32_t>(16), ~0u);
        EXPECT_EQ((first.command == read_region ? second : first).command, reset_device);
        on_platform([this] { loop.resume(); });
        EXPECT_EQ(peer.read(0x10), 0x1312'1110u);
    });
}

TEST_F(DeferredAccessTest, ItWaitsWhileThePlatformIsPaused) {
    loop.pause("the test");
    serve([this] {
        client peer(path);
        peer.start_read(0x10);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        on_platform([this] {
            EXPECT_TRUE(host.describe_wait());
            loop.resume();
        });
        EXPECT_EQ(peer.finish_read(), 0x1312'1110u);
    });
}

TEST_F(DeferredAccessTest, ADisconnectAbandonsIt) {
    loop.pause("the test");
    serve([this] {
        {
            client peer(path);
            peer.start_read(0x10);
        }
        client next(path);
        on_platform([this] {
            EXPECT_FALSE(host.describe_wait());
            loop.resume();
        });
        EXPECT_EQ(next.read(0x14), 0x1716'1514u);
    });
}

TEST_F(DeferredAccessTest, TheEndOfThePlatformDoesNotWaitForIt) {
    loop.pause("the test");
    serve([this] {
        client peer(path);
        peer.start_read(0x10);
        on_platform([this] { loop.quit("the test"); });
        EXPECT_TRUE(peer.receive().closed);
    });
}

TEST_F(DeferredAccessTest, AStallNamesIt) {
    loop.pause("the test");
    std::thread thread([this] {
        client peer(path);
        peer.start_read(0x10);
        EXPECT_TRUE(peer.receive().closed);
    });
    run_loop::goal waits{"the test", "an access that waits"};
    waits.condition = [this] { return host.describe_wait().has_value(); };
    waits.background = true;
    loop.run(std::move(waits));
    const auto end = loop.run({"the test", "nothing"});
    EXPECT_EQ(end.cause, stop_reason::kind::stalled);
    EXPECT_THAT(end.text, HasSubstr("host of slow waits for the answer to a read of 4 bytes at "
                                    "BAR0 0x10"));
    EXPECT_THAT(end.text,
                HasSubstr("host waits for slow to answer a read of 4 bytes at BAR0 0x10"));
    server.reset();
    thread.join();
}

}  // namespace
