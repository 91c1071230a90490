// SPDX-License-Identifier: Apache-2.0
// Contract 3.3 and 10: semaphores, events, state buffers and TOP_SP memory, accessed by all
// initiators.
#include "tests/integration/driver_contract/contract_fixture.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

constexpr std::uint64_t sync_window = 0x270'0000;  // offset in a core's aperture
constexpr std::uint64_t events_at = 0x0, set_at = 0x1400, increment_at = 0x1800,
                        decrement_at = 0x1c00;

struct sync_block {
    trn_sync_block kind;
    std::uint32_t number;
};

std::vector<sync_block> all_blocks(device& chip) {
    std::vector<sync_block> all;
    const auto info = chip.info();
    for (std::uint32_t n = 0; n < info.cores; ++n) all.push_back({TRN_SYNC_CORE, n});
    for (std::uint32_t n = 0; n < info.sync_blocks; ++n) all.push_back({TRN_SYNC_TOP_SP, n});
    return all;
}

std::int32_t semaphore(device& chip, sync_block at, std::uint32_t index) {
    std::int32_t value = 0;
    chip.check(trn_semaphore_read(chip, at.kind, at.number, index, &value));
    return value;
}

std::uint32_t event(device& chip, sync_block at, std::uint32_t index) {
    std::uint32_t value = 0;
    chip.check(trn_event_get(chip, at.kind, at.number, index, &value));
    return value;
}

TEST_P(DriverContract, CountsWithTheSemaphoresOfEveryCoreAndTopSp) {
    drive([&](device& chip) {
        for (const auto at : all_blocks(chip))
            for (const std::uint32_t index : {0u, 1u, 128u, 255u}) {
                const auto mine = static_cast<std::int32_t>(100 * at.number + index);
                chip.check(trn_semaphore_set(chip, at.kind, at.number, index, mine));
                chip.check(trn_semaphore_increment(chip, at.kind, at.number, index, 5));
                chip.check(trn_semaphore_decrement(chip, at.kind, at.number, index, 7));
            }
        for (const auto at : all_blocks(chip))
            for (const std::uint32_t index : {0u, 1u, 128u, 255u})
                EXPECT_EQ(semaphore(chip, at, index),
                          static_cast<std::int32_t>(100 * at.number + index) - 2);
    });
}

TEST_P(DriverContract, TakesSemaphoresBelowZero) {
    drive([&](device& chip) {
        chip.check(trn_semaphore_set(chip, TRN_SYNC_CORE, 0, 3, -5));
        EXPECT_EQ(semaphore(chip, {TRN_SYNC_CORE, 0}, 3), -5);
        chip.check(trn_semaphore_decrement(chip, TRN_SYNC_CORE, 0, 3, 10));
        EXPECT_EQ(semaphore(chip, {TRN_SYNC_CORE, 0}, 3), -15);
    });
}

TEST_P(DriverContract, SetsAndClearsTheEventsOfEveryCoreAndTopSp) {
    drive([&](device& chip) {
        for (const auto at : all_blocks(chip))
            for (const std::uint32_t index : {0u, 77u, 255u}) {
                EXPECT_EQ(event(chip, at, index), 0u);
                chip.check(trn_event_set(chip, at.kind, at.number, index, 1));
                EXPECT_EQ(event(chip, at, index), 1u);
                EXPECT_EQ(event(chip, at, index ^ 1), 0u);
                chip.check(trn_event_set(chip, at.kind, at.number, index, 0));
                EXPECT_EQ(event(chip, at, index), 0u);
            }
    });
}

TEST_P(DriverContract, OperatesSemaphoresAndEventsByDma) {
    drive([&](device& chip) {
        const auto put = [&](std::uint64_t address, std::uint32_t value) {
            chip.check(trn_write(chip, 0, address, &value, sizeof value));
        };
        for (std::uint32_t core = 0; core < chip.info().cores; ++core) {
            const auto window = trn_sbuf_address(chip, core, sync_window);
            const std::uint32_t index = 9 + core;
            put(window + set_at + 4 * index, 40);
            put(window + increment_at + 4 * index, 5);
            put(window + decrement_at + 4 * index, 3);
            EXPECT_EQ(semaphore(chip, {TRN_SYNC_CORE, core}, index), 42);
            put(window + events_at + 4 * index, 1);
            EXPECT_EQ(event(chip, {TRN_SYNC_CORE, core}, index), 1u);
            std::uint32_t read = 0;
            chip.check(trn_read(chip, 0, &read, window + 0x1000 + 4 * index, sizeof read));
            EXPECT_EQ(read, 42u);
        }
    });
}

TEST_P(DriverContract, AddsToManySemaphoresWithOneDescriptor) {
    drive([&](device& chip) {
        std::vector<std::uint32_t> amounts(256);
        for (std::uint32_t i = 0; i < 256; ++i) amounts[i] = i;
        const auto window = trn_sbuf_address(chip, 1, sync_window);
        for (int twice = 0; twice < 2; ++twice)
            chip.check(trn_write(chip, 0, window + increment_at, amounts.data(), 1024));
        for (const std::uint32_t i : {0u, 1u, 200u, 255u})
            EXPECT_EQ(semaphore(chip, {TRN_SYNC_CORE, 1}, i), static_cast<std::int32_t>(2 * i));
    });
}

TEST_P(DriverContract, Bar0AndDmaReachTheSameStateBuffers) {
    drive([&](device& chip) {
        const auto info = chip.info();
        const std::uint64_t end = info.state_buffer_size;
        for (std::uint32_t core = 0; core < info.cores; ++core) {
            const std::uint64_t window = map().state_buffers + core * 0x400'0000ull;
            for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{0x12340}, end - 4}) {
                const auto value = static_cast<std::uint32_t>(0x1000'0000 * core + offset);
                set_word(chip, window + offset, value);
                std::uint32_t read = 0;
                chip.check(trn_read(chip, core, &read, trn_sbuf_address(chip, core, offset), 4));
                EXPECT_EQ(read, value);
                fill(chip, trn_sbuf_address(chip, core, offset), 4, offset + core, core);
                read = word(chip, window + offset);
                EXPECT_FALSE(
                    pattern(offset + core)
                        .check({reinterpret_cast<const std::uint8_t*>(&read), sizeof read}));
            }
            const auto all = trn_sbuf_address(chip, core, MiB);
            fill(chip, all, 8 * MiB, core, core);
            expect_holds(chip, all, 8 * MiB, core, core);
        }
    });
}

}  // namespace
}  // namespace trn::test
