// SPDX-License-Identifier: Apache-2.0
#include "models/scale_up/neuron_link/neuron_link.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "models/misuse_rules.h"
#include "models/pcie/pcie_link/pcie_link.h"
#include "models/scale_up/neuron_link/fabric_address.h"
#include "models/scale_up/neuron_link/fabric_identity_regs.h"
#include "models/scale_up/neuron_link/neuron_link_regs.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/irq_probe.h"
#include "tests/support/plug_device.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using sc_core::sc_time;
namespace regs = neuron_link_regs;
namespace identity = fabric_identity_regs;
using regs::reg;

constexpr std::uint64_t host_window = std::uint64_t{1} << 46, die_1 = std::uint64_t{1} << 47;
constexpr std::uint64_t valid = std::uint64_t{1} << 31;
constexpr std::uint64_t MiB = 1 << 20;

sc_time us(double n) {
    return {n, sc_core::SC_US};
}
double ns(const sc_time& t) {
    return t.to_seconds() * 1e9;
}
/// Offset of a chip in AXI addresses, without the window's bits.
std::uint64_t to_chip(unsigned rack, unsigned server, unsigned chip) {
    return std::uint64_t{rack << 9 | server << 4 | chip} << fabric::id_shift;
}

/// The part of a chip that its neighbours access: two memories, and an initiator for the window and
/// for fabric window 0.
struct chip : sc_core::sc_module {
    explicit chip(sc_core::sc_module_name name, const neuron_link::config& cfg = {})
        : sc_module(name), link("link", cfg) {
        by_window.out.bind(link.window[0]);
        by_fabric.out.bind(link.fabric[0]);
        control.out.bind(link.control);
        for (unsigned die = 0; die < 2; ++die) {
            link.axi[die].bind(axi[die].target);
            axi[die].initiator.bind(stack[die].in);
            // Memory at every address, so that only the link block refuses accesses.
            axi[die].map({.base = die * die_1, .size = 1 * MiB, .target_base = 0, .port = 0});
            axi[die].map({die * die_1 + host_window, 1 * MiB, 0, 0});
        }
    }
    std::uint32_t get(reg r, unsigned index = 0) { return control.read(regs::offset(r, index)); }
    void set(reg r, std::uint64_t value, unsigned index = 0) {
        EXPECT_EQ(control.write(regs::offset(r, index), static_cast<std::uint32_t>(value)),
                  tlm::TLM_OK_RESPONSE);
    }
    void be(unsigned rack, unsigned server, unsigned number) {
        set(reg::own_id, valid | rack << 9 | server << 4 | number);
    }
    std::uint8_t* bytes(unsigned die = 0) { return stack[die].bytes().data(); }

    test::tlm_driver by_window{"by_window"}, by_fabric{"by_fabric"}, control{"control"};
    neuron_link link;
    router axi[2] = {router("axi0", {}), router("axi1", {})};
    memory stack[2] = {memory("stack0", {.size = 1 * MiB}), memory("stack1", {.size = 1 * MiB})};
    test::irq_probe irq{link.irq};
};

class NeuronLinkTest : public testing::Test {
protected:
    NeuronLinkTest() { misuse::set_policy_of_all(misuse::policy::count); }
    void SetUp() override { sc_core::sc_start(sc_core::SC_ZERO_TIME); }
};

/// Two chips connected by a trained bundle of five links: port 0 of one, port 3 of the other.
class Neighbours : public NeuronLinkTest {
protected:
    Neighbours() {
        one.link.port[0].join(wire.a);
        wire.b.join(other.link.port[3]);
    }
    chip one{"one"}, other{"other"};
    pcie_link wire{"wire", {.links = 5, .needs_training = false}};
};

TEST_F(Neighbours, KeepTheirRegisterContract) {
    test::register_contract(one.control, regs::table).check();
}

TEST_F(Neighbours, ReachBothDiesThroughAWindow) {
    EXPECT_EQ(one.by_window.write<std::uint32_t>(0x100, 7), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(one.by_window.write<std::uint32_t>(die_1 + 0x100, 8), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(other.bytes(0)[0x100], 7);
    EXPECT_EQ(other.bytes(1)[0x100], 8);
    EXPECT_EQ(one.by_window.read(die_1 + 0x100), 8u);
    std::uint32_t seen = 0;
    EXPECT_EQ(one.by_window.debug_read(0x100, seen), 4u);
    EXPECT_EQ(seen, 7u);
}

TEST_F(Neighbours, CannotReachEachOthersHostOrWindows) {
    one.by_window.read(host_window);
    EXPECT_EQ(one.by_window.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    one.by_window.read(std::uint64_t{1} << 48);
    EXPECT_EQ(one.by_window.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(misuse::count(misuse::not_of_the_neighbour), 2u);
    EXPECT_EQ(one.get(reg::error) & 0xff, regs::error::cause_not_of_the_chip);
}

TEST_F(Neighbours, AccessWithoutANeighbourIsAnErrorAndCounted) {
    const std::uint64_t at = 0x80'06C8'4038;
    other.by_window.read(at);  // the other chip's window 0 is routed to port 0, which has no link
    EXPECT_EQ(other.by_window.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(misuse::count(misuse::no_neighbour), 1u);
    EXPECT_EQ(other.get(reg::error) >> 16, 1u);
    EXPECT_EQ(other.get(reg::error_address_lo), at & 0xffff'ffff);
    EXPECT_EQ(other.get(reg::error_address_hi), at >> 32);
    memory_port port(other.by_window.out);
    EXPECT_EQ(port.find(tlm::TLM_READ_COMMAND, 0), nullptr);
}

TEST_F(Neighbours, ReadCrossesTwiceWriteOnce) {
    std::vector<std::uint8_t> page(4096);
    one.by_window.read_bytes(0, page);
    // out 200, cable 100, in 200 ns; 16 packets of 272 bytes in flits at 320 GB/s
    const double flits = 16 * 272 * 256 / 236.0 / 320;
    EXPECT_NEAR(ns(one.by_window.delay), 1000 + flits, 0.2);
    one.by_window.write<std::uint32_t>(0, 1);
    EXPECT_NEAR(ns(one.by_window.delay), 500, 1);
}

TEST_F(Neighbours, DirectMemoryPointersPassThroughTheLink) {
    memory_port port(one.by_window.out);
    const auto* direct = port.find(tlm::TLM_READ_COMMAND, die_1 + 0x40);
    ASSERT_NE(direct, nullptr);
    EXPECT_EQ(direct->at(die_1 + 0x40), other.bytes(1) + 0x40);
    EXPECT_EQ(direct->first, die_1);
    EXPECT_EQ(direct->last, die_1 + MiB - 1);
    EXPECT_EQ(direct->read_latency, us(1));
    EXPECT_EQ(direct->write_latency, us(0.5));
    ASSERT_EQ(direct->hops.size(), 1u);
    // Two of 320 kB each: 1.18 us of flits for the first, twice that for the second.
    const auto now = sc_core::sc_time_stamp();
    direct->reserve(tlm::TLM_READ_COMMAND, die_1, 320'000, now);
    const auto through = direct->reserve(tlm::TLM_READ_COMMAND, die_1, 320'000, now) - now;
    EXPECT_NEAR(ns(through), 2 * 1250 * 272 * 256 / 236.0 / 320, 1);
}

TEST_F(Neighbours, WindowTargetFollowsItsRegisters) {
    one.set(reg::window, 0);
    one.by_window.read(0);
    EXPECT_EQ(misuse::count(misuse::no_neighbour), 1u);
    one.be(0, 0, 0);
    other.be(0, 0, 5);
    one.set(reg::window, valid | 1u << 30 | 5);
    one.set(reg::route_chip, valid | 0, 5);
    EXPECT_EQ(one.by_window.write<std::uint32_t>(0x10, 3), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(other.bytes()[0x10], 3);
}

TEST_F(Neighbours, TableChangeRevokesDirectMemoryPointers) {
    memory_port port(one.by_window.out);
    ASSERT_NE(port.find(tlm::TLM_READ_COMMAND, 0), nullptr);
    one.set(reg::route_rack, valid | 1, 1);  // an arbitrary route
    EXPECT_EQ(one.by_window.invalidations, 1u);
    one.set(reg::route_rack, valid | 1, 1);  // no change, and no initiator holds a pointer
    EXPECT_EQ(one.by_window.invalidations, 1u);
}

TEST_F(Neighbours, EndOfARefusalRevokesIt) {
    tlm::tlm_dmi dmi;
    const auto refused = [&] { return !one.by_window.request_dmi(0, dmi); };
    const auto now = [&] { return one.by_window.invalidations; };
    one.set(reg::window, 0);
    ASSERT_TRUE(refused());
    auto before = now();
    one.set(reg::window, valid);
    EXPECT_GT(now(), before);
    wire.inject("link_down", {});
    ASSERT_TRUE(refused());
    before = now();
    wire.inject("link_up", {});
    sc_core::sc_start(sc_time(1, sc_core::SC_SEC));
    EXPECT_GT(now(), before);
    EXPECT_FALSE(refused());
    other.link.inject("mute", {});
    ASSERT_TRUE(refused());
    before = now();
    other.link.inject("talk", {});
    EXPECT_GT(now(), before);
    EXPECT_FALSE(refused());
}

TEST_F(Neighbours, LinkDownInterruptsBothChipsAndAnswersErrors) {
    one.set(reg::irq_enable, 0xff'ffff);
    memory_port port(one.by_window.out);
    ASSERT_NE(port.find(tlm::TLM_READ_COMMAND, 0), nullptr);
    EXPECT_EQ(one.get(reg::port_status) & regs::port_status::up.mask(),
              regs::port_status::up.mask());
    wire.inject("link_down", {});
    EXPECT_EQ(one.by_window.invalidations, 1u);
    EXPECT_TRUE(one.irq.level());
    EXPECT_EQ(one.get(reg::irq_status), 1u);
    EXPECT_EQ(other.get(reg::irq_status), 1u << 3);
    EXPECT_EQ(one.get(reg::port_errors) >> 24, 1u);
    EXPECT_EQ(one.by_window.write<std::uint32_t>(0, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(misuse::count(misuse::port_down), 1u);
    one.set(reg::irq_status, 1);
    EXPECT_FALSE(one.irq.level());
    wire.inject("link_up", {});
    sc_core::sc_start(us(200));
    EXPECT_TRUE(one.irq.level());
    EXPECT_EQ(one.by_window.write<std::uint32_t>(0, 1), tlm::TLM_OK_RESPONSE);
}

TEST_F(Neighbours, PowerLossClearsTheTablesAndTakesTheLinksDown) {
    one.be(0, 0, 3);
    one.set(reg::irq_enable, 0xff);
    one.set(reg::window, 0, 2);
    irq_out power("power");
    power.bind(one.link.power_lost);
    power.set(true);
    EXPECT_FALSE(wire.up());
    EXPECT_FALSE(one.irq.level());
    EXPECT_EQ(one.get(reg::own_id), 0u);
    EXPECT_EQ(one.get(reg::window, 2), valid | 2u << 16);
    EXPECT_EQ(other.by_window.write<std::uint32_t>(0, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    power.set(false);
    one.set(reg::port_control, regs::port_control::train.mask());
    sc_core::sc_start(us(200));
    EXPECT_TRUE(wire.up());
}

TEST_F(Neighbours, PowerLossClearsErrorsAndCounters) {
    one.by_window.write<std::uint32_t>(0x100, 7);
    one.by_fabric.read(to_chip(0, 0, 9));  // no route
    ASSERT_EQ(regs::error::count.get(one.get(reg::error)), 1u);
    irq_out power("power");
    power.bind(one.link.power_lost);
    power.set(true);
    power.set(false);
    EXPECT_EQ(one.get(reg::error), 0u);
    EXPECT_EQ(one.get(reg::port_sent_lo), 0u);
    EXPECT_EQ(one.get(reg::port_errors), 0u);
    EXPECT_EQ(regs::port_errors::downs.get(other.get(reg::port_errors, 3)), 1u);
    one.by_fabric.read(to_chip(0, 0, 9));
    EXPECT_EQ(regs::error::count.get(one.get(reg::error)), 1u);
}

TEST_F(Neighbours, PortRegistersShowLinkStateAndTraffic) {
    one.by_window.write<std::uint32_t>(0x100, 7);
    EXPECT_EQ(one.get(reg::ports), 8u << 8 | 1u);
    EXPECT_EQ(other.get(reg::ports), 8u << 8 | 1u << 3);
    const auto status = one.get(reg::port_status);
    EXPECT_EQ(regs::port_status::state.get(status), regs::port_status::state_l0);
    EXPECT_EQ(regs::port_status::generation.get(status), 6u);
    EXPECT_EQ(regs::port_status::lanes.get(status), 40u);
    EXPECT_EQ(regs::port_status::lanes_full.get(status), 40u);
    EXPECT_EQ(one.get(reg::port_status, 1), 0u);
    EXPECT_EQ(one.get(reg::port_sent_lo), 22u);  // 20 bytes in flits
    EXPECT_EQ(other.get(reg::port_received_lo, 3), 22u);
    one.set(reg::port_control, regs::port_control::clear_counters.mask());
    EXPECT_EQ(one.get(reg::port_sent_lo), 0u);
    EXPECT_EQ(other.get(reg::port_received_lo, 3), 22u);
}

TEST_F(Neighbours, AccessToASilentPartnerTimesOut) {
    other.link.inject("mute", {});
    one.by_window.read(0x100);
    EXPECT_EQ(one.by_window.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(one.by_window.delay, us(50));
    EXPECT_EQ(one.get(reg::error) & 0xff, regs::error::cause_timeout);
    memory_port port(one.by_window.out);
    EXPECT_EQ(port.find(tlm::TLM_READ_COMMAND, 0), nullptr);
    other.link.inject("garbage", {});
    one.by_window.read(0x100);
    EXPECT_EQ(one.by_window.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    other.link.inject("talk", {});
    one.by_window.read(0x100);
    EXPECT_EQ(one.by_window.response, tlm::TLM_OK_RESPONSE);
    EXPECT_THROW(other.link.inject("sing", {}), fault_error);
}

/// Performs configuration accesses through the registers.
struct Configuration : Neighbours {
    std::uint32_t ask(identity::reg word, unsigned index = 0) {
        return command(word, regs::config_command::go.mask(), index);
    }
    std::uint32_t command(identity::reg word, std::uint64_t bits, unsigned index = 0) {
        one.set(reg::config_address, identity::offset(word, index));
        one.set(reg::config_command, bits);
        EXPECT_NE(one.get(reg::config_command) & regs::config_command::busy.mask(), 0u);
        sc_core::sc_start(us(60));
        const auto done = one.get(reg::config_command);
        EXPECT_EQ(done & regs::config_command::busy.mask(), 0u);
        error = static_cast<unsigned>(regs::config_command::error.get(done));
        return one.get(reg::config_data);
    }
    unsigned error = ~0u;
};

TEST_F(Configuration, ReadsThePartnersIdentity) {
    other.be(1, 2, 3);
    other.set(reg::own_serial_lo, 0x1234);
    other.set(reg::own_serial_hi, 0x5678);
    other.set(reg::own_state, 42);
    EXPECT_EQ(ask(identity::reg::magic), 0x4b4c4e54u);
    EXPECT_EQ(ask(identity::reg::kind), identity::kind::what_chip);
    EXPECT_EQ(ask(identity::reg::serial_lo), 0x1234u);
    EXPECT_EQ(ask(identity::reg::serial_hi), 0x5678u);
    EXPECT_EQ(ask(identity::reg::id), valid | 1 << 9 | 2 << 4 | 3);
    EXPECT_EQ(ask(identity::reg::port), 8u << 8 | 3u);
    EXPECT_EQ(ask(identity::reg::state), 42u);
    EXPECT_EQ(error, regs::config_command::error_none);
    EXPECT_EQ(one.get(reg::irq_status) & 0x1'0000, 0x1'0000u);
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(Configuration, ReportsTheErrorCode) {
    one.set(reg::config_data, 1);
    command(identity::reg::claim,
            regs::config_command::go.mask() | regs::config_command::write.mask());
    EXPECT_EQ(error, regs::config_command::error_unsupported);  // a chip has no claims
    other.link.inject("mute", {});
    EXPECT_EQ(ask(identity::reg::magic), ~0u);
    EXPECT_EQ(error, regs::config_command::error_timeout);
    other.link.inject("garbage", {});
    EXPECT_NE(ask(identity::reg::magic), 0x4b4c4e54u);
    EXPECT_EQ(error, regs::config_command::error_none);  // not detectable
    wire.inject("link_down", {});
    EXPECT_EQ(ask(identity::reg::magic), ~0u);
    EXPECT_EQ(error, regs::config_command::error_link_down);
}

TEST_F(Configuration, StateChangeInterruptsThePartner) {
    one.set(reg::own_state, 5);
    EXPECT_EQ(other.get(reg::irq_status), 1u << (8 + 3));
    wire.inject("link_down", {});
    one.set(reg::own_state, 6);  // no partner to notify
}

TEST_F(Configuration, ChipThatAnswersAgainTellsItsPartners) {
    other.link.inject("mute", {});
    one.set(reg::own_state, 5);  // a notice that is lost
    EXPECT_EQ(other.get(reg::irq_status), 0u);
    EXPECT_EQ(ask(identity::reg::magic), ~0u);
    one.set(reg::irq_status, ~0u);
    other.link.inject("garbage", {});
    EXPECT_EQ(one.get(reg::irq_status), 0u);
    other.link.inject("talk", {});
    EXPECT_EQ(one.get(reg::irq_status), 1u << 8);
    EXPECT_EQ(other.get(reg::irq_status), 1u << (8 + 3));
    other.link.inject("talk", {});
    one.set(reg::irq_status, ~0u);
    other.link.inject("talk", {});  // it answers already
    EXPECT_EQ(one.get(reg::irq_status), 0u);
}

/// Four chips in a ring: port 0 leads to the next chip, port 1 to the previous one.
class Ring : public NeuronLinkTest {
protected:
    Ring() {
        for (unsigned i = 0; i < 4; ++i) {
            chips[i] = std::make_unique<chip>(("chip" + std::to_string(i)).c_str());
            wires[i] =
                std::make_unique<pcie_link>(("wire" + std::to_string(i)).c_str(),
                                            pcie_link::config{.links = 5, .needs_training = false});
        }
        for (unsigned i = 0; i < 4; ++i) {
            chips[i]->link.port[0].join(wires[i]->a);
            wires[i]->b.join(chips[(i + 1) % 4]->link.port[1]);
        }
    }
    void SetUp() override {
        NeuronLinkTest::SetUp();
        for (unsigned i = 0; i < 4; ++i) {
            chips[i]->be(0, 0, i);
            for (unsigned to = 0; to < 4; ++to)  // always in the direction of port 0
                if (to != i) chips[i]->set(reg::route_chip, valid | 0, to);
        }
    }
    chip& at(unsigned i) { return *chips[i]; }
    std::array<std::unique_ptr<chip>, 4> chips;
    std::array<std::unique_ptr<pcie_link>, 4> wires;
};

TEST_F(Ring, ChipsForwardAccessesForOthers) {
    EXPECT_EQ(at(0).by_fabric.write<std::uint32_t>(to_chip(0, 0, 3) + die_1 + 8, 77),
              tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(at(3).bytes(1)[8], 77);
    // Egress at 0, transit at 1 and 2, ingress at 3, and three cables.
    EXPECT_NEAR(ns(at(0).by_fabric.delay), 4 * 200 + 3 * 100, 1);
    EXPECT_EQ(at(1).get(reg::transit_lo), 4u);
    EXPECT_EQ(at(3).get(reg::transit_lo), 0u);
    EXPECT_EQ(at(0).by_fabric.read(to_chip(0, 0, 0) + 0x20), 0u);  // itself, without using a cable
    EXPECT_EQ(at(0).by_fabric.response, tlm::TLM_OK_RESPONSE);
}

TEST_F(Ring, DirectMemoryPointerCrossesAllHops) {
    memory_port port(at(0).by_fabric.out);
    const auto address = to_chip(0, 0, 3) + die_1 + 0x1000;
    const auto* direct = port.find(tlm::TLM_WRITE_COMMAND, address);
    ASSERT_NE(direct, nullptr);
    EXPECT_EQ(direct->at(address), at(3).bytes(1) + 0x1000);
    EXPECT_EQ(direct->hops.size(), 5u);  // three cables, two transit chips
    EXPECT_EQ(direct->write_latency, sc_time(1100, sc_core::SC_NS));
    direct->reserve(tlm::TLM_WRITE_COMMAND, address, 4096, sc_core::SC_ZERO_TIME);
    EXPECT_EQ(at(2).get(reg::transit_lo), 4096u);
    wires[2]->inject("link_down", {});
    EXPECT_EQ(at(0).by_fabric.invalidations, 1u);
}

TEST_F(Ring, NewIdRevokesPointersToTheChipThatHadIt) {
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(at(0).by_fabric.request_dmi(to_chip(0, 0, 1), dmi));
    const auto before = at(0).by_fabric.invalidations;
    at(0).be(0, 0, 1);  // its own accesses to 1 end here now
    EXPECT_GT(at(0).by_fabric.invalidations, before);
}

TEST_F(Ring, TransitCountEndsWithPower) {
    at(0).by_fabric.write<std::uint32_t>(to_chip(0, 0, 2), 1);
    ASSERT_EQ(at(1).get(reg::transit_lo), 4u);
    irq_out power("power");
    power.bind(at(1).link.power_lost);
    power.set(true);
    power.set(false);
    EXPECT_EQ(at(1).get(reg::transit_lo), 0u);
}

TEST_F(Ring, RoutesThatLoopEndAtTheHopLimit) {
    at(3).be(0, 0, 9);  // no chip has number 3 any more
    at(3).set(reg::route_chip, valid | 0, 3);
    at(0).by_fabric.read(to_chip(0, 0, 3));
    EXPECT_EQ(at(0).by_fabric.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(misuse::count(misuse::hop_limit), 1u);
    memory_port port(at(0).by_fabric.out);
    EXPECT_EQ(port.find(tlm::TLM_READ_COMMAND, to_chip(0, 0, 3)), nullptr);
    wires[0]->inject("link_down", {});  // revocation of pointers must terminate
}

TEST_F(Ring, MostSpecificValidRowWins) {
    at(0).by_fabric.read(to_chip(1, 0, 2));
    EXPECT_EQ(misuse::count(misuse::no_route), 1u);
    at(0).set(reg::route_rack, valid | 7, 0);
    at(0).set(reg::route_rack, valid | 0, 1);
    at(1).be(1, 0, 2);
    EXPECT_EQ(at(0).by_fabric.write<std::uint32_t>(to_chip(1, 0, 2), 1), tlm::TLM_OK_RESPONSE);
    at(0).by_fabric.read(to_chip(0, 5, 2));  // server 5 of its own rack: rack route to port 7
    EXPECT_EQ(misuse::count(misuse::port_down), 1u);
    at(0).set(reg::route_server, valid | 0, 5);
    at(1).be(0, 5, 2);
    EXPECT_EQ(at(0).by_fabric.write<std::uint32_t>(to_chip(0, 5, 2), 1), tlm::TLM_OK_RESPONSE);
    at(0).set(reg::route_chip, 0, 1);
    at(0).set(reg::route_server, valid | 0, 0);  // also for its own server, if the chip has no row
    at(1).be(0, 0, 1);
    EXPECT_EQ(at(0).by_fabric.write<std::uint32_t>(to_chip(0, 0, 1), 1), tlm::TLM_OK_RESPONSE);
}

TEST_F(Ring, AddressesWithHopCountBitsAreRefused) {
    at(0).by_fabric.read(to_chip(0, 0, 1) + (std::uint64_t{1} << 48));
    EXPECT_EQ(misuse::count(misuse::not_of_the_neighbour), 1u);
    at(0).by_fabric.read(to_chip(0, 0, 1) + host_window);
    EXPECT_EQ(misuse::count(misuse::not_of_the_neighbour), 2u);
}

/// A link that is trained through registers.
class Training : public NeuronLinkTest {
protected:
    Training() {
        one.link.port[2].join(wire.a);
        wire.b.join(other.link.port[2]);
    }
    chip one{"one"}, other{"other"};
    pcie_link wire{"wire", {}};
};

TEST_F(Training, StartsWhenBothChipsRequestIt) {
    const auto state = [&] { return regs::port_status::state.get(one.get(reg::port_status, 2)); };
    one.set(reg::port_control, regs::port_control::train.mask(), 2);
    sc_core::sc_start(us(500));
    EXPECT_EQ(state(), regs::port_status::state_detect);
    other.set(reg::port_control,
              regs::port_control::train.mask() | regs::port_control::speed_limit.set(0, 4), 2);
    sc_core::sc_start(us(30));
    EXPECT_EQ(state(), regs::port_status::state_polling);
    sc_core::sc_start(us(100));
    EXPECT_EQ(state(), regs::port_status::state_l0);
    EXPECT_EQ(regs::port_status::generation.get(one.get(reg::port_status, 2)), 4u);
    EXPECT_EQ(one.get(reg::irq_status), 1u << 2);
    one.set(reg::port_control, regs::port_control::disable.mask(), 2);
    EXPECT_EQ(state(), regs::port_status::state_disabled);
}

}  // namespace
