// SPDX-License-Identifier: Apache-2.0
// A hart whose memory defers accesses.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "models/misuse_rules.h"
#include "models/processor/riscv/riscv_hart.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/deferring_memory.h"
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;
using sc_core::sc_start;
using sc_core::sc_time;

/// RAM at 0, and memory that defers each access by 30 ns at 0x10000, to which x5 points.
class HartDeferralTest : public testing::Test {
protected:
    static constexpr std::uint64_t slow_address = 0x10000;
    router bus{"bus", {}};
    trn::memory ram{"ram", {.size = 1 << 16}};
    trn::test::deferring_memory slow{"slow"};
    hart_common shared;
    riscv_hart dut{"dut", {.reset_vector = 0, .quantum_instructions = 100}, shared};
    irq_out line{"line"}, reset{"reset"};

    HartDeferralTest() {
        dut.bus.bind(bus.target);
        bus.initiator.bind(ram.in);
        bus.initiator.bind(slow.in);
        bus.map({0, 1 << 16, 0, 0});
        bus.map({slow_address, 0x1000, 0, 1});
        line.bind(dut.irq, riscv_hart::machine_timer);
        reset.bind(dut.reset);
        dut.core().write_x(5, slow_address);
    }
    void program(std::initializer_list<u32> words, std::size_t offset = 0) {
        std::memcpy(ram.bytes().data() + offset, words.begin(), words.size() * 4);
    }
    u32 word(std::size_t offset) const {
        u32 value = 0;
        std::memcpy(&value, &slow.bytes[offset], sizeof value);
        return value;
    }
    static void run(double nanoseconds) { sc_start(sc_time(nanoseconds, sc_core::SC_NS)); }
    riscv::hart& core() { return dut.core(); }
};

TEST_F(HartDeferralTest, LoadsAndStoresWaitForMemory) {
    program({addi(6, 0, 7), sw(6, 5, 0), lw(7, 5, 0), addi(7, 7, 1), sw(7, 5, 4), wfi});
    run(20);
    EXPECT_EQ(dut.state(), "M-mode, waiting for memory");
    EXPECT_TRUE(core().deferred());
    EXPECT_EQ(dut.describe_wait(), "the instruction at pc 0x4: no response of memory");
    run(500);
    EXPECT_EQ(dut.describe_wait(), std::nullopt);
    EXPECT_EQ(word(0), 7u);
    EXPECT_EQ(word(4), 8u);
    EXPECT_EQ(slow.questions, 3u);
    EXPECT_EQ(core().ticks(), 6u);
    EXPECT_EQ(*core().read_csr(0xb02), 6u);   // minstret
    EXPECT_GE(*core().read_csr(0xb00), 90u);  // mcycle: it waited three times
    EXPECT_TRUE(core().waiting());
    EXPECT_EQ(misuse::count(misuse::firmware_bus_error, "dut"), 0u);
}

TEST_F(HartDeferralTest, TheDelayOfTheResponseStallsTheHart) {
    slow.annotated = sc_time(20, sc_core::SC_NS);
    program({lw(7, 5, 0), sw(7, 5, 4), wfi});
    run(500);
    EXPECT_EQ(slow.questions, 2u);
    EXPECT_EQ(*core().read_csr(0xb02), 3u);
    EXPECT_EQ(core().ticks(), 3u + 40u);
}

TEST_F(HartDeferralTest, EachPartOfAnAtomicInstructionIsMadeOnce) {
    constexpr u32 amoadd_w_7_6_5 = 0x2f | 7 << 7 | 2 << 12 | 5 << 15 | 6 << 20;
    slow.bytes[0] = 40;
    program({addi(6, 0, 2), amoadd_w_7_6_5, amoadd_w_7_6_5, wfi});
    run(1000);
    EXPECT_EQ(word(0), 44u);
    EXPECT_EQ(core().read_x(7), 42u);
    EXPECT_EQ(slow.questions, 4u);
    EXPECT_TRUE(core().waiting());
}

TEST_F(HartDeferralTest, AnAtomicInstructionWhoseWriteIsDeferredReadsOnce) {
    slow.defers_reads = false;
    slow.bytes[0] = 40;
    program({addi(6, 0, 2), 0x2f | 7 << 7 | 2 << 12 | 5 << 15 | 6 << 20, wfi});  // amoadd.w
    run(20);
    EXPECT_TRUE(core().deferred());
    slow.bytes[0] = 50;  // a second read would see it
    run(1000);
    EXPECT_EQ(word(0), 42u);
    EXPECT_EQ(core().read_x(7), 40u);
    EXPECT_EQ(slow.questions, 2u);
    EXPECT_TRUE(core().waiting());
}

/// A second hart with the same code, whose x5 is the same.
class HartsDeferralTest : public HartDeferralTest {
protected:
    riscv_hart other{
        "other", {.hart_id = 1, .reset_vector = 0, .quantum_instructions = 100}, shared};

    HartsDeferralTest() {
        other.bus.bind(bus.target);
        other.core().write_x(5, slow_address);
    }
};

TEST_F(HartsDeferralTest, AtomicInstructionsOfTwoHartsLoseNothing) {
    program({addi(6, 0, 1), addi(9, 0, 50),
             0x2f | 7 << 7 | 2 << 12 | 5 << 15 | 6 << 20,  // amoadd.w
             addi(9, 9, -1), bne(9, 0, -8), wfi});
    run(50'000);
    EXPECT_EQ(word(0), 100u);
    EXPECT_TRUE(core().waiting() && other.core().waiting());
    EXPECT_EQ(slow.questions, 200u);
}

TEST_F(HartsDeferralTest, AHartWhoseAtomicInstructionIsResetLetsTheOtherContinue) {
    program({addi(6, 0, 1), 0x2f | 7 << 7 | 2 << 12 | 5 << 15 | 6 << 20, wfi});
    run(10);
    EXPECT_TRUE(core().deferred() && other.core().deferred());
    reset.set(true);
    run(1000);
    EXPECT_EQ(word(0), 1u);
    EXPECT_TRUE(other.core().waiting());
}

TEST_F(HartsDeferralTest, ALoadDuringAnAtomicInstructionOfTheOtherHartIsMadeOnce) {
    slow.bytes[8] = 5;
    program({addi(6, 0, 1), 0x2f | 7 << 7 | 2 << 12 | 5 << 15 | 6 << 20, wfi});
    program({nop, nop, lw(7, 5, 8), lw(8, 5, 0), wfi}, 0x100);
    other.core().set_pc(0x100);
    run(1000);
    EXPECT_EQ(other.core().read_x(7), 5u) << "of another word";
    EXPECT_EQ(other.core().read_x(8), 1u) << "of the same";
    EXPECT_TRUE(core().waiting() && other.core().waiting());
    EXPECT_EQ(slow.questions, 4u);
}

TEST_F(HartsDeferralTest, AHartHaltedWithinTheReadOfAnAtomicInstructionBeginsItAgain) {
    program({addi(6, 0, 1), 0x2f | 7 << 7 | 2 << 12 | 5 << 15 | 6 << 20, wfi});
    other.halt();
    run(10);
    other.resume(false);
    run(5);
    EXPECT_TRUE(core().deferred() && other.core().deferred());
    dut.halt();
    run(1000);
    EXPECT_TRUE(other.core().waiting());
    EXPECT_EQ(word(0), 1u);
    dut.resume(false);
    run(1000);
    EXPECT_TRUE(core().waiting());
    EXPECT_EQ(word(0), 2u);
    EXPECT_EQ(core().read_x(7), 1u);
}

TEST_F(HartsDeferralTest, TheWriteOfAnAtomicInstructionOfAHaltedHartIsFinished) {
    slow.defers_reads = false;
    program({addi(6, 0, 1), 0x2f | 7 << 7 | 2 << 12 | 5 << 15 | 6 << 20, wfi});
    other.halt();
    run(10);
    other.resume(false);
    run(5);
    EXPECT_TRUE(core().deferred() && other.core().deferred());
    dut.halt();
    run(1000);
    EXPECT_TRUE(other.core().waiting());
    EXPECT_EQ(other.core().read_x(7), 1u);
    EXPECT_EQ(word(0), 2u);
    EXPECT_EQ(core().pc(), 4u);
    dut.resume(false);
    run(1000);
    EXPECT_TRUE(core().waiting());
    EXPECT_EQ(core().read_x(7), 0u);
    EXPECT_EQ(word(0), 2u);
    EXPECT_EQ(slow.questions, 4u);
}

TEST_F(HartDeferralTest, AStoreConditionalWhoseWriteIsDeferredReadsOnce) {
    slow.defers_reads = false;
    slow.is_memory = true;
    constexpr u32 load_w_7_5 = 0x1000202f | 7 << 7 | 5 << 15,
                  store_w_8_6_5 = 0x1800202f | 8 << 7 | 5 << 15 | 6 << 20;
    program({addi(6, 0, 9), load_w_7_5, store_w_8_6_5, wfi});
    run(1000);
    EXPECT_EQ(word(0), 9u);
    EXPECT_EQ(core().read_x(8), 0u);
    EXPECT_EQ(slow.questions, 3u);
    EXPECT_TRUE(core().waiting());
}

TEST_F(HartDeferralTest, AMisalignedStoreAcrossPagesWhoseSecondPartIsDeferredEnds) {
    slow.is_memory = true;
    slow.deferred_size = 0x800;
    bus.map({slow_address + 0x1000, 0x1000, 0x100, 1});  // the next page
    program({addi(6, 0, -1), addi(5, 5, 0x7fe), addi(5, 5, 0x7ff), sw(6, 5, 1), wfi});
    run(1000);
    EXPECT_TRUE(core().waiting());
    EXPECT_EQ(slow.bytes[0xffe] & slow.bytes[0xfff], 0xff);
    EXPECT_EQ(word(0x100), 0xffffu);
    EXPECT_EQ(slow.questions, 2u);
}

TEST_F(HartDeferralTest, ExecutesCodeInMemoryThatDefers) {
    const std::initializer_list<u32> code{addi(6, 0, 3), lw(7, 5, 0x40), add(7, 7, 6),
                                          sw(7, 5, 0x44), jalr(0, 1, 0)};
    std::memcpy(slow.bytes.data(), code.begin(), code.size() * 4);
    slow.bytes[0x40] = 5;
    program({jalr(1, 5, 0), wfi});
    run(3000);
    EXPECT_EQ(word(0x44), 8u);
    EXPECT_TRUE(core().waiting());
    EXPECT_EQ(core().ticks(), 7u);
}

TEST_F(HartDeferralTest, AnInterruptIsTakenAfterTheInstruction) {
    program({lw(7, 5, 0), addi(8, 8, 1), jal(0, 0)});
    program({csrrs(9, 0x341, 0), lw(10, 5, 8), jal(0, 0)}, 0x100);
    core().write_csr(0x305, 0x100);
    core().write_csr(0x304, 1 << 7);
    core().write_csr(0x300, 1 << 3);
    slow.bytes[0] = 6;
    slow.bytes[8] = 9;
    run(10);
    line.set(true);
    EXPECT_TRUE(core().deferred());
    run(200);
    EXPECT_EQ(core().read_x(7), 6u);
    EXPECT_EQ(core().read_x(9), 4u);  // mepc
    EXPECT_EQ(core().read_x(10), 9u);
    EXPECT_EQ(slow.questions, 2u);
}

TEST_F(HartDeferralTest, AResetEndsTheAccess) {
    program({lw(7, 5, 0), addi(8, 8, 1), wfi});
    run(10);
    reset.set(true);
    EXPECT_FALSE(core().deferred());
    run(100);
    reset.set(false);
    core().write_x(5, slow_address);
    slow.bytes[0] = 3;
    run(10);
    EXPECT_TRUE(core().deferred());
    run(100);
    EXPECT_EQ(core().read_x(7), 3u);
    EXPECT_EQ(core().read_x(8), 1u);
    EXPECT_EQ(slow.questions, 2u);
}

TEST_F(HartDeferralTest, ADebuggerStepsOverTheWholeAccess) {
    program({lw(7, 5, 0), addi(8, 8, 1), wfi});
    dut.halt();
    slow.bytes[0] = 4;
    unsigned stops = 0;
    dut.on_stop([&] { ++stops; });
    run(10);
    dut.resume(true);
    run(10);
    EXPECT_EQ(stops, 0u);
    run(100);
    EXPECT_EQ(stops, 1u);
    EXPECT_EQ(core().pc(), 4u);
    EXPECT_EQ(core().read_x(7), 4u);
    dut.resume(false);
    run(100);
    EXPECT_EQ(core().read_x(8), 1u);
}

TEST_F(HartDeferralTest, ABreakpointAtTheAccessStopsOnce) {
    program({nop, lw(7, 5, 0), wfi});
    dut.add_breakpoint(4);
    unsigned stops = 0;
    dut.on_stop([&] { ++stops; });
    run(10);
    EXPECT_EQ(stops, 1u);
    dut.resume(false);
    run(100);
    EXPECT_EQ(stops, 1u);
    EXPECT_TRUE(core().waiting());
    EXPECT_EQ(slow.questions, 1u);
}

TEST_F(HartDeferralTest, ALoopOfManyAccessesReadsEachValue) {
    // 200 times: x7 = load; x8 += x7; store x7 + 1
    program({addi(6, 0, 200), lw(7, 5, 0), add(8, 8, 7), addi(7, 7, 1), sw(7, 5, 0), addi(6, 6, -1),
             bne(6, 0, -20), wfi});
    run(50'000);
    EXPECT_TRUE(core().waiting());
    EXPECT_EQ(word(0), 200u);
    EXPECT_EQ(core().read_x(8), 199u * 200 / 2);
    EXPECT_EQ(slow.questions, 400u);
    EXPECT_EQ(*core().read_csr(0xb02), 2u + 200 * 6);
}

}  // namespace trn::riscv::test
