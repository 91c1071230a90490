// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/pcie_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <string>
#include <vector>

#include "models/misuse_rules.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/base_protocol.h"
#include "platform/framework/tlm/memory_port.h"
#include "tests/support/lspci.h"
#include "tests/unit/pcie/pcie/pcie_fixture.h"

namespace {

using namespace trn;
using testing::HasSubstr;
using testing::Not;

struct PcieEndpointTest : testing::Test, test::pcie_system {};

TEST_F(PcieEndpointTest, LspciDecodesEveryCapability) {
    enable();
    set_config<std::uint64_t>(0x10, 0xc1'0000'0000);
    std::vector<std::uint8_t> space(4096);
    root.config_read(0, space);
    const std::string text = test::lspci(space);
    SCOPED_TRACE(text);
    EXPECT_THAT(text, HasSubstr("[1d0f:7564] (rev ff)"));
    EXPECT_THAT(text, HasSubstr("Processing accelerators [1200]"));
    EXPECT_THAT(text, HasSubstr("Memory at c100000000 (64-bit, non-prefetchable)"));
    EXPECT_THAT(text, HasSubstr("Express (v2) Endpoint"));
    EXPECT_THAT(text, HasSubstr("FLReset+"));
    EXPECT_THAT(text, HasSubstr("Speed 64GT/s, Width x8"));
    EXPECT_THAT(text, HasSubstr("Power Management version 3"));
    EXPECT_THAT(text, HasSubstr("MSI-X: Enable- Count=32 Masked-"));
    EXPECT_THAT(text, HasSubstr("Vector table: BAR=2 offset=00000000"));
    EXPECT_THAT(text, HasSubstr("PBA: BAR=2 offset=00001000"));
    EXPECT_THAT(text, HasSubstr("[100 v2] Advanced Error Reporting"));
    EXPECT_THAT(text, HasSubstr("Device Serial Number 00-00-00-00-00-00-00-01"));
    for (const char* complaint :
         {"<?>", "!!!", "unknown", "chain looped", "broken", "access denied"})
        EXPECT_THAT(text, Not(HasSubstr(complaint)));
}

TEST_F(PcieEndpointTest, WritingOnesToBarsReadsBackTheirSizes) {
    for (std::uint32_t bar = 0; bar < 6; ++bar) set_config<std::uint32_t>(0x10 + 4 * bar, ~0u);
    EXPECT_EQ(config<std::uint64_t>(0x10), 0xffff'ffff'0000'0004u);  // 4 GiB, 64-bit
    EXPECT_EQ(config<std::uint32_t>(0x18), 0xffff'e000u);            // 8 KiB, 32-bit
    EXPECT_EQ(config<std::uint32_t>(0x1c), 0u);
    EXPECT_EQ(config<std::uint64_t>(0x20), 0xffff'ffc0'0000'000cu);  // 256 GiB, prefetchable
    EXPECT_EQ(config<std::uint32_t>(0x30), 0u);                      // no ROM
}

TEST_F(PcieEndpointTest, DisabledMemorySpaceReadsAllOnesAndIsReported) {
    EXPECT_EQ(read<std::uint32_t>(0, 0), ~0u);
    EXPECT_EQ(endpoint.counters().unsupported_requests, 1u);
    EXPECT_EQ(misuse::count(misuse::host_access_refused, "endpoint"), 1u);
    const auto aer_status = endpoint.space().get<std::uint32_t>(0x100 + PCI_ERR_UNCOR_STATUS);
    EXPECT_EQ(aer_status, 0u);  // advisory, and that is masked after a reset
    EXPECT_EQ(config<std::uint16_t>(0x40 + PCI_EXP_DEVSTA),
              PCI_EXP_DEVSTA_CED | PCI_EXP_DEVSTA_URD);
    enable();
    EXPECT_EQ(read<std::uint32_t>(0, 0), 0u);
}

TEST_F(PcieEndpointTest, RegistersAcceptEveryHostAccessWidth) {
    enable();
    write<std::uint32_t>(0, 0x10, 0x4433'2211);
    write<std::uint64_t>(0, 0x18, 0x8877'6655'4433'2211);
    EXPECT_EQ(registers.words[0x18 / 4], 0x4433'2211u);
    EXPECT_EQ(registers.words[0x1c / 4], 0x8877'6655u);
    EXPECT_EQ(read<std::uint32_t>(0, 0x10), 0x4433'2211u);
    EXPECT_EQ(read<std::uint64_t>(0, 0x18), 0x8877'6655'4433'2211u);
    EXPECT_EQ(read<std::uint8_t>(0, 0x12), 0x33u);
    EXPECT_EQ(read<std::uint16_t>(0, 0x11), 0x3322u);

    std::array<std::uint8_t, 37> odd{};
    for (std::uint8_t i = 0; i < odd.size(); ++i) odd[i] = i;
    EXPECT_TRUE(root.bar_write(0, ram_at + 3, odd, delay));
    std::array<std::uint8_t, 37> back{};
    EXPECT_TRUE(root.bar_read(0, ram_at + 3, back, delay));
    EXPECT_EQ(back, odd);
    EXPECT_EQ(ram.bytes().data()[3 + 36], 36);
}

/// Peers' requests of any length arrive undivided.
TEST_F(PcieEndpointTest, ReadOfOddLengthReadsEachRegisterOnce) {
    enable();
    for (std::uint32_t i = 0; i < 8; ++i) registers.words[i] = 0x0302'0100 + 0x0404'0404 * i;
    for (unsigned first = 0; first < 4; ++first) {
        for (unsigned length = 1; length < 20; ++length) {
            registers.accesses.clear();
            std::array<std::uint8_t, 20> bytes{};
            tlm::tlm_generic_payload request;
            const pcie::framed framed(request, 0x0200);  // another function
            request.set_read();
            request.set_address(root.bar(0).bus_address + first);
            request.set_data_ptr(bytes.data());
            request.set_data_length(length);
            request.set_streaming_width(length);
            sc_core::sc_time untimed;
            complex.port[0].send(request, untimed);
            ASSERT_TRUE(request.is_response_ok());
            for (unsigned i = 0; i < length; ++i) ASSERT_EQ(bytes[i], first + i);
            ASSERT_EQ(registers.accesses.size(), (first + length + 3) / 4);
            for (const auto& [at, count] : registers.accesses)
                ASSERT_EQ(count, 1u) << at << " of " << length << " bytes at " << first;
        }
    }
}

TEST_F(PcieEndpointTest, PartialRegisterWritesAreRefused) {
    enable();
    registers.words[1] = 5;
    write<std::uint8_t>(0, 4, 0xff);
    EXPECT_EQ(registers.words[1], 5u);
    EXPECT_EQ(endpoint.bridge().counters().dropped_writes, 1u);
}

TEST_F(PcieEndpointTest, HolesOfTheChipReadZeroNotOnes) {
    enable();
    EXPECT_EQ(read<std::uint32_t>(0, 0x2000'0000), 0u);
    write<std::uint32_t>(0, 0x2000'0000, 1);
    EXPECT_EQ(read<std::uint64_t>(4, slice - 8), 0u);
    EXPECT_EQ(endpoint.bridge().counters().failed_reads, 2u);
    EXPECT_EQ(endpoint.bridge().counters().dropped_writes, 1u);
    EXPECT_EQ(endpoint.counters().unsupported_requests, 0u);
    EXPECT_EQ(misuse::count(misuse::host_read_of_nothing), 2u);
    EXPECT_EQ(misuse::count(misuse::host_write_to_nothing), 1u);
}

TEST_F(PcieEndpointTest, OnlyTheMailboxMayBeReadDuringBoot) {
    irq_out chip("chip_booting");
    chip.bind(endpoint.booting);
    chip.set(true);
    enable();
    // No memory after the boot words.
    read<std::uint32_t>(0, endpoint.settings().boot_words + 0x24);
    EXPECT_EQ(misuse::count(misuse::access_while_booting), 0u);
    read<std::uint32_t>(0, 0);
    write<std::uint32_t>(0, 0, 1);
    write<std::uint32_t>(4, 0, 1);
    EXPECT_EQ(misuse::count(misuse::access_while_booting, "endpoint"), 3u);
    chip.set(false);
    read<std::uint32_t>(0, 0);
    EXPECT_EQ(misuse::count(misuse::access_while_booting), 3u);
    EXPECT_EQ(misuse::summary().back().first_initiator, "the host");
}

TEST_F(PcieEndpointTest, AccessesOutsideABarAreRefused) {
    enable();
    read<std::uint32_t>(0, (std::uint64_t{4} << 30) - 2);
    EXPECT_FALSE(known);
    read<std::uint32_t>(1, 0);
    EXPECT_FALSE(known);
    read<std::uint32_t>(4, ~std::uint64_t{0});
    EXPECT_FALSE(known);
    write<std::uint32_t>(9, 0, 0);
    EXPECT_FALSE(known);
}

TEST_F(PcieEndpointTest, BarValuesDoNotAffectDecoding) {
    enable();
    set_config<std::uint64_t>(0x10, 0xc0'0000'0000);
    set_config<std::uint64_t>(0x20, 0);
    EXPECT_EQ(config<std::uint64_t>(0x10), 0xc0'0000'0004u);
    registers.words[0] = 7;
    EXPECT_EQ(read<std::uint32_t>(0, 0), 7u);
}

TEST_F(PcieEndpointTest, DmaNeedsBusMasterAndD0) {
    std::vector<std::uint8_t> page(4096, 0x5a);
    ASSERT_TRUE(root.map_host({0x1000, 4096, page.data(), true, true}));
    EXPECT_EQ(engine.write<std::uint32_t>(0x1000, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(endpoint.counters().refused_dma, 1u);
    EXPECT_EQ(misuse::count(misuse::dma_without_bus_master), 1u);
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(engine.request_dmi(0x1000, dmi));

    enable();
    EXPECT_EQ(engine.read(0x1000), 0x5a5a5a5au);
    ASSERT_TRUE(engine.request_dmi(0x1000, dmi));
    EXPECT_EQ(dmi.get_dmi_ptr(), page.data());
    EXPECT_EQ(dmi.get_start_address(), 0x1000u);
    EXPECT_EQ(dmi.get_end_address(), 0x1fffu);

    const auto invalidations = engine.invalidations;
    const std::uint32_t power = 0x7c;  // follows the PCI Express capability at 0x40
    ASSERT_EQ(config<std::uint8_t>(power), PCI_CAP_ID_PM);
    set_config<std::uint16_t>(power + PCI_PM_CTRL, 3);
    EXPECT_EQ(engine.invalidations, invalidations + 1);
    EXPECT_EQ(engine.read(0x1000), 0u);
    EXPECT_EQ(engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(read<std::uint32_t>(0, 0), ~0u);
    set_config<std::uint16_t>(power + PCI_PM_CTRL, 1);  // D1 is unsupported: stays in D3hot
    EXPECT_EQ(config<std::uint16_t>(power + PCI_PM_CTRL) & 3, 3);
    set_config<std::uint16_t>(power + PCI_PM_CTRL, 0);
    EXPECT_EQ(engine.read(0x1000), 0x5a5a5a5au);
}

TEST_F(PcieEndpointTest, DmaOfAHostThatHasLeftIsNamedSo) {
    enable();
    EXPECT_EQ(misuse::count(misuse::host_left_during_dma), 0u);
    root.detach();
    EXPECT_EQ(engine.write<std::uint32_t>(0x1000, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(misuse::count(misuse::host_left_during_dma), 1u);
    EXPECT_EQ(misuse::count(misuse::dma_without_bus_master), 0u);
    set_config<std::uint16_t>(PCI_COMMAND, PCI_COMMAND_MEMORY);  // the next host
    EXPECT_EQ(engine.write<std::uint32_t>(0x1000, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(misuse::count(misuse::host_left_during_dma), 1u);
    EXPECT_EQ(misuse::count(misuse::dma_without_bus_master), 1u);
}

TEST_F(PcieEndpointTest, DmaToFreedHostMemoryIsNamedSo) {
    enable();
    std::vector<std::uint8_t> page(4096);
    ASSERT_TRUE(root.map_host({0x1000, 4096, page.data(), true, true}));
    ASSERT_TRUE(root.unmap_host(0x1000, 4096, [](const auto&) {}));
    EXPECT_EQ(engine.write<std::uint32_t>(0x1ffc, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    ASSERT_EQ(misuse::summary().size(), 1u);
    EXPECT_THAT(misuse::summary()[0].first_detail, testing::HasSubstr("the host has freed this"));
    misuse::clear();
    EXPECT_EQ(engine.write<std::uint32_t>(0x9000, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_THAT(misuse::summary()[0].first_detail, testing::Not(testing::HasSubstr("freed")));
}

TEST_F(PcieEndpointTest, UnmappedHostAddressIsAMasterAbort) {
    enable();
    EXPECT_EQ(engine.write<std::uint32_t>(0x9000, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(root.memory().unmapped_accesses(), 1u);
    EXPECT_EQ(misuse::count(misuse::dma_outside_host_memory), 1u);
    EXPECT_TRUE(config<std::uint16_t>(PCI_STATUS) & PCI_STATUS_REC_MASTER_ABORT);
}

TEST_F(PcieEndpointTest, FunctionLevelResetClearsSoftwareStateAndNotifiesTheChip) {
    int resets = 0;
    irq_in chip{"chip", 1, [&](unsigned, bool level) { resets += level ? 1 : 0; }};
    endpoint.function_reset.bind(chip);
    enable();
    std::uint32_t raised = 0;
    root.on_interrupt(3, [&] { ++raised; });
    set_config<std::uint8_t>(PCI_INTERRUPT_LINE, 11);
    set_config<std::uint16_t>(0x40 + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
    EXPECT_EQ(resets, 1);
    EXPECT_EQ(config<std::uint8_t>(PCI_INTERRUPT_LINE), 0);
    EXPECT_EQ(config<std::uint16_t>(PCI_COMMAND), 0);
    EXPECT_EQ(engine.invalidations, 2u);

    root.reset();  // an operating system resets, then restores the configuration
    EXPECT_EQ(resets, 2);
    enable();
    registers.words[0] = 9;
    EXPECT_EQ(read<std::uint32_t>(0, 0), 9u);
    EXPECT_TRUE(endpoint.interrupt(3));
    EXPECT_EQ(raised, 1u);
}

/// As vfio-pci does in a guest before a program opens the function: nothing but a configuration
/// write reaches the platform.
TEST_F(PcieEndpointTest, GuestsFunctionLevelResetLeavesAFunctionThatWorks) {
    constexpr std::uint32_t msix = 0x84, control = 0x40 + PCI_EXP_DEVCTL;
    enable();
    set_config<std::uint64_t>(0x10, 0xc0'0000'0000);
    std::uint32_t raised = 0;
    root.on_interrupt(3, [&] { ++raised; });
    set_config<std::uint16_t>(msix + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
    write<std::uint32_t>(2, 3 * PCI_MSIX_ENTRY_SIZE, 0xfee0'1000);
    registers.words[0] = 9;
    for (const unsigned width : {1u, 2u, 4u}) {  // of the write
        SCOPED_TRACE(width);
        const auto old = config<std::uint32_t>(control) | PCI_EXP_DEVCTL_BCR_FLR;
        if (width == 1)
            set_config<std::uint8_t>(control + 1, static_cast<std::uint8_t>(old >> 8));
        else if (width == 2)
            set_config<std::uint16_t>(control, static_cast<std::uint16_t>(old));
        else
            set_config<std::uint32_t>(control, old);
        EXPECT_EQ(config<std::uint16_t>(PCI_COMMAND), 0);
        EXPECT_EQ(config<std::uint64_t>(0x10), 0xc0'0000'0004u);
        EXPECT_EQ(config<std::uint16_t>(msix + PCI_MSIX_FLAGS) & PCI_MSIX_FLAGS_ENABLE, 0);
        enable();
        EXPECT_EQ(read<std::uint32_t>(0, 0), 9u);
        EXPECT_EQ(read<std::uint32_t>(2, 3 * PCI_MSIX_ENTRY_SIZE), 0u);
        EXPECT_EQ(read<std::uint32_t>(2, 3 * PCI_MSIX_ENTRY_SIZE + PCI_MSIX_ENTRY_VECTOR_CTRL), 1u);
        raised = 0;
        endpoint.interrupt(3);
        EXPECT_EQ(raised, 1u);
    }
}

/// 6.6.2 excludes Max_Payload_Size and the link; 6.6.1 does not.
TEST_F(PcieEndpointTest, FunctionLevelResetKeepsPayloadSizeAndLinkControl) {
    constexpr std::uint32_t control = 0x40 + PCI_EXP_DEVCTL, link = 0x40 + PCI_EXP_LNKCTL;
    constexpr std::uint16_t payload_512 = 2 << 5, read_request_4096 = 5 << 12;
    set_config<std::uint16_t>(link, PCI_EXP_LNKCTL_CCC);
    set_config<std::uint16_t>(control, payload_512 | read_request_4096);
    set_config<std::uint16_t>(control, payload_512 | PCI_EXP_DEVCTL_BCR_FLR);
    EXPECT_EQ(config<std::uint16_t>(control), 0x2810 | payload_512);
    EXPECT_EQ(config<std::uint16_t>(link), PCI_EXP_LNKCTL_CCC);
    pcie::signal(complex.port[0], pcie::tlp::space::hot_reset);
    EXPECT_EQ(config<std::uint16_t>(control), 0x2810);
    EXPECT_EQ(config<std::uint16_t>(link), 0);
}

TEST_F(PcieEndpointTest, ResetRestoresDeviceControlAndEndsMsix) {
    constexpr std::uint32_t msix = 0x84, control = 0x40 + PCI_EXP_DEVCTL;
    enable();
    set_config<std::uint16_t>(control, 0x2810 | PCI_EXP_DEVCTL_NFERE);
    set_config<std::uint16_t>(msix + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
    root.reset();
    EXPECT_EQ(config<std::uint16_t>(control), 0x2810 | PCI_EXP_DEVCTL_NFERE);
    EXPECT_EQ(config<std::uint16_t>(msix + PCI_MSIX_FLAGS) & PCI_MSIX_FLAGS_ENABLE, 0);
}

TEST_F(PcieEndpointTest, MsixTableReadsBackWhatTheHostHasWritten) {
    EXPECT_EQ(read<std::uint32_t>(2, 0), ~0u);  // memory space is off
    write<std::uint32_t>(2, 0, 0x1234);
    enable();
    root.on_interrupt(1, [] {});
    EXPECT_EQ(read<std::uint32_t>(2, 0), 0u);
    EXPECT_EQ(read<std::uint32_t>(2, PCI_MSIX_ENTRY_VECTOR_CTRL), 1u);
    const std::uint64_t entry = PCI_MSIX_ENTRY_SIZE;  // vector 1
    write<std::uint64_t>(2, entry, 0x1'fee0'1003);
    write<std::uint32_t>(2, entry + PCI_MSIX_ENTRY_DATA, 0x4041);
    write<std::uint32_t>(2, entry + PCI_MSIX_ENTRY_VECTOR_CTRL, 0xffff'fffe);
    EXPECT_EQ(read<std::uint64_t>(2, entry), 0x1'fee0'1000u);
    EXPECT_EQ(read<std::uint32_t>(2, entry + PCI_MSIX_ENTRY_DATA), 0x4041u);
    EXPECT_EQ(read<std::uint8_t>(2, entry + PCI_MSIX_ENTRY_DATA + 1), 0x40u);
    EXPECT_EQ(read<std::uint32_t>(2, entry + PCI_MSIX_ENTRY_VECTOR_CTRL), 0u);
    EXPECT_EQ(read<std::uint32_t>(2, 32 * PCI_MSIX_ENTRY_SIZE), 0u);  // after the table
}

/// Requests with byte enables, a streaming width or a command that TLPs do not have.
struct unchecked_protocol {
    unchecked_protocol() { base_protocol::set_policy(base_protocol::policy::off); }
};
struct PayloadFormTest : unchecked_protocol, PcieEndpointTest {
    using command = tlm::tlm_command;
    static constexpr auto read_it = tlm::TLM_READ_COMMAND, write_it = tlm::TLM_WRITE_COMMAND,
                          ignore_it = tlm::TLM_IGNORE_COMMAND,
                          unknown = static_cast<command>(tlm::TLM_IGNORE_COMMAND + 1);

    PayloadFormTest() { enable(); }
    tlm::tlm_response_status send(command what, std::uint64_t address, unsigned length = 8,
                                  std::vector<std::uint8_t> enables = {}, unsigned width = ~0u) {
        data = filled;
        tlm::tlm_generic_payload request;
        const pcie::framed framed(request, 0);
        set_access(request, what, address, data.data(), length);
        if (width != ~0u) request.set_streaming_width(width);
        return complete(request, enables);
    }
    tlm::tlm_response_status configure(command what, std::uint64_t offset, unsigned length,
                                       std::vector<std::uint8_t> enables = {},
                                       unsigned width = ~0u) {
        data = filled;
        tlm::tlm_generic_payload request;
        pcie::framed framed(request, 0);
        framed.header.destination = pcie::tlp::space::config;
        framed.header.target = root.id();
        set_access(request, what, offset, what == ignore_it ? nullptr : data.data(), length);
        if (width != ~0u) request.set_streaming_width(width);
        return complete(request, enables);
    }
    std::uint64_t bar(unsigned index) { return root.bar(index).bus_address; }

    static constexpr std::array<std::uint8_t, 8> filled{0xa0, 0xa1, 0xa2, 0xa3,
                                                        0xa4, 0xa5, 0xa6, 0xa7};
    std::array<std::uint8_t, 8> data{};
    static constexpr std::uint8_t on = TLM_BYTE_ENABLED, off = TLM_BYTE_DISABLED;

private:
    tlm::tlm_response_status complete(tlm::tlm_generic_payload& request,
                                      std::vector<std::uint8_t>& enables) {
        if (!enables.empty()) {
            request.set_byte_enable_ptr(enables.data());
            request.set_byte_enable_length(static_cast<unsigned>(enables.size()));
        }
        sc_core::sc_time untimed;
        complex.port[0].send(request, untimed);
        return request.get_response_status();
    }
};

TEST_F(PayloadFormTest, DisabledBytesOfTheMsixTableAreNotAccessed) {
    ASSERT_EQ(send(read_it, bar(2)), tlm::TLM_OK_RESPONSE);
    const auto before = data;
    const std::vector<std::uint8_t> first_word{on, on, on, on, off, off, off, off};
    EXPECT_EQ(send(write_it, bar(2), 8, first_word), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(send(write_it, bar(2), 8, {}, 4), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(send(read_it, bar(2)), tlm::TLM_OK_RESPONSE);
    EXPECT_THAT(data, testing::ElementsAre(0xa0, 0xa1, 0xa2, 0xa3, before[4], before[5], before[6],
                                           before[7]));
    EXPECT_EQ(send(read_it, bar(2), 8, {off, on}), tlm::TLM_OK_RESPONSE);
    EXPECT_THAT(data,
                testing::ElementsAre(0xa0, 0xa1, 0xa2, 0xa3, 0xa4, before[5], 0xa6, before[7]));
}

TEST_F(PayloadFormTest, ConfigurationRequestAccessesEnabledBytesOfOneDword) {
    const std::uint32_t line = PCI_INTERRUPT_LINE, command = PCI_COMMAND;
    set_config<std::uint8_t>(line, 0x11);
    EXPECT_EQ(configure(write_it, line, 4, {off, on, on, on}), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(config<std::uint8_t>(line), 0x11);
    EXPECT_EQ(configure(write_it, line, 4, {on, off}), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(config<std::uint8_t>(line), 0xa0);
    EXPECT_EQ(configure(read_it, 0, 4, {off, on, off, off}), tlm::TLM_OK_RESPONSE);
    EXPECT_THAT(data, testing::ElementsAre(0xa0, 0x1d, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7));
    EXPECT_EQ(configure(read_it, PCI_DEVICE_ID, 2), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(data[0] | data[1] << 8, 0x7564);

    const auto before = config<std::uint16_t>(command);
    for (const unsigned length : {0u, 5u, 8u})
        EXPECT_EQ(configure(write_it, command, length), tlm::TLM_BURST_ERROR_RESPONSE) << length;
    EXPECT_EQ(configure(write_it, command + 3, 2), tlm::TLM_BURST_ERROR_RESPONSE);
    for (const unsigned width : {0u, 2u})
        EXPECT_EQ(configure(write_it, command, 4, {}, width), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(config<std::uint16_t>(command), before);
}

TEST_F(PayloadFormTest, RegistersRefuseAStreamingBurst) {
    EXPECT_EQ(send(write_it, bar(0), 8, {}, 4), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(send(read_it, bar(0), 8, {}, 4), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_TRUE(registers.accesses.empty());
    EXPECT_EQ(send(read_it, bar(0), 8, {}, 0), tlm::TLM_BURST_ERROR_RESPONSE);
    // Memory executes one.
    EXPECT_EQ(send(write_it, bar(0) + ram_at + 2, 8, {}, 4), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(read<std::uint64_t>(0, ram_at), 0xa7a6'a5a4'0000u);
}

TEST_F(PayloadFormTest, RegistersRefuseAPartlyEnabledWord) {
    registers.words[0] = 0x4433'2211;
    const auto bytes_before = filled;
    EXPECT_EQ(send(read_it, bar(0), 8, {on, off}), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    EXPECT_EQ(data, bytes_before);
    EXPECT_EQ(send(write_it, bar(0), 8, {on, off}), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    EXPECT_EQ(registers.words[0], 0x4433'2211u);
    EXPECT_EQ(endpoint.bridge().counters().failed_reads, 1u);
    EXPECT_EQ(endpoint.bridge().counters().dropped_writes, 1u);
    // A hole reads zero, in the enabled bytes.
    EXPECT_EQ(send(read_it, bar(0) + 0x3000'0000, 8, {on, off}), tlm::TLM_OK_RESPONSE);
    EXPECT_THAT(data, testing::ElementsAre(0, 0xa1, 0, 0xa3, 0, 0xa5, 0, 0xa7));
}

TEST_F(PayloadFormTest, ByteEnablesWithoutLengthAreRefused) {
    std::uint8_t enable = TLM_BYTE_ENABLED;
    for (const unsigned index : {0u, 2u, 4u}) {
        data = filled;
        tlm::tlm_generic_payload request;
        const pcie::framed framed(request, 0);
        set_access(request, read_it, bar(index), data.data(), 4);
        request.set_byte_enable_ptr(&enable);
        request.set_byte_enable_length(0);
        sc_core::sc_time untimed;
        complex.port[0].send(request, untimed);
        EXPECT_EQ(request.get_response_status(), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        EXPECT_EQ(data, filled);
    }
}

TEST_F(PayloadFormTest, OnlyReadsAndWritesAccessAnything) {
    for (const std::uint64_t at : {bar(0), bar(2), bar(4)}) {
        EXPECT_EQ(send(ignore_it, at, 4), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(send(unknown, at, 4), tlm::TLM_COMMAND_ERROR_RESPONSE);
    }
    EXPECT_EQ(configure(ignore_it, 0, 4), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(configure(unknown, 0, 4), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(data, filled);
    EXPECT_TRUE(registers.accesses.empty());
}

TEST_F(PcieEndpointTest, InterruptOfAVectorWithoutHandlerIsPending) {
    enable();
    unsigned raised = 0;
    const auto handle = [&](unsigned vector) { root.on_interrupt(vector, [&] { ++raised; }); };
    handle(2);
    root.on_interrupt(2, {});  // the last one
    endpoint.interrupt(2);
    EXPECT_EQ(read<std::uint32_t>(2, 0x1000), 4u);  // PBA
    handle(2);
    EXPECT_EQ(raised, 1u);
    EXPECT_EQ(read<std::uint32_t>(2, 0x1000), 0u);
    // A guest enables MSI-X before it unmasks a vector.
    root.detach();
    enable();
    set_config<std::uint16_t>(0x84 + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
    endpoint.interrupt(2);
    handle(2);
    EXPECT_EQ(raised, 2u);
    // A guest disables MSI-X, and its virtual machine removes the handlers after that.
    set_config<std::uint16_t>(0x84 + PCI_MSIX_FLAGS, 0);
    root.on_interrupt(2, {});
    endpoint.interrupt(2);
    EXPECT_EQ(read<std::uint32_t>(2, 0x1000), 0u);
    handle(2);
    EXPECT_EQ(raised, 2u);
}

TEST_F(PcieEndpointTest, VectorReachesTheRegisteredHostCallback) {
    std::vector<unsigned> received;
    root.on_interrupt(0, [&] { received.push_back(0); });
    root.on_interrupt(31, [&] { received.push_back(31); });
    EXPECT_TRUE(endpoint.interrupt(31));  // pending until the function is bus master
    EXPECT_TRUE(received.empty());
    enable();
    EXPECT_EQ(received, (std::vector<unsigned>{31}));
    EXPECT_TRUE(endpoint.interrupt(0));
    EXPECT_TRUE(endpoint.interrupt(5));  // no callback is registered
    EXPECT_FALSE(endpoint.interrupt(32));
    endpoint.msix.drive(31, true);
    endpoint.msix.drive(31, false);
    EXPECT_EQ(received, (std::vector<unsigned>{31, 0, 31}));
    root.on_interrupt(0, {});
    EXPECT_TRUE(endpoint.interrupt(0));
    EXPECT_EQ(received.size(), 3u);
}

TEST_F(PcieEndpointTest, MaskedFunctionKeepsVectorsPending) {
    enable();
    int raised = 0;
    root.on_interrupt(2, [&] { ++raised; });
    const std::uint32_t msix = 0x84;
    ASSERT_EQ(config<std::uint8_t>(msix), PCI_CAP_ID_MSIX);
    set_config<std::uint16_t>(msix + PCI_MSIX_FLAGS,
                              PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
    endpoint.interrupt(2);
    EXPECT_EQ(raised, 0);
    EXPECT_EQ(read<std::uint32_t>(2, 0x1000), 4u);  // PBA
    set_config<std::uint16_t>(msix + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
    EXPECT_EQ(raised, 1);
    EXPECT_EQ(read<std::uint32_t>(2, 0x1000), 0u);
}

TEST_F(PcieEndpointTest, HostCannotOverwriteTheMsixTableOfTheRootPort) {
    enable();
    int raised = 0;
    root.on_interrupt(0, [&] { ++raised; });
    for (std::uint64_t at = 0; at < 0x1000; at += 4) write<std::uint32_t>(2, at, 0xdead'beef);
    EXPECT_TRUE(known);
    endpoint.interrupt(0);
    EXPECT_EQ(raised, 1);
}

TEST_F(PcieEndpointTest, DetachedFunctionRaisesNoInterrupts) {
    enable();
    int raised = 0;
    root.on_interrupt(0, [&] { ++raised; });
    set_config<std::uint64_t>(0x10, 0xc0'0000'0000);
    root.detach();
    endpoint.interrupt(0);
    EXPECT_EQ(raised, 0);
    EXPECT_EQ(config<std::uint16_t>(PCI_COMMAND), 0);
    EXPECT_EQ(config<std::uint64_t>(0x10), 4u);
    EXPECT_EQ(engine.read(0), 0u);
    EXPECT_EQ(engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(PcieEndpointTest, BarMemoryIsMappable) {
    const auto info = root.bar(4);
    EXPECT_EQ(info.size, std::uint64_t{256} << 30);
    EXPECT_TRUE(info.prefetchable);
    EXPECT_EQ(info.descriptor, hbm0.bytes().descriptor());
    EXPECT_EQ(info.descriptor_offset, 0u);
    ASSERT_EQ(info.areas.size(), 2u);
    EXPECT_EQ(info.areas[0].offset, 0u);
    EXPECT_EQ(info.areas[0].size, stack);
    EXPECT_EQ(info.areas[1].offset, slice);
    EXPECT_EQ(info.areas[1].size, stack);
    EXPECT_EQ(root.bar(0).descriptor, -1);
    EXPECT_EQ(root.bar(0).size, std::uint64_t{4} << 30);
    EXPECT_EQ(root.bar(2).size, 0x2000u);
    EXPECT_EQ(root.bar(1).size, 0u);
    EXPECT_EQ(root.bar(77).size, 0u);
    EXPECT_EQ(config<std::uint16_t>(PCI_COMMAND), 0);  // a query has no side effects
}

TEST_F(PcieEndpointTest, AccessesTakeSimulatedTime) {
    enable();
    delay = sc_core::SC_ZERO_TIME;
    read<std::uint32_t>(0, 0);
    EXPECT_EQ(delay, endpoint.settings().request_latency);
}

/// The chip's writes to its own BARs return from the root port during its access.
struct PostponedWriteTest : PcieEndpointTest {
    PostponedWriteTest() {
        enable();
        constexpr std::uint32_t acs = 0x148;  // after AER
        const std::uint8_t forwarding[2] = {PCI_ACS_UF, 0};
        complex.root_port(0).space().write(acs + PCI_ACS_CTRL, forwarding);
    }
    void post(std::uint64_t offset, std::uint32_t value) {
        EXPECT_EQ(engine.write(root.bar(0).bus_address + offset, value), tlm::TLM_OK_RESPONSE);
    }
    static void run(double ns) { sc_core::sc_start(sc_core::sc_time(ns, sc_core::SC_NS)); }
};

TEST_F(PostponedWriteTest, IsRepeatedWhenItsTargetDefersIt) {
    post(slow_at + 8, 0x12);
    run(10);
    EXPECT_EQ(slow.bytes[8], 0);
    run(1000);
    EXPECT_EQ(slow.bytes[8], 0x12);
    EXPECT_EQ(slow.questions, 1u);
}

TEST_F(PostponedWriteTest, IsNotOvertakenByALaterOne) {
    post(slow_at + 8, 0x12);
    post(ram_at + 4, 0x34);
    run(10);
    EXPECT_EQ(ram.bytes().data()[4], 0);
    run(1000);
    EXPECT_EQ(slow.bytes[8], 0x12);
    EXPECT_EQ(ram.bytes().data()[4], 0x34);
}

TEST_F(PostponedWriteTest, EndsWithAResetOfTheFunction) {
    post(slow_at + 8, 0x12);
    run(10);
    root.reset();
    run(1000);
    EXPECT_EQ(slow.bytes[8], 0);
}

TEST_F(PcieEndpointTest, DirectDmaOccupiesTheLinkInItsDirection) {
    std::vector<std::uint8_t> page(4096);
    ASSERT_TRUE(root.map_host({0x1000, 4096, page.data(), true, true}));
    enable();
    memory_port port(engine.out);
    const auto* window = port.find(tlm::TLM_WRITE_COMMAND, 0x1000);
    ASSERT_NE(window, nullptr);
    // Gen6 x8: 64 GB/s, less FLIT overhead and the header of each 512 bytes: 56.36 GB/s.
    const auto now = sc_core::sc_time_stamp();
    const auto seconds = [&](tlm::tlm_command command) {
        return (window->reserve(command, 0x1000, 56'360'000, now) - now).to_seconds();
    };
    EXPECT_NEAR(seconds(tlm::TLM_WRITE_COMMAND), 0.001, 0.00001);
    EXPECT_NEAR(seconds(tlm::TLM_WRITE_COMMAND), 0.002, 0.00002);
    // Independent of the other direction.
    EXPECT_NEAR(seconds(tlm::TLM_READ_COMMAND), 0.001, 0.00001);
}

}  // namespace
