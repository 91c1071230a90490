// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/plug.h"

#include <gtest/gtest.h>

#include <vector>

#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/route.h"
#include "platform/framework/tlm/set_access.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using sc_core::sc_time;

/// Records events at its plugs.
struct recorder : sc_core::sc_module, plug::device {
    explicit recorder(sc_core::sc_module_name name) : sc_module(name) {}

    void received(plug& at, tlm::tlm_generic_payload& payload, sc_time& delay) override {
        addresses.push_back(payload.get_address() + at.index());
        delay += sc_time(7, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    void pointers_revoked(plug& at, std::uint64_t first, std::uint64_t last) override {
        revoked.push_back(first + last + at.index());
    }

    plug one{"one", *this, 1}, two{"two", *this, 2};
    std::vector<std::uint64_t> addresses, revoked;
};

struct PlugTest : testing::Test {
    recorder left{"left"}, right{"right"};
    tlm::tlm_generic_payload payload;
    sc_time delay;
};

TEST_F(PlugTest, SendsInBothDirections) {
    left.one.join(right.two);
    set_message(payload, 0x100);
    left.one.send(payload, delay);
    EXPECT_EQ(right.addresses, std::vector<std::uint64_t>{0x102});
    EXPECT_EQ(delay, sc_time(7, sc_core::SC_NS));
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    right.two.send(payload, delay);
    EXPECT_EQ(left.addresses, std::vector<std::uint64_t>{0x101});
    left.one.revoke_pointers(10, 20);
    EXPECT_EQ(right.revoked, std::vector<std::uint64_t>{32});
    EXPECT_TRUE(left.one.up());  // a device without a link in between
}

TEST_F(PlugTest, UnpluggedSocketAnswersAnAddressErrorAtOnce) {
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    left.one.send(payload, delay);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
    EXPECT_FALSE(left.one.up());
    EXPECT_EQ(left.one.link(), nullptr);
    EXPECT_EQ(left.one.peek(payload), 0u);
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(left.one.ask_for_pointer(payload, dmi));
    left.one.revoke_pointers();
}

/// A crossing with a given rate that records the times passed to held_until().
struct hop final : crossing {
    explicit hop(std::uint64_t rate) : resource({rate, sc_core::SC_ZERO_TIME}) {}
    sc_time reserve(tlm::tlm_command, std::uint64_t, std::uint64_t bytes,
                    const sc_time& at) override {
        return resource.reserve(bytes, at);
    }
    void held_until(tlm::tlm_command, const sc_time& taken) override { reported = taken; }

    bandwidth_resource resource;
    sc_time reported;
};

TEST(RouteTest, EachHopWaitsForTheSlowestLaterHop) {
    hop first(1'000'000'000), middle(100'000'000), last(500'000'000);
    const memory_port::window way{.first = 0,
                                  .last = 4095,
                                  .bytes = nullptr,
                                  .readable = true,
                                  .writable = true,
                                  .read_latency = {},
                                  .write_latency = {},
                                  .hops = {{&first, 0}, {&middle, 0}, {&last, 0}},
                                  .watched = {}};
    const auto us = [](double n) { return sc_time(n, sc_core::SC_US); };
    EXPECT_EQ(way.reserve(tlm::TLM_WRITE_COMMAND, 0, 1000, us(0)), us(10));
    EXPECT_EQ(first.reported, us(10));  // 1 us of its own, then waits for the middle hop
    EXPECT_EQ(middle.reported, us(0));  // later hops are faster
    EXPECT_EQ(last.reported, us(0));
    EXPECT_EQ(way.reserve(tlm::TLM_READ_COMMAND, 0, 1000, us(20)), us(30));
    EXPECT_EQ(last.reported, us(30));  // read data travels in the opposite direction
    EXPECT_EQ(first.reported, us(10));
}

TEST(BandwidthResourceTest, CanBeHeldAndChangeItsRate) {
    bandwidth_resource link({.bytes_per_second = 1'000'000'000, .latency = sc_core::SC_ZERO_TIME});
    const auto us = [](double n) { return sc_time(n, sc_core::SC_US); };
    link.hold_until(us(5));
    EXPECT_EQ(link.reserve(1000, us(0)), us(6));
    link.hold_until(us(2));  // no effect: it is occupied until later anyway
    link.set_rate(500'000'000);
    EXPECT_EQ(link.reserve(1000, us(0)), us(8));
}

}  // namespace
