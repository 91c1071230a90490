// SPDX-License-Identifier: Apache-2.0
#include "models/processor/top_sp/top_sp.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "models/processor/top_sp/cc_core_regs.h"
#include "models/soc/notification_queue/notification_queue_regs.h"
#include "models/soc/semaphores/semaphores_regs.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/memory.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using namespace trn::test;
using sem = semaphores_regs::reg;
using cc = cc_core_regs::reg;

class TopSpTest : public testing::Test {
protected:
    void SetUp() override {
        aperture.out.bind(block.aperture);
        registers.out.bind(block.registers);
        block.memory.bind(ram.in);
        reset.bind(block.reset);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    static std::uint64_t at(cc r, unsigned index = 0) {
        return top_sp::control_offset + cc_core_regs::offset(r, index);
    }
    static std::uint64_t at(sem r, unsigned index) { return semaphores_regs::offset(r, index); }
    void put(std::uint64_t where, const std::vector<std::uint32_t>& words) {
        for (std::size_t n = 0; n < words.size(); ++n)
            aperture.write<std::uint32_t>(where + 4 * n, words[n]);
    }
    /// Sleeps until an interrupt is pending, counts in x5, and sleeps again.
    void run_counting_program() {
        put(top_sp::instruction_offset,
            {0x00001337,    // lui x6, 1
             0x88030313,    // addi x6, x6, -0x780: MEIE, MTIE
             0x30431073,    // csrw mie, x6
             0x10500073,    // wfi
             0x00128293,    // addi x5, x5, 1
             0x10500073,    // wfi
             0x0000006f});  // j .
        aperture.write<std::uint32_t>(at(cc::control), cc_core_regs::control::run.mask());
        run();
    }
    static void run(double us = 1) { sc_core::sc_start(sc_core::sc_time(us, sc_core::SC_US)); }
    std::uint64_t counted() { return *block.hart.read_register(5); }

    tlm_driver aperture{"aperture"}, registers{"registers"};
    top_sp block{"block", {}};
    memory ram{"ram", {1 << 20}};
    irq_out reset{"reset"};
};

TEST_F(TopSpTest, KeepsItsRegisterContracts) {
    register_contract(registers, notification_queue_regs::table).check();
}

TEST_F(TopSpTest, SemaphoresComeBeforeMemory) {
    aperture.write<std::uint32_t>(semaphores_regs::offset(sem::semaphore_increment, 255), 7);
    EXPECT_EQ(block.sync().value(255), 7);
    aperture.write<std::uint64_t>(top_sp::aperture_size - 8, 9);
    EXPECT_EQ(aperture.read<std::uint64_t>(top_sp::aperture_size - 8), 9u);
    aperture.read(top_sp::aperture_size);
    EXPECT_EQ(aperture.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(aperture.request_dmi(0x1800, dmi));
    EXPECT_FALSE(aperture.request_dmi(top_sp::control_offset, dmi));
    ASSERT_TRUE(aperture.request_dmi(top_sp::memory_offset, dmi));
    EXPECT_EQ(dmi.get_end_address(), top_sp::aperture_size - 1);
}

TEST_F(TopSpTest, HartPostsNotificationsToConfiguredRings) {
    using nq = notification_queue_regs::reg;
    put(top_sp::instruction_offset, {0x004012b7,    // lui x5, 0x401
                                     0x04d00313,    // addi x6, x0, 77
                                     0x8062a023,    // sw x6, -0x800(x5): POST_PAYLOAD
                                     0x30200393,    // addi x7, x0, 0x302: an error for slot 2
                                     0x8072a223,    // sw x7, -0x7fc(x5): POST
                                     0x10500073});  // wfi
    const auto start = [&] {
        aperture.write<std::uint32_t>(at(cc::control), 0);
        run();
        aperture.write<std::uint32_t>(at(cc::control), cc_core_regs::control::run.mask());
        run();
    };
    const auto word = [&](std::size_t n) {
        std::uint32_t value = 0;
        std::memcpy(&value, ram.bytes().data() + 0x1000 + 4 * n, sizeof value);
        return value;
    };
    start();
    EXPECT_EQ(word(0), 0u) << "there is no ring";
    registers.write<std::uint32_t>(notification_queue_regs::offset(nq::slot_base_lo, 2), 0x1000);
    registers.write<std::uint32_t>(notification_queue_regs::offset(nq::slot_size, 2), 64);
    start();
    EXPECT_EQ(word(0), 0x8000'0003u);
    EXPECT_EQ(word(1), 77u);
    EXPECT_EQ(word(4), 0u) << "one entry";
    aperture.read(top_sp::aperture_size);
    EXPECT_EQ(aperture.response, tlm::TLM_ADDRESS_ERROR_RESPONSE) << "it is the hart's alone";
}

TEST_F(TopSpTest, ResetClearsSynchronisationAndKeepsMemory) {
    aperture.write<std::uint32_t>(semaphores_regs::offset(sem::semaphore_set, 1), 7);
    aperture.write<std::uint32_t>(0x4000, 7);
    reset.set(true);
    EXPECT_EQ(block.sync().value(1), 0);
    EXPECT_EQ(aperture.read(0x4000), 7u);
}

TEST_F(TopSpTest, KeepsTheContractOfItsControlRegisters) {
    register_contract(aperture, cc_core_regs::table, top_sp::control_offset).check();
}

TEST_F(TopSpTest, HartInResetSchedulesNoEvents) {
    run();
    EXPECT_EQ(block.hart.state(), "in reset");
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST_F(TopSpTest, HartSleepsUntilASemaphoreReachesAValue) {
    aperture.write<std::uint32_t>(at(cc::irq_enable), cc_core_regs::irq_enable::match.mask());
    aperture.write<std::uint32_t>(at(cc::match_value, 3), 2);
    aperture.write<std::uint32_t>(at(cc::match_control, 3),
                                  cc_core_regs::match_control::enable.mask() | 17);
    run_counting_program();
    aperture.write<std::uint32_t>(at(sem::semaphore_increment, 17), 1);
    aperture.write<std::uint32_t>(at(sem::semaphore_set, 16), 9);
    run();
    EXPECT_EQ(counted(), 0u) << "not yet, and another one";
    EXPECT_FALSE(sc_core::sc_pending_activity()) << "waiting costs nothing";
    aperture.write<std::uint32_t>(at(sem::semaphore_increment, 17), 5);
    run();
    EXPECT_EQ(counted(), 1u);
    EXPECT_EQ(aperture.read(at(cc::irq_status)), 1u << (16 + 3));
}

TEST_F(TopSpTest, ComparatorCanWaitForAnExactValue) {
    namespace match = cc_core_regs::match_control;
    aperture.write<std::uint32_t>(at(cc::match_value, 0), 2);
    aperture.write<std::uint32_t>(
        at(cc::match_control, 0),
        static_cast<std::uint32_t>(match::enable.mask() |
                                   match::condition.set(0, match::condition_equal) | 1));
    aperture.write<std::uint32_t>(at(sem::semaphore_set, 1), 3);
    EXPECT_EQ(aperture.read(at(cc::irq_status)), 0u);
    aperture.write<std::uint32_t>(at(sem::semaphore_decrement, 1), 1);
    EXPECT_EQ(aperture.read(at(cc::irq_status)), 1u << 16);
}

TEST_F(TopSpTest, DoorbellWakesTheHartAndStaysSetUntilCleared) {
    aperture.write<std::uint32_t>(at(cc::irq_enable), cc_core_regs::irq_enable::doorbell.mask());
    run_counting_program();
    aperture.write<std::uint32_t>(at(cc::doorbell), 4);
    aperture.write<std::uint32_t>(at(cc::doorbell), 1);
    run();
    EXPECT_EQ(counted(), 1u);
    EXPECT_EQ(aperture.read(at(cc::doorbell)), 5u);
    aperture.write<std::uint32_t>(at(cc::doorbell_clear), 4);
    EXPECT_EQ(aperture.read(at(cc::irq_status)), 1u);
    aperture.write<std::uint32_t>(at(cc::doorbell_clear), 1);
    EXPECT_EQ(aperture.read(at(cc::irq_status)), 0u);
}

TEST_F(TopSpTest, DoorbellCountsTheWritesOfEachBit) {
    for (const std::uint32_t bits : {0x100u, 0x101u, 0x200u})
        aperture.write<std::uint32_t>(at(cc::doorbell), bits);
    EXPECT_EQ(aperture.read(at(cc::doorbell)), 0x301u);
    EXPECT_EQ(aperture.read(at(cc::doorbell_count, 8)), 2u);
    EXPECT_EQ(aperture.read(at(cc::doorbell_count, 8)), 0u) << "the read clears it";
    EXPECT_EQ(aperture.read(at(cc::doorbell_count, 0)), 1u);
    EXPECT_EQ(aperture.read(at(cc::doorbell_count, 9)), 1u);
    aperture.write<std::uint32_t>(at(cc::doorbell), 0x80000000);
    reset.set(true);
    reset.set(false);
    EXPECT_EQ(aperture.read(at(cc::doorbell_count, 31)), 0u);
}

TEST_F(TopSpTest, TimerWakesTheHartAtItsNanosecond) {
    run_counting_program();  // one microsecond
    aperture.write<std::uint32_t>(at(cc::timer_lo), 5000);
    aperture.write<std::uint32_t>(at(cc::timer_hi), 0);
    run(3.9);
    EXPECT_EQ(counted(), 0u);
    run(0.2);
    EXPECT_EQ(counted(), 1u);
}

TEST_F(TopSpTest, ResetStopsTheHartAndRestartsItFromMemory) {
    aperture.write<std::uint32_t>(at(cc::irq_enable), 1);
    run_counting_program();
    aperture.write<std::uint32_t>(at(cc::doorbell), 1);
    run();
    reset.set(true);
    EXPECT_EQ(block.hart.state(), "in reset");
    EXPECT_EQ(aperture.read(at(cc::control)), 0u);
    EXPECT_EQ(aperture.read(at(cc::irq_status)), 0u);
    reset.set(false);
    run();
    EXPECT_EQ(block.hart.state(), "in reset") << "until it is released";
    run_counting_program();
    EXPECT_NE(block.hart.state(), "in reset");
}

TEST_F(TopSpTest, HartReachesTheAxiSpaceThroughItsWindowOnly) {
    put(top_sp::instruction_offset, {0x00010437,    // lui x8, 0x10
                                     0x02440413,    // addi x8, x8, 36: the last instruction
                                     0x30541073,    // csrw mtvec, x8
                                     0x00100313,    // li x6, 1
                                     0x03731313,    // slli x6, x6, 55
                                     0x00700393,    // li x7, 7
                                     0x10732023,    // sw x7, 0x100(x6)
                                     0x00135313,    // srli x6, x6, 1
                                     0x00032383,    // lw x7, 0(x6)
                                     0x0000006f});  // j .
    aperture.write<std::uint32_t>(at(cc::control), cc_core_regs::control::run.mask());
    misuse::set_policy_of_all(misuse::policy::count);
    run();
    EXPECT_EQ(ram.bytes().data()[0x100], 7);
    EXPECT_EQ(*block.hart.read_register(65 + 0x342), 5u) << "mcause: load access fault";
}

TEST_F(TopSpTest, MemoryOfTheChipIsMemoryToTheHart) {
    ram.bytes().data()[0] = 40;
    put(top_sp::instruction_offset, {0x00100313,    // li x6, 1
                                     0x03731313,    // slli x6, x6, 55
                                     0x100323af,    // lr.w x7, (x6)
                                     0x00238393,    // addi x7, x7, 2
                                     0x1873242f,    // sc.w x8, x7, (x6)
                                     0x00132483,    // lw x9, 1(x6)
                                     0x10500073});  // wfi
    aperture.write<std::uint32_t>(at(cc::control), cc_core_regs::control::run.mask());
    run();
    EXPECT_EQ(*block.hart.read_register(65 + 0x342), 0u) << "mcause";
    EXPECT_EQ(ram.bytes().data()[0], 42);
    EXPECT_EQ(*block.hart.read_register(8), 0u);
}

TEST_F(TopSpTest, ItsOwnMemoryTakesTheHartNoTime) {
    put(top_sp::instruction_offset, {0x00020337,    // lui x6, 0x20
                                     0x00033383,    // ld x7, 0(x6)
                                     0x00733423,    // sd x7, 8(x6)
                                     0x10500073});  // wfi
    aperture.write<std::uint32_t>(at(cc::control), cc_core_regs::control::run.mask());
    run();
    EXPECT_EQ(block.hart.core().ticks(), 4u);
}

TEST_F(TopSpTest, HartResumesOnItsClockEdgeAfterAnExternalAccess) {
    put(top_sp::instruction_offset, {0x00100313,    // li x6, 1
                                     0x03731313,    // slli x6, x6, 55
                                     0x19000293,    // li x5, 400
                                     0x00532023,    // sw x5, 0(x6)
                                     0xfff28293,    // addi x5, x5, -1
                                     0xfe029ee3,    // bnez x5, .-4
                                     0x00532023,    // sw x5, 0(x6)
                                     0x00200293,    // li x5, 2
                                     0xfff28293,    // addi x5, x5, -1
                                     0xfe029ee3,    // bnez x5, .-4: a basic block ends
                                     0x00530293,    // addi x5, x6, 5
                                     0x00532023,    // sw x5, 0(x6)
                                     0x10500073});  // wfi
    aperture.write<std::uint32_t>(at(cc::control), cc_core_regs::control::run.mask());
    run(0.7);
    EXPECT_EQ(ram.bytes().data()[0], 0) << "800 instructions of 1 ns lie before the third store";
    run(0.3);
    EXPECT_EQ(ram.bytes().data()[0], 5);
}

TEST_F(TopSpTest, LossOfPowerClearsItsMemory) {
    irq_out power_lost{"power_lost"};
    power_lost.bind(block.power_lost);
    aperture.write<std::uint32_t>(0x4000, 7);
    aperture.write<std::uint32_t>(top_sp::instruction_offset, 7);
    reset.set(true);
    power_lost.set(true);
    EXPECT_EQ(aperture.read(0x4000), 0u);
    EXPECT_EQ(aperture.read(top_sp::instruction_offset), 0u);
}

}  // namespace
