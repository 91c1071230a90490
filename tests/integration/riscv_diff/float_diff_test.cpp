// SPDX-License-Identifier: Apache-2.0
// F and D instructions must leave the same registers, flags and memory on the model's hart and on
// Debian's qemu-system-riscv64.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/integration/riscv_diff/float_program.h"
#include "tests/integration/riscv_diff/machines.h"

namespace trn::riscv::test {

namespace {

float_program::outcome outcome_of(const bytes& printed, unsigned vector) {
    float_program::outcome left;
    std::memcpy(&left, &printed.at(vector * sizeof left), sizeof left);
    return left;
}

std::string text(const float_program::outcome& left) {
    return fmt::format("f {:#x}, x {:#x}, fcsr {:#x}, stored {:#x} {:#x}", left.f, left.x,
                       left.fcsr, left.stored, left.stored_high);
}

class FloatProgram : public testing::TestWithParam<u64> {};

}  // namespace

TEST_P(FloatProgram, MatchesQemu) {
    const float_program program(GetParam());
    const bytes ours = run_in_hart(program.image, isa::parse("rv64imafdc"));
    const bytes theirs = run_in_qemu(program.image, "rv64,h=false,zbc=false,sstc=false");
    ASSERT_EQ(ours.size(), float_program::vectors * sizeof(float_program::outcome));
    ASSERT_EQ(theirs.size(), ours.size());
    unsigned differ = 0;
    for (unsigned i = 0; i < float_program::vectors && differ < 20; ++i) {
        const auto our = text(outcome_of(ours, i)), their = text(outcome_of(theirs, i));
        if (our != their) ++differ;
        EXPECT_EQ(our, their) << "seed " << GetParam() << ": " << program.describe(i);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FloatProgram, testing::Range<u64>(1, 5));

}  // namespace trn::riscv::test
