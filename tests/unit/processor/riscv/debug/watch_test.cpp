// SPDX-License-Identifier: Apache-2.0
// Watched bytes on a page whose other bytes are accessed at full speed, in all modes of harts.
#include "models/processor/riscv/translate/translate.h"
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;
using translate::mode;

namespace {

constexpr u32 l(unsigned log_size, u32 rd, u32 rs1, i32 offset) {
    return i(0x03, log_size, rd, rs1, offset);
}
constexpr u32 amoadd_d(u32 rd, u32 rs1, u32 rs2) {
    return r(0x2f, 3, 0, rd, rs1, rs2);
}

}  // namespace

class WatchedHart : public RiscvTest, public testing::WithParamInterface<mode> {
protected:
    static constexpr u64 data = base + 0x2400, mapped = 0x4000'0000, page_table = base + 0x10000;
    /// The watched bytes.
    static constexpr u64 first = 1, size = 3;
    static constexpr u64 in_m_and_s = 0x50, on_load = 1, on_store = 2;

    void SetUp() override {
        if (!translate::choose(GetParam(), {.threshold = 1}) && GetParam() != mode::interpret)
            GTEST_SKIP() << "this host does not translate";
        code = make_code_cache();
        h = make();
    }
    void TearDown() override { translate::choose(mode::interpret); }

    /// Maps RAM's first 2 MiB at `mapped` for S mode, by Sv39.
    void translate_addresses() {
        poke<u64>(page_table + 8, (page_table + 0x1000) >> 2 | V);
        poke<u64>(page_table + 0x1000, base >> 2 | V | R | W | X | A | D);
        h->write_csr(0x3b0, ~u64{0});
        h->write_csr(0x3a0, 0x1f);
        h->write_csr(0x180, u64{8} << 60 | page_table >> 12);
        h->set_mode(privilege::supervisor);
        h->set_pc(mapped);
        h->write_x(6, data - base + mapped);
    }
    static bool overlaps(i32 offset, u64 bytes) {
        const auto from = static_cast<i64>(first), end = from + static_cast<i64>(size);
        return offset < end && offset + static_cast<i64>(bytes) > from;
    }
    void set_trigger(u64 tdata1, u64 tdata2) {
        h->write_csr(0x300, 8);  // MIE: triggers fire in M mode
        h->write_csr(0x7a2, tdata2);
        h->write_csr(0x7a1, u64{6} << 60 | in_m_and_s | tdata1);
    }
    /// Executes a loop that accesses the same page at `other`, then `bytes` at `offset`.
    template <typename Watch>
    void expect_stop_where_watched(bool is_store, bool translated, i32 other, Watch watch) {
        for (unsigned log_size = 0; log_size < 4; ++log_size) {
            const i32 bytes = 1 << log_size;
            for (i32 offset = -16; offset <= 16; offset += bytes) {
                SCOPED_TRACE(testing::Message() << (is_store ? "store" : "load") << " of " << bytes
                                                << " at " << offset << ", other " << other);
                h = make();
                put(base, {is_store ? as::s(3, 6, 5, other) : l(3, 5, 6, other),
                           is_store ? as::s(log_size, 6, 7, offset) : l(log_size, 7, 6, offset),
                           addi(8, 8, 1), jal(0, -12)});
                h->write_x(6, data);
                if (translated) translate_addresses();
                const u64 start = h->pc();
                watch(h->read_x(6) + first);
                h->run(40);
                const bool stops = overlaps(offset, static_cast<u64>(bytes));
                EXPECT_EQ(h->read_x(8), stops ? 0u : 10u);
                const bool has_stopped = h->halted() || csr("mcause") == 3;
                EXPECT_EQ(has_stopped, stops);
                if (h->halted()) {
                    EXPECT_EQ(h->pc(), start + 4);
                }
                if (csr("mcause") == 3) {
                    EXPECT_EQ(csr("mepc"), start + 4);
                }
            }
        }
    }
};

TEST_P(WatchedHart, DebuggerStopsAccessesThatTouchTheWatchedBytesOnly) {
    for (const bool is_store : {false, true})
        for (const bool translated : {false, true})
            for (const i32 other : {-0x100, 0x100})
                expect_stop_where_watched(is_store, translated, other, [&](u64 at) {
                    h->add_watchpoint({at, size, !is_store, is_store});
                });
}

TEST_P(WatchedHart, TriggersStopAccessesThatTouchTheirBytesOnly) {
    // Three triggers that match one byte each.
    for (const bool is_store : {false, true})
        for (const bool translated : {false, true})
            for (const i32 other : {-0x100, 0x100})
                expect_stop_where_watched(is_store, translated, other, [&](u64 at) {
                    for (u64 n = 0; n < size; ++n) {
                        h->write_csr(0x7a0, n);
                        set_trigger(is_store ? on_store : on_load, at + n);
                    }
                });
}

TEST_P(WatchedHart, TriggerOfARangeLeavesTheRestOfThePage) {
    constexpr u64 napot = 1 << 7, at_least = 2 << 7, below = 3 << 7;
    struct range {
        u64 match, tdata2;
        i32 outside, inside;
    };
    for (const auto& [match, tdata2, outside, inside] :
         {range{napot, data | 0x2f, 0x40, 0x38}, range{at_least, data + 8, 0, 8},
          range{below, data + 8, 8, 0}}) {
        h = make();
        put(base, {sd(5, 6, outside), addi(8, 8, 1), bne(8, 9, -8), sd(5, 6, inside), jal(0, 0)});
        h->write_x(6, data);
        h->write_x(9, 50);
        set_trigger(match | on_store, tdata2);
        h->run(1000);
        EXPECT_EQ(h->read_x(8), 50u) << match;
        EXPECT_EQ(csr("mcause"), 3u) << match;
        EXPECT_EQ(csr("mepc"), base + 12) << match;
    }
}

TEST_P(WatchedHart, StoresAroundAWatchedWordArriveAndItsStoreStops) {
    // Stores before, to and after the word; the store to it once in 20 rounds.
    put(base, {sw(5, 6, -4), sw(5, 6, 4), lw(7, 6, 0), add(9, 9, 7), addi(5, 5, 1), bne(5, 10, -20),
               sw(5, 6, 0), addi(10, 10, 20), jal(0, -32)});
    h->write_x(6, data);
    h->write_x(10, 20);
    poke<u32>(data, 3);
    h->add_watchpoint({data, 4, false, true});
    for (u32 stop = 1; stop < 5; ++stop) {
        h->run(100'000);
        ASSERT_TRUE(h->halted());
        EXPECT_EQ(h->pc(), base + 24);
        EXPECT_EQ(h->last_stop().address, data);
        EXPECT_EQ(h->read_x(5), stop * 20);
        EXPECT_EQ(peek<u32>(data - 4), stop * 20 - 1);
        EXPECT_EQ(peek<u32>(data + 4), stop * 20 - 1);
        EXPECT_EQ(peek<u32>(data), stop == 1 ? 3 : (stop - 1) * 20);
        h->remove_watchpoint({data, 4, false, true});
        h->resume(true);
        h->run(1);
        h->add_watchpoint({data, 4, false, true});
        h->resume();
    }
}

TEST_P(WatchedHart, TwoWindowsLeadAroundWatchedBytes) {
    constexpr i32 far = 0x200;
    put(base, {sd(5, 6, -far), sd(5, 6, far), ld(7, 6, -far), add(9, 9, 7), ld(7, 6, far),
               add(9, 9, 7), addi(5, 5, 1), bne(5, 10, -28), jal(0, 0)});
    h->write_x(6, data);
    h->write_x(10, 50);
    h->add_watchpoint({data, 4, false, true});
    h->run(1000);
    EXPECT_FALSE(h->halted());
    EXPECT_EQ(h->read_x(9), u64{49} * 50);
    EXPECT_EQ(peek(data - far), 49u);
    EXPECT_EQ(peek(data + far), 49u);
    const address_space& space = *h->exec.space;
    EXPECT_TRUE(space.window.holds(data - far));
    EXPECT_TRUE(space.beside.holds(data + far));
    for (u64 at = data - 7; at < data + 4; ++at)
        EXPECT_FALSE(space.window.holds(at) || space.beside.holds(at)) << at;
    EXPECT_TRUE(space.beside.holds(data + 4));
    h->remove_watchpoint({data, 4, false, true});
    EXPECT_FALSE(space.window.holds(data - far) || space.beside.holds(data + far));
}

TEST_P(WatchedHart, AtomicBesideAWatchedWordMeetsItOnItsWord) {
    put(base, {amoadd_d(5, 6, 7), addi(8, 8, 1), bne(8, 9, -8), amoadd_d(5, 10, 7), jal(0, 0)});
    h->write_x(6, data);
    h->write_x(7, 1);
    h->write_x(9, 30);
    h->write_x(10, data + 8);
    h->add_watchpoint({data + 12, 1, true, false});
    h->run(1000);
    ASSERT_TRUE(h->halted());
    EXPECT_EQ(h->pc(), base + 12);
    EXPECT_EQ(peek(data), 30u);
    EXPECT_EQ(peek(data + 8), 0u);
}

INSTANTIATE_TEST_SUITE_P(Modes, WatchedHart,
                         testing::Values(mode::interpret, mode::translate, mode::check),
                         [](const auto& info) {
                             return info.param == mode::interpret   ? "Interpreted"
                                    : info.param == mode::translate ? "Translated"
                                                                    : "Checked";
                         });

}  // namespace trn::riscv::test
