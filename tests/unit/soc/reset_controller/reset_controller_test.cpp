// SPDX-License-Identifier: Apache-2.0
#include "models/soc/reset_controller/reset_controller.h"

#include <gtest/gtest.h>

#include "models/soc/reset_controller/reset_controller_regs.h"
#include "tests/support/irq_probe.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using namespace trn::reset_controller_regs;
using sc_core::sc_start;
using sc_core::sc_time;
using sc_core::SC_US;
using sc_core::SC_ZERO_TIME;

struct ResetControllerTest : testing::Test {
    test::tlm_driver cpu{"cpu"};
    reset_controller dut{"dut",
                         {.routing_id = 9,
                          .serial = 0x1122334455667788,
                          .revision_id = 255,
                          .topology = reset_controller::joined::switched,
                          .shape_x = 4,
                          .shape_y = 18,
                          .shape_z = 2,
                          .rack = 1,
                          .server_in_rack = 17,
                          .chip = 3,
                          .access_latency = SC_ZERO_TIME}};
    irq_out bite{"bite"}, power_off{"power_off"};
    test::irq_probe chip{dut.chip_reset, "chip_probe"};
    test::irq_probe lost{dut.power_lost, "lost_probe"};
    test::irq_probe dma0{dut.dma_reset[0], "dma0_probe"};
    test::irq_probe host3{dut.dma_reset[11], "host3_probe"};
    test::irq_probe core7{dut.tpb_reset[7], "core7_probe"};
    test::irq_probe pair9{dut.top_sp_reset[9], "pair9_probe"};

    ResetControllerTest() {
        cpu.out.bind(dut.in);
        bite.bind(dut.watchdog_bite);
        power_off.bind(dut.power_off);
        sc_start(SC_ZERO_TIME);
    }
    void write(reg r, std::uint64_t value) {
        EXPECT_EQ(cpu.write(offset(r), static_cast<std::uint32_t>(value)), tlm::TLM_OK_RESPONSE);
    }
    std::uint32_t read(reg r) { return cpu.read(offset(r)); }
};

TEST_F(ResetControllerTest, KeepsItsRegisterContract) {
    test::register_contract(cpu, table).check();
}

TEST_F(ResetControllerTest, HoldsEveryDomainInResetFromPowerOnUntilReleased) {
    EXPECT_TRUE(dma0.level() && host3.level() && core7.level() && pair9.level());
    EXPECT_FALSE(chip.level());
    write(reg::dma_reset, dma_reset::host.set(0, 1u << 3));
    EXPECT_FALSE(dma0.level());
    EXPECT_TRUE(host3.level());
    write(reg::tpb_reset, 0);
    EXPECT_FALSE(core7.level());
    EXPECT_TRUE(pair9.level());
}

TEST_F(ResetControllerTest, AWriteLeavesTheComingChangesOfOtherDomains) {
    write(reg::dma_reset, 0);
    write(reg::tpb_reset, 0);
    cpu.annotated = sc_time(5, SC_US);  // the initiator is ahead
    write(reg::dma_reset, 1);
    cpu.annotated = sc_time(6, SC_US);
    write(reg::dma_reset, 0);
    cpu.annotated = SC_ZERO_TIME;  // another initiator
    write(reg::tpb_reset, 1u << 7);
    EXPECT_TRUE(core7.level());
    EXPECT_FALSE(dma0.level());
    sc_start(sc_time(5.5, SC_US));
    EXPECT_TRUE(dma0.level());
    sc_start(sc_time(1, SC_US));
    EXPECT_FALSE(dma0.level());
}

TEST_F(ResetControllerTest, ShowsItsStraps) {
    EXPECT_EQ(read(reg::strap_position), 9u);
    EXPECT_EQ(read(reg::strap_serial_lo), 0x55667788u);
    EXPECT_EQ(read(reg::strap_serial_hi), 0x11223344u);
    const auto platform = read(reg::strap_platform);
    EXPECT_EQ(strap_platform::revision.get(platform), 255u);
    EXPECT_EQ(strap_platform::generation.get(platform), 4u);
    const auto topology = read(reg::strap_topology);
    EXPECT_EQ(strap_topology::kind.get(topology), strap_topology::kind_switched);
    EXPECT_EQ(strap_topology::x.get(topology), 4u);
    EXPECT_EQ(strap_topology::y.get(topology), 18u);
    EXPECT_EQ(strap_topology::z.get(topology), 2u);
    const auto place = read(reg::strap_place);
    EXPECT_EQ(strap_place::chip.get(place), 3u);
    EXPECT_EQ(strap_place::server.get(place), 17u);
    EXPECT_EQ(strap_place::rack.get(place), 1u);
    EXPECT_EQ(read(reg::reset_reason), reset_reason::power_on.mask());
}

TEST_F(ResetControllerTest, WatchdogBiteResetsTheChipAndRecordsTheCause) {
    write(reg::dma_reset, 0);
    write(reg::boot_status, boot_status::stage_ready | 0x20000);
    cpu.write<std::uint32_t>(offset(reg::scratch, 2), 77);
    EXPECT_TRUE(dut.ready());
    bite.set(true);
    sc_start(sc_time(5, SC_US));
    EXPECT_TRUE(chip.level());
    EXPECT_TRUE(dma0.level());
    EXPECT_FALSE(dut.ready());
    bite.set(false);
    sc_start(sc_time(6, SC_US));
    EXPECT_FALSE(chip.level());
    EXPECT_EQ(chip.rises(), 1u);
    EXPECT_EQ(read(reg::reset_reason),
              reset_reason::power_on.mask() | reset_reason::watchdog.mask());
    EXPECT_EQ(read(reg::reset_count), 1u);
    EXPECT_EQ(cpu.read(offset(reg::scratch, 2)), 77u);
    EXPECT_EQ(read(reg::boot_status), 0x20000u);
    write(reg::reset_reason, reset_reason::power_on.mask());
    EXPECT_EQ(read(reg::reset_reason), reset_reason::watchdog.mask());
}

TEST_F(ResetControllerTest, SoftwareResetNeedsTheKey) {
    write(reg::chip_reset, 1);
    sc_start(sc_time(20, SC_US));
    EXPECT_EQ(chip.rises(), 0u);
    write(reg::chip_reset, reset_controller_regs::chip_reset::key_value);
    sc_start(sc_time(20, SC_US));
    EXPECT_EQ(chip.rises(), 1u);
    EXPECT_FALSE(chip.level());
}

TEST_F(ResetControllerTest, RequestDuringAResetIsServedAfterwards) {
    write(reg::chip_reset, reset_controller_regs::chip_reset::key_value);
    sc_start(sc_time(5, SC_US));
    bite.set(true);
    bite.set(false);
    sc_start(sc_time(50, SC_US));
    EXPECT_EQ(chip.rises(), 2u);
    EXPECT_FALSE(chip.level());
}

TEST_F(ResetControllerTest, PllsLockAfterTheirLockTime) {
    write(reg::pll_control, 0x5);
    sc_start(sc_time(79, SC_US));
    EXPECT_EQ(read(reg::pll_status), 0u);
    sc_start(sc_time(2, SC_US));
    EXPECT_EQ(read(reg::pll_status), 0x5u);
    write(reg::pll_control, 0x4);
    EXPECT_EQ(read(reg::pll_status), 0x4u);
}

TEST_F(ResetControllerTest, RequestsWithoutPowerAreNotServed) {
    write(reg::boot_status, 0x20000);
    power_off.set(true);
    EXPECT_TRUE(chip.level() && lost.level());
    bite.set(true);  // any request
    bite.set(false);
    write(reg::chip_reset, reset_controller_regs::chip_reset::key_value);
    sc_start(sc_time(50, SC_US));
    EXPECT_TRUE(chip.level()) << "nothing runs without power";
    power_off.set(false);
    EXPECT_FALSE(lost.level());
    sc_start(sc_time(9, SC_US));
    EXPECT_TRUE(chip.level());
    sc_start(sc_time(2, SC_US));
    EXPECT_FALSE(chip.level());
    sc_start(sc_time(50, SC_US));
    EXPECT_EQ(chip.rises(), 1u);
    EXPECT_EQ(read(reg::reset_reason), reset_reason::power_on.mask());
    EXPECT_EQ(read(reg::reset_count), 0u);
    EXPECT_EQ(read(reg::boot_status), 0u);
}

TEST_F(ResetControllerTest, PowerLossAtAnyTimeOfAResetEndsItAtPowerOn) {
    for (const double after : {0.0, 0.001, 5.0, 9.999, 10.0, 11.0}) {
        bite.set(true);
        bite.set(false);
        sc_start(sc_time(after, SC_US));
        power_off.set(true);
        sc_start(sc_time(30, SC_US));
        ASSERT_TRUE(chip.level()) << after;
        power_off.set(false);
        sc_start(sc_time(5, SC_US));
        power_off.set(true);
        sc_start(sc_time(30, SC_US));
        ASSERT_TRUE(chip.level()) << after;
        power_off.set(false);
        sc_start(sc_time(11, SC_US));
        ASSERT_FALSE(chip.level()) << after;
        ASSERT_EQ(read(reg::reset_count), 0u) << after;
    }
}

}  // namespace
