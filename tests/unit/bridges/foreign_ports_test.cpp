// SPDX-License-Identifier: Apache-2.0
// Boards that name models with foreign sockets and signals.
#include "platform/framework/bridges/foreign_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/framework/netlist/expansion/plan_board.h"
#include "platform/framework/netlist/kinds/kind_table.h"
#include "platform/framework/netlist/kinds/loaded_kinds.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/unit/bridges/foreign_models.h"
#include "tests/unit/bridges/restricted_models.h"

namespace {

using namespace trn;
using foreign::ns;
using testing::ElementsAre;
using testing::HasSubstr;

/// An initiator of this project that boards can name.
struct driver_module : test::method_initiator {
    struct config {};
    irq_in lines{"lines", 2, [this](unsigned line, bool level) { levels[line] = level; }};
    irq_out start{"start"};
    std::array<bool, 2> levels{};
    driver_module(sc_core::sc_module_name name, const config&) : method_initiator(name) {}
};

struct peripheral_module : foreign::waiting_peripheral {
    struct config {
        bool fails = false;
    };
    sc_core::sc_in<bool> rst{"rst"};
    peripheral_module(sc_core::sc_module_name name, const config& cfg) : waiting_peripheral(name) {
        if (cfg.fails) SC_REPORT_ERROR("/acme/peripheral", "no licence");
    }
};

/// Memory without waits, with sockets of other widths.
template <unsigned Width>
struct banks : sc_core::sc_module {
    struct config {
        unsigned sockets = 2;
    };
    sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<banks, Width>> in{"in"};
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(0x1000);
    unsigned last = ~0u;
    banks(sc_core::sc_module_name name, const config& cfg) : sc_module(name) {
        in.init(cfg.sockets);
        for (unsigned i = 0; i < cfg.sockets; ++i)
            in[i].register_b_transport(this, &banks::b_transport, static_cast<int>(i));
    }
    void b_transport(int tag, tlm::tlm_generic_payload& request, sc_core::sc_time&) {
        last = static_cast<unsigned>(tag);
        foreign::move_bytes(request, bytes);
    }
};

/// A socket that its own module has bound already.
struct bound_inside : sc_core::sc_module {
    struct config {};
    tlm_utils::simple_initiator_socket<bound_inside, 32> own{"own"};
    tlm_utils::simple_target_socket<bound_inside, 32> in{"in"};
    sc_core::sc_in<bool> forgotten{"forgotten"};
    bound_inside(sc_core::sc_module_name name, const config&) : sc_module(name) { own.bind(in); }
};

struct processor : foreign::thread_cpu<32> {
    struct config {};
    sc_core::sc_in<bool> irq{"irq"};
    processor(sc_core::sc_module_name name, const config&) : thread_cpu(name) {}
};

struct master : foreign::phased_master {
    struct config {};
    master(sc_core::sc_module_name name, const config&) : phased_master(name) {}
};
struct phases : foreign::phased_memory {
    struct config {};
    phases(sc_core::sc_module_name name, const config&) : phased_memory(name) {}
};

const kind_list& sample_kinds() {
    using namespace kind_limits;
    static const kind_list list = [] {
        kind_list all;
        all.push_back(
            kind_of<router>("router", "Ours.", {},
                            {port::target("target", "initiators").unlimited(),
                             port::initiator("initiator", "targets").unlimited().with_ranges()}));
        all.push_back(kind_of<memory>(
            "memory", "Ours.",
            {{"size", &memory::config::size, unit::bytes, within(1, PiB), "capacity"}},
            {port::target("in", "bytes").of_size(&memory::config::size)}));
        all.push_back(kind_of<driver_module>(
            "driver", "Ours.", {},
            {port::initiator("out", "accesses"), port::irq_out("start", "a line").optional(),
             port::irq_in("lines", "lines").of_lines(2)}));
        all.push_back(kind_of<peripheral_module>(
            "peripheral", "Waits.", {{"fails", &peripheral_module::config::fails, "cannot start"}},
            {foreign_target("in", &foreign::waiting_peripheral::in, coding_style::loosely_timed,
                            "registers")
                 .of_size(0x2000),
             signal_out("irq", &foreign::waiting_peripheral::irq, "a word is not 0", ns(7))
                 .optional(),
             signal_in("rst", &peripheral_module::rst, "reset")}));
        all.push_back(kind_of<banks<512>>(
            "banks", "Two banks.",
            {{"sockets", &banks<512>::config::sockets, within(1, 4), "of its sockets"}},
            {foreign_target("in", &banks<512>::in, coding_style::restricted, "a bank")
                 .times(&banks<512>::config::sockets)
                 .optional()}));
        all.push_back(kind_of<bound_inside>(
            "bound", "Bound inside.", {},
            {foreign_target("in", &bound_inside::in, coding_style::loosely_timed, "taken"),
             foreign_initiator("own", &bound_inside::own, coding_style::restricted, "taken")
                 .optional()}));
        all.push_back(
            kind_of<processor>("processor", "A thread.", {},
                               {foreign_initiator("data", &foreign::thread_cpu<32>::data,
                                                  coding_style::loosely_timed, "accesses"),
                                signal_in("irq", &processor::irq, "interrupt")}));
        all.push_back(
            kind_of<master>("master", "Phases.", {},
                            {foreign_initiator("out", &foreign::phased_master::out,
                                               coding_style::approximately_timed, "accesses")}));
        all.push_back(kind_of<phases>("phases", "Phases.", {},
                                      {foreign_target("in", &foreign::phased_memory::in,
                                                      coding_style::approximately_timed, "memory")
                                           .of_size(0x1000)}));
        return all;
    }();
    return list;
}

plan board(const std::string& modules, const std::string& lines) {
    return plan_text("board: b\ndescription: d\nmodules:\n" + modules + "bind:\n" + lines,
                     "board.yaml", sample_kinds(), {});
}

/// The first error of a board: "E54 at 3:5 message".
template <class Build>
std::string error_of(Build build) {
    try {
        build();
    } catch (const config_error& error) {
        const diagnostic& first = error.list().front();
        return fmt::format("E{} at {}:{}:{} {}", static_cast<unsigned>(first.code), first.file,
                           first.line, first.column, first.message);
    }
    return "no error";
}

TEST(ForeignPorts, DescribeTheirSocketForUsers) {
    const kind& k = *find_kind(sample_kinds(), "peripheral");
    EXPECT_EQ(k.ports[*k.find_port("in")].foreign->describe(), "32 bits, loosely timed");
    EXPECT_EQ(k.ports[*k.find_port("irq")].foreign->describe(), "signal");
    EXPECT_EQ(find_kind(sample_kinds(), "banks")->ports[0].foreign->describe(),
              "512 bits, restricted protocol");
}

TEST(ForeignPorts, ABoardBindsAPeripheralThatWaitsAndItsInterrupt) {
    trn::system built(board("  dev: {type: peripheral}\n  cpu: {type: driver}\n",
                            "  - cpu.out -> dev.in\n  - dev.irq -> cpu.lines[1]\n"));
    auto& cpu = *built.find<driver_module>("cpu");
    auto& dev = *built.find<peripheral_module>("dev");
    cpu.write(8, 77);
    cpu.write(peripheral_module::size - 4, 1);
    sc_core::sc_start(ns(86));
    EXPECT_EQ(dev.bytes[8], 77u);
    EXPECT_EQ(cpu.results.size(), 2u);
    EXPECT_FALSE(cpu.levels[1]);
    sc_core::sc_start(ns(2));  // 2 x 40 ns, and 7 ns of the line
    EXPECT_TRUE(cpu.levels[1]);
    EXPECT_FALSE(cpu.levels[0]);
}

TEST(ForeignPorts, BridgesAreModulesBesideTheirModel) {
    trn::system built(
        board("  dev: {type: peripheral}\n  cpu: {type: driver}\n", "  - cpu.out -> dev.in\n"));
    EXPECT_NE(sc_core::sc_find_object("dev_in_bridge"), nullptr);
    EXPECT_NE(sc_core::sc_find_object("dev_in_bridge_width"), nullptr);
    EXPECT_NE(sc_core::sc_find_object("dev_irq_signal"), nullptr);
    EXPECT_EQ(built.board().modules.size(), 2u);
}

TEST(ForeignPorts, ABridgeWhoseNameIsThatOfAModuleHasANumber) {
    trn::system built(
        board("  dev: {type: peripheral}\n  cpu: {type: driver, count: 2}\n"
              "  dev_in_bridge: {type: memory, size: 4 KiB}\n",
              "  - cpu0.out -> dev.in\n  - cpu1.out -> dev_in_bridge.in\n"));
    EXPECT_NE(dynamic_cast<memory*>(sc_core::sc_find_object("dev_in_bridge")), nullptr);
    EXPECT_NE(dynamic_cast<thread_bridge*>(sc_core::sc_find_object("dev_in_2_bridge")), nullptr);
    EXPECT_NE(sc_core::sc_find_object("dev_irq_signal"), nullptr);
}

TEST(ForeignPorts, ALineOfOursDrivesASignalOfTheirs) {
    trn::system built(board("  dev: {type: peripheral}\n  cpu: {type: driver}\n",
                            "  - cpu.out -> dev.in\n  - cpu.start -> dev.rst\n"));
    sc_core::sc_start(ns(1));
    auto& dev = *built.find<peripheral_module>("dev");
    EXPECT_FALSE(dev.rst.read());
    built.find<driver_module>("cpu")->start.set(true);
    sc_core::sc_start(ns(1));
    EXPECT_TRUE(dev.rst.read());
}

TEST(ForeignPorts, EachSocketOfAVectorIsAnEndOfItsOwn) {
    trn::system built(board("  dev: {type: banks, sockets: 3}\n  cpu: {type: driver, count: 2}\n",
                            "  - cpu0.out -> dev.in[2]\n  - cpu1.out -> dev.in[0]\n"));
    auto& dev = *built.find<banks<512>>("dev");
    EXPECT_NE(sc_core::sc_find_object("dev_in_2_width"), nullptr);
    EXPECT_EQ(sc_core::sc_find_object("dev_in_1_width"), nullptr);
    EXPECT_EQ(dev.in.size(), 3u);
}

TEST(ForeignPorts, AccessesOfAVectorsSocketReachIt) {
    trn::system built(board("  dev: {type: banks, sockets: 2}\n  cpu: {type: driver, count: 2}\n",
                            "  - cpu0.out -> dev.in[1]\n  - cpu1.out -> dev.in[0]\n"));
    auto& cpu = *built.find<driver_module>("cpu0");
    cpu.write(4, 9);
    sc_core::sc_start(ns(1));
    auto& dev = *built.find<banks<512>>("dev");
    EXPECT_EQ(dev.last, 1u);
    EXPECT_EQ(dev.bytes[4], 9u);
}

TEST(ForeignPorts, ForeignInitiatorsReachOurMemoryAndForeignTargets) {
    trn::system built(
        board("  bus: {type: router}\n  ram: {type: memory, size: 4 KiB}\n"
              "  dev: {type: peripheral}\n  ddr: {type: phases}\n"
              "  cpu: {type: processor}\n  dma: {type: master}\n",
              "  - cpu.data -> bus.target\n  - dma.out -> bus.target\n"
              "  - bus.initiator -> ram.in @ 0x0 + 4 KiB\n"
              "  - bus.initiator -> dev.in @ 0x10000 + 8 KiB\n"
              "  - bus.initiator -> ddr.in @ 0x20000 + 4 KiB\n"));
    auto& cpu = *built.find<processor>("cpu");
    std::vector<std::uint32_t> read;
    cpu.program = [&](auto& self) {
        for (const std::uint64_t address : {0x10u, 0x1'0010u, 0x2'0010u}) {
            self.write(address, static_cast<std::uint32_t>(address));
            read.push_back(self.read(address));
        }
    };
    auto& dma = *built.find<master>("dma");
    dma.send(tlm::TLM_WRITE_COMMAND, 0x2'0020, 5);
    dma.send(tlm::TLM_WRITE_COMMAND, 0x1'0020, 6);
    sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US));
    EXPECT_THAT(read, ElementsAre(0x10u, 0x1'0010u, 0x2'0010u));
    EXPECT_EQ(built.find<phases>("ddr")->bytes[0x20], 5u);
    EXPECT_EQ(built.find<peripheral_module>("dev")->bytes[0x20], 6u);
    EXPECT_EQ(dma.violations, 0u);
    EXPECT_EQ(built.find<phases>("ddr")->violations, 0u);
}

// --- Diagnostics

TEST(ForeignPorts, ASecondInitiatorOfASingleEndIsReportedAtItsLine) {
    EXPECT_EQ(error_of([] {
                  board("  dev: {type: peripheral}\n  cpu: {type: driver, count: 2}\n",
                        "  - cpu0.out -> dev.in\n  - cpu1.out -> dev.in\n");
              }),
              "E43 at board.yaml:8:5 'dev.in' is bound already");
}

TEST(ForeignPorts, AnUnboundSocketIsReportedAtItsModule) {
    EXPECT_EQ(error_of([] { board("  dev: {type: peripheral}\n", "  - dev.irq -> none\n"); }),
              "E44 at board.yaml:4:3 target 'dev.in' is not bound");
}

TEST(ForeignPorts, AnErrorOfAForeignConstructorIsReportedAtItsModule) {
    EXPECT_EQ(error_of([] {
                  trn::system built(
                      board("  dev: {type: peripheral, fails: true}\n  cpu: {type: driver}\n",
                            "  - cpu.out -> dev.in\n"));
              }),
              "E54 at board.yaml:4:3 peripheral 'dev': /acme/peripheral: no licence");
}

TEST(ForeignPorts, ASocketThatItsModelHasBoundIsReportedAtItsModule) {
    const std::string error = error_of([] {
        trn::system built(
            board("  dev: {type: bound}\n  cpu: {type: driver}\n", "  - cpu.out -> dev.in\n"));
        try {
            sc_core::sc_start(ns(1));
        } catch (const sc_core::sc_report& why) {
            built.refuse(why);
        }
    });
    EXPECT_THAT(error, HasSubstr("E54 at board.yaml:4:3 bound 'dev': "));
    EXPECT_THAT(error, HasSubstr("dev."));
}

}  // namespace
