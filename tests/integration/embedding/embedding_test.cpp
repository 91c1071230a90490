// SPDX-License-Identifier: Apache-2.0
// Boards as modules of another hierarchy: doc/embedding.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pci_regs.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "models/pcie/pcie/tlp.h"
#include "models/soc/reset_controller/reset_controller.h"
#include "platform/embedding/board_module.h"
#include "platform/embedding/reports.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/registers/misuse_rules.h"
#include "platform/framework/tlm/set_access.h"
#include "tests/support/plug_device.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;
using sc_core::sc_time;
using testing::HasSubstr;

/// Text of the SC_ERROR that `work` reports; "" without one.
std::string error_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const sc_core::sc_report& report) {
        EXPECT_STREQ(report.get_msg_type(), board_report);
        return report.get_msg();
    }
    return {};
}

const char* kind_of(const std::string& name) {
    const auto* const object = sc_core::sc_find_object(name.c_str());
    return object == nullptr ? "(none)" : object->kind();
}

/// A foreign module around a board module.
struct enclosure : sc_core::sc_module {
    enclosure(const sc_core::sc_module_name& name, const std::string& file,
              const board_module::parameters& values = {})
        : sc_module(name), dut("dut", file, values) {}
    board_module dut;
};

bool is_ready(const board_module& chip, const std::string& path) {
    return chip.modules().find<reset_controller>(path)->ready();
}

TEST(BoardModuleTest, ChipBootsInTheHierarchyOfItsUser) {
    enclosure top("top", "chips/trainium3");
    EXPECT_STREQ(kind_of("top.dut.management.cpu"), "sc_module");
    EXPECT_STREQ(kind_of("top.dut.link.in"), "tlm_target_socket");
    EXPECT_STREQ(kind_of("top.dut.link.out"), "tlm_initiator_socket");
    EXPECT_STREQ(kind_of("top.dut.port7.out"), "tlm_initiator_socket");
    EXPECT_STREQ(kind_of("top.dut.to_axi1.in"), "tlm_target_socket");
    EXPECT_STREQ(kind_of("top.dut.irqs_3.in"), "sc_port");
    sc_core::sc_start();  // returns when nothing is pending: the firmware sleeps
    EXPECT_TRUE(is_ready(top.dut, "management.resets"));
    EXPECT_LT(sc_core::sc_time_stamp(), sc_time(5, sc_core::SC_SEC));
}

TEST(BoardModuleTest, SledIsAModuleWithItsHostsBusAndTheLinksOfItsChips) {
    enclosure top("top", "sleds/trn3");
    for (const char* socket : {"bus.in", "rack3.in", "peer0.in", "net1.in", "ethernet.in"})
        EXPECT_STREQ(kind_of(std::string("top.dut.") + socket), "tlm_target_socket") << socket;
    for (const char* socket : {"memory.out", "rack0.out", "peer3.out"})
        EXPECT_STREQ(kind_of(std::string("top.dut.") + socket), "tlm_initiator_socket") << socket;
    for (int ms = 0; ms < 500 && !is_ready(top.dut, "chip3.management.resets"); ++ms)
        sc_core::sc_start(sc_time(1, sc_core::SC_MS));
    EXPECT_TRUE(is_ready(top.dut, "chip3.management.resets"));
}

TEST(BoardModuleTest, RackElaborates) {
    enclosure top("top", "racks/trn3-gen2");
    EXPECT_EQ(top.dut.ports().size(), 18u * 2 + 18 + 36 + 72);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    EXPECT_STREQ(kind_of("top.dut.peer71.in"), "tlm_target_socket");
    EXPECT_STREQ(kind_of("top.dut.sled17.chip3.management.cpu"), "sc_module");
}

TEST(BoardModuleTest, WrongFileIsReportedWhereItIsNamed) {
    const auto text = error_of([] { board_module("dut", "chips/tranium3"); });
    EXPECT_THAT(text, HasSubstr("embedding_test.cpp:"));
    EXPECT_THAT(text, HasSubstr("E55 no board or assembly 'chips/tranium3'"));
    EXPECT_THAT(text, HasSubstr("did you mean 'chips/trainium3'?"));
}

TEST(BoardModuleTest, WrongParametersAreReportedWhereTheyAreGiven) {
    const auto text = error_of([] {
        board_module("dut", "chips/trainium3", {{"serail", "7"}, {"routing_id", "many"}});
    });
    EXPECT_THAT(text, HasSubstr("embedding_test.cpp:"));
    EXPECT_THAT(text, HasSubstr("E12 board 'trainium3' has no parameter 'serail'"));
    EXPECT_THAT(text, HasSubstr("did you mean 'serial'?"));
    EXPECT_THAT(text, HasSubstr("routing_id"));
}

TEST(BoardModuleTest, MistakesOfAFileHaveTheirPlace) {
    const test::scratch_folder folder;
    const auto file = folder / "wrong.yaml";
    std::ofstream(file) << "assembly: wrong\nmodules:\n  ram: {type: memory, sise: 4 KiB}\n";
    const auto text = error_of([&] { board_module("dut", file); });
    EXPECT_THAT(text, HasSubstr("wrong.yaml:3:"));
    EXPECT_THAT(text, HasSubstr("did you mean 'size'?"));
}

TEST(BoardModuleTest, ExceptionsToMisuseRulesAreForTheModulesOfTheirBoard) {
    const test::scratch_folder folder;
    const auto file = folder / "allowing.yaml";
    std::ofstream(file) << "board: allowing\ndescription: d\n"
                           "misuse: {allow: [{rule: write-to-read-only, at: ram, reason: known}]}\n"
                           "modules:\n  ram: {type: memory, size: 4 KiB}\n"
                           "ports:\n  in: ram.in\n";
    const enclosure first("first", file), second("second", file);
    for (const std::string_view module :
         {"ram", "first.dut.ram", "first.dut.rom", "second.dut.ram"})
        misuse::report(misuse::write_to_read_only, module, "");
    EXPECT_EQ(misuse::count(misuse::write_to_read_only, "ram"), 1u);
    EXPECT_EQ(misuse::count(misuse::write_to_read_only, "first.dut.rom"), 1u);
    EXPECT_EQ(misuse::count(misuse::write_to_read_only), 2u);
}

TEST(BoardModuleTest, PortsHaveTypes) {
    board_module host("host", "hosts/server");
    EXPECT_THAT(error_of([&] { host.link("port1"); }),
                HasSubstr("host: server has no port 'port1'; did you mean 'port0'?"));
    EXPECT_EQ(error_of([&] { host.target("memory"); }), "host: port 'memory' is no target");
}

TEST(BoardModuleTest, IsMadeDuringElaborationOnly) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    EXPECT_THAT(error_of([] { board_module("late", "hosts/server"); }),
                HasSubstr("'late' (hosts/server) is constructed too late"));
}

TEST(BoardModuleTest, LinkHasTwoSockets) {
    board_module a("a", "cables/pcie"), b("b", "cables/pcie");
    a.link("a").out.bind(b.link("b").in);
    EXPECT_THAT(error_of([] { sc_core::sc_start(sc_core::SC_ZERO_TIME); }),
                HasSubstr("is bound, but not"));
}

TEST(BoardModuleTest, LinkIsNotBoundToItself) {
    board_module a("a", "cables/pcie");
    a.link("a").out.bind(a.link("a").in);
    EXPECT_THAT(error_of([] { sc_core::sc_start(sc_core::SC_ZERO_TIME); }),
                HasSubstr("a.a: 'out' is bound to itself"));
}

// --- A link and a foreign model

/// A foreign model at the other end of a link. It takes its time.
struct foreign_device : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<foreign_device, 64> out{"out"};
    tlm_utils::simple_target_socket<foreign_device, 64> in{"in"};
    std::vector<tlm::tlm_command> commands;
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(4096);
    unsigned invalidations = 0;

    explicit foreign_device(const sc_core::sc_module_name& name) : sc_module(name) {
        in.register_b_transport(this, &foreign_device::access);
        in.register_transport_dbg(this, &foreign_device::debug_access);
        out.register_invalidate_direct_mem_ptr(this, &foreign_device::invalidate);
    }
    void access(tlm::tlm_generic_payload& request, sc_time&) {
        wait(sc_time(50, sc_core::SC_NS));
        commands.push_back(request.get_command());
        debug_access(request);
        request.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    unsigned debug_access(tlm::tlm_generic_payload& request) {
        auto* const mine = &bytes[request.get_address()];
        if (request.is_read())
            std::memcpy(request.get_data_ptr(), mine, request.get_data_length());
        else if (request.is_write())
            std::memcpy(mine, request.get_data_ptr(), request.get_data_length());
        return request.get_data_length();
    }
    void invalidate(sc_dt::uint64, sc_dt::uint64) { ++invalidations; }
};

struct LinkSocketsTest : testing::Test {
    void bind() {
        link.out.bind(other.in);
        other.out.bind(link.in);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    test::plug_device device{"device"};
    link_sockets link{"link", device.end};
    foreign_device other{"other"};
};

TEST_F(LinkSocketsTest, ForeignModelReachesTheDevice) {
    bind();
    EXPECT_TRUE(device.end.up());
    device.bytes[16] = 0xab;
    tlm::tlm_generic_payload request;
    std::uint8_t seen = 0;
    set_access(request, tlm::TLM_READ_COMMAND, 16, &seen, 1);
    sc_time delay;
    other.out->b_transport(request, delay);
    EXPECT_EQ(seen, 0xab);
    tlm::tlm_dmi dmi;
    EXPECT_TRUE(other.out->get_direct_mem_ptr(request, dmi));
    EXPECT_EQ(dmi.get_dmi_ptr(), device.bytes.data());
    device.end.revoke_pointers();
    EXPECT_EQ(other.invalidations, 1u);
}

TEST_F(LinkSocketsTest, WritesOfInitiatorsThatCannotWaitArePosted) {
    bind();
    EXPECT_EQ(device.write<std::uint32_t>(8, 0x1234), tlm::TLM_OK_RESPONSE);
    EXPECT_TRUE(other.commands.empty());  // not yet
    sc_core::sc_start(sc_time(60, sc_core::SC_NS));
    EXPECT_THAT(other.commands, testing::ElementsAre(tlm::TLM_WRITE_COMMAND));
    EXPECT_EQ(other.bytes[9], 0x12);
}

TEST_F(LinkSocketsTest, MessagesArePosted) {
    bind();
    tlm::tlm_generic_payload message;
    set_message(message, 0x40);
    sc_time delay;
    device.end.send(message, delay);
    EXPECT_EQ(message.get_response_status(), tlm::TLM_OK_RESPONSE);
    sc_core::sc_start(sc_time(60, sc_core::SC_NS));
    EXPECT_THAT(other.commands, testing::ElementsAre(tlm::TLM_IGNORE_COMMAND));
}

TEST_F(LinkSocketsTest, DebugTransportPasses) {
    bind();
    other.bytes[5] = 0x5c;
    tlm::tlm_generic_payload request;
    std::uint8_t seen = 0;
    set_access(request, tlm::TLM_READ_COMMAND, 5, &seen, 1);
    EXPECT_EQ(device.end.peek(request), 1u);
    EXPECT_EQ(seen, 0x5c);
}

TEST(LinkSocketsAloneTest, UnboundLinkIsDown) {
    test::plug_device device("device");
    const link_sockets link("link", device.end);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    EXPECT_FALSE(device.end.joined());
    EXPECT_EQ(device.write<std::uint32_t>(8, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST(LinkSocketsAloneTest, TwoLinksJoinTheirPlugs) {
    test::plug_device a("a"), b("b");
    link_sockets left("left", a.end), right("right", b.end);
    left.bind(right);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    EXPECT_EQ(a.end.peer(), &b.end);
}

/// A foreign root complex sends TLPs.
TEST(LinkSocketsAloneTest, ForeignRootComplexReadsAChip) {
    board_module chip("chip", "chips/trainium3");
    foreign_device root("root");
    root.out.bind(chip.link("link").in);
    chip.link("link").out.bind(root.in);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    tlm::tlm_generic_payload request;
    pcie::framed framed(request, 0);
    framed.header.destination = pcie::tlp::space::config;
    framed.header.target = 0x100;
    std::uint32_t id = 0;
    set_access(request, tlm::TLM_READ_COMMAND, 0, &id, sizeof id);
    sc_time delay;
    root.out->b_transport(request, delay);
    EXPECT_EQ(request.get_response_status(), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(id, 0x7564'1d0fu);
}

// --- The processors' side of a host

struct foreign_initiator : sc_core::sc_module {
    explicit foreign_initiator(const sc_core::sc_module_name& name) : sc_module(name) {}
    tlm_utils::simple_initiator_socket<foreign_initiator, 64> out{"out"};

    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data,
                                    unsigned length) {
        tlm::tlm_generic_payload request;
        set_access(request, command, address, data, length);
        sc_time delay;
        out->b_transport(request, delay);
        return request.get_response_status();
    }
};

/// A host with one chip, a foreign processor, and a foreign engine inside the chip.
struct HostTest : testing::Test {
    HostTest() {
        host.link("port0").bind(chip.link("link"));
        processor.out.bind(host.target("bus").in);
        engine.out.bind(chip.target("to_axi0").in);
        chip.input("power_off").in.bind(power_off);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data,
                                    unsigned length) {
        return processor.access(command, address, data, length);
    }
    template <class T>
    T config(std::uint64_t offset, std::uint64_t bus = 1) {
        T value{};
        EXPECT_EQ(
            access(tlm::TLM_READ_COMMAND, window + (bus << 20) + offset, &value, sizeof value),
            tlm::TLM_OK_RESPONSE);
        return value;
    }
    template <class T>
    void set_config(std::uint64_t offset, T value) {
        EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, window + (1 << 20) + offset, &value, sizeof value),
                  tlm::TLM_OK_RESPONSE);
    }

    static constexpr std::uint64_t window = 0xb000'0000;
    board_module host{"host", "hosts/server"}, chip{"chip", "chips/trainium3"};
    foreign_initiator processor{"processor"}, engine{"engine"};
    sc_core::sc_signal<bool> power_off{"power_off"};
};

TEST_F(HostTest, SearchesItsBusesByTheEnhancedMechanism) {
    EXPECT_EQ(config<std::uint32_t>(0), 0x7564'1d0fu);
    EXPECT_EQ(config<std::uint8_t>(PCI_VENDOR_ID + 1), 0x1d);
    EXPECT_EQ(config<std::uint16_t>(0, 0), 0x1d0f);  // the root port
    EXPECT_EQ(config<std::uint32_t>(0, 2), ~0u);     // no such bus
    EXPECT_EQ(config<std::uint32_t>(8 << 12), ~0u);  // no such device
}

/// A write of two bytes is a request of two bytes: the neighbour has bits that ones clear.
TEST_F(HostTest, WritesPartsOfADword) {
    std::uint8_t byte = 0;  // memory space is off: an unsupported request
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, std::uint64_t{1} << 44, &byte, 1),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(byte, 0xff);
    const std::uint64_t status = 0x40 + PCI_EXP_DEVSTA;
    ASSERT_NE(config<std::uint16_t>(status) & PCI_EXP_DEVSTA_URD, 0);
    set_config<std::uint16_t>(0x40 + PCI_EXP_DEVCTL, 0);
    EXPECT_NE(config<std::uint16_t>(status) & PCI_EXP_DEVSTA_URD, 0);
    set_config<std::uint16_t>(status, PCI_EXP_DEVSTA_URD);
    EXPECT_EQ(config<std::uint16_t>(status) & PCI_EXP_DEVSTA_URD, 0);
}

TEST_F(HostTest, RefusesAccessesOfSeveralRegistersAndOfNothing) {
    std::uint64_t value = 0;
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, window, &value, 8), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, window + 3, &value, 2), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, 0x1000, &value, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(static_cast<std::uint32_t>(value), ~0u);
}

TEST_F(HostTest, ReadsConfigurationSpaceByDebugTransport) {
    tlm::tlm_generic_payload request;
    std::uint32_t id = 0;
    set_access(request, tlm::TLM_READ_COMMAND, window + (1 << 20), &id, sizeof id);
    EXPECT_EQ(processor.out->transport_dbg(request), 4u);
    EXPECT_EQ(id, 0x7564'1d0fu);
    EXPECT_EQ(request.get_address(), window + (1 << 20));
}

TEST_F(HostTest, ChipWithoutPowerDoesNotAnswer) {
    power_off.write(true);
    sc_core::sc_start(sc_time(1, sc_core::SC_US));
    EXPECT_EQ(config<std::uint32_t>(0), ~0u);
    power_off.write(false);
    sc_core::sc_start(sc_time(1, sc_core::SC_US));
    EXPECT_EQ(config<std::uint32_t>(0), 0x7564'1d0fu);
}

TEST_F(HostTest, EngineReachesTheAxiSpaceOfTheChip) {
    std::uint32_t id = 0;  // contract 4: the routing id, before firmware has published it
    EXPECT_EQ(engine.access(tlm::TLM_READ_COMMAND, 0x80'06c8'4024, &id, sizeof id),
              tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(id, 0xdead'beefu);
}

/// An unbound `memory` is memory without addresses.
TEST_F(HostTest, RequestsWithoutMemoryAreErrors) {
    set_config<std::uint16_t>(PCI_COMMAND, PCI_COMMAND_MASTER);
    std::uint32_t value = 1;
    EXPECT_EQ(engine.access(tlm::TLM_WRITE_COMMAND, 0x4001'0000'0000, &value, sizeof value),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

}  // namespace
