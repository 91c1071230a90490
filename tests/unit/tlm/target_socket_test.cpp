// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/target_socket.h"

#include <gtest/gtest.h>

#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "platform/framework/tlm/set_access.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;

class access_counter : public sc_core::sc_module {
public:
    target_socket<access_counter> in{"in"};
    unsigned accesses = 0;

    explicit access_counter(const sc_core::sc_module_name&) {
        in.register_b_transport(this, &access_counter::access);
    }

private:
    void access(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        ++accesses;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

TEST(TargetSocketTest, WithoutFurtherFunctionsOnlyTransactionsReachTheModule) {
    test::tlm_driver cpu{"cpu"};
    access_counter counter{"counter"};
    cpu.out.bind(counter.in);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);

    EXPECT_EQ(cpu.write<std::uint32_t>(0x10, 1), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(counter.accesses, 1u);
    std::uint32_t seen = 0;
    EXPECT_EQ(cpu.debug_read(0x10, seen), 0u);
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(cpu.request_dmi(0x10, dmi));
    EXPECT_EQ(dmi.get_start_address(), 0u);
    EXPECT_EQ(dmi.get_end_address(), ~sc_dt::uint64{0});
    EXPECT_EQ(counter.accesses, 1u);
}

DECLARE_EXTENDED_PHASE(ignorable);

TEST(TargetSocketTest, NonBlockingTransportCompletesARequestAtOnce) {
    test::tlm_driver cpu{"cpu"};
    memory ram{"ram", {.size = 0x1000, .access_latency = {7, sc_core::SC_NS}}};
    cpu.out.bind(ram.in);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);

    struct : tlm::tlm_mm_interface {
        void free(tlm::tlm_generic_payload*) override {}
    } owner;
    std::uint32_t word = 5;
    tlm::tlm_generic_payload payload(&owner);
    payload.acquire();
    set_access(payload, tlm::TLM_WRITE_COMMAND, 0x10, &word, sizeof word);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay(3, sc_core::SC_NS);
    EXPECT_EQ(cpu.out->nb_transport_fw(payload, phase, delay), tlm::TLM_COMPLETED);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(delay, sc_core::sc_time(10, sc_core::SC_NS));
    EXPECT_EQ(cpu.read(0x10), 5u);
    phase = ignorable;
    EXPECT_EQ(cpu.out->nb_transport_fw(payload, phase, delay), tlm::TLM_ACCEPTED);
}

TEST(TargetSocketTest, RouterRevokesThePointersOfAllItsInitiators) {
    test::tlm_driver first{"first"}, second{"second"};
    router bus{"bus", {}};
    memory ram{"ram", {.size = 0x1000}};
    first.out.bind(bus.target);
    second.out.bind(bus.target);
    bus.initiator.bind(ram.in);
    bus.map({.base = 0x4000, .size = 0x1000, .target_base = 0, .port = 0});
    sc_core::sc_start(sc_core::SC_ZERO_TIME);

    EXPECT_EQ(first.write<std::uint32_t>(0x4000, 7), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(second.read(0x4000), 7u);
    ram.in->invalidate_direct_mem_ptr(0x800, 0xfff);
    for (const auto* each : {&first, &second}) {
        EXPECT_EQ(each->invalidations, 1u);
        EXPECT_EQ(each->invalidated_first, 0x4800u);
        EXPECT_EQ(each->invalidated_last, 0x4fffu);
    }
}

}  // namespace
