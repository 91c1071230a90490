// SPDX-License-Identifier: Apache-2.0
#include "models/scale_up/neuron_switch/neuron_switch.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>

#include "models/misuse_rules.h"
#include "models/pcie/pcie/tlp.h"
#include "models/pcie/pcie_link/pcie_link.h"
#include "models/scale_up/neuron_link/fabric_identity_regs.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/support/plug_device.h"

namespace {

using namespace trn;
using sc_core::sc_time;
namespace identity = fabric_identity_regs;
using identity::reg;

constexpr auto writes = tlm::TLM_WRITE_COMMAND;

sc_time us(double n) {
    return {n, sc_core::SC_US};
}
double ns(const sc_time& t) {
    return t.to_seconds() * 1e9;
}
unsigned id(unsigned rack, unsigned server, unsigned chip) {
    return rack << 9 | server << 4 | chip;
}
std::uint32_t claim(unsigned level, unsigned claimant, bool release = false) {
    return static_cast<std::uint32_t>(identity::claim::level.set(claimant, level) |
                                      (release ? identity::claim::release.mask() : 0));
}

/// A device with in-band messages, like a chip's firmware, and memory at its fabric address.
struct claimant : test::plug_device {
    using plug_device::plug_device;

    tlm::tlm_response_status configure(tlm::tlm_command command, reg number, std::uint32_t& word,
                                       unsigned index = 0) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(identity::offset(number, index));
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        pcie::tlp tlp;
        tlp.destination = pcie::tlp::space::config;
        payload.set_extension(&tlp);
        sc_time ignored;
        end.send(payload, ignored);
        payload.clear_extension(&tlp);
        return payload.get_response_status();
    }
    std::uint32_t ask(reg number, unsigned index = 0) {
        std::uint32_t word = ~0u;
        configure(tlm::TLM_READ_COMMAND, number, word, index);
        return word;
    }
    std::uint32_t claim_it(std::uint32_t word) {
        EXPECT_EQ(configure(writes, reg::claim, word), tlm::TLM_OK_RESPONSE);
        return ask(reg::claim_status);
    }
    void received(plug& at, tlm::tlm_generic_payload& payload, sc_time& when) override {
        const auto* tlp = payload.get_extension<pcie::tlp>();
        if (tlp == nullptr) return plug_device::received(at, payload, when);
        EXPECT_EQ(payload.get_address(), identity::offset(reg::notice));
        ++notices;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    unsigned notices = 0;
};

/// Four devices at ports 0 to 3 of a switch, with x8 links.
class NeuronSwitchTest : public testing::Test {
protected:
    NeuronSwitchTest() {
        misuse::set_policy_of_all(misuse::policy::count);
        log::replace_sink({});
        for (unsigned i = 0; i < 4; ++i) {
            const auto n = std::to_string(i);
            chips[i] = std::make_unique<claimant>(("chip" + n).c_str());
            wires[i] = std::make_unique<pcie_link>(("wire" + n).c_str(), pcie_link::config{});
            chips[i]->base = address(i);
            chips[i]->end.join(wires[i]->a);
            wires[i]->b.join(middle.port[i]);
        }
    }
    void SetUp() override {
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        for (auto& each : chips) each->end.link()->train(0);  // the switch requests training itself
        sc_core::sc_start(us(200));
        for (auto& each : wires) ASSERT_TRUE(each->up());
    }
    static std::uint64_t address(unsigned chip, unsigned server = 0, unsigned rack = 0) {
        return fabric::address_of(id(rack, server, chip), 0);
    }
    claimant& at(unsigned i) { return *chips[i]; }
    void claim_all() {
        for (unsigned i = 0; i < 4; ++i)
            EXPECT_EQ(at(i).claim_it(claim(identity::claim::level_chip, i)),
                      i << 8 | identity::claim_status::result_taken);
        sc_core::sc_start(us(600));
        for (auto& each : chips) each->notices = 0;
    }

    neuron_switch middle{"middle", {.rack = 1, .server = 3, .serial = 0x1'0000'0002}};
    std::array<std::unique_ptr<claimant>, 4> chips;
    std::array<std::unique_ptr<pcie_link>, 4> wires;
};

TEST_F(NeuronSwitchTest, ReportsItsIdentity) {
    EXPECT_EQ(at(2).ask(reg::magic), 0x4b4c4e54u);
    EXPECT_EQ(at(2).ask(reg::kind), identity::kind::what_switch | identity::kind::tier_sled << 8);
    EXPECT_EQ(at(2).ask(reg::serial_lo), 2u);
    EXPECT_EQ(at(2).ask(reg::serial_hi), 1u);
    EXPECT_EQ(at(2).ask(reg::id), 1u << 31 | id(1, 3, 0));
    EXPECT_EQ(at(2).ask(reg::port), 20u << 8 | 2u);
    std::uint32_t word = 0;
    EXPECT_NE(at(0).configure(writes, reg::magic, word), tlm::TLM_OK_RESPONSE);
}

TEST_F(NeuronSwitchTest, SendsEachAccessToThePortThatClaimedItsChip) {
    at(0).write<std::uint32_t>(address(2), 1);
    EXPECT_EQ(misuse::count(misuse::no_route), 1u);
    claim_all();
    EXPECT_EQ(at(0).write<std::uint32_t>(address(2) + 8, 7), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(at(2).bytes[8], 7);
    EXPECT_NEAR(ns(at(0).delay), 100 + 120 + 100, 1.5);
    EXPECT_EQ(at(3).read(address(2) + 8), 7u);
    EXPECT_EQ(at(0).write<std::uint32_t>(8, 7), tlm::TLM_ADDRESS_ERROR_RESPONSE);  // no target
    EXPECT_EQ(at(0).ask(reg::reachable, 0), 0b1111u);
    EXPECT_EQ(at(0).ask(reg::reachable, 1), 0u);
    const auto way = at(0).way_to(address(2));
    EXPECT_EQ(way.bytes, at(2).bytes.data());
    EXPECT_EQ(way.hops.size(), 2u);
    EXPECT_EQ(way.write_latency, sc_time(320, sc_core::SC_NS));
}

TEST_F(NeuronSwitchTest, IsNonBlockingAndSharesAPortBetweenSenders) {
    claim_all();
    const double alone = 4096 * 272 * 256 / 236.0 / 64;  // ns for 1 MiB
    const auto now = sc_core::sc_time_stamp();
    const auto through = [&](unsigned from, unsigned to) {
        return ns(at(from).way_to(address(to)).reserve(writes, address(to), 1 << 20, now) - now);
    };
    // A permutation: all four at the full rate.
    for (unsigned i = 0; i < 4; ++i) EXPECT_NEAR(through(i, (i + 1) % 4), alone, 1);
    sc_core::sc_start(us(100));
    // Incast: three into one take three times as long.
    const auto later = sc_core::sc_time_stamp();
    double last = 0;
    for (unsigned from = 1; from < 4; ++from)
        last = ns(at(from).way_to(address(0)).reserve(writes, address(0), 1 << 20, later) - later);
    EXPECT_NEAR(last, 3 * alone, 1);
}

TEST_F(NeuronSwitchTest, ChipBelongsToThePortThatClaimedItFirst) {
    claim_all();
    EXPECT_EQ(at(3).claim_it(claim(identity::claim::level_chip, 1)),
              1u << 8 | identity::claim_status::result_conflict);
    EXPECT_EQ(middle.way_to(1, 0), 1u);
    at(1).claim_it(claim(identity::claim::level_chip, 1, true));
    EXPECT_EQ(middle.way_to(1, 0), std::nullopt);
    EXPECT_EQ(at(3).claim_it(claim(identity::claim::level_chip, 1)),
              3u << 8 | identity::claim_status::result_taken);
    EXPECT_EQ(middle.way_to(1, 0), 3u);
    EXPECT_EQ(at(0).claim_it(claim(3, 1)), 0u);  // level out of range
}

TEST_F(NeuronSwitchTest, FallsBackFromChipToServerToRackButNeverToTheSourcePort) {
    claim_all();
    for (const unsigned i : {1u, 2u}) {
        at(i).claim_it(claim(identity::claim::level_server, id(0, 0, 0)));
        at(i).claim_it(claim(identity::claim::level_rack, id(1, 0, 0)));
    }
    EXPECT_EQ(middle.way_to(id(1, 7, 3), 0), 1u);
    EXPECT_EQ(middle.way_to(id(1, 7, 3), 1), 2u);
    EXPECT_EQ(at(0).ask(reg::racks, 0), 0b10u);
    EXPECT_EQ(at(1).ask(reg::racks, 0), 0b10u);
    EXPECT_EQ(middle.way_to(id(0, 0, 9), 0), 1u);
    EXPECT_EQ(middle.way_to(id(0, 1, 0), 0), std::nullopt);
    wires[3]->inject("link_down", {});
    EXPECT_EQ(middle.way_to(3, 0), 1u);  // through another chip of the same server
    wires[1]->inject("link_down", {});
    EXPECT_EQ(middle.way_to(3, 0), 2u);
    EXPECT_EQ(at(2).ask(reg::racks, 0), 0u);  // only its own rack
    EXPECT_EQ(at(0).ask(reg::reachable, 0), 0b0101u);
}

TEST_F(NeuronSwitchTest, ReportsTheChipsOfARackReachableThroughOtherPorts) {
    const auto of_rack = [](unsigned rack, unsigned chips) {
        const auto word = claim(identity::claim::level_rack, id(rack, 0, 0));
        return static_cast<std::uint32_t>(identity::claim::chips.set(word, chips));
    };
    at(1).claim_it(of_rack(0, 72));
    at(2).claim_it(of_rack(0, 68));
    EXPECT_EQ(at(0).ask(reg::rack_chips, 0), 72u);
    EXPECT_EQ(at(1).ask(reg::rack_chips, 0), 68u);
    EXPECT_EQ(at(0).ask(reg::rack_chips, 1), 0u);
    sc_core::sc_start(us(600));
    const auto before = at(0).notices;
    at(1).claim_it(of_rack(0, 72));  // already known
    sc_core::sc_start(us(600));
    EXPECT_EQ(at(0).notices, before);
    at(1).claim_it(of_rack(0, 64));
    sc_core::sc_start(us(600));
    EXPECT_EQ(at(0).notices, before + 1);
    EXPECT_EQ(at(0).ask(reg::rack_chips, 0), 68u);
    wires[2]->inject("link_down", {});
    EXPECT_EQ(at(0).ask(reg::rack_chips, 0), 64u);
    at(1).claim_it(claim(identity::claim::level_rack, id(0, 0, 0), true));
    EXPECT_EQ(at(0).ask(reg::rack_chips, 0), 0u);
}

TEST_F(NeuronSwitchTest, PortDownDropsItsClaimsAndNotifiesOtherPortsOnce) {
    claim_all();
    const auto generation = at(0).ask(reg::generation);
    at(0).way_to(address(3));
    wires[3]->inject("flap", {});
    EXPECT_EQ(at(0).revocations, 1u);
    EXPECT_EQ(at(1).revocations, 0u);  // received no claim
    EXPECT_EQ(at(0).ask(reg::generation), generation + 1);
    wires[2]->inject("link_down", {});
    sc_core::sc_start(us(499));
    EXPECT_EQ(at(0).notices, 0u);
    sc_core::sc_start(us(2));
    EXPECT_EQ(at(0).notices, 1u);
    EXPECT_EQ(at(2).notices, 0u);
    EXPECT_TRUE(wires[3]->up());
    EXPECT_EQ(middle.way_to(3, 0), std::nullopt);  // up, but not yet claimed again
    at(3).claim_it(claim(identity::claim::level_chip, 3));
    EXPECT_EQ(middle.way_to(3, 0), 3u);
    sc_core::sc_start(us(600));
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(NeuronSwitchTest, PortCanFailAndBeRepaired) {
    claim_all();
    middle.inject("port_fail", {{"port", "1"}});
    EXPECT_FALSE(wires[1]->up());
    EXPECT_EQ(at(0).write<std::uint32_t>(address(1), 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(at(0).write<std::uint32_t>(address(2), 1), tlm::TLM_OK_RESPONSE);
    middle.inject("port_repair", {{"port", "1"}});
    sc_core::sc_start(us(200));
    EXPECT_TRUE(wires[1]->up());
    EXPECT_THROW(middle.inject("port_fail", {{"port", "20"}}), fault_error);
    EXPECT_THROW(middle.inject("port_fail", {}), fault_error);
    EXPECT_THROW(middle.inject("smoke", {}), fault_error);
}

TEST(NeuronSwitchParts, HaveTheSpecifiedLanesAndPorts) {
    EXPECT_EQ(neuron_switch::config{}.port_count(), 20u);
    EXPECT_EQ((neuron_switch::config{.part = switch_part::lanes320}).port_count(), 40u);
    neuron_switch rack("rack", {.planes = 18, .ports = 72, .tier = switch_tier::rack});
    EXPECT_EQ(rack.settings().lanes(), 18u * 160);
    EXPECT_EQ(rack.port.size(), 72u);
    EXPECT_FALSE(neuron_switch::check({}));
}

}  // namespace
