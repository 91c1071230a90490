// SPDX-License-Identifier: Apache-2.0
#include "models/sled/sled_controller/sled_controller.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace trn;

/// The part of a chip that the sled controller uses.
struct fake_chip : sc_core::sc_module, power_interface {
    explicit fake_chip(sc_core::sc_module_name name) : sc_module(name) {}
    std::uint64_t milliwatts() const override { return draws; }
    std::int32_t hottest_millidegrees() const override { return 50'000; }
    void on_conversion(conversion_callback done) override { reported = std::move(done); }
    void convert(std::uint64_t milliwatts) {
        draws = milliwatts;
        reported(sc_core::SC_ZERO_TIME);
    }
    std::uint64_t draws = 100'000;
    conversion_callback reported;
    irq_in throttle{"throttle", 1, [](unsigned, bool) {}};
    irq_in power_off{"power_off", 1, [](unsigned, bool) {}};
};

struct sled_of_four {
    explicit sled_of_four(const sled_controller::config& cfg) : controller("sled", cfg) {
        for (unsigned i = 0; i < 4; ++i) {
            chips.push_back(std::make_unique<fake_chip>(("chip" + std::to_string(i)).c_str()));
            controller.power.bind(*chips[i]);
            controller.throttle[i].bind(chips[i]->throttle);
            controller.power_off[i].bind(chips[i]->power_off);
        }
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    fake_chip& chip(unsigned i) { return *chips[i]; }
    unsigned throttled() const {
        unsigned count = 0;
        for (const auto& each : chips) count += each->throttle.level();
        return count;
    }

    sled_controller controller;
    std::vector<std::unique_ptr<fake_chip>> chips;
};

struct SledControllerTest : testing::Test, sled_of_four {
    SledControllerTest() : sled_of_four({.chip_budget = 1'000'000}) {}
};

TEST_F(SledControllerTest, ThrottlesChipsAboveTheirShareOfAnExceededBudget) {
    chip(0).convert(1'500'000);
    chip(1).convert(900'000);
    EXPECT_EQ(throttled(), 0u);  // the sled is below its power limit
    chip(2).convert(1'200'000);
    EXPECT_EQ(throttled(), 0u);
    chip(3).convert(401'000);
    EXPECT_TRUE(chip(0).throttle.level());
    EXPECT_FALSE(chip(1).throttle.level());
    EXPECT_TRUE(chip(2).throttle.level());
    EXPECT_FALSE(chip(3).throttle.level());
    EXPECT_EQ(controller.counters().throttle_events, 2u);
}

TEST_F(SledControllerTest, ReleasesChipsOnlyWellBelowTheBudget) {
    for (unsigned i = 0; i < 4; ++i) chip(i).convert(1'100'000);
    EXPECT_GT(throttled(), 0u);
    for (unsigned i = 0; i < 4; ++i) chip(i).convert(950'000);
    EXPECT_GT(throttled(), 0u);  // 3.8 of 4 kW
    for (unsigned i = 0; i < 4; ++i) chip(i).convert(890'000);
    EXPECT_EQ(throttled(), 0u);
}

TEST_F(SledControllerTest, LostSupplyLowersTheBudgetAtOnce) {
    for (unsigned i = 0; i < 4; ++i) chip(i).convert(800'000);
    EXPECT_EQ(throttled(), 0u);
    controller.inject("supply_loss", {{"permille", "500"}});
    EXPECT_EQ(throttled(), 4u);
    controller.inject("supply_loss", {{"permille", "1000"}});
    EXPECT_EQ(throttled(), 0u);
    EXPECT_THROW(controller.inject("supply_loss", {{"permille", "1001"}}), fault_error);
    EXPECT_THROW(controller.inject("supply_loss", {}), fault_error);
    EXPECT_THROW(controller.inject("fire", {}), fault_error);
}

TEST_F(SledControllerTest, FansFollowTheLoadAndNeverStop) {
    for (unsigned i = 0; i < 4; ++i) chip(i).convert(0);
    EXPECT_EQ(controller.speed_permille(), 333u);
    for (unsigned i = 0; i < 4; ++i) chip(i).convert(750'000);
    EXPECT_EQ(controller.speed_permille(), 750u);
    // Three quarters of the budget at three quarters of the flow: 15 K over 30 degrees.
    EXPECT_NEAR(controller.outlet(), 45.0, 0.01);
}

TEST_F(SledControllerTest, PowerIsSwitchedForAllChips) {
    for (unsigned i = 0; i < 4; ++i) chip(i).convert(1'100'000);
    controller.inject("power_loss", {});
    for (unsigned i = 0; i < 4; ++i) EXPECT_TRUE(chip(i).power_off.level());
    EXPECT_EQ(throttled(), 0u);
    EXPECT_EQ(controller.milliwatts(), 0u);
    controller.inject("power_loss", {});
    EXPECT_EQ(controller.counters().power_losses, 1u);
    controller.inject("power_return", {});
    for (unsigned i = 0; i < 4; ++i) EXPECT_FALSE(chip(i).power_off.level());
}

struct AirCooledSledTest : testing::Test, sled_of_four {
    AirCooledSledTest() : sled_of_four({.cooling = sled_cooling::air}) {}
};

TEST_F(AirCooledSledTest, SuppliesTheRatedPowerOfItsChipsAndThrottlesAboveItsBudget) {
    for (const unsigned milliwatts : {100'000u, 400'000u, 1'010'000u}) {
        for (unsigned i = 0; i < 4; ++i) chip(i).convert(milliwatts);
        EXPECT_EQ(throttled(), 0u) << milliwatts;
        EXPECT_LT(controller.outlet(), 60) << milliwatts;
    }
    for (unsigned i = 0; i < 4; ++i) chip(i).convert(1'150'000);
    EXPECT_EQ(throttled(), 4u);
}

TEST_F(AirCooledSledTest, ThrottlesAllChipsWhenFansFailAndTheOutletOverheats) {
    for (unsigned i = 0; i < 4; ++i) chip(i).convert(i == 0 ? 500'000 : 1'000'000);
    controller.inject("cooling_loss", {{"permille", "500"}});
    EXPECT_EQ(controller.speed_permille(), 500u);
    EXPECT_NEAR(controller.outlet(), 30 + 25 * 3.5 / 4.4 / 0.5, 0.01);  // 69.8
    EXPECT_EQ(throttled(), 4u);  // including the chip with low power
    controller.inject("cooling_loss", {{"permille", "1000"}});
    EXPECT_EQ(throttled(), 0u);
    EXPECT_THROW(controller.inject("cooling_loss", {{"permille", "0"}}), fault_error);
}

}  // namespace
