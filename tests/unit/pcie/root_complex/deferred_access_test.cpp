// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "models/pcie/pcie_link/pcie_link.h"
#include "platform/app/in_process/in_process.h"
#include "tests/support/deferring_memory.h"
#include "tests/unit/bridges/restricted_models.h"
#include "tests/unit/pcie/root_complex/server_fixture.h"

namespace {

using namespace trn;
using namespace sc_core;
using testing::ElementsAre;

struct waiter final : access_waiter {
    void deferred() override { is_deferred = true; }
    void ended(const sc_time& delay) override {
        is_deferred = false;
        ends.push_back(sc_time_stamp() + delay);
    }
    bool is_deferred = false;
    std::vector<sc_time> ends;
};

/// A host with two cards. All BARs of the first lead to memory that defers each access.
struct DeferredAccessTest : testing::Test {
    DeferredAccessTest() {
        std::iota(registers.bytes.begin(), registers.bytes.end(), std::uint8_t{0});
        host.port[0].join(slow.link);
        host.port[1].join(other.link);
        slow.bar0.bind(registers.in);
        slow.bar4.bind(stack.in);
        engine.out.bind(slow.dma);
        peer.out.bind(other.dma);
        other.bar0.bind(other_registers.in);
        other.bar4.bind(other_memory.in);
        supply.bind(slow.power_lost);
        sc_start(SC_ZERO_TIME);
        function().await_accesses(&waits);
        test::turn_on(function());
        test::turn_on(host.function(1));
    }
    pcie::host_function& function() { return host.function(0); }
    void start_read(unsigned bar, std::uint64_t offset, std::size_t size) {
        bytes.assign(size, 0);
        sc_time delay;
        ASSERT_TRUE(function().bar_read(bar, offset, bytes, delay));
        ASSERT_TRUE(waits.is_deferred);
    }
    void start_write(unsigned bar, std::uint64_t offset, std::vector<std::uint8_t> written) {
        sc_time delay;
        ASSERT_TRUE(function().bar_write(bar, offset, written, delay));
        ASSERT_TRUE(waits.is_deferred);
    }
    bool root_port_logged(std::uint32_t error) {
        const auto status =
            host.root_port(0).space().get<std::uint32_t>(0x100 + PCI_ERR_UNCOR_STATUS);
        return (status & error) != 0;
    }

    root_complex host{"host", {.ports = 2}};
    pcie_endpoint slow{"slow", {.bar0_size = 1 << 20, .bar4_size = 1 << 20}};
    test::deferring_memory registers{"registers"}, stack{"stack"};
    test::tlm_driver engine{"engine"};
    pcie_endpoint other{"other", {.bar0_size = 1 << 20, .bar4_size = 1 << 20}};
    trn::memory other_registers{"other_registers", {.size = 1 << 20}};
    trn::memory other_memory{"other_memory", {.size = 1 << 20}};
    test::method_initiator peer{"peer"};
    irq_out supply{"supply"};
    waiter waits;
    std::vector<std::uint8_t> bytes;
};

TEST_F(DeferredAccessTest, AReadEndsWhenItsTargetHasAnswered) {
    registers.annotated = sc_time(5, SC_NS);
    const auto requests = slow.counters().requests;
    start_read(0, 0x10, 4);
    EXPECT_EQ(host.describe_wait(), "slow to answer a read of 4 bytes at BAR0 0x10");
    sc_start(1, SC_US);
    // 100 ns for the request in the function, 30 ns until the answer, and its annotated delay
    EXPECT_THAT(waits.ends, ElementsAre(sc_time(135, SC_NS)));
    EXPECT_THAT(bytes, ElementsAre(0x10, 0x11, 0x12, 0x13));
    EXPECT_EQ(registers.questions, 1u);
    EXPECT_EQ(slow.counters().requests, requests + 1);
    EXPECT_FALSE(sc_pending_activity()) << "its deadline is void";
    EXPECT_EQ(host.describe_wait(), std::nullopt);
}

TEST_F(DeferredAccessTest, AWriteWaitsWithACopyOfItsBytes) {
    start_write(0, 0x20, {1, 2, 3, 4});  // the bytes end with the call
    EXPECT_EQ(registers.bytes[0x20], 0x20);
    sc_start(1, SC_US);
    EXPECT_THAT(waits.ends, ElementsAre(sc_time(130, SC_NS)));
    EXPECT_THAT(std::vector(&registers.bytes[0x20], &registers.bytes[0x24]),
                ElementsAre(1, 2, 3, 4));
}

TEST_F(DeferredAccessTest, ABlockWaitsForEachOfItsRequests) {
    start_read(0, 0x3, 13);  // 1, 4 and 8 bytes
    sc_start(1, SC_US);
    std::vector<std::uint8_t> expected(13);
    std::iota(expected.begin(), expected.end(), std::uint8_t{3});
    EXPECT_EQ(bytes, expected);
    EXPECT_EQ(registers.questions, 3u);
    EXPECT_EQ(waits.ends.size(), 1u);
    EXPECT_FALSE(sc_pending_activity());
}

TEST_F(DeferredAccessTest, BeatsThatTheChipHasAnsweredAreNotRepeated) {
    registers.widest = 4;
    start_read(0, 0x18, 8);
    sc_start(1, SC_US);
    EXPECT_THAT(bytes, ElementsAre(0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f));
    EXPECT_EQ(registers.questions, 3u);  // the whole, and two beats
    start_write(0, 0x18, {1, 2, 3, 4, 5, 6, 7, 8});
    sc_start(1, SC_US);
    EXPECT_EQ(registers.questions, 6u);
    EXPECT_EQ(registers.bytes[0x18], 1);
    EXPECT_EQ(registers.bytes[0x1f], 8);
    EXPECT_EQ(slow.bridge().counters().failed_reads, 0u);
    EXPECT_EQ(slow.bridge().counters().dropped_writes, 0u);
}

TEST_F(DeferredAccessTest, AReadWithoutAnswerTimesOutAndReturnsOnes) {
    registers.latency = sc_time(1, SC_SEC);
    start_read(0, 0, 16);
    sc_start(host.settings().completion_timeout);
    sc_start(SC_ZERO_TIME);
    EXPECT_THAT(waits.ends, ElementsAre(host.settings().completion_timeout));
    EXPECT_EQ(bytes, std::vector<std::uint8_t>(16, 0xff));
    EXPECT_EQ(host.counters().timeouts, 1u);
    EXPECT_TRUE(root_port_logged(PCI_ERR_UNC_COMP_TIME));
    registers.latency = sc_time(30, SC_NS);
    start_read(0, 4, 1);
    sc_start(1, SC_US);
    EXPECT_THAT(bytes, ElementsAre(4));
    EXPECT_EQ(registers.waiting(), 0u) << "the first was abandoned";
}

TEST_F(DeferredAccessTest, AWriteThatIsNotTakenIsDropped) {
    registers.latency = sc_time(1, SC_SEC);
    start_write(0, 0x20, {1, 2, 3, 4});
    sc_start(host.settings().completion_timeout * 2);
    EXPECT_EQ(waits.ends.size(), 1u);
    EXPECT_EQ(registers.bytes[0x20], 0x20);
    EXPECT_EQ(host.counters().timeouts, 1u);
    EXPECT_FALSE(root_port_logged(PCI_ERR_UNC_COMP_TIME)) << "posted requests have no completion";
}

TEST_F(DeferredAccessTest, AResetEndsTheAccessWithOnes) {
    start_read(0, 0x10, 8);
    function().reset();
    EXPECT_THAT(waits.ends, ElementsAre(sc_time_stamp()));
    EXPECT_EQ(bytes, std::vector<std::uint8_t>(8, 0xff));
    sc_start(1, SC_US);
    EXPECT_EQ(waits.ends.size(), 1u);
    EXPECT_EQ(host.counters().timeouts, 0u);
    EXPECT_FALSE(sc_pending_activity());
}

TEST_F(DeferredAccessTest, AHostThatLeavesEndsItsAccess) {
    start_read(0, 0x10, 8);
    function().detach();
    EXPECT_EQ(waits.ends.size(), 1u);
    EXPECT_EQ(bytes, std::vector<std::uint8_t>(8, 0xff));
    sc_start(1, SC_US);
    test::turn_on(function());
    start_read(0, 0x10, 1);
    function().await_accesses(nullptr);
    EXPECT_EQ(waits.ends.size(), 2u);
    sc_start(1, SC_US);
    EXPECT_EQ(waits.ends.size(), 2u);
    EXPECT_FALSE(sc_pending_activity());
}

TEST_F(DeferredAccessTest, WithoutAWaiterADeferredAccessFails) {
    function().await_accesses(nullptr);
    EXPECT_EQ(test::read_bar<std::uint32_t>(function(), 0, 0x10), 0u);
    EXPECT_EQ(slow.bridge().counters().failed_reads, 1u);
}

TEST_F(DeferredAccessTest, ACardThatIsResetMeanwhileGivesOnes) {
    start_read(0, 0x10, 4);
    supply.set(true);  // its loss
    sc_start(1, SC_US);
    EXPECT_EQ(bytes, std::vector<std::uint8_t>(4, 0xff));
    EXPECT_EQ(waits.ends.size(), 1u);
}

TEST_F(DeferredAccessTest, APeerWaitsToo) {
    const auto base = function().bar(0).bus_address;
    registers.widest = 4;
    peer.access(tlm::TLM_READ_COMMAND, base + 0x40);
    peer.write(base + 0x44, 0x0102'0304);
    sc_start(1, SC_US);
    ASSERT_EQ(peer.results.size(), 2u);
    EXPECT_EQ(peer.results[0].outcome, memory_port::outcome::done);
    EXPECT_EQ(peer.results[0].word, 0x4342'4140u);
    EXPECT_EQ(peer.results[1].outcome, memory_port::outcome::done);
    EXPECT_EQ(registers.bytes[0x44], 4);
    EXPECT_EQ(registers.questions, 2u);
    EXPECT_EQ(host.counters().peer_requests, 2u);
}

TEST_F(DeferredAccessTest, OtherFunctionsAreNotBlocked) {
    start_read(0, 0x10, 4);
    test::write_bar<std::uint32_t>(host.function(1), 0, 0, 7);
    EXPECT_EQ(test::read_bar<std::uint32_t>(host.function(1), 0, 0), 7u);
    EXPECT_TRUE(waits.is_deferred);
}

}  // namespace
