// SPDX-License-Identifier: Apache-2.0
#include "models/cards/host_ring/host_writer.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/tlm/pending_access.h"

namespace trn::test {
namespace {

using sc_core::sc_time;

/// Memory that responds when it is told to.
struct slow_memory : sc_core::sc_module {
    explicit slow_memory(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &slow_memory::access);
    }
    void access(tlm::tlm_generic_payload& payload, sc_time&) {
        if (is_slow) return waits.hold(payload);
        written.push_back(payload.get_address());
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    void respond() {
        is_slow = false;
        waits.wake();
    }

    tlm_utils::simple_target_socket<slow_memory, 64> in{"in"};
    deferral waits;
    bool is_slow = true;
    std::vector<std::uint64_t> written;
};

struct card : sc_core::sc_module {
    explicit card(sc_core::sc_module_name name) : sc_module(name) {}

    tlm_utils::simple_initiator_socket<card, 64> dma{"dma"};
    host_writer writer{"writer", dma};
};

struct HostWriterTest : testing::Test {
    HostWriterTest() {
        owner.dma.bind(memory.in);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    void post(std::uint64_t at, double microseconds = 0) {
        const std::array<std::uint8_t, 8> entry{};
        writer.post(sc_core::sc_time_stamp() + sc_time(microseconds, sc_core::SC_US), at, entry,
                    [this](bool) { ++done; });
    }
    static void run(double microseconds = 1) { sc_core::sc_start(microseconds, sc_core::SC_US); }

    card owner{"card"};
    slow_memory memory{"memory"};
    host_writer& writer = owner.writer;
    unsigned done = 0;
};

TEST_F(HostWriterTest, DroppedRangeIsNotWrittenAndTheOthersAre) {
    post(0x1000);
    post(0x2000);
    post(0x1008);
    post(0x1ff8, 5);
    post(0x2008, 5);
    run();
    EXPECT_TRUE(memory.written.empty());  // the first write waits for memory
    writer.drop(0x1000, 0x1fff);
    memory.respond();
    run();
    EXPECT_EQ(memory.written, std::vector<std::uint64_t>{0x2000});
    run(10);
    EXPECT_EQ(memory.written, (std::vector<std::uint64_t>{0x2000, 0x2008}));
    EXPECT_EQ(done, 2u);
    EXPECT_TRUE(writer.idle());
    writer.drop(0, ~std::uint64_t{0});
}

TEST_F(HostWriterTest, DropOfTheWaitingWriteEndsItsAccess) {
    post(0x1000);
    run();
    EXPECT_TRUE(memory.waits.is_used());
    writer.drop(0x1000, 0x1fff);
    EXPECT_FALSE(memory.waits.is_used());
    EXPECT_TRUE(writer.idle());
    memory.respond();
    run();
    EXPECT_TRUE(memory.written.empty());
    post(0x3000);
    run();
    EXPECT_EQ(done, 1u);
}

}  // namespace
}  // namespace trn::test
