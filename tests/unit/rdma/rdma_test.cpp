// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "models/cards/efa/card/efa_card.h"
#include "models/network/ethernet_fabric/ethernet_fabric.h"
#include "models/pcie/pcie/pcie_endpoint.h"
#include "models/pcie/root_complex/root_complex.h"
#include "platform/app/in_process/in_process.h"
#include "sw-stubs/driver/include/trn_rdma.h"
#include "tests/unit/pcie/root_complex/server_fixture.h"

namespace {

using namespace trn;

constexpr std::uint64_t MiB = 1 << 20;
constexpr std::uint32_t qkey = 0x1234;

/// A server: a host, a card with HBM in port 0, an EFA card in port 1, and the objects of its
/// program.
struct server {
    explicit server(const std::string& name)
        : host((name + "_host").c_str(), {.memory = 256 * MiB, .ports = 2}),
          chip(name + "_chip"),
          pcie((name + "_nic_pcie").c_str(), {.device_id = 0xefa3,
                                              .class_code = 0x020000,
                                              .bar0_size = efa_card::bar0_size,
                                              .bar4_size = efa_card::send_rings_size,
                                              .memory_bar = 2,
                                              .link_width = 16,
                                              .msix_vectors = 9}),
          nic((name + "_nic").c_str(), {}) {
        host.port[0].join(chip.endpoint.link);
        host.port[1].join(pcie.link);
        pcie.bar0.bind(nic.registers);
        pcie.bar4.bind(nic.send_rings);
        nic.dma.bind(pcie.dma);
        for (unsigned n = 0; n < 9; ++n) nic.irq[n].bind(pcie.msix, n);
        pcie.function_reset.bind(nic.reset);
    }
    void start() {
        test::turn_on(host.function(0));
        cpu.emplace(host.function(1), host_cpu::config{});
        door = cpu->transport();
    }
    std::uint64_t hbm(std::uint64_t offset) { return host.function(0).bar(4).bus_address + offset; }
    std::uint8_t* bytes(std::uint64_t offset) { return chip.hbm.bytes().data() + offset; }
    /// Called from the host's program.
    void open() {
        ASSERT_EQ(trn_rdma_open(&door, &card), 0);
        set_up();
    }
    void set_up(std::uint32_t access = TRN_RDMA_LOCAL_WRITE | TRN_RDMA_REMOTE_WRITE |
                                       TRN_RDMA_REMOTE_READ) {
        ASSERT_EQ(trn_rdma_get_attributes(card, &attributes), 0);
        ASSERT_EQ(trn_rdma_alloc_domain(card, &domain), 0);
        ASSERT_EQ(trn_rdma_register(card, domain, hbm(0), 64 * MiB, access, &key), 0);
        ASSERT_EQ(trn_rdma_queue_open(card, domain, 16, qkey, &queue), 0);
    }
    void meet(const server& other) {
        ASSERT_EQ(trn_rdma_create_address_handle(card, domain, &other.attributes.gid, &handle), 0);
    }

    root_complex host;
    test::card chip;
    pcie_endpoint pcie;
    efa_card nic;
    std::optional<host_cpu> cpu;
    trn_transport door{};
    trn_rdma_card* card = nullptr;
    trn_rdma_attributes attributes{};
    trn_rdma_queue* queue = nullptr;
    std::uint16_t domain = 0, handle = 0;
    std::uint32_t key = 0;
};

struct RdmaTest : testing::Test {
    RdmaTest() {
        net.port[0].join(a.nic.net);
        net.port[1].join(b.nic.net);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        a.start();
        b.start();
        std::mt19937_64 random(1);
        for (std::uint64_t i = 0; i < 64 * MiB; i += 8) {
            const auto value = random();
            std::memcpy(a.bytes(i), &value, sizeof value);
        }
        on(a, [&] { a.open(); });
        on(b, [&] { b.open(); });
        on(a, [&] { a.meet(b); });
        on(b, [&] { b.meet(a); });
    }
    /// Runs a program on a server's host.
    static void on(server& s, const std::function<void()>& program) {
        s.cpu->run(program);
        for (int ms = 0; ms < 5000 && !s.cpu->idle(); ++ms) sc_core::sc_start(1, sc_core::SC_MS);
        ASSERT_TRUE(s.cpu->idle());
        s.cpu->rethrow();
    }
    trn_rdma_request request(std::uint32_t operation, std::uint16_t id, std::uint64_t local,
                             std::uint64_t remote, std::uint32_t length) {
        return {.operation = operation,
                .id = id,
                .address_handle = a.handle,
                .queue_pair = trn_rdma_queue_number(b.queue),
                .qkey = qkey,
                .length = length,
                .local = a.hbm(local),
                .remote = b.hbm(remote),
                .local_key = a.key,
                .remote_key = b.key,
                .has_immediate = 0,
                .immediate = 0};
    }
    trn_rdma_completion wait() {
        trn_rdma_completion done{};
        EXPECT_EQ(trn_rdma_wait(a.queue, 100'000'000, &done), 0);
        return done;
    }
    std::uint32_t status_of(const trn_rdma_request& r) {
        EXPECT_EQ(trn_rdma_post(a.queue, &r), 0);
        const auto done = wait();
        EXPECT_EQ(done.id, r.id);
        return done.status;
    }
    bool same(std::uint64_t local, std::uint64_t remote, std::uint64_t length) {
        return std::equal(a.bytes(local), a.bytes(local) + length, b.bytes(remote));
    }

    ethernet_fabric net{"net", {.ports = 2}};
    server a{"a"}, b{"b"};
};

TEST_F(RdmaTest, CardSaysWhatItIs) {
    EXPECT_EQ(a.attributes.gigabits, 400u);
    EXPECT_EQ(a.attributes.mtu, 8928u);
    EXPECT_EQ(a.attributes.max_rdma, 1u << 30);
    EXPECT_EQ(a.attributes.event_queues, 8u);
    EXPECT_NE(std::memcmp(&a.attributes.gid, &b.attributes.gid, sizeof(trn_rdma_gid)), 0);
}

TEST_F(RdmaTest, WritesFromOneServersHbmIntoAnothers) {
    on(a, [&] {
        EXPECT_EQ(status_of(request(TRN_RDMA_WRITE, 77, 12'345, 4'321, 3 * MiB + 17)),
                  std::uint32_t{TRN_RDMA_OK});
    });
    EXPECT_TRUE(same(12'345, 4'321, 3 * MiB + 17));
    EXPECT_EQ(*b.bytes(4'320), 0);
    EXPECT_EQ(*b.bytes(4'321 + 3 * MiB + 17), 0);
}

struct RdmaFromHostMemoryTest : RdmaTest {
    static constexpr std::uint32_t size = 1 * MiB;

    RdmaFromHostMemoryTest() {
        on(a, [&] {
            ASSERT_EQ(a.door.dma_alloc(a.door.context, 2 * MiB, &memory), 0);
            ASSERT_EQ(trn_rdma_register(a.card, a.domain, memory.iova, 2 * MiB,
                                        TRN_RDMA_LOCAL_WRITE, &key),
                      0);
        });
    }
    std::uint8_t* source(std::uint64_t offset) {
        return static_cast<std::uint8_t*>(memory.host) + offset;
    }
    trn_rdma_request from_host(std::uint64_t offset, std::uint32_t length) {
        auto r = request(TRN_RDMA_WRITE, 3, 0, 0, length);
        r.local = memory.iova + offset;
        r.local_key = key;
        return r;
    }

    trn_dma_memory memory{};
    std::uint32_t key = 0;
};

TEST_F(RdmaFromHostMemoryTest, WritesArriveFromAnyOffset) {
    std::copy_n(a.bytes(0), 2 * MiB, source(0));
    for (const std::uint32_t offset : {0, 4096, 777}) {
        on(a,
           [&] { EXPECT_EQ(status_of(from_host(offset, size + 17)), std::uint32_t{TRN_RDMA_OK}); });
        EXPECT_TRUE(std::equal(source(offset), source(offset) + size + 17, b.bytes(0))) << offset;
    }
}

/// A program may reuse its memory after a reset, while packets are still on their way.
TEST_F(RdmaFromHostMemoryTest, PacketsInFlightKeepTheirDataWhenTheCardIsReset) {
    std::memset(source(0), 0x11, size);
    a.cpu->run([&] {
        const auto r = from_host(0, size);
        EXPECT_EQ(trn_rdma_post(a.queue, &r), 0);
    });
    while (a.nic.sender().counters().packets < 20) sc_core::sc_start(1, sc_core::SC_US);
    EXPECT_EQ(*b.bytes(0), 0);
    a.host.function(1).reset();
    std::memset(source(0), 0x22, size);
    sc_core::sc_start(1, sc_core::SC_MS);
    EXPECT_EQ(*b.bytes(0), 0x11);
    EXPECT_EQ(std::count(b.bytes(0), b.bytes(size), 0x22), 0);
}

/// The rings wrap many times.
TEST_F(RdmaTest, RequestsBeyondTheRingCompleteEachOnce) {
    constexpr std::uint32_t count = 1000, bytes = 4096;
    on(a, [&] {
        std::multiset<std::uint16_t> ids;
        std::uint32_t posted = 0;
        while (ids.size() < count) {
            const auto r =
                request(TRN_RDMA_WRITE, static_cast<std::uint16_t>(posted),
                        posted * std::uint64_t{bytes}, posted * std::uint64_t{bytes}, bytes);
            const int error = posted < count ? trn_rdma_post(a.queue, &r) : -EAGAIN;
            if (error == 0) {
                ++posted;
                continue;
            }
            ASSERT_EQ(error, -EAGAIN);
            const auto done = wait();
            ASSERT_EQ(done.status, std::uint32_t{TRN_RDMA_OK});
            ids.insert(done.id);
        }
        for (std::uint16_t id = 0; id < count; ++id) ASSERT_EQ(ids.count(id), 1u) << id;
    });
    EXPECT_TRUE(same(0, 0, std::uint64_t{count} * bytes));
}

TEST_F(RdmaTest, CompletionsAreMatchedByIdWhenPacketsAreLost) {
    std::copy_n(a.bytes(0), 8 * MiB, b.bytes(32 * MiB));
    net.inject("loss", {{"ppm", "20000"}});
    on(a, [&] {
        std::set<std::uint16_t> ids;
        for (std::uint16_t i = 0; i < 8; ++i) {
            const auto r = i % 2 == 0
                               ? request(TRN_RDMA_WRITE, i, i * MiB, i * MiB, MiB)
                               : request(TRN_RDMA_READ, i, (32 + i) * MiB, (32 + i) * MiB, MiB);
            ASSERT_EQ(trn_rdma_post(a.queue, &r), 0);
        }
        for (unsigned i = 0; i < 8; ++i) {
            const auto done = wait();
            EXPECT_EQ(done.status, std::uint32_t{TRN_RDMA_OK});
            ids.insert(done.id);
        }
        EXPECT_EQ(ids.size(), 8u);
    });
    EXPECT_GT(net.counters().lost, 0u);
    for (std::uint64_t i = 0; i < 8; ++i)
        EXPECT_TRUE(i % 2 == 0 ? same(i * MiB, i * MiB, MiB)
                               : same((32 + i) * MiB, (32 + i) * MiB, MiB))
            << i;
}

TEST_F(RdmaTest, RequestsEndWithTheStatusOfTheContract) {
    on(a, [&] {
        auto r = request(TRN_RDMA_WRITE, 1, 0, 0, 64);
        r.remote_key = 0x777;
        EXPECT_EQ(status_of(r), std::uint32_t{TRN_RDMA_REMOTE_BAD_ADDRESS});
        EXPECT_EQ(status_of(request(TRN_RDMA_READ, 2, 0, 64 * MiB - 32, 64)),
                  std::uint32_t{TRN_RDMA_REMOTE_BAD_ADDRESS});
        r = request(TRN_RDMA_WRITE, 3, 0, 0, 64);
        r.local_key = 0x777;
        EXPECT_EQ(status_of(r), std::uint32_t{TRN_RDMA_LOCAL_BAD_LKEY});
        r = request(TRN_RDMA_WRITE, 4, 0, 0, 64);
        r.address_handle = 99;
        EXPECT_EQ(status_of(r), std::uint32_t{TRN_RDMA_LOCAL_BAD_AH});
        r = request(TRN_RDMA_WRITE, 5, 0, 0, 64);
        r.qkey = qkey + 1;
        EXPECT_EQ(status_of(r), std::uint32_t{TRN_RDMA_REMOTE_BAD_QP});
        r = request(TRN_RDMA_WRITE, 6, 0, 0, 64);
        r.operation = 9;
        EXPECT_EQ(status_of(r), std::uint32_t{TRN_RDMA_LOCAL_UNSUPPORTED});
        EXPECT_EQ(status_of(request(TRN_RDMA_WRITE, 7, 0, 0, 0)), std::uint32_t{TRN_RDMA_OK});
        EXPECT_EQ(status_of(request(TRN_RDMA_READ, 8, 0, 0, 64)), std::uint32_t{TRN_RDMA_OK});
        EXPECT_EQ(trn_rdma_deregister(a.card, a.key), 0);
        EXPECT_EQ(status_of(request(TRN_RDMA_READ, 9, 0, 0, 64)),
                  std::uint32_t{TRN_RDMA_LOCAL_BAD_LKEY});
        EXPECT_EQ(trn_rdma_deregister(a.card, a.key), -EINVAL);
    });
    EXPECT_EQ(*b.bytes(0), 0);
}

TEST_F(RdmaTest, LostPeerIsUnreachableOrUnresponsiveAndReturns) {
    on(a, [&] {
        net.inject("port_down", {{"port", "1"}});
        EXPECT_EQ(status_of(request(TRN_RDMA_WRITE, 1, 0, 0, MiB)),
                  std::uint32_t{TRN_RDMA_UNREACHABLE});
        net.inject("port_up", {{"port", "1"}});
        EXPECT_EQ(status_of(request(TRN_RDMA_WRITE, 2, 0, 0, MiB)), std::uint32_t{TRN_RDMA_OK});
        net.inject("port_down", {{"port", "1"}});
        EXPECT_EQ(status_of(request(TRN_RDMA_WRITE, 3, 0, 0, MiB)),
                  std::uint32_t{TRN_RDMA_UNRESPONSIVE});
        net.inject("port_up", {{"port", "1"}});
    });
    EXPECT_TRUE(same(0, 0, MiB));
}

TEST_F(RdmaTest, StateReportsARemovedAndAReplacedCard) {
    on(a, [&] {
        const auto state = [&] {
            std::uint32_t value = 99;
            EXPECT_EQ(trn_rdma_state(a.card, &value), 0);
            return value;
        };
        trn_rdma_completion done{};
        EXPECT_EQ(state(), std::uint32_t{TRN_RDMA_WORKS});
        EXPECT_EQ(trn_rdma_wait(a.queue, 100'000, &done), -ETIMEDOUT);
        a.host.inject("card_removed", {{"port", "1"}});
        EXPECT_EQ(state(), std::uint32_t{TRN_RDMA_ABSENT});
        EXPECT_EQ(trn_rdma_wait(a.queue, 1'000'000, &done), -ENODEV);
        EXPECT_EQ(trn_rdma_reset(a.card), -ENODEV);
        a.host.inject("card_inserted", {{"port", "1"}});
        EXPECT_EQ(state(), std::uint32_t{TRN_RDMA_LOST});
        EXPECT_EQ(trn_rdma_wait(a.queue, 1'000'000, &done), -EIO);
        ASSERT_EQ(trn_rdma_reset(a.card), 0);
        EXPECT_EQ(state(), std::uint32_t{TRN_RDMA_WORKS});
        trn_rdma_queue_close(a.queue);  // the card keeps no state of the queue
        a.set_up();
        a.meet(b);
        EXPECT_EQ(status_of(request(TRN_RDMA_WRITE, 1, 0, 0, MiB)), std::uint32_t{TRN_RDMA_OK});
    });
    EXPECT_TRUE(same(0, 0, MiB));
}

TEST_F(RdmaTest, ClosedAndRefusedQueuesLeaveTheCardAsItWas) {
    on(a, [&] {
        constexpr std::uint16_t unknown_domain = 9999;
        for (int round = 0; round < 300; ++round) {  // a card has 512 pages of doorbells
            trn_rdma_queue* queue = nullptr;
            ASSERT_EQ(trn_rdma_queue_open(a.card, a.domain, 16, qkey, &queue), 0) << round;
            trn_rdma_queue_close(queue);
            ASSERT_EQ(trn_rdma_queue_open(a.card, unknown_domain, 16, qkey, &queue), -EINVAL);
        }
    });
}

TEST_F(RdmaTest, ArgumentsThatWrapAreRefused) {
    on(a, [&] {
        trn_rdma_qp qp{};
        std::uint32_t key = 0;
        std::uint64_t address = 0;
        EXPECT_EQ(trn_rdma_create_qp(a.card, a.domain, 0, 0, 1u << 31, qkey, &qp), -EINVAL);
        EXPECT_EQ(trn_rdma_register(a.card, a.domain, ~0ull - 4095, 8192, 0, &key), -EINVAL);
        EXPECT_EQ(trn_rdma_bus_address(a.card, 0, ~0ull, &address), -EINVAL);
        EXPECT_EQ(trn_rdma_bus_address(a.card, 99, 0, &address), -EINVAL);
        EXPECT_EQ(trn_rdma_bus_address(a.card, 0, 0x68, &address), 0);
    });
}

TEST_F(RdmaTest, ResetEndsTheLossOfACommand) {
    on(a, [&] {
        a.nic.inject("lost_command", {});
        std::uint16_t domain = 0;
        std::uint32_t state = 0;
        EXPECT_EQ(trn_rdma_alloc_domain(a.card, &domain), -EIO);
        EXPECT_EQ(trn_rdma_alloc_domain(a.card, &domain), -EIO);
        ASSERT_EQ(trn_rdma_state(a.card, &state), 0);
        EXPECT_EQ(state, std::uint32_t{TRN_RDMA_LOST});
        ASSERT_EQ(trn_rdma_reset(a.card), 0);
        ASSERT_EQ(trn_rdma_state(a.card, &state), 0);
        EXPECT_EQ(state, std::uint32_t{TRN_RDMA_WORKS});
        EXPECT_EQ(trn_rdma_alloc_domain(a.card, &domain), 0);
    });
}

/// Completion ring and event ring are in a chip's memory, and the event queue's message is written
/// to a register of the chip: no host is involved in the notification of a write.
TEST_F(RdmaTest, WriteWithImmediateWakesAnotherFunction) {
    constexpr std::uint64_t completions = 96 * MiB, events = 97 * MiB, word = 0x80;
    constexpr std::uint32_t vector = 5, entries = 64;
    std::uint16_t eq = 0, uar = 0;
    trn_rdma_cq cq{};
    trn_rdma_qp qp{};
    const auto register_of_b = [&] {
        std::uint32_t value = 0;
        std::memcpy(&value, b.chip.registers.bytes().data() + word, sizeof value);
        return value;
    };
    on(b, [&] {
        const auto bar0 = b.host.function(0).bar(0).bus_address;
        ASSERT_EQ(trn_rdma_create_eq(b.card, vector, b.hbm(events), 16, &eq), 0);
        ASSERT_EQ(trn_rdma_alloc_uar(b.card, &uar), 0);
        ASSERT_EQ(trn_rdma_create_cq(b.card, uar, b.hbm(completions), entries, &eq, &cq), 0);
        ASSERT_EQ(trn_rdma_create_qp(b.card, b.domain, uar, cq.number, 16, qkey, &qp), 0);
        ASSERT_EQ(trn_rdma_point_vector(b.card, vector, bar0 + word, 0xabc), 0);
        EXPECT_EQ(trn_rdma_point_vector(b.card, 9, bar0 + word, 0xabc), -EINVAL);
        // Arms both queues as the function itself would.
        std::uint64_t registers = 0;
        ASSERT_EQ(trn_rdma_bus_address(b.card, 0, 0, &registers), 0);
        EXPECT_EQ(registers, b.host.function(1).bar(0).bus_address);
        ASSERT_EQ(b.door.bar_write32(b.door.context, 0, cq.doorbell, 1u << 31), 0);
        ASSERT_EQ(b.door.bar_write32(b.door.context, 0, 0x68, 1u << 31 | eq), 0);
    });
    EXPECT_EQ(register_of_b(), 0u);
    on(a, [&] {
        auto r = request(TRN_RDMA_WRITE, 1, 0, 0, MiB);
        r.queue_pair = qp.number;
        r.has_immediate = 1;
        r.immediate = 0xcafe;
        EXPECT_EQ(status_of(r), std::uint32_t{TRN_RDMA_OK});
    });
    EXPECT_EQ(register_of_b(), 0xabcu);
    EXPECT_TRUE(same(0, 0, MiB));
    const auto* const entry = b.bytes(completions);  // EFA contract 12
    EXPECT_EQ(entry[3] & 7, 1 | 2 << 1);             // phase, of a receive
    EXPECT_EQ(entry[3] >> 4, 2 | 8);                 // write, unsolicited
    EXPECT_EQ(entry[4] | entry[5] << 8, qp.number);
    EXPECT_EQ(entry[12] | entry[13] << 8, 0xcafe);
}

TEST_F(RdmaTest, ShortWriteTakesFifteenMicroseconds) {
    double taken = 0;
    const auto seconds = [] { return sc_core::sc_time_stamp().to_seconds(); };
    on(a, [&] {
        status_of(request(TRN_RDMA_WRITE, 1, 0, 0, 8));  // the pointers are cached now
        const auto r = request(TRN_RDMA_WRITE, 2, 8, 8, 8);
        const double start = seconds();
        ASSERT_EQ(trn_rdma_post(a.queue, &r), 0);
        while (!same(8, 8, 8)) sc_core::wait(10, sc_core::SC_NS);
        taken = seconds() - start;
        wait();
    });
    EXPECT_GT(taken, 13e-6);
    EXPECT_LT(taken, 17.5e-6);
}

TEST_F(RdmaTest, OneCardReachesItsRateMinusHeaders) {
    double taken = 0;
    on(a, [&] {
        const double start = sc_core::sc_time_stamp().to_seconds();
        for (std::uint16_t i = 0; i < 16; ++i) {
            const auto r = request(TRN_RDMA_WRITE, i, 0, 0, 4 * MiB);
            ASSERT_EQ(trn_rdma_post(a.queue, &r), 0);
        }
        for (unsigned i = 0; i < 16; ++i) wait();
        taken = sc_core::sc_time_stamp().to_seconds() - start;
    });
    const double rate = 64.0 * MiB / taken, most = 50e9 * 8192 / 8282;
    EXPECT_LT(rate, most);
    EXPECT_GT(rate, 0.95 * most);
}

}  // namespace
