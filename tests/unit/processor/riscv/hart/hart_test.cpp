// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;

TEST_F(RiscvTest, LoopCountsDownAndItsInstructionsAreCounted) {
    put(base, {addi(5, 0, 100), addi(5, 5, -1), bne(5, 0, -4), jal(0, 0)});
    EXPECT_GE(h->run(201), 201u);
    EXPECT_EQ(h->read_x(5), 0u);
    EXPECT_EQ(h->pc(), base + 12);
}

TEST_F(RiscvTest, ExceedsItsBudgetByLessThanABlock) {
    put(base, {addi(5, 5, 1), addi(5, 5, 1), jal(0, -8)});
    const u64 done = h->run(10);
    EXPECT_EQ(done, 12u);
    EXPECT_EQ(h->ticks(), 12u);
    EXPECT_EQ(h->read_x(5), 8u);
}

TEST_F(RiscvTest, IllegalInstructionTrapsWithItsBitsInMtval) {
    put(base, {nop, 0xffffffff});
    step(2);
    EXPECT_EQ(csr("mcause"), 2u);
    EXPECT_EQ(csr("mepc"), base + 4);
    EXPECT_EQ(csr("mtval"), 0xffffffffu);
    EXPECT_EQ(h->pc(), handler);
}

TEST_F(RiscvTest, HoleWithinABlockIsAnAccessFault) {
    put(base, {addi(5, 0, 7), lui(6, 0x20000), ld(7, 6, 8), addi(5, 0, 9)});
    h->run(4);
    EXPECT_EQ(csr("mcause"), 5u);
    EXPECT_EQ(csr("mepc"), base + 8);
    EXPECT_EQ(csr("mtval"), 0x20000008u);
    EXPECT_EQ(h->read_x(5), 7u) << "nothing after the fault took effect";
    EXPECT_EQ(csr("minstret"), h->ticks() - 1);
}

TEST_F(RiscvTest, MisalignedAccessWorksInMemoryAcrossPages) {
    put(base, {auipc(6, 1), sd(7, 6, -3), ld(8, 6, -3)});
    h->write_x(7, 0x0123456789abcdef);
    step(3);
    EXPECT_EQ(h->read_x(8), 0x0123456789abcdefu);
    EXPECT_EQ(peek<u8>(base + 0xffd), 0xef);
    EXPECT_EQ(peek<u8>(base + 0x1004), 0x01);
}

TEST_F(RiscvTest, MisalignedAccessToADeviceIsAnAccessFault) {
    put(base, {lui(6, 0x10000), lw(7, 6, 2)});
    step(2);
    EXPECT_EQ(csr("mcause"), 5u);
    EXPECT_EQ(csr("mtval"), flat_bus::device_base + 2);
}

TEST_F(RiscvTest, MisalignedLoadAcrossPagesReadsNoDevice) {
    unsigned accesses = 0;
    memory.on_device_access = [&] { ++accesses; };
    put(base, {ld(5, 6, 0)});
    for (const u64 first : {flat_bus::device_base - 4, flat_bus::device_base + 0xffc}) {
        h->set_pc(base);
        h->write_x(6, first);
        step();
        EXPECT_EQ(csr("mcause"), 5u);
        EXPECT_EQ(accesses, 0u) << std::hex << first;
    }
}

/// Memory that a bus observes: loads have a host pointer, stores go to the bus.
TEST_F(RiscvTest, MisalignedStoreToObservedMemoryIsDone) {
    memory.observed = true;
    put(base, {sd(7, 6, 0), sd(7, 6, 0x7fd), ld(8, 6, 0x7fd)});
    h->write_x(6, base + 0x2803);
    h->write_x(7, 0x0123456789abcdef);
    step(3);
    EXPECT_EQ(csr("mcause"), 0u);
    EXPECT_EQ(peek(base + 0x2803), 0x0123456789abcdefu);
    EXPECT_EQ(peek(base + 0x3000), 0x0123456789abcdefu);
    EXPECT_EQ(h->read_x(8), 0x0123456789abcdefu);
}

TEST_F(RiscvTest, StoreConditionalToObservedMemoryIsDone) {
    constexpr u32 lr_d_t0 = 0x100332af, sc_d_t2_t3 = 0x19c333af;  // address in t1
    memory.observed = true;
    put(base, {lr_d_t0, sc_d_t2_t3});
    h->write_x(6, base + 0x2000);
    h->write_x(28, 42);
    step(2);
    EXPECT_EQ(h->read_x(7), 0u);
    EXPECT_EQ(peek(base + 0x2000), 42u);
}

/// Page tables in a memory without host pointers: the walk accesses the bus.
class RiscvWalkTest : public RiscvTest {
protected:
    static constexpr u64 tables = base + 0x80000, mapped = 0x4000'0000;

    RiscvWalkTest() {
        memory.direct_end = tables;
        poke<u64>(tables + 8, (tables + 0x1000) >> 2 | V);
        poke<u64>(tables + 0x1000, base >> 2 | V | R | W | X | A | D);
        h->write_csr(0x3b0, ~u64{0});
        h->write_csr(0x3a0, 0x1f);
        h->write_csr(0x180, u64{8} << 60 | tables >> 12);
        h->set_mode(privilege::supervisor);
        h->set_pc(mapped);
    }
};

TEST_F(RiscvWalkTest, StallOfTheWalkOfAJumpIsCounted) {
    put(base, {nop, jal(0, 0x1000)});
    put(base + 0x1004, {jal(0, 0)});
    memory.on_read = [&] { h->stall(100); };
    const u64 done = h->run(1000);
    EXPECT_GE(done, 1000u);
    EXPECT_LT(done, 1300u);
    EXPECT_EQ(h->ticks(), done);
    EXPECT_LE(csr("minstret"), done - 4 * 100) << "two walks of two entries";
}

TEST_F(RiscvWalkTest, WalkOfAJumpThatEndsTheRunEndsIt) {
    put(base, {nop, jal(0, 0x1000)});
    put(base + 0x1004, {jal(0, 0)});
    h->run(1);
    memory.on_read = [&] { h->end_run(); };
    EXPECT_LT(h->run(1'000'000), 10u);
    EXPECT_EQ(h->pc(), mapped + 0x1004);
}

TEST_F(RiscvWalkTest, WalkEndsARunOfSeveralQuanta) {
    put(base, {lui(6, 0x40001), ld(5, 6, 0), jal(0, 0)});
    h->run(1);
    h->set_pc(mapped);
    h->fence_vma();
    const u64 start = h->ticks();
    h->run(1000, 100);
    EXPECT_EQ(h->run_end(), start + 100) << "other modules may have to act";
}

TEST_F(RiscvWalkTest, DebuggerWalksWithoutSideEffects) {
    put(base, {nop, jal(0, -4)});
    h->run(10);
    memory.on_read = [&] { h->stall(100); };
    const u64 ticks = h->ticks();
    std::array<u8, 8> bytes;
    EXPECT_EQ(h->debug_read(mapped, bytes), 8u);
    EXPECT_EQ(h->ticks(), ticks);
}

TEST_F(RiscvTest, ReturnAddressThatOverlappingCodeReplacesIsNotFollowed) {
    constexpr u32 call = 0x4080'046f;  // jal x8, 0x408; its second half is c.lw x8, 0(x9)
    ASSERT_EQ(call, jal(8, 0x408));
    put(base, {call, jalr(0, 8, 0)});
    put(base + 0x408, {jal(0, 2 - 0x408)});
    put(base + 0x600, {csrrs(7, 0xb02, 0), jal(0, 0)});
    poke<u32>(base + 0x2000, 0x600);
    h->write_x(9, base + 0x2000);
    h->write_csr(0x305, base + 0x600);  // a jump to 0x600 is an access fault
    h->run(6);
    EXPECT_EQ(csr("mepc"), 0x600u);
    EXPECT_EQ(h->read_x(7), 4u) << "call, jump, load, return";
}

TEST_F(RiscvTest, DeviceIsReadThroughTheBusEachTime) {
    put(base, {lui(6, 0x10000), lw(7, 6, 0), lw(8, 6, 0)});
    memory.device_value = 41;
    memory.on_device_access = [&] { ++memory.device_value; };
    step(3);
    EXPECT_EQ(h->read_x(7), 42u);
    EXPECT_EQ(h->read_x(8), 43u);
}

TEST_F(RiscvTest, LoadsAndStoresInTurnAskForAPointerOnceEach) {
    put(base, {lui(6, 0x10000), lw(7, 6, 0), sw(7, 6, 8), jal(0, -8)});
    memory.device_value = 41;
    h->run(4);
    const unsigned asked = memory.direct_requests;
    h->run(300);
    EXPECT_EQ(memory.direct_requests, asked);
    EXPECT_EQ(memory.device_writes.size(), 101u);
    EXPECT_EQ(memory.device_writes.back(), std::pair(flat_bus::device_base + 8, u64{41}));
}

TEST_F(RiscvTest, MisalignedAccessToAKnownDeviceIsAnAccessFaultToo) {
    put(base, {lui(6, 0x10000), lw(7, 6, 0), sw(7, 6, 0), sw(7, 6, 2)});
    step(4);
    EXPECT_EQ(csr("mcause"), 7u);
    EXPECT_EQ(csr("mtval"), flat_bus::device_base + 2);
    EXPECT_EQ(memory.device_writes.size(), 1u);
}

TEST_F(RiscvTest, ProtectionThatForbidsAKnownDeviceIsObeyed) {
    put(base,
        {lui(6, 0x10000), lw(7, 6, 0), csrrw(0, 0x3b0, 28), csrrw(0, 0x3a0, 29), lw(8, 6, 0)});
    h->write_x(28, flat_bus::device_base >> 2 | 0x1ff);  // the device page
    h->write_x(29, 0x98);                                // locked, NAPOT, no access
    memory.device_value = 41;
    step(5);
    EXPECT_EQ(h->read_x(7), 41u);
    EXPECT_EQ(csr("mcause"), 5u);
    EXPECT_EQ(h->read_x(8), 0u);
}

TEST_F(RiscvTest, KnownDeviceThatBecomesMemoryIsReadAsMemory) {
    put(base, {lw(7, 6, 0)});
    h->write_x(6, base + (1 << 20));
    step();  // beyond the end of RAM: an access fault
    EXPECT_EQ(csr("mcause"), 5u);
    memory.ram.resize(2 << 20);
    poke<u32>(base + (1 << 20), 43);
    h->forget_direct(0, ~u64{0});
    h->set_pc(base);
    step();
    EXPECT_EQ(h->read_x(7), 43u);
}

TEST_F(RiscvTest, RefusedPointerIsNotRequestedAgainBeforeARevocation) {
    put(base, {lw(7, 6, 0)});
    const u64 refused = base + 0x10000;
    unsigned reads = 0;
    memory.on_read = [&] { ++reads; };
    memory.direct_end = refused;
    const auto load = [&](u64 address) {
        h->write_x(6, address);
        h->set_pc(base);
        step();
        return std::exchange(reads, 0u);
    };
    EXPECT_EQ(load(refused), 1u);
    for (u64 page = 1; page < 64; ++page) EXPECT_EQ(load(refused + page * 4096), 1u);
    memory.direct_end = ~u64{0};
    EXPECT_EQ(load(refused + 64 * 4096), 0u);  // its pointer holds for the other pages too
    EXPECT_EQ(load(refused), 1u);
    h->forget_direct(refused, refused + 4);
    EXPECT_EQ(load(refused), 0u);
}

TEST_F(RiscvTest, RefusedPointersAreBounded) {
    memory.ram.resize(64 << 20);
    memory.direct_end = base + 0x10000;
    put(base, {lw(7, 6, 0)});
    const u64 before = h->footprint();
    for (u64 page = 16; page < memory.ram.size() / 4096; ++page) {
        h->write_x(6, base + page * 4096);
        h->set_pc(base);
        step();
    }
    EXPECT_LT(h->footprint(), before + (1 << 20));
}

TEST_F(RiscvTest, DeviceAccessThatResetsTheHartLeavesNoTranslationBehind) {
    const u64 table = base + 0x4000;  // Sv39: maps the second gigabyte to the first
    poke<u64>(table + 8, V | R | W | U | A | D);
    h->write_csr(0x3b0, ~u64{0} >> 10);
    h->write_csr(0x3a0, 0x1f);
    h->write_csr(0x180, u64{8} << 60 | table >> 12);
    h->write_csr(0x300, 1 << 17);  // MPRV with MPP = U: data addresses are virtual
    put(base, {lui(6, 0x50000), sw(0, 6, 0)});
    memory.on_device_access = [&] { h->reset(); };
    step(2);
    ASSERT_EQ(memory.device_writes.size(), 1u);
    h->set_pc(base);
    step(2);
    EXPECT_EQ(csr("mcause"), 7u);
    EXPECT_EQ(csr("mtval"), 0x5000'0000u);
    EXPECT_EQ(memory.device_writes.size(), 1u);
}

TEST_F(RiscvTest, DeviceAccessThatResetsTheHartIsTheLastEffectOfItsRun) {
    constexpr u32 amoadd_x8_x7_x6 = 0x0073242f;
    memory.on_device_access = [&] { h->reset(); };
    for (const u32 access : {sw(7, 6, 0), lw(8, 6, 0), amoadd_x8_x7_x6}) {
        put(base,
            {lui(6, 0x10000), addi(7, 0, 1), access, addi(7, 7, 1), addi(8, 8, 1), jal(0, 0)});
        h->set_pc(base);
        EXPECT_EQ(h->run(1000), 0u);
        EXPECT_TRUE(h->was_reset());
        EXPECT_EQ(h->pc(), base);
        EXPECT_EQ(h->ticks(), 0u);
        EXPECT_EQ(h->read_x(7), 0u);
        EXPECT_EQ(h->read_x(8), 0u);
        h->fence_i();
    }
}

TEST_F(RiscvTest, SteppedDeviceAccessThatResetsTheHartStopsAtTheResetVector) {
    put(base, {lui(6, 0x10000), sw(0, 6, 0)});
    memory.on_device_access = [&] { h->reset(); };
    for (int step = 0; step < 2; ++step) {
        h->resume(true);
        h->run(1000);
    }
    EXPECT_EQ(memory.device_writes.size(), 1u);
    EXPECT_EQ(h->pc(), base);
    EXPECT_EQ(h->read_x(6), 0u);
    EXPECT_TRUE(h->halted());
}

TEST_F(RiscvTest, DeviceReadsOfARunTakeNoStack) {
    put(base, {lui(6, 0x10000), lw(7, 6, 0), jal(0, -4)});
    std::uintptr_t first = 0, last = 0;
    memory.on_device_access = [&] {
        const char here = 0;
        last = reinterpret_cast<std::uintptr_t>(&here);
        if (first == 0) first = last;
    };
    h->run(2001);
    EXPECT_LT(static_cast<std::ptrdiff_t>(first - last), 4096);
}

TEST_F(RiscvTest, InterruptRaisedByADeviceAccessIsTakenAtTheEndOfTheBlock) {
    put(base, {lui(6, 0x10000), sw(0, 6, 0), jal(0, 0)});
    h->write_csr(0x304, 1 << 11);
    h->write_csr(0x300, 8);
    memory.on_device_access = [&] { h->drive(interrupt::machine_external, true); };
    h->run(1000);
    EXPECT_EQ(csr("mcause"), u64{1} << 63 | 11);
    EXPECT_EQ(csr("mepc"), base + 8);
}

TEST_F(RiscvTest, WfiWaitsUntilAnEnabledLineRises) {
    put(base, {wfi, addi(5, 0, 1), jal(0, 0)});
    h->write_csr(0x304, 1 << 7);
    EXPECT_EQ(h->run(100), 1u);
    EXPECT_TRUE(h->waiting());
    h->drive(interrupt::machine_external, true);  // not enabled: keeps waiting
    EXPECT_EQ(h->run(100), 0u);
    h->drive(interrupt::machine_timer, true);
    h->run(1);
    EXPECT_FALSE(h->waiting());
    EXPECT_EQ(h->read_x(5), 1u);
}

TEST_F(RiscvTest, RunAfterAnInterruptedWfiHasNoBudgetOfTheEarlierRun) {
    put(base, {wfi, addi(5, 5, 1), jal(0, -4)});
    put(base + 0x100, {addi(5, 5, 1), jal(0, -4)});
    h->write_csr(0x305, base + 0x100);
    h->write_csr(0x304, 1 << 7);
    h->write_csr(0x300, 8);
    EXPECT_EQ(h->run(100), 1u);
    h->drive(interrupt::machine_timer, true);
    EXPECT_LE(h->run(10), 12u);
}

TEST_F(RiscvTest, RewrittenCodeRunsAfterFenceI) {
    put(base, {addi(5, 0, 1), sw(7, 6, 0), fence_i, jal(0, -12)});
    h->write_x(6, base);
    h->write_x(7, addi(5, 0, 2));
    step(4);
    EXPECT_EQ(h->read_x(5), 1u);
    h->run(4);
    EXPECT_EQ(h->read_x(5), 2u);
}

TEST_F(RiscvTest, HartsWithTheSameImageShareItsDecodedCode) {
    put(base, {addi(5, 5, 1), jal(0, -4)});
    auto other = make();
    h->run(10);
    other->run(10);
    EXPECT_EQ(code->pages(), 1u);
    EXPECT_EQ(other->read_x(5), 5u);
}

TEST_F(RiscvTest, InstructionAcrossTwoPagesExecutes) {
    put(base, {jal(0, 0xffe)});
    poke<u32>(base + 0xffe, addi(5, 0, 77));
    poke<u32>(base + 0x1002, jal(0, 0));
    h->run(5);
    EXPECT_EQ(h->read_x(5), 77u);
}

TEST_F(RiscvTest, StoreConditionalFailsWhenTheWordChanged) {
    const u32 lr = 0x1000302f | 6 << 15 | 5 << 7, sc = 0x1800302f | 6 << 15 | 7 << 20 | 8 << 7;
    put(base, {lr, sc, lr, sc});
    h->write_x(6, base + 0x2000);
    h->write_x(7, 99);
    step(2);
    EXPECT_EQ(h->read_x(8), 0u);
    EXPECT_EQ(peek(base + 0x2000), 99u);
    step(1);
    poke<u64>(base + 0x2000, 5);
    step(1);
    EXPECT_EQ(h->read_x(8), 1u);
    EXPECT_EQ(peek(base + 0x2000), 5u);
}

TEST_F(RiscvTest, RunOfSeveralQuantaEndsWithTheOneThatAccessesADevice) {
    constexpr u32 loop = 150;  // instructions before the access
    put(base, {addi(10, 10, -1), bne(10, 0, -4), sw(5, 8, 0), addi(5, 5, 1), jal(0, -4)});
    h->write_x(8, flat_bus::device_base);
    h->write_x(10, loop / 2);
    const u64 start = h->ticks();
    const u64 done = h->run(800, 100);
    EXPECT_EQ(h->run_end(), start + 200);
    EXPECT_GE(done, 200u);
    EXPECT_LE(done, 202u);
    // Without an access all are executed.
    EXPECT_GE(h->run(start + 800 - h->ticks(), 100) + done, 800u);
    EXPECT_EQ(memory.device_writes.size(), 1u);
}

}  // namespace trn::riscv::test
