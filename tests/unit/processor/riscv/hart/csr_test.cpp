// SPDX-License-Identifier: Apache-2.0
// Directed tests per CSR: writable bits, required privilege, existence.
#include <set>

#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;

namespace {

struct kept_bits {
    const char* name;
    u64 written, kept;
};

constexpr u64 all = ~u64{0};

/// Value after writing `written` to a CSR in its reset state (WARL and WPRI fields, Priv. chapters
/// 3, 4).
constexpr kept_bits table[] = {
    {"mstatus", all, 0x8000000a007e79aa},
    {"mstatus", u64{2} << 11, 0xa00000000},  // MPP = 2 is reserved
    {"sstatus", all, 0x80000002000c6122},
    {"misa", 0, 0x8000000000141107},
    {"medeleg", all, 0xb3fe},
    {"mideleg", all, 0x222},
    {"mie", all, 0xaaa},
    {"mip", all, 0x222},
    {"mtvec", all, all & ~u64{2}},
    {"stvec", all, all & ~u64{2}},
    {"mepc", all, all & ~u64{1}},
    {"sepc", all, all & ~u64{1}},
    {"mcause", all, all},
    {"scause", all, all},
    {"mtval", all, all},
    {"stval", all, all},
    {"mscratch", all, all},
    {"sscratch", all, all},
    {"mcounteren", all, 0xffffffff},
    {"scounteren", all, 0xffffffff},
    {"mcountinhibit", all, 5},
    {"menvcfg", all, 1},
    {"senvcfg", all, 1},
    {"satp", u64{8} << 60 | 0xffffffffffff, u64{8} << 60 | 0xffffffffffff},
    {"satp", u64{9} << 60 | 5, 0},  // Sv48: the write has no effect
    {"pmpaddr0", all, all >> 10},
    {"pmpcfg0", 0x1f, 0x1f},
    {"pmpcfg0", 0x62, 0},  // W without R, and reserved bits
    {"tselect", 3, 3},
    {"tselect", 4, 0},
    {"tdata1", all, u64{15} << 60},
    {"tdata2", all, all},
    {"mhpmcounter3", all, 0},
    {"mhpmevent31", all, 0},
};

struct numbered {
    unsigned number;
    const char* name;  // `#`: counts from `from` in steps of `stride`
    u64 reset = 0;
    unsigned count = 1, from = 0, stride = 1;
};

/// Numbers and reset values from the privileged specification (table of CSRs), the debug
/// specification (triggers) and, for `misa`, the letters of the extensions.
constexpr u64 disabled_trigger = u64{15} << 60;
constexpr numbered numbers[] = {
    {0x001, "fflags"},
    {0x002, "frm"},
    {0x003, "fcsr"},
    {0x100, "sstatus", 0x200000000},
    {0x104, "sie"},
    {0x105, "stvec"},
    {0x106, "scounteren"},
    {0x10a, "senvcfg"},
    {0x140, "sscratch"},
    {0x141, "sepc"},
    {0x142, "scause"},
    {0x143, "stval"},
    {0x144, "sip"},
    {0x14d, "stimecmp"},
    {0x150, "siselect"},
    {0x151, "sireg"},
    {0x15c, "stopei"},
    {0x180, "satp"},
    {0x300, "mstatus", 0xa00000000},
    {0x301, "misa", 0x8000000000141107},
    {0x302, "medeleg"},
    {0x303, "mideleg"},
    {0x304, "mie"},
    {0x305, "mtvec", flat_bus::ram_base + 0x800},  // of the fixture
    {0x306, "mcounteren"},
    {0x308, "mvien"},
    {0x309, "mvip"},
    {0x30a, "menvcfg"},
    {0x320, "mcountinhibit"},
    {0x323, "mhpmevent#", 0, 29, 3},
    {0x340, "mscratch"},
    {0x341, "mepc"},
    {0x342, "mcause"},
    {0x343, "mtval"},
    {0x344, "mip"},
    {0x350, "miselect"},
    {0x351, "mireg"},
    {0x35c, "mtopei"},
    {0x3a0, "pmpcfg#", 0, 2, 0, 2},
    {0x3b0, "pmpaddr#", 0, 16},
    {0x7a0, "tselect"},
    {0x7a1, "tdata1", disabled_trigger},
    {0x7a2, "tdata2"},
    {0x7a3, "tdata3"},
    {0x7a4, "tinfo",
     1 << 24 | 1 << 2 | 1 << 6 | 1 << 15},  // version 1.0: mcontrol, mcontrol6, disabled
    {0xb00, "mcycle"},
    {0xb02, "minstret"},
    {0xb03, "mhpmcounter#", 0, 29, 3},
    {0xc00, "cycle"},
    {0xc01, "time"},
    {0xc02, "instret"},
    {0xc03, "hpmcounter#", 0, 29, 3},
    {0xdb0, "stopi"},
    {0xf11, "mvendorid"},
    {0xf12, "marchid"},
    {0xf13, "mimpid"},
    {0xf14, "mhartid"},
    {0xf15, "mconfigptr"},
    {0xfb0, "mtopi"},
};

}  // namespace

TEST_F(RiscvTest, EachCsrHasItsNumberAndItsValueAfterReset) {
    std::map<unsigned, std::string> expected, found;
    for (const auto& row : numbers)
        for (unsigned i = 0; i < row.count * row.stride; i += row.stride) {
            std::string name = row.name;
            if (name.back() == '#') name.replace(name.size() - 1, 1, std::to_string(row.from + i));
            expected[row.number + i] = name;
            const std::set<unsigned> others{0x14d, 0x150, 0x151, 0x15c, 0x308, 0x309,  // Sstc, AIA
                                            0x350, 0x351, 0x35c, 0xdb0, 0xfb0};
            const bool optional = row.number <= 0x003 || others.contains(row.number);  // F
            const auto value = h->read_csr(row.number + i);
            EXPECT_EQ(value, optional ? std::nullopt : std::optional<u64>(row.reset)) << name;
        }
    for (const auto& entry : csr_list()) found[entry.number] = entry.name;
    EXPECT_EQ(found, expected);
}

TEST_F(RiscvTest, EachCsrKeepsItsWritableBits) {
    for (const auto& row : table) {
        h = make();
        for (const auto& entry : csr_list())
            if (entry.name == row.name) h->write_csr(entry.number, row.written);
        EXPECT_EQ(csr(row.name), row.kept) << row.name << std::hex << " " << row.written;
    }
}

TEST_F(RiscvTest, EachCsrIsIllegalBelowItsPrivilege) {
    for (const auto& entry : csr_list()) {
        if (entry.name == "mtopei" || entry.name == "stopei") continue;  // need an IMSIC
        const unsigned needed = entry.number >> 8 & 3;
        for (const auto mode : {privilege::user, privilege::supervisor, privilege::machine}) {
            h = make(isa::full());
            h->write_csr(0x300, 1 << 13);       // FS
            h->write_csr(0x30a, u64{1} << 63);  // STCE
            h->write_csr(0x306, all);           // counters are another rule
            h->write_csr(0x106, all);
            h->write_csr(0x150, 0x30);  // siselect and miselect: a register that exists
            h->write_csr(0x350, 0x30);
            h->write_csr(0x3b0, all);
            h->write_csr(0x3a0, 0x1f);
            put(base, {csrrs(5, entry.number, 0)});
            h->set_mode(mode);
            step(1);
            const bool allowed = static_cast<unsigned>(mode) >= needed;
            EXPECT_EQ(h->pc() == base + 4, allowed) << entry.name;
            if (!allowed) {
                EXPECT_EQ(csr("mcause"), 2u);
            }
        }
    }
}

TEST_F(RiscvTest, EachReadOnlyCsrRefusesWrites) {
    for (const auto& entry : csr_list()) {
        if (entry.number >> 10 != 3) continue;
        h = make();
        put(base, {csrrw(0, entry.number, 5)});
        step(1);
        EXPECT_EQ(csr("mcause"), 2u) << entry.name;
    }
}

TEST_F(RiscvTest, UnimplementedCsrsAreIllegal) {
    std::array<bool, 4096> exists{};
    for (const auto& entry : csr_list()) exists[entry.number] = true;
    for (unsigned number = 0; number < 4096; number += 7) {
        if (exists[number]) continue;
        h = make();
        put(base, {csrrs(5, number, 0)});
        step(1);
        EXPECT_EQ(csr("mcause"), 2u) << std::hex << number;
    }
}

TEST_F(RiscvTest, CountersObeyTheEnableRegisters) {
    put(base, {csrrs(5, 0xc02, 0)});
    const auto readable = [&](privilege mode, u64 mcounteren, u64 scounteren) {
        h = make();
        h->write_csr(0x3b0, all);
        h->write_csr(0x3a0, 0x1f);
        h->write_csr(0x306, mcounteren);
        h->write_csr(0x106, scounteren);
        h->set_mode(mode);
        step(1);
        return h->pc() == base + 4;
    };
    EXPECT_TRUE(readable(privilege::machine, 0, 0));
    EXPECT_FALSE(readable(privilege::supervisor, 0, 4));
    EXPECT_TRUE(readable(privilege::supervisor, 4, 0));
    EXPECT_FALSE(readable(privilege::user, 4, 0));
    EXPECT_TRUE(readable(privilege::user, 4, 4));
}

TEST_F(RiscvTest, WrittenCounterIsReadBackByTheNextInstruction) {
    put(base, {csrrw(0, 0xb02, 5), csrrs(6, 0xb02, 0), csrrs(7, 0xb02, 0)});
    h->write_x(5, 1000);
    step(3);
    EXPECT_EQ(h->read_x(6), 1000u);
    EXPECT_EQ(h->read_x(7), 1001u);
}

TEST_F(RiscvTest, InhibitedCounterDoesNotCount) {
    h->write_csr(0x320, 4);
    const u64 before = csr("minstret");
    put(base, {nop, nop, nop});
    step(3);
    EXPECT_EQ(csr("minstret"), before);
    EXPECT_EQ(csr("mcycle"), 3u);
}

/// csrr x6, before; the write of mcountinhibit; csrr x7, after; each for a counter.
TEST_F(RiscvTest, WriteOfMcountinhibitTakesEffectAfterItsInstruction) {
    constexpr u32 mcountinhibit = 0x320, mcycle = 0xb00, minstret = 0xb02;
    struct {
        u64 before, after, counted;
    } const rows[] = {{7, 0, 0}, {7, 7, 0}, {0, 7, 2}, {0, 0, 2}};
    for (const u32 counter : {mcycle, minstret})
        for (const auto& row : rows)
            for (const bool stepped : {false, true}) {
                h = make();
                put(base, {csrrw(0, mcountinhibit, 5), csrrs(6, counter, 0),
                           csrrw(0, mcountinhibit, 8), csrrs(7, counter, 0), jal(0, 0)});
                h->write_x(5, row.before);
                h->write_x(8, row.after);
                if (stepped)
                    step(4);
                else
                    h->run(10);
                EXPECT_EQ(h->read_x(7) - h->read_x(6), row.counted)
                    << std::hex << counter << ": " << row.before << " to " << row.after;
            }
}

TEST_F(RiscvTest, DebuggersWriteOfACounterIsReadBack) {
    h->write_csr(0xb02, 1000);
    EXPECT_EQ(csr("minstret"), 1000u);
    put(base, {nop, csrrs(6, 0xb02, 0)});
    step(2);
    EXPECT_EQ(h->read_x(6), 1001u);
}

TEST_F(RiscvTest, InhibitedCycleCounterDoesNotCountAWait) {
    h->write_csr(0x320, 1);
    const u64 before = csr("mcycle");
    h->pass_cycles(1000);
    EXPECT_EQ(csr("mcycle"), before);
    h->write_csr(0x320, 0);
    h->pass_cycles(1000);
    EXPECT_EQ(csr("mcycle"), before + 1000);
}

TEST_F(RiscvTest, BitsOfMipAreModifiedWithoutTheLevelsOfLines) {
    constexpr u64 seip = 1 << 9, ssip = 1 << 1, stip = 1 << 5;
    put(base, {csrrs(5, 0x344, 6), csrrc(7, 0x344, 6), csrrs(8, 0x144, 6)});
    h->write_x(6, ssip);
    h->write_csr(0x303, ssip | seip);
    h->drive(interrupt::supervisor_external, true);
    h->drive(interrupt::supervisor_timer, true);
    step(3);
    EXPECT_EQ(h->read_x(5), seip | stip) << "reads see the lines";
    EXPECT_EQ(h->read_x(7), seip | stip | ssip);
    h->drive(interrupt::supervisor_external, false);
    h->drive(interrupt::supervisor_timer, false);
    EXPECT_EQ(csr("mip"), ssip) << "nothing of the lines is left";
}

TEST_F(RiscvTest, StipIsReadOnlyWhileStimecmpDrivesIt) {
    constexpr u64 stip = 1 << 5, stce = u64{1} << 63;
    h = make(isa::full());
    h->write_csr(0x30a, stce);
    h->write_csr(0x14d, 0);
    put(base, {csrrs(5, 0x344, 6), csrrw(0, 0x344, 7)});
    h->write_x(6, 2);
    h->write_x(7, stip);
    step(2);
    EXPECT_NE(csr("mip") & stip, 0u);
    h->write_csr(0x30a, 0);
    EXPECT_EQ(csr("mip") & stip, 0u);
}

TEST_F(RiscvTest, EmptyPmpEntriesMatchNoAddress) {
    h->write_csr(0x3b1, 0);  // TOR from 0 to 0
    h->write_csr(0x3b2, 0x3fff'ffff'ffff'ffff);
    h->write_csr(0x3a0, 0x1f'88'08);  // empty TOR, empty locked TOR, NAPOT of all
    for (const auto mode : {privilege::machine, privilege::user})
        for (const u64 pa : {u64{0}, u64{4}, base, ~u64{0} >> 8 & ~u64{7}}) {
            EXPECT_TRUE(h->protection.allows(pa, 8, access::load, mode)) << std::hex << pa;
            EXPECT_TRUE(h->protection.uniform(pa, 8));
        }
}

TEST_F(RiscvTest, LockedPmpEntriesArePermanentAndApplyToMachineMode) {
    h->write_csr(0x3b0, (base + 0x4000) >> 2 | 0x1ff);  // NAPOT, 4 KiB
    h->write_csr(0x3a0, 0x98);                          // locked, no permission
    h->write_csr(0x3b0, 0);
    h->write_csr(0x3a0, 0);
    EXPECT_EQ(csr("pmpaddr0"), (base + 0x4000) >> 2 | 0x1ff);
    EXPECT_EQ(csr("pmpcfg0"), 0x98u);
    put(base, {lw(5, 6, 0), lw(5, 7, 0)});
    h->write_x(6, base + 0x3ffc);
    h->write_x(7, base + 0x4000);
    step(2);
    EXPECT_EQ(csr("mcause"), 5u);
    EXPECT_EQ(csr("mtval"), base + 0x4000);
}

}  // namespace trn::riscv::test
