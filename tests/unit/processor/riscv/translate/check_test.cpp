// SPDX-License-Identifier: Apache-2.0
// Check mode: translators that are wrong in one instruction, which it has to name.
#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "models/processor/riscv/decode/decode.h"
#include "models/processor/riscv/execute/assemble.h"
#include "models/processor/riscv/translate/translate.h"
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;
using translate::mode;

namespace {

constexpr u32 masked(u32 rd, u32 rs1, i32 value) {
    return i(0x13, 7, rd, rs1, value);
}
constexpr u32 slli(u32 rd, u32 rs1, i32 count) {
    return i(0x13, 1, rd, rs1, count);
}
constexpr u32 srl(u32 rd, u32 rs1, u32 rs2) {
    return r(0x33, 5, 0, rd, rs1, rs2);
}
constexpr u32 amoadd(u32 rd, u32 rs1, u32 rs2) {
    return r(0x2f, 2, 0, rd, rs1, rs2);
}
constexpr u32 fadd_s(u32 rd, u32 rs1, u32 rs2) {
    return r(0x53, 0, 0, rd, rs1, rs2);
}
constexpr u32 mscratch = 0x340, ret = jalr(0, 1, 0);

bool is(const decoded& d, std::string_view name) {
    return d.definition != nullptr && d.definition->name == name;
}
decoded instead(u32 bits) {
    return decode(bits, isa::full());
}
constexpr u32 keep_x31 = addi(31, 31, 0);  // an instruction of the translator without an effect

}  // namespace

/// A hart in check mode that translates each block before its first execution.
class CheckedHart : public RiscvTest {
protected:
    void SetUp() override { choose({}); }

    void choose(translate::options how) {
        how.threshold = 1;
        if (!translate::choose(mode::check, how)) GTEST_SKIP() << "this host does not translate";
        code = make_code_cache();
        h = make(isa::full());
        h->write_csr(0x300, 3 << 13);  // mstatus.FS
    }
    void mistranslate(decoded (*how)(const decoded&)) {
        translate::options wrong;
        wrong.mistranslate = how;
        choose(wrong);
    }
    /// A loop with an instruction of each class. x5 counts, x6 is the address of data.
    void put_each_class() {
        put(base, {addi(5, 5, 1), add(7, 7, 5), sd(7, 6, 0), ld(8, 6, 0), lw(9, 6, 4),
                   amoadd(10, 6, 5), fadd_s(1, 1, 2), csrrs(11, mscratch, 5), masked(12, 5, 3),
                   bne(12, 0, 8), jalr(1, 14, 0), jal(0, -0x2c)});
        put(base + 0x200, {addi(13, 13, 1), ret});
        h->write_x(6, base + 0x2000);
        h->write_x(7, 0x8765'4321'8765'4321);
        h->write_x(14, base + 0x200);
        h->csr.mscratch = 0x10;
    }
};

TEST_F(CheckedHart, NamesTheWrongInstructionOfEachClass) {
    struct wrong {
        const char* what;
        decoded (*how)(const decoded&);
        const char* message;
    };
    const wrong all[] = {
        {"ALU", [](const decoded& d) { return is(d, "add") ? instead(d.bits | 0x4000'0000) : d; },
         "add at 0x80000004: x7 is 0x8765432187654320, and 0x8765432187654322 when interpreted"},
        {"load from elsewhere",
         [](const decoded& d) {
             decoded other = d;
             if (is(d, "ld")) other.imm += 8;
             return other;
         },
         "ld at 0x8000000c: x8 is 0x0, and 0x8765432187654322 when interpreted"},
        {"load without sign",
         [](const decoded& d) { return is(d, "lw") ? instead(d.bits | 4 << 12) : d; },
         "lw at 0x80000010: x9 is 0x87654321, and 0xffffffff87654321 when interpreted"},
        {"store of another value",
         [](const decoded& d) {
             decoded other = d;
             if (is(d, "sd")) other.rs2 = 5;
             return other;
         },
         "sd at 0x80000008: stores 0x2 to 0x80002000, and 0x8765432187654324 when interpreted"},
        {"store of another size",
         [](const decoded& d) { return is(d, "sd") ? instead(d.bits & ~(1u << 12)) : d; },
         "sd at 0x80000008: stores 4 bytes to 0x80002000, and 8 bytes to 0x80002000 when"},
        {"store outside",
         [](const decoded& d) {
             decoded other = d;
             if (is(d, "sd")) other.imm += 0x1'0000;
             return other;
         },
         "sd at 0x80000008: stores 8 bytes to 0x80012000, and 8 bytes to 0x80002000 when"},
        {"store left out", [](const decoded& d) { return is(d, "sd") ? instead(keep_x31) : d; },
         "sd at 0x80000008: is not left to the executor"},
        {"branch", [](const decoded& d) { return is(d, "bne") ? instead(d.bits ^ 1 << 12) : d; },
         "bne at 0x80000024: the next pc is 0x80000028, and 0x8000002c when interpreted"},
        {"jump",
         [](const decoded& d) {
             decoded other = d;
             if (is(d, "jalr")) other.imm += 4;
             return other;
         },
         "jalr at 0x80000028: the next pc is 0x80000204, and 0x80000200 when interpreted"},
        {"AMO", [](const decoded& d) { return is(d, "amoadd.w") ? instead(lw(10, 6, 0)) : d; },
         "amoadd.w at 0x80000014: is not left to the executor"},
        {"FP", [](const decoded& d) { return is(d, "fadd.s") ? instead(keep_x31) : d; },
         "fadd.s at 0x80000018: is not left to the executor"},
        {"CSR", [](const decoded& d) { return is(d, "csrrs") ? instead(addi(11, 5, 0)) : d; },
         "csrrs at 0x8000001c: x11 is 0x1, and 0x0 when interpreted"},
    };
    for (const auto& one : all) {
        SCOPED_TRACE(one.what);
        mistranslate(one.how);
        put_each_class();
        EXPECT_DEATH(h->run(1000), one.message);
    }
    choose({});
    put_each_class();
    h->run(1000);
    EXPECT_GT(h->read_x(13), 10u);
}

TEST_F(CheckedHart, NamesAWrongStoreThatALaterOneOverwrites) {
    mistranslate([](const decoded& d) {
        decoded other = d;
        if (d.bits == sd(7, 6, 0)) other.rs2 = 5;
        return other;
    });
    put(base, {addi(5, 5, 1), sd(7, 6, 0), addi(8, 8, 1), sd(8, 6, 0), jal(0, -16)});
    h->write_x(6, base + 0x2000);
    EXPECT_DEATH(h->run(1000), "sd at 0x80000004: stores 0x2 to 0x80002000, and 0x0 when");
}

TEST_F(CheckedHart, NamesTheInstructionOfARunThatIsWrongLate) {
    mistranslate([](const decoded& d) { return is(d, "srl") ? instead(d.bits | 0x4000'0000) : d; });
    // srl and sra differ from round 63 on, when x5 is negative.
    put(base, {slli(5, 5, 1), addi(9, 9, 1), bne(9, 0, 8), addi(10, 10, 1), srl(7, 5, 8),
               add(11, 11, 7), jal(0, -24)});
    h->write_x(5, 1);
    h->write_x(8, 60);
    EXPECT_DEATH(h->run(100'000),
                 "srl at 0x80000010: x7 is 0xfffffffffffffff8, and 0x8 when interpreted");
}

TEST_F(CheckedHart, NamesTheBlockWhoseInstructionsAreCountedWrongly) {
    translate::options wrong;
    wrong.miscount = 1;
    choose(wrong);
    put(base, {addi(5, 5, 1), addi(6, 6, 1), jal(0, -8)});
    EXPECT_DEATH(h->run(1000), "4 instructions are counted, and 3 when interpreted");
    // Nothing but the time differs.
    put(base, {jal(0, 0)});
    h->invalidate_code();
    EXPECT_DEATH(h->run(1000), "2 instructions are counted, and 1 when interpreted");
}

TEST_F(CheckedHart, DeviceAccessesHappenOnceAndStoresAroundThemStay) {
    put(base, {addi(5, 5, 1), sd(5, 7, 0), sw(5, 6, 0), addi(8, 8, 2), sd(8, 7, 8), lw(9, 6, 4),
               add(10, 10, 9), jal(0, -28)});
    h->write_x(6, flat_bus::device_base);
    h->write_x(7, base + 0x2000);
    memory.device_value = 3;
    u64 accesses = 0;
    memory.on_device_access = [&] {
        ++accesses;
        EXPECT_EQ(peek(base + 0x2000), h->read_x(5));
    };
    h->run(8 * 500);
    EXPECT_EQ(accesses, 1000u);
    ASSERT_EQ(memory.device_writes.size(), 500u);
    for (u64 n = 0; n < 500; ++n) EXPECT_EQ(memory.device_writes[n].second, n + 1);
    EXPECT_EQ(h->read_x(10), 1500u);
    EXPECT_EQ(peek(base + 0x2008), 1000u);
}

TEST_F(CheckedHart, HartsThatTakeTurnsShareCodeAndMemory) {
    // Both count in the same word, and in one of their own.
    put(base, {ld(5, 6, 0), addi(5, 5, 1), sd(5, 6, 0), ld(7, 8, 0), addi(7, 7, 1), sd(7, 8, 0),
               jal(0, -24)});
    const auto other = make(isa::full());
    u64 turn = 0;
    for (hart* const each : {h.get(), other.get()}) {
        each->write_x(6, base + 0x2000);
        each->write_x(8, base + 0x2000 + 8 * ++turn);
    }
    u64 done = 0;
    for (unsigned quantum = 1; quantum < 200; ++quantum)
        for (hart* const each : {h.get(), other.get()}) done += each->run(quantum) / 7;
    EXPECT_EQ(peek(base + 0x2000), done);
    EXPECT_EQ(peek(base + 0x2008) + peek(base + 0x2010), done);
}

TEST_F(CheckedHart, AnotherProcessCanUseTheSameMemory) {
    // A mailbox: the hart takes what is in it, counts, and empties it; the other one fills it
    // again.
    constexpr u64 mailbox = base + 0x2000, turns = 2'000;
    constexpr u32 equal = 1 << 12;  // beq instead of bne
    put(base, {lw(8, 6, 0), bne(8, 0, -4) ^ equal, sw(0, 6, 0), addi(7, 7, 1), bne(7, 9, -16),
               jal(0, 0)});
    memory.shared = true;
    h->write_x(6, mailbox);
    h->write_x(9, turns);
    std::atomic_bool is_over = false;
    std::thread other([&] {
        const std::atomic_ref<u32> word(*reinterpret_cast<u32*>(&memory.ram[mailbox - base]));
        for (u64 n = 0; n < turns && !is_over; ++n) {
            word = 1;
            while (word != 0 && !is_over) std::this_thread::yield();
        }
    });
    for (unsigned n = 0; n < 100'000 && h->read_x(7) != turns; ++n) {
        h->run(1000);
        std::this_thread::yield();
    }
    is_over = true;
    other.join();
    EXPECT_EQ(h->read_x(7), turns);
}

TEST_F(CheckedHart, LongRunsCountInstructionsAsTheInterpreterDoes) {
    const auto ticks_of = [&](mode how) {
        translate::choose(how, {.threshold = 1});
        code = make_code_cache();
        h = make();
        put(base, {addi(5, 5, 1), masked(6, 5, 7), bne(6, 0, 0x38), jal(0, -12)});
        put(base + 0x40, {add(7, 7, 6), jal(0, -0x44)});
        std::vector<u64> all;
        for (unsigned n = 0; n < 200; ++n) {
            all.push_back(h->run(1 + n * 37 % 5000, 1000));
            all.push_back(h->pc());
        }
        all.push_back(h->read_x(7));
        return all;
    };
    EXPECT_EQ(ticks_of(mode::check), ticks_of(mode::interpret));
}

}  // namespace trn::riscv::test
