// SPDX-License-Identifier: Apache-2.0
#include "models/soc/watchdog/watchdog.h"

#include <gtest/gtest.h>

#include "models/soc/watchdog/watchdog_regs.h"
#include "tests/support/irq_probe.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using namespace trn::watchdog_regs;
using sc_core::sc_start;
using sc_core::sc_time;
using sc_core::SC_US;
using sc_core::SC_ZERO_TIME;

struct WatchdogTest : testing::Test {
    test::tlm_driver cpu{"cpu"};
    watchdog dut{"dut", {.access_latency = SC_ZERO_TIME}};
    test::irq_probe bark{dut.bark, "bark_probe"};
    test::irq_probe bite{dut.bite, "bite_probe"};
    irq_out reset{"reset"};
    irq_out awake{"awake"};

    WatchdogTest() {
        awake.bind(dut.needed);
        awake.set(true);
        cpu.out.bind(dut.in);
        reset.bind(dut.reset);
        sc_start(SC_ZERO_TIME);
    }
    void write(reg r, std::uint64_t value) {
        EXPECT_EQ(cpu.write(offset(r), static_cast<std::uint32_t>(value)), tlm::TLM_OK_RESPONSE);
    }
    void start(std::uint32_t bark_us, std::uint32_t bite_us, bool lock = false) {
        write(reg::bark_time, bark_us);
        write(reg::bite_time, bite_us);
        write(reg::control, control::enable.mask() | (lock ? control::lock.mask() : 0));
    }
    void fall_asleep() {
        write(reg::service, service::key_sleep);
        awake.set(false);
    }
    void run(double us) { sc_start(sc_time(us, SC_US)); }
};

TEST_F(WatchdogTest, KeepsItsRegisterContract) {
    test::register_contract(cpu, table).check();
}

TEST_F(WatchdogTest, BarksThenBitesWithoutService) {
    start(100, 200);
    run(99.9);
    EXPECT_FALSE(bark.level());
    run(0.2);
    EXPECT_TRUE(bark.level());
    run(99.8);
    EXPECT_FALSE(bite.level());
    run(0.2);
    EXPECT_TRUE(bite.level());
}

TEST_F(WatchdogTest, ServiceStartsANewPeriodAndSilencesTheBark) {
    start(100, 200);
    for (int i = 0; i < 10; ++i) {
        run(150);
        EXPECT_TRUE(bark.level());
        write(reg::service, service::key_value);
        EXPECT_FALSE(bark.level());
    }
    EXPECT_FALSE(bite.level());
    EXPECT_EQ(cpu.read(offset(reg::remaining)), 200u);
}

TEST_F(WatchdogTest, ServiceAfterTheBiteOfAnInitiatorThatIsAheadDoesNotHideIt) {
    start(100, 200);
    run(190);
    cpu.annotated = sc_time(50, SC_US);
    write(reg::service, service::key_value);
    EXPECT_FALSE(bite.level());
    run(11);
    EXPECT_TRUE(bite.level());
    run(40);
    EXPECT_FALSE(bite.level()) << "a new period begins";
    run(195);
    EXPECT_FALSE(bite.level());
    run(10);
    EXPECT_TRUE(bite.level());
}

TEST_F(WatchdogTest, BarkAndBiteComeBeforeALaterStopOrSleep) {
    for (const bool sleeps : {false, true}) {
        start(100, 200);
        run(50);
        cpu.annotated = sc_time(200, SC_US);
        if (sleeps)
            fall_asleep();
        else
            write(reg::control, 0);
        run(51);
        EXPECT_TRUE(bark.level());
        run(100);
        EXPECT_TRUE(bite.level());
        cpu.annotated = SC_ZERO_TIME;
        run(100);
        reset.set(true);
        reset.set(false);
        awake.set(true);
        EXPECT_FALSE(bark.level() || bite.level());
    }
}

TEST_F(WatchdogTest, BarkTimeBelowTheCountBarksAtOnceAndOncePerPeriod) {
    start(100, 1000);
    run(50);
    write(reg::bark_time, 20);
    run(0.1);
    EXPECT_TRUE(bark.level());
    write(reg::status, status::barked.mask());
    EXPECT_FALSE(bark.level());
    write(reg::bark_time, 30);  // passed too, in the period that has barked
    run(100);
    EXPECT_FALSE(bark.level());
    write(reg::bark_time, 500);
    run(349);
    EXPECT_FALSE(bark.level());
    run(2);
    EXPECT_TRUE(bark.level());
    write(reg::service, service::key_value);
    run(499);
    EXPECT_FALSE(bark.level());
    run(2);
    EXPECT_TRUE(bark.level());
}

TEST_F(WatchdogTest, WrongKeyDoesNotServiceTheWatchdog) {
    start(100, 200);
    run(150);
    write(reg::service, 0x12345678);
    run(51);
    EXPECT_TRUE(bite.level());
}

TEST_F(WatchdogTest, LockedWatchdogCannotBeStoppedOrSlowed) {
    start(100, 200, true);
    write(reg::control, 0);
    write(reg::bite_time, 1000000);
    EXPECT_EQ(cpu.read(offset(reg::bite_time)), 200u);
    run(201);
    EXPECT_TRUE(bite.level());
}

TEST_F(WatchdogTest, ResetStopsTheWatchdogAndDropsTheBite) {
    start(100, 200, true);
    run(201);
    reset.set(true);
    EXPECT_FALSE(bite.level());
    EXPECT_FALSE(bark.level());
    reset.set(false);
    run(1000);
    EXPECT_EQ(bite.rises(), 1u);
    EXPECT_EQ(cpu.read(offset(reg::control)), 0u);
}

TEST_F(WatchdogTest, BitesAgainAfterABiteThatResetNothing) {
    start(100, 200, true);
    run(201);
    EXPECT_EQ(bite.rises(), 1u);
    run(1000);
    EXPECT_EQ(bite.rises(), 1u);
    write(reg::service, service::key_value);
    EXPECT_FALSE(bite.level());
    run(199);
    EXPECT_TRUE(bark.level());
    EXPECT_FALSE(bite.level());
    run(2);
    EXPECT_EQ(bite.rises(), 2u);
    EXPECT_TRUE(bite.level());
}

TEST_F(WatchdogTest, PausesDuringAnAnnouncedSleep) {
    start(100, 200, true);
    run(60);
    fall_asleep();
    run(10'000);
    EXPECT_FALSE(sc_core::sc_pending_activity());
    EXPECT_EQ(cpu.read(offset(reg::remaining)), 140u);
    awake.set(true);
    run(39);
    EXPECT_FALSE(bark.level());
    run(2);
    EXPECT_TRUE(bark.level());
    run(100);
    EXPECT_TRUE(bite.level());
}

TEST_F(WatchdogTest, BarkTimeAboveTheCountBarksAgainAlsoIfWrittenDuringAPause) {
    start(100, 1000);
    run(110);
    write(reg::status, status::barked.mask());
    fall_asleep();
    run(10'000);
    write(reg::bark_time, 500);  // the count is 110
    awake.set(true);
    run(389);
    EXPECT_FALSE(bark.level());
    run(2);
    EXPECT_TRUE(bark.level());
}

TEST_F(WatchdogTest, CountsDuringAnUnannouncedSleep) {
    start(100, 200);
    awake.set(false);
    run(201);
    EXPECT_TRUE(bite.level());
}

TEST_F(WatchdogTest, CountsWhenAnAnnouncedSleepDoesNotBegin) {
    start(100, 200);
    write(reg::service, service::key_sleep);
    run(201);
    EXPECT_TRUE(bite.level());
}

TEST_F(WatchdogTest, OneAnnouncementCoversOneSleep) {
    start(100, 200);
    fall_asleep();
    run(1000);
    awake.set(true);
    awake.set(false);
    run(201);
    EXPECT_TRUE(bite.level());
}

TEST_F(WatchdogTest, ManyShortSleepsDoNotServiceTheWatchdog) {
    start(100, 200);
    for (int i = 0; i < 21; ++i) {
        fall_asleep();
        run(50);
        awake.set(true);
        run(10);
    }
    EXPECT_TRUE(bite.level());
}

TEST_F(WatchdogTest, StoppedWatchdogSchedulesNoEvents) {
    EXPECT_FALSE(sc_core::sc_pending_activity());
    start(100, 200);
    EXPECT_TRUE(sc_core::sc_pending_activity());
    write(reg::control, 0);
    EXPECT_FALSE(sc_core::sc_pending_activity());
    run(1000);
    EXPECT_FALSE(bark.level());
}

}  // namespace
