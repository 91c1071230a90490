// SPDX-License-Identifier: Apache-2.0
// Debugger control of a hart, and triggers used by the guest.
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;

TEST_F(RiscvTest, BreakpointStopsBeforeItsInstructionEachTime) {
    put(base, {addi(5, 5, 1), addi(6, 6, 1), jal(0, -8)});
    h->run(30);
    const u64 before = h->read_x(6);
    h->add_breakpoint(base + 4);
    h->run(1000);
    EXPECT_TRUE(h->halted());
    EXPECT_EQ(h->last_stop().why, hart::stop_reason::breakpoint);
    EXPECT_EQ(h->pc(), base + 4);
    EXPECT_EQ(h->read_x(6), before);
    h->resume();
    h->run(1000);
    EXPECT_TRUE(h->halted());
    EXPECT_EQ(h->read_x(6), before + 1);
    h->remove_breakpoint(base + 4);
    h->resume();
    h->run(1000);
    EXPECT_FALSE(h->halted());
}

TEST_F(RiscvTest, BreakpointAtTheHandlerOfAnInterruptThatIsPendingAtResumeStops) {
    put(base, {addi(5, 5, 1), jal(0, -4)});
    put(handler, {addi(6, 6, 1), mret});
    h->add_breakpoint(base);
    h->add_breakpoint(handler);
    h->run(10);
    ASSERT_TRUE(h->halted());
    ASSERT_EQ(h->pc(), base);
    h->write_csr(0x304, 1 << 7);
    h->write_csr(0x300, 8);
    h->drive(interrupt::machine_timer, true);
    h->resume();
    h->run(10);
    EXPECT_TRUE(h->halted());
    EXPECT_EQ(h->pc(), handler);
    EXPECT_EQ(h->read_x(6), 0u);
}

TEST_F(RiscvTest, InterruptAtResumeReturnsToTheSkippedBreakpoint) {
    put(base, {addi(5, 5, 1), jal(0, -4)});
    put(handler, {addi(6, 6, 1), csrrw(0, 0x304, 0), mret});
    h->add_breakpoint(base);
    h->run(10);
    h->write_csr(0x304, 1 << 7);
    h->write_csr(0x300, 8);
    h->drive(interrupt::machine_timer, true);
    h->resume();
    h->run(100);
    EXPECT_TRUE(h->halted());
    EXPECT_EQ(h->pc(), base);
    EXPECT_EQ(h->read_x(6), 1u);
    EXPECT_EQ(h->read_x(5), 1u) << "executed once, then stopped at the next round";
}

TEST_F(RiscvTest, AtomicAfterAStoreToThePageMeetsAWatchedLoad) {
    constexpr u32 amoadd_d = 0x0000302f | 6 << 15 | 7 << 20 | 5 << 7;
    put(base, {sd(7, 6, 0), sd(7, 6, 0), amoadd_d, jal(0, 0)});
    h->write_x(6, base + 0x2000);
    h->write_x(7, 1);
    h->add_watchpoint({base + 0x2000, 8, true, false});
    h->run(1000);
    ASSERT_TRUE(h->halted());
    EXPECT_EQ(h->last_stop().why, hart::stop_reason::watchpoint);
    EXPECT_EQ(h->pc(), base + 8);
    EXPECT_EQ(peek(base + 0x2000), 1u);
}

TEST_F(RiscvTest, StepExecutesOneInstruction) {
    put(base, {addi(5, 0, 1), addi(5, 0, 2)});
    h->resume(true);
    EXPECT_EQ(h->run(1000), 1u);
    EXPECT_EQ(h->last_stop().why, hart::stop_reason::step);
    EXPECT_EQ(h->read_x(5), 1u);
}

TEST_F(RiscvTest, WatchpointStopsBeforeTheAccess) {
    put(base, {ld(5, 6, 0), ld(5, 6, 8), sd(7, 6, 8), addi(8, 0, 1), jal(0, 0)});
    h->write_x(6, base + 0x2000);
    h->write_x(7, 42);
    h->run(2);
    h->set_pc(base);
    poke<u64>(base + 0x2008, 0);
    h->write_x(8, 0);
    h->add_watchpoint({base + 0x2008, 4, false, true});
    h->run(1000);
    ASSERT_TRUE(h->halted());
    EXPECT_EQ(h->last_stop().why, hart::stop_reason::watchpoint);
    EXPECT_EQ(h->last_stop().address, base + 0x2008);
    EXPECT_EQ(h->last_stop().kind, access::store);
    EXPECT_EQ(h->pc(), base + 8);
    EXPECT_EQ(peek(base + 0x2008), 0u);
    h->remove_watchpoint({base + 0x2008, 4, false, true});
    h->resume(true);
    h->run(1000);
    EXPECT_EQ(h->pc(), base + 12);
    EXPECT_EQ(peek(base + 0x2008), 42u);
    EXPECT_EQ(h->read_x(8), 0u);
}

TEST_F(RiscvTest, WatchpointOnTheSteppedInstructionStopsBeforeIt) {
    put(base, {sd(7, 6, 0), addi(8, 0, 1)});
    h->write_x(6, base + 0x2000);
    h->write_x(7, 42);
    h->add_watchpoint({base + 0x2004, 4, false, true});
    h->resume(true);
    EXPECT_EQ(h->run(1000), 0u);
    EXPECT_EQ(h->last_stop().why, hart::stop_reason::watchpoint);
    EXPECT_EQ(h->last_stop().address, base + 0x2004) << "the watched part of the access";
    EXPECT_EQ(h->pc(), base);
    EXPECT_EQ(peek(base + 0x2000), 0u);
}

TEST_F(RiscvTest, WatchedStoreConditionalKeepsItsReservation) {
    constexpr u32 lr_d_t0 = 0x100332af, sc_d_t2_t3 = 0x19c333af;  // address in t1
    put(base, {lr_d_t0, sc_d_t2_t3, jal(0, 0)});
    h->write_x(6, base + 0x2000);
    h->write_x(7, 1);
    h->write_x(28, 42);
    h->add_watchpoint({base + 0x2000, 8, false, true});
    h->run(1000);
    ASSERT_EQ(h->last_stop().why, hart::stop_reason::watchpoint);
    EXPECT_EQ(h->pc(), base + 4);
    h->remove_watchpoint({base + 0x2000, 8, false, true});
    h->resume(true);
    h->run(1000);
    EXPECT_EQ(h->read_x(7), 0u) << "it failed";
    EXPECT_EQ(peek(base + 0x2000), 42u);
}

TEST_F(RiscvTest, StepLeavesWfiAndASteppedWfiDoesNotWait) {
    put(base, {wfi, addi(5, 0, 1), wfi, addi(5, 0, 2)});
    h->run(1000);
    ASSERT_TRUE(h->waiting());
    for (const u64 pc : {base + 8, base + 12, base + 16}) {
        h->resume(true);
        EXPECT_EQ(h->run(1000), 1u);
        EXPECT_EQ(h->pc(), pc);
        EXPECT_FALSE(h->waiting());
    }
    EXPECT_EQ(h->read_x(5), 2u);
}

TEST_F(RiscvTest, EndWaitCoversThisWfiAndTheNextInstruction) {
    put(base, {wfi, wfi, addi(5, 0, 1), wfi, jal(0, 0)});
    h->run(1000);
    ASSERT_EQ(h->pc(), base + 4);
    h->end_wait();
    h->run(1000);
    EXPECT_EQ(h->pc(), base + 16);
    EXPECT_TRUE(h->waiting()) << "the third sleeps";
    EXPECT_EQ(h->read_x(5), 1u);
}

TEST_F(RiscvTest, LeadsToReportsTheSuccessorsOfTheNextInstruction) {
    constexpr u32 beq_back_8 = 0xfe000ce3, ret = jalr(0, 1, 0), c_ret = 0x8082;
    h->write_x(1, base + 0x100);
    const auto leads = [&](u32 instruction) {
        put(base, {instruction});
        h->set_pc(base);
        std::vector<i64> to;
        for (i64 offset = -16; offset <= 0x100; offset += 2)
            if (h->leads_to(base + static_cast<u64>(offset))) to.push_back(offset);
        return to;
    };
    EXPECT_EQ(leads(addi(5, 0, 1)), std::vector<i64>{4});
    EXPECT_EQ(leads(jal(0, -4)), std::vector<i64>{-4});
    EXPECT_EQ(leads(beq_back_8), (std::vector<i64>{-8, 4}));
    EXPECT_EQ(leads(ret), std::vector<i64>{0x100});
    EXPECT_EQ(leads(c_ret), std::vector<i64>{0x100});
    EXPECT_EQ(leads(0x0001), std::vector<i64>{2}) << "c.nop";
}

TEST_F(RiscvTest, SettingThePcLeavesWfi) {
    put(base, {wfi, jal(0, 0)});
    put(base + 0x100, {addi(5, 0, 7), wfi});
    h->run(1000);
    ASSERT_TRUE(h->waiting());
    h->set_pc(base + 0x100);
    h->run(1000);
    EXPECT_EQ(h->read_x(5), 7u);
    EXPECT_TRUE(h->waiting());
}

TEST_F(RiscvTest, DebuggerWriteToCodeIsExecuted) {
    put(base, {addi(5, 0, 1), jal(0, -4)});
    h->run(10);
    const u32 instruction = addi(5, 0, 9);
    std::array<u8, 4> bytes;
    std::memcpy(bytes.data(), &instruction, 4);
    EXPECT_EQ(h->debug_write(base, bytes), 4u);
    h->run(10);
    EXPECT_EQ(h->read_x(5), 9u);
}

TEST_F(RiscvTest, DebugAccessStopsAtTheEndOfMemory) {
    std::vector<u8> bytes(64);
    EXPECT_EQ(h->debug_read(base + memory.ram.size() - 32, bytes), 32u);
    EXPECT_EQ(h->debug_read(base + memory.ram.size() - 64, bytes), 64u);
}

TEST_F(RiscvTest, GuestTriggerFiresBeforeTheLoadAndOnlyWithInterruptsEnabled) {
    constexpr u64 mcontrol6 = u64{6} << 60, in_machine_mode = 1 << 6, on_load = 1;
    put(base, {ld(5, 6, 0), jal(0, 0)});
    poke<u64>(base + 0x2000, 77);
    h->write_x(6, base + 0x2000);
    h->write_csr(0x7a2, base + 0x2004);
    h->write_csr(0x7a1, mcontrol6 | in_machine_mode | on_load);
    step(1);
    EXPECT_EQ(h->read_x(5), 77u) << "MIE = 0: it could not be returned from";
    h->set_pc(base);
    h->write_x(5, 0);
    h->write_csr(0x300, 8);
    step(1);
    EXPECT_EQ(csr("mcause"), 3u);
    EXPECT_EQ(csr("mtval"), base + 0x2000);
    EXPECT_EQ(h->read_x(5), 0u);
    EXPECT_NE(csr("tdata1") & u64{1} << 22, 0u) << "hit";
}

TEST_F(RiscvTest, ExecutionTriggerFiresWithinADecodedBlock) {
    constexpr u64 mcontrol = u64{2} << 60, in_machine_mode = 1 << 6, on_execute = 4;
    put(base, {addi(5, 5, 1), addi(6, 6, 1), jal(0, -8)});
    h->run(30);
    h->write_csr(0x300, 8);
    h->write_csr(0x7a2, base + 4);
    h->write_csr(0x7a1, mcontrol | in_machine_mode | on_execute);
    h->run(10);
    EXPECT_EQ(csr("mcause"), 3u);
    EXPECT_EQ(csr("mepc"), base + 4);
    EXPECT_EQ(csr("mtval"), base + 4);
}

}  // namespace trn::riscv::test
