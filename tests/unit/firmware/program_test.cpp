// SPDX-License-Identifier: Apache-2.0
// The collective firmware's checks of programs: doc/collectives.md.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

extern "C" {
#define _Static_assert static_assert
#include "firmware/cc_core/program.h"
#include "firmware/lib/crc32c.h"
}

namespace {

namespace error {
constexpr std::uint32_t ok = 0, magic = 4, length = 5, crc = 6, rank = 7, queue = 8, semaphore = 9,
                        step = 11;
}

constexpr std::uint32_t op(std::uint32_t code, std::uint32_t which = 0, std::uint32_t with = 0) {
    return code | which << 8 | with << 16;
}
constexpr std::uint32_t end = 0, wait = 1, advance = 2, post = 3, loop = 4, mark = 5;

/// A program of two ranks with two queues and semaphores 8 to 11, with steps before its END.
class program_bytes {
public:
    explicit program_bytes(std::vector<program_step> steps) {
        steps.push_back({op(end), 0, 0});
        bytes_.resize(sizeof(program) + steps.size() * sizeof steps[0]);
        std::memcpy(bytes_.data() + sizeof(program), steps.data(), steps.size() * sizeof steps[0]);
        it().magic = TRN_CC_PROGRAM_MAGIC_WORD_VALUE;
        it().format = TRN_CC_PROGRAM_FORMAT_NUMBER_VALUE;
        it().length = static_cast<std::uint32_t>(bytes_.size());
        it().rank = 1;
        it().ranks = 2;
        it().queues = 2;
        it().steps = static_cast<std::uint32_t>(steps.size());
        it().semaphores = 8 | 4 << 16;
    }
    program& it() { return *reinterpret_cast<program*>(bytes_.data()); }
    std::uint32_t check() {
        it().crc = 0;
        it().crc = crc32c(bytes_.data(), bytes_.size());
        return program_check(&it(), it().length);
    }
    std::uint32_t check_as_it_is(std::size_t length) {
        return program_check(&it(), static_cast<std::uint32_t>(length));
    }
    std::size_t size() const { return bytes_.size(); }

private:
    std::vector<std::uint8_t> bytes_;
};

std::uint32_t check(const std::vector<program_step>& steps) {
    return program_bytes(steps).check();
}
std::uint32_t check_changed(const std::function<void(program&)>& change) {
    program_bytes bytes({{op(mark), 0, 0}});
    change(bytes.it());
    return bytes.check() & 0xff;
}

TEST(CollectiveProgram, ValidProgramIsAccepted) {
    EXPECT_EQ(check({{op(wait, 8, 0), 1, 0},
                     {op(advance, 0, 2), 4, 4},
                     {op(post), 1, 0x8000000000001800},
                     {op(loop, 0, 0), 5, 0}}),
              error::ok);
}

TEST(CollectiveProgram, WrongHeaderIsRefused) {
    EXPECT_EQ(check_changed([](program& p) { p.magic = 1; }), error::magic);
    EXPECT_EQ(check_changed([](program& p) { p.format = 9; }), error::magic);
    EXPECT_EQ(check_changed([](program& p) { p.steps = 1; }), error::length);
    EXPECT_EQ(check_changed([](program& p) { p.steps = 0x10000002; }), error::length);
    EXPECT_EQ(check_changed([](program& p) { p.marks = (0x40000 - p.length) / 4; }), error::ok);
    EXPECT_EQ(check_changed([](program& p) { p.marks = (0x40000 - p.length) / 4 + 1; }),
              error::length)
        << "behind the slot";
    EXPECT_EQ(check_changed([](program& p) { p.rank = 2; }), error::rank);
    EXPECT_EQ(check_changed([](program& p) { p.queues = 65; }), error::queue);
    EXPECT_EQ(check_changed([](program& p) { p.semaphores = 255 | 2 << 16; }), error::semaphore);
}

TEST(CollectiveProgram, LengthThatDiffersFromTheHostsIsRefused) {
    program_bytes bytes({});
    EXPECT_EQ(bytes.check(), error::ok);
    EXPECT_EQ(bytes.check_as_it_is(bytes.size() - 16) & 0xff, error::length);
    EXPECT_EQ(bytes.check_as_it_is(16) & 0xff, error::length);
    EXPECT_EQ(bytes.check_as_it_is(1 << 20) & 0xff, error::length);
}

TEST(CollectiveProgram, FlippedBitIsRefused) {
    program_bytes bytes({{op(wait, 8, 0), 1, 0}});
    ASSERT_EQ(bytes.check(), error::ok);
    bytes.it().done ^= 1;
    EXPECT_EQ(bytes.check_as_it_is(bytes.size()) & 0xff, error::crc);
}

TEST(CollectiveProgram, InvalidStepIsRefused) {
    const auto refused = [](std::uint32_t number) { return error::step | number << 8; };
    EXPECT_EQ(check({{op(mark), 0, 0}, {op(77), 0, 0}}), refused(1)) << "unknown";
    EXPECT_EQ(check({{op(wait, 7, 0), 1, 0}}), refused(0)) << "another core's semaphore";
    EXPECT_EQ(check({{op(wait, 12, 0), 1, 0}}), refused(0)) << "another core's semaphore";
    EXPECT_EQ(check({{op(wait, 8, 2), 1, 0}}), refused(0)) << "rank 2 of 2";
    EXPECT_EQ(check({{op(wait, 8, 0), 0x80000000, 0}}), refused(0)) << "never reached";
    EXPECT_EQ(check({{op(wait, 8, 0), 0, 0}}), refused(0)) << "waits for nothing";
    EXPECT_EQ(check({{op(advance, 1, 2), 1, 1}}), refused(0)) << "queue 2 of 2";
    EXPECT_EQ(check({{op(advance, 0, 1), 1 << 24, 1}}), refused(0)) << "more than a ring";
    EXPECT_EQ(check({{op(post), 1, 2}}), refused(0)) << "no word";
    EXPECT_EQ(check({{op(loop, 0, 0), 1, 0}}), refused(0)) << "to itself";
    EXPECT_EQ(check({{op(mark), 0, 0}, {op(loop, 0, 0), 1, 0}, {op(loop, 0, 0), 1, 0}}), refused(2))
        << "a loop in a loop";
}

TEST(CollectiveProgram, SharesSemaphoresOnlyWhenTheirRangesOverlap) {
    program_bytes a({}), b({});
    b.it().semaphores = 12 | 4 << 16;
    EXPECT_FALSE(programs_share_semaphores(&a.it(), &b.it()));
    b.it().semaphores = 11 | 1 << 16;
    EXPECT_TRUE(programs_share_semaphores(&a.it(), &b.it()));
    EXPECT_TRUE(programs_share_semaphores(&b.it(), &a.it()));
}

}  // namespace
