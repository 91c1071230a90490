// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/thread_bridge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "platform/framework/bridges/reports.h"
#include "platform/framework/bridges/socket_binder.h"
#include "platform/framework/bridges/width_adapter.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/tlm_driver.h"
#include "tests/unit/bridges/foreign_models.h"
#include "tests/unit/bridges/restricted_models.h"

namespace {

using namespace trn;
using namespace trn::test;
using foreign::ns;
using testing::ElementsAre;
using testing::HasSubstr;

/// Two methods and a tool reach a peripheral with a 32-bit socket through a router.
struct ThreadBridgeTest : testing::Test {
    method_initiator cpu{"cpu"}, second{"second"};
    tlm_driver tool{"tool"};
    router bus{"bus", {}};
    foreign::waiting_peripheral peripheral{"peripheral"};
    sc_core::sc_signal<bool> irq{"irq"};
    socket_binder binder;

    ThreadBridgeTest() {
        cpu.out.bind(bus.target);
        second.out.bind(bus.target);
        tool.out.bind(bus.target);
        binder.bind(bus.initiator, peripheral.in, coding_style::restricted,
                    coding_style::loosely_timed);
        peripheral.irq.bind(irq);
        bus.map({0x10000, foreign::waiting_peripheral::size, 0, 0});
    }
    static void run(double nanoseconds) { sc_core::sc_start(ns(nanoseconds)); }
    thread_bridge& bridge() { return dynamic_cast<thread_bridge&>(*binder.inserted().front()); }
};

TEST_F(ThreadBridgeTest, AMethodReadsAndWritesATargetThatWaits) {
    cpu.write(0x10010, 0x12345678);
    cpu.read(0x10010);
    run(1000);
    ASSERT_EQ(cpu.results.size(), 2u);
    EXPECT_EQ(cpu.results[0].outcome, memory_port::outcome::done);
    EXPECT_EQ(cpu.results[0].end, ns(40));
    EXPECT_EQ(cpu.results[1].word, 0x12345678u);
    EXPECT_EQ(cpu.results[1].end, ns(80));
    EXPECT_EQ(bridge().open(), 0u);
}

TEST_F(ThreadBridgeTest, TheAccessBeginsAndEndsWithTheAnnotatedDelays) {
    peripheral.annotated = ns(7);
    cpu.access(tlm::TLM_READ_COMMAND, 0x10010, 0, ns(20));
    run(1000);
    ASSERT_EQ(cpu.results.size(), 1u);
    EXPECT_EQ(cpu.results[0].end, ns(20 + 40 + 7));
}

TEST_F(ThreadBridgeTest, AnErrorOfTheTargetFailsTheAccess) {
    bus.map({0x20000, 0x1000, foreign::waiting_peripheral::size, 0});
    cpu.read(0x20000);
    run(1000);
    ASSERT_EQ(cpu.results.size(), 1u);
    EXPECT_EQ(cpu.results[0].outcome, memory_port::outcome::failed);
}

TEST_F(ThreadBridgeTest, AccessesOfSeveralInitiatorsTakeTurns) {
    for (unsigned i = 0; i < 20; ++i) {
        cpu.write(0x10000 + 8 * i, 100 + i);
        second.write(0x10004 + 8 * i, 200 + i);
    }
    for (unsigned i = 0; i < 20; ++i) {
        cpu.read(0x10000 + 8 * i);
        second.read(0x10004 + 8 * i);
    }
    run(100 * 40);
    ASSERT_EQ(cpu.results.size(), 40u);
    ASSERT_EQ(second.results.size(), 40u);
    for (unsigned i = 0; i < 20; ++i) {
        EXPECT_EQ(cpu.results[20 + i].word, 100 + i);
        EXPECT_EQ(second.results[20 + i].word, 200 + i);
    }
    EXPECT_EQ(peripheral.max_inside, 1u);
}

TEST_F(ThreadBridgeTest, TheThreadIsCreatedAtTheFirstAccess) {
    const auto has_thread = [this] {
        const auto all = bridge().get_child_objects();
        return std::ranges::any_of(
            all, [](const sc_core::sc_object* each) { return !each->get_child_objects().empty(); });
    };
    run(100);
    EXPECT_FALSE(has_thread());
    cpu.read(0x10000);
    run(100);
    EXPECT_TRUE(has_thread());
    cpu.read(0x10000);
    run(100);
    EXPECT_EQ(cpu.results.size(), 2u);
}

TEST_F(ThreadBridgeTest, AnAbandonedAccessEndsInTheThread) {
    cpu.write(0x10000, 5);
    run(10);
    cpu.reset();
    cpu.read(0x10004);
    EXPECT_EQ(bridge().open(), 1u);
    run(1000);
    EXPECT_EQ(peripheral.ended, 2u);
    EXPECT_EQ(peripheral.bytes[0], 5u);
    ASSERT_EQ(cpu.results.size(), 1u);
    EXPECT_EQ(cpu.results[0].word, 0u);
    EXPECT_EQ(cpu.results[0].end, ns(80));
    EXPECT_EQ(bridge().open(), 0u);
}

TEST_F(ThreadBridgeTest, TheSameAccessAfterAnAbandonedOneHasItsOwnResponse) {
    cpu.read(0x10000);
    run(10);
    cpu.reset();
    peripheral.bytes[0] = 1;
    cpu.read(0x10000);
    run(35);
    EXPECT_TRUE(cpu.results.empty());
    peripheral.bytes[0] = 2;
    run(100);
    ASSERT_EQ(cpu.results.size(), 1u);
    EXPECT_EQ(cpu.results[0].word, 2u);
}

TEST_F(ThreadBridgeTest, InitiatorsThatCannotWaitGetAnErrorAndOneReport) {
    const report_log log(bridge_report::cannot_wait_type);
    run(1);
    tool.read(0x10010);
    EXPECT_EQ(tool.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    tool.read(0x10014);
    EXPECT_EQ(tool.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    ASSERT_EQ(log.texts().size(), 1u);
    EXPECT_THAT(log.texts()[0], HasSubstr(bridge().name()));
    EXPECT_THAT(log.texts()[0], HasSubstr("read of 4 bytes at 0x10"));
    EXPECT_THAT(log.texts()[0], HasSubstr("memory_port"));
    EXPECT_EQ(peripheral.begun, 0u);
}

TEST_F(ThreadBridgeTest, DebugTransportAndPointersPass) {
    run(1);
    peripheral.bytes[0x10] = 9;
    std::uint32_t word = 0;
    EXPECT_EQ(tool.debug_read(0x10010, word), 4u);
    EXPECT_EQ(word, 9u);
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(tool.request_dmi(0x10010, dmi));
    peripheral.grants_pointers = true;
    EXPECT_TRUE(tool.request_dmi(0x10010, dmi));
    EXPECT_EQ(dmi.get_dmi_ptr(), peripheral.bytes.data());
    EXPECT_EQ(dmi.get_start_address(), 0x10000u);
    peripheral.in->invalidate_direct_mem_ptr(0, 0xfff);
    EXPECT_EQ(tool.invalidations, 1u);
    EXPECT_EQ(tool.invalidated_first, 0x10000u);
    EXPECT_EQ(peripheral.begun, 0u);
}

/// A method that sends one payload with all attributes.
struct full_payload_initiator : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<full_payload_initiator, 64> out{"out"};
    SC_HAS_PROCESS(full_payload_initiator);
    explicit full_payload_initiator(sc_core::sc_module_name name) : sc_module(name) {
        SC_METHOD(send);
        sensitive << wake;
        dont_initialize();
    }
    void send() {
        payload.set_dmi_allowed(false);
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        pending.attempt(payload);
        payload.set_extension(&pending);
        payload.set_extension(&tag);
        sc_core::sc_time delay;
        out->b_transport(payload, delay);
        payload.clear_extension(&pending);
        payload.clear_extension(&tag);
        is_done = !pending.is_deferred();
    }
    sc_core::sc_event wake;
    pending_access pending{wake};
    foreign::tag tag;
    tlm::tlm_generic_payload payload;
    bool is_done = false;
};

TEST(ThreadBridge, ByteEnablesStreamingWidthAndExtensionsReachTheTarget) {
    full_payload_initiator cpu("cpu");
    foreign::waiting_peripheral peripheral("peripheral");
    sc_core::sc_signal<bool> irq("irq");
    peripheral.irq.bind(irq);
    socket_binder binder;
    binder.bind(cpu.out, peripheral.in, coding_style::restricted, coding_style::loosely_timed);

    std::array<std::uint8_t, 8> bytes{1, 2, 3, 4, 5, 6, 7, 8};
    std::array<std::uint8_t, 2> enables{TLM_BYTE_ENABLED, TLM_BYTE_DISABLED};
    cpu.payload.set_command(tlm::TLM_WRITE_COMMAND);
    cpu.payload.set_address(0x20);
    cpu.payload.set_data_ptr(bytes.data());
    cpu.payload.set_data_length(8);
    cpu.payload.set_streaming_width(4);
    cpu.payload.set_byte_enable_ptr(enables.data());
    cpu.payload.set_byte_enable_length(2);
    cpu.tag.value = 41;
    cpu.wake.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start(ns(100));
    EXPECT_TRUE(cpu.is_done);
    EXPECT_TRUE(cpu.payload.is_response_ok());
    EXPECT_EQ(peripheral.last_tag, 41u);
    EXPECT_EQ(cpu.tag.value, 42u);
    const std::vector<std::uint8_t> written(peripheral.bytes.begin() + 0x20,
                                            peripheral.bytes.begin() + 0x28);
    EXPECT_EQ(written, (std::vector<std::uint8_t>{5, 0, 7, 0, 0, 0, 0, 0}));

    bytes.fill(0xee);
    cpu.payload.set_command(tlm::TLM_READ_COMMAND);
    cpu.wake.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start(ns(100));
    EXPECT_EQ(bytes, (std::array<std::uint8_t, 8>{5, 0xee, 7, 0xee, 5, 0xee, 7, 0xee}));

    cpu.payload.set_address(foreign::waiting_peripheral::size);
    cpu.wake.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start(ns(100));
    EXPECT_TRUE(cpu.is_done);
    EXPECT_EQ(cpu.payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(ThreadBridgeTest, MoreAccessesThanTheBridgeTakesWaitForRoom) {
    for (unsigned i = 0; i < deferred_calls::max_calls + 5; ++i) {
        cpu.write(0x10000 + 4 * i, i);
        run(0.1);
        if (i + 1 < deferred_calls::max_calls + 5) cpu.reset();
    }
    run(40.0 * (deferred_calls::max_calls + 6));
    ASSERT_EQ(cpu.results.size(), 1u);
    EXPECT_EQ(cpu.results[0].outcome, memory_port::outcome::done);
    EXPECT_EQ(peripheral.bytes[4 * (deferred_calls::max_calls + 4)], deferred_calls::max_calls + 4);
    EXPECT_EQ(bridge().open(), 0u);
}

TEST_F(ThreadBridgeTest, AnErrorThatTheTargetReportsFailsOnlyItsAccess) {
    const report_log log(bridge_report::target_error_type);
    peripheral.reports_errors = true;
    cpu.read(0x10010);
    run(100);
    peripheral.reports_errors = false;
    cpu.read(0x10010);
    run(100);
    ASSERT_EQ(cpu.results.size(), 2u);
    EXPECT_EQ(cpu.results[0].outcome, memory_port::outcome::failed);
    EXPECT_EQ(cpu.results[1].outcome, memory_port::outcome::done);
    EXPECT_THAT(log.texts(),
                ElementsAre(HasSubstr("/acme/peripheral: is broken (read of 4 bytes at "
                                      "0x10)")));
    EXPECT_EQ(bridge().open(), 0u);
}

TEST_F(ThreadBridgeTest, AnExceptionOfTheTargetIsAnErrorThatNamesTheBridge) {
    peripheral.throws_exceptions = true;
    cpu.read(0x10010);
    try {
        run(100);
        FAIL() << "the simulation continues";
    } catch (const sc_core::sc_report& error) {
        EXPECT_STREQ(error.get_msg_type(), bridge_report::target_exception_type);
        EXPECT_EQ(error.get_msg(),
                  std::string(bridge().name()) +
                      ": the target has thrown an exception: register 9 (read of 4 bytes at 0x10)");
    }
}

TEST_F(ThreadBridgeTest, TheStallReportHasTheOldestAccessWithoutAnAnswer) {
    peripheral.latency = ns(1000);
    run(5);
    EXPECT_EQ(bridge().describe_wait(), std::nullopt);
    cpu.read(0x10010);
    run(1);
    second.read(0x10020);
    run(99);
    EXPECT_EQ(bridge().describe_wait(),
              "the foreign target to answer a read of 4 bytes at 0x10 since 5 ns; 1 more");
    run(3000);
    EXPECT_EQ(bridge().describe_wait(), std::nullopt);
}

TEST_F(ThreadBridgeTest, APointerToOtherAddressesThanAskedForIsRefused) {
    const report_log log(bridge_report::protocol_type);
    sc_core::sc_report_handler::set_actions("/trn/protocol/dmi_range", sc_core::SC_DO_NOTHING);
    peripheral.grants_pointers = true;
    peripheral.granted_from = 0x100;
    run(1);
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(tool.request_dmi(0x10010, dmi));
    EXPECT_THAT(log.texts(), ElementsAre(HasSubstr("grants a pointer to 0x100 - 0x1fff, asked for "
                                                   "0x10")));
    tlm::tlm_dmi valid;
    EXPECT_TRUE(tool.request_dmi(0x10110, valid));
    EXPECT_EQ(valid.get_start_address(), 0x10100u);
}

TEST_F(ThreadBridgeTest, ANullPointerIsRefused) {
    const report_log log(bridge_report::protocol_type);
    sc_core::sc_report_handler::set_actions("/trn/protocol/dmi_pointer", sc_core::SC_DO_NOTHING);
    peripheral.grants_pointers = peripheral.grants_null = true;
    run(1);
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(tool.request_dmi(0x10010, dmi));
    EXPECT_THAT(log.texts(), ElementsAre(HasSubstr("grants a null pointer to 0x0 - 0x1fff")));
}

TEST_F(ThreadBridgeTest, AResponseThatTheTargetDoesNotSetIsAnErrorAndReported) {
    const report_log log(bridge_report::protocol_type);
    // The checker finds it too.
    sc_core::sc_report_handler::set_actions("/trn/protocol/response_status",
                                            sc_core::SC_DO_NOTHING);
    peripheral.wrong.leaves_no_response = true;
    cpu.read(0x10010);
    run(100);
    ASSERT_EQ(cpu.results.size(), 1u);
    EXPECT_EQ(cpu.results[0].outcome, memory_port::outcome::failed);
    EXPECT_THAT(log.texts(), ElementsAre(std::string(bridge().name()) +
                                         ": the target has not set the response of a read of 4 "
                                         "bytes at 0x10, which fails"));
    EXPECT_EQ(bridge().open(), 0u);
}

TEST_F(ThreadBridgeTest, ADataPointerThatTheTargetChangesIsReportedAndIgnored) {
    const report_log log(bridge_report::protocol_type);
    sc_core::sc_report_handler::set_actions("/trn/protocol/attributes", sc_core::SC_DO_NOTHING);
    peripheral.wrong.changes_pointer = true;
    peripheral.bytes[0x10] = 7;
    cpu.read(0x10010);
    run(100);
    ASSERT_EQ(cpu.results.size(), 1u);
    EXPECT_EQ(cpu.results[0].word, 7u);
    EXPECT_THAT(log.texts(), ElementsAre(std::string(bridge().name()) +
                                         ": the target has changed the data pointer of a read of "
                                         "4 bytes at 0x10; what it points to is ignored"));
}

TEST(ThreadBridge, LostAccessesAtTheBoundaryAreCounted) {
    const report_log log(bridge_report::cannot_wait_type);
    tlm_driver tool("tool");
    thread_bridge bridge("memory", thread_bridge::use::boundary);
    width_adapter<64, 32> adapter("adapter");
    foreign::waiting_peripheral peripheral("peripheral");
    sc_core::sc_signal<bool> irq("irq");
    peripheral.irq.bind(irq);
    tool.out.bind(bridge.in);
    bridge.out.bind(adapter.in);
    adapter.out.bind(peripheral.in);
    sc_core::sc_start(ns(1));
    for (unsigned i = 0; i < deferred_calls::max_calls; ++i)
        EXPECT_EQ(tool.write(0x10, i), tlm::TLM_OK_RESPONSE);
    EXPECT_TRUE(log.texts().empty());
    for (unsigned i = 0; i < 5; ++i)
        EXPECT_EQ(tool.write(0x20, i), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_THAT(log.texts(),
                ElementsAre("memory: 64 accesses are under way; a write of 4 bytes at 0x20 of an "
                            "initiator is lost (1 lost so far): the foreign target must answer the "
                            "earlier ones (doc/tlm.md)",
                            HasSubstr("(2 lost so far)"), HasSubstr("(4 lost so far)")));
    sc_core::sc_start(ns(10000));
    EXPECT_EQ(tool.write(0x20, 1u), tlm::TLM_OK_RESPONSE);
}

TEST(BridgeReport, DescribesCommandsWithoutData) {
    tlm::tlm_generic_payload payload;
    payload.set_address(0x1000);
    EXPECT_EQ(bridge_report::describe(payload), "command without data at 0x1000");
    payload.set_write();
    payload.set_data_length(4);
    EXPECT_EQ(bridge_report::describe(payload), "write of 4 bytes at 0x1000");
}

}  // namespace
