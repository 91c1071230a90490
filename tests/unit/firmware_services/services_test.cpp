// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/firmware_services/fakes.h"

namespace {

using trn::test::fake_machine;
using trn::test::machine_of_test;

// --- Level interrupts

constexpr unsigned source = IRQ_HBM;

/// The line is high all the time; returns how often it was served until `end_us`.
unsigned served_until(std::uint64_t end_us) {
    unsigned served = 0;
    while (machine_of_test.now_us < end_us) {
        machine_of_test.now_us += 10;
        const auto due = machine_of_test.later.find(EVENT_RESUME_IRQ);
        if (due != machine_of_test.later.end() && due->second <= machine_of_test.now_us) {
            machine_of_test.later.erase(due);
            level_irq_resume_due();
        }
        if (!machine_of_test.interrupt(source)) continue;
        ++served;
        level_irq_served(source);
    }
    return served;
}

TEST(LevelIrq, IsHeldFromItsInterruptUntilItIsServed) {
    level_irq_enable(source, EVENT_HBM, LEVEL_IRQ_LIMITED);
    EXPECT_TRUE(machine_of_test.interrupt(source));
    EXPECT_EQ(machine_of_test.raised, EVENT_HBM);
    EXPECT_TRUE(level_irq_is_raised(source));
    EXPECT_FALSE(machine_of_test.interrupt(source));
    level_irq_served(source);
    EXPECT_FALSE(level_irq_is_raised(source));
    EXPECT_TRUE(machine_of_test.interrupt(source));
}

TEST(LevelIrq, StuckErrorLineIsServedAsABurstAndThenOncePerPeriod) {
    level_irq_enable(source, EVENT_HBM, LEVEL_IRQ_LIMITED);
    EXPECT_EQ(served_until(1000), LEVEL_IRQ_BURST + 1);
    EXPECT_EQ(served_until(10 * LEVEL_IRQ_PERIOD_US + 1000), 10u);
}

TEST(LevelIrq, QuietTimeRestoresTheBurst) {
    level_irq_enable(source, EVENT_HBM, LEVEL_IRQ_LIMITED);
    served_until(1000);
    machine_of_test.now_us += 100 * LEVEL_IRQ_PERIOD_US;
    level_irq_resume_due();
    EXPECT_EQ(served_until(machine_of_test.now_us + 1000), LEVEL_IRQ_BURST);
}

TEST(LevelIrq, RequestsOfTheHostAreNotDelayed) {
    level_irq_enable(source, EVENT_DOORBELL, LEVEL_IRQ_UNLIMITED);
    EXPECT_EQ(served_until(10'000), 1000u);
}

TEST(LevelIrq, EventOfAnotherSourceResumesNothing) {
    level_irq_enable(source, EVENT_HBM, LEVEL_IRQ_LIMITED);
    level_irq_served(source);  // it had not interrupted
    EXPECT_TRUE(machine_of_test.interrupt(source));
    level_irq_resume_due();
    EXPECT_FALSE(machine_of_test.interrupt(source)) << "it is not served yet";
}

// --- Doorbell

TEST(Doorbell, FastHostDoesNotHoldTheMainLoop) {
    unsigned requests = 0;
    machine_of_test.mailbox = [&](mailbox_trust) {
        EXPECT_LT(++requests, 1000u);
        return true;
    };
    EXPECT_FALSE(doorbell_serve()) << "requests are left";
    EXPECT_LT(requests, 20u);
    machine_of_test.mailbox = [](mailbox_trust) { return false; };
    EXPECT_TRUE(doorbell_serve());
}

TEST(Doorbell, RequestPostedWhileTheDoorbellIsSetIsServed) {
    unsigned left = 3;
    machine_of_test.mailbox = [&](mailbox_trust) { return left > 0 && left-- > 0; };
    EXPECT_TRUE(doorbell_serve());
    EXPECT_EQ(left, 0u);
}

// --- Links

constexpr std::uint32_t level_of(std::uint32_t claim) {
    return TRN_FABRIC_IDENTITY_CLAIM_LEVEL_GET(claim);
}

/// Chip 1 of server 3 of a rack of switched servers.
struct Links : testing::Test {
    fake_machine& m = machine_of_test;

    Links() {
        m.straps.topology = TRN_RESET_CONTROLLER_STRAP_TOPOLOGY_KIND_SET(TOPOLOGY_SWITCHED) |
                            TRN_RESET_CONTROLLER_STRAP_TOPOLOGY_X_SET(4) |
                            TRN_RESET_CONTROLLER_STRAP_TOPOLOGY_Y_SET(18) |
                            TRN_RESET_CONTROLLER_STRAP_TOPOLOGY_Z_SET(1);
        m.straps.place = TRN_RESET_CONTROLLER_STRAP_PLACE_CHIP_SET(1) |
                         TRN_RESET_CONTROLLER_STRAP_PLACE_SERVER_SET(3);
        connect(PORT_SLED, TRN_FABRIC_IDENTITY_KIND_TIER_SLED, 3);
        connect(PORT_RACK, TRN_FABRIC_IDENTITY_KIND_TIER_RACK, 0);
    }
    void connect(unsigned port, std::uint32_t tier, std::uint32_t server) {
        auto& words = m.partners[port].words;
        words[TRN_FABRIC_IDENTITY_MAGIC_OFFSET] = TRN_FABRIC_IDENTITY_MAGIC_RESET;
        words[TRN_FABRIC_IDENTITY_KIND_OFFSET] =
            TRN_FABRIC_IDENTITY_KIND_TIER_SET(tier) |
            TRN_FABRIC_IDENTITY_KIND_WHAT_SET(TRN_FABRIC_IDENTITY_KIND_WHAT_SWITCH);
        words[TRN_FABRIC_IDENTITY_ID_OFFSET] =
            TRN_FABRIC_IDENTITY_ID_VALID_MASK | TRN_FABRIC_IDENTITY_ID_SERVER_SET(server);
    }
    void bring_up() {
        links_start();
        EXPECT_TRUE(links_bring_up());
    }
    link_fault fault(unsigned port) { return m.published.at(port).fault; }
    std::multiset<std::uint32_t> levels(unsigned port) {
        std::multiset<std::uint32_t> all;
        for (const auto claim : m.partners[port].claims) all.insert(level_of(claim));
        return all;
    }
    /// A notice of the partner of a port.
    void notice(unsigned port) {
        m.events.noticed = 1u << port;
        EXPECT_TRUE(m.interrupt(IRQ_LINKS));
        links_serve();
    }
    /// Calls the retries that are due until `end_us`; returns their number.
    unsigned retry_until(std::uint64_t end_us) {
        unsigned count = 0;
        for (;;) {
            const auto due = m.later.find(EVENT_LINK_RETRY);
            if (due == m.later.end() || due->second > end_us) return count;
            m.now_us = std::max(m.now_us, due->second);
            m.later.erase(due);
            links_retry();
            ++count;
        }
    }
    static constexpr std::uint32_t chip = TRN_FABRIC_IDENTITY_CLAIM_LEVEL_CHIP,
                                   server = TRN_FABRIC_IDENTITY_CLAIM_LEVEL_SERVER,
                                   rack = TRN_FABRIC_IDENTITY_CLAIM_LEVEL_RACK;
};

TEST_F(Links, ClaimWhatTheOtherPortLeadsTo) {
    bring_up();
    EXPECT_EQ(levels(PORT_SLED), (std::multiset<std::uint32_t>{chip, rack}));
    EXPECT_EQ(levels(PORT_RACK), (std::multiset<std::uint32_t>{chip, server}));
}

TEST_F(Links, RefusalAtOnePortWithdrawsTheClaimsAtOthers) {
    m.partners[PORT_RACK].refuses = true;
    bring_up();
    EXPECT_EQ(fault(PORT_RACK), LINK_DUPLICATE);
    EXPECT_EQ(levels(PORT_SLED), std::multiset<std::uint32_t>{chip}) << "no rack claim is left";
    EXPECT_EQ(levels(PORT_RACK), std::multiset<std::uint32_t>{});
}

TEST_F(Links, RefusalWithdrawsTheOtherClaimsAtItsSwitch) {
    bring_up();
    m.partners[PORT_SLED].refuses = true;
    m.partners[PORT_RACK].words[TRN_FABRIC_IDENTITY_REACHABLE_OFFSET(5)] = 0xf;
    links_refresh();  // more chips are reachable: the claim of the rack is made again
    EXPECT_EQ(fault(PORT_SLED), LINK_DUPLICATE);
    EXPECT_EQ(levels(PORT_SLED), std::multiset<std::uint32_t>{});
    EXPECT_EQ(levels(PORT_RACK), std::multiset<std::uint32_t>{chip}) << "nor the server's";
}

TEST_F(Links, SingleLostResponseIsNoSilence) {
    m.partners[PORT_SLED].lost = 1;
    bring_up();
    EXPECT_EQ(fault(PORT_SLED), LINK_OK);
    EXPECT_EQ(m.partners[PORT_SLED].lost, 0u);
    m.partners[PORT_RACK].lost = 2;
    links_refresh();
    EXPECT_EQ(fault(PORT_RACK), LINK_OK);
}

TEST_F(Links, MutePartnerIsAskedAgainUntilItTalks) {
    m.partners[PORT_RACK].lost = ~0u;
    bring_up();
    EXPECT_EQ(fault(PORT_RACK), LINK_SILENT);
    EXPECT_EQ(retry_until(m.now_us + 15'000), 1u);
    m.partners[PORT_RACK].lost = 0;
    EXPECT_EQ(retry_until(m.now_us + 1'000'000), 1u);
    EXPECT_EQ(fault(PORT_RACK), LINK_OK);
    EXPECT_EQ(levels(PORT_RACK), (std::multiset<std::uint32_t>{chip, server}));
    EXPECT_EQ(levels(PORT_SLED), (std::multiset<std::uint32_t>{chip, rack}));
}

TEST_F(Links, InvalidResponsesAreReadAgain) {
    auto& magic = m.partners[PORT_RACK].words[TRN_FABRIC_IDENTITY_MAGIC_OFFSET];
    magic = 0x5a5a5a5a;
    bring_up();
    EXPECT_EQ(fault(PORT_RACK), LINK_GARBAGE);
    magic = TRN_FABRIC_IDENTITY_MAGIC_RESET;
    retry_until(m.now_us + 1'000'000);
    EXPECT_EQ(fault(PORT_RACK), LINK_OK);
}

TEST_F(Links, PartnerThatStaysMuteIsNotAskedForEver) {
    m.partners[PORT_RACK].lost = ~0u;
    bring_up();
    EXPECT_LE(retry_until(~std::uint64_t{0}), 8u);
    EXPECT_EQ(fault(PORT_RACK), LINK_SILENT);
}

TEST_F(Links, RetriesOfOnePortLeaveThoseOfAnother) {
    m.partners[PORT_RACK].lost = ~0u;
    bring_up();
    EXPECT_EQ(retry_until(m.now_us + 1'300'000), 7u);
    m.partners[PORT_SLED].lost = ~0u;
    notice(PORT_SLED);
    const unsigned accesses = m.partners[PORT_RACK].accesses;
    EXPECT_EQ(retry_until(m.now_us + 15'000), 1u);
    EXPECT_EQ(m.partners[PORT_RACK].accesses, accesses) << "its retry is due later";
    m.partners[PORT_RACK].lost = 0;
    retry_until(m.now_us + 1'300'000);
    EXPECT_EQ(fault(PORT_RACK), LINK_OK);
}

TEST_F(Links, PartnerThatRespondedAgainHasAllRetriesAgain) {
    m.partners[PORT_SLED].lost = ~0u;
    bring_up();
    EXPECT_EQ(retry_until(m.now_us + 1'300'000), 7u);
    m.partners[PORT_SLED].lost = 0;
    EXPECT_EQ(retry_until(m.now_us + 1'300'000), 1u);
    EXPECT_EQ(fault(PORT_SLED), LINK_OK);
    m.partners[PORT_SLED].lost = 3;  // of the claim of the rack, which now has more chips
    m.partners[PORT_RACK].words[TRN_FABRIC_IDENTITY_REACHABLE_OFFSET(5)] = 0xf;
    notice(PORT_RACK);
    EXPECT_EQ(fault(PORT_SLED), LINK_SILENT);
    EXPECT_EQ(retry_until(m.now_us + 15'000), 1u);
    EXPECT_EQ(fault(PORT_SLED), LINK_OK);
}

}  // namespace
