// SPDX-License-Identifier: Apache-2.0
#include "models/processor/interrupts/aclint.h"

#include <gtest/gtest.h>

#include "models/processor/interrupts/aclint_regs.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace trn::test {

using aclint_regs::offset;
using aclint_regs::reg;
using sc_core::sc_start;
using sc_core::sc_time;

class AclintTest : public testing::Test {
protected:
    tlm_driver cpu{"cpu"};
    aclint dut{"dut", {.harts = 2, .tick = sc_time(100, sc_core::SC_NS)}};

    AclintTest() {
        cpu.out.bind(dut.in);
        sc_start(sc_core::SC_ZERO_TIME);
    }
    void set_compare(unsigned hart, std::uint64_t value) {
        EXPECT_EQ(cpu.write(offset(reg::mtimecmp_lo, hart), value), tlm::TLM_OK_RESPONSE);
    }
};

TEST_F(AclintTest, KeepsItsRegisterContract) {
    register_contract(cpu, aclint_regs::table).check();
}

TEST_F(AclintTest, MtimeCountsTicksOfSimulatedTime) {
    sc_start(sc_time(1050, sc_core::SC_NS));
    EXPECT_EQ(cpu.read<std::uint64_t>(offset(reg::mtime_lo)), 10u);
    cpu.write<std::uint64_t>(offset(reg::mtime_lo), 0x1'0000'0000);
    sc_start(sc_time(100, sc_core::SC_NS));
    EXPECT_EQ(cpu.read<std::uint32_t>(offset(reg::mtime_lo)), 1u);
    EXPECT_EQ(cpu.read<std::uint32_t>(offset(reg::mtime_hi)), 1u);
}

TEST_F(AclintTest, TimerInterruptRisesOnTheTickAndFallsWithANewCompare) {
    set_compare(1, 5);
    sc_start(sc_time(499, sc_core::SC_NS));
    EXPECT_FALSE(dut.timer[1].level());
    sc_start(sc_time(2, sc_core::SC_NS));
    EXPECT_TRUE(dut.timer[1].level());
    EXPECT_FALSE(dut.timer[0].level());
    set_compare(1, 500);
    EXPECT_FALSE(dut.timer[1].level());
}

TEST_F(AclintTest, CompareValueInThePastRaisesTheInterruptAtOnce) {
    sc_start(sc_time(1, sc_core::SC_US));
    set_compare(0, 3);
    EXPECT_TRUE(dut.timer[0].level());
}

TEST_F(AclintTest, UnreachableCompareValueSchedulesNoEvent) {
    sc_start(sc_time(1, sc_core::SC_US));
    EXPECT_FALSE(sc_core::sc_pending_activity());
    set_compare(0, ~std::uint64_t{0} - 1);
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(AclintTest, MtimeWrittenAheadOfTheKernelIsNotInThePast) {
    set_compare(0, 1'000'000);
    sc_start(sc_time(1, sc_core::SC_MS));
    std::uint64_t zero = 0;
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(offset(reg::mtime_lo));
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&zero));
    payload.set_data_length(sizeof zero);
    payload.set_streaming_width(sizeof zero);
    sc_time local(50, sc_core::SC_US);  // the hart is ahead of the kernel
    cpu.out->b_transport(payload, local);
    EXPECT_FALSE(dut.timer[0].level()) << "0 is before 1,000,000";
    EXPECT_EQ(dut.mtime(sc_core::sc_time_stamp()), 10'000u) << "for a hart that is not ahead";
    EXPECT_EQ(dut.mtime(sc_core::sc_time_stamp() + local), 0u);
    EXPECT_EQ(dut.mtime(sc_core::sc_time_stamp() + sc_time(51, sc_core::SC_US)), 10u);
    sc_start(sc_time(100, sc_core::SC_MS));
    EXPECT_FALSE(dut.timer[0].level());
    sc_start(sc_time(100, sc_core::SC_US));
    EXPECT_TRUE(dut.timer[0].level());
}

TEST_F(AclintTest, MtimeWrittenAheadOfTheKernelLeavesEarlierTimersOfOtherHarts) {
    set_compare(0, 100);
    cpu.annotated = sc_time(50, sc_core::SC_US);
    cpu.write<std::uint64_t>(offset(reg::mtime_lo), 0);
    sc_start(sc_time(9, sc_core::SC_US));
    EXPECT_FALSE(dut.timer[0].level());
    sc_start(sc_time(2, sc_core::SC_US));
    EXPECT_TRUE(dut.timer[0].level());
    sc_start(sc_time(40, sc_core::SC_US));
    EXPECT_FALSE(dut.timer[0].level()) << "MTIME is 10";
    sc_start(sc_time(10, sc_core::SC_US));
    EXPECT_TRUE(dut.timer[0].level());
}

TEST_F(AclintTest, ATimerThatAWriteOfMtimeExpiresRisesAtItsTime) {
    set_compare(0, 1000);
    cpu.annotated = sc_time(50, sc_core::SC_US);
    cpu.write<std::uint64_t>(offset(reg::mtime_lo), 1000);
    sc_start(sc_time(49, sc_core::SC_US));
    EXPECT_FALSE(dut.timer[0].level());
    sc_start(sc_time(2, sc_core::SC_US));
    EXPECT_TRUE(dut.timer[0].level());
}

TEST_F(AclintTest, LinesRiseAtTheTimeOfTheAccessAndFallAtOnce) {
    const auto ns = [](double time) { return sc_time(time, sc_core::SC_NS); };
    cpu.annotated = ns(300);  // the hart is ahead of the kernel
    cpu.write<std::uint32_t>(offset(reg::msip, 1), 1);
    set_compare(1, 2);
    EXPECT_FALSE(dut.software[1].level() || dut.timer[1].level());
    sc_start(ns(299));
    EXPECT_FALSE(dut.software[1].level() || dut.timer[1].level())
        << "MTIMECMP was written after MTIME had passed it";
    sc_start(ns(2));
    EXPECT_TRUE(dut.software[1].level() && dut.timer[1].level());
    set_compare(1, 500);
    EXPECT_FALSE(dut.timer[1].level()) << "a hart that waits next would not wait";
}

TEST_F(AclintTest, AccessOfOneHartLeavesTheTimerOfAnother) {
    set_compare(0, 2);
    cpu.annotated = sc_time(1, sc_core::SC_US);  // when MTIME is 10
    set_compare(1, 1000);
    sc_start(sc_time(199, sc_core::SC_NS));
    EXPECT_FALSE(dut.timer[0].level());
    sc_start(sc_time(2, sc_core::SC_NS));
    EXPECT_TRUE(dut.timer[0].level());
}

TEST_F(AclintTest, SoftwareInterruptFollowsItsBit) {
    cpu.write<std::uint32_t>(offset(reg::msip, 1), 1);
    EXPECT_TRUE(dut.software[1].level());
    EXPECT_FALSE(dut.software[0].level());
    cpu.write<std::uint32_t>(offset(reg::msip, 1), 0);
    EXPECT_FALSE(dut.software[1].level());
}

TEST_F(AclintTest, ResetClearsComparatorsAndSoftwareInterrupts) {
    irq_out reset{"reset"}, power_lost{"power_lost"};
    reset.bind(dut.reset);
    power_lost.bind(dut.power_lost);
    set_compare(0, 5);
    cpu.write<std::uint32_t>(offset(reg::mtimecmp_hi, 0), 0);
    set_compare(1, 50);
    cpu.write<std::uint32_t>(offset(reg::mtimecmp_hi, 1), 0);
    cpu.write<std::uint32_t>(offset(reg::msip, 1), 1);
    sc_start(sc_time(1000, sc_core::SC_NS));
    EXPECT_TRUE(dut.timer[0].level() && dut.software[1].level());
    reset.set(true);
    EXPECT_FALSE(dut.timer[0].level() || dut.software[1].level());
    EXPECT_EQ(cpu.read<std::uint32_t>(offset(reg::mtimecmp_lo, 0)), ~0u);
    EXPECT_EQ(cpu.read<std::uint32_t>(offset(reg::mtimecmp_hi, 0)), ~0u);
    EXPECT_EQ(cpu.read<std::uint32_t>(offset(reg::msip, 1)), 0u);
    EXPECT_EQ(cpu.read<std::uint64_t>(offset(reg::mtime_lo)), 10u) << "the counter continues";
    EXPECT_FALSE(sc_core::sc_pending_activity());
    power_lost.set(true);
    sc_start(sc_time(1000, sc_core::SC_NS));
    power_lost.set(false);
    sc_start(sc_time(200, sc_core::SC_NS));
    EXPECT_EQ(cpu.read<std::uint64_t>(offset(reg::mtime_lo)), 2u);
}

}  // namespace trn::test
