// SPDX-License-Identifier: Apache-2.0
#include "models/processor/interrupts/aplic.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "models/misuse_rules.h"
#include "models/processor/interrupts/aplic_regs.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/router.h"
#include "platform/framework/tlm/target_socket.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace trn::test {

using aplic_regs::offset;
using aplic_regs::reg;
using sc_core::sc_time;

/// Records MSIs.
struct message_target final : sc_core::sc_module {
    target_socket<message_target> in{"in"};
    std::vector<std::pair<std::uint64_t, std::uint32_t>> received;  ///< address, identity
    sc_time latest;
    bool answers = true;

    explicit message_target(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &message_target::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
        EXPECT_EQ(payload.get_data_length(), 4u);
        std::uint32_t identity = 0;
        std::memcpy(&identity, payload.get_data_ptr(), sizeof identity);
        received.emplace_back(payload.get_address(), identity);
        latest = delay;
        payload.set_response_status(answers ? tlm::TLM_OK_RESPONSE
                                            : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
};

class AplicTest : public testing::Test {
protected:
    static constexpr std::uint32_t ie = 0x100, dm = 4, d = 0x400;
    enum mode : std::uint32_t { inactive, detached, edge1 = 4, edge0, level1, level0 };
    using messages = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

    tlm_driver m{"m"}, s{"s"};
    message_target bus{"bus"};
    aplic dut{"dut", {.sources = 40, .harts = 2}};

    AplicTest() {
        m.out.bind(dut.machine);
        s.out.bind(dut.supervisor);
        dut.memory.bind(bus.in);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    static void write(tlm_driver& domain, reg r, std::uint32_t value, unsigned index = 0) {
        EXPECT_EQ(domain.write(offset(r, index), value), tlm::TLM_OK_RESPONSE);
    }
    static std::uint32_t read(tlm_driver& domain, reg r, unsigned index = 0) {
        return domain.read(offset(r, index));
    }
    static void configure(tlm_driver& domain, unsigned id, std::uint32_t value) {
        write(domain, reg::sourcecfg, value, id - 1);
    }
    static void aim(tlm_driver& domain, unsigned id, std::uint32_t hart, std::uint32_t low) {
        write(domain, reg::target, hart << 18 | low, id - 1);
    }
    static bool pending(tlm_driver& domain, unsigned id) {
        return (read(domain, reg::setip, id / 32) >> id % 32 & 1) != 0;
    }
    /// An enabled source of the root domain.
    void prepare(unsigned id, mode how, std::uint32_t hart, std::uint32_t low) {
        configure(m, id, how);
        aim(m, id, hart, low);
        write(m, reg::setienum, id);
    }
    void deliver_by_lines() {
        write(m, reg::domaincfg, ie);
        for (const unsigned hart : {0u, 1u}) write(m, reg::idc_idelivery, 1, hart);
    }
    void deliver_by_messages() {
        write(m, reg::domaincfg, ie | dm);
        write(m, reg::mmsiaddrcfg, 0x24000);
        write(m, reg::mmsiaddrcfgh, 4 << 12);  // 16 harts, one page each
        write(m, reg::smsiaddrcfg, 0x28000);
    }
    bool line(unsigned hart) { return dut.machine_external[hart].level(); }
};

TEST_F(AplicTest, BothDomainsKeepTheirRegisterContract) {
    register_contract(m, aplic_regs::table).check();
    register_contract(s, aplic_regs::table).check();
    EXPECT_EQ(read(m, reg::domaincfg), 0x8000'0000u);
    write(m, reg::domaincfg, ~0u);
    EXPECT_EQ(read(m, reg::domaincfg), 0x8000'0104u);
}

// --- Sources

TEST_F(AplicTest, SourcesThatDoNotExistStayZero) {
    configure(m, 41, level1);
    EXPECT_EQ(read(m, reg::sourcecfg, 40), 0u);
    for (const std::uint32_t id : {0u, 41u, 1024u, ~0u}) {
        write(m, reg::setienum, id);
        write(m, reg::setipnum, id);
    }
    for (const unsigned word : {0u, 1u, 31u}) {
        write(m, reg::setie, ~0u, word);
        EXPECT_EQ(read(m, reg::setie, word), 0u) << "all sources are inactive";
        EXPECT_EQ(read(m, reg::setip, word), 0u);
    }
    configure(m, 5, 2);
    EXPECT_EQ(read(m, reg::sourcecfg, 4), 0u) << "reserved modes";
}

TEST_F(AplicTest, SourceBelongsToTheChildWhileItIsDelegated) {
    configure(s, 7, edge1);
    EXPECT_EQ(read(s, reg::sourcecfg, 6), 0u) << "not delegated";
    configure(m, 7, d | 5);
    EXPECT_EQ(read(m, reg::sourcecfg, 6), d) << "child 0 is the only one";
    configure(s, 7, d);
    EXPECT_EQ(read(s, reg::sourcecfg, 6), 0u) << "a leaf does not delegate";
    configure(s, 7, edge1);
    aim(s, 7, 1, 3);
    write(s, reg::setienum, 7);
    write(m, reg::setienum, 7);
    EXPECT_EQ(read(m, reg::setie), 0u);
    dut.source.drive(7, true);
    EXPECT_TRUE(pending(s, 7));
    EXPECT_FALSE(pending(m, 7));
    configure(m, 7, level1);
    EXPECT_TRUE(pending(m, 7));
    EXPECT_FALSE(pending(s, 7));
    EXPECT_EQ(read(s, reg::sourcecfg, 6) | read(s, reg::setie) | read(s, reg::target, 6), 0u);
}

TEST_F(AplicTest, LineOfTheChildFallsWhenTheRootTakesTheSourceBack) {
    write(s, reg::domaincfg, ie);
    write(s, reg::idc_idelivery, 1);
    configure(m, 7, d);
    configure(s, 7, level1);
    write(s, reg::setienum, 7);
    dut.source.drive(7, true);
    EXPECT_TRUE(dut.supervisor_external[0].level());
    configure(m, 7, inactive);
    EXPECT_FALSE(dut.supervisor_external[0].level());
}

TEST_F(AplicTest, EdgesAreLatchedAndCleared) {
    configure(m, 3, edge1);
    configure(m, 4, edge0);
    EXPECT_EQ(read(m, reg::in_clrip), 1u << 4);
    EXPECT_EQ(read(m, reg::setip), 0u);
    for (const bool level : {true, false})
        for (const unsigned id : {3u, 4u}) dut.source.drive(id, level);
    EXPECT_EQ(read(m, reg::setip), 1u << 3 | 1u << 4);
    write(m, reg::in_clrip, 1u << 3);
    EXPECT_EQ(read(m, reg::setip), 1u << 4);
    write(m, reg::clripnum, 4);
    write(m, reg::setip, 1u << 3);
    EXPECT_EQ(read(m, reg::setip), 1u << 3);
    configure(m, 3, inactive);
    EXPECT_EQ(read(m, reg::setip), 0u);
}

TEST_F(AplicTest, DetachedSourcesIgnoreTheirLines) {
    configure(m, 3, detached);
    dut.source.drive(3, true);
    EXPECT_EQ(read(m, reg::setip) | read(m, reg::in_clrip), 0u);
    write(m, reg::setipnum_le, 3);
    EXPECT_TRUE(pending(m, 3));
    write(m, reg::clripnum, 3);
    write(m, reg::setipnum_be, 3u << 24);
    EXPECT_TRUE(pending(m, 3));
}

TEST_F(AplicTest, LevelsAreCopiesOfTheirLinesInDeliveryByLines) {
    configure(m, 3, level1);
    configure(m, 4, level0);
    EXPECT_EQ(read(m, reg::setip), 1u << 4);
    write(m, reg::in_clrip, ~0u);
    write(m, reg::setip, ~0u);
    EXPECT_EQ(read(m, reg::setip), 1u << 4);
    dut.source.drive(3, true);
    dut.source.drive(4, true);
    EXPECT_EQ(read(m, reg::setip), 1u << 3);
}

TEST_F(AplicTest, LevelsInDeliveryByMessagesRiseOnceAndAreSetAgainBySoftware) {
    write(m, reg::domaincfg, dm);
    configure(m, 3, level1);
    write(m, reg::setipnum, 3);
    EXPECT_FALSE(pending(m, 3)) << "the line is low";
    dut.source.drive(3, true);
    EXPECT_TRUE(pending(m, 3));
    write(m, reg::clripnum, 3);
    EXPECT_FALSE(pending(m, 3));
    write(m, reg::setipnum, 3);
    EXPECT_TRUE(pending(m, 3));
    dut.source.drive(3, false);
    EXPECT_FALSE(pending(m, 3));
}

// --- Delivery by lines

TEST_F(AplicTest, LineIsHighUntilTheClaim) {
    deliver_by_lines();
    prepare(33, edge1, 1, 7);
    dut.source.drive(33, true);
    EXPECT_FALSE(line(0));
    EXPECT_TRUE(line(1));
    EXPECT_EQ(read(m, reg::idc_topi, 1), 33u << 16 | 7u);
    EXPECT_EQ(read(m, reg::idc_claimi, 1), 33u << 16 | 7u);
    EXPECT_FALSE(line(1));
    EXPECT_EQ(read(m, reg::idc_claimi, 1), 0u);
}

TEST_F(AplicTest, ClaimOfALevelLeavesItPending) {
    deliver_by_lines();
    prepare(5, level1, 0, 1);
    dut.source.drive(5, true);
    EXPECT_EQ(read(m, reg::idc_claimi), 5u << 16 | 1u);
    EXPECT_TRUE(line(0));
    dut.source.drive(5, false);
    EXPECT_FALSE(line(0));
}

TEST_F(AplicTest, SmallestPriorityIsFirstAndTheThresholdMasksFromItsValueOn) {
    deliver_by_lines();
    prepare(5, detached, 0, 9);
    prepare(6, detached, 0, 2);
    prepare(4, detached, 0, 9);
    EXPECT_EQ(read(m, reg::target, 3), 9u);
    write(m, reg::setip, 7u << 4);
    write(m, reg::idc_ithreshold, 9);
    EXPECT_EQ(read(m, reg::idc_claimi), 6u << 16 | 2u);
    EXPECT_EQ(read(m, reg::idc_topi), 0u);
    EXPECT_FALSE(line(0));
    write(m, reg::idc_ithreshold, 10);
    EXPECT_EQ(read(m, reg::idc_claimi), 4u << 16 | 9u);
    EXPECT_EQ(read(m, reg::idc_claimi), 5u << 16 | 9u);
    aim(m, 5, 0, 0x700);
    EXPECT_EQ(read(m, reg::target, 4), 1u) << "priority 0 does not exist";
}

TEST_F(AplicTest, DeliveryNeedsTheDomainAndTheHart) {
    prepare(5, detached, 0, 1);
    write(m, reg::setipnum, 5);
    EXPECT_EQ(read(m, reg::idc_topi), 5u << 16 | 1u);
    write(m, reg::domaincfg, ie);
    EXPECT_FALSE(line(0));
    write(m, reg::idc_idelivery, 1);
    EXPECT_TRUE(line(0));
    write(m, reg::domaincfg, 0);
    EXPECT_FALSE(line(0));
    write(m, reg::idc_idelivery, 1, 2);
    EXPECT_EQ(read(m, reg::idc_idelivery, 2), 0u) << "no such hart";
}

TEST_F(AplicTest, ForcedInterruptEndsWithAClaimOfNothing) {
    deliver_by_lines();
    write(m, reg::idc_iforce, 1);
    EXPECT_TRUE(line(0));
    EXPECT_EQ(read(m, reg::idc_claimi), 0u);
    EXPECT_EQ(read(m, reg::idc_iforce), 0u);
    EXPECT_FALSE(line(0));
}

TEST_F(AplicTest, LineRisesAtTheTimeOfTheAccess) {
    deliver_by_lines();
    prepare(5, detached, 0, 1);
    m.annotated = sc_time(30, sc_core::SC_NS);
    write(m, reg::setipnum, 5);
    EXPECT_FALSE(line(0));
    sc_core::sc_start(sc_time(31, sc_core::SC_NS));
    EXPECT_TRUE(line(0));
}

// --- Delivery by MSIs

TEST_F(AplicTest, PendingAndEnabledSourcesAreSentOnce) {
    deliver_by_messages();
    prepare(5, level1, 1, 17);
    dut.source.drive(5, true);
    EXPECT_EQ(bus.received, (messages{{0x2400'1000, 17}}));
    EXPECT_FALSE(pending(m, 5));
    EXPECT_FALSE(line(1));
    write(m, reg::setipnum, 5);  // still high: as a handler does at its end
    EXPECT_EQ(bus.received.size(), 2u);
    dut.source.drive(5, false);
    write(m, reg::setipnum, 5);
    EXPECT_EQ(bus.received.size(), 2u);
}

TEST_F(AplicTest, EnablingTheSourceOrTheDomainSendsWhatIsPending) {
    deliver_by_messages();
    configure(m, 5, edge1);
    aim(m, 5, 0, 1);
    dut.source.drive(5, true);
    EXPECT_TRUE(bus.received.empty());
    write(m, reg::domaincfg, dm);
    write(m, reg::setie, 1u << 5);
    EXPECT_TRUE(bus.received.empty());
    write(m, reg::domaincfg, ie | dm);
    EXPECT_EQ(bus.received, (messages{{0x2400'0000, 1}}));
}

TEST_F(AplicTest, ChildSendsToSupervisorFiles) {
    deliver_by_messages();
    write(s, reg::smsiaddrcfg, 1);
    EXPECT_EQ(read(s, reg::smsiaddrcfg), 0u) << "registers of the root domain";
    write(s, reg::domaincfg, ie | dm);
    configure(m, 9, d);
    configure(s, 9, edge1);
    aim(s, 9, 3, 0x7ff);
    write(s, reg::setienum, 9);
    dut.source.drive(9, true);
    EXPECT_EQ(bus.received, (messages{{0x2800'3000, 0x7ff}}));
}

TEST_F(AplicTest, GroupsOfHartsHaveTheirOwnAddresses) {
    deliver_by_messages();
    // 2 bits of group at bit 30, 3 bits of hart at bit 14.
    write(m, reg::mmsiaddrcfgh, 6u << 24 | 2u << 20 | 2u << 16 | 3u << 12 | 5u);
    prepare(5, detached, 2u << 3 | 6, 4);
    write(m, reg::setipnum, 5);
    EXPECT_EQ(bus.received, (messages{{5ull << 44 | 0x2400'0000 | 2ull << 30 | 6u << 14, 4}}));
}

TEST_F(AplicTest, LockedAddressesStay) {
    write(m, reg::mmsiaddrcfg, 1);
    write(m, reg::mmsiaddrcfgh, ~0u);
    EXPECT_EQ(read(m, reg::mmsiaddrcfgh), 0x9f77'ffffu);
    for (const reg each :
         {reg::mmsiaddrcfg, reg::mmsiaddrcfgh, reg::smsiaddrcfg, reg::smsiaddrcfgh})
        write(m, each, 2);
    EXPECT_EQ(read(m, reg::mmsiaddrcfg), 1u);
    EXPECT_EQ(read(m, reg::mmsiaddrcfgh), 0x9f77'ffffu);
    EXPECT_EQ(read(m, reg::smsiaddrcfg) | read(m, reg::smsiaddrcfgh), 0u);
}

TEST_F(AplicTest, GenmsiSendsAtOnceAlsoWhileTheDomainIsOff) {
    deliver_by_messages();
    write(m, reg::domaincfg, dm);
    m.annotated = sc_time(30, sc_core::SC_NS);
    write(m, reg::genmsi, 1u << 18 | 1u << 12 | 3);
    EXPECT_EQ(bus.received, (messages{{0x2400'1000, 3}}));
    EXPECT_EQ(bus.latest, sc_time(30, sc_core::SC_NS));
    EXPECT_EQ(read(m, reg::genmsi), 1u << 18 | 3u) << "not busy";
    write(m, reg::domaincfg, 0);
    EXPECT_EQ(read(m, reg::genmsi), 0u);
    write(m, reg::genmsi, 3);
    EXPECT_EQ(bus.received.size(), 1u);
}

TEST_F(AplicTest, MessageWithoutATargetIsReported) {
    deliver_by_messages();
    bus.answers = false;
    write(m, reg::genmsi, 3);
    EXPECT_EQ(misuse::count(misuse::firmware_bus_error, "dut"), 1u);
}

TEST_F(AplicTest, AccessOfTwoRegistersIsRefusedAndIgnored) {
    configure(m, 3, detached);
    EXPECT_NE(m.write(offset(reg::setipnum), std::uint64_t{3}), tlm::TLM_OK_RESPONSE);
    EXPECT_NE(m.write(offset(reg::setipnum_le), std::uint64_t{3}), tlm::TLM_OK_RESPONSE);
    EXPECT_FALSE(pending(m, 3));
}

TEST_F(AplicTest, ResetMakesAllSourcesInactive) {
    irq_out reset{"reset"};
    reset.bind(dut.reset);
    deliver_by_lines();
    prepare(5, level1, 0, 1);
    dut.source.drive(5, true);
    reset.set(true);
    EXPECT_FALSE(line(0));
    reset.set(false);
    EXPECT_EQ(read(m, reg::sourcecfg, 4) | read(m, reg::setip) | read(m, reg::setie), 0u);
    EXPECT_EQ(read(m, reg::domaincfg), 0x8000'0000u);
}

TEST(AplicLoopTest, MessagesToItselfDoNotKeepItBusy) {
    tlm_driver m{"m"}, s{"s"};
    router bus{"bus", {}};
    aplic dut{"dut", {}};
    m.out.bind(bus.target);
    s.out.bind(dut.supervisor);
    dut.memory.bind(bus.target);
    bus.initiator.bind(dut.machine);
    bus.map({.base = 0, .size = aplic_regs::size, .target_base = 0, .port = 0});
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    m.write<std::uint32_t>(offset(reg::domaincfg), 0x104);
    m.write<std::uint32_t>(offset(reg::mmsiaddrcfg), offset(reg::setipnum_le) >> 12);
    m.write<std::uint32_t>(offset(reg::sourcecfg), 1);
    m.write<std::uint32_t>(offset(reg::target), 1);  // sets source 1 again
    m.write<std::uint32_t>(offset(reg::setienum), 1);
    m.write<std::uint32_t>(offset(reg::setipnum), 1);
    EXPECT_EQ(m.read(offset(reg::setip)), 2u);
}

/// AIA 4.5.15: while the message of genmsi is sent, writes of the register are ignored.
TEST(AplicLoopTest, GenmsiAimedAtItselfSendsOnce) {
    tlm_driver m{"m"}, s{"s"};
    router bus{"bus", {}};
    aplic dut{"dut", {}};
    m.out.bind(bus.target);
    s.out.bind(dut.supervisor);
    dut.memory.bind(bus.target);
    bus.initiator.bind(dut.machine);
    bus.map({.base = 0, .size = aplic_regs::size, .target_base = 0, .port = 0});
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    m.write<std::uint32_t>(offset(reg::domaincfg), 4);
    m.write<std::uint32_t>(offset(reg::mmsiaddrcfg), offset(reg::genmsi) >> 12);
    m.write<std::uint32_t>(offset(reg::genmsi), 1u << 18 | 5);
    EXPECT_EQ(m.read(offset(reg::genmsi)), 1u << 18 | 5u) << "the one that was sent";
}

}  // namespace trn::test
