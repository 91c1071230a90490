// SPDX-License-Identifier: Apache-2.0
#include "models/processor/interrupts/plic.h"

#include <gtest/gtest.h>

#include "models/processor/interrupts/plic_regs.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace trn::test {

using plic_regs::offset;
using plic_regs::reg;

class PlicTest : public testing::Test {
protected:
    tlm_driver cpu{"cpu"};
    plic dut{"dut", {.sources = 40, .contexts = 2}};

    PlicTest() {
        cpu.out.bind(dut.in);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    void write(reg r, unsigned index, std::uint32_t value) {
        EXPECT_EQ(cpu.write(offset(r, index), value), tlm::TLM_OK_RESPONSE);
    }
    std::uint32_t read(reg r, unsigned index) { return cpu.read(offset(r, index)); }
    void enable(unsigned context, unsigned id) {
        const unsigned word = context * 32 + id / 32;
        write(reg::enable, word, read(reg::enable, word) | 1u << id % 32);
    }
    void prepare(unsigned id, std::uint32_t priority) {
        write(reg::priority, id, priority);
        enable(0, id);
    }
};

TEST_F(PlicTest, KeepsItsRegisterContract) {
    register_contract(cpu, plic_regs::table).check();
}

TEST_F(PlicTest, AnEnabledSourceInterruptsUntilItIsClaimed) {
    prepare(33, 1);
    dut.source.drive(33, true);
    EXPECT_TRUE(dut.out[0].level());
    EXPECT_FALSE(dut.out[1].level());
    EXPECT_EQ(read(reg::pending, 1), 2u);
    EXPECT_EQ(read(reg::context_claim, 0), 33u);
    EXPECT_FALSE(dut.out[0].level());
    EXPECT_EQ(read(reg::pending, 1), 0u);
}

TEST_F(PlicTest, LineStillHighAfterCompletionInterruptsAgain) {
    prepare(3, 1);
    dut.source.drive(3, true);
    EXPECT_EQ(read(reg::context_claim, 0), 3u);
    EXPECT_EQ(read(reg::context_claim, 0), 0u) << "one request at a time";
    write(reg::context_claim, 0, 3);
    EXPECT_TRUE(dut.out[0].level());
    EXPECT_EQ(read(reg::context_claim, 0), 3u);
    dut.source.drive(3, false);
    write(reg::context_claim, 0, 3);
    EXPECT_FALSE(dut.out[0].level());
}

TEST_F(PlicTest, HighestPriorityIsClaimedFirstAndTheLowestNumberAmongEquals) {
    prepare(5, 2);
    prepare(6, 7);
    prepare(4, 2);
    for (const unsigned id : {4u, 5u, 6u}) dut.source.drive(id, true);
    EXPECT_EQ(read(reg::context_claim, 0), 6u);
    EXPECT_EQ(read(reg::context_claim, 0), 4u);
    EXPECT_EQ(read(reg::context_claim, 0), 5u);
}

TEST_F(PlicTest, ThresholdMasksPrioritiesUpToItsValue) {
    prepare(5, 2);
    write(reg::context_threshold, 0, 2);
    dut.source.drive(5, true);
    EXPECT_FALSE(dut.out[0].level());
    write(reg::context_threshold, 0, 1);
    EXPECT_TRUE(dut.out[0].level());
}

TEST_F(PlicTest, RegistersOfAbsentSourcesStayZero) {
    write(reg::priority, 41, 7);
    EXPECT_EQ(read(reg::priority, 41), 0u);
    write(reg::enable, 1, ~0u);
    EXPECT_EQ(read(reg::enable, 1), 0x1ffu);
    write(reg::enable, 0, ~0u);
    EXPECT_EQ(read(reg::enable, 0), ~1u) << "source 0";
}

TEST_F(PlicTest, CompletionOfASourceThatIsNotEnabledIsIgnored) {
    prepare(3, 1);
    dut.source.drive(3, true);
    EXPECT_EQ(read(reg::context_claim, 0), 3u);
    write(reg::context_claim, 1, 3);
    EXPECT_FALSE(dut.out[0].level()) << "still in service";
}

TEST_F(PlicTest, AfterAResetASourceInServiceCanInterruptAgain) {
    irq_out reset{"reset"};
    reset.bind(dut.reset);
    prepare(3, 1);
    dut.source.drive(3, true);
    EXPECT_EQ(read(reg::context_claim, 0), 3u);  // without a completion
    reset.set(true);
    reset.set(false);
    EXPECT_FALSE(dut.out[0].level());
    prepare(3, 1);
    EXPECT_TRUE(dut.out[0].level());
    EXPECT_EQ(read(reg::context_claim, 0), 3u);
}

TEST_F(PlicTest, LatchesNothingInReset) {
    irq_out reset{"reset"};
    reset.bind(dut.reset);
    dut.source.drive(4, true);
    reset.set(true);
    dut.source.drive(3, true);  // the device is reset later
    dut.source.drive(3, false);
    reset.set(false);
    prepare(3, 1);
    EXPECT_FALSE(dut.out[0].level());
    prepare(4, 1);  // stays high
    EXPECT_TRUE(dut.out[0].level());
}

}  // namespace trn::test
