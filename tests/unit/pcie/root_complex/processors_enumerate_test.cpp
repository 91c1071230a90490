// SPDX-License-Identifier: Apache-2.0
// A root complex without boot firmware: software of its processors enumerates, through the sockets.
#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <array>
#include <cstdint>
#include <optional>

#include "tests/unit/pcie/root_complex/server_fixture.h"

namespace {

using namespace trn;

template <typename Socket>
Socket& socket_named(const char* name) {
    return dynamic_cast<Socket&>(*sc_core::sc_find_object(name));
}

using outlet =
    tlm::tlm_initiator_socket<64, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

/// Two root ports with a card each, and a processor that has enumerated them: as Linux does.
struct Enumerated : testing::Test {
    static constexpr std::uint64_t window = pcie::processor_bus::window;
    static constexpr std::uint64_t hbm = std::uint64_t{1} << 44, vectors = 0xc000'0000;

    explicit Enumerated(bool has_memory = true) {
        host.port[0].join(a.endpoint.link);
        host.port[1].join(b.endpoint.link);
        cpu.out.bind(socket_named<tlm::tlm_base_target_socket_b<64>>("host.bus"));
        has_memory ? socket_named<outlet>("host.memory").bind(ram.in)
                   : other.emplace("other").out.bind(ram.in);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    static std::uint64_t place_of(std::uint32_t function, std::uint32_t offset) {
        return window + (std::uint64_t{function} << 12) + offset;
    }
    template <typename T>
    void configure(std::uint32_t function, std::uint32_t offset, T value) {
        EXPECT_EQ(cpu.write<T>(place_of(function, offset), value), tlm::TLM_OK_RESPONSE);
    }
    template <typename T = std::uint32_t>
    T config(std::uint32_t function, std::uint32_t offset) {
        return cpu.read<T>(place_of(function, offset));
    }
    /// Bus 1 + `number` and the BARs of the card below root port `number`.
    void enumerate(std::uint32_t number) {
        const std::uint32_t port = number << 3, bus = number + 1, card = bus << 8;
        const std::uint64_t high = hbm + number * 4 * test::card::hbm_size;
        const auto low = static_cast<std::uint32_t>(vectors + number * (1 << 20));
        configure<std::uint32_t>(port, PCI_PRIMARY_BUS, bus << 8 | bus << 16);
        configure<std::uint32_t>(port, PCI_MEMORY_BASE, low >> 16 | (low & 0xfff0'0000));
        const std::uint64_t last = high + 2 * test::card::hbm_size - 1;
        configure<std::uint32_t>(
            port, PCI_PREF_MEMORY_BASE,
            static_cast<std::uint32_t>((high >> 16 & 0xfff0) | (last & 0xfff0'0000)));
        configure<std::uint32_t>(port, PCI_PREF_BASE_UPPER32,
                                 static_cast<std::uint32_t>(high >> 32));
        configure<std::uint32_t>(port, PCI_PREF_LIMIT_UPPER32,
                                 static_cast<std::uint32_t>(last >> 32));
        place(card, PCI_BASE_ADDRESS_4, high);
        place(card, PCI_BASE_ADDRESS_0, high + test::card::hbm_size);
        configure<std::uint32_t>(card, PCI_BASE_ADDRESS_2, low);
        for (const auto function : {port, card})
            configure<std::uint16_t>(function, PCI_COMMAND,
                                     PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
    }
    void place(std::uint32_t function, std::uint32_t bar, std::uint64_t address) {
        configure<std::uint32_t>(function, bar, static_cast<std::uint32_t>(address));
        configure<std::uint32_t>(function, bar + 4, static_cast<std::uint32_t>(address >> 32));
    }
    std::uint32_t errors_of(std::uint32_t port) {
        return config(port, 0x100 + PCI_ERR_UNCOR_STATUS);
    }

    root_complex host{"host", {.ports = 2, .boot_firmware = false}};
    test::card a{"a"}, b{"b"};
    test::tlm_driver cpu{"cpu"};
    memory ram{"ram", {.size = 1 << 20}};
    std::optional<test::tlm_driver> other;
};

TEST_F(Enumerated, NothingIsEnumeratedBeforeAndThereAreNoFunctionsForPrograms) {
    EXPECT_TRUE(host.functions().empty());
    EXPECT_EQ(config(0, PCI_PRIMARY_BUS) & 0x00ff'ffffu, 0u);
    EXPECT_EQ(config(0x100, 0), ~0u);
    EXPECT_EQ(config(0, PCI_COMMAND) & PCI_COMMAND_MASTER, 0u);
    enumerate(0);
    EXPECT_EQ(config<std::uint16_t>(0x100, PCI_VENDOR_ID), a.endpoint.settings().vendor_id);
    EXPECT_EQ(config(0x200, 0), ~0u);
    EXPECT_TRUE(host.functions().empty());
}

TEST_F(Enumerated, FunctionIsWhereTheProcessorHasPlacedIt) {
    enumerate(0);
    enumerate(1);
    EXPECT_EQ(cpu.write<std::uint32_t>(hbm + 0x100, 0xcafe), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cpu.read(hbm + 0x100), 0xcafeu);
    EXPECT_EQ(cpu.read(hbm + 4 * test::card::hbm_size + 0x100), 0u);  // of the other
}

/// An operating system that touches a lost device is not stopped by a bus error.
TEST_F(Enumerated, AccessWithoutCompletionHasAllOnes) {
    enumerate(0);
    const auto unassigned = hbm + 3 * test::card::hbm_size;
    EXPECT_EQ(cpu.read(unassigned), ~0u);
    EXPECT_EQ(cpu.response, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cpu.write<std::uint32_t>(unassigned, 1), tlm::TLM_OK_RESPONSE);
}

TEST_F(Enumerated, PointerIntoConfigurationSpaceIsRefusedForItsAddress) {
    tlm::tlm_generic_payload request;
    tlm::tlm_dmi dmi;
    request.set_read();
    request.set_address(place_of(0, 0));
    EXPECT_FALSE(cpu.out->get_direct_mem_ptr(request, dmi));
    EXPECT_EQ(dmi.get_start_address(), request.get_address());
    EXPECT_EQ(dmi.get_end_address(), request.get_address());
}

TEST_F(Enumerated, RequestsOfAFunctionReachMemory) {
    enumerate(0);
    EXPECT_EQ(a.engine.write<std::uint32_t>(0x1000, 0x1234), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(ram.bytes().data()[0x1000], 0x34);
    EXPECT_EQ(a.engine.read(0x1000), 0x1234u);
    std::uint32_t peeked = 0;
    EXPECT_EQ(a.engine.debug_read(0x1000, peeked), 4u);
    EXPECT_EQ(peeked, 0x1234u);
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(a.engine.request_dmi(0x1000, dmi));
    EXPECT_EQ(a.engine.read(2 << 20), 0u);
    EXPECT_EQ(a.engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    const auto revoked = a.engine.invalidations;
    configure<std::uint16_t>(0x100, PCI_COMMAND, PCI_COMMAND_MEMORY);
    EXPECT_GT(a.engine.invalidations, revoked);
    a.engine.read(0x1000);
    EXPECT_EQ(a.engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(Enumerated, FundamentalResetLeavesPortsAndFunctionsAsAtPowerOn) {
    enumerate(0);
    cpu.write<std::uint32_t>(hbm + 0x100, 0xcafe);
    configure<std::uint16_t>(0, PCI_COMMAND, PCI_COMMAND_MEMORY);
    a.engine.write<std::uint32_t>(0x1000, 1);
    EXPECT_NE(errors_of(0), 0u);
    host.perst.drive(0, true);
    host.perst.drive(0, false);
    EXPECT_EQ(config(0, PCI_PRIMARY_BUS) & 0x00ff'ffffu, 0u);
    EXPECT_EQ(config(0, PCI_COMMAND) & PCI_COMMAND_MEMORY, 0u);
    EXPECT_EQ(errors_of(0), 0u);  // sticky over all other resets
    EXPECT_EQ(cpu.read<std::uint32_t>(hbm + 0x100), ~0u);
    EXPECT_EQ(a.engine.write<std::uint32_t>(0x1000, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    enumerate(0);
    EXPECT_EQ(cpu.read(hbm + 0x100), 0xcafeu);
    EXPECT_EQ(a.engine.write<std::uint32_t>(0x1000, 1), tlm::TLM_OK_RESPONSE);
}

/// As without memory: the port records a request that has no target.
TEST_F(Enumerated, RequestPastTheMemoryIsUnsupported) {
    enumerate(0);
    EXPECT_EQ(a.engine.write<std::uint32_t>(2 << 20, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_TRUE(errors_of(0) & PCI_ERR_UNC_UNSUP);
    EXPECT_EQ(host.counters().refused, 1u);
}

TEST_F(Enumerated, AccessAcrossADwordOfConfigurationSpaceIsRefused) {
    enumerate(0);
    constexpr std::uint64_t end = window + pcie::processor_bus::window_size;
    for (const std::uint32_t function : {0u, 0x100u}) {
        const auto before = config(function, PCI_INTERRUPT_LINE);
        for (const std::uint64_t place :
             {place_of(function, PCI_INTERRUPT_LINE) + 1, place_of(function, 0xffe)})
            EXPECT_EQ(cpu.write<std::uint32_t>(place, ~0u), tlm::TLM_BURST_ERROR_RESPONSE);
        EXPECT_EQ(cpu.write<std::uint64_t>(place_of(function, PCI_INTERRUPT_LINE), ~0u),
                  tlm::TLM_BURST_ERROR_RESPONSE);
        EXPECT_EQ(config(function, PCI_INTERRUPT_LINE), before);
    }
    EXPECT_EQ(cpu.read<std::uint32_t>(end - 4), ~0u);
    EXPECT_EQ(cpu.response, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cpu.write<std::uint32_t>(end - 2, 0), tlm::TLM_BURST_ERROR_RESPONSE);
}

TEST_F(Enumerated, AbsentDevicesFunctionsAndBusesHaveAllOnes) {
    enumerate(0);
    for (const std::uint32_t function :
         {0x001u, 0x010u, 0x0f8u, 0x101u, 0x108u, 0x1ffu, 0x300u, 0xffffu}) {
        configure<std::uint16_t>(function, PCI_COMMAND, 7);
        EXPECT_EQ(config(function, 0), ~0u) << function;
        EXPECT_EQ(config<std::uint16_t>(function, 2), 0xffff) << function;
        EXPECT_EQ(config<std::uint8_t>(function, 3), 0xff) << function;
    }
}

TEST_F(Enumerated, SizesOfBarsAndWindowsAreRead) {
    enumerate(0);
    configure<std::uint16_t>(0x100, PCI_COMMAND, 0);
    const auto sized = [&](std::uint32_t function, std::uint32_t offset) {
        configure(function, offset, ~0u);
        return config(function, offset);
    };
    const std::uint64_t size = test::card::hbm_size;
    EXPECT_EQ(sized(0x100, PCI_BASE_ADDRESS_4) & ~0xfu, static_cast<std::uint32_t>(~(size - 1)));
    EXPECT_EQ(sized(0x100, PCI_BASE_ADDRESS_5), static_cast<std::uint32_t>(~(size - 1) >> 32));
    EXPECT_EQ(sized(0x100, PCI_ROM_ADDRESS), 0u);
    EXPECT_EQ(sized(0, PCI_BASE_ADDRESS_0) | sized(0, PCI_BASE_ADDRESS_1), 0u);
    EXPECT_EQ(sized(0, PCI_IO_BASE) & 0xffff, 0u);
    EXPECT_EQ(sized(0, PCI_MEMORY_BASE), 0xfff0'fff0u);
    EXPECT_EQ(sized(0, PCI_PREF_MEMORY_BASE), 0xfff1'fff1u);
}

TEST_F(Enumerated, RootPortWithoutBusMasteringPassesNoRequest) {
    enumerate(0);
    configure<std::uint16_t>(0, PCI_COMMAND, PCI_COMMAND_MEMORY);
    EXPECT_EQ(a.engine.write<std::uint32_t>(0x1000, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_TRUE(errors_of(0) & PCI_ERR_UNC_UNSUP);
    EXPECT_EQ(ram.bytes().data()[0x1000], 0);
}

TEST_F(Enumerated, RequestsReachAPeerThatTheProcessorHasPlaced) {
    enumerate(0);
    enumerate(1);
    const auto other = hbm + 4 * test::card::hbm_size;
    EXPECT_EQ(a.engine.write<std::uint32_t>(other + 0x40, 0xcafe), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(b.hbm.bytes().data()[0x40], 0xfe);
    EXPECT_EQ(b.engine.read(hbm + 0x40), 0u);
    EXPECT_EQ(host.counters().peer_requests, 2u);
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(a.engine.request_dmi(other, dmi));
    EXPECT_EQ(dmi.get_dmi_ptr(), b.hbm.bytes().data());
    const auto revoked = a.engine.invalidations;
    configure<std::uint16_t>(0x200, PCI_COMMAND, PCI_COMMAND_MASTER);
    EXPECT_GT(a.engine.invalidations, revoked);
    EXPECT_EQ(a.engine.write<std::uint32_t>(other, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

/// Where a root complex with boot firmware has the messages to its own host.
TEST_F(Enumerated, MessageOfAFunctionIsAWriteToMemory) {
    enumerate(0);
    const std::array<std::uint32_t, 4> entry{0x2000, 0, 0x55, 0};
    for (std::uint32_t i = 0; i < entry.size(); ++i)
        cpu.write<std::uint32_t>(vectors + 16 + i * 4, entry[i]);
    std::uint32_t capability = config<std::uint8_t>(0x100, PCI_CAPABILITY_LIST);
    while (capability != 0 && config<std::uint8_t>(0x100, capability) != PCI_CAP_ID_MSIX)
        capability = config<std::uint8_t>(0x100, capability + 1);
    ASSERT_NE(capability, 0u);
    configure<std::uint16_t>(0x100, capability + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
    a.endpoint.interrupt(1);
    sc_core::sc_start(1, sc_core::SC_US);
    EXPECT_EQ(ram.bytes().data()[0x2000], 0x55);
    EXPECT_EQ(ram.bytes().data()[0x2004], 0);
}

TEST_F(Enumerated, MessageOfARootPortIsAWriteToMemory) {
    enumerate(0);
    std::uint32_t capability = config<std::uint8_t>(0, PCI_CAPABILITY_LIST);
    while (capability != 0 && config<std::uint8_t>(0, capability) != PCI_CAP_ID_MSI)
        capability = config<std::uint8_t>(0, capability + 1);
    ASSERT_NE(capability, 0u);
    const bool wide =
        (config<std::uint16_t>(0, capability + PCI_MSI_FLAGS) & PCI_MSI_FLAGS_64BIT) != 0;
    configure<std::uint32_t>(0, capability + PCI_MSI_ADDRESS_LO, 0x3000);
    configure<std::uint16_t>(0, capability + (wide ? PCI_MSI_DATA_64 : PCI_MSI_DATA_32), 0x77);
    configure<std::uint16_t>(0, capability + PCI_MSI_FLAGS, PCI_MSI_FLAGS_ENABLE);
    configure<std::uint16_t>(0, 0x40 + PCI_EXP_SLTCTL,
                             PCI_EXP_SLTCTL_HPIE | PCI_EXP_SLTCTL_DLLSCE | PCI_EXP_SLTCTL_PDCE);
    host.inject("surprise_down", {{"port", "0"}});
    sc_core::sc_start(1, sc_core::SC_US);
    EXPECT_EQ(ram.bytes().data()[0x3000], 0x77);
}

TEST_F(Enumerated, LinkLossAndHotResetLeaveTheFunctionUnplaced) {
    for (const bool is_lost : {true, false}) {
        SCOPED_TRACE(is_lost);
        enumerate(0);
        cpu.write<std::uint32_t>(hbm, 0x77);
        tlm::tlm_dmi dmi;
        ASSERT_TRUE(a.engine.request_dmi(0x1000, dmi));
        const auto revoked = a.engine.invalidations;
        if (is_lost) {
            host.inject("surprise_down", {{"port", "0"}});
            EXPECT_EQ(cpu.read(hbm), ~0u);
            EXPECT_EQ(config(0x100, 0), ~0u);
            host.inject("link_up", {{"port", "0"}});
        } else {
            configure<std::uint16_t>(0, PCI_BRIDGE_CONTROL, PCI_BRIDGE_CTL_BUS_RESET);
            configure<std::uint16_t>(0, PCI_BRIDGE_CONTROL, 0);
        }
        EXPECT_GT(a.engine.invalidations, revoked);
        EXPECT_EQ(cpu.read(hbm), ~0u);  // memory space is off
        a.engine.read(0x1000);
        EXPECT_EQ(a.engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
        EXPECT_EQ(config(0x100, PCI_COMMAND) & PCI_COMMAND_MASTER, 0u);
        enumerate(0);
        EXPECT_EQ(cpu.read(hbm), 0x77u);
        EXPECT_EQ(a.engine.write<std::uint32_t>(0x1000, 5), tlm::TLM_OK_RESPONSE);
    }
    EXPECT_TRUE(host.functions().empty());
}

struct WithoutMemory : Enumerated {
    WithoutMemory() : Enumerated(false) {}
};

TEST_F(WithoutMemory, RequestsAreUnsupported) {
    enumerate(0);
    tlm::tlm_dmi dmi;
    std::uint32_t peeked = 0;
    EXPECT_FALSE(a.engine.request_dmi(0x1000, dmi));
    EXPECT_EQ(a.engine.debug_read(0x1000, peeked), 0u);
    EXPECT_EQ(errors_of(0) & PCI_ERR_UNC_UNSUP, 0u);
    EXPECT_EQ(a.engine.write<std::uint32_t>(0x1000, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_TRUE(errors_of(0) & PCI_ERR_UNC_UNSUP);
    enumerate(1);
    EXPECT_EQ(a.engine.write<std::uint32_t>(hbm + 4 * test::card::hbm_size, 1),
              tlm::TLM_OK_RESPONSE);
}

}  // namespace
