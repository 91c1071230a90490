// SPDX-License-Identifier: Apache-2.0
// One directed test per trap cause (Priv. table 3.6); interrupt order, delegation.
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;

namespace {

constexpr u32 lr_w = 0x1000202f | 6 << 15 | 5 << 7;
constexpr u32 amoadd_w = 0x0000202f | 6 << 15 | 5 << 7;

}  // namespace

class RiscvTrap : public RiscvTest {
protected:
    static constexpr u64 page_table = base + 0x10000, mapped = 0x4000'0000;

    void expect_trap(u64 cause, u64 pc, u64 value) {
        EXPECT_EQ(csr("mcause"), cause);
        EXPECT_EQ(csr("mepc"), pc);
        EXPECT_EQ(csr("mtval"), value);
        EXPECT_EQ(h->pc(), handler);
        EXPECT_EQ(h->mode(), privilege::machine);
    }
    void open_pmp() {
        h->write_csr(0x3b0, ~u64{0});
        h->write_csr(0x3a0, 0x1f);
    }
    /// Maps RAM's first 2 MiB at `mapped` by Sv39, as one superpage with these flags.
    void translate(u64 flags, privilege mode = privilege::supervisor) {
        poke<u64>(page_table + 8, (page_table + 0x1000) >> 2 | V);
        poke<u64>(page_table + 0x1000, base >> 2 | flags);
        open_pmp();
        h->write_csr(0x180, u64{8} << 60 | page_table >> 12);
        h->set_mode(mode);
        h->set_pc(mapped);
    }
};

TEST_F(RiscvTrap, FetchMisalignedIsRaisedByTheJumpWithoutC) {
    h = make(isa::parse("rv64ima"));
    put(base, {jal(1, 6)});
    step(1);
    expect_trap(0, base, base + 6);
    EXPECT_EQ(h->read_x(1), 0u) << "the jump had no effect";
    h = make(isa::parse("rv64ima"));
    put(base, {nop, bne(1, 0, 6)});
    h->write_x(1, 1);
    h->run(2);
    expect_trap(0, base + 4, base + 10);
}

TEST_F(RiscvTrap, FetchMisalignedIsRaisedByTheRegisterJumpWithoutC) {
    h = make(isa::parse("rv64ima"));
    for (int round = 0; round < 40; ++round) {  // until it would be translated
        put(base, {nop, jalr(1, 6, 1)});
        h->write_x(6, base + 5);
        h->write_x(1, 7);
        h->set_pc(base);
        h->run(2);
        expect_trap(0, base + 4, base + 6);
        EXPECT_EQ(h->read_x(1), 7u) << "the jump had no effect";
    }
    h->write_x(6, base + 0x100);
    put(base + 0x100, {jal(0, 0)});
    h->set_pc(base);
    h->run(2);
    EXPECT_EQ(h->read_x(1), base + 8);
    EXPECT_EQ(h->pc(), base + 0x100);
}

TEST_F(RiscvTrap, FetchAccess) {
    put(base, {jalr(1, 6, 0)});
    h->write_x(6, 0x2000'0000);
    step(2);
    expect_trap(1, 0x2000'0000, 0x2000'0000);
    EXPECT_EQ(h->read_x(1), base + 4);
}

TEST_F(RiscvTrap, BreakpointHasItsAddressInMtval) {
    put(base, {nop, ebreak});
    step(2);
    expect_trap(3, base + 4, base + 4);
}

TEST_F(RiscvTrap, AtomicsMustBeAligned) {
    h->write_x(6, base + 0x2002);
    put(base, {lr_w});
    step(1);
    expect_trap(4, base, base + 0x2002);
    put(base, {amoadd_w});
    h->set_pc(base);
    step(1);
    expect_trap(6, base, base + 0x2002);
}

TEST_F(RiscvTrap, StoreAccess) {
    put(base, {sd(5, 6, 8)});
    h->write_x(6, 0x2000'0000);
    step(1);
    expect_trap(7, base, 0x2000'0008);
}

TEST_F(RiscvTrap, EnvironmentCallCauseNamesItsPrivilege) {
    for (const auto mode : {privilege::user, privilege::supervisor, privilege::machine}) {
        h = make();
        open_pmp();
        put(base, {ecall});
        h->set_mode(mode);
        step(1);
        expect_trap(8 + static_cast<u64>(mode), base, 0);
        EXPECT_EQ(csr("mstatus") >> 11 & 3, static_cast<u64>(mode));
    }
}

TEST_F(RiscvTrap, PageFaultsOfFetchLoadAndStore) {
    put(base, {lw(5, 6, 0), sw(5, 6, 0)});
    h->write_x(6, mapped + 0x2000);
    translate(V | R | W | A | D);  // not executable
    step(1);
    expect_trap(12, mapped, mapped);
    translate(V | X | A | D);  // not readable
    step(1);
    expect_trap(13, mapped, mapped + 0x2000);
    translate(V | R | X | A | D);  // not writable
    step(2);
    expect_trap(15, mapped + 4, mapped + 0x2000);
}

TEST_F(RiscvTrap, ClearAccessedOrDirtyBitIsAPageFault) {
    put(base, {lw(5, 6, 0), sw(5, 6, 0)});
    h->write_x(6, mapped + 0x2000);
    translate(V | R | W | X | D);
    step(1);
    expect_trap(12, mapped, mapped);
    translate(V | R | W | X | A);
    step(2);
    expect_trap(15, mapped + 4, mapped + 0x2000);
}

TEST_F(RiscvTrap, SupervisorNeedsSumForUserPages) {
    put(base, {lw(5, 6, 0)});
    translate(V | R | W | X | A | D | U, privilege::supervisor);
    step(1);
    expect_trap(12, mapped, mapped);
    translate(V | R | W | X | A | D | U, privilege::user);
    h->write_x(6, mapped);
    step(1);
    EXPECT_EQ(h->pc(), mapped + 4);
}

TEST_F(RiscvTrap, NonCanonicalAddressIsAPageFault) {
    put(base, {lw(5, 6, 0)});
    h->write_x(6, u64{1} << 39);
    translate(V | R | W | X | A | D);
    step(1);
    expect_trap(13, mapped, u64{1} << 39);
}

TEST_F(RiscvTrap, DelegatedTrapsGoToTheSupervisor) {
    put(base, {ecall});
    open_pmp();
    h->write_csr(0x302, 1 << 8);
    h->write_csr(0x105, base + 0x400);
    h->set_mode(privilege::user);
    step(1);
    EXPECT_EQ(csr("scause"), 8u);
    EXPECT_EQ(csr("sepc"), base);
    EXPECT_EQ(h->mode(), privilege::supervisor);
    EXPECT_EQ(h->pc(), base + 0x400);
}

TEST_F(RiscvTrap, InterruptsAreTakenInPriorityOrder) {
    open_pmp();
    h->write_csr(0x304, 0xaaa);
    h->write_csr(0x344, 0x222);
    for (const auto line :
         {interrupt::machine_software, interrupt::machine_timer, interrupt::machine_external})
        h->drive(line, true);
    u64 enabled = 0xaaa;
    for (const u64 line : {11, 3, 7, 9, 1, 5}) {
        h->write_csr(0x304, enabled);
        h->write_csr(0x300, 8);
        h->run(1);
        EXPECT_EQ(csr("mcause"), u64{1} << 63 | line);
        enabled &= ~(u64{1} << line);
    }
}

TEST_F(RiscvTrap, VectoredInterruptsEnterAtFourTimesTheCause) {
    put(handler + 28, {jal(0, 0)});
    h->write_csr(0x305, handler | 1);
    h->write_csr(0x304, 1 << 7);
    h->write_csr(0x300, 8);
    h->drive(interrupt::machine_timer, true);
    h->run(1);
    EXPECT_EQ(csr("mcause"), u64{1} << 63 | 7);
    EXPECT_EQ(h->pc(), handler + 28);
}

TEST_F(RiscvTrap, MretReturnsAndDropsMprv) {
    put(base, {mret});
    put(base + 0x40, {jal(0, 0)});
    open_pmp();
    h->write_csr(0x341, base + 0x40);
    h->write_csr(0x300, u64{1} << 17 | u64{1} << 7);  // MPRV, MPIE, MPP = U
    step(1);
    EXPECT_EQ(h->pc(), base + 0x40);
    EXPECT_EQ(h->mode(), privilege::user);
    EXPECT_EQ(csr("mstatus") & 0x20088, 0x88u) << "MIE = MPIE, MPIE = 1, MPRV = 0";
}

TEST_F(RiscvTrap, MstatusTrapsSupervisorInstructionsOnRequest) {
    constexpr u64 tvm = 1 << 20, tw = 1 << 21, tsr = 1 << 22;
    for (const auto& [instruction, bit] :
         {std::pair{sfence_vma, tvm}, {csrrs(5, 0x180, 0), tvm}, {wfi, tw}, {sret, tsr}}) {
        h = make();
        open_pmp();
        put(base, {instruction});
        h->write_csr(0x300, bit);
        h->set_mode(privilege::supervisor);
        step(1);
        EXPECT_EQ(csr("mcause"), 2u);
        EXPECT_EQ(csr("mtval"), instruction);
    }
}

}  // namespace trn::riscv::test
