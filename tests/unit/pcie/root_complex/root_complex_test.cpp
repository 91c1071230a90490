// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/root_complex/root_complex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <array>
#include <vector>

#include "models/misuse_rules.h"
#include "models/pcie/pcie/config_request.h"
#include "models/pcie/pcie_link/pcie_link.h"
#include "platform/app/in_process/in_process.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/netlist/kinds/model_refusal.h"
#include "platform/framework/tlm/memory_port.h"
#include "tests/unit/pcie/root_complex/server_fixture.h"

namespace {

using namespace trn;
using test::read_bar;
using test::write_bar;

constexpr std::uint32_t express = 0x40;  // capability of a root port

/// Three root ports: cards in the first two, none in the third.
struct RootComplexTest : testing::Test {
    RootComplexTest() {
        for (auto* c : {&a, &b}) {
            const unsigned port = c == &a ? 0 : 1;
            host.port[port].join(c->endpoint.link);
        }
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    pcie::host_function& fa() { return host.function(0); }
    pcie::host_function& fb() { return host.function(1); }
    std::uint16_t slot_status(unsigned port) {
        return host.root_port(port).space().get<std::uint16_t>(express + PCI_EXP_SLTSTA);
    }
    bool link_active(unsigned port) {
        return (host.root_port(port).space().get<std::uint16_t>(express + PCI_EXP_LNKSTA) &
                PCI_EXP_LNKSTA_DLLLA) != 0;
    }
    std::uint32_t aer(pcie::config_space& space) {
        return space.get<std::uint32_t>(0x100 + PCI_ERR_UNCOR_STATUS);
    }

    root_complex host{"host", {.ports = 3}};
    test::card a{"a"}, b{"b"};
};

TEST_F(RootComplexTest, EveryFunctionGetsItsOwnBusAndAddresses) {
    ASSERT_EQ(host.function_count(), 2u);
    EXPECT_EQ(fa().id(), 0x0100);
    EXPECT_EQ(fb().id(), 0x0200);
    EXPECT_EQ(host.functions()[1].device, &b.endpoint);
    EXPECT_EQ(host.functions()[1].class_code, 0x120000u);
    const auto base = host.settings().window_base;
    // The larger BAR first, each aligned to its size, and each port's window a multiple of 1 MiB.
    EXPECT_EQ(fa().bar(4).bus_address, base);
    EXPECT_EQ(fa().bar(0).bus_address, base + test::card::hbm_size);
    EXPECT_EQ(fa().bar(2).bus_address, 0xc000'0000u);
    EXPECT_EQ(fb().bar(4).bus_address, base + 2 * test::card::hbm_size);
    EXPECT_EQ(fb().bar(2).bus_address, 0xc010'0000u);
    EXPECT_EQ(host.config_read(0x0000, PCI_PRIMARY_BUS), 0x0001'0100u);
    EXPECT_EQ(host.config_read(0x0008, PCI_PRIMARY_BUS), 0x0002'0200u);
    EXPECT_EQ(host.config_read(0x0010, PCI_PRIMARY_BUS), 0x0003'0300u);
    EXPECT_EQ(host.config_read(0x0300, 0), ~0u);  // the third slot is empty
    EXPECT_EQ(host.config_read(0x0108, 0), ~0u);  // a link has one device
    EXPECT_EQ(host.config_read(0x0018, 0), ~0u);  // there are three ports
}

TEST_F(RootComplexTest, FunctionSeesTheMemoryMappedByItsProgram) {
    std::vector<std::uint8_t> mine(4096, 0xaa), others(4096, 0xbb);
    ASSERT_TRUE(fa().map_host({0x1000, 4096, mine.data(), true, true}));
    ASSERT_TRUE(fb().map_host({0x1000, 4096, others.data(), true, true}));
    test::turn_on(fa());
    test::turn_on(fb());
    EXPECT_EQ(a.engine.read<std::uint8_t>(0x1000), 0xaa);
    EXPECT_EQ(b.engine.read<std::uint8_t>(0x1000), 0xbb);
    fa().unmap_host(0x1000, 4096, [](const auto&) {});
    a.engine.read<std::uint8_t>(0x1000);
    EXPECT_EQ(a.engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(b.engine.read<std::uint8_t>(0x1000), 0xbb);
}

/// A read through a pointer takes as long as one without.
TEST_F(RootComplexTest, PointersToHostMemoryHaveItsLatency) {
    std::vector<std::uint8_t> page(4096);
    ASSERT_TRUE(fa().map_host({0x1000, 4096, page.data(), true, true}));
    test::turn_on(fa());
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(a.engine.request_dmi(0x1000, dmi));
    EXPECT_EQ(dmi.get_read_latency() - dmi.get_write_latency() * 2, host.settings().memory_latency);
}

TEST_F(RootComplexTest, MemoryThatIsMappedInvalidatesRefusalsOfPointers) {
    test::turn_on(fa());
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(a.engine.request_dmi(0x1000, dmi));
    std::vector<std::uint8_t> page(4096);
    a.engine.invalidated_first = a.engine.invalidated_last = 0;
    ASSERT_TRUE(fa().map_host({0x1000, 4096, page.data(), true, true}));
    EXPECT_LE(a.engine.invalidated_first, 0x1000u);
    EXPECT_GE(a.engine.invalidated_last, 0x1fffu);
    EXPECT_TRUE(a.engine.request_dmi(0x1000, dmi));
}

TEST_F(RootComplexTest, HostsInOneProcessShareTheServersMemory) {
    host_cpu first(fa(), {}), second(fb(), {});
    const auto ta = first.transport(), tb = second.transport();
    trn_dma_memory one{}, two{};
    ASSERT_EQ(ta.dma_alloc(ta.context, 4096, &one), 0);
    ASSERT_EQ(tb.dma_alloc(tb.context, 4096, &two), 0);
    EXPECT_NE(one.iova, two.iova);
    test::turn_on(fb());
    b.engine.write<std::uint32_t>(one.iova, 0x1234);  // the other function's buffer
    std::uint32_t seen = 0;
    std::memcpy(&seen, one.host, sizeof seen);
    EXPECT_EQ(seen, 0x1234u);
}

TEST_F(RootComplexTest, FunctionReachesPeerMemoryByBusAddress) {
    test::turn_on(fa());
    test::turn_on(fb());
    const auto target = fb().bar(4).bus_address;
    EXPECT_EQ(a.engine.write<std::uint32_t>(target + 0x100, 0xcafe), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(read_bar<std::uint32_t>(fb(), 4, 0x100), 0xcafeu);
    EXPECT_EQ(a.engine.read(target + 0x100), 0xcafeu);
    EXPECT_EQ(host.counters().peer_requests, 2u);
    EXPECT_GE(a.engine.delay, host.settings().peer_latency * 2);

    tlm::tlm_dmi dmi;
    ASSERT_TRUE(a.engine.request_dmi(target, dmi));
    EXPECT_EQ(dmi.get_dmi_ptr(), b.hbm.bytes().data());
    EXPECT_EQ(dmi.get_start_address(), target);
    const auto before = a.engine.invalidations;
    const std::uint8_t off[2] = {};
    fb().config_write(PCI_COMMAND, off);
    EXPECT_GT(a.engine.invalidations, before);
    EXPECT_EQ(a.engine.write<std::uint32_t>(target, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

/// The host of both functions has placed BAR4 of `b` at another address.
struct PlacedBarTest : RootComplexTest {
    static constexpr std::uint64_t placed = 0x3800'0000'0000;

    PlacedBarTest() {
        test::turn_on(fa());
        test::turn_on(fb());
        fa().join(7);
        fb().join(7);
        place(fb(), placed);
    }
    static void place(function_port& f, std::uint64_t address) {
        std::array<std::uint8_t, 8> bytes;
        std::memcpy(bytes.data(), &address, bytes.size());
        f.config_write(PCI_BASE_ADDRESS_4, bytes);
    }
    bool a_writes(std::uint64_t address) {
        return a.engine.write<std::uint32_t>(address, 0xcafe) == tlm::TLM_OK_RESPONSE;
    }
};

TEST_F(PlacedBarTest, FunctionReachesItWhereTheHostHasPlacedIt) {
    EXPECT_TRUE(a_writes(placed + 0x100));
    EXPECT_EQ(read_bar<std::uint32_t>(fb(), 4, 0x100), 0xcafeu);
    EXPECT_EQ(a.engine.read(placed + 0x100), 0xcafeu);
    EXPECT_EQ(host.counters().peer_requests, 2u);
    EXPECT_EQ(a.engine.delay, [&] {
        a.engine.read(fb().bar(4).bus_address + 0x100);
        return a.engine.delay;
    }());
    EXPECT_TRUE(a_writes(placed + test::card::hbm_size - 4));
    EXPECT_FALSE(a_writes(placed + test::card::hbm_size - 2));
    EXPECT_FALSE(a_writes(placed - 4));
}

TEST_F(PlacedBarTest, MovesWithTheRegisterAndEndsWithTheHost) {
    place(fb(), 2 * placed);
    EXPECT_FALSE(a_writes(placed));
    EXPECT_TRUE(a_writes(2 * placed));
    fb().detach();
    EXPECT_FALSE(a_writes(2 * placed));
}

TEST_F(PlacedBarTest, IsNotForFunctionsOfAnotherHost) {
    fa().join(8);
    EXPECT_FALSE(a_writes(placed));
    fa().join(0);
    EXPECT_FALSE(a_writes(placed));
}

TEST_F(PlacedBarTest, MemoryThatTheHostSharesHasPrecedence) {
    std::vector<std::uint8_t> page(4096, 0x5a);
    ASSERT_TRUE(fa().map_host({placed, page.size(), page.data(), true, true}));
    EXPECT_EQ(a.engine.read(placed), 0x5a5a5a5au);
    EXPECT_EQ(host.counters().peer_requests, 0u);
}

/// QEMU maps BARs of all its functions, without a descriptor.
TEST_F(PlacedBarTest, NeedsNoMessagesWhereTheHostSharesTheBarByMessages) {
    ASSERT_TRUE(fa().map_host({placed, test::card::hbm_size, nullptr, true, true}));
    EXPECT_TRUE(a_writes(placed));
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(a.engine.request_dmi(placed, dmi));
    const std::uint8_t redirect[2] = {PCI_ACS_RR, 0};
    host.root_port(0).space().write(0x148 + PCI_ACS_CTRL, redirect);
    EXPECT_TRUE(a_writes(placed));
    fa().unmap_host(placed, test::card::hbm_size, [](const auto&) {});
    EXPECT_FALSE(a_writes(placed));
}

TEST_F(RootComplexTest, DirectPeerCopiesOccupyBothLinks) {
    test::turn_on(fa());
    test::turn_on(fb());
    const auto target = fb().bar(4).bus_address;
    memory_port from_a(a.engine.out);
    const auto* window = from_a.find(tlm::TLM_WRITE_COMMAND, target);
    ASSERT_NE(window, nullptr);
    const auto now = sc_core::sc_time_stamp();
    // Payload of Gen6 x8 (PcieEndpointTest) for a millisecond; occupies the path into b.
    const auto end = window->reserve(tlm::TLM_WRITE_COMMAND, target, 56'360'000, now);
    EXPECT_NEAR((end - now).to_seconds(), 0.001, 0.00001);
    std::vector<std::uint8_t> page(4096);
    ASSERT_TRUE(fb().map_host({0x1000, 4096, page.data(), true, true}));
    memory_port from_b(b.engine.out);
    const auto* home = from_b.find(tlm::TLM_READ_COMMAND, 0x1000);
    ASSERT_NE(home, nullptr);
    const auto behind = home->reserve(tlm::TLM_READ_COMMAND, 0x1000, 4096, now);
    EXPECT_GT((behind - now).to_seconds(), 0.001);
}

TEST_F(RootComplexTest, SurpriseDownIsRecordedAndTheCardReturnsReset) {
    test::turn_on(fa());
    test::turn_on(fb());
    write_bar<std::uint32_t>(fa(), 4, 0, 0x77);
    std::vector<std::uint8_t> page(4096, 0x5a);
    ASSERT_TRUE(fa().map_host({0x1000, 4096, page.data(), true, true}));
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(a.engine.request_dmi(0x1000, dmi));
    const auto before = a.engine.invalidations;

    host.inject("surprise_down", {{"port", "0"}});
    EXPECT_GT(a.engine.invalidations, before);
    EXPECT_FALSE(link_active(0));
    EXPECT_TRUE(aer(host.root_port(0).space()) & PCI_ERR_UNC_SURPDN);
    EXPECT_EQ(read_bar<std::uint32_t>(fa(), 4, 0), ~0u);
    EXPECT_EQ(a.engine.read(0x1000), 0u);
    EXPECT_EQ(a.engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_FALSE(a.engine.request_dmi(0x1000, dmi));
    std::uint8_t id[4];
    fa().config_read(0, id);
    EXPECT_EQ(id[0], 0xff);
    EXPECT_EQ(read_bar<std::uint32_t>(fb(), 4, 0), 0u);  // the other card is unaffected

    host.inject("link_up", {{"port", "0"}});
    EXPECT_TRUE(link_active(0));
    EXPECT_EQ(host.counters().hot_plug_events, 2u);
    EXPECT_EQ(read_bar<std::uint32_t>(fa(), 4, 0), ~0u);  // memory space is off: it was reset
    test::turn_on(fa());
    EXPECT_EQ(read_bar<std::uint32_t>(fa(), 4, 0), 0x77u);
    EXPECT_EQ(a.engine.read(0x1000), 0x5a5a5a5au);
}

/// The supplies of a card: its sled's and its slot's.
struct PoweredCardTest : RootComplexTest {
    PoweredCardTest() { supply.bind(a.endpoint.power_lost); }
    bool works() {
        test::turn_on(fa());
        std::uint32_t id = 0;
        fa().config_read(0, {reinterpret_cast<std::uint8_t*>(&id), sizeof id});
        return id != ~0u && read_bar<std::uint32_t>(fa(), 4, 0) != ~0u;
    }
    irq_out supply{"supply"};
};

TEST_F(PoweredCardTest, LinkUpDoesNotReplacePower) {
    supply.set(true);
    const auto events = host.counters().hot_plug_events;
    host.inject("link_up", {});
    EXPECT_FALSE(link_active(0));
    EXPECT_EQ(host.counters().hot_plug_events, events);
    supply.set(false);
    EXPECT_TRUE(link_active(0));
    EXPECT_EQ(host.counters().hot_plug_events, events + 1);
    EXPECT_TRUE(works());
}

TEST_F(PoweredCardTest, SurpriseDownLastsOverALossOfPower) {
    host.inject("surprise_down", {});
    supply.set(true);
    supply.set(false);
    EXPECT_FALSE(works());
    host.inject("link_up", {});
    EXPECT_TRUE(works());
    supply.set(true);
    host.inject("surprise_down", {});
    supply.set(false);
    EXPECT_FALSE(works());
    host.inject("link_up", {});
    EXPECT_TRUE(works());
}

TEST_F(PoweredCardTest, ReturnsWhenItHasBothSuppliesInAnyOrder) {
    for (const bool power_first : {true, false}) {
        SCOPED_TRACE(power_first);
        supply.set(true);
        host.inject("card_removed", {});
        if (power_first) supply.set(false);
        host.inject("card_inserted", {});
        EXPECT_EQ(works(), power_first);
        supply.set(false);
        EXPECT_TRUE(works());
        host.inject("card_removed", {});
        supply.set(true);
        if (power_first) supply.set(false);
        host.inject("card_inserted", {});
        EXPECT_EQ(works(), power_first);
        supply.set(false);
        EXPECT_TRUE(works());
    }
}

/// As on boards: a chip whose slot has no power says so to its own function.
TEST_F(PoweredCardTest, SlotPowersTheWholeChip) {
    irq_in off("off", 1, [this](unsigned, bool level) { supply.set(level); });
    a.endpoint.no_slot_power.bind(off);
    for (unsigned round = 0; round < 2; ++round) {
        host.inject("card_removed", {});
        EXPECT_TRUE(off.level());
        EXPECT_FALSE(works());
        host.inject("card_inserted", {});
        EXPECT_FALSE(off.level());
        EXPECT_TRUE(works());
    }
}

TEST_F(RootComplexTest, EmptySlotShowsNoCard) {
    EXPECT_EQ(slot_status(2) & PCI_EXP_SLTSTA_PDS, 0);
    EXPECT_FALSE(link_active(2));
    EXPECT_EQ(slot_status(0) & PCI_EXP_SLTSTA_PDS, PCI_EXP_SLTSTA_PDS);
}

/// Detection of a card is not a read of the host.
TEST_F(PoweredCardTest, LostCompletionsDoNotHideACardFromItsPort) {
    supply.set(true);
    a.endpoint.inject("lost_completion", {});
    supply.set(false);
    EXPECT_TRUE(link_active(0));
}

TEST_F(RootComplexTest, PulledCardIsAbsentUntilOneIsInserted) {
    host.inject("card_removed", {{"port", "1"}});
    EXPECT_EQ(slot_status(1) & PCI_EXP_SLTSTA_PDS, 0);
    EXPECT_EQ(slot_status(0) & PCI_EXP_SLTSTA_PDS, PCI_EXP_SLTSTA_PDS);
    EXPECT_EQ(slot_status(1) & PCI_EXP_SLTSTA_PDC, 0);  // the host has cleared it
    EXPECT_EQ(host.counters().hot_plug_events, 1u);
    host.inject("card_inserted", {{"port", "1"}});
    EXPECT_EQ(slot_status(1) & PCI_EXP_SLTSTA_PDS, PCI_EXP_SLTSTA_PDS);
    test::turn_on(fb());
    EXPECT_EQ(read_bar<std::uint32_t>(fb(), 4, 0), 0u);
    EXPECT_THROW(host.inject("card_removed", {{"port", "3"}}), fault_error);
    EXPECT_THROW(host.inject("card_removed", {{"port", "first"}}), fault_error);
    EXPECT_THROW(host.inject("gone", {}), fault_error);
}

/// Misuse rule TRN-PCI-005 concerns software; DMA of a removed card does not count.
TEST_F(RootComplexTest, PulledCardNeitherInitiatesNorAnswersAndReturnsReset) {
    irq_in reset("reset", 1, [](unsigned, bool) {});
    a.endpoint.function_reset.bind(reset);
    test::turn_on(fa());
    std::vector<std::uint8_t> page(4096, 0x5a);
    ASSERT_TRUE(fa().map_host({0x1000, 4096, page.data(), true, true}));
    unsigned observed = 0;
    fa().on_interrupt(0, [&] { ++observed; });
    const auto requests = a.endpoint.counters().requests;

    host.inject("card_removed", {{"port", "0"}});
    EXPECT_TRUE(reset.level());
    a.engine.write<std::uint32_t>(0x1000, 1);
    EXPECT_EQ(a.engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(page[0], 0x5a);
    a.endpoint.interrupt(0);
    EXPECT_EQ(observed, 0u);
    EXPECT_TRUE(misuse::summary().empty());
    // No card completes an access that passes the port either.
    std::uint32_t id = 0;
    pcie::config_request asked(tlm::TLM_READ_COMMAND, PCI_VENDOR_ID, id, fa().id());
    sc_core::sc_time untimed;
    host.port[0].send(asked.payload, untimed);
    EXPECT_EQ(asked.payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(a.endpoint.counters().requests, requests);

    host.inject("card_inserted", {{"port", "0"}});
    EXPECT_FALSE(reset.level());
    EXPECT_EQ(observed, 0u);  // its pending messages are dropped
    std::uint8_t command[2];
    fa().config_read(PCI_COMMAND, command);
    EXPECT_EQ(command[0], 0);
    test::turn_on(fa());
    a.engine.write<std::uint32_t>(0x1000, 1);
    EXPECT_EQ(a.engine.response, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(page[0], 1);
    a.endpoint.interrupt(0);
    EXPECT_EQ(observed, 1u);
}

/// The function was reset, its engines were not; once software has set it up again, it is to blame.
TEST_F(RootComplexTest, DmaAfterACutLinkIsMisuseOnlyWhenSoftwareHasEnabledTheFunctionAgain) {
    test::turn_on(fa());
    const auto count = [] { return misuse::count(misuse::dma_without_bus_master); };
    host.inject("surprise_down", {{"port", "0"}});
    a.engine.write<std::uint32_t>(0x1000, 1);
    host.inject("link_up", {{"port", "0"}});
    a.engine.write<std::uint32_t>(0x1000, 1);
    EXPECT_EQ(a.engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(count(), 0u);
    const std::uint8_t memory_only[2] = {PCI_COMMAND_MEMORY, 0};
    fa().config_write(PCI_COMMAND, memory_only);
    a.engine.write<std::uint32_t>(0x1000, 1);
    EXPECT_EQ(count(), 1u);
}

TEST_F(RootComplexTest, UnansweredReadTimesOutAndReturnsAllOnes) {
    test::turn_on(fa());
    a.endpoint.inject("lost_completion", {});
    sc_core::sc_time taken;
    EXPECT_EQ(read_bar<std::uint32_t>(fa(), 4, 0, &taken), ~0u);
    EXPECT_GE(taken, host.settings().completion_timeout);
    EXPECT_EQ(host.counters().timeouts, 1u);
    EXPECT_TRUE(aer(host.root_port(0).space()) & PCI_ERR_UNC_COMP_TIME);
    EXPECT_EQ(host.root_port(0).space().get<std::uint32_t>(0x100 + PCI_ERR_ROOT_STATUS) &
                  PCI_ERR_ROOT_UNCOR_RCV,
              std::uint32_t{PCI_ERR_ROOT_UNCOR_RCV});
    EXPECT_EQ(read_bar<std::uint32_t>(fa(), 4, 0), 0u);
}

TEST_F(RootComplexTest, ObserverLearnsOfUncorrectableErrorsAndOfCards) {
    using event = std::pair<pcie::function_id, std::uint32_t>;
    std::vector<event> errors, slots;
    host.observe(
        {.uncorrectable = [&](auto source, auto error) { errors.emplace_back(source, error); },
         .slot = [&](auto port, bool there) { slots.emplace_back(port, there); }});
    write_bar<std::uint32_t>(fa(), 4, 0, 1);  // memory space is off
    EXPECT_EQ(errors, (std::vector<event>{{fa().id(), PCI_ERR_UNC_UNSUP}}));
    test::turn_on(fa());
    a.endpoint.inject("lost_completion", {});
    read_bar<std::uint32_t>(fa(), 4, 0);
    const pcie::function_id port = host.root_port(0).id();
    EXPECT_EQ(errors.at(1), (event{port, PCI_ERR_UNC_COMP_TIME}));
    EXPECT_TRUE(slots.empty());
    host.inject("card_removed", {{"port", "0"}});
    host.inject("card_inserted", {{"port", "0"}});
    EXPECT_EQ(slots, (std::vector<event>{{port, 0}, {port, 1}}));
    EXPECT_EQ(errors.size(), 2u) << "the slot says that the link went down";
}

/// Uncorrectable errors of a function (6.2.3.2): the driver selects those reported to the root port
/// by mask, severity and the enable bits.
TEST_F(RootComplexTest, ReportsFunctionErrorsEnabledBySoftware) {
    constexpr std::uint32_t control = 0x40 + PCI_EXP_DEVCTL, errors = 0x100;
    auto& root = host.root_port(0).space();
    const auto set16 = [&](std::uint32_t at, unsigned value) {
        const std::uint8_t bytes[2] = {static_cast<std::uint8_t>(value),
                                       static_cast<std::uint8_t>(value >> 8)};
        fa().config_write(at, bytes);
    };
    const auto set32 = [&](std::uint32_t at, std::uint32_t value) {
        set16(at, value & 0xffff);
        set16(at + 2, value >> 16);
    };
    /// Error messages received by the root port since the last query.
    const auto observed = [&] {
        const auto status = root.get<std::uint32_t>(errors + PCI_ERR_ROOT_STATUS);
        std::uint8_t ones[4] = {0xff, 0xff, 0xff, 0xff};
        root.write(errors + PCI_ERR_ROOT_STATUS, ones);
        return status;
    };
    const auto bad_write = [&] { write_bar<std::uint32_t>(fa(), 4, 0, 1); };  // memory space is off
    const auto bad_read = [&] { read_bar<std::uint32_t>(fa(), 4, 0); };
    constexpr std::uint32_t nonfatal = PCI_ERR_ROOT_UNCOR_RCV | PCI_ERR_ROOT_NONFATAL_RCV;
    constexpr std::uint32_t fatal = PCI_ERR_ROOT_UNCOR_RCV | PCI_ERR_ROOT_FATAL_RCV;
    observed();

    constexpr std::uint16_t all =
        PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE | PCI_EXP_DEVCTL_URRE;
    EXPECT_EQ(a.endpoint.space().get<std::uint16_t>(control) & all, all) << "as firmware leaves it";
    set16(control, 0);
    bad_write();
    EXPECT_TRUE(aer(a.endpoint.space()) & PCI_ERR_UNC_UNSUP);
    EXPECT_EQ(observed(), 0u);
    set16(control, PCI_EXP_DEVCTL_NFERE);  // does not enable unsupported requests
    bad_write();
    EXPECT_EQ(observed(), 0u);
    set16(control, PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_URRE);
    bad_write();
    EXPECT_EQ(observed(), nonfatal);
    EXPECT_EQ(root.get<std::uint16_t>(errors + PCI_ERR_ROOT_ERR_SRC + 2), fa().id());
    EXPECT_EQ(host.counters().error_messages, 1u);
    EXPECT_EQ(a.endpoint.counters().error_messages, 1u);

    // The requester learns of it from the completion: advisory, so a correctable error.
    bad_read();
    EXPECT_EQ(observed(), 0u);
    set32(errors + PCI_ERR_COR_MASK, 0);
    set16(control, PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_URRE);
    bad_read();
    EXPECT_EQ(observed(), std::uint32_t{PCI_ERR_ROOT_COR_RCV});
    EXPECT_TRUE(a.endpoint.space().get<std::uint32_t>(errors + PCI_ERR_COR_STATUS) &
                PCI_ERR_COR_ADV_NFAT);

    // The severity selects the enable bit; a fatal error is never advisory.
    set32(errors + PCI_ERR_UNCOR_SEVER, PCI_ERR_UNC_UNSUP);
    bad_read();
    EXPECT_EQ(observed(), 0u);
    set16(control, PCI_EXP_DEVCTL_FERE | PCI_EXP_DEVCTL_URRE);
    bad_read();
    EXPECT_EQ(observed() & fatal, fatal);
    set32(errors + PCI_ERR_UNCOR_MASK, PCI_ERR_UNC_UNSUP);
    bad_write();
    EXPECT_EQ(observed(), 0u);

    // Legacy: SERR in the command register enables both kinds and is recorded in the status.
    set32(errors + PCI_ERR_UNCOR_MASK, 0);
    set16(control, PCI_EXP_DEVCTL_URRE);
    set16(PCI_COMMAND, PCI_COMMAND_SERR);
    bad_write();
    EXPECT_EQ(observed() & fatal, fatal);
    EXPECT_TRUE(a.endpoint.space().get<std::uint16_t>(PCI_STATUS) & PCI_STATUS_SIG_SYSTEM_ERROR);

    // A missing completion is reported by the requester.
    set16(control, PCI_EXP_DEVCTL_NFERE);
    test::turn_on(fa());
    std::vector<std::uint8_t> page(4096);
    ASSERT_TRUE(fa().map_host({0x1000, 4096, page.data(), true, true}));
    host.inject("lost_completion", {});
    a.engine.read(0x1000);
    EXPECT_EQ(observed() & nonfatal, nonfatal);
    test::turn_on(fb());
    EXPECT_EQ(read_bar<std::uint32_t>(fb(), 4, 0), 0u);  // the other port received nothing
    EXPECT_EQ(host.root_port(1).space().get<std::uint32_t>(errors + PCI_ERR_ROOT_STATUS), 0u);
}

/// Advanced error reporting of card a, and of its root port.
struct ErrorTest : RootComplexTest {
    static constexpr std::uint32_t errors = 0x100, status = express + PCI_EXP_DEVSTA;
    ErrorTest() {
        set16(PCI_COMMAND, 0);  // every memory request is unsupported
        set32(errors + PCI_ERR_COR_MASK, 0);
    }
    void set16(std::uint32_t at, unsigned value) {
        const std::uint8_t bytes[2] = {static_cast<std::uint8_t>(value),
                                       static_cast<std::uint8_t>(value >> 8)};
        fa().config_write(at, bytes);
    }
    void set32(std::uint32_t at, std::uint32_t value) {
        fa().config_write(at, {reinterpret_cast<const std::uint8_t*>(&value), sizeof value});
    }
    std::uint32_t get32(std::uint32_t at) { return a.endpoint.space().get<std::uint32_t>(at); }
    std::uint16_t device_status() { return a.endpoint.space().get<std::uint16_t>(status); }
    std::uint32_t root_status() {
        return host.root_port(0).space().get<std::uint32_t>(errors + PCI_ERR_ROOT_STATUS);
    }
    std::vector<std::uint32_t> header_log() {
        std::vector<std::uint32_t> words;
        for (std::uint32_t i = 0; i < 4; ++i)
            words.push_back(get32(errors + PCI_ERR_HEADER_LOG + 4 * i));
        return words;
    }
    std::uint32_t first_error() { return PCI_ERR_CAP_FEP(get32(errors + PCI_ERR_CAP)); }
    void bad_write() { write_bar<std::uint32_t>(fa(), 4, 0x108, 1); }
    void bad_read() { read_bar<std::uint16_t>(fa(), 2, 0x106); }
    static constexpr unsigned unsupported = 20;  // bit number
};

/// 6.2.3.2.4, 6.2.5: the completion has reported it, so the device status shows a correctable
/// error, and nothing else is recorded while advisory errors are masked.
TEST_F(ErrorTest, AdvisoryErrorIsACorrectableOne) {
    set32(errors + PCI_ERR_COR_MASK, PCI_ERR_COR_ADV_NFAT);
    bad_read();
    EXPECT_EQ(device_status(), PCI_EXP_DEVSTA_CED | PCI_EXP_DEVSTA_URD);
    EXPECT_EQ(get32(errors + PCI_ERR_COR_STATUS), std::uint32_t{PCI_ERR_COR_ADV_NFAT});
    EXPECT_EQ(get32(errors + PCI_ERR_UNCOR_STATUS), 0u);
    EXPECT_EQ(first_error(), 0u);
    EXPECT_EQ(root_status(), 0u);

    set32(errors + PCI_ERR_COR_MASK, 0);
    bad_read();
    EXPECT_EQ(get32(errors + PCI_ERR_UNCOR_STATUS), std::uint32_t{PCI_ERR_UNC_UNSUP});
    EXPECT_EQ(first_error(), unsupported);
    EXPECT_EQ(root_status(), std::uint32_t{PCI_ERR_ROOT_COR_RCV});
    EXPECT_EQ(device_status(), PCI_EXP_DEVSTA_CED | PCI_EXP_DEVSTA_URD);

    // Severity fatal: not advisory.
    set32(errors + PCI_ERR_UNCOR_SEVER, PCI_ERR_UNC_UNSUP);
    set16(status, 0xf);
    bad_read();
    EXPECT_EQ(device_status(), PCI_EXP_DEVSTA_FED | PCI_EXP_DEVSTA_URD);
}

/// 6.2.3.2.4: the uncorrectable mask concerns what is logged, not the correctable message.
TEST_F(ErrorTest, MaskOfTheErrorDoesNotMaskItsAdvisoryMessage) {
    set32(errors + PCI_ERR_UNCOR_MASK, PCI_ERR_UNC_UNSUP);
    bad_read();
    EXPECT_EQ(root_status(), std::uint32_t{PCI_ERR_ROOT_COR_RCV});
    EXPECT_EQ(get32(errors + PCI_ERR_UNCOR_STATUS), std::uint32_t{PCI_ERR_UNC_UNSUP});
    EXPECT_EQ(first_error(), 0u);
    EXPECT_EQ(header_log(), std::vector<std::uint32_t>(4));
}

TEST_F(ErrorTest, FirstErrorKeepsPointerAndHeaderUntilItIsCleared) {
    const auto bar4 = fa().bar(4).bus_address;
    bad_write();
    const std::vector<std::uint32_t> write_header = {0x6000'0001, 0x0000'000f,
                                                     static_cast<std::uint32_t>(bar4 >> 32),
                                                     static_cast<std::uint32_t>(bar4) + 0x108};
    EXPECT_EQ(first_error(), unsupported);
    EXPECT_EQ(header_log(), write_header);
    bad_read();
    EXPECT_EQ(header_log(), write_header) << "the first error is not served yet";
    set32(errors + PCI_ERR_UNCOR_STATUS, PCI_ERR_UNC_UNSUP);
    bad_read();  // two bytes of a 32-bit address
    EXPECT_EQ(header_log(), (std::vector<std::uint32_t>{0x0000'0001, 0x0000'000c, 0xc000'0104, 0}));
    // A masked error is recorded without header.
    set32(errors + PCI_ERR_UNCOR_STATUS, PCI_ERR_UNC_UNSUP);
    set32(errors + PCI_ERR_UNCOR_MASK, PCI_ERR_UNC_UNSUP);
    bad_write();
    EXPECT_EQ(get32(errors + PCI_ERR_UNCOR_STATUS), std::uint32_t{PCI_ERR_UNC_UNSUP});
    EXPECT_NE(header_log(), write_header);
    // A missing completion has none.
    set32(errors + PCI_ERR_UNCOR_STATUS, PCI_ERR_UNC_UNSUP);
    test::turn_on(fa());
    std::vector<std::uint8_t> page(4096);
    ASSERT_TRUE(fa().map_host({0x1000, 4096, page.data(), true, true}));
    host.inject("lost_completion", {});
    a.engine.read(0x1000);
    EXPECT_EQ(1u << first_error(), std::uint32_t{PCI_ERR_UNC_COMP_TIME});
    EXPECT_EQ(header_log(), std::vector<std::uint32_t>(4));
    // The log is sticky.
    set16(express + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
    EXPECT_EQ(1u << first_error(), std::uint32_t{PCI_ERR_UNC_COMP_TIME});
}

TEST(TlpHeader, OuterHeaderReturnsAfterANestedOne) {
    tlm::tlm_generic_payload request;
    {
        const pcie::framed outer(request, 0x0100);
        { const pcie::framed inner(request, 0x0200); }
        EXPECT_EQ(request.get_extension<pcie::tlp>(), &outer.header);
    }
    EXPECT_EQ(request.get_extension<pcie::tlp>(), nullptr);
}

TEST_F(ErrorTest, HeaderShowsByteEnablesAndConfigurationRequests) {
    std::uint8_t bytes[64] = {};
    const auto header = [&](std::uint64_t address, unsigned length) {
        tlm::tlm_generic_payload request;
        const pcie::framed framed(request, 0x0312);
        request.set_read();
        request.set_address(address);
        request.set_data_ptr(bytes);
        request.set_data_length(length);
        const auto words = pcie::header_of(request);
        return std::vector<std::uint32_t>(words.begin(), words.end());
    };
    EXPECT_EQ(header(0x1000, 4), (std::vector<std::uint32_t>{0x0000'0001, 0x0312'000f, 0x1000, 0}));
    EXPECT_EQ(header(0x1001, 2), (std::vector<std::uint32_t>{0x0000'0001, 0x0312'0006, 0x1000, 0}));
    EXPECT_EQ(header(0x1003, 6), (std::vector<std::uint32_t>{0x0000'0003, 0x0312'0018, 0x1000, 0}));
    EXPECT_EQ(header(0x1000, 4096)[0], 0u);  // 1024 words
    std::uint32_t word = 0;
    const pcie::config_request asked(tlm::TLM_WRITE_COMMAND, 0x104, word, 0x0500);
    const auto words = pcie::header_of(asked.payload);
    EXPECT_EQ(words, (std::array<std::uint32_t, 4>{0x4400'0001, 0xf, 0x0500'0104, 0}));
}

/// 7.5.3.5: whether masked or not, and whether reported or not.
TEST_F(ErrorTest, MaskedErrorsAreDetectedInTheDeviceStatus) {
    set32(errors + PCI_ERR_UNCOR_MASK, PCI_ERR_UNC_UNSUP);
    bad_write();
    EXPECT_EQ(device_status(), PCI_EXP_DEVSTA_NFED | PCI_EXP_DEVSTA_URD);
    set16(status, 0xf);
    EXPECT_EQ(device_status(), 0);
    set32(errors + PCI_ERR_COR_MASK, PCI_ERR_COR_BAD_TLP);
    host.port[0].report_link_error(link_error::bad_packet);
    EXPECT_EQ(device_status(), PCI_EXP_DEVSTA_CED);
}

/// 6.2.5: SERR of the command register reports unsupported requests without the bit for them.
TEST_F(ErrorTest, SystemErrorEnableReportsUnsupportedRequests) {
    set16(express + PCI_EXP_DEVCTL, 0);
    bad_write();
    EXPECT_EQ(root_status(), 0u);
    set16(PCI_COMMAND, PCI_COMMAND_SERR);
    bad_write();
    EXPECT_EQ(root_status(), PCI_ERR_ROOT_UNCOR_RCV | PCI_ERR_ROOT_NONFATAL_RCV);
}

/// 7.8.4.10: whether the first uncorrectable message was fatal, and several messages.
TEST_F(ErrorTest, RootPortRecordsWhetherTheFirstErrorWasFatal) {
    auto& root = host.root_port(0).space();
    const auto clear = [&] {
        const std::uint8_t ones[4] = {0xff, 0xff, 0xff, 0xff};
        root.write(errors + PCI_ERR_ROOT_STATUS, ones);
    };
    constexpr std::uint32_t nonfatal = PCI_ERR_ROOT_UNCOR_RCV | PCI_ERR_ROOT_NONFATAL_RCV,
                            fatal = PCI_ERR_ROOT_UNCOR_RCV | PCI_ERR_ROOT_FATAL_RCV;
    bad_write();
    EXPECT_EQ(root_status(), nonfatal);
    set32(errors + PCI_ERR_UNCOR_SEVER, PCI_ERR_UNC_UNSUP);
    bad_write();
    EXPECT_EQ(root_status(), nonfatal | fatal | PCI_ERR_ROOT_MULTI_UNCOR_RCV);
    clear();
    bad_write();
    EXPECT_EQ(root_status(), fatal | PCI_ERR_ROOT_FIRST_FATAL);
    set32(errors + PCI_ERR_UNCOR_SEVER, 0);
    bad_write();
    EXPECT_EQ(root_status(),
              nonfatal | fatal | PCI_ERR_ROOT_FIRST_FATAL | PCI_ERR_ROOT_MULTI_UNCOR_RCV);
}

/// 6.2.4.1.2: an interrupt when the first enabled kind of message is recorded, until software
/// clears it. It is no hot-plug event.
TEST_F(ErrorTest, RootErrorCommandEnablesAnInterrupt) {
    std::vector<std::uint32_t> messages;
    pcie::bridge port(
        {.port_role = pcie::bridge::role::root_port},
        {.message = [&](std::uint64_t, std::uint32_t data) { messages.push_back(data); }});
    auto& space = port.space();
    std::uint32_t msi = space.get<std::uint8_t>(PCI_CAPABILITY_LIST);
    while (space.get<std::uint8_t>(msi) != PCI_CAP_ID_MSI) msi = space.get<std::uint8_t>(msi + 1);
    const auto write = [&](std::uint32_t at, std::uint32_t value) {
        space.write(at, {reinterpret_cast<const std::uint8_t*>(&value), sizeof value});
    };
    write(PCI_COMMAND, PCI_COMMAND_MASTER);
    write(msi, PCI_MSI_FLAGS_ENABLE << 16);
    write(msi + PCI_MSI_DATA_64, 7);
    const auto receive = [&](pcie::error_class severity) {
        port.receive_error(0x100, severity);
        return messages.size();
    };
    EXPECT_EQ(receive(pcie::error_class::fatal), 0u);
    write(errors + PCI_ERR_ROOT_STATUS, ~0u);
    write(errors + PCI_ERR_ROOT_COMMAND, PCI_ERR_ROOT_CMD_COR_EN | PCI_ERR_ROOT_CMD_FATAL_EN);
    EXPECT_EQ(receive(pcie::error_class::nonfatal), 0u);
    EXPECT_EQ(receive(pcie::error_class::correctable), 1u);
    EXPECT_EQ(receive(pcie::error_class::fatal), 1u);
    write(errors + PCI_ERR_ROOT_STATUS, ~0u);
    EXPECT_EQ(receive(pcie::error_class::fatal), 2u);
    EXPECT_EQ(messages.back(), 7u);
}

TEST_F(ErrorTest, ObserverLearnsOfTheFirstErrorOfTheSource) {
    std::vector<std::uint32_t> observed;
    host.observe(
        {.uncorrectable = [&](auto, auto error) { observed.push_back(error); }, .slot = {}});
    test::turn_on(fa());
    host.inject("surprise_down", {});  // reported as slot
    host.inject("link_up", {});
    test::turn_on(fa());
    a.endpoint.inject("lost_completion", {});
    read_bar<std::uint32_t>(fa(), 4, 0);
    EXPECT_EQ(observed, (std::vector<std::uint32_t>{PCI_ERR_UNC_COMP_TIME}))
        << "the port's earlier error is served";
    // The function's errors are its driver's.
    set16(PCI_COMMAND, 0);
    bad_write();
    EXPECT_EQ(observed.size(), 2u);
    EXPECT_EQ(get32(errors + PCI_ERR_UNCOR_STATUS), std::uint32_t{PCI_ERR_UNC_UNSUP});
}

TEST_F(RootComplexTest, PortReportsItsOwnErrorsWhenEnabled) {
    constexpr std::uint32_t errors = 0x100;
    auto& root = host.root_port(0).space();
    std::uint32_t control = 0;
    for (std::uint32_t at = root.get<std::uint8_t>(PCI_CAPABILITY_LIST); at != 0;
         at = root.get<std::uint8_t>(at + 1))
        if (root.get<std::uint8_t>(at) == PCI_CAP_ID_EXP) control = at + PCI_EXP_DEVCTL;
    const auto enabled = root.get<std::uint16_t>(control);
    EXPECT_EQ(enabled & 0xf, 0xf);  // by the enumerating software
    EXPECT_TRUE(root.get<std::uint16_t>(PCI_COMMAND) & PCI_COMMAND_SERR);
    root.set<std::uint16_t>(PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
    const auto falls = [&](std::uint16_t enable) {
        const std::uint8_t bits[2] = {static_cast<std::uint8_t>(enable),
                                      static_cast<std::uint8_t>(enable >> 8)};
        root.write(control, bits);
        std::uint8_t ones[4] = {0xff, 0xff, 0xff, 0xff};
        root.write(errors + PCI_ERR_ROOT_STATUS, ones);
        host.inject("surprise_down", {{"port", "0"}});
        const auto status = root.get<std::uint32_t>(errors + PCI_ERR_ROOT_STATUS);
        host.inject("link_up", {{"port", "0"}});
        return status;
    };
    const auto without = [&](unsigned bits) { return static_cast<std::uint16_t>(enabled & ~bits); };
    EXPECT_NE(falls(enabled) & PCI_ERR_ROOT_FATAL_RCV, 0u);
    EXPECT_EQ(root.get<std::uint16_t>(errors + PCI_ERR_ROOT_ERR_SRC + 2), 0u);  // the port itself
    EXPECT_EQ(falls(without(PCI_EXP_DEVCTL_FERE)), 0u);
    EXPECT_TRUE(aer(root) & PCI_ERR_UNC_SURPDN);  // but recorded
    EXPECT_NE(falls(without(PCI_EXP_DEVCTL_NFERE)) & PCI_ERR_ROOT_FATAL_RCV, 0u);
}

TEST_F(RootComplexTest, UnansweredChipReadIsAnErrorAfterItsTimeout) {
    std::vector<std::uint8_t> page(4096, 0x5a);
    ASSERT_TRUE(fa().map_host({0x1000, 4096, page.data(), true, true}));
    test::turn_on(fa());
    host.inject("lost_completion", {{"count", "1"}});
    EXPECT_EQ(a.engine.read(0x1000), 0u);
    EXPECT_EQ(a.engine.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_GE(a.engine.delay, a.endpoint.settings().completion_timeout);
    EXPECT_TRUE(aer(a.endpoint.space()) & PCI_ERR_UNC_COMP_TIME);
    EXPECT_EQ(a.engine.read(0x1000), 0x5a5a5a5au);
}

TEST_F(RootComplexTest, VectorReachesTheProgramOfItsFunction) {
    unsigned heard_a = 0, heard_b = 0;
    fa().on_interrupt(3, [&] { ++heard_a; });
    fb().on_interrupt(3, [&] { ++heard_b; });
    test::turn_on(fa());
    test::turn_on(fb());
    b.endpoint.interrupt(3);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
    EXPECT_EQ(heard_a, 0u);
    EXPECT_EQ(heard_b, 1u);
}

/// As the driver of a card that notifies another function: the host writes the address of that
/// function's BAR to an entry of the MSI-X table.
TEST_F(RootComplexTest, HostPointsVectorsIntoAPeersBar) {
    test::turn_on(fa());
    test::turn_on(fb());
    constexpr std::uint32_t msix = 0x84, table_bar = 2, word = 0x40;
    const std::uint64_t vector = 3, entry = vector * PCI_MSIX_ENTRY_SIZE;
    const auto raise = [&] {
        a.endpoint.msix.drive(vector, true);
        a.endpoint.msix.drive(vector, false);
        return read_bar<std::uint32_t>(fb(), 0, word);
    };
    const auto enable = [&](std::uint16_t flags) {
        fa().config_write(msix + PCI_MSIX_FLAGS,
                          {reinterpret_cast<const std::uint8_t*>(&flags), sizeof flags});
    };
    const auto point_at = [&](std::uint64_t address, std::uint32_t data) {
        write_bar(fa(), table_bar, entry + PCI_MSIX_ENTRY_VECTOR_CTRL, 1u);
        write_bar(fa(), table_bar, entry + PCI_MSIX_ENTRY_LOWER_ADDR, address);
        write_bar(fa(), table_bar, entry + PCI_MSIX_ENTRY_DATA, data);
        write_bar(fa(), table_bar, entry + PCI_MSIX_ENTRY_VECTOR_CTRL, 0u);
    };
    point_at(fb().bar(0).bus_address + word, 0x1234);
    EXPECT_EQ(raise(), 0u) << "MSI-X is off";
    enable(PCI_MSIX_FLAGS_ENABLE);
    EXPECT_EQ(raise(), 0x1234u);
    unsigned raised = 0;  // host interrupts continue to be delivered
    fa().on_interrupt(4, [&] { ++raised; });
    a.endpoint.msix.drive(4, true);
    EXPECT_EQ(raised, 1u);
    point_at(fb().bar(0).bus_address + word, 0x77);
    EXPECT_EQ(raise(), 0x77u);
    point_at(0xfee0'1000, 0x99);  // a host interrupt address: no message on the bus
    EXPECT_EQ(raise(), 0x77u);
    point_at(fb().bar(0).bus_address + word, 0x55);
    EXPECT_EQ(read_bar<std::uint32_t>(fb(), 0, word), 0x55u) << "pending meanwhile";
    write_bar<std::uint32_t>(fb(), 0, word, 0);
    fa().reset();
    EXPECT_EQ(raise(), 0u) << "a reset clears the table";
}

/// `a` writes a vector of `b`, which points into the BAR of `a`.
TEST_F(RootComplexTest, WriteThatAnAccessOfTheCardCausesIsExecutedAfterIt) {
    test::turn_on(fa());
    test::turn_on(fb());
    constexpr std::uint32_t msix = 0x84, table_bar = 2, word = 0x40;
    const std::uint8_t on[2] = {0, PCI_MSIX_FLAGS_ENABLE >> 8};
    fb().config_write(msix + PCI_MSIX_FLAGS, on);
    b.endpoint.msix.drive(0, true);  // pending, because the vector is masked
    const auto set = [&](std::uint32_t at, std::uint64_t value) {
        EXPECT_EQ(
            a.engine.write(fb().bar(table_bar).bus_address + at, static_cast<std::uint32_t>(value)),
            tlm::TLM_OK_RESPONSE);
    };
    const std::uint64_t target = fa().bar(0).bus_address + word;
    set(PCI_MSIX_ENTRY_LOWER_ADDR, target);
    set(PCI_MSIX_ENTRY_UPPER_ADDR, target >> 32);
    set(PCI_MSIX_ENTRY_DATA, 0x1234);
    set(PCI_MSIX_ENTRY_VECTOR_CTRL, 0);
    EXPECT_EQ(a.registers.bytes().data()[word], 0);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    EXPECT_EQ(read_bar<std::uint32_t>(fa(), 0, word), 0x1234u);
}

TEST_F(RootComplexTest, LostInterruptIsCountedAndTheNextOneArrives) {
    unsigned observed = 0;
    fa().on_interrupt(3, [&] { ++observed; });
    test::turn_on(fa());
    a.endpoint.inject("lost_interrupt", {{"count", "2"}});
    // The card is not aware of the target.
    for (unsigned i = 0; i < 3; ++i) EXPECT_TRUE(a.endpoint.interrupt(3));
    EXPECT_EQ(observed, 1u);
    EXPECT_EQ(a.endpoint.counters().lost_interrupts, 2u);
    EXPECT_EQ(a.endpoint.counters().interrupts, 1u);
}

/// A card connected by a cable.
struct HostLinkTest : testing::Test {
    HostLinkTest() {
        host.port[0].join(cable.a);
        cable.b.join(a.endpoint.link);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        test::turn_on(host.function(0));
    }
    static std::uint32_t express_of(pcie::config_space& space) {
        std::uint32_t at = space.get<std::uint8_t>(PCI_CAPABILITY_LIST);
        while (space.get<std::uint8_t>(at) != PCI_CAP_ID_EXP) at = space.get<std::uint8_t>(at + 1);
        return at;
    }
    void let_train() { sc_core::sc_start(1, sc_core::SC_MS); }

    root_complex host{"host", {}};
    pcie_link cable{"cable", {.needs_training = false}};
    test::card a{"a"};
};

TEST_F(HostLinkTest, CableDownIsASurpriseDownAndTheCardReturnsWithTheCable) {
    auto& f = host.function(0);
    write_bar<std::uint32_t>(f, 4, 0, 0x77);
    EXPECT_EQ(read_bar<std::uint32_t>(f, 4, 0), 0x77u);
    cable.inject("link_down", {});
    EXPECT_EQ(read_bar<std::uint32_t>(f, 4, 0), ~0u);
    EXPECT_TRUE(host.root_port(0).space().get<std::uint32_t>(0x100 + PCI_ERR_UNCOR_STATUS) &
                PCI_ERR_UNC_SURPDN);
    EXPECT_EQ(a.engine.write<std::uint32_t>(0x1000, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    cable.inject("link_up", {});
    let_train();
    test::turn_on(f);
    EXPECT_EQ(read_bar<std::uint32_t>(f, 4, 0), 0x77u);
}

TEST_F(HostLinkTest, MessageArrivesAfterTheWritesBeforeIt) {
    std::vector<std::uint8_t> page(4096), data(4096, 1);
    auto& f = host.function(0);
    ASSERT_TRUE(f.map_host({0x1000, 4096, page.data(), true, true}));
    sc_core::sc_time arrived;
    f.on_interrupt(3, [&] { arrived = sc_core::sc_time_stamp(); });
    test::turn_on(f);
    const auto start = sc_core::sc_time_stamp();
    a.engine.write_bytes(0x1000, data);
    const auto written = a.engine.delay;
    a.endpoint.interrupt(3);
    EXPECT_EQ(arrived, sc_core::SC_ZERO_TIME);
    sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US));
    EXPECT_GT(arrived - start, written);
    EXPECT_LT(arrived - start, written + cable.settings().latency);
}

/// It has left the card. Handlers are those of the time of its arrival.
TEST_F(HostLinkTest, MessageOnItsWayArrivesAlsoAfterAResetOfTheCard) {
    auto& f = host.function(0);
    unsigned heard = 0;
    f.on_interrupt(3, [&] { ++heard; });
    f.on_interrupt(4, [&] { ++heard; });
    test::turn_on(f);
    a.endpoint.interrupt(3);
    a.endpoint.interrupt(4);
    f.on_interrupt(4, {});
    f.reset();
    sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US));
    EXPECT_EQ(heard, 1u);
}

TEST_F(HostLinkTest, FlapResetsTheCard) {
    auto& f = host.function(0);
    cable.inject("flap", {});
    let_train();
    EXPECT_EQ(read_bar<std::uint32_t>(f, 4, 0), ~0u);  // memory space is off
    test::turn_on(f);
    EXPECT_EQ(read_bar<std::uint32_t>(f, 4, 0), 0u);
    EXPECT_EQ(host.counters().hot_plug_events, 2u);
}

TEST_F(HostLinkTest, ReplaysAndRolloversAreCorrectableErrorsOfBothEnds) {
    auto& f = host.function(0);
    auto& above = host.root_port(0).space();
    const auto correctable = [](pcie::config_space& space) {
        return space.get<std::uint32_t>(0x100 + PCI_ERR_COR_STATUS);
    };
    const std::uint8_t none[2] = {};
    f.config_write(express_of(a.endpoint.space()) + PCI_EXP_DEVCTL, none);
    cable.inject("crc", {});
    write_bar<std::uint32_t>(f, 4, 0, 1);
    EXPECT_EQ(correctable(a.endpoint.space()), std::uint32_t{PCI_ERR_COR_BAD_TLP});
    EXPECT_EQ(correctable(above), 0u);
    EXPECT_EQ(above.get<std::uint32_t>(0x100 + PCI_ERR_ROOT_STATUS), 0u);  // not enabled

    const std::uint8_t report[2] = {PCI_EXP_DEVCTL_CERE, 0};
    f.config_write(express_of(a.endpoint.space()) + PCI_EXP_DEVCTL, report);
    cable.inject("crc", {{"times", "4"}});
    write_bar<std::uint32_t>(f, 4, 0, 2);
    EXPECT_EQ(correctable(above), std::uint32_t{PCI_ERR_COR_REP_ROLL});
    EXPECT_EQ(above.get<std::uint32_t>(0x100 + PCI_ERR_ROOT_STATUS),
              // The port's own error, after f's.
              PCI_ERR_ROOT_COR_RCV | PCI_ERR_ROOT_MULTI_COR_RCV);
    EXPECT_EQ(above.get<std::uint16_t>(0x100 + PCI_ERR_ROOT_ERR_SRC), f.id());
    EXPECT_EQ(read_bar<std::uint32_t>(f, 4, 0), 2u);
    let_train();
    EXPECT_EQ(read_bar<std::uint32_t>(f, 4, 0), 2u);  // not reset
}

TEST_F(RootComplexTest, RootPortAccessControlLimitsPeersToMappedMemory) {
    test::turn_on(fa());
    test::turn_on(fb());
    const auto target = fb().bar(4).bus_address;
    const auto set_acs = [&](std::uint16_t bits) {
        const std::uint8_t bytes[2] = {static_cast<std::uint8_t>(bits), 0};
        host.root_port(0).space().write(0x148 + PCI_ACS_CTRL, bytes);
    };
    std::vector<std::uint8_t> page(4096, 0x5a);
    ASSERT_TRUE(fa().map_host({0x1000, 4096, page.data(), true, true}));
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(a.engine.request_dmi(target, dmi));
    const auto before = a.engine.invalidations;
    set_acs(PCI_ACS_RR);
    EXPECT_GT(a.engine.invalidations, before);
    EXPECT_EQ(a.engine.write<std::uint32_t>(target, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_FALSE(a.engine.request_dmi(target, dmi));
    EXPECT_EQ(a.engine.read(0x1000), 0x5a5a5a5au);
    EXPECT_EQ(b.engine.write<std::uint32_t>(fa().bar(4).bus_address, 1), tlm::TLM_OK_RESPONSE);
    set_acs(0);
    EXPECT_EQ(a.engine.write<std::uint32_t>(target, 1), tlm::TLM_OK_RESPONSE);
}

TEST_F(RootComplexTest, RequestToTheRequestersOwnBarIsNotReturned) {
    test::turn_on(fa());
    EXPECT_EQ(a.engine.write<std::uint32_t>(fa().bar(4).bus_address, 1),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

struct RootComplexWithoutPeers : testing::Test {};

TEST_F(RootComplexWithoutPeers, RefusesARootPortAtARootPort) {
    root_complex host("host", {.ports = 2});
    host.port[0].join(host.port[1]);
    try {
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        FAIL();
    } catch (const sc_core::sc_report& why) {
        const auto refusal = model_refusal::from(why);
        ASSERT_TRUE(refusal);
        EXPECT_EQ(refusal->module(), "host");
        EXPECT_THAT(refusal->what(), testing::HasSubstr("joined to another root port"));
    }
}

TEST_F(RootComplexWithoutPeers, RefusesRequestsFromOneFunctionToAnother) {
    root_complex host("host", {.ports = 2, .peer_to_peer = false});
    test::card a{"a"}, b{"b"};
    host.port[0].join(a.endpoint.link);
    host.port[1].join(b.endpoint.link);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    test::turn_on(host.function(0));
    test::turn_on(host.function(1));
    EXPECT_EQ(a.engine.write<std::uint32_t>(host.function(1).bar(4).bus_address, 1),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(host.function(0).memory().unmapped_accesses(), 1u);
}

/// The registers of a root port and of a function, at their addresses on the processors' bus.
TEST(ProcessorBus, ConfigurationAccessIsOfEnabledBytesOfOneDword) {
    root_complex host("host", {.ports = 1});
    test::card a("a");
    test::tlm_driver cpu("cpu");
    host.port[0].join(a.endpoint.link);
    auto* const bus =
        dynamic_cast<tlm::tlm_base_target_socket_b<64>*>(sc_core::sc_find_object("host.bus"));
    ASSERT_NE(bus, nullptr);
    cpu.out.bind(*bus);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    for (const std::uint64_t function : {0x0000u, 0x0100u}) {
        const std::uint64_t line =
            pcie::processor_bus::window + (function << 12) + PCI_INTERRUPT_LINE;
        std::array<std::uint8_t, 4> data{0x5a, 0x5b, 0x5c, 0x5d};
        std::uint8_t enables[] = {TLM_BYTE_DISABLED, TLM_BYTE_ENABLED};
        const auto send = [&](tlm::tlm_command command, unsigned width, bool all) {
            tlm::tlm_generic_payload request;
            set_access(request, command, line, data.data(), data.size());
            if (command == tlm::TLM_IGNORE_COMMAND) request.set_data_ptr(nullptr);
            request.set_streaming_width(width);
            request.set_byte_enable_ptr(all ? nullptr : enables);
            request.set_byte_enable_length(all ? 0 : sizeof enables);
            cpu.out->b_transport(request, cpu.delay);
            return request.get_response_status();
        };
        cpu.write<std::uint8_t>(line, 0x11);
        EXPECT_EQ(send(tlm::TLM_WRITE_COMMAND, 4, false), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(send(tlm::TLM_WRITE_COMMAND, 2, true), tlm::TLM_BURST_ERROR_RESPONSE);
        EXPECT_EQ(send(tlm::TLM_IGNORE_COMMAND, 4, true), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(cpu.read<std::uint8_t>(line), 0x11);
        EXPECT_EQ(send(tlm::TLM_READ_COMMAND, 4, false), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(data[0], 0x5a);
        EXPECT_EQ(data[1], 0u);
        EXPECT_EQ(data[2], 0x5c);
    }
}

}  // namespace
