// SPDX-License-Identifier: Apache-2.0
// Harts that take interrupts of their IMSICs.
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "models/processor/interrupts/imsic.h"
#include "models/processor/riscv/riscv_hart.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;
using sc_core::sc_start;
using sc_core::sc_time;

/// Two harts, each with 4 KiB of a RAM for its program; pages of their machine files at 0x10000.
class MessageInterruptTest : public testing::Test {
protected:
    static constexpr u32 quantum = 2500, handler = 0x800, miselect = 0x350, mireg = 0x351,
                         mtopei = 0x35c;
    static constexpr u32 counting[] = {addi(5, 5, 1), jal(0, -4)};

    trn::memory ram{"ram", {.size = 1 << 16}};
    trn::router bus{"bus", {}};
    std::vector<std::unique_ptr<imsic>> files;
    std::vector<std::unique_ptr<riscv_hart>> harts;

    MessageInterruptTest() {
        bus.initiator.bind(ram.in);
        bus.map({.base = 0, .size = 0x10000, .target_base = 0, .port = 0});
        for (unsigned id = 0; id < 2; ++id) {
            const std::string number = std::to_string(id);
            files.push_back(std::make_unique<imsic>(("imsic" + number).c_str(), imsic::config{}));
            bus.initiator.bind(files[id]->machine);
            bus.initiator.bind(files[id]->supervisor);
            bus.map({0x10000 + id * 0x1000u, 0x1000, 0, 1 + 2 * id});
            harts.push_back(std::make_unique<riscv_hart>(
                ("hart" + number).c_str(), riscv_hart::config{.hart_id = id,
                                                              .reset_vector = id * 0x1000,
                                                              .isa = isa::parse("rv64imac_smaia"),
                                                              .quantum_instructions = quantum}));
            harts[id]->bus.bind(bus.target);
            harts[id]->set_interrupt_files(*files[id]);
            files[id]->machine_external.bind(harts[id]->irq, riscv_hart::machine_external);
            riscv::hart& core = harts[id]->core();
            core.write_csr(0x305, id * 0x1000 + handler);  // mtvec
            core.write_csr(0x304, 1 << 11);                // mie.MEIE
            core.write_csr(0x300, 1 << 3);                 // mstatus.MIE
            core.write_csr(miselect, 0x70);
            core.write_csr(mireg, 1);  // eidelivery
            core.write_csr(miselect, 0xc0);
            program(id, handler, {addi(6, 5, 0), csrrw(28, mtopei, 0), jal(0, 0)});
        }
    }
    void program(u64 id, u64 offset, std::initializer_list<u32> words) {
        std::memcpy(ram.bytes().data() + id * 0x1000 + offset, words.begin(), words.size() * 4);
    }
};

TEST_F(MessageInterruptTest, MessageOfAHartInterruptsTheOtherNotBeforeTheStore) {
    harts[1]->core().write_csr(mireg, 1 << 5);
    program(0, 0,
            {addi(8, 0, 1000), lui(9, 0x11), addi(10, 0, 5), addi(7, 7, 1), bne(7, 8, -4),
             sw(10, 9, 0), counting[0], counting[1]});
    program(1, 0, {counting[0], counting[1]});
    sc_start(sc_time(100, sc_core::SC_US));
    riscv::hart& core = harts[1]->core();
    EXPECT_EQ(core.pc(), 0x1000 + handler + 8);
    EXPECT_EQ(core.read_x(28), 5u << 16 | 5u);
    EXPECT_EQ(core.read_csr(0x344), 0u) << "claimed";
    EXPECT_GE(2 * core.read_x(6), 2000u);
    EXPECT_LE(2 * core.read_x(6), 2000u + quantum + 64);
}

TEST_F(MessageInterruptTest, HartThatEnablesAPendingIdentityTakesItAtOnce) {
    sc_start(sc_core::SC_ZERO_TIME);
    program(1, 0, {wfi});
    program(0, 0,
            {lui(9, 0x10), addi(10, 0, 5), sw(10, 9, 0), addi(8, 0, 1000), addi(7, 7, 1),
             bne(7, 8, -4), addi(11, 0, 1 << 5), csrrw(0, mireg, 11), counting[0], counting[1]});
    sc_start(sc_time(100, sc_core::SC_US));
    riscv::hart& core = harts[0]->core();
    EXPECT_EQ(core.pc(), handler + 8);
    EXPECT_EQ(core.read_x(28), 5u << 16 | 5u);
    EXPECT_LE(core.read_x(6), 1u);
}

TEST_F(MessageInterruptTest, TopInterruptReadAfterAMessageToItselfShowsIt) {
    harts[0]->core().write_csr(0x300, 0);  // interrupts are only read
    harts[0]->core().write_csr(mireg, 1 << 5);
    program(1, 0, {wfi});
    program(0, 0, {lui(9, 0x10), addi(10, 0, 5), sw(10, 9, 0), csrrs(12, 0xfb0, 0), jal(0, 0)});
    sc_start(sc_time(100, sc_core::SC_US));
    EXPECT_EQ(harts[0]->core().read_x(12), 11u << 16 | 1u);
}

TEST_F(MessageInterruptTest, MessageEndsAWait) {
    harts[1]->core().write_csr(mireg, 1 << 5);
    program(0, 0, {lui(9, 0x11), addi(10, 0, 5), sw(10, 9, 0), wfi});
    program(1, 0, {wfi, jal(0, -4)});
    sc_start(sc_time(100, sc_core::SC_US));
    EXPECT_EQ(harts[1]->core().read_x(28), 5u << 16 | 5u);
    EXPECT_TRUE(harts[0]->core().waiting());
}

}  // namespace trn::riscv::test
