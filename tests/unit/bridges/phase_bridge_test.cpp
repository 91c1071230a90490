// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/phase_bridge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "platform/framework/bridges/reports.h"
#include "platform/framework/bridges/socket_binder.h"
#include "platform/framework/tlm/router.h"
#include "tests/unit/bridges/foreign_models.h"
#include "tests/unit/bridges/restricted_models.h"

namespace {

using namespace trn;
using namespace trn::test;
using foreign::ns;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using way = foreign::phased_memory::way;

/// Two methods reach a memory controller with phases.
struct PhaseBridgeTest : testing::Test {
    method_initiator cpu{"cpu"}, second{"second"};
    router bus{"bus", {}};
    foreign::phased_memory memory{"memory"};
    socket_binder binder;

    PhaseBridgeTest() {
        cpu.out.bind(bus.target);
        second.out.bind(bus.target);
        binder.bind(bus.initiator, memory.in, coding_style::restricted,
                    coding_style::approximately_timed);
        bus.map({0, 0x1000, 0, 0});
    }
    phase_bridge& bridge() { return dynamic_cast<phase_bridge&>(*binder.inserted().front()); }
    void expect_words(way answers, double latency) {
        memory.answers = answers;
        for (unsigned i = 0; i < 8; ++i) cpu.write(8 * i, 100 + i);
        for (unsigned i = 0; i < 8; ++i) second.write(8 * i + 4, 200 + i);
        for (unsigned i = 0; i < 8; ++i) cpu.read(8 * i);
        for (unsigned i = 0; i < 8; ++i) second.read(8 * i + 4);
        sc_core::sc_start(ns(5000));
        ASSERT_EQ(cpu.results.size(), 16u);
        ASSERT_EQ(second.results.size(), 16u);
        for (unsigned i = 0; i < 8; ++i) {
            EXPECT_EQ(cpu.results[8 + i].word, 100 + i);
            EXPECT_EQ(second.results[8 + i].word, 200 + i);
            EXPECT_EQ(second.results[8 + i].outcome, memory_port::outcome::done);
        }
        EXPECT_EQ(std::min(cpu.results[0].end, second.results[0].end), ns(latency));
        EXPECT_EQ(memory.violations, 0u);
        EXPECT_EQ(memory.ends, 32u);
        EXPECT_EQ(memory.open, 0u);
        EXPECT_EQ(bridge().open(), 0u);
    }
};

TEST_F(PhaseBridgeTest, FollowsFourPhases) {
    expect_words(way::four_phases, 50);
}
TEST_F(PhaseBridgeTest, FollowsAnEarlyEndOfTheRequest) {
    expect_words(way::early_end_of_request, 50);
}
TEST_F(PhaseBridgeTest, FollowsAnEarlyResponse) {
    expect_words(way::early_response, 50);
}
TEST_F(PhaseBridgeTest, FollowsACompletion) {
    expect_words(way::completion, 50);
}
TEST_F(PhaseBridgeTest, FollowsAResponseWithoutEndOfRequest) {
    expect_words(way::no_end_of_request, 50);
}

TEST_F(PhaseBridgeTest, IgnoresAnExtendedPhaseThatTheTargetReturns) {
    const report_log log(bridge_report::protocol_type);
    expect_words(way::extended_update, 50);
    EXPECT_THAT(log.texts(), IsEmpty());
}
TEST_F(PhaseBridgeTest, AcceptsAnExtendedPhaseThatTheTargetSends) {
    const report_log log(bridge_report::protocol_type);
    expect_words(way::extended_call, 50);
    EXPECT_EQ(memory.extended_returns.size(), 32u);
    EXPECT_THAT(memory.extended_returns, Each(tlm::TLM_ACCEPTED));
    EXPECT_THAT(log.texts(), IsEmpty());
}

TEST_F(PhaseBridgeTest, SendsTheNextRequestBeforeTheResponse) {
    cpu.read(0);
    second.read(4);
    sc_core::sc_start(ns(1000));
    EXPECT_EQ(memory.max_open, 2u);
    ASSERT_EQ(memory.accepted_at.size(), 2u);
    EXPECT_EQ(memory.accepted_at[0], ns(5));
    EXPECT_EQ(memory.accepted_at[1], ns(10));
    ASSERT_EQ(cpu.results.size(), 1u);
    ASSERT_EQ(second.results.size(), 1u);
    const auto [first, last] = std::minmax(cpu.results[0].end, second.results[0].end);
    EXPECT_EQ(first, ns(50));
    EXPECT_EQ(last, ns(55));
}

TEST_F(PhaseBridgeTest, DropsTheResponseOfAnAbandonedAccess) {
    cpu.write(0, 5);
    sc_core::sc_start(ns(10));
    cpu.reset();
    cpu.read(0);
    sc_core::sc_start(ns(1000));
    ASSERT_EQ(cpu.results.size(), 1u);
    EXPECT_EQ(cpu.results[0].word, 5u);
    EXPECT_EQ(memory.ends, 2u);
    EXPECT_EQ(bridge().open(), 0u);
}

TEST_F(PhaseBridgeTest, TheAnnotatedDelayOfTheInitiatorIsThatOfTheRequest) {
    cpu.access(tlm::TLM_READ_COMMAND, 0, 0, ns(30));
    sc_core::sc_start(ns(1000));
    ASSERT_EQ(cpu.results.size(), 1u);
    EXPECT_EQ(cpu.results[0].end, ns(80));
}

TEST_F(PhaseBridgeTest, ASecondResponseIsReportedAndDropped) {
    memory.answers = way::two_responses;
    const report_log log(bridge_report::protocol_type);
    // The checker finds it too.
    sc_core::sc_report_handler::set_actions("/trn/protocol/phase_order", sc_core::SC_DO_NOTHING);
    cpu.write(0, 5);
    cpu.read(0);
    sc_core::sc_start(ns(1000));
    ASSERT_EQ(cpu.results.size(), 2u);
    EXPECT_EQ(cpu.results[1].word, 5u);
    EXPECT_EQ(cpu.results[1].outcome, memory_port::outcome::done);
    ASSERT_EQ(log.texts().size(), 2u);
    EXPECT_EQ(log.texts()[1], std::string(bridge().name()) +
                                  ": the target answers a read of 4 bytes at 0x0 by "
                                  "nb_transport_bw and by its return");
    EXPECT_EQ(bridge().open(), 0u);
}

TEST_F(PhaseBridgeTest, AReturnedPhaseOutOfPlaceIsReportedAndTheAccessWaits) {
    memory.answers = way::wrong_update;
    memory.bytes[8] = 7;
    const report_log log(bridge_report::protocol_type);
    // The checker finds it too.
    sc_core::sc_report_handler::set_actions("/trn/protocol/phase_direction",
                                            sc_core::SC_DO_NOTHING);
    cpu.read(8);
    sc_core::sc_start(ns(20));
    EXPECT_TRUE(cpu.results.empty());
    sc_core::sc_start(ns(1000));
    ASSERT_EQ(cpu.results.size(), 1u);
    EXPECT_EQ(cpu.results[0].end, ns(50));
    EXPECT_EQ(cpu.results[0].word, 7u);
    EXPECT_EQ(cpu.results[0].outcome, memory_port::outcome::done);
    EXPECT_THAT(log.texts(),
                ElementsAre(std::string(bridge().name()) +
                            ": the target answers BEGIN_REQ of a read of 4 bytes at 0x8 by the "
                            "return value 1 with phase BEGIN_REQ; the access waits for END_REQ or "
                            "BEGIN_RESP"));
    EXPECT_EQ(bridge().open(), 0u);
}

TEST_F(PhaseBridgeTest, AReturnValueThatIsNoneIsReportedAndTheAccessWaits) {
    memory.answers = way::wrong_value;
    memory.bytes[8] = 7;
    const report_log log(bridge_report::protocol_type);
    cpu.read(8);
    sc_core::sc_start(ns(1000));
    ASSERT_EQ(cpu.results.size(), 1u);
    EXPECT_EQ(cpu.results[0].end, ns(50));
    EXPECT_EQ(cpu.results[0].word, 7u);
    EXPECT_EQ(log.texts().size(), 1u);
}

TEST_F(PhaseBridgeTest, AResponseThatTheTargetDoesNotSetIsAnErrorAndReported) {
    memory.wrong.leaves_no_response = true;
    const report_log log(bridge_report::protocol_type);
    sc_core::sc_report_handler::set_actions("/trn/protocol/response_status",
                                            sc_core::SC_DO_NOTHING);
    for (const way each : {way::four_phases, way::early_response, way::completion}) {
        memory.answers = each;
        cpu.read(8);
        sc_core::sc_start(ns(1000));
    }
    ASSERT_EQ(cpu.results.size(), 3u);
    for (const auto& each : cpu.results) EXPECT_EQ(each.outcome, memory_port::outcome::failed);
    EXPECT_EQ(log.texts().size(), 3u);
    EXPECT_THAT(log.texts(), Each(std::string(bridge().name()) +
                                  ": the target has not set the response of a read of 4 bytes at "
                                  "0x8, which fails"));
}

TEST_F(PhaseBridgeTest, ADataPointerThatTheTargetChangesIsReportedAndIgnored) {
    memory.wrong.changes_pointer = true;
    memory.bytes[8] = 7;
    const report_log log(bridge_report::protocol_type);
    sc_core::sc_report_handler::set_actions("/trn/protocol/attributes", sc_core::SC_DO_NOTHING);
    cpu.read(8);
    sc_core::sc_start(ns(1000));
    ASSERT_EQ(cpu.results.size(), 1u);
    EXPECT_EQ(cpu.results[0].word, 7u);
    EXPECT_THAT(log.texts(),
                ElementsAre(std::string(bridge().name()) +
                            ": the target has changed the data pointer of a read of 4 bytes at "
                            "0x8; what it points to is ignored"));
}

}  // namespace
