// SPDX-License-Identifier: Apache-2.0
#include "models/sensors/sensors.h"

#include <gtest/gtest.h>

#include "models/sensors/sensors_regs.h"
#include "tests/support/irq_probe.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using namespace trn::sensors_regs;
using sc_core::SC_MS;
using sc_core::SC_SEC;
using sc_core::sc_start;
using sc_core::sc_time;
using sc_core::SC_ZERO_TIME;

/// A memory that moves as many bytes as the test says.
struct load : activity_interface, sc_core::sc_module {
    explicit load(sc_core::sc_module_name name) : sc_module(name) {}
    std::uint64_t bytes_moved() const override { return moved; }
    std::uint64_t moved = 0;
};

struct SensorsTest : testing::Test {
    test::tlm_driver cpu{"cpu"};
    sensors dut{"dut", {}};
    sc_core::sc_vector<load> stacks{"hbm", 4};
    test::irq_probe irq{dut.irq, "irq_probe"};
    test::irq_probe trip{dut.trip, "trip_probe"};

    SensorsTest() {
        cpu.out.bind(dut.in);
        for (auto& stack : stacks) dut.activity.bind(stack);
        sc_start(SC_ZERO_TIME);
    }
    std::uint32_t read(reg r, unsigned index = 0) { return cpu.read(offset(r, index)); }
    std::int32_t celsius(unsigned diode) {
        return static_cast<std::int32_t>(read(reg::temperature, diode)) / 1000;
    }
};

TEST_F(SensorsTest, KeepsItsRegisterContract) {
    test::register_contract(cpu, table).check();
}

TEST_F(SensorsTest, SamplesChangeOncePerPeriod) {
    const auto first = read(reg::power);
    sc_start(sc_time(9, SC_MS));
    EXPECT_EQ(read(reg::power), first);
    EXPECT_EQ(read(reg::sample), 0u);
    sc_start(sc_time(2, SC_MS));
    EXPECT_EQ(read(reg::sample), 1u);
    EXPECT_NE(read(reg::power), first);
    EXPECT_NEAR(read(reg::power), 90'000, 900);
}

TEST_F(SensorsTest, PowerFollowsTheBytesMovedByADie) {
    read(reg::power);
    stacks[2].moved = 2'457'600'000'000 / 200;  // with the other, all they can do in 10 ms
    stacks[3].moved = 2'457'600'000'000 / 200;
    sc_start(sc_time(11, SC_MS));
    EXPECT_NEAR(read(reg::power, 0), 90'000, 900);
    EXPECT_NEAR(read(reg::power, 1), 500'000, 5'000);
    sc_start(sc_time(10, SC_MS));
    EXPECT_NEAR(read(reg::power, 1), 90'000, 900);
}

TEST_F(SensorsTest, TemperatureApproachesTheSteadyStateOfItsPower) {
    EXPECT_EQ(celsius(0), 35);
    sc_start(sc_time(20, SC_SEC));
    EXPECT_EQ(celsius(0), 42);  // 35 + 90 W * 0.08 K/W
    EXPECT_EQ(celsius(2), 40);
}

TEST_F(SensorsTest, PowerCapThrottlesAndSetsItsStatusBit) {
    read(reg::power);
    cpu.write<std::uint32_t>(offset(reg::power_cap, 0), 50'000);
    cpu.write<std::uint32_t>(offset(reg::irq_enable), 2);
    sc_start(sc_time(11, SC_MS));
    EXPECT_EQ(read(reg::power, 0), 50'000u);
    EXPECT_TRUE(irq.level());
    cpu.write<std::uint32_t>(offset(reg::irq_status), 2);
    EXPECT_FALSE(irq.level());
}

TEST_F(SensorsTest, HotDiodeRaisesTheAlarmAndThenTripsTheChip) {
    cpu.write<std::uint32_t>(offset(reg::irq_enable), 1);
    dut.inject("temperature", {{"diode", "3"}, {"kelvin", "75"}});
    EXPECT_TRUE(irq.level());
    EXPECT_FALSE(trip.level());
    dut.inject("temperature", {{"diode", "3"}, {"kelvin", "95"}});
    EXPECT_TRUE(trip.level());
    dut.inject("temperature", {{"diode", "3"}, {"kelvin", "0"}});
    EXPECT_FALSE(trip.level());
    EXPECT_TRUE(irq.level());  // until it is acknowledged
    cpu.write<std::uint32_t>(offset(reg::irq_status), 1);
    EXPECT_FALSE(irq.level());
}

TEST_F(SensorsTest, RefusesUnknownFaults) {
    EXPECT_THROW(dut.inject("fire", {}), fault_error);
    EXPECT_THROW(dut.inject("temperature", {{"diode", "6"}, {"kelvin", "1"}}), fault_error);
    EXPECT_THROW(dut.inject("temperature", {{"diode", "1"}, {"kelvin", "hot"}}), fault_error);
    EXPECT_THROW(dut.inject("temperature", {{"diode", "1"}}), fault_error);
}

TEST_F(SensorsTest, SchedulesNoEvents) {
    read(reg::power);
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

}  // namespace
