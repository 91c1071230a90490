// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/translate.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "models/processor/riscv/execute/assemble.h"
#include "models/processor/riscv/translate/difference.h"
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;

namespace {

constexpr u32 srliw(u32 rd, u32 rs1, i32 count) {
    return i(0x1b, 5, rd, rs1, count);
}
constexpr u32 slliw(u32 rd, u32 rs1, i32 count) {
    return i(0x1b, 1, rd, rs1, count);
}
constexpr u32 addw(u32 rd, u32 rs1, u32 rs2) {
    return r(0x3b, 0, 0, rd, rs1, rs2);
}
constexpr u32 andi(u32 rd, u32 rs1, i32 value) {
    return i(0x13, 7, rd, rs1, value);
}
constexpr u32 or_(u32 rd, u32 rs1, u32 rs2) {
    return r(0x33, 6, 0, rd, rs1, rs2);
}

/// Number of lines with these permissions in this process's memory map.
unsigned mappings(const std::string& permissions) {
    std::ifstream maps("/proc/self/maps");
    unsigned count = 0;
    for (std::string range, access, rest; maps >> range >> access && std::getline(maps, rest);)
        if (access.starts_with(permissions)) ++count;
    return count;
}

/// Prevents this process from making memory executable, except by loader mappings.
bool forbid_new_code() {
    const auto third = static_cast<unsigned>(offsetof(seccomp_data, args[2]));
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, third),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{std::size(program), program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

/// A hart that translates each block before its first execution, if the host allows it.
class TranslatedHart : public RiscvTest {
protected:
    void SetUp() override {
        if (!translate::choose(translate::mode::translate, {.threshold = 1}))
            GTEST_SKIP() << "this host does not translate";
        code = make_code_cache();
        h = make();
    }
};

TEST_F(TranslatedHart, FaultInALoopHasItsPcAndCounts) {
    // Loads along the RAM; the end is passed in iteration 4.
    put(base, {addi(5, 5, 1), lw(7, 6, 0), addi(6, 6, 1024), jal(0, -12)});
    h->write_x(6, base + memory.ram.size() - 3 * 1024);
    h->run(4 * 3 + 2);
    EXPECT_EQ(csr("mcause"), 5u);
    EXPECT_EQ(csr("mepc"), base + 4);
    EXPECT_EQ(csr("mtval"), base + memory.ram.size());
    EXPECT_EQ(h->read_x(5), 4u);
    EXPECT_EQ(csr("minstret"), h->ticks() - 1);
}

TEST_F(TranslatedHart, DeviceAccessWithinABlockSeesThePcAndTheTimeOfItsInstruction) {
    put(base, {addi(5, 5, 1), sw(5, 6, 0), addi(5, 5, 1), jal(0, -12)});
    h->write_x(6, flat_bus::device_base);
    std::vector<std::pair<u64, u64>> seen;
    memory.on_device_access = [&] { seen.emplace_back(h->access_pc(), h->ticks()); };
    h->run(8);
    ASSERT_GE(seen.size(), 2u);
    EXPECT_EQ(seen[0], (std::pair<u64, u64>{base + 4, 1}));
    EXPECT_EQ(seen[1], (std::pair<u64, u64>{base + 4, 5}));
    EXPECT_EQ(memory.device_writes[1].second, 3u);
}

TEST_F(TranslatedHart, ShiftsAndWordsAreCompleteWhereADeviceAccessLeaves) {
    // x6 and x7 are the halves of a rotation, x9 is a 32-bit sum.
    put(base, {srliw(6, 5, 7), slliw(7, 5, 25), addw(9, 5, 5), sw(5, 8, 0), or_(5, 6, 7),
               addi(10, 10, -1), bne(10, 0, -24), jal(0, 0)});
    h->write_x(5, 0x6123'4567);
    h->write_x(8, flat_bus::device_base);
    h->write_x(10, 40);
    auto expected = u32{0x6123'4567};
    const auto extended = [](u32 word) { return static_cast<u64>(i64{static_cast<i32>(word)}); };
    memory.on_device_access = [&] {
        EXPECT_EQ(h->read_x(5), extended(expected));
        EXPECT_EQ(h->read_x(6), expected >> 7);
        EXPECT_EQ(h->read_x(7), extended(expected << 25));
        EXPECT_EQ(h->read_x(9), extended(expected + expected));
        expected = std::rotr(expected, 7);
    };
    h->run(40 * 7 + 1);
    EXPECT_EQ(memory.device_writes.size(), 40u);
    EXPECT_EQ(h->read_x(5), extended(expected));
}

TEST_F(TranslatedHart, QuantumThatEndsInALoopOfWordsFindsThemExtended) {
    put(base, {addw(5, 5, 6), slliw(7, 5, 1), addi(10, 10, -1), bne(10, 0, -12), jal(0, 0)});
    h->write_x(6, 0x3456'789a);
    h->write_x(10, 100);
    u32 sum = 0;
    for (int round = 0; round < 20; ++round) {
        h->run(4);
        sum += 0x3456'789a;
        EXPECT_EQ(h->read_x(5), static_cast<u64>(i64{static_cast<i32>(sum)}));
        EXPECT_EQ(h->read_x(7), static_cast<u64>(i64{static_cast<i32>(sum << 1)}));
    }
}

TEST_F(TranslatedHart, EachBranchToTheStartOfALoopKnowsItsOwnWords) {
    // x5 is a word at the last branch to the start; at the first one it has 64 bits. The sum of
    // both values is in x7.
    put(base, {add(7, 7, 5), add(5, 6, 9), addi(9, 9, 1), andi(8, 9, 3), bne(8, 0, -16),
               addw(5, 5, 9), addi(10, 10, -1), bne(10, 0, -28), jal(0, 0)});
    const u64 wide = 0x1234'5678'9abc'def0;
    h->write_x(6, wide);
    h->write_x(10, 20);
    h->run(20 * (3 * 5 + 8));
    u64 sum = 0, x5 = 0;
    for (u64 n = 0; n < 80; ++n) {
        sum += x5;
        x5 = wide + n;
        if (n % 4 == 3) x5 = static_cast<u64>(i64{static_cast<i32>(static_cast<u32>(x5 + n + 1))});
    }
    EXPECT_EQ(h->read_x(10), 0u);
    EXPECT_EQ(h->read_x(9), 80u);
    EXPECT_EQ(h->read_x(7), sum);
}

TEST_F(TranslatedHart, BlockThatIsTranslatedLaterIsReachedFromEarlierOnes) {
    // Leaves for the block at 0x40 in every second round; that block returns.
    put(base, {addi(5, 5, 1), andi(6, 5, 1), bne(6, 0, 0x38), jal(0, -12)});
    put(base + 0x40, {addi(7, 7, 1), jal(0, -0x44)});
    u64 ticks = 0;
    for (unsigned quantum = 1; quantum < 60; ++quantum) {
        ticks += h->run(quantum);
        EXPECT_EQ(h->ticks(), ticks);
    }
    h->run(8);
    const u64 rounds = h->read_x(5), left = h->read_x(7);
    EXPECT_GT(rounds, 400u);
    EXPECT_GE(rounds, 2 * left - 1);
    EXPECT_LE(rounds, 2 * left + 2);
}

TEST_F(TranslatedHart, ChangedBlockIsNotReachedThroughAnEarlierLink) {
    put(base, {addi(5, 5, 1), bne(5, 0, 0x3c)});
    put(base + 0x40, {addi(7, 7, 1), jal(0, -0x44)});
    h->run(4 * 50);
    EXPECT_EQ(h->read_x(7), 50u);
    put(base + 0x40, {addi(7, 7, 100)});
    h->invalidate_code();
    h->run(4 * 2);
    EXPECT_EQ(h->read_x(7), 250u);
}

TEST_F(TranslatedHart, CodeThatDmaChangedRunsOnceItIsInvalidated) {
    put(base, {addi(5, 5, 1), jal(0, -4)});
    h->run(100);
    const u64 before = h->read_x(5);
    put(base, {addi(5, 5, 16)});
    h->invalidate_code();
    h->run(2);
    EXPECT_EQ(h->read_x(5), before + 16);
}

TEST_F(TranslatedHart, MemoryThatIsNoLongerDirectIsNotAccessed) {
    put(base, {lw(7, 6, 0), jal(0, -4)});
    h->write_x(6, base + 0x4000);
    poke<u32>(base + 0x4000, 1);
    h->run(10);
    EXPECT_EQ(h->read_x(7), 1u);
    std::vector<u8> elsewhere = memory.ram;
    h->forget_direct(base, base + memory.ram.size() - 1);
    memory.ram.swap(elsewhere);
    poke<u32>(base + 0x4000, 2);
    h->run(4);
    EXPECT_EQ(h->read_x(7), 2u);
}

TEST_F(TranslatedHart, ProtectionThatAppearsStopsALoopOfStores) {
    put(base, {sd(5, 6, 0), addi(5, 5, 1), jal(0, -8)});
    h->write_x(6, base + 0x4000);
    h->run(30);
    // A locked entry without permissions applies to machine mode.
    ASSERT_TRUE(h->write_csr(0x3b0, (base + 0x4000) >> 2));
    ASSERT_TRUE(h->write_csr(0x3a0, 0x90));
    const u64 stored = peek(base + 0x4000);
    h->run(3);
    EXPECT_EQ(csr("mcause"), 7u);
    EXPECT_EQ(peek(base + 0x4000), stored);
}

TEST(CheckedRegisters, EachBitIsCompared) {
    translate::registers good;
    for (unsigned i = 0; i < 32; ++i) good.x[i] = good.f[i] = i * 0x0123'4567'89ab'cdefu;
    EXPECT_EQ(translate::difference(good, good), "");
    for (unsigned i = 0; i < 32; ++i) {
        for (unsigned bit = 0; bit < 64; ++bit) {
            translate::registers bad = good;
            bad.f[i] ^= u64{1} << bit;
            EXPECT_EQ(translate::difference(bad, good).find("f" + std::to_string(i) + " is 0x"),
                      0u);
            bad.x[i] ^= u64{1} << bit;
            const std::string first = i == 0 ? "f0" : "x" + std::to_string(i);
            EXPECT_EQ(translate::difference(bad, good).find(first + " is 0x"), 0u);
        }
    }
    translate::registers bad = good;
    bad.csr.instret_offset ^= 1;  // the last member
    EXPECT_EQ(translate::difference(bad, good).find("word of csr_state "), 0u);
}

TEST_F(TranslatedHart, PerfMapNamesCodeByItsAddressInEachProcess) {
    ASSERT_TRUE(translate::choose(translate::mode::translate, {.threshold = 1, .perf_map = true}));
    code = make_code_cache();
    h = make();
    const auto names = [] {
        const std::string file = "/tmp/perf-" + std::to_string(getpid()) + ".map";
        std::ifstream in(file);
        std::vector<std::string> all;
        for (std::string start, size, name; in >> start >> size && std::getline(in, name);)
            all.push_back(std::stoul(size, nullptr, 16) > 0 ? name : "empty");
        std::filesystem::remove(file);
        return all;
    };
    put(base, {addi(5, 5, 1), jal(0, -4)});
    put(base + 0x100, {addi(9, 9, 3), jal(0, -4)});
    h->run(100);
    const pid_t child = fork();
    if (child == 0) {
        h->set_pc(base + 0x100);
        h->run(100);
        const std::vector<std::string> expected{" hart 0x80000000", " hart 0x80000100"};
        _exit(names() == expected ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(names(), std::vector<std::string>{" hart 0x80000000"});
}

TEST_F(TranslatedHart, FullRegionDropsAllCode) {
    constexpr unsigned blocks = 3000;
    ASSERT_TRUE(
        translate::choose(translate::mode::translate, {.threshold = 1, .region = 16 << 10}));
    code = make_code_cache();
    h = make();
    const u64 end = base + blocks * 12;
    // x6 is the address at which a block continues: the next one each time.
    u64 at = base;
    for (unsigned i = 0; i < blocks; ++i, at += 12)
        put(at, {addi(6, 6, 12), addi(5, 5, 1), jalr(0, 6, 0)});
    put(end, {jalr(0, 8, 0)});
    h->write_x(6, base);
    h->write_x(8, end);
    h->run(3 * blocks);
    EXPECT_EQ(h->read_x(5), blocks);
}

TEST_F(TranslatedHart, NoMemoryIsWritableAndExecutable) {
    const unsigned before = mappings("r-xp");
    put(base, {addi(5, 5, 1), jal(0, -4)});
    h->run(1000);
    EXPECT_EQ(mappings("rwx"), 0u);
    EXPECT_EQ(mappings("-wx"), 0u);
    EXPECT_LE(mappings("r-xp"), before);
}

TEST_F(TranslatedHart, ForkedProcessTranslatesForItself) {
    put(base, {addi(5, 5, 1), jal(0, -4)});
    put(base + 0x100, {addi(9, 9, 3), jal(0, -4)});
    h->run(100);
    const pid_t child = fork();
    if (child == 0) {
        h->set_pc(base + 0x100);
        h->run(100);
        _exit(h->read_x(9) == 150 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    h->set_pc(base + 0x100);
    h->run(20);
    EXPECT_EQ(h->read_x(9), 30u);
}

TEST_F(TranslatedHart, HostThatForbidsNewCodeInterprets) {
    put(base, {addi(5, 5, 1), jal(0, -4)});
    h->run(100);
    if (!forbid_new_code()) GTEST_SKIP() << "no seccomp here";
    // The host refuses new code when the hart translates the next block.
    put(base + 0x100, {addi(9, 9, 3), jal(0, -4)});
    h->invalidate_code();
    h->set_pc(base + 0x100);
    h->run(100);
    EXPECT_EQ(h->read_x(9), 150u);
    h->set_pc(base);
    h->run(100);
    EXPECT_EQ(h->read_x(5), 100u);

    EXPECT_FALSE(translate::choose(translate::mode::translate, {}));
    code = make_code_cache();
    h = make();
    h->run(100);
    EXPECT_EQ(h->read_x(5), 50u);
}

}  // namespace trn::riscv::test
