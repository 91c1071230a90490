// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie_link/pcie_link.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "models/pcie/pcie/tlp.h"
#include "platform/framework/kernel/random.h"
#include "tests/support/plug_device.h"

namespace {

using namespace trn;
using sc_core::sc_time;

constexpr auto writes = tlm::TLM_WRITE_COMMAND;
constexpr auto reads = tlm::TLM_READ_COMMAND;

sc_time us(double n) {
    return {n, sc_core::SC_US};
}
double ns(const sc_time& t) {
    return t.to_seconds() * 1e9;
}
void run(const sc_time& length) {
    sc_core::sc_start(length);
}

struct counted final : statistics {
    void count(std::string_view name, std::uint64_t value) override {
        all[std::string(name)] = value;
    }
    std::map<std::string, std::uint64_t> all;
};

/// Two devices and the link between them.
class PcieLinkTest : public testing::Test {
protected:
    explicit PcieLinkTest(const pcie_link::config& cfg = {}) : link("link", cfg) {
        left.end.join(link.a);
        link.b.join(right.end);
    }
    void SetUp() override { run(sc_core::SC_ZERO_TIME); }
    void bring_up() {
        for (auto* device : {&left, &right}) device->end.link()->train(0);
        run(us(160));
        ASSERT_TRUE(link.up());
        left.changes = right.changes = 0;
    }
    link_end& seen() { return *left.end.link(); }
    link_state state() { return seen().state().state; }
    /// Nanoseconds from now until a transfer of `bytes` that starts now has ended.
    double through(tlm::tlm_command command, std::uint64_t bytes) {
        const auto now = sc_core::sc_time_stamp();
        return ns(left.way_to(0).reserve(command, 0, bytes, now) - now);
    }
    std::map<std::string, std::uint64_t> statistics() const {
        counted found;
        link.publish(found);
        return found.all;
    }

    test::plug_device left{"left"}, right{"right"};
    pcie_link link;
};

TEST_F(PcieLinkTest, TrainsWhenBothEndsRequestItAndRaisesSpeedStepwise) {
    seen().train(0);
    run(us(500));
    EXPECT_EQ(state(), link_state::detect);
    EXPECT_TRUE(seen().state().present);
    EXPECT_EQ(left.changes, 0u);
    right.end.link()->train(0);
    run(us(19));
    EXPECT_EQ(state(), link_state::detect);
    run(us(2));  // 21: detect took 20
    EXPECT_EQ(state(), link_state::polling);
    run(us(30));  // 51: polling 30
    EXPECT_EQ(state(), link_state::configuration);
    for (const unsigned generation : {1u, 2u, 3u, 4u, 5u}) {
        run(us(generation == 1 ? 10 : 20));  // 61, 81, ...
        EXPECT_EQ(state(), link_state::recovery);
        EXPECT_EQ(seen().state().generation, generation);
        EXPECT_EQ(seen().state().lanes, 8u);
        EXPECT_FALSE(seen().up());
    }
    run(us(18.9));  // 159.9
    EXPECT_EQ(left.changes, 0u);
    run(us(0.2));
    EXPECT_EQ(state(), link_state::l0);
    EXPECT_EQ(seen().state().generation, 6u);
    EXPECT_EQ(seen().bytes_per_second(), 64'000'000'000u);
    EXPECT_EQ(left.changes, 1u);
    EXPECT_EQ(right.changes, 1u);
    EXPECT_FALSE(sc_core::sc_pending_activity());  // an idle link does nothing
}

TEST_F(PcieLinkTest, NegotiatesTheLowerSpeedAndChangesSpeedInRecovery) {
    seen().train(5);
    right.end.link()->train(3);
    run(us(100));  // two speed changes
    EXPECT_TRUE(link.up());
    EXPECT_EQ(seen().state().generation, 3u);
    right.end.link()->train(4);
    EXPECT_EQ(state(), link_state::recovery);
    EXPECT_TRUE(link.up());  // data waits, and is not refused
    run(us(21));
    EXPECT_EQ(seen().state().generation, 4u);
    EXPECT_EQ(left.changes, 2u);
}

TEST_F(PcieLinkTest, RefusesAccessesWhileDown) {
    EXPECT_EQ(left.write<std::uint32_t>(0, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(left.delay, sc_core::SC_ZERO_TIME);
    EXPECT_EQ(left.way_to(0).bytes, nullptr);
    EXPECT_EQ(statistics().at("refused"), 1u);
    bring_up();
    EXPECT_EQ(left.write<std::uint32_t>(0x10, 0x1234), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(right.bytes[0x10], 0x34);
    EXPECT_EQ(right.read(0x10), 0u);  // in the other direction: left's memory
}

TEST_F(PcieLinkTest, Gen6TransfersTakeTheirFlitTime) {
    bring_up();
    // 65,536 bytes are 256 packets of 256 + 16 bytes, in flits of 256 bytes that carry 236.
    const double wire = std::ceil(65536.0 / 256 * (256 + 16) * 256 / 236);
    EXPECT_NEAR(through(writes, 65536), wire / 64, 0.01);
    EXPECT_NEAR(65536 / (wire / 64), 55.5, 0.1);  // GB/s of payload
    EXPECT_EQ(statistics().at("a_to_b_wire_bytes"), static_cast<std::uint64_t>(wire));
    EXPECT_EQ(statistics().at("a_to_b_payload_bytes"), 65536u);
    EXPECT_EQ(statistics().at("a_to_b_packets"), 256u);
    EXPECT_EQ(statistics().at("b_to_a_wire_bytes"), 0u);
    EXPECT_EQ(seen().count().sent, static_cast<std::uint64_t>(wire));
    EXPECT_EQ(right.end.link()->count().received, static_cast<std::uint64_t>(wire));
    const auto way = left.way_to(0);
    EXPECT_EQ(way.write_latency, sc_time(100, sc_core::SC_NS));
    EXPECT_EQ(way.read_latency, sc_time(200, sc_core::SC_NS));
}

TEST_F(PcieLinkTest, ReadLoadsRequestAndCompletionDirections) {
    bring_up();
    const double back = std::ceil(65536.0 / 256 * (256 + 16) * 256 / 236);
    EXPECT_NEAR(through(reads, 65536), back / 64, 0.01);
    EXPECT_EQ(statistics().at("b_to_a_payload_bytes"), 65536u);
    EXPECT_EQ(statistics().at("a_to_b_packets"), 128u);  // 512 bytes each, the size requested
    EXPECT_EQ(statistics().at("a_to_b_payload_bytes"), 0u);
    EXPECT_EQ(statistics().at("a_to_b_wire_bytes"),
              static_cast<std::uint64_t>(std::ceil(128.0 * 16 * 256 / 236)));
}

TEST_F(PcieLinkTest, DirectionsAreIndependent) {
    bring_up();
    const double alone = through(writes, 1 << 20);
    const auto now = sc_core::sc_time_stamp();
    const auto other = right.way_to(0).reserve(writes, 0, 1 << 20, now) - now;
    EXPECT_NEAR(ns(other), alone, 0.01);
    EXPECT_NEAR(through(writes, 1 << 20), 2 * alone, 0.01);  // after the first transfer
}

TEST_F(PcieLinkTest, TransactionTakesTheLatencyOfItsCrossings) {
    bring_up();
    left.write<std::uint32_t>(0, 1);
    const double flit = std::ceil((4.0 + 16) * 256 / 236) / 64;
    EXPECT_NEAR(ns(left.delay), 100 + flit, 0.01);
    left.read(0);
    EXPECT_NEAR(ns(left.delay), 200 + 2 * flit, 0.4);  // queues after the write
}

TEST_F(PcieLinkTest, GoesDownAndRecoversWithItsCable) {
    bring_up();
    link.inject("link_down", {});
    EXPECT_EQ(left.revocations, 1u);
    EXPECT_EQ(right.revocations, 1u);
    EXPECT_EQ(left.changes, 1u);
    EXPECT_FALSE(seen().state().present);
    EXPECT_EQ(seen().count().downs, 1u);
    EXPECT_EQ(left.write<std::uint32_t>(0, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    seen().train(0);  // no remote end to train with
    run(us(1000));
    EXPECT_EQ(state(), link_state::detect);
    link.inject("link_up", {});
    run(us(160));
    EXPECT_EQ(left.write<std::uint32_t>(0, 1), tlm::TLM_OK_RESPONSE);
}

TEST_F(PcieLinkTest, RetrainsAfterAFlap) {
    bring_up();
    link.inject("flap", {{"for", "40 us"}});
    EXPECT_FALSE(link.up());
    run(us(199));
    EXPECT_FALSE(link.up());
    run(us(1));
    EXPECT_TRUE(link.up());
    EXPECT_EQ(left.changes, 2u);
}

TEST_F(PcieLinkTest, FailureOfATimeLastsWhateverElseHappens) {
    bring_up();
    link.inject("flap", {{"for", "5 ms"}});
    for (const char* fault : {"lane_loss", "lane_repair", "flap", "link_down", "link_up"}) {
        link.inject(fault, {});
        run(us(400));
        EXPECT_FALSE(link.up()) << fault;
    }
    link.inject("speed_limit", {{"generation", "5"}});
    run(us(400));
    seen().hot_reset();
    run(us(400));
    right.end.link()->disable();
    right.end.link()->train(0);
    run(us(2199));
    EXPECT_FALSE(link.up());
    EXPECT_EQ(state(), link_state::detect);
    run(us(170));
    EXPECT_TRUE(link.up());
    EXPECT_EQ(seen().state().generation, 5u);
}

TEST_F(PcieLinkTest, SpeedRequestedDuringTrainingIsReached) {
    seen().train(6);
    right.end.link()->train(6);
    run(us(100));
    right.end.link()->train(2);
    run(us(200));
    EXPECT_TRUE(link.up());
    EXPECT_EQ(seen().state().generation, 2u);
}

TEST_F(PcieLinkTest, OneEndDisablesTheLinkForBoth) {
    bring_up();
    right.end.link()->disable();
    EXPECT_EQ(state(), link_state::disabled);
    EXPECT_EQ(left.changes, 1u);
    EXPECT_EQ(seen().count().downs, 0u);  // requested by software
    seen().train(0);
    run(us(500));
    EXPECT_FALSE(link.up());
    right.end.link()->train(0);
    run(us(160));
    EXPECT_TRUE(link.up());
}

TEST_F(PcieLinkTest, LostEndIsASurpriseDown) {
    bring_up();
    right.end.link()->lose();
    EXPECT_FALSE(link.up());
    right.end.link()->lose();
    EXPECT_EQ(seen().count().downs, 1u);
    right.end.link()->train(0);
    run(us(160));
    EXPECT_TRUE(link.up());
}

TEST_F(PcieLinkTest, HotResetTakesTheLinkDownAndUp) {
    bring_up();
    seen().hot_reset();
    EXPECT_EQ(state(), link_state::hot_reset);
    EXPECT_EQ(left.revocations, 1u);
    run(us(170));
    EXPECT_TRUE(link.up());
}

TEST_F(PcieLinkTest, DegradesToTheNextWidthWhenLanesAreLost) {
    bring_up();
    const double before = through(writes, 1 << 20);
    link.inject("lane_loss", {{"lanes", "3"}});
    EXPECT_TRUE(link.up());
    run(us(100));
    EXPECT_EQ(seen().state().lanes, 4u);
    EXPECT_TRUE(seen().state().degraded);
    EXPECT_NEAR(through(writes, 1 << 20), 2 * before, 0.01);
    link.inject("lane_repair", {});
    run(us(100));
    EXPECT_NEAR(through(writes, 1 << 20), before, 0.01);
    EXPECT_FALSE(seen().state().degraded);
    link.inject("lane_loss", {{"lanes", "8"}});  // its only link
    EXPECT_FALSE(link.up());
    EXPECT_EQ(seen().count().downs, 1u);
}

TEST_F(PcieLinkTest, LostLanesAddUp) {
    bring_up();
    const auto lanes_after = [&](const char* lost) {
        link.inject("lane_loss", {{"lanes", lost}});
        run(us(100));
        return seen().state().lanes;
    };
    EXPECT_EQ(lanes_after("3"), 4u);  // five work
    EXPECT_EQ(lanes_after("1"), 4u);
    EXPECT_EQ(lanes_after("2"), 2u);
    EXPECT_EQ(lanes_after("1"), 1u);
    link.inject("lane_loss", {{"lanes", "4"}});
    EXPECT_FALSE(link.up());
    link.inject("lane_repair", {});
    run(us(200));
    EXPECT_EQ(seen().state().lanes, 8u);
}

TEST_F(PcieLinkTest, EachEndClearsItsOwnCounters) {
    bring_up();
    left.write<std::uint32_t>(0, 1);
    const auto sent = seen().count().sent;
    ASSERT_GT(sent, 0u);
    link.inject("crc", {});
    left.write<std::uint32_t>(0, 1);
    right.end.link()->clear_counters();
    EXPECT_EQ(right.end.link()->count().received, 0u);
    EXPECT_EQ(right.end.link()->count().replays, 0u);
    EXPECT_EQ(seen().count().sent, 2 * sent);
    EXPECT_EQ(statistics().at("a_to_b_replays"), 1u);
    left.write<std::uint32_t>(0, 1);
    EXPECT_EQ(right.end.link()->count().received, sent);
    seen().clear_counters();
    EXPECT_EQ(seen().count().sent, 0u);
}

TEST_F(PcieLinkTest, StaysBelowTheSpeedWhoseEqualisationFails) {
    bring_up();
    link.inject("speed_limit", {{"generation", "5"}});
    run(us(30));
    EXPECT_EQ(seen().state().generation, 5u);
    // 128b/130b and 24 bytes around each packet
    EXPECT_NEAR(through(writes, 65536), std::ceil(256.0 * (256 + 24) * 130 / 128) / 32, 0.01);
}

TEST_F(PcieLinkTest, ReplaysFlitsWithABadCrc) {
    bring_up();
    const double usual = through(writes, 4096);
    run(us(1));
    link.inject("crc", {{"count", "2"}});
    EXPECT_NEAR(through(writes, 4096), usual + 100, 0.01);
    run(us(1));
    EXPECT_NEAR(through(writes, 4096), usual + 100, 0.01);
    run(us(1));
    EXPECT_NEAR(through(writes, 4096), usual, 0.01);
    EXPECT_EQ(right.end.link()->count().replays, 2u);
    EXPECT_EQ(seen().count().replays, 0u);  // no bad flit arrived here
}

TEST_F(PcieLinkTest, LaterErrorsDoNotChangeEarlierOnes) {
    bring_up();
    const double usual = through(writes, 4096);
    link.inject("crc", {{"count", "2"}});
    link.inject("crc", {{"times", "3"}});
    for (const double replays : {1, 1, 3, 0}) {
        run(us(1));
        EXPECT_NEAR(through(writes, 4096), usual + 100 * replays, 0.01);
    }
}

TEST_F(PcieLinkTest, DrawsErrorsAtTheirRateFromTheSeed) {
    set_seed(7);
    bring_up();
    link.inject("crc_rate", {{"rate", "0.001"}});
    const double usual = 16.0 * 65536 / 256 * 272 * 256 / 236 / 64;
    const double with_errors = through(writes, 16 * 65536);
    const auto replays = statistics().at("a_to_b_replays");
    EXPECT_NEAR(with_errors, usual + 100.0 * static_cast<double>(replays), 0.1);
    for (int i = 0; i < 99; ++i) through(writes, 16 * 65536);
    // 100 MiB are 472,000 flits: 472 errors, give or take 22
    EXPECT_NEAR(static_cast<double>(statistics().at("a_to_b_replays")), 472, 5 * 22);
}

TEST_F(PcieLinkTest, RetrainsWhenTheFourthReplayFails) {
    bring_up();
    const double usual = through(writes, 4096);
    run(us(1));
    link.inject("crc", {{"times", "3"}});
    EXPECT_NEAR(through(writes, 4096), usual + 300, 0.01);
    EXPECT_EQ(state(), link_state::l0);
    run(us(1));
    left.changes = 0;
    link.inject("crc", {{"times", "4"}});
    EXPECT_NEAR(through(writes, 4096), 20'000, 0.01);  // the time of a recovery
    EXPECT_EQ(state(), link_state::recovery);
    EXPECT_TRUE(link.up());  // delayed, not dropped
    EXPECT_GT(ns(right.way_to(0).reserve(writes, 0, 64, sc_core::sc_time_stamp()) -
                 sc_core::sc_time_stamp()),
              20'000);
    run(us(21));
    EXPECT_EQ(state(), link_state::l0);
    EXPECT_EQ(seen().state().generation, 6u);
    EXPECT_EQ(left.changes, 1u);
    EXPECT_EQ(seen().count().rollovers, 1u);
    EXPECT_EQ(right.end.link()->count().rollovers, 0u);  // the other end has lost no replay
    EXPECT_EQ(right.end.link()->count().replays, 7u);
    using enum link_error;
    EXPECT_EQ(left.errors, std::vector{replay_rollover});
    EXPECT_EQ(right.errors, (std::vector{bad_packet, bad_packet}));
}

TEST_F(PcieLinkTest, HighErrorRateCausesRetrainingButNoLinkDown) {
    set_seed(3);
    bring_up();
    link.inject("crc_rate", {{"rate", "0.1"}});
    for (int i = 0; i < 100; ++i) {
        through(writes, 1 << 20);
        run(us(100));
    }
    // 100 MiB are 472,000 flits: one in 10,000 is bad four times in a row, in some of the transfers
    EXPECT_GT(statistics().at("a_to_b_replay_rollovers"), 20u);
    EXPECT_LE(statistics().at("a_to_b_replay_rollovers"), 100u);
    EXPECT_EQ(statistics().at("downs"), 0u);
}

TEST_F(PcieLinkTest, RefusesUnknownAndInvalidFaults) {
    EXPECT_THROW(link.inject("lightning", {}), fault_error);
    EXPECT_THROW(link.inject("crc_rate", {}), fault_error);
    EXPECT_THROW(link.inject("crc_rate", {{"rate", "0.5"}}), fault_error);
    EXPECT_THROW(link.inject("lane_loss", {{"lanes", "9"}}), fault_error);
    EXPECT_THROW(link.inject("lane_loss", {{"link", "1"}}), fault_error);
    EXPECT_THROW(link.inject("flap", {{"for", "10"}}), fault_error);
    EXPECT_THROW(link.inject("speed_limit", {{"generation", "7"}}), fault_error);
}

TEST(PcieLinkAlone, StaysInDetect) {
    test::plug_device alone("alone");
    pcie_link loose("loose", {});
    alone.end.join(loose.a);
    run(sc_core::SC_ZERO_TIME);
    alone.end.link()->train(0);
    run(us(1000));
    EXPECT_EQ(alone.end.link()->state().state, link_state::detect);
    EXPECT_FALSE(alone.end.link()->state().present);
    EXPECT_EQ(alone.write<std::uint32_t>(0, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(PcieLinkTest, FunctionalTimingCountsBytesAndTakesNoTime) {
    set_timing(timing_mode::functional);
    bring_up();
    link.inject("crc", {});
    EXPECT_EQ(through(writes, 65536), 0);
    EXPECT_EQ(statistics().at("a_to_b_packets"), 256u);
    EXPECT_EQ(statistics().at("a_to_b_replays"), 1u);
}

/// Every link speed with the rate from its formula.
struct speed {
    link_protocol protocol;
    unsigned generation, lanes;
    double gigabytes, overhead, coding;
};
class PcieLinkSpeeds : public testing::TestWithParam<speed> {};

TEST_P(PcieLinkSpeeds, HaveTheSpecifiedRateAndEfficiency) {
    const auto& s = GetParam();
    test::plug_device left("left"), right("right");
    pcie_link link("link", {.protocol = s.protocol,
                            .generation = s.generation,
                            .lanes = s.lanes,
                            .needs_training = false});
    left.end.join(link.a);
    right.end.join(link.b);
    run(sc_core::SC_ZERO_TIME);
    ASSERT_TRUE(link.up());
    EXPECT_DOUBLE_EQ(static_cast<double>(link.raw_rate()), s.gigabytes * 1e9);
    const auto done = left.way_to(0).reserve(writes, 0, 1 << 20, sc_core::SC_ZERO_TIME);
    EXPECT_NEAR(ns(done), 4096 * (256 + s.overhead) * s.coding / s.gigabytes, 1);
}
INSTANTIATE_TEST_SUITE_P(All, PcieLinkSpeeds,
                         testing::Values(speed{link_protocol::pcie, 1, 8, 2.5, 24, 1.25},
                                         speed{link_protocol::pcie, 2, 8, 5, 24, 1.25},
                                         speed{link_protocol::pcie, 3, 8, 8, 24, 130. / 128},
                                         speed{link_protocol::pcie, 4, 16, 32, 24, 130. / 128},
                                         speed{link_protocol::pcie, 5, 8, 32, 24, 130. / 128},
                                         speed{link_protocol::pcie, 6, 1, 8, 16, 256. / 236},
                                         speed{link_protocol::pcie, 6, 16, 128, 16, 256. / 236},
                                         speed{link_protocol::ualink, 1, 4, 100, 16, 640. / 628}),
                         [](const auto& row) {
                             return (row.param.protocol == link_protocol::pcie ? "Gen" : "UaLink") +
                                    std::to_string(row.param.generation) + "x" +
                                    std::to_string(row.param.lanes);
                         });

/// Five links as one bundle, on a cable so long that credits limit the rate.
struct PcieLinkBundle : PcieLinkTest {
    PcieLinkBundle() : PcieLinkTest({.links = 5, .needs_training = false}) {}
};

TEST_F(PcieLinkBundle, StripesBytesOverAllItsLinks) {
    EXPECT_EQ(link.raw_rate(), 320'000'000'000u);
    EXPECT_NEAR(through(writes, 1 << 20), 4096.0 * 272 * 256 / 236 / 320, 0.1);
    link.inject("lane_loss", {{"lanes", "8"}, {"link", "3"}});
    run(us(100));
    EXPECT_TRUE(link.up());
    EXPECT_EQ(seen().state().links, 4u);
    EXPECT_NEAR(through(writes, 1 << 20), 4096.0 * 272 * 256 / 236 / 256, 0.1);
}

struct PcieLinkCredits : PcieLinkTest {
    PcieLinkCredits() : PcieLinkTest({.latency = us(1), .needs_training = false}) {}
};

TEST_F(PcieLinkCredits, LimitTheRateOfALongLink) {
    // 64 KiB per round trip of 2 us are 32.8 GB/s, of 64; the first 64 KiB need not wait.
    EXPECT_NEAR(through(writes, 1 << 20), 15 * 2000.0, 1);
    EXPECT_EQ(statistics().at("a_to_b_posted_credit_waits"), 1u);
    EXPECT_NEAR(through(writes, 1 << 20), 31 * 2000.0, 1);
}

TEST_F(PcieLinkCredits, LetABufferfulPassAtLineRate) {
    EXPECT_NEAR(through(writes, 65536), 256.0 * 272 * 256 / 236 / 64, 1);
    EXPECT_EQ(statistics().at("a_to_b_posted_credit_waits"), 0u);
}

TEST_F(PcieLinkCredits, BlockedClassDoesNotBlockOthers) {
    through(writes, 1 << 20);  // 30 us waiting for credits, 19 us on the wire
    const double request = 32 / 235.0;
    EXPECT_NEAR(ns(right.way_to(0).reserve(reads, 0, 256, sc_core::SC_ZERO_TIME)),
                4096.0 * 272 * 256 / 236 / 64 + 272 * 256 / 236.0 / 64 + request, 1);
}

/// One small credit pool and the traffic that it limits: 64 times its size takes 15 further round
/// trips of 2 us for each 4 of it.
struct pool {
    const char* name;
    pcie_link::config link;
    enum { write, read, configure } how;
    unsigned bytes;
    const char* waits;  ///< the statistic of this credit class
};

struct PcieLinkPools : testing::TestWithParam<pool> {
    static pcie_link::config with(const pcie_link::config& cfg) {
        auto all = cfg;
        all.latency = us(1);
        all.needs_training = false;
        return all;
    }
    PcieLinkPools() : link("link", with(GetParam().link)) {
        left.end.join(link.a);
        link.b.join(right.end);
        run(sc_core::SC_ZERO_TIME);
    }
    /// Time until 4 bytes written to configuration space now arrive.
    double configure() {
        std::uint32_t word = 0;
        tlm::tlm_generic_payload request;
        pcie::framed framed(request, 0);
        framed.header.destination = pcie::tlp::space::config;
        request.set_write();
        request.set_data_ptr(reinterpret_cast<std::uint8_t*>(&word));
        request.set_data_length(sizeof word);
        request.set_streaming_width(sizeof word);
        sc_time delay;
        left.end.send(request, delay);
        return ns(delay) - 1000;
    }
    double all() {
        const pool& p = GetParam();
        if (p.how != pool::configure)
            return ns(left.way_to(0).reserve(p.how == pool::write ? writes : reads, 0, p.bytes,
                                             sc_core::SC_ZERO_TIME));
        double last = 0;
        for (unsigned i = 0; i < p.bytes / 4; ++i) last = configure();
        return last;
    }
    test::plug_device left{"left"}, right{"right"};
    pcie_link link;
};

TEST_P(PcieLinkPools, EachPoolLimitsItsOwnClassOnly) {
    EXPECT_NEAR(all(), 15 * 2000.0, 1);
    counted found;
    link.publish(found);
    EXPECT_GT(found.all.at(GetParam().waits), 0u);
    found.all.erase(GetParam().waits);
    for (const auto& [name, value] : found.all)
        if (name.ends_with("credit_waits")) {
            EXPECT_EQ(value, 0u) << name;
        }
}

INSTANTIATE_TEST_SUITE_P(All, PcieLinkPools,
                         testing::Values(pool{"posted_headers",
                                              {.posted_headers = 4},
                                              pool::write,
                                              64 * 256,
                                              "a_to_b_posted_credit_waits"},
                                         pool{"posted_data",
                                              {.posted_data = 4096},
                                              pool::write,
                                              16 * 4096,
                                              "a_to_b_posted_credit_waits"},
                                         pool{"non_posted_headers",
                                              {.non_posted_headers = 2},
                                              pool::read,
                                              32 * 512,
                                              "a_to_b_non_posted_credit_waits"},
                                         pool{"non_posted_data",
                                              {.non_posted_data = 16},
                                              pool::configure,
                                              16 * 16,
                                              "a_to_b_non_posted_credit_waits"},
                                         pool{"completion_headers",
                                              {.completion_headers = 4},
                                              pool::read,
                                              64 * 256,
                                              "b_to_a_completion_credit_waits"},
                                         pool{"completion_data",
                                              {.completion_data = 4096},
                                              pool::read,
                                              16 * 4096,
                                              "b_to_a_completion_credit_waits"}),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

/// A fast link followed by a slow one.
TEST(PcieLinkBackPressure, FastLinkWaitsForASlowOneWhenTheBufferIsFull) {
    test::plug_device source("source"), sink("sink");
    struct relay : sc_core::sc_module, plug::device {
        explicit relay(sc_core::sc_module_name name) : sc_module(name) {}
        void received(plug& at, tlm::tlm_generic_payload& payload, sc_time& delay) override {
            (&at == &in ? out : in).send(payload, delay);
        }
        bool asked_for_pointer(plug& at, tlm::tlm_generic_payload& payload,
                               tlm::tlm_dmi& dmi) override {
            return (&at == &in ? out : in).ask_for_pointer(payload, dmi);
        }
        plug in{"in", *this}, out{"out", *this};
    } middle("middle");
    pcie_link fast("fast", {.needs_training = false});
    pcie_link slow("slow", {.generation = 3, .needs_training = false});
    source.end.join(fast.a);
    fast.b.join(middle.in);
    middle.out.join(slow.a);
    slow.b.join(sink.end);
    run(sc_core::SC_ZERO_TIME);
    const auto whole = source.way_to(0);
    ASSERT_EQ(whole.hops.size(), 2u);
    const double slow_time = ns(whole.reserve(writes, 0, 1 << 20, sc_core::SC_ZERO_TIME));
    EXPECT_NEAR(slow_time, 4096.0 * 280 * 130 / 128 / 8, 1);
    // Writes of another requester to the middle hop wait until all but 64 KiB have been forwarded.
    const auto first = whole.hops[0];
    const double own = 16 * 272 * 256 / 236.0 / 64;
    EXPECT_NEAR(ns(first.resource->reserve(writes, 0, 4096, sc_core::SC_ZERO_TIME)),
                slow_time - 65536 / 64.0 + own, 1);
    // A read bypasses them: its request needs only the wire, which they do not occupy.
    const double on_the_wire = (4096 + 16) * 272 * 256 / 236.0 / 64;
    EXPECT_LT(ns(first.resource->reserve(reads, 0, 4096, sc_core::SC_ZERO_TIME)), on_the_wire + 10);
}

TEST_F(PcieLinkBundle, PostedWritesPassReadsWithBlockedData) {
    const auto way = left.way_to(0), back = right.way_to(0);
    way.hops[0].resource->reserve(reads, 0, 4096, sc_core::SC_ZERO_TIME);
    way.hops[0].resource->held_until(reads, us(500));
    EXPECT_GT(ns(way.reserve(reads, 0, 4096, sc_core::SC_ZERO_TIME)), 490'000);
    // In parallel with the data.
    EXPECT_LT(ns(back.reserve(writes, 0, 4096, sc_core::SC_ZERO_TIME)), 500);
    // In parallel with the requests.
    EXPECT_LT(ns(way.reserve(writes, 0, 4096, sc_core::SC_ZERO_TIME)), 500);
}

TEST(PcieLinkConfig, NamesTheInvalidField) {
    EXPECT_FALSE(pcie_link::check({}));
    EXPECT_TRUE(pcie_link::check({.protocol = link_protocol::ualink, .generation = 2}));
    EXPECT_TRUE(pcie_link::check({.max_payload = 512, .completion_data = 256}));
}

}  // namespace
