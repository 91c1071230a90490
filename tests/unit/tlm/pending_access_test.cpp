// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/pending_access.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <optional>

#include "platform/framework/tlm/memory_port.h"

namespace {

using namespace trn;
using outcome = memory_port::outcome;

/// Memory that defers each access until respond().
struct slow_memory : sc_core::sc_module {
    tlm_utils::simple_target_socket<slow_memory, 64> in{"in"};
    tlm_utils::simple_initiator_socket<slow_memory, 64> initiator{"initiator"};

    SC_HAS_PROCESS(slow_memory);
    explicit slow_memory(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &slow_memory::b_transport);
        initiator.bind(in);
        SC_METHOD(count_wake_up);
        sensitive << wake;
        dont_initialize();
    }
    void respond() {
        has_response = true;
        waiting->wake();
    }
    outcome read(pending_access& with, std::uint64_t address = 0, unsigned length = 4) {
        sc_core::sc_time delay;
        std::uint64_t word = 0;
        return port.access(tlm::TLM_READ_COMMAND, address, &word, length, with, delay);
    }
    bool woken() {
        sc_core::sc_start(1, sc_core::SC_NS);
        return std::exchange(wake_ups, 0) > 0;
    }

    memory_port port{initiator};
    std::unique_ptr<deferral> waiting = std::make_unique<deferral>([this] { ++unused; });
    bool is_mute = false, has_response = false;
    unsigned first_attempts = 0, unused = 0, wake_ups = 0;
    sc_core::sc_event wake;

private:
    void count_wake_up() { ++wake_ups; }
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        if (is_mute) return;
        first_attempts += !waiting->holds(payload);
        if (has_response)
            payload.set_response_status(tlm::TLM_OK_RESPONSE);
        else
            waiting->hold(payload);
    }
};

struct PendingAccessTest : testing::Test {
    slow_memory memory{"memory"};
    std::optional<pending_access> access{std::in_place, memory.wake};
};

TEST_F(PendingAccessTest, ResponseWakesTheInitiatorWhichRepeatsTheAccess) {
    ASSERT_EQ(memory.read(*access), outcome::deferred);
    EXPECT_TRUE(access->is_deferred());
    EXPECT_FALSE(memory.woken());
    ASSERT_EQ(memory.read(*access), outcome::deferred);
    memory.respond();
    EXPECT_TRUE(memory.woken());
    EXPECT_EQ(memory.read(*access), outcome::done);
    EXPECT_FALSE(access->is_deferred());
    EXPECT_EQ(memory.first_attempts, 1u);
    EXPECT_EQ(memory.unused, 1u);
}

TEST_F(PendingAccessTest, TargetIsToldWhenTheAccessEnds) {
    ASSERT_EQ(memory.read(*access), outcome::deferred);
    access->abandon();
    EXPECT_FALSE(access->is_deferred());
    EXPECT_FALSE(memory.waiting->is_used());
    ASSERT_EQ(memory.read(*access), outcome::deferred);
    access.emplace(memory.wake);
    EXPECT_FALSE(memory.waiting->is_used());
    ASSERT_EQ(memory.read(*access), outcome::deferred);
    access.reset();
    EXPECT_FALSE(memory.waiting->is_used());
    EXPECT_EQ(memory.unused, 3u);
    memory.respond();
    EXPECT_FALSE(memory.woken());
}

TEST_F(PendingAccessTest, AnotherAddressOrLengthStartsANewAccess) {
    ASSERT_EQ(memory.read(*access), outcome::deferred);
    ASSERT_EQ(memory.read(*access, 8), outcome::deferred);
    ASSERT_EQ(memory.read(*access, 8, 2), outcome::deferred);
    EXPECT_EQ(memory.first_attempts, 3u);
    EXPECT_EQ(memory.unused, 2u);
}

TEST_F(PendingAccessTest, FailsIfTheRepeatedAccessGetsNoResponse) {
    ASSERT_EQ(memory.read(*access), outcome::deferred);
    memory.is_mute = true;
    EXPECT_EQ(memory.read(*access), outcome::failed);
    EXPECT_FALSE(memory.waiting->is_used());
}

TEST_F(PendingAccessTest, TargetMayEndFirst) {
    ASSERT_EQ(memory.read(*access), outcome::deferred);
    memory.waiting = std::make_unique<deferral>();
    EXPECT_FALSE(access->is_repeated());
    ASSERT_EQ(memory.read(*access), outcome::deferred);
    EXPECT_EQ(memory.first_attempts, 2u);
}

}  // namespace
