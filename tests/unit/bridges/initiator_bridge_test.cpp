// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/initiator_bridge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/framework/bridges/reports.h"
#include "platform/framework/bridges/socket_binder.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/deferring_memory.h"
#include "tests/support/tlm_driver.h"
#include "tests/unit/bridges/foreign_models.h"
#include "tests/unit/bridges/restricted_models.h"

namespace {

using namespace trn;
using namespace trn::test;
using foreign::ns;
using testing::HasSubstr;

constexpr std::uint64_t slow_at = 0x10000;

/// A router of this project with plain memory, and memory that defers each access by 30 ns.
struct deferring_bus {
    deferring_bus() {
        bus.initiator.bind(ram.in);
        bus.initiator.bind(slow.in);
        bus.map({0, 0x1000, 0, 0});
        bus.map({slow_at, 0x1000, 0, 1});
    }
    router bus{"bus", {}};
    memory ram{"ram", {.size = 0x1000, .access_latency = ns(2)}};
    deferring_memory slow{"slow"};
    socket_binder binder;
};

TEST(InitiatorBridge, AThreadWaitsForATargetThatDefers) {
    deferring_bus board;
    foreign::thread_cpu<32> cpu("cpu");
    board.binder.bind(cpu.data, board.bus.target, coding_style::loosely_timed);
    std::uint32_t word = 0;
    sc_core::sc_time written, end;
    board.slow.annotated = ns(4);
    cpu.program = [&](auto& self) {
        self.write(0x10, 77);
        self.execute(ns(20));
        self.write(slow_at + 8, self.read(0x10));
        written = self.time();
        word = self.read(slow_at + 8);
        end = self.time();
    };
    sc_core::sc_start(ns(1000));
    EXPECT_TRUE(cpu.has_ended);
    EXPECT_EQ(cpu.status, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(word, 77u);
    EXPECT_EQ(written, ns(2 + 20 + 2 + 30 + 4));
    EXPECT_EQ(end, written + ns(34));
    EXPECT_EQ(board.slow.waiting(), 0u);
}

TEST(InitiatorBridge, LocalTimeAheadOfAQuickResponseIsKept) {
    deferring_bus board;
    foreign::thread_cpu<64> cpu("cpu");
    tlm_utils::tlm_quantumkeeper::set_global_quantum(ns(1000));
    board.binder.bind(cpu.data, board.bus.target, coding_style::loosely_timed);
    sc_core::sc_time end;
    cpu.program = [&](auto& self) {
        self.execute(ns(500));
        self.read(slow_at);
        end = self.time();
    };
    sc_core::sc_start(ns(10000));
    EXPECT_EQ(end, ns(530));
}

TEST(InitiatorBridge, MethodsThatAreDeferredGetAnErrorAndAReport) {
    const report_log log(bridge_report::cannot_wait_type);
    deferring_bus board;
    tlm_driver tool("tool");
    board.binder.bind(tool.out, board.bus.target, coding_style::loosely_timed);
    sc_core::sc_start(ns(1));
    EXPECT_EQ(tool.write(0x10, 1u), tlm::TLM_OK_RESPONSE);
    EXPECT_TRUE(log.texts().empty());
    tool.read(slow_at + 0x10);
    EXPECT_EQ(tool.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    ASSERT_EQ(log.texts().size(), 1u);
    EXPECT_THAT(log.texts()[0], HasSubstr(board.binder.inserted()[0]->name()));
    EXPECT_THAT(log.texts()[0], HasSubstr("SC_THREAD"));
}

TEST(InitiatorBridge, DebugTransportAndPointersPass) {
    deferring_bus board;
    tlm_driver tool("tool");
    board.binder.bind(tool.out, board.bus.target, coding_style::loosely_timed);
    sc_core::sc_start(ns(1));
    std::uint32_t word = 1;
    EXPECT_EQ(tool.debug_read(0x10, word), 4u);
    EXPECT_EQ(word, 0u);
    tlm::tlm_dmi dmi;
    EXPECT_TRUE(tool.request_dmi(0x10, dmi));
    EXPECT_EQ(dmi.get_dmi_ptr(), board.ram.bytes().data());
    board.ram.in->invalidate_direct_mem_ptr(0, 0xff);
    EXPECT_EQ(tool.invalidations, 1u);
}

TEST(InitiatorBridge, AKilledThreadLeavesNoAccessBehind) {
    deferring_bus board;
    foreign::thread_cpu<64> cpu("cpu");
    board.binder.bind(cpu.data, board.bus.target, coding_style::loosely_timed);
    cpu.program = [&](auto& self) { self.read(slow_at); };
    sc_core::sc_spawn([&] {
        sc_core::wait(ns(10));
        for (sc_core::sc_object* const each : cpu.get_child_objects())
            if (auto handle = sc_core::sc_process_handle(each); handle.valid()) handle.kill();
    });
    sc_core::sc_start(ns(100));
    EXPECT_FALSE(cpu.has_ended);
}

TEST(InitiatorBridge, ANullDataPointerFailsTheAccessAndIsReported) {
    const report_log log(bridge_report::protocol_type);
    // The checker finds it too.
    sc_core::sc_report_handler::set_actions("/trn/protocol/data_pointer", sc_core::SC_DO_NOTHING);
    sc_core::sc_report_handler::set_actions("/trn/protocol/debug_data", sc_core::SC_DO_NOTHING);
    deferring_bus board;
    tlm_driver tool("tool");
    board.binder.bind(tool.out, board.bus.target, coding_style::loosely_timed);
    sc_core::sc_start(ns(1));
    EXPECT_EQ(tool.access(tlm::TLM_IGNORE_COMMAND, 0x10, nullptr, 4), tlm::TLM_OK_RESPONSE);
    EXPECT_TRUE(log.texts().empty());
    EXPECT_EQ(tool.access(tlm::TLM_READ_COMMAND, 0x10, nullptr, 4),
              tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(tool.access(tlm::TLM_WRITE_COMMAND, 0x10, nullptr, 4),
              tlm::TLM_GENERIC_ERROR_RESPONSE);
    tlm::tlm_generic_payload payload;
    set_access(payload, tlm::TLM_READ_COMMAND, 0x10, nullptr, 4);
    EXPECT_EQ(tool.out->transport_dbg(payload), 0u);
    ASSERT_EQ(log.texts().size(), 3u);
    EXPECT_EQ(log.texts()[0],
              std::string(board.binder.inserted()[0]->name()) +
                  ": the initiator sends a read of 4 bytes at 0x10 with a null data pointer");
}

using taking = foreign::phased_master::way;

/// A foreign initiator with phases: 20 writes and reads of deferring memory.
struct PhasedInitiatorTest : testing::Test {
    deferring_bus board;
    foreign::phased_master master{"master"};
    PhasedInitiatorTest() {
        board.binder.bind(master.out, board.bus.target, coding_style::approximately_timed);
    }
    void expect_words(taking takes) {
        master.takes = takes;
        for (unsigned i = 0; i < 20; ++i)
            master.send(tlm::TLM_WRITE_COMMAND, slow_at + 4 * i, 300 + i);
        sc_core::sc_start(ns(2000));
        for (unsigned i = 0; i < 20; ++i) master.send(tlm::TLM_READ_COMMAND, slow_at + 4 * i);
        sc_core::sc_start(ns(2000));
        ASSERT_EQ(master.responses.size(), 40u);
        for (unsigned i = 0; i < 20; ++i) {
            EXPECT_EQ(master.responses[20 + i].word, 300 + i);
            EXPECT_EQ(master.responses[20 + i].status, tlm::TLM_OK_RESPONSE);
        }
        EXPECT_EQ(master.violations, 0u);
        EXPECT_EQ(master.freed, 40u);
        EXPECT_EQ(board.slow.waiting(), 0u);
    }
};

TEST_F(PhasedInitiatorTest, GetsResponsesThatItEndsLater) {
    expect_words(taking::acceptance);
}
TEST_F(PhasedInitiatorTest, GetsResponsesThatItCompletes) {
    expect_words(taking::completion);
}
TEST_F(PhasedInitiatorTest, GetsResponsesThatItUpdates) {
    expect_words(taking::update);
}

TEST_F(PhasedInitiatorTest, ResponsesComeAtTheirTimesAndOneAfterTheOther) {
    board.slow.annotated = ns(5);
    master.send(tlm::TLM_READ_COMMAND, slow_at);
    master.send(tlm::TLM_READ_COMMAND, slow_at + 4);
    master.send(tlm::TLM_READ_COMMAND, 0);
    sc_core::sc_start(ns(1000));
    ASSERT_EQ(master.responses.size(), 3u);
    EXPECT_EQ(master.responses[0].time, ns(2 + 3));
    EXPECT_EQ(master.responses[1].time, ns(35 + 3));
    EXPECT_EQ(master.responses[2].time, ns(35 + 3 + 3));
}

TEST_F(PhasedInitiatorTest, NeedsAMemoryManager) {
    const report_log log(bridge_report::protocol_type);
    // The checker of the socket finds it too.
    sc_core::sc_report_handler::set_actions("/trn/protocol/memory_manager", sc_core::SC_WARNING,
                                            sc_core::SC_DO_NOTHING);
    master.has_memory_manager = false;
    master.send(tlm::TLM_READ_COMMAND, 0);
    sc_core::sc_start(ns(100));
    ASSERT_EQ(master.responses.size(), 1u);
    EXPECT_EQ(master.responses[0].status, tlm::TLM_GENERIC_ERROR_RESPONSE);
    ASSERT_EQ(log.texts().size(), 1u);
    EXPECT_THAT(log.texts()[0], HasSubstr("set_mm()"));
}

TEST_F(PhasedInitiatorTest, NeedsADataPointer) {
    const report_log log(bridge_report::protocol_type);
    sc_core::sc_report_handler::set_actions("/trn/protocol/data_pointer", sc_core::SC_DO_NOTHING);
    master.has_data = false;
    master.send(tlm::TLM_READ_COMMAND, 0);
    sc_core::sc_start(ns(100));
    ASSERT_EQ(master.responses.size(), 1u);
    EXPECT_EQ(master.responses[0].status, tlm::TLM_GENERIC_ERROR_RESPONSE);
    ASSERT_EQ(log.texts().size(), 1u);
    EXPECT_THAT(log.texts()[0], HasSubstr("null data pointer"));
}

TEST(PhasedInitiator, OfAForeignTargetThatWaitsGoesThroughTwoBridges) {
    foreign::phased_master master("master");
    foreign::waiting_peripheral peripheral("peripheral");
    sc_core::sc_signal<bool> irq("irq");
    peripheral.irq.bind(irq);
    socket_binder binder;
    binder.bind(master.out, peripheral.in, coding_style::approximately_timed,
                coding_style::loosely_timed);
    master.send(tlm::TLM_WRITE_COMMAND, 4, 6);
    master.send(tlm::TLM_READ_COMMAND, 4);
    sc_core::sc_start(ns(1000));
    ASSERT_EQ(master.responses.size(), 2u);
    EXPECT_EQ(master.responses[1].word, 6u);
}

}  // namespace
