// SPDX-License-Identifier: Apache-2.0
// A hart and a foreign peripheral that waits.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "models/processor/riscv/riscv_hart.h"
#include "platform/framework/bridges/irq_signals.h"
#include "platform/framework/bridges/socket_binder.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/unit/bridges/foreign_models.h"

namespace {

TEST(ForeignPeripheral, OfAHartAnswersItsAccessesAndInterruptsIt) {
    using foreign::ns;
    constexpr std::uint64_t peripheral_address = 0x10000;
    trn::riscv_hart hart("hart", {.reset_vector = 0});
    trn::router bus("bus", {});
    trn::memory ram("ram", {.size = 0x1000});
    foreign::waiting_peripheral peripheral("peripheral");
    sc_core::sc_signal<bool> irq("irq");
    trn::signal_to_irq line("line");
    trn::socket_binder binder;
    hart.bus.bind(bus.target);
    bus.initiator.bind(ram.in);
    binder.bind(bus.initiator, peripheral.in, trn::coding_style::restricted,
                trn::coding_style::loosely_timed);
    bus.map({0, 0x1000, 0, 0});
    bus.map({peripheral_address, foreign::waiting_peripheral::size, 0, 1});
    peripheral.irq.bind(irq);
    line.in.bind(irq);
    line.out.bind(hart.irq, trn::riscv_hart::machine_external);

    const std::array<std::uint32_t, 7> program{
        0x000102b7,   // lui  t0, 0x10
        0x0042a303,   // lw   t1, 4(t0)
        0x00130313,   // addi t1, t1, 1
        0x0062a423,   // sw   t1, 8(t0)
        0x000023b7,   // lui  t2, 2
        0x005383b3,   // add  t2, t2, t0
        0xfe63ae23};  // sw   t1, -4(t2): raises the interrupt
    std::memcpy(ram.bytes().data(), program.data(), sizeof program);
    constexpr std::uint32_t loop = 0x0000006f;  // jal zero, 0
    std::memcpy(ram.bytes().data() + sizeof program, &loop, sizeof loop);
    std::memcpy(ram.bytes().data() + 0x100, &loop, sizeof loop);
    hart.core().write_csr(0x305, 0x100);    // mtvec
    hart.core().write_csr(0x304, 1 << 11);  // mie: MEIE
    hart.core().write_csr(0x300, 1 << 3);   // mstatus: MIE
    peripheral.bytes[4] = 41;
    sc_core::sc_start(ns(1000));
    EXPECT_EQ(peripheral.bytes[8], 42u);
    EXPECT_EQ(peripheral.ended, 3u);
    EXPECT_EQ(hart.core().read_csr(0x342), (std::uint64_t{1} << 63 | 11));  // mcause
}

}  // namespace
