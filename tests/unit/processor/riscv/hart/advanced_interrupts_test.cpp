// SPDX-License-Identifier: Apache-2.0
// CSRs of the Advanced Interrupt Architecture (AIA 1.0, chapters 2, 3 and 5).
#include <array>

#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;

/// An IMSIC that records accesses.
struct imsic_bus final : flat_bus {
    bool present = true;
    std::array<u64, 256> values{};  ///< of the file of supervisor mode
    u64 top = 0;
    unsigned claims = 0;

    bool has_interrupt_files() const override { return present; }
    u64 read_interrupt_file(privilege mode, unsigned number) override {
        return mode == privilege::machine ? 0x1000 + number : values[number];
    }
    void write_interrupt_file(privilege mode, unsigned number, u64 value) override {
        if (mode == privilege::supervisor) values[number] = value;
    }
    u64 top_external(privilege mode) override { return mode == privilege::machine ? 0 : top; }
    void claim_external(privilege) override { ++claims; }
};

class RiscvAdvancedInterrupts : public testing::Test {
protected:
    static constexpr unsigned sie = 0x104, sip = 0x144, siselect = 0x150, sireg = 0x151,
                              stopei = 0x15c, stopi = 0xdb0, mstatus = 0x300, mideleg = 0x303,
                              mie = 0x304, mvien = 0x308, mvip = 0x309, mip = 0x344,
                              miselect = 0x350, mireg = 0x351, mtopei = 0x35c, mtopi = 0xfb0;
    static constexpr u64 ssip = 1 << 1, stip = 1 << 5, seip = 1 << 9, msip = 1 << 3;
    static constexpr u64 base = flat_bus::ram_base, handler = base + 0x800;

    imsic_bus memory;
    std::shared_ptr<code_cache> code = make_code_cache();
    std::unique_ptr<hart> h = make(isa::parse("rv64imac_smaia_ssaia"));

    std::unique_ptr<hart> make(isa extensions) {
        auto made = std::make_unique<hart>(hart::config{0, extensions, base}, memory, code);
        made->write_csr(0x305, handler);
        made->write_csr(0x105, handler + 0x100);  // stvec
        made->write_csr(0x3b0, ~u64{0});
        made->write_csr(0x3a0, 0x1f);
        for (const u64 place : {handler, handler + 0x100}) put(place, jal(0, 0));
        return made;
    }
    void put(u64 address, u32 word) { std::memcpy(&memory.ram[address - base], &word, 4); }
    bool executes(u32 word, privilege mode) {
        put(base, word);
        h->invalidate_code();
        h->set_mode(mode);
        h->set_pc(base);
        h->resume(true);
        h->run(1);
        h->resume();
        return h->pc() == base + 4;
    }
    bool reads(unsigned number, privilege mode) { return executes(csrrs(5, number, 0), mode); }
    u64 read(unsigned number) { return *h->read_csr(number); }
    void write(unsigned number, u64 value) { EXPECT_TRUE(h->write_csr(number, value)); }
};

TEST_F(RiscvAdvancedInterrupts, WindowsReachTheFilesOfTheirModes) {
    write(siselect, 0xc0);
    write(sireg, 77);
    EXPECT_EQ(memory.values[0xc0], 77u);
    EXPECT_TRUE(reads(sireg, privilege::supervisor));
    EXPECT_EQ(h->read_x(5), 77u);
    write(miselect, 0x70);
    EXPECT_TRUE(reads(mireg, privilege::machine));
    EXPECT_EQ(h->read_x(5), 0x1070u);
    EXPECT_FALSE(reads(mireg, privilege::supervisor));
    EXPECT_FALSE(reads(sireg, privilege::user));
}

TEST_F(RiscvAdvancedInterrupts, SelectedRegistersThatDoNotExistAreIllegal) {
    for (const u64 select :
         {0x00u, 0x2fu, 0x31u, 0x3fu, 0x40u, 0x6fu, 0x81u, 0xbfu, 0xffu, 0x100u}) {
        write(siselect, select);
        EXPECT_FALSE(reads(sireg, privilege::supervisor)) << std::hex << select;
        EXPECT_EQ(read(0x342), 2u);
        write(miselect, select);
        EXPECT_FALSE(reads(mireg, privilege::machine)) << std::hex << select;
    }
    for (const u64 select : {0x70u, 0x71u, 0x72u, 0x7fu, 0x80u, 0xbeu, 0xc0u, 0xfeu}) {
        write(siselect, select);
        EXPECT_TRUE(reads(sireg, privilege::supervisor)) << std::hex << select;
    }
    write(siselect, ~u64{0});
    EXPECT_EQ(read(siselect), 0x1ffu);
}

TEST_F(RiscvAdvancedInterrupts, PrioritiesAreReadOnlyZero) {
    for (const u64 select : {0x30u, 0x32u, 0x3eu}) {
        write(siselect, select);
        write(sireg, ~u64{0});
        EXPECT_TRUE(reads(sireg, privilege::supervisor));
        EXPECT_EQ(h->read_x(5), 0u);
    }
}

TEST_F(RiscvAdvancedInterrupts, WithoutAnImsicItsRegistersDoNotExist) {
    memory.present = false;
    write(siselect, 0x70);
    EXPECT_FALSE(reads(sireg, privilege::supervisor));
    EXPECT_FALSE(reads(stopei, privilege::supervisor));
    EXPECT_FALSE(reads(mtopei, privilege::machine));
    write(siselect, 0x30);
    EXPECT_TRUE(reads(sireg, privilege::supervisor));
    EXPECT_TRUE(reads(stopi, privilege::supervisor));
}

TEST_F(RiscvAdvancedInterrupts, HartWithoutTheExtensionsHasNoneOfTheRegisters) {
    h = make(isa::parse("rv64imac"));
    for (const unsigned number :
         {siselect, sireg, stopei, stopi, miselect, mireg, mtopei, mtopi, mvien, mvip}) {
        EXPECT_FALSE(reads(number, privilege::machine)) << std::hex << number;
        EXPECT_FALSE(h->read_csr(number));
    }
    h = make(isa::parse("rv64imac_ssaia"));
    EXPECT_TRUE(reads(stopi, privilege::machine));
    EXPECT_FALSE(reads(mtopi, privilege::machine));
    EXPECT_TRUE(isa::parse("rv64imac_smaia").has(extension::ssaia));
}

TEST_F(RiscvAdvancedInterrupts, WriteOfTopExternalClaims) {
    memory.top = 9 << 16 | 9;
    EXPECT_TRUE(executes(csrrw(5, stopei, 0), privilege::supervisor));
    EXPECT_EQ(h->read_x(5), 9u << 16 | 9u);
    EXPECT_EQ(memory.claims, 1u);
    EXPECT_TRUE(reads(stopei, privilege::supervisor));
    EXPECT_EQ(memory.claims, 1u) << "a read does not claim";
}

TEST_F(RiscvAdvancedInterrupts, TopInterruptsFollowTheDefaultOrder) {
    EXPECT_EQ(read(mtopi), 0u);
    write(mideleg, ssip | stip | seip);
    write(mie, ~u64{0});
    h->drive(interrupt::machine_software, true);
    h->drive(interrupt::supervisor_timer, true);
    EXPECT_EQ(read(mtopi), 3u << 16 | 1u);
    EXPECT_EQ(read(stopi), 5u << 16 | 1u);
    h->drive(interrupt::machine_external, true);
    h->drive(interrupt::supervisor_external, true);
    EXPECT_EQ(read(mtopi) >> 16, 11u);
    EXPECT_EQ(read(stopi) >> 16, 9u);
    write(mie, stip | msip);
    EXPECT_EQ(read(mtopi) >> 16, 3u);
    EXPECT_EQ(read(stopi) >> 16, 5u);
    EXPECT_FALSE(executes(csrrw(0, stopi, 5), privilege::machine)) << "read-only";
}

TEST_F(RiscvAdvancedInterrupts, MvienMakesSupervisorInterruptsVirtual) {
    write(mvien, ~u64{0});
    EXPECT_EQ(read(mvien), ssip | seip);
    write(sie, ~u64{0});
    EXPECT_EQ(read(sie), ssip | seip);
    EXPECT_EQ(read(mie), 0u) << "bits of sie are its own";
    write(mvip, ssip | stip | seip);
    EXPECT_EQ(read(sip), ssip | seip);
    EXPECT_EQ(read(mip), stip) << "SSIP and SEIP of mvip are apart from mip";
    EXPECT_EQ(read(stopi) >> 16, 9u);
    EXPECT_EQ(read(mtopi), 0u);

    write(mstatus, 2);  // SIE
    h->set_mode(privilege::supervisor);
    h->set_pc(base);
    h->run(10);
    EXPECT_EQ(h->pc(), handler + 0x100);
    EXPECT_EQ(read(0x142), u64{1} << 63 | 9) << "scause";
    write(sip, 0);
    EXPECT_EQ(read(mvip), stip);
    EXPECT_EQ(read(stopi), 0u);
}

TEST_F(RiscvAdvancedInterrupts, InterruptOfMachineModeIsNotTakenBySupervisorModeByMvien) {
    write(mvien, seip);
    write(sie, seip);
    write(mie, seip);
    h->drive(interrupt::supervisor_external, true);
    EXPECT_EQ(read(mtopi) >> 16, 9u) << "mip, enabled by mie, is not delegated";
    EXPECT_EQ(read(stopi), 0u) << "sip is mvip's";
    put(base, jal(0, 0));
    h->set_mode(privilege::supervisor);
    h->set_pc(base);
    h->run(10);
    EXPECT_EQ(h->pc(), handler);
    EXPECT_EQ(read(0x342), u64{1} << 63 | 9) << "mcause";
    write(mvip, seip);  // the handler passes it on
    EXPECT_EQ(read(stopi) >> 16, 9u);
}

TEST_F(RiscvAdvancedInterrupts, WithoutMvienMvipIsPartOfMip) {
    write(mvip, ~u64{0});
    EXPECT_EQ(read(mip), ssip | stip | seip);
    write(mip, 0);
    EXPECT_EQ(read(mvip), 0u);
}

TEST_F(RiscvAdvancedInterrupts, MvienHidesTheFileFromSupervisorMode) {
    write(siselect, 0x70);
    write(mvien, seip);
    EXPECT_FALSE(reads(sireg, privilege::supervisor));
    EXPECT_FALSE(reads(stopei, privilege::supervisor));
    EXPECT_TRUE(reads(stopei, privilege::machine));
    write(siselect, 0x30);
    EXPECT_TRUE(reads(sireg, privilege::supervisor));
}

TEST_F(RiscvAdvancedInterrupts, ModifyingSipKeepsItsVirtualBits) {
    write(mvien, ssip | seip);
    write(mvip, ssip | seip);
    h->write_x(6, seip);
    EXPECT_TRUE(executes(csrrc(5, sip, 6), privilege::supervisor));
    EXPECT_EQ(read(sip), ssip);
    EXPECT_EQ(read(mvip), ssip);
}

TEST_F(RiscvAdvancedInterrupts, VirtualInterruptEndsAWait) {
    write(mvien, ssip);
    write(sie, ssip);
    put(base, wfi);
    h->set_pc(base);
    h->run(10);
    ASSERT_TRUE(h->waiting());
    write(mvip, ssip);
    h->run(1);
    EXPECT_FALSE(h->waiting());
}

}  // namespace trn::riscv::test
