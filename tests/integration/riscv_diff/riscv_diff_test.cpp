// SPDX-License-Identifier: Apache-2.0
// Random programs must record the same traps, registers and memory on the model's hart and on
// Debian's qemu-system-riscv64.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "models/processor/riscv/translate/translate.h"
#include "tests/integration/riscv_diff/machines.h"
#include "tests/integration/riscv_diff/program.h"

namespace trn::riscv::test {

namespace {

u64 word_at(const bytes& text, std::size_t at) {
    u64 value = 0;
    if (at + 8 <= text.size()) std::memcpy(&value, &text[at], 8);
    return value;
}

/// Describes the first trap that differs. Output is registers at the end, the hash of S mode, the
/// data, then a record per trap.
std::string difference(const bytes& ours, const bytes& theirs) {
    constexpr std::size_t trace = 32 * 8 + 8 + 0x4000, words = 4 + 31, record = words * 8;
    constexpr const char* names[] = {"cause", "pc", "value", "status"};
    if (ours == theirs) return "";
    for (std::size_t at = trace; at < std::max(ours.size(), theirs.size()); at += record) {
        std::ostringstream text;
        for (std::size_t i = 0; i < words; ++i) {
            const u64 a = word_at(ours, at + 8 * i), b = word_at(theirs, at + 8 * i);
            if (a == b) continue;
            text << (i < 4 ? std::string(names[i]) : "x" + std::to_string(i - 3)) << std::hex << " "
                 << a << ", qemu " << b << std::dec << "; ";
        }
        if (!text.str().empty())
            return "trap " + std::to_string((at - trace) / record) + ": " + text.str() + "at pc " +
                   fmt::format("{:#x}", word_at(ours, at + 8));
    }
    return "the data or what S mode saw differs";
}

class RandomProgram : public testing::TestWithParam<u64> {};

}  // namespace

TEST_P(RandomProgram, MatchesQemu) {
    constexpr u64 seeds_per_test = 8;
    const elf_program monitor = read_elf(MONITOR);
    for (u64 i = 0; i < seeds_per_test; ++i) {
        const u64 seed = GetParam() * 1000 + i;
        const random_program program(monitor, seed);
        const bytes ours = run_in_hart(program.image);
        const bytes theirs =
            run_in_qemu(program.image, "rv64,f=false,d=false,h=false,zbc=false,sstc=false");
        ASSERT_GT(ours.size(), 20000u);
        ASSERT_EQ(difference(ours, theirs), "") << "seed " << seed;
        for (const auto how : {translate::mode::translate, translate::mode::check}) {
            if (!translate::choose(how, {.threshold = 1})) continue;  // unsupported by this host
            ASSERT_EQ(difference(run_in_hart(program.image), ours), "")
                << "translated; seed " << seed;
        }
        translate::choose(translate::mode::interpret);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgram, testing::Range<u64>(1, 9));

}  // namespace trn::riscv::test
