// SPDX-License-Identifier: Apache-2.0
#include "models/soc/uart/uart.h"

#include <gtest/gtest.h>

#include <string>

#include "models/soc/uart/uart_regs.h"
#include "tests/support/irq_probe.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using namespace trn::uart_regs;
using sc_core::SC_NS;
using sc_core::sc_start;
using sc_core::sc_time;
using sc_core::SC_US;
using sc_core::SC_ZERO_TIME;

constexpr std::uint64_t eight_bits = lcr::word_length.set(0, 3);

struct UartTest : testing::Test {
    test::tlm_driver cpu{"cpu"};
    uart dut{"dut", {.access_latency = SC_ZERO_TIME}};
    test::irq_probe irq{dut.irq};
    irq_out reset{"reset"};
    std::string printed;

    UartTest() {
        cpu.out.bind(dut.in);
        reset.bind(dut.reset);
        dut.on_output([this](std::string_view text) { printed += text; });
        sc_start(SC_ZERO_TIME);
    }
    void write(reg r, std::uint64_t value) {
        EXPECT_EQ(cpu.write(offset(r), static_cast<std::uint32_t>(value)), tlm::TLM_OK_RESPONSE);
    }
    std::uint32_t read(reg r) { return cpu.read(offset(r)); }
    /// 8 data bits, no parity: ten bits of 16 clocks at 48 MHz, divisor 1: 3.333 us per character.
    void set_up(std::uint64_t fifo_control = iir_fcr::fifo_enable.mask()) {
        write(reg::lcr, eight_bits | lcr::dlab.mask());
        write(reg::data, 1);
        write(reg::ier, 0);
        write(reg::lcr, eight_bits);
        write(reg::iir_fcr, fifo_control);
    }
};

TEST_F(UartTest, KeepsItsRegisterContract) {
    test::register_contract(cpu, table).check();
}

TEST_F(UartTest, PrintsTransmittedCharacters) {
    set_up();
    for (const char c : std::string("hello\n")) write(reg::data, static_cast<unsigned char>(c));
    EXPECT_EQ(printed, "hello\n");
}

TEST_F(UartTest, LineStatusReportsAnEmptyTransmitter) {
    set_up();
    EXPECT_EQ(read(reg::lsr), lsr::tx_empty.mask() | lsr::tx_idle.mask());
    write(reg::data, 'a');
    write(reg::data, 'b');
    EXPECT_EQ(read(reg::lsr), 0u);  // 'a' in the shift register, 'b' in the FIFO
    sc_start(sc_time(3400, SC_NS));
    EXPECT_EQ(read(reg::lsr), lsr::tx_empty.mask());  // 'b' in the shift register
    sc_start(sc_time(3400, SC_NS));
    EXPECT_EQ(read(reg::lsr), lsr::tx_empty.mask() | lsr::tx_idle.mask());
}

TEST_F(UartTest, InterruptsWhenTheTransmitFifoIsEmpty) {
    set_up();
    write(reg::ier, ier::tx_empty.mask());
    EXPECT_TRUE(irq.level());  // empty when enabled: raised at once
    EXPECT_EQ(read(reg::iir_fcr) & 0xf, 2u);
    EXPECT_FALSE(irq.level());  // reading the cause clears it
    for (int i = 0; i < 4; ++i) write(reg::data, 'x');
    sc_start(sc_time(9900, SC_NS));
    EXPECT_FALSE(irq.level());
    sc_start(sc_time(200, SC_NS));
    EXPECT_TRUE(irq.level());
    write(reg::data, 'y');
    EXPECT_FALSE(irq.level());
}

TEST_F(UartTest, InterruptEnabledDuringTransmissionRisesWhenTheFifoIsEmpty) {
    set_up();
    write(reg::data, 'a');
    write(reg::data, 'b');
    write(reg::ier, ier::tx_empty.mask());
    EXPECT_FALSE(irq.level());
    sc_start(sc_time(4, SC_US));
    EXPECT_TRUE(irq.level());
}

TEST_F(UartTest, ReceivesTypedCharactersInOrderAndLosesNone) {
    set_up();
    std::string typed;
    for (int i = 0; i < 100; ++i) typed += static_cast<char>('!' + i % 90);
    EXPECT_EQ(dut.type(typed), typed.size());
    std::string seen;
    for (int i = 0; i < 200 && (read(reg::lsr) & lsr::data_ready.mask()) != 0; ++i)
        seen += static_cast<char>(read(reg::data));
    EXPECT_EQ(seen, typed);
    EXPECT_EQ(read(reg::lsr) & lsr::overrun.mask(), 0u);
}

TEST_F(UartTest, TypeAheadIsBounded) {
    const std::string much(10000, 'x');
    const auto taken = dut.type(much);
    EXPECT_LT(taken, much.size());
    EXPECT_GE(taken, 4096u);
    EXPECT_LE(dut.type(much), 1u);
}

TEST_F(UartTest, InterruptsAtTheTriggerLevelOrAfterATimeoutBelowIt) {
    set_up(iir_fcr::fifo_enable.mask() | iir_fcr::rx_trigger.set(0, 1));  // at 4 characters
    write(reg::ier, ier::rx_ready.mask());
    dut.type("abc");
    EXPECT_FALSE(irq.level());
    sc_start(sc_time(14, SC_US));  // four character times
    EXPECT_TRUE(irq.level());
    EXPECT_EQ(read(reg::iir_fcr) & 0xf, 12u);
    EXPECT_EQ(read(reg::data), static_cast<unsigned>('a'));
    EXPECT_FALSE(irq.level());
    dut.type("de");
    EXPECT_TRUE(irq.level());
    EXPECT_EQ(read(reg::iir_fcr) & 0xf, 4u);
}

TEST_F(UartTest, LoopbackReturnsCharactersAndOverrunsAFullFifo) {
    set_up();
    write(reg::mcr, static_cast<std::uint32_t>(mcr::loopback.mask()));
    for (unsigned i = 0; i < 17; ++i) write(reg::data, i);
    EXPECT_EQ(printed, "");
    EXPECT_NE(read(reg::lsr) & lsr::overrun.mask(), 0u);
    EXPECT_EQ(read(reg::lsr) & lsr::overrun.mask(), 0u);  // reading clears it
    EXPECT_EQ(read(reg::data), 0u);
    EXPECT_EQ(read(reg::data), 1u);
}

TEST_F(UartTest, DivisorLatchIsNotTheDataRegister) {
    write(reg::lcr, eight_bits | lcr::dlab.mask());
    write(reg::data, 0x34);
    write(reg::ier, 0x12);
    EXPECT_EQ(read(reg::data), 0x34u);
    EXPECT_EQ(read(reg::ier), 0x12u);
    write(reg::lcr, eight_bits);
    EXPECT_EQ(read(reg::ier), 0u);
    EXPECT_EQ(printed, "");
}

TEST_F(UartTest, InterruptFollowsTheTimeOfTheAccess) {
    set_up();
    cpu.annotated = sc_time(2, SC_US);  // a hart that is ahead
    write(reg::ier, ier::tx_empty.mask());
    EXPECT_FALSE(irq.level());
    sc_start(sc_time(1999, SC_NS));
    EXPECT_FALSE(irq.level());
    sc_start(sc_time(2, SC_NS));
    EXPECT_TRUE(irq.level());
    write(reg::ier, 0);
    EXPECT_FALSE(irq.level()) << "a fall does not wait";
    write(reg::ier, ier::tx_empty.mask());
    reset.set(true);
    reset.set(false);
    sc_start(sc_time(5, SC_US));
    EXPECT_EQ(irq.rises(), 1u) << "a reset cancels the rise";
}

TEST_F(UartTest, ResetDropsEverything) {
    set_up();
    dut.type("abc");
    write(reg::ier, 0xf);
    EXPECT_TRUE(irq.level());
    reset.set(true);
    reset.set(false);
    EXPECT_FALSE(irq.level());
    EXPECT_EQ(read(reg::lsr), lsr::tx_empty.mask() | lsr::tx_idle.mask());
    EXPECT_EQ(read(reg::lcr), 0u);
}

TEST_F(UartTest, EmptyingTheReceiveFifoEndsItsTimeOut) {
    set_up(iir_fcr::fifo_enable.mask() | iir_fcr::rx_trigger.set(0, 1));
    write(reg::ier, ier::rx_ready.mask());
    const auto empty =
        iir_fcr::fifo_enable.mask() | iir_fcr::rx_trigger.set(0, 1) | iir_fcr::rx_clear.mask();
    dut.type("abc");
    sc_start(sc_time(14, SC_US));
    EXPECT_TRUE(irq.level());
    write(reg::iir_fcr, empty);
    EXPECT_FALSE(irq.level());
    EXPECT_EQ(read(reg::iir_fcr) & 0xf, 1u);
    dut.type("abc");
    write(reg::iir_fcr, empty);  // before the timeout
    sc_start(sc_time(50, SC_US));
    EXPECT_FALSE(irq.level());
    dut.type("abc");
    sc_start(sc_time(14, SC_US));
    EXPECT_TRUE(irq.level());
    write(reg::iir_fcr, 0);  // without FIFOs there is no timeout
    EXPECT_FALSE(irq.level());
}

}  // namespace
