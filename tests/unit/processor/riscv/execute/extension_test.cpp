// SPDX-License-Identifier: Apache-2.0
// Extensions that a hart implements only if its `isa` names them.
#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;

namespace {

constexpr unsigned satp = 0x180, mcause = 0x342, mtval = 0x343, menvcfg = 0x30a, senvcfg = 0x10a,
                   stimecmp = 0x14d, mie = 0x304, mip = 0x344, mideleg = 0x303, mcounteren = 0x306;
constexpr u64 stip = 1 << 5, stce = u64{1} << 63, adue = u64{1} << 61, cbze = 1 << 7,
              cbcfe = 1 << 6;
constexpr u32 fadd_d = 0x02000053 | 7 << 12, c_fld_f8_0_x8 = 0x2000;
constexpr u32 cbo_clean = 0x0010200f | 6 << 15, cbo_zero = 0x0040200f | 6 << 15;

}  // namespace

class RiscvExtension : public RiscvTest {
protected:
    static constexpr u64 page_table = base + 0x10000, mapped = 0x4000'0000;
    static constexpr u64 entry = page_table + 0x1000;
    static constexpr u64 fs_initial = 1 << 13;

    void SetUp() override {
        h = make(isa::full());
        h->write_csr(0x3b0, ~u64{0});
        h->write_csr(0x3a0, 0x1f);
    }
    bool executes(u32 word, privilege mode = privilege::machine) {
        put(base, {word});
        h->invalidate_code();
        h->set_mode(mode);
        h->set_pc(base);
        step(1);
        return h->pc() == base + 4;
    }
    /// Maps RAM's first 2 MiB at `mapped` by Sv39, as one superpage with these flags.
    void translate(u64 flags) {
        poke<u64>(page_table + 8, entry >> 2 | V);
        poke<u64>(entry, base >> 2 | flags);
        h->write_csr(0x180, u64{8} << 60 | page_table >> 12);
        h->set_mode(privilege::supervisor);
        h->set_pc(mapped);
    }
};

TEST_F(RiscvExtension, IsaStringNamesEveryExtension) {
    EXPECT_EQ(isa::full().name(),
              "rv64imafdc_zicbom_zicboz_zicond_zicsr_zifencei_zba_zbb_zbs_smaia_ssaia_sstc_sv48_"
              "svadu_svnapot_svpbmt");
    EXPECT_EQ(isa::parse(isa::full().name()), isa::full());
    EXPECT_EQ(isa::parse("rv64gc"), isa::parse("rv64imafdc_zicsr_zifencei"));
    EXPECT_TRUE(isa::parse("rv64id").has(extension::f)) << "D needs F";
    EXPECT_EQ(isa::full().misa() & 0x28, 0x28u);
    EXPECT_EQ(isa::usual().misa() & 0x28, 0u);
    try {
        isa::parse("rv64imac_zfh");
        ADD_FAILURE();
    } catch (const std::invalid_argument& why) {
        EXPECT_THAT(why.what(), testing::HasSubstr("unknown extension 'zfh' (known: rv64imafdc_"));
    }
}

TEST_F(RiscvExtension, HartWithoutAnExtensionRefusesItsInstructionsAndCsrs) {
    h = make();
    for (const u32 word : {fadd_d, 0x00002007u /* flw */, 0x0e005033u /* czero.eqz */, cbo_clean,
                           cbo_zero, csrrs(5, 3, 0), csrrs(5, stimecmp, 0), c_fld_f8_0_x8}) {
        EXPECT_FALSE(executes(word)) << std::hex << word;
        EXPECT_EQ(h->read_csr(mcause), 2u);
    }
    EXPECT_FALSE(h->read_csr(3));
    h = make(isa::parse("rv64imafc"));
    h->write_csr(0x300, fs_initial);
    EXPECT_TRUE(executes(0x00000053 | 7 << 12)) << "fadd.s";
    EXPECT_FALSE(executes(fadd_d));
    EXPECT_FALSE(executes(c_fld_f8_0_x8)) << "is an instruction of D";
}

TEST_F(RiscvExtension, FloatingPointThatIsOffIsIllegalAndDirtyWhenUsed) {
    EXPECT_FALSE(executes(fadd_d));
    EXPECT_FALSE(executes(csrrs(5, 3, 0)));
    h->write_csr(0x300, fs_initial);
    EXPECT_TRUE(executes(csrrs(5, 3, 0)));
    EXPECT_EQ(csr("mstatus") >> 13 & 3, 1u) << "a read changes nothing";
    EXPECT_TRUE(executes(fadd_d));
    EXPECT_EQ(csr("mstatus") >> 13 & 3, 3u);
    EXPECT_EQ(csr("mstatus") >> 63, 1u) << "SD";
}

TEST_F(RiscvExtension, ReservedRoundingModesAreIllegal) {
    h->write_csr(0x300, fs_initial);
    EXPECT_FALSE(executes((fadd_d & ~0x7000u) | 5 << 12));
    EXPECT_FALSE(executes((fadd_d & ~0x7000u) | 6 << 12));
    h->write_csr(2, 4);
    EXPECT_TRUE(executes(fadd_d));
    h->write_csr(2, 5);
    EXPECT_FALSE(executes(fadd_d)) << "frm holds a reserved mode";
    EXPECT_EQ(csr("fcsr"), 5u << 5);
}

TEST_F(RiscvExtension, ConditionalZeroDependsOnTheSecondSource) {
    put(base, {0x0e005033 | 5 << 7 | 6 << 15 | 7 << 20, 0x0e007033 | 8 << 7 | 6 << 15 | 7 << 20});
    for (const u64 condition : {u64{0}, u64{1} << 63}) {
        h->write_x(6, 77);
        h->write_x(7, condition);
        h->set_pc(base);
        step(2);
        EXPECT_EQ(h->read_x(5), condition == 0 ? 0u : 77u);
        EXPECT_EQ(h->read_x(8), condition == 0 ? 77u : 0u);
    }
}

TEST_F(RiscvExtension, CacheBlockZeroClearsTheBlockThatHoldsTheAddress) {
    for (u64 at = 0x2000; at < 0x2100; at += 8) poke<u64>(base + at, ~u64{0});
    h->write_x(6, base + 0x2050);
    EXPECT_TRUE(executes(cbo_zero));
    for (u64 at = 0x2000; at < 0x2100; at += 8)
        EXPECT_EQ(peek(base + at), at >= 0x2040 && at < 0x2080 ? 0 : ~u64{0}) << std::hex << at;
}

TEST_F(RiscvExtension, CacheBlockOperationsNeedTheirEnableBits) {
    h->write_x(6, base + 0x2000);
    EXPECT_FALSE(executes(cbo_zero, privilege::supervisor));
    EXPECT_FALSE(executes(cbo_clean, privilege::supervisor));
    h->write_csr(menvcfg, cbze | cbcfe);
    EXPECT_TRUE(executes(cbo_zero, privilege::supervisor));
    EXPECT_TRUE(executes(cbo_clean, privilege::supervisor));
    EXPECT_FALSE(executes(cbo_zero, privilege::user));
    h->write_csr(senvcfg, cbze);
    EXPECT_TRUE(executes(cbo_zero, privilege::user));
    EXPECT_FALSE(executes(cbo_clean, privilege::user));
}

TEST_F(RiscvExtension, CacheBlockFaultsAreThoseOfStoresAtTheOperand) {
    h->write_csr(menvcfg, cbze | cbcfe);
    put(base, {cbo_clean, cbo_zero});
    translate(V | R | X | A | D);
    h->write_x(6, mapped + 0x2013);
    step(2);
    EXPECT_EQ(h->read_csr(mcause), 15u) << "cbo.clean may read, cbo.zero may not write";
    EXPECT_EQ(csr("mepc"), mapped + 4);
    EXPECT_EQ(h->read_csr(mtval), mapped + 0x2013);
}

TEST_F(RiscvExtension, TimerOfSupervisorModeInterruptsWhenTimeReachesStimecmp) {
    h->write_csr(menvcfg, stce);
    h->write_csr(stimecmp, 100);
    h->write_csr(mideleg, stip);
    h->write_csr(mie, stip);
    h->write_csr(0x100, 2);             // SIE
    h->write_csr(0x105, base + 0x400);  // stvec
    put(base, {jal(0, 0)});
    put(base + 0x400, {jal(0, 0)});
    h->set_mode(privilege::supervisor);
    memory.now = 99;
    h->time_changed();
    h->run(100);
    EXPECT_EQ(h->pc(), base);
    EXPECT_EQ(memory.wanted, 100u);
    memory.now = 100;
    h->time_changed();
    h->run(100);
    EXPECT_EQ(h->pc(), base + 0x400);
    EXPECT_EQ(csr("scause"), u64{1} << 63 | 5);
    h->write_csr(mip, 0);
    EXPECT_EQ(csr("mip") & stip, stip) << "read-only while STCE is set";
    h->write_csr(stimecmp, 101);
    EXPECT_EQ(csr("mip") & stip, 0u);
}

TEST_F(RiscvExtension, StimecmpNeedsStceAndTmBelowMachineMode) {
    EXPECT_TRUE(executes(csrrs(5, stimecmp, 0)));
    EXPECT_FALSE(executes(csrrs(5, stimecmp, 0), privilege::supervisor));
    h->write_csr(menvcfg, stce);
    EXPECT_FALSE(executes(csrrs(5, stimecmp, 0), privilege::supervisor));
    h->write_csr(mcounteren, 2);
    EXPECT_TRUE(executes(csrrs(5, stimecmp, 0), privilege::supervisor));
    EXPECT_FALSE(executes(csrrs(5, stimecmp, 0), privilege::user));
}

TEST_F(RiscvExtension, AccessedAndDirtyBitsAreSetWhileAdueIs) {
    put(base, {ld(5, 6, 0), sd(5, 6, 8)});
    h->write_x(6, mapped + 0x2000);
    translate(V | R | W | X);
    step(1);
    EXPECT_EQ(h->read_csr(mcause), 12u) << "Svade: a page fault";
    EXPECT_EQ(peek(entry) & (A | D), 0u);

    h->write_csr(menvcfg, adue);
    translate(V | R | W | X);
    u64 word = 0;
    h->debug_read(mapped, {reinterpret_cast<u8*>(&word), 8});
    EXPECT_EQ(peek(entry) & (A | D), 0u) << "a debugger leaves no trace";
    step(1);
    EXPECT_EQ(peek(entry) & (A | D), u64{A});
    step(1);
    EXPECT_EQ(peek(entry) & (A | D), u64{A | D});
    EXPECT_EQ(h->pc(), mapped + 8);
}

// --- Sv48, Svnapot, Svpbmt

TEST_F(RiscvExtension, Sv48TranslatesFourLevels) {
    constexpr u64 far = 0x7f80'4020'3000;  // entries 255, 1, 1, 3
    const u64 tables[] = {page_table, page_table + 0x1000, page_table + 0x2000,
                          page_table + 0x3000};
    poke<u64>(tables[0] + 255 * 8, tables[1] >> 2 | V);
    poke<u64>(tables[1] + 1 * 8, tables[2] >> 2 | V);
    poke<u64>(tables[2] + 1 * 8, tables[3] >> 2 | V);
    poke<u64>(tables[3] + 3 * 8, base >> 2 | V | R | W | X | A | D);
    poke<u64>(base + 0x100, 77);
    put(base, {ld(5, 6, 0x100)});
    h->write_csr(satp, u64{9} << 60 | page_table >> 12);
    EXPECT_EQ(csr("satp") >> 60, 9u);
    const auto load = [&](u64 va) {
        h->write_x(5, 0);
        h->write_x(6, va);
        h->set_mode(privilege::supervisor);
        h->set_pc(far);
        step(1);
        return h->read_x(5);
    };
    EXPECT_EQ(load(far), 77u);
    EXPECT_EQ(load(far | u64{0xffff} << 48), 0u) << "bit 47 is not extended";
    EXPECT_EQ(h->read_csr(mcause), 13u);
    // A superpage of 512 GiB.
    poke<u64>(tables[0], V | R | W | X | A | D);
    EXPECT_EQ(load(base), 77u);
    poke<u64>(tables[0], u64{1} << 10 | V | R | W | X | A | D);
    h->write_csr(satp, u64{9} << 60 | page_table >> 12);
    EXPECT_EQ(load(base), 0u) << "misaligned";
}

TEST_F(RiscvExtension, HartWithoutSv48KeepsSatp) {
    h = make();
    h->write_csr(satp, u64{8} << 60 | 5);
    h->write_csr(satp, u64{9} << 60 | 6);
    EXPECT_EQ(csr("satp"), u64{8} << 60 | 5);
}

/// Loads through an entry of the last level for the page at `mapped` + 64 KiB + 0x3000, which other
/// entries map to 0x5000 of RAM.
class RiscvPageBits : public RiscvExtension {
protected:
    static constexpr u64 n = u64{1} << 63, frame = base + 0x20000, data = mapped + 0x13000;
    static constexpr u64 ordinary = V | R | W | X | A | D;

    void reload(const char* isa_text) {
        h = make(isa::parse(isa_text));
        h->write_csr(0x3b0, ~u64{0});
        h->write_csr(0x3a0, 0x1f);
    }
    /// Whether the load succeeds.
    bool loads(u64 leaf, u64 middle = V) {
        poke<u64>(page_table + 8, entry >> 2 | V);
        poke<u64>(entry, (entry + 0x1000) >> 2 | middle);
        poke<u64>(entry + 0x1000, base >> 2 | ordinary);
        poke<u64>(entry + 0x1000 + 0x13 * 8, leaf);
        put(base, {ld(5, 6, 0x100)});
        h->write_csr(satp, u64{8} << 60 | page_table >> 12);
        h->write_x(5, 0);
        h->write_x(6, data);
        h->set_mode(privilege::supervisor);
        h->set_pc(mapped);
        step(1);
        return h->pc() == mapped + 4;
    }
};

TEST_F(RiscvPageBits, NapotEntriesMap64KiB) {
    poke<u64>(frame + 0x3100, 99);
    EXPECT_TRUE(loads(n | (frame | 8 << 12) >> 2 | ordinary));
    EXPECT_EQ(h->read_x(5), 99u) << "the page keeps its place in the 64 KiB";
    EXPECT_FALSE(loads(n | (frame | 4 << 12) >> 2 | ordinary)) << "32 KiB are reserved";
    EXPECT_EQ(h->read_csr(mcause), 13u);
    EXPECT_FALSE(loads(n | frame >> 2 | ordinary));
    EXPECT_FALSE(loads(frame >> 2 | ordinary, n | V)) << "a pointer";
    EXPECT_EQ(h->read_csr(mcause), 12u);
    EXPECT_FALSE(loads(0, n | ordinary | (8 << 10))) << "a superpage";
    reload("rv64imac");
    EXPECT_FALSE(loads(n | (frame | 8 << 12) >> 2 | ordinary)) << "without Svnapot";
}

TEST_F(RiscvPageBits, MemoryTypesNeedPbmteAndAreNotReserved) {
    const auto type = [](u64 number) { return number << 61 | frame >> 2 | ordinary; };
    EXPECT_FALSE(loads(type(1))) << "PBMTE is clear";
    EXPECT_EQ(h->read_csr(mcause), 13u);
    EXPECT_TRUE(loads(type(0)));
    h->write_csr(menvcfg, u64{1} << 62);
    EXPECT_TRUE(loads(type(1))) << "NC";
    EXPECT_TRUE(loads(type(2))) << "IO";
    EXPECT_FALSE(loads(type(3)));
    EXPECT_FALSE(loads(frame >> 2 | ordinary, u64{1} << 61 | V)) << "a pointer";
    h->write_csr(senvcfg, ~u64{0});
    EXPECT_EQ(csr("senvcfg") >> 8, 0u) << "PBMTE is menvcfg's";
    reload("rv64imac");
    h->write_csr(menvcfg, u64{1} << 62);
    EXPECT_EQ(csr("menvcfg"), 0u);
    EXPECT_FALSE(loads(type(1))) << "without Svpbmt";
}

}  // namespace trn::riscv::test
