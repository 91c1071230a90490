// SPDX-License-Identifier: Apache-2.0
// A program on QEMU's machine "virt" with IMSICs, or with an APLIC alone, and on ours prints the
// same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "models/processor/interrupts/aplic.h"
#include "models/processor/interrupts/imsic.h"
#include "models/processor/riscv/riscv_hart.h"
#include "models/soc/finisher/finisher.h"
#include "models/soc/uart/uart.h"
#include "platform/app/exec/exec_devices.h"
#include "platform/framework/loader/elf.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/program.h"

namespace trn::test {

/// Two harts with the devices of "virt", at its addresses.
class virt : public sc_core::sc_module {
public:
    std::string output;

    virt(sc_core::sc_module_name name, const std::string& program, bool has_files)
        : sc_module(name) {
        constexpr std::uint64_t page = 0x1000;
        connect(ram.in, ram_base, ram.bytes().size());
        connect(power.in, 0x0010'0000, page);
        connect(serial_bytes.in, 0x1000'0000, byte_registers::size);
        serial_bytes.out.bind(serial.in);
        connect(wires.machine, 0x0c00'0000, 8 * page);
        connect(wires.supervisor, 0x0d00'0000, 8 * page);
        wires.memory.bind(bus.target);
        serial.irq.bind(wires.source, 10);
        serial.on_output([this](auto text) { output += text; });
        power.on_request([](auto, int) { sc_core::sc_stop(); });
        for (unsigned id = 0; id < 2; ++id) {
            auto& own = *files.emplace_back(
                std::make_unique<imsic>(fmt::format("imsic{}", id).c_str(), imsic::config{}));
            auto& hart = *harts.emplace_back(std::make_unique<riscv_hart>(
                fmt::format("hart{}", id).c_str(),
                riscv_hart::config{.hart_id = id,
                                   .reset_vector = ram_base,
                                   .isa = riscv::isa::parse("rv64gc_smaia_ssaia")}));
            connect(own.machine, 0x2400'0000 + id * page, page);
            connect(own.supervisor, 0x2800'0000 + id * page, page);
            hart.bus.bind(bus.target);
            if (has_files) hart.set_interrupt_files(own);
            irq_out& machine = has_files ? own.machine_external : wires.machine_external[id];
            irq_out& supervisor =
                has_files ? own.supervisor_external : wires.supervisor_external[id];
            machine.bind(hart.irq, riscv_hart::machine_external);
            supervisor.bind(hart.irq, riscv_hart::supervisor_external);
        }
        for (const auto& segment : read_elf(program).segments)
            ram.load(segment.address - ram_base, segment.bytes);
    }

private:
    static constexpr std::uint64_t ram_base = 0x8000'0000;

    template <typename Socket>
    void connect(Socket& target, std::uint64_t base, std::uint64_t size) {
        bus.initiator.bind(target);
        bus.map({.base = base, .size = size, .target_base = 0, .port = port++});
    }

    router bus{"bus", {}};
    memory ram{"ram", {.size = 1 << 20}};
    finisher power{"power"};
    uart serial{"serial", {}};
    byte_registers serial_bytes{"serial_bytes", [] {}};
    aplic wires{"wires", {.harts = 2}};
    std::vector<std::unique_ptr<imsic>> files;
    std::vector<std::unique_ptr<riscv_hart>> harts;
    unsigned port = 0;
};

void expect_output_of_qemu(const std::string& name, const std::string& aia) {
    const std::string program = PROGRAMS + name + ".elf";
    virt machine{"machine", program, aia == "aplic-imsic"};
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC));
    EXPECT_EQ(sc_core::sc_get_status(), sc_core::SC_STOPPED) << machine.output;
    const auto qemu = run(
        "timeout 60 qemu-system-riscv64 -M virt,aia=" + aia +
        " -smp 2 -m 32 -bios none -display none -monitor none -serial stdio -kernel " + program);
    EXPECT_EQ(qemu.status, 0);
    EXPECT_EQ(machine.output, qemu.output);
    EXPECT_GT(machine.output.size(), 500u);
}

TEST(AdvancedInterruptsTest, MessagesAreThoseOfQemu) {
    expect_output_of_qemu("messages", "aplic-imsic");
}

TEST(AdvancedInterruptsTest, LinesAreThoseOfQemu) {
    expect_output_of_qemu("lines", "aplic");
}

}  // namespace trn::test
