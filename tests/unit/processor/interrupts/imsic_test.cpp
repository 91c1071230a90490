// SPDX-License-Identifier: Apache-2.0
#include "models/processor/interrupts/imsic.h"

#include <gtest/gtest.h>

#include "models/processor/interrupts/imsic_regs.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace trn::test {

using imsic_regs::offset;
using imsic_regs::reg;
using riscv::privilege;

class ImsicTest : public testing::Test {
protected:
    static constexpr unsigned eidelivery = 0x70, eithreshold = 0x72, eip = 0x80, eie = 0xc0;
    static constexpr std::uint64_t all = ~std::uint64_t{0};

    tlm_driver device{"device"}, other{"other"};
    imsic dut{"dut", {.identities = 127}};

    ImsicTest() {
        device.out.bind(dut.supervisor);
        other.out.bind(dut.machine);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        write(eidelivery, 1);
        write(eie, all);
        write(eie + 2, all);
    }
    void write(unsigned number, std::uint64_t value) {
        dut.write(privilege::supervisor, number, value, sc_core::SC_ZERO_TIME);
    }
    std::uint64_t read(unsigned number) { return dut.read(privilege::supervisor, number); }
    std::uint64_t top() { return dut.top(privilege::supervisor); }
    void claim() { dut.claim(privilege::supervisor, sc_core::SC_ZERO_TIME); }
    void send(std::uint32_t identity) {
        EXPECT_EQ(device.write(offset(reg::seteipnum_le), identity), tlm::TLM_OK_RESPONSE);
    }
    bool line() { return dut.supervisor_external.level(); }
};

TEST_F(ImsicTest, KeepsItsRegisterContract) {
    register_contract(device, imsic_regs::table).check();
}

TEST_F(ImsicTest, AnMsiInterruptsUntilItIsClaimed) {
    send(70);
    EXPECT_TRUE(line());
    EXPECT_FALSE(dut.machine_external.level());
    EXPECT_EQ(read(eip + 2), std::uint64_t{1} << 6);
    EXPECT_EQ(top(), 70u << 16 | 70u);
    claim();
    EXPECT_FALSE(line());
    EXPECT_EQ(top(), 0u);
    claim();  // of nothing
    EXPECT_EQ(read(eip) | read(eip + 2), 0u);
}

TEST_F(ImsicTest, MachineFileHasItsOwnState) {
    other.write<std::uint32_t>(offset(reg::seteipnum_le), 3);
    EXPECT_EQ(dut.read(privilege::machine, eip), 8u);
    EXPECT_EQ(read(eip), 0u);
    dut.write(privilege::machine, eie, 8, sc_core::SC_ZERO_TIME);
    EXPECT_FALSE(dut.machine_external.level()) << "not delivered";
    EXPECT_EQ(dut.top(privilege::machine), 3u << 16 | 3u) << "does not depend on eidelivery";
    dut.write(privilege::machine, eidelivery, 1, sc_core::SC_ZERO_TIME);
    EXPECT_TRUE(dut.machine_external.level());
    EXPECT_FALSE(line());
}

TEST_F(ImsicTest, LowestIdentityIsFirst) {
    for (const unsigned identity : {100u, 64u, 9u, 63u}) send(identity);
    for (const std::uint64_t identity : {9u, 63u, 64u, 100u}) {
        EXPECT_EQ(top() >> 16, identity);
        claim();
    }
    EXPECT_FALSE(line());
}

TEST_F(ImsicTest, BigEndianMessagesAndIdentitiesThatDoNotExist) {
    device.write<std::uint32_t>(offset(reg::seteipnum_be), 5u << 24);
    EXPECT_EQ(top() >> 16, 5u);
    claim();
    device.write<std::uint32_t>(offset(reg::seteipnum_be), 5);
    for (const std::uint32_t identity : {0u, 128u, 0x10005u, ~0u}) send(identity);
    EXPECT_EQ(read(eip) | read(eip + 2), 0u);
    EXPECT_EQ(device.read(offset(reg::seteipnum_le)), 0u);
}

/// AIA 3.5: other accesses than aligned ones of 32 bits are ignored.
TEST_F(ImsicTest, AccessOfTwoRegistersIsRefusedAndIgnored) {
    EXPECT_NE(device.write(offset(reg::seteipnum_le), std::uint64_t{5}), tlm::TLM_OK_RESPONSE);
    EXPECT_NE(device.write(offset(reg::seteipnum_le), std::uint64_t{5} << 56),
              tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(read(eip), 0u);
}

TEST_F(ImsicTest, ThresholdMasksIdentitiesFromItsValueOn) {
    send(20);
    write(eithreshold, 20);
    EXPECT_FALSE(line());
    EXPECT_EQ(top(), 0u);
    write(eithreshold, 21);
    EXPECT_TRUE(line());
    write(eithreshold, all);
    EXPECT_EQ(read(eithreshold), 127u);
}

TEST_F(ImsicTest, ArraysHaveNoBitsOfAbsentIdentities) {
    for (const unsigned array : {eip, eie}) {
        for (unsigned word = 0; word < 64; word += 2) write(array + word, all);
        EXPECT_EQ(read(array), all - 1) << "identity 0";
        EXPECT_EQ(read(array + 2), all);
        EXPECT_EQ(read(array + 4), 0u);
        EXPECT_EQ(read(array + 62), 0u);
    }
    for (const unsigned reserved : {0x71u, 0x73u, 0x7fu}) {
        write(reserved, all);
        EXPECT_EQ(read(reserved), 0u);
    }
}

TEST_F(ImsicTest, DeliveryIsZeroOrOne) {
    write(eidelivery, 0x4000'0000);
    EXPECT_EQ(read(eidelivery), 1u);
    send(1);
    write(eidelivery, 0);
    EXPECT_FALSE(line());
    write(eidelivery, 1);
    EXPECT_TRUE(line());
}

TEST_F(ImsicTest, LineRisesAtTheTimeOfTheMessage) {
    using sc_core::sc_time;
    device.annotated = sc_time(30, sc_core::SC_NS);
    send(4);
    EXPECT_FALSE(line());
    sc_core::sc_start(sc_time(29, sc_core::SC_NS));
    EXPECT_FALSE(line());
    sc_core::sc_start(sc_time(2, sc_core::SC_NS));
    EXPECT_TRUE(line());
}

TEST_F(ImsicTest, ResetClearsBothFilesAndMessagesMeanwhileAreLost) {
    irq_out reset{"reset"};
    reset.bind(dut.reset);
    send(4);
    reset.set(true);
    EXPECT_FALSE(line());
    send(5);
    reset.set(false);
    EXPECT_EQ(read(eip) | read(eie) | read(eidelivery), 0u);
}

}  // namespace trn::test
