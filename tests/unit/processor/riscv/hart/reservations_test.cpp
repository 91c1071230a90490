// SPDX-License-Identifier: Apache-2.0
// Reservations of a hart, while other harts have their turns.
#include "models/processor/riscv/privileged/reservations.h"

#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;

namespace {

constexpr u32 t1 = 6, t2 = 7, t3 = 28;
constexpr u32 lr_d_t0 = 0x100332af, sc_d_t2_t3 = 0x19c333af;  // address in t1
constexpr u32 amoadd_d_zero_zero = 0x0003302f;                // address in t1
constexpr u32 cbo_zero_t1 = 0x0043200f;

}  // namespace

/// `h` reserves `word` and stores 5 there in its second turn; `other` acts between.
class ReservationTest : public RiscvTest {
protected:
    static constexpr u64 word = base + 0x2340, others_code = base + 0x400, codes_end = base + 0x800;

    std::shared_ptr<reservations> shared = std::make_shared<reservations>();
    std::unique_ptr<hart> other;

    ReservationTest() {
        h = another(base);
        other = another(others_code);
        put(base, {lr_d_t0, sc_d_t2_t3, jal(0, 0)});
        h->write_x(t1, word);
        h->write_x(t3, 5);
        h->write_x(t2, 2);
        other->write_x(t1, word);
    }
    std::unique_ptr<hart> another(u64 pc) {
        return std::make_unique<hart>(hart::config{0, isa::full(), pc, true}, memory, code, shared);
    }
    void others_turn(std::initializer_list<u32> words) {
        put(others_code, words);
        other->run(words.size());
    }
    /// Whether SC succeeds after other hart's turn with `words`.
    bool holds_over(std::initializer_list<u32> words) {
        h->run(1);
        others_turn(words);
        h->run(1);
        EXPECT_EQ(h->pc(), base + 8);
        EXPECT_LE(h->read_x(t2), 1u);
        const bool stored = h->read_x(t2) == 0;
        EXPECT_EQ(peek(word), stored ? 5u : 0u);
        return stored;
    }
};

TEST_F(ReservationTest, EndsWithAStoreOfTheSameValueByAnotherHart) {
    EXPECT_FALSE(holds_over({sd(0, t1, 0)}));
}

TEST_F(ReservationTest, EndsWithAStoreAfterTheOtherHartHasStoredToThePageFast) {
    put(others_code - 8, {sd(0, t1, 0), sd(0, t1, 64)});
    other->set_pc(others_code - 8);
    other->run(2);
    EXPECT_FALSE(holds_over({sd(0, t1, 0)}));
}

/// As while an error in the memory makes it refuse pointers.
TEST_F(ReservationTest, MemoryWithoutPointersHasAllAccessesOfMemory) {
    memory.direct_end = word;
    memory.refusals_pass = true;
    EXPECT_TRUE(holds_over({addi(5, 5, 1)}));
    h->write_x(t2, 0x1122334455667788);
    u64 next = base + 0x500;
    put(next, {sd(t2, t1, 61), ld(t3, t1, 61), amoadd_d_zero_zero, cbo_zero_t1});
    h->set_pc(next);
    h->run(4);
    EXPECT_EQ(h->pc(), next + 16);
    EXPECT_EQ(h->read_x(t3), 0x1122334455667788u);
    EXPECT_EQ(peek(word), 0u);
    EXPECT_EQ(peek(word + 64), 0x1122334455u);

    h->write_csr(0x305, base + 0x200);  // mtvec
    memory.refusals_pass = false;       // what has no pointer is a device
    for (const u32 access : {ld(t3, t1, 61), lr_d_t0, sc_d_t2_t3, cbo_zero_t1}) {
        put(next += 0x20, {access});
        h->set_pc(next);
        h->run(1);
        EXPECT_EQ(h->pc(), base + 0x200) << access;
    }
}

TEST_F(ReservationTest, EndsWhenTheValueOfAWordWithoutPointersChanges) {
    memory.direct_end = word;
    memory.refusals_pass = true;
    h->run(1);
    others_turn({addi(5, 0, 9), sd(5, t1, 0)});
    h->run(1);
    EXPECT_EQ(h->read_x(t2), 1u);
    EXPECT_EQ(peek(word), 9u);
}

TEST_F(ReservationTest, EndsWithAByteOfTheWord) {
    EXPECT_FALSE(holds_over({s(0, t1, 0, 7)}));
}

TEST_F(ReservationTest, EndsWithAMisalignedStoreToAPart) {
    EXPECT_FALSE(holds_over({sd(0, t1, -7)}));
}

TEST_F(ReservationTest, EndsWithAnAmoThatChangesNothing) {
    EXPECT_FALSE(holds_over({amoadd_d_zero_zero}));
}

TEST_F(ReservationTest, EndsWithAStoreConditionalOfTheSameValue) {
    EXPECT_FALSE(holds_over({lr_d_t0, 0x180333af /* sc.d t2, zero, (t1) */}));
}

TEST_F(ReservationTest, EndsWithAZeroedCacheBlock) {
    EXPECT_FALSE(holds_over({cbo_zero_t1}));
}

TEST_F(ReservationTest, EndsWithAStoreThatGoesToTheBus) {
    memory.observed = true;
    EXPECT_FALSE(holds_over({sd(0, t1, 0)}));
}

TEST_F(ReservationTest, HoldsOverStoresBesideTheWord) {
    EXPECT_TRUE(holds_over({sd(0, t1, 8), sd(0, t1, -8), sd(0, t1, 16), sd(t1, t1, 8)}));
}

TEST_F(ReservationTest, HoldsOverLoadsAndReservationsOfTheWord) {
    EXPECT_TRUE(holds_over({ld(5, t1, 0), lr_d_t0, nop}));
}

TEST_F(ReservationTest, ThatIsOldEndsWithTheTurnOfAnotherHart) {
    put(base + 4, {nop});
    h->run(1);
    for (unsigned n = 0; n < reservations::max_age + 1; ++n) h->set_pc(base + 4), h->run(1);
    put(base + 4, {sc_d_t2_t3});
    h->invalidate_code();
    others_turn({nop});
    h->set_pc(base + 4);
    h->run(1);
    EXPECT_EQ(h->read_x(t2), 1u);
}

TEST_F(ReservationTest, OfAHartInResetDoesNotSlowOthers) {
    h->run(1);
    h->reset();
    EXPECT_FALSE(shared->begin_turn(*std::make_unique<reservation>()));
}

TEST_F(ReservationTest, StoresAreFastAgainAfterwards) {
    others_turn({sd(0, t1, 0)});
    EXPECT_EQ(other->exec.space->store_entry(word).tag, word & ~u64{4095});
    h->run(1);
    others_turn({sd(0, t1, 0), sd(0, t1, 8)});
    EXPECT_EQ(other->exec.space->store_entry(word).tag, tlb_entry::empty);
    h->run(1);
    other->set_pc(others_code);
    others_turn({sd(0, t1, 0), sd(0, t1, 8)});
    EXPECT_EQ(other->exec.space->store_entry(word).tag, word & ~u64{4095});
}

TEST_F(RiscvTest, ExactRunsEndInTheMiddleOfABlock) {
    put(base, {addi(5, 5, 1), addi(5, 5, 1), addi(5, 5, 1), addi(5, 5, 1), jal(0, -16)});
    auto exact = std::make_unique<hart>(hart::config{0, isa::usual(), base, true}, memory, code);
    u64 done = 0;
    for (const u64 count : {1u, 2u, 3u, 63u, 64u, 65u, 66u, 1000u, 1u, 12345u}) {
        EXPECT_EQ(exact->run(count), count);
        done += count;
        EXPECT_EQ(exact->ticks(), done);
        EXPECT_EQ(exact->read_x(5), done - done / 5);
        EXPECT_EQ(exact->pc(), base + done % 5 * 4);
    }
}

}  // namespace trn::riscv::test
