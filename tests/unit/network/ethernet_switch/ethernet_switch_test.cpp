// SPDX-License-Identifier: Apache-2.0
#include "models/network/ethernet_switch/ethernet_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/framework/tlm/send_carried.h"

namespace trn::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A card that records the last byte of each received packet.
struct station final : plug::device {
    explicit station(const std::string& name) : net(name.c_str(), *this) {}
    void received(plug&, tlm::tlm_generic_payload& payload, sc_core::sc_time&) override {
        auto* const carrier = payload.get_extension<ethernet::packet_carrier>();
        marks.push_back(carrier->carried->bytes.back());
        last = sc_core::sc_time_stamp();
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    tlm::tlm_response_status send(std::uint8_t to, std::uint8_t from, std::uint8_t mark,
                                  std::size_t bytes = 100) {
        auto sent = std::make_unique<ethernet::packet>();
        sent->bytes.assign(bytes, 0);
        sent->bytes[0] = to == 0xff ? 0xff : 2;
        sent->bytes[5] = to;
        sent->bytes[6] = 2;
        sent->bytes[11] = from;
        sent->bytes.back() = mark;
        return send_carried(net, ethernet::packet_carrier(std::move(sent)));
    }
    plug net;
    std::vector<int> marks;
    sc_core::sc_time last;
};

struct EthernetSwitchTest : testing::Test {
    EthernetSwitchTest()
        : net("net", {.ports = 4, .port_bytes_per_second = 1'000'000'000, .buffer = 65536}) {
        for (unsigned i = 0; i < 3; ++i) net.port[i].join(at[i].net);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    static void run(double microseconds = 100) { sc_core::sc_start(microseconds, sc_core::SC_US); }

    std::deque<station> at = [] {
        std::deque<station> all;
        for (const char* name : {"a", "b", "c"}) all.emplace_back(name);
        return all;
    }();
    ethernet_switch net;
};

TEST_F(EthernetSwitchTest, UnknownAddressesAreFloodedAndKnownOnesAreNot) {
    at[0].send(2, 1, 10);
    run();
    EXPECT_THAT(at[0].marks, IsEmpty());
    EXPECT_THAT(at[1].marks, ElementsAre(10));
    EXPECT_THAT(at[2].marks, ElementsAre(10));
    at[1].send(1, 2, 11);
    at[0].send(2, 1, 12);
    run();
    EXPECT_THAT(at[0].marks, ElementsAre(11));
    EXPECT_THAT(at[1].marks, ElementsAre(10, 12));
    EXPECT_THAT(at[2].marks, ElementsAre(10));
}

TEST_F(EthernetSwitchTest, BroadcastReachesAllOthers) {
    at[2].send(0xff, 3, 9);
    run();
    EXPECT_THAT(at[0].marks, ElementsAre(9));
    EXPECT_THAT(at[1].marks, ElementsAre(9));
    EXPECT_THAT(at[2].marks, IsEmpty());
}

TEST_F(EthernetSwitchTest, AddressMovesWithItsCard) {
    at[0].send(9, 1, 1);
    at[2].send(9, 1, 2);
    run();
    at[1].send(1, 2, 3);
    run();
    EXPECT_THAT(at[0].marks, ElementsAre(2));  // flooded from its previous port
    EXPECT_THAT(at[2].marks, ElementsAre(1, 3));
}

/// 976 bytes and 24 of link overhead take 1 us on each of two ports of 1 GB/s.
TEST_F(EthernetSwitchTest, PacketsTakeBandwidthAndLatency) {
    at[1].send(1, 2, 0);
    run();
    const auto start = sc_core::sc_time_stamp();
    for (std::uint8_t n = 0; n < 10; ++n) at[0].send(2, 1, n, 976);
    run();
    EXPECT_THAT(at[1].marks, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    EXPECT_NEAR((at[1].last - start) / sc_core::sc_time(1, sc_core::SC_US), 21, 0.1);
}

TEST_F(EthernetSwitchTest, SlowPortLosesWhatItsBufferCannotHold) {
    at[1].send(0xff, 2, 0);
    run();
    for (int n = 0; n < 100; ++n) {
        at[0].send(2, 1, 1, 1000);
        at[2].send(2, 3, 1, 1000);
    }
    run(1000);
    EXPECT_EQ(at[1].marks.size(), 65u);
    EXPECT_EQ(net.counters().lost, 135u);
}

TEST_F(EthernetSwitchTest, FaultsLosePackets) {
    net.inject("lose", {{"count", "1"}});
    at[0].send(0xff, 1, 1);
    at[0].send(0xff, 1, 2);
    net.inject("port_down", {{"port", "2"}});
    at[0].send(0xff, 1, 3);
    at[2].send(0xff, 3, 4);
    run();
    EXPECT_THAT(at[1].marks, ElementsAre(2, 3));
    EXPECT_THAT(at[2].marks, IsEmpty());
    net.inject("port_up", {{"port", "2"}});
    at[0].send(0xff, 1, 5);
    run();
    EXPECT_THAT(at[2].marks, ElementsAre(5));
}

TEST_F(EthernetSwitchTest, PacketWithoutHeaderIsRefused) {
    EXPECT_EQ(at[0].send(2, 1, 0, 13), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(net.counters().packets, 0u);
}

}  // namespace
}  // namespace trn::test
