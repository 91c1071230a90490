// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/attribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "platform/framework/bridges/socket_binder.h"
#include "platform/framework/tlm/set_access.h"
#include "platform/framework/tlm/target_socket.h"
#include "tests/support/deferring_memory.h"
#include "tests/unit/bridges/foreign_models.h"
#include "tests/unit/bridges/restricted_models.h"

namespace {

using namespace trn;
using namespace trn::test;
using foreign::ns;
using testing::ElementsAre;

struct hart : initiator {
    explicit hart(std::string name) : initiator(kind::firmware), name_(std::move(name)) {}
    std::string describe() const override { return name_; }

private:
    const std::string name_;
};

std::string current_name() {
    const initiator* const source = initiator::current();
    return source == nullptr ? "no initiator" : source->describe();
}

/// A target of this project that records for whom it is accessed, and defers each access.
class witness : public sc_core::sc_module {
public:
    struct access {
        std::string source;
        trace::operation operation;
        bool operator==(const access&) const = default;
        friend std::ostream& operator<<(std::ostream& out, const access& a) {
            return out << a.source << " for " << a.operation;
        }
    };
    target_socket<witness> in{"in"};
    tlm_utils::simple_initiator_socket<witness, 64> out{"out"};
    deferring_memory memory{"memory"};
    std::vector<access> seen;
    initiator::kind kind = initiator::kind::tool;

    explicit witness(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &witness::b_transport);
        out.bind(memory.in);
    }

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        seen.push_back({current_name(), trace::current_operation()});
        kind = initiator::current_kind();
        out->b_transport(payload, delay);
    }
};

/// A foreign interconnect: waits before and after each access that it passes on.
class relay : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<relay, 64> in{"in"};
    tlm_utils::simple_initiator_socket<relay, 64> out{"out"};
    bool waits = true, has_own_payload = false;

    explicit relay(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &relay::b_transport);
    }

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        if (waits) sc_core::wait(ns(10));
        if (has_own_payload) {
            tlm::tlm_generic_payload own;
            trn::set_access(own, payload.get_command(), payload.get_address(),
                            payload.get_data_ptr(), payload.get_data_length());
            out->b_transport(own, delay);
            payload.set_response_status(own.get_response_status());
        } else {
            out->b_transport(payload, delay);
        }
        if (waits) sc_core::wait(ns(10));
    }
};

struct Attribution : testing::Test {
    method_initiator cpu{"cpu"};
    relay bus{"bus"};
    witness target{"target"};
    socket_binder binder;
    hart seven{"hart 7"}, eight{"hart 8"};

    void bind_relay(coding_style style) {
        binder.bind(cpu.out, bus.in, coding_style::restricted, style);
        binder.bind(bus.out, target.in, coding_style::loosely_timed);
        cpu.identity = &seven;
        cpu.operation = 42;
    }
    static void run(double nanoseconds) { sc_core::sc_start(ns(nanoseconds)); }
};

TEST_F(Attribution, PassesThroughAForeignTargetThatWaits) {
    bind_relay(coding_style::loosely_timed);
    cpu.write(0x10, 5);
    run(1000);
    EXPECT_EQ(target.memory.bytes[0x10], 5);
    const witness::access of_cpu{"hart 7", 42};
    EXPECT_THAT(target.seen, ElementsAre(of_cpu, of_cpu));  // deferred, and repeated
    EXPECT_EQ(current_name(), "no initiator");
    EXPECT_EQ(trace::current_operation(), 0u);
}

TEST_F(Attribution, IsThatOfEachAccessWhileSeveralWait) {
    method_initiator second("second");
    thread_bridge bridge("bridge");
    cpu.out.bind(bridge.in);
    second.out.bind(bridge.in);
    bridge.out.bind(bus.in);
    binder.bind(bus.out, target.in, coding_style::loosely_timed);
    cpu.identity = &seven;
    second.identity = &eight;
    for (const std::uint64_t address : {0x10, 0x20}) {
        cpu.write(address, 1);
        second.write(address + 4, 2);
    }
    run(2000);
    std::vector<std::string> names;
    for (const auto& each : target.seen) names.push_back(each.source);
    EXPECT_THAT(names, testing::UnorderedElementsAre("hart 7", "hart 7", "hart 7", "hart 7",
                                                     "hart 8", "hart 8", "hart 8", "hart 8"));
    for (std::size_t i = 0; i < names.size(); i += 2) EXPECT_EQ(names[i], names[i + 1]);
}

TEST_F(Attribution, OfAnAccessWithAnotherPayloadIsThatOfTheForeignModel) {
    bind_relay(coding_style::loosely_timed);
    bus.has_own_payload = true;
    cpu.read(0x10);
    run(1000);
    const witness::access of_bus{"bus.out", 0};
    EXPECT_THAT(target.seen, ElementsAre(of_bus, of_bus));
}

TEST_F(Attribution, IsTheForeignModelWhenTheInitiatorHasEnded) {
    bind_relay(coding_style::loosely_timed);
    auto temporary = std::make_unique<hart>("hart 9");
    cpu.identity = temporary.get();
    cpu.read(0x10);
    run(5);
    cpu.identity = nullptr;
    temporary.reset();
    run(1000);
    ASSERT_FALSE(target.seen.empty());
    EXPECT_EQ(target.seen[0], (witness::access{"bus.out", 42}));
}

TEST_F(Attribution, IsKeptInACallThatDoesNotWait) {
    sc_core::sc_report_handler::set_actions("/trn/protocol/method_process", sc_core::SC_WARNING,
                                            sc_core::SC_DO_NOTHING);
    bus.waits = false;
    // A method of this project, which waits as the restricted protocol says.
    for (const char* const rule : {"/trn/protocol/method_process", "/trn/protocol/response_status"})
        sc_core::sc_report_handler::set_actions(rule, sc_core::SC_DO_NOTHING);
    bind_relay(coding_style::restricted);
    cpu.read(0x10);
    run(1000);
    const witness::access of_cpu{"hart 7", 42};
    EXPECT_THAT(target.seen, ElementsAre(of_cpu, of_cpu));
}

TEST_F(Attribution, OfAModelsOwnProcessNamesNoInitiator) {
    bind_relay(coding_style::loosely_timed);
    cpu.identity = nullptr;
    cpu.read(0x10);
    run(1000);
    const witness::access of_process{"no initiator", 42};
    EXPECT_THAT(target.seen, ElementsAre(of_process, of_process));
}

TEST(AttributionOfABridge, NamesTheSocketOfAForeignThread) {
    foreign::thread_cpu<64> core("core");
    witness target("target");
    socket_binder binder;
    binder.bind(core.data, target.in, coding_style::loosely_timed);
    core.program = [](auto& self) { self.write(0x10, 1); };
    sc_core::sc_start(ns(1000));
    const witness::access of_core{"core.data", 0};
    EXPECT_THAT(target.seen, ElementsAre(of_core, of_core));
    EXPECT_EQ(target.kind, initiator::kind::firmware);
}

TEST(AttributionOfABridge, NamesTheModuleWhoseProcessMakesTheAccess) {
    foreign::thread_cpu<64> core("core");
    initiator_bridge bridge("bridge", initiator::kind::dma);
    witness target("target");
    core.data.bind(bridge.in);
    bridge.out.bind(target.in);
    core.program = [](auto& self) { self.write(0x10, 1); };
    sc_core::sc_start(ns(1000));
    const witness::access of_core{"core", 0};
    EXPECT_THAT(target.seen, ElementsAre(of_core, of_core));
    EXPECT_EQ(target.kind, initiator::kind::dma);
}

TEST(AttributionOfABridge, NamesAnInitiatorWithPhases) {
    foreign::phased_master master("master");
    witness target("target");
    socket_binder binder;
    binder.bind(master.out, target.in, coding_style::approximately_timed);
    master.send(tlm::TLM_WRITE_COMMAND, 0x10, 3);
    sc_core::sc_start(ns(1000));
    ASSERT_EQ(master.responses.size(), 1u);
    const witness::access of_master{"master.out", 0};
    EXPECT_THAT(target.seen, ElementsAre(of_master, of_master));
}

TEST(AttributionOfAHost, HoldsItsStartedWorkUntilTheAccessEnds) {
    tlm::tlm_generic_payload payload;
    const hart caller("caller");
    attribution of_access;
    started_work work;
    {
        started_work::collector host;
        of_access.take();
        work = host.collected();
    }
    EXPECT_FALSE(work.finished());
    payload.set_extension(&of_access);
    started_work::share share;
    {
        const attributed_call call(payload, caller);
        share = started_work::current();
    }
    EXPECT_EQ(started_work::current(), nullptr);
    payload.clear_extension(&of_access);
    of_access.release();
    EXPECT_FALSE(work.finished());
    share.reset();
    EXPECT_TRUE(work.finished());
}

TEST(AttributionOfAHost, CollectsNothingIfNoHostWaits) {
    tlm::tlm_generic_payload payload;
    const hart caller("caller");
    attribution of_access;
    of_access.take();
    payload.set_extension(&of_access);
    started_work::collector other;  // of another access
    {
        const attributed_call call(payload, caller);
        EXPECT_EQ(started_work::current(), nullptr);
    }
    EXPECT_NE(started_work::current(), nullptr);
    payload.clear_extension(&of_access);
}

}  // namespace
