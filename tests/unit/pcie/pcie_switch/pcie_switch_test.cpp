// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie_switch/pcie_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "models/pcie/root_complex/root_complex.h"
#include "platform/framework/tlm/memory_port.h"
#include "tests/support/lspci.h"
#include "tests/unit/pcie/root_complex/server_fixture.h"

namespace {

using namespace trn;
using test::read_bar;
using test::write_bar;
using testing::HasSubstr;

/// A server with a switch below its first root port, with cards in ports 0 and 3; port 5 leads to
/// another switch with one more card.
struct PcieSwitchTest : testing::Test {
    PcieSwitchTest() {
        host.port[0].join(first.up);
        first.down[0].join(a.endpoint.link);
        first.down[3].join(b.endpoint.link);
        first.down[5].join(second.up);
        second.down[1].join(c.endpoint.link);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        for (std::size_t i = 0; i < host.function_count(); ++i) test::turn_on(host.function(i));
    }
    pcie::host_function& fa() { return host.function(0); }
    pcie::host_function& fb() { return host.function(1); }
    pcie::host_function& fc() { return host.function(2); }
    static std::uint32_t aer(pcie::bridge& port) {
        return port.space().get<std::uint32_t>(0x100 + PCI_ERR_UNCOR_STATUS);
    }
    static void set_acs(pcie::bridge& port, std::uint16_t bits) {
        constexpr std::uint32_t acs = 0x148;  // after AER
        ASSERT_EQ(port.space().get<std::uint16_t>(acs), PCI_EXT_CAP_ID_ACS);
        const std::uint8_t bytes[2] = {static_cast<std::uint8_t>(bits), 0};
        port.space().write(acs + PCI_ACS_CTRL, bytes);
    }

    root_complex host{"host", {.ports = 2}};
    pcie_switch first{"first", {}}, second{"second", {.size = pcie_switch_size::lanes320}};
    test::card a{"a"}, b{"b"}, c{"c"};
    irq_in reset_of_a{"reset_of_a", 1, [](unsigned, bool) {}};
    irq_in reset_of_c{"reset_of_c", 1, [](unsigned, bool) {}};
};

TEST_F(PcieSwitchTest, PresetsHaveTheLanesOfTheirNames) {
    EXPECT_EQ(pcie_switch::config{}.down_ports(), 18u);  // 20 ports of 8 lanes, two of them up
    EXPECT_EQ(second.settings().down_ports(), 38u);
    pcie_switch::config narrow{.up_lanes = 8};
    EXPECT_EQ(narrow.down_ports(), 19u);
}

TEST_F(PcieSwitchTest, DeviceIdTellsTheSize) {
    const auto id_of = [](pcie::bridge& port) {
        return port.space().get<std::uint16_t>(PCI_DEVICE_ID);
    };
    EXPECT_EQ(id_of(first.down_port(0)), 0x0160u);
    EXPECT_EQ(id_of(second.down_port(0)), 0x02c0u);
}

TEST(PcieSwitchPorts, StrappedOffPortsAreNotEnumerated) {
    root_complex host("host", {});
    pcie_switch small("small", {.ports = 2});
    host.port[0].join(small.up);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    EXPECT_EQ(small.down.size(), 2u);
    const auto vendor = [&](unsigned device) {
        return host.config_read(static_cast<pcie::function_id>(0x0200 | device << 3), 0) & 0xffff;
    };
    EXPECT_EQ(vendor(1), 0x1d0fu);
    EXPECT_EQ(vendor(2), 0xffffu);
}

TEST_F(PcieSwitchTest, FunctionsAreEnumeratedAndAccessedThroughSwitches) {
    ASSERT_EQ(host.function_count(), 3u);
    EXPECT_EQ(host.functions()[0].device, &a.endpoint);
    EXPECT_EQ(host.functions()[1].device, &b.endpoint);
    EXPECT_EQ(host.functions()[2].device, &c.endpoint);
    // Depth first: the switch is bus 1, its ports are on bus 2, the device below port 0 on bus 3.
    EXPECT_EQ(first.up_port().id(), 0x0100);
    EXPECT_EQ(first.down_port(0).id(), 0x0200);
    EXPECT_EQ(fa().id(), 0x0300);
    EXPECT_EQ(fb().id(), 0x0600);
    for (auto* f : {&fa(), &fb(), &fc()}) {
        write_bar<std::uint32_t>(*f, 4, 0x40, f->id());
        EXPECT_EQ(read_bar<std::uint32_t>(*f, 4, 0x40), f->id());
    }
    EXPECT_EQ(a.hbm.bytes().data()[0x41], 0x03);
    EXPECT_EQ(c.hbm.bytes().data()[0x41], fc().id() >> 8);
    // Port 36 of the larger switch does not fit the 32 devices of a bus: function 1 of device 4.
    const auto inner = static_cast<pcie::function_id>(second.up_port().secondary() << 8);
    EXPECT_EQ(second.down_port(36).id(), inner | 4 << 3 | 1);
}

TEST_F(PcieSwitchTest, CardsReachHostMemoryAndEachOther) {
    std::vector<std::uint8_t> page(4096, 0x5a);
    ASSERT_TRUE(fc().map_host({0x1000, 4096, page.data(), true, true}));
    EXPECT_EQ(c.engine.read(0x1000), 0x5a5a5a5au);
    EXPECT_EQ(second.counters().up, 1u);
    EXPECT_EQ(first.counters().up, 1u);

    EXPECT_EQ(a.engine.write<std::uint32_t>(fb().bar(4).bus_address, 7), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(read_bar<std::uint32_t>(fb(), 4, 0), 7u);
    EXPECT_EQ(first.counters().peer, 1u);
    EXPECT_EQ(host.counters().peer_requests, 0u);  // the request stays inside the switch
    EXPECT_EQ(a.engine.write<std::uint32_t>(fc().bar(4).bus_address, 8), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(read_bar<std::uint32_t>(fc(), 4, 0), 8u);
    EXPECT_EQ(c.engine.read(fa().bar(4).bus_address), 0u);  // up from the inner switch, then down
    EXPECT_EQ(c.engine.response, tlm::TLM_OK_RESPONSE);
}

TEST_F(PcieSwitchTest, AccessControlRedirectsPeersToTheRootComplex) {
    set_acs(host.root_port(0), PCI_ACS_UF);
    set_acs(first.down_port(0), PCI_ACS_RR | PCI_ACS_SV);
    EXPECT_EQ(a.engine.write<std::uint32_t>(fb().bar(4).bus_address, 7), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(read_bar<std::uint32_t>(fb(), 4, 0), 7u);
    EXPECT_EQ(first.counters().peer, 0u);
    EXPECT_EQ(host.counters().peer_requests, 1u);
    tlm::tlm_dmi dmi;
    EXPECT_TRUE(a.engine.request_dmi(fb().bar(4).bus_address, dmi));
    EXPECT_EQ(dmi.get_write_latency(), first.settings().latency * 2 + host.settings().peer_latency);
}

TEST_F(PcieSwitchTest, MemoryOfAGuestIsNotTakenForABar) {
    std::vector<std::uint8_t> page(4096, 0x5a);
    for (std::uint64_t at = 0x7000'0000; at < 0xb000'0000; at += 0x8'0000) {
        ASSERT_TRUE(fa().map_host({at, page.size(), page.data(), true, true}));
        EXPECT_EQ(a.engine.read(at), 0x5a5a5a5au) << std::hex << at;
    }
}

/// The switch does not know the address: it forwards the request up, and gets it back translated.
TEST_F(PcieSwitchTest, BarsAreReachedWhereTheirHostHasPlacedThem) {
    constexpr std::uint64_t placed = 0x3800'0000'0000;
    std::array<std::uint8_t, 8> bytes;
    std::memcpy(bytes.data(), &placed, bytes.size());
    for (auto* each : {&fa(), &fb()}) each->join(7);
    fb().config_write(PCI_BASE_ADDRESS_4, bytes);
    EXPECT_EQ(a.engine.write<std::uint32_t>(placed + 0x10, 0xbeef), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(read_bar<std::uint32_t>(fb(), 4, 0x10), 0xbeefu);
    EXPECT_EQ(first.counters().up, 1u);
    EXPECT_EQ(host.counters().peer_requests, 1u);
    EXPECT_EQ(c.engine.write<std::uint32_t>(placed, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(PcieSwitchTest, RedirectedRequestsReturnOnlyWithUpstreamForwarding) {
    set_acs(first.down_port(0), PCI_ACS_RR);
    const auto target = fb().bar(4).bus_address;
    EXPECT_EQ(a.engine.write<std::uint32_t>(target, 7), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(host.counters().peer_requests, 0u);
    set_acs(host.root_port(0), PCI_ACS_UF);
    EXPECT_EQ(a.engine.write<std::uint32_t>(target, 7), tlm::TLM_OK_RESPONSE);
}

TEST_F(PcieSwitchTest, UpstreamForwardingPassesRequestsRedirectedByAnInnerSwitch) {
    set_acs(host.root_port(0), PCI_ACS_UF);
    set_acs(second.down_port(1), PCI_ACS_RR);
    // Its own BAR: below port 5 of the outer switch, so the request is never routed up through it.
    const auto target = fc().bar(4).bus_address;
    EXPECT_EQ(c.engine.write<std::uint32_t>(target, 7), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_TRUE(aer(second.down_port(1)) & PCI_ERR_UNC_UNSUP);
    set_acs(second.down_port(1), PCI_ACS_RR | PCI_ACS_UF);
    EXPECT_EQ(c.engine.write<std::uint32_t>(target, 7), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_TRUE(aer(first.down_port(5)) & PCI_ERR_UNC_UNSUP);
    set_acs(first.down_port(5), PCI_ACS_UF);
    EXPECT_EQ(c.engine.write<std::uint32_t>(target, 7), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(read_bar<std::uint32_t>(fc(), 4, 0), 7u);
    EXPECT_EQ(host.counters().peer_requests, 1u);
}

TEST_F(PcieSwitchTest, RedirectedPeerCompletionsPassTheRootComplex) {
    constexpr unsigned bytes = 4096;
    const auto target = fb().bar(4).bus_address;
    const auto read = [&](bool relaxed = false) {
        static std::uint8_t data[bytes];
        tlm::tlm_generic_payload request;
        pcie::framed framed(request, fa().id());
        framed.header.relaxed_ordering = relaxed;
        request.set_read();
        request.set_address(target);
        request.set_data_ptr(data);
        request.set_data_length(bytes);
        request.set_streaming_width(bytes);
        sc_core::sc_start(1, sc_core::SC_MS);  // earlier traffic has ended
        sc_core::sc_time delay;
        a.endpoint.link.send(request, delay);
        EXPECT_EQ(request.get_response_status(), tlm::TLM_OK_RESPONSE);
        return delay;
    };
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(a.engine.request_dmi(target, dmi));
    const auto pointers = a.engine.invalidations;
    const auto straight = read();
    set_acs(first.down_port(0), PCI_ACS_CR);  // requester's port: no completion enters here
    EXPECT_EQ(read(), straight);
    EXPECT_EQ(first.counters().redirected, 0u);
    set_acs(first.down_port(3), PCI_ACS_CR);  // the completer's port
    EXPECT_GT(a.engine.invalidations, pointers);
    const auto redirected = read();
    // Up and down once more, each x16 at 7.045 GB/s per lane, and through the root complex.
    const double lanes = bytes / (16 * 7.045e9);
    EXPECT_NEAR((redirected - straight).to_seconds(),
                (first.settings().latency + host.settings().peer_latency).to_seconds() + 2 * lanes,
                1e-9);
    EXPECT_EQ(first.counters().redirected, 1u);
    // 6.12.1.1: with relaxed ordering the completion is not redirected.
    EXPECT_EQ(read(/*relaxed=*/true), straight);
    EXPECT_EQ(first.counters().redirected, 1u);
    // Requests are still routed directly, and writes have no completion.
    EXPECT_EQ(host.counters().peer_requests, 0u);
    EXPECT_EQ(a.engine.write<std::uint32_t>(target, 7), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(first.counters().redirected, 1u);
    // Also through an inner switch; the completion of a redirected request follows it.
    EXPECT_EQ(c.engine.read(target), 7u);
    EXPECT_EQ(first.counters().redirected, 2u);
    set_acs(host.root_port(0), PCI_ACS_UF);
    set_acs(first.down_port(0), PCI_ACS_RR);
    EXPECT_EQ(a.engine.read(target), 7u);
    EXPECT_EQ(first.counters().redirected, 2u);
}

TEST_F(PcieSwitchTest, CardErrorsReachTheRootPortThroughTheSwitch) {
    const std::uint8_t wanted[2] = {PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_URRE, 0x28};
    fb().config_write(0x40 + PCI_EXP_DEVCTL, wanted);
    const std::uint8_t off[2] = {0, 0};
    fb().config_write(PCI_COMMAND, off);
    write_bar<std::uint32_t>(fb(), 4, 0, 1);
    const auto& space = host.root_port(0).space();
    EXPECT_EQ(space.get<std::uint32_t>(0x100 + PCI_ERR_ROOT_STATUS),
              PCI_ERR_ROOT_UNCOR_RCV | PCI_ERR_ROOT_NONFATAL_RCV);
    EXPECT_EQ(space.get<std::uint16_t>(0x100 + PCI_ERR_ROOT_ERR_SRC + 2), fb().id());
    EXPECT_EQ(host.counters().error_messages, 1u);
}

TEST_F(PcieSwitchTest, PortsForwardErrorMessagesOnlyWhenEnabled) {
    const std::uint8_t control[2] = {
        PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_URRE, 0x28};
    fc().config_write(0x40 + PCI_EXP_DEVCTL, control);
    const std::uint8_t unmasked[4] = {};
    fc().config_write(0x100 + PCI_ERR_COR_MASK, unmasked);
    const std::uint8_t off[2] = {0, 0};
    fc().config_write(PCI_COMMAND, off);
    const auto received = [&] {
        auto& root = host.root_port(0).space();
        const auto status = root.get<std::uint32_t>(0x100 + PCI_ERR_ROOT_STATUS);
        root.set<std::uint32_t>(0x100 + PCI_ERR_ROOT_STATUS, 0);
        return status;
    };
    const auto nonfatal = [&] {
        write_bar<std::uint32_t>(fc(), 4, 0, 1);
        return (received() & PCI_ERR_ROOT_NONFATAL_RCV) != 0;
    };
    // Advisory: the requester learns of the error from the completion.
    const auto correctable = [&] {
        read_bar<std::uint32_t>(fc(), 4, 0);
        return (received() & PCI_ERR_ROOT_COR_RCV) != 0;
    };
    ASSERT_TRUE(nonfatal());
    ASSERT_TRUE(correctable());
    for (auto* port : {&second.down_port(1), &second.up_port(), &first.down_port(5),
                       &first.up_port(), &host.root_port(0)}) {
        auto& space = port->space();
        const auto bridge = space.get<std::uint16_t>(PCI_BRIDGE_CONTROL);
        const auto command = space.get<std::uint16_t>(PCI_COMMAND);
        space.set<std::uint16_t>(PCI_SEC_STATUS, 0);
        space.set<std::uint16_t>(PCI_STATUS, PCI_STATUS_CAP_LIST);
        space.set<std::uint16_t>(PCI_BRIDGE_CONTROL, 0);
        EXPECT_FALSE(nonfatal());
        EXPECT_FALSE(correctable());
        constexpr auto received_error = PCI_STATUS_SIG_SYSTEM_ERROR;  // the same bit (7.5.1.3.7)
        EXPECT_TRUE(space.get<std::uint16_t>(PCI_SEC_STATUS) & received_error);
        EXPECT_FALSE(space.get<std::uint16_t>(PCI_STATUS) & PCI_STATUS_SIG_SYSTEM_ERROR);
        space.set(PCI_BRIDGE_CONTROL, bridge);
        space.set<std::uint16_t>(PCI_COMMAND,
                                 static_cast<std::uint16_t>(command & ~PCI_COMMAND_SERR));
        EXPECT_FALSE(nonfatal());
        EXPECT_TRUE(correctable());
        space.set(PCI_COMMAND, command);
        EXPECT_TRUE(nonfatal());
        EXPECT_TRUE(space.get<std::uint16_t>(PCI_STATUS) & PCI_STATUS_SIG_SYSTEM_ERROR);
    }
}

TEST_F(PcieSwitchTest, AdvertisesImplementedAccessControlOnly) {
    for (auto* port : {&host.root_port(0), &first.down_port(0)}) {
        set_acs(*port, 0xff);
        EXPECT_EQ(port->space().get<std::uint16_t>(0x148 + PCI_ACS_CAP),
                  PCI_ACS_SV | PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_UF);
        EXPECT_EQ(port->space().get<std::uint16_t>(0x148 + PCI_ACS_CTRL),
                  PCI_ACS_SV | PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_UF);
    }
}

TEST_F(PcieSwitchTest, SourceValidationBlocksAFalseRequesterId) {
    set_acs(first.down_port(3), PCI_ACS_SV);
    // A function captures its id from configuration writes.
    tlm::tlm_generic_payload renumber;
    pcie::framed framed(renumber, 0);
    framed.header.destination = pcie::tlp::space::config;
    framed.header.target = fa().id();
    std::uint8_t line = 0;
    renumber.set_write();
    renumber.set_address(PCI_INTERRUPT_LINE);
    renumber.set_data_ptr(&line);
    renumber.set_data_length(1);
    renumber.set_streaming_width(1);
    sc_core::sc_time untimed;
    first.down[3].send(renumber, untimed);
    EXPECT_EQ(b.engine.write<std::uint32_t>(fa().bar(4).bus_address, 7),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_TRUE(aer(first.down_port(3)) & PCI_ERR_UNC_ACSV);
    EXPECT_EQ(first.counters().refused, 1u);
}

/// Errors of requests that a port refuses: a read is advisory, and the log has its header.
TEST_F(PcieSwitchTest, PortLogsTheRequestThatItRefuses) {
    auto& port = first.down_port(3);
    set_acs(port, PCI_ACS_SV);
    const auto refused = [&](tlm::tlm_command command) {
        std::uint32_t word = 0;
        tlm::tlm_generic_payload request;
        const pcie::framed framed(request, 0x7700);  // not below this port
        request.set_command(command);
        request.set_address(0x1000);
        request.set_data_ptr(reinterpret_cast<std::uint8_t*>(&word));
        request.set_data_length(4);
        request.set_streaming_width(4);
        sc_core::sc_time untimed;
        b.endpoint.link.send(request, untimed);
        EXPECT_FALSE(request.is_response_ok());
    };
    const auto logged = [&](std::uint32_t at) {
        return port.space().get<std::uint32_t>(0x100 + at);
    };
    refused(tlm::TLM_READ_COMMAND);
    EXPECT_EQ(logged(PCI_ERR_UNCOR_STATUS), 0u);
    EXPECT_TRUE(logged(PCI_ERR_COR_STATUS) & PCI_ERR_COR_ADV_NFAT);
    refused(tlm::TLM_WRITE_COMMAND);
    EXPECT_EQ(logged(PCI_ERR_UNCOR_STATUS), std::uint32_t{PCI_ERR_UNC_ACSV});
    EXPECT_EQ(1u << PCI_ERR_CAP_FEP(logged(PCI_ERR_CAP)), std::uint32_t{PCI_ERR_UNC_ACSV});
    EXPECT_EQ(logged(PCI_ERR_HEADER_LOG), 0x4000'0001u);
    EXPECT_EQ(logged(PCI_ERR_HEADER_LOG + 4), 0x7700'000fu);
    EXPECT_EQ(logged(PCI_ERR_HEADER_LOG + 8), 0x1000u);
}

TEST_F(PcieSwitchTest, InterruptsPassUpstreamToTheWaitingProgram) {
    unsigned observed = 0;
    fc().on_interrupt(2, [&] { ++observed; });
    c.endpoint.interrupt(2);
    EXPECT_EQ(observed, 0u) << "on its way";
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
    EXPECT_EQ(observed, 1u);
}

TEST_F(PcieSwitchTest, PulledCardAffectsNoOtherAndItsReplacementWorks) {
    write_bar<std::uint32_t>(fb(), 4, 0, 0x77);
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(a.engine.request_dmi(fb().bar(4).bus_address, dmi));
    const auto before = a.engine.invalidations;

    first.inject("card_removed", {{"port", "3"}});
    EXPECT_GT(a.engine.invalidations, before);
    EXPECT_EQ(read_bar<std::uint32_t>(fb(), 4, 0), ~0u);
    EXPECT_EQ(a.engine.write<std::uint32_t>(fb().bar(4).bus_address, 1),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    b.engine.read(fa().bar(4).bus_address);
    EXPECT_EQ(b.engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_TRUE(aer(first.down_port(3)) & PCI_ERR_UNC_SURPDN);
    EXPECT_EQ(host.counters().hot_plug_events, 1u);
    // The root port has recorded the first source of errors: the switch's port.
    EXPECT_EQ(host.root_port(0).space().get<std::uint32_t>(0x100 + PCI_ERR_ROOT_ERR_SRC) >> 16,
              first.down_port(3).id());
    write_bar<std::uint32_t>(fa(), 4, 0, 5);
    EXPECT_EQ(read_bar<std::uint32_t>(fa(), 4, 0), 5u);

    first.inject("card_inserted", {{"port", "3"}});
    EXPECT_EQ(read_bar<std::uint32_t>(fb(), 4, 0), ~0u);  // memory space is off after the reset
    test::turn_on(fb());
    EXPECT_EQ(read_bar<std::uint32_t>(fb(), 4, 0), 0x77u);
    EXPECT_THROW(first.inject("card_removed", {{"port", "18"}}), fault_error);
}

TEST_F(PcieSwitchTest, PulledSwitchRemovesItsCardsAndTheyReturnFromReset) {
    a.endpoint.function_reset.bind(reset_of_a);
    c.endpoint.function_reset.bind(reset_of_c);
    first.inject("card_removed", {{"port", "5"}});  // the inner switch, with c
    EXPECT_TRUE(reset_of_c.level());
    EXPECT_FALSE(reset_of_a.level());
    c.engine.read(fa().bar(4).bus_address);
    EXPECT_EQ(c.engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    first.inject("card_inserted", {{"port", "5"}});
    EXPECT_FALSE(reset_of_c.level());
    test::turn_on(fc());
    write_bar<std::uint32_t>(fc(), 4, 0, 9);
    EXPECT_EQ(read_bar<std::uint32_t>(fc(), 4, 0), 9u);
}

TEST_F(PcieSwitchTest, CardOfAPulledSwitchReturnsWhenItHasBothSuppliesInAnyOrder) {
    irq_out supply{"supply"};
    supply.bind(c.endpoint.power_lost);
    for (const auto& [at, port] : {std::pair<accepts_faults*, const char*>{&host, "0"},
                                   std::pair<accepts_faults*, const char*>{&first, "5"}})
        for (const bool power_first : {false, true})
            for (const bool slot_lost_first : {true, false}) {
                SCOPED_TRACE(testing::Message() << port << power_first << slot_lost_first);
                if (!slot_lost_first) supply.set(true);
                at->inject("card_removed", {{"port", port}});
                supply.set(true);
                if (power_first) supply.set(false);
                at->inject("card_inserted", {{"port", port}});
                supply.set(false);
                test::turn_on(fc());
                write_bar<std::uint32_t>(fc(), 4, 0, 9);
                EXPECT_EQ(read_bar<std::uint32_t>(fc(), 4, 0), 9u);
            }
}

/// Losses on the path to a card behind two switches, in random order, then all repairs.
TEST_F(PcieSwitchTest, CardWorksAfterAnyLossesAndRepairsOnItsPath) {
    irq_out supply{"supply"};
    supply.bind(c.endpoint.power_lost);
    const std::vector<std::pair<accepts_faults*, const char*>> ports{
        {&host, "0"}, {&first, "5"}, {&second, "1"}};
    const auto inject = [&](std::size_t port, const char* name) {
        ports[port].first->inject(name, {{"port", ports[port].second}});
    };
    std::minstd_rand random(1);
    for (unsigned round = 0; round < 500; ++round) {
        SCOPED_TRACE(round);
        for (unsigned n = 0; n < 8; ++n) {
            constexpr const char* names[] = {"card_removed", "card_inserted", "surprise_down",
                                             "link_up"};
            if (random() % 4 == 0)
                supply.set(random() % 2 == 0);
            else
                inject(random() % ports.size(), names[random() % std::size(names)]);
        }
        std::vector<std::function<void()>> repairs{[&] { supply.set(false); }};
        for (std::size_t port = 0; port < ports.size(); ++port)
            for (const char* name : {"card_inserted", "link_up"})
                repairs.emplace_back([&, port, name] { inject(port, name); });
        std::ranges::shuffle(repairs, random);
        for (const auto& repair : repairs) repair();
        test::turn_on(fc());
        write_bar<std::uint32_t>(fc(), 4, 0, round + 1);
        ASSERT_EQ(read_bar<std::uint32_t>(fc(), 4, 0), round + 1);
    }
}

TEST_F(PcieSwitchTest, PulledSwitchForgetsTheErrorsOfItsPorts) {
    first.inject("surprise_down", {{"port", "3"}});
    first.inject("link_up", {{"port", "3"}});
    ASSERT_TRUE(aer(first.down_port(3)) & PCI_ERR_UNC_SURPDN);
    host.inject("surprise_down", {{"port", "0"}});  // a reset, not a loss of power
    host.inject("link_up", {{"port", "0"}});
    EXPECT_TRUE(aer(first.down_port(3)) & PCI_ERR_UNC_SURPDN);
    host.inject("card_removed", {{"port", "0"}});
    host.inject("card_inserted", {{"port", "0"}});
    for (const unsigned port : {0, 3, 5}) EXPECT_EQ(aer(first.down_port(port)), 0u) << port;
    EXPECT_EQ(aer(second.down_port(1)), 0u);
}

TEST_F(PcieSwitchTest, CardInsertedInAPulledSwitchHasNoPower) {
    c.endpoint.function_reset.bind(reset_of_c);
    host.inject("card_removed", {{"port", "0"}});
    second.inject("card_removed", {{"port", "1"}});
    second.inject("card_inserted", {{"port", "1"}});
    EXPECT_TRUE(reset_of_c.level());
    host.inject("card_inserted", {{"port", "0"}});
    EXPECT_FALSE(reset_of_c.level());
    test::turn_on(fc());
    write_bar<std::uint32_t>(fc(), 4, 0, 9);
    EXPECT_EQ(read_bar<std::uint32_t>(fc(), 4, 0), 9u);
}

TEST_F(PcieSwitchTest, ReturnedSwitchIsEnumeratedAgain) {
    host.inject("surprise_down", {{"port", "0"}});
    EXPECT_EQ(read_bar<std::uint32_t>(fc(), 4, 0), ~0u);
    host.inject("link_up", {{"port", "0"}});
    test::turn_on(fc());
    write_bar<std::uint32_t>(fc(), 4, 0, 9);
    EXPECT_EQ(read_bar<std::uint32_t>(fc(), 4, 0), 9u);
}

TEST_F(PcieSwitchTest, UpstreamPortIsSharedAndTheCrossbarIsNonBlocking) {
    std::vector<std::uint8_t> page(4096);
    for (auto* f : {&fa(), &fb()})
        ASSERT_TRUE(f->map_host({0x1000, 4096, page.data(), true, true}));
    memory_port from_a(a.engine.out), from_b(b.engine.out), from_c(c.engine.out);
    const auto seconds = [](memory_port& port, std::uint64_t at, std::uint64_t bytes) {
        const auto now = sc_core::sc_time_stamp();
        const auto* window = port.find(tlm::TLM_WRITE_COMMAND, at);
        EXPECT_NE(window, nullptr);
        return (window->reserve(tlm::TLM_WRITE_COMMAND, at, bytes, now) - now).to_seconds();
    };
    // x8 cards on a x16 way up: 56.36 GB/s each at the same time.
    EXPECT_NEAR(seconds(from_a, 0x1000, 56'360'000), 0.001, 0.00001);
    EXPECT_NEAR(seconds(from_b, 0x1000, 56'360'000), 0.001, 0.00001);
    // A third one waits for the upstream port, a peer below it does not.
    EXPECT_NEAR(seconds(from_c, fa().bar(4).bus_address, 56'360'000), 0.001, 0.00001);
}

TEST_F(PcieSwitchTest, LspciDecodesEveryPort) {
    for (auto* port : {&first.up_port(), &first.down_port(3), &host.root_port(0)}) {
        std::vector<std::uint8_t> space(4096);
        port->space().read(0, space);
        const std::string text = test::lspci(space);
        SCOPED_TRACE(text);
        EXPECT_THAT(text, HasSubstr("PCI bridge [0604]"));
        EXPECT_THAT(text, HasSubstr(port == &first.up_port()      ? "Express (v2) Upstream Port"
                                    : port == &first.down_port(3) ? "Downstream Port (Slot+)"
                                                                  : "Root Port (Slot+)"));
        EXPECT_THAT(text, HasSubstr("Speed 64GT/s"));
        EXPECT_THAT(text, HasSubstr("Prefetchable memory behind bridge: 00001000"));
        EXPECT_THAT(text, HasSubstr("[100 v2] Advanced Error Reporting"));
        if (port != &first.up_port()) {
            EXPECT_THAT(text, HasSubstr("Surprise+"));
            EXPECT_THAT(text, HasSubstr("PresDet+"));
            EXPECT_THAT(text, HasSubstr("Access Control Services"));
            EXPECT_THAT(text, HasSubstr("MSI: Enable+"));
        }
        for (const char* complaint : {"<?>", "!!!", "unknown", "chain looped", "broken"})
            EXPECT_THAT(text, testing::Not(HasSubstr(complaint)));
    }
}

}  // namespace
