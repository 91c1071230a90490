// SPDX-License-Identifier: Apache-2.0
// Contract 7 and 8: copies over the host-transfer engines.
#include <cstring>

#include "tests/integration/driver_contract/contract_fixture.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

TEST_P(DriverContract, CopiesEverySizeToEveryStackAndBack) {
    drive([&](device& chip) {
        const auto info = chip.info();
        std::uint64_t seed = 1;
        for (std::uint32_t stack = 0; stack < info.stacks; ++stack)
            for (const std::uint64_t size :
                 {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{4}, 4 * KiB - 1, 4 * KiB,
                  64 * KiB, 64 * KiB + 1, MiB, MiB + 13}) {
                const auto at = hbm(chip, stack, 32 * MiB + 5 * (seed % 3));
                fill(chip, at, size, seed);
                expect_holds(chip, at, size, seed++);
            }
    });
}

TEST_P(DriverContract, Copies64MiBFromTheHostOverEveryStackToTheHost) {
    drive([&](device& chip) {
        const auto info = chip.info();
        const std::uint64_t size = 64 * MiB;
        const host_buffer from(chip, size), to(chip, size);
        pattern(7).fill(from.bytes());
        const auto at = [&](std::uint32_t stack) { return hbm(chip, stack, 64 * MiB); };
        chip.check(trn_copy(chip, 0, at(0), from.address(), size));
        for (std::uint32_t stack = 1; stack < info.stacks; ++stack)
            chip.check(trn_copy(chip, 2 * stack % info.cores, at(stack), at(stack - 1), size));
        chip.check(trn_copy(chip, info.cores - 1, to.address(), at(info.stacks - 1), size));
        EXPECT_FALSE(pattern(7).check(to.bytes()));
    });
}

TEST_P(DriverContract, CopiesBetweenEveryTwoStacks) {
    drive([&](device& chip) {
        const auto info = chip.info();
        for (std::uint32_t from = 0; from < info.stacks; ++from)
            for (std::uint32_t to = 0; to < info.stacks; ++to) {
                if (from == to) continue;
                const std::uint64_t seed = 10 * from + to, size = 200 * KiB + 7;
                fill(chip, hbm(chip, from, 32 * MiB), size, seed);
                chip.check(trn_copy(chip, 0, hbm(chip, to, 33 * MiB + 1), hbm(chip, from, 32 * MiB),
                                    size));
                expect_holds(chip, hbm(chip, to, 33 * MiB + 1), size, seed);
            }
    });
}

TEST_P(DriverContract, CopiesOnTheQueueOfEveryCore) {
    drive([&](device& chip) {
        for (std::uint32_t core = 0; core < chip.info().cores; ++core) {
            const auto at = hbm(chip, 1, 40 * MiB + core * MiB);
            fill(chip, at, 100 * KiB, core, core);
            expect_holds(chip, at, 100 * KiB, core, core);
        }
    });
}

TEST_P(DriverContract, CopiesHostToHost) {
    drive([&](device& chip) {
        const host_buffer from(chip, 300 * KiB, 3), to(chip, 300 * KiB, 5);
        pattern(3).fill(from.bytes());
        chip.check(trn_copy(chip, 0, to.address(), from.address(), 300 * KiB));
        EXPECT_FALSE(pattern(3).check(to.bytes()));
    });
}

TEST_P(DriverContract, Bar4ReachesTheSameMemory) {
    drive([&](device& chip) {
        const auto info = chip.info();
        for (std::uint32_t stack = 0; stack < info.stacks; ++stack) {
            // The last and first bytes that are both in BAR4 and in the stack.
            const auto end = std::min(info.stack_size, std::uint64_t{36} << 30);
            for (const std::uint64_t offset : {std::uint64_t{16} << 20, end - 100}) {
                std::vector<std::uint8_t> bytes(100);
                fill(chip, hbm(chip, stack, offset), bytes.size(), stack);
                chip.check(trn_window_read(chip, stack, offset, bytes.data(), bytes.size()));
                EXPECT_FALSE(pattern(stack).check(bytes));
                pattern(stack + 9).fill(bytes);
                chip.check(trn_window_write(chip, stack, offset, bytes.data(), bytes.size()));
                expect_holds(chip, hbm(chip, stack, offset), bytes.size(), stack + 9);
            }
        }
    });
}

TEST_P(DriverContract, FillsMemoryWithAByte) {
    drive([&](device& chip) {
        for (const std::uint64_t size : {std::uint64_t{1}, 64 * KiB, 3 * MiB + 17}) {
            const auto at = hbm(chip, 2, 48 * MiB);
            fill(chip, at - 1, size + 2, 5);
            chip.check(trn_memset(chip, 1, at, 0xa5, size));
            std::vector<std::uint8_t> found(size + 2), expected(size + 2);
            chip.check(trn_read(chip, 1, found.data(), at - 1, size + 2));
            pattern(5).fill(expected);
            std::memset(expected.data() + 1, 0xa5, size);
            EXPECT_FALSE(compare(expected, found));
        }
    });
}

TEST_P(DriverContract, RunsAsynchronousCopiesOfAllCoresAtOnce) {
    drive([&](device& chip) {
        const auto cores = chip.info().cores;
        const host_buffer from(chip, cores * MiB);
        pattern(11).fill(from.bytes());
        std::vector<trn_job> jobs(cores);
        for (std::uint32_t core = 0; core < cores; ++core)
            chip.check(trn_submit(chip, core, hbm(chip, core / 2, 50 * MiB + core * MiB),
                                  from.address() + core * MiB, MiB, &jobs[core]));
        for (const auto job : jobs) {
            EXPECT_TRUE(eventually(chip, [&] {
                bool done = false;
                chip.check(trn_poll(chip, job, &done));
                return done;
            }));
            chip.check(trn_wait(chip, job));
            EXPECT_EQ(trn_wait(chip, job), TRN_INVALID_ARGUMENT);
        }
        std::vector<std::uint8_t> bytes(MiB);
        for (std::uint32_t core = 0; core < cores; ++core) {
            chip.check(trn_read(chip, core, bytes.data(),
                                hbm(chip, core / 2, 50 * MiB + core * MiB), MiB));
            EXPECT_FALSE(pattern(11).check(bytes, core * MiB));
        }
    });
}

TEST_P(DriverContract, ReportsTheCauseOfAnAbortedCopyAndRecovers) {
    expect_misuse("unmapped-source");
    drive([&](device& chip) {
        const std::uint64_t nowhere = 0xF'F000'0000;  // beyond every chip's first stack
        EXPECT_EQ(trn_copy(chip, 0, hbm(chip, 0, 32 * MiB), nowhere, 4 * KiB), TRN_ABORTED);
        trn_failure why{};
        ASSERT_TRUE(trn_last_failure(chip, &why));
        EXPECT_EQ(why.queue, 0u);
        EXPECT_EQ(why.cause_m2s & 1u << 8, 1u << 8);  // AXI response error of a data read
        EXPECT_EQ(why.m2s_state & 0x2222, 0x2222u);
        EXPECT_EQ(trn_copy(chip, 0, hbm(chip, 0, 32 * MiB), hbm(chip, 1, 32 * MiB), 4),
                  TRN_NOT_READY);
        fill(chip, hbm(chip, 3, 32 * MiB), 4 * KiB, 1, 1);  // other queues are not affected
        chip.check(trn_restart_queue(chip, 0));
        fill(chip, hbm(chip, 0, 32 * MiB), 4 * KiB, 2);
        expect_holds(chip, hbm(chip, 0, 32 * MiB), 4 * KiB, 2);
    });
}

}  // namespace
}  // namespace trn::test
