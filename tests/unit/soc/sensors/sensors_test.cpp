// SPDX-License-Identifier: Apache-2.0
#include "models/soc/sensors/sensors.h"

#include <gtest/gtest.h>

#include "models/soc/sensors/sensors_regs.h"
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

/// A memory whose byte count is set by the test.
struct load : activity_interface, sc_core::sc_module {
    explicit load(sc_core::sc_module_name name) : sc_module(name) {}
    std::uint64_t bytes_moved() const override { return moved; }
    std::uint64_t moved = 0;
};

/// A core whose operation and byte counts are set by the test.
struct core : compute_activity_interface, sc_core::sc_module {
    explicit core(sc_core::sc_module_name name) : sc_module(name) {}
    std::uint64_t bf16_flops() const override { return flops; }
    std::uint64_t sram_bytes() const override { return bytes; }
    void set_throttled(bool now, bool notify) override {
        throttled = now;
        notified = notify;
    }
    std::uint64_t flops = 0, bytes = 0;
    bool throttled = false, notified = false;
};

struct SensorsTest : testing::Test {
    test::tlm_driver cpu{"cpu"};
    sensors dut{"dut", {.access_latency = SC_ZERO_TIME}};
    sc_core::sc_vector<load> stacks{"hbm", 4};
    sc_core::sc_vector<core> cores{"nc", 8};
    test::irq_probe irq{dut.irq, "irq_probe"};
    test::irq_probe trip{dut.trip, "trip_probe"};
    test::irq_probe throttled{dut.throttled, "throttled_probe"};
    irq_out reset{"reset"};
    irq_out throttle{"throttle"};

    SensorsTest() {
        cpu.out.bind(dut.in);
        reset.bind(dut.reset);
        throttle.bind(dut.throttle);
        for (auto& stack : stacks) dut.activity.bind(stack);
        for (auto& one : cores) dut.compute.bind(one);
        sc_start(SC_ZERO_TIME);
    }
    std::uint32_t read(reg r, unsigned index = 0) { return cpu.read(offset(r, index)); }
    void write(reg r, std::uint64_t value) {
        EXPECT_EQ(cpu.write(offset(r), static_cast<std::uint32_t>(value)), tlm::TLM_OK_RESPONSE);
    }
    std::int32_t celsius(unsigned diode) {
        return static_cast<std::int32_t>(read(reg::temperature, diode)) / 1000;
    }
};

TEST_F(SensorsTest, KeepsItsRegisterContract) {
    test::register_contract(cpu, table).check();
}

TEST_F(SensorsTest, ComputingDrawsPowerOnItsOwnDie) {
    read(reg::power);
    sc_start(sc_time(10, SC_MS));
    // 10 ms at half of the rated operations and half of the rated bytes of die 1.
    cores[5].flops = 314'572'800'000'000 / 2 / 100;
    cores[7].bytes = 9'830'400'000'000 / 2 / 100;
    EXPECT_NEAR(read(reg::power, 0), 90'000, 900);
    EXPECT_NEAR(read(reg::power, 1), 90'000 + 410'000 / 2, 3'000);
    sc_start(sc_time(10, SC_MS));
    EXPECT_NEAR(read(reg::power, 1), 90'000, 900);
}

/// Reads the energy counter published by the sensors.
struct energy final : statistics {
    explicit energy(const sensors& of) { of.publish(*this); }
    void count(std::string_view, std::uint64_t value) override { microjoules = value; }
    std::uint64_t microjoules = 0;
};

TEST_F(SensorsTest, EnergyOfWorkIsCountedWithoutIdlePower) {
    read(reg::power);
    sc_start(sc_time(10, SC_MS));
    read(reg::power);
    EXPECT_EQ(energy(dut).microjoules, 0u);
    // 10 ms at half of the rated operations and bytes of die 1: half of 410 W.
    cores[5].flops = 314'572'800'000'000 / 2 / 100;
    cores[7].bytes = 9'830'400'000'000 / 2 / 100;
    sc_start(sc_time(10, SC_MS));
    read(reg::power);
    EXPECT_NEAR(static_cast<double>(energy(dut).microjoules), 2'050'000, 1);
    sc_start(sc_time(1, SC_SEC));
    read(reg::power);
    EXPECT_NEAR(static_cast<double>(energy(dut).microjoules), 2'050'000, 1);
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
    stacks[2].moved = 2'457'600'000'000 / 200;  // with the other stack: the maximum for 10 ms
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
    write(reg::power_cap, 50'000);
    write(reg::irq_enable, irq_enable::throttled.mask());
    sc_start(sc_time(11, SC_MS));
    EXPECT_EQ(read(reg::power, 0), 50'000u);
    EXPECT_TRUE(irq.level());
    write(reg::irq_status, irq_status::throttled.mask());
    EXPECT_FALSE(irq.level());
}

TEST_F(SensorsTest, HotDiodeRaisesTheAlarmAndThenTripsTheChip) {
    write(reg::irq_enable, irq_enable::alarm.mask());
    dut.inject("temperature", {{"diode", "3"}, {"kelvin", "75"}});
    EXPECT_TRUE(irq.level());
    EXPECT_FALSE(trip.level());
    dut.inject("temperature", {{"diode", "3"}, {"kelvin", "95"}});
    EXPECT_TRUE(trip.level());
    dut.inject("temperature", {{"diode", "3"}, {"kelvin", "0"}});
    EXPECT_FALSE(trip.level());
    EXPECT_TRUE(irq.level());  // until it is acknowledged
    write(reg::irq_status, irq_status::alarm.mask());
    EXPECT_FALSE(irq.level());
}

TEST_F(SensorsTest, AccessThatIsAheadShowsItsConversionAndInterruptsAtItsTime) {
    std::vector<sc_time> reported;
    dut.on_conversion([&](const sc_time& delay) { reported.push_back(delay); });
    cpu.annotated = sc_time(15, SC_MS);  // the second conversion is at 10 ms
    write(reg::alarm_temperature, 20'000);
    write(reg::irq_enable, irq_enable::alarm.mask());
    EXPECT_EQ(reported.back(), cpu.annotated);
    EXPECT_FALSE(irq.level());
    sc_start(sc_time(14, SC_MS));
    EXPECT_FALSE(irq.level());
    sc_start(sc_time(2, SC_MS));
    EXPECT_TRUE(irq.level());
}

TEST_F(SensorsTest, AccessThatIsEarlierThanTheLastConversionShowsIt) {
    cpu.annotated = sc_time(25, SC_MS);
    const auto power = read(reg::power);
    EXPECT_EQ(read(reg::sample), 2u);
    cpu.annotated = SC_ZERO_TIME;  // another initiator
    EXPECT_EQ(read(reg::sample), 2u);
    EXPECT_EQ(read(reg::power), power);
    sc_start(sc_time(10, SC_MS));
    EXPECT_EQ(read(reg::sample), 2u);
    EXPECT_EQ(energy(dut).microjoules, 0u);
    cpu.annotated = sc_time(25, SC_MS);
    EXPECT_EQ(read(reg::sample), 3u);
}

TEST_F(SensorsTest, SledThrottleReachesTheEnginesAndTheInterrupt) {
    write(reg::irq_enable, irq_enable::throttled.mask());
    throttle.set(true);
    EXPECT_TRUE(throttled.level());
    EXPECT_TRUE(cores[0].throttled);
    EXPECT_TRUE(irq.level());
    throttle.set(false);
    EXPECT_FALSE(throttled.level());
    EXPECT_FALSE(cores[0].throttled);
    EXPECT_TRUE(irq.level());  // until it is acknowledged
    write(reg::irq_status, irq_status::throttled.mask());
    EXPECT_FALSE(irq.level());
}

TEST_F(SensorsTest, CoresReportThrottlingWhenFirmwareWantsThat) {
    throttle.set(true);
    EXPECT_FALSE(cores[7].notified);
    throttle.set(false);
    write(reg::notify, notify::throttle.mask());
    throttle.set(true);
    EXPECT_TRUE(cores[7].notified);
    EXPECT_TRUE(cores[7].throttled);
}

TEST_F(SensorsTest, FirmwareCanLowerTheAlarmTemperature) {
    write(reg::irq_enable, irq_enable::alarm.mask());
    read(reg::power);
    EXPECT_FALSE(irq.level());
    write(reg::alarm_temperature, 35'000);  // the coolant's
    EXPECT_TRUE(irq.level());
    EXPECT_EQ(read(reg::irq_status), irq_status::alarm.mask());
}

TEST_F(SensorsTest, ResetRestoresTheDefaultsOfFirmwareSettings) {
    write(reg::irq_enable, irq_enable::throttled.mask());
    write(reg::power_cap, 50'000);
    sc_start(sc_time(11, SC_MS));  // the next conversion
    EXPECT_EQ(read(reg::power), 50'000u);
    EXPECT_TRUE(irq.level());
    reset.set(true);
    EXPECT_FALSE(irq.level());
    reset.set(false);
    EXPECT_EQ(read(reg::irq_enable), 0u);
    EXPECT_NEAR(read(reg::power), 90'000, 900);
}

TEST_F(SensorsTest, ConversionsAreReportedToTheSled) {
    unsigned conversions = 0;
    dut.on_conversion([&](const sc_core::sc_time&) { ++conversions; });
    read(reg::power);
    read(reg::temperature);
    EXPECT_EQ(conversions, 1u) << "one per sample period";
    EXPECT_EQ(dut.milliwatts(), std::uint64_t{read(reg::power, 0)} + read(reg::power, 1));
    dut.inject("temperature", {{"diode", "4"}, {"kelvin", "20"}});
    EXPECT_EQ(conversions, 2u);
    EXPECT_EQ(dut.hottest_millidegrees() / 1000, celsius(4));
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

TEST_F(SensorsTest, ThrottledStaysSetOverAResetWhileTheSledThrottles) {
    throttle.set(true);
    reset.set(true);
    reset.set(false);
    EXPECT_EQ(read(reg::irq_status), irq_status::throttled.mask());
    EXPECT_TRUE(throttled.level());
    throttle.set(false);
    reset.set(true);
    EXPECT_EQ(read(reg::irq_status), 0u);
}

TEST_F(SensorsTest, PowerIsTheMeanOverAllPeriodsAlsoAfterAFaultOrAReset) {
    read(reg::power);
    const auto half_load = [&](unsigned periods) {
        for (const unsigned n : {2u, 3u})
            stacks[static_cast<int>(n)].moved += 2'457'600'000'000 / 400 * periods;
        sc_start(sc_time(10 * periods, SC_MS));
    };
    half_load(1);
    EXPECT_NEAR(read(reg::power, 1), 295'000, 3'000);
    half_load(4);
    dut.inject("temperature", {{"diode", "0"}, {"kelvin", "5"}});
    EXPECT_NEAR(read(reg::power, 1), 295'000, 3'000);
    dut.inject("temperature", {{"diode", "0"}, {"kelvin", "0"}});  // in the same period
    EXPECT_NEAR(read(reg::power, 1), 295'000, 3'000);
    half_load(4);
    reset.set(true);
    reset.set(false);
    EXPECT_NEAR(read(reg::power, 1), 295'000, 3'000);
}

}  // namespace
