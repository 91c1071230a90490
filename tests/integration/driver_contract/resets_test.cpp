// SPDX-License-Identifier: Apache-2.0
// Contract 5 and 8: resets of the device and of cores, in the middle of work; scrubs.
#include <cstring>

#include "tests/integration/driver_contract/contract_fixture.h"

namespace trn::test {
namespace {

constexpr std::uint64_t KiB = 1 << 10, MiB = 1 << 20;

/// Revision 240 of Trainium3 is never reset (contract 2).
bool is_reset(const contract_board& board) {
    return board.mode != TRN_MODE_EMULATOR || board.device_id != 0x7564;
}

struct marks {
    std::int32_t semaphore = 0;
    std::uint32_t event = 0, slot_size = 0;
};

void leave_marks(device& chip, std::uint32_t core) {
    chip.check(trn_semaphore_set(chip, TRN_SYNC_CORE, core, 1, 5));
    chip.check(trn_event_set(chip, TRN_SYNC_CORE, core, 1, 1));
    chip.check(trn_semaphore_set(chip, TRN_SYNC_TOP_SP, 2 * core, 1, 5));
    chip.check(trn_notification_set(chip, TRN_NOTIFY_CORE, core, 3,
                                    trn_hbm_address(chip, 0, 20 * MiB), 4096));
    fill(chip, trn_sbuf_address(chip, core, 0), 4 * KiB, core, core);
}

bool marks_are_there(device& chip, std::uint32_t core) {
    std::int32_t of_core = 0, of_top_sp = 0;
    std::uint32_t event = 0;
    chip.check(trn_semaphore_read(chip, TRN_SYNC_CORE, core, 1, &of_core));
    chip.check(trn_semaphore_read(chip, TRN_SYNC_TOP_SP, 2 * core, 1, &of_top_sp));
    chip.check(trn_event_get(chip, TRN_SYNC_CORE, core, 1, &event));
    const bool there = of_core == 5;
    EXPECT_EQ(of_top_sp == 5, there);
    EXPECT_EQ(event == 1, there);
    return there;
}

TEST_P(DriverContract, ADeviceResetEmptiesQueuesAndSynchronisationAndKeepsMemory) {
    if (!is_reset(board())) GTEST_SKIP() << "this revision is never reset";
    drive([&](device& chip) {
        const auto cores = chip.info().cores;
        for (std::uint32_t core = 0; core < cores; ++core) leave_marks(chip, core);
        fill(chip, trn_hbm_address(chip, 3, 64 * MiB), MiB, 1);
        set_word(chip, 0x06C8'4190, 0x0102'0303);
        const host_buffer rings(chip, 8 * KiB);
        chip.check(trn_ring_init(chip, 40, 2, rings.address(), 32, rings.address() + 4 * KiB, 32));
        chip.check(trn_reset_device(chip));
        for (std::uint32_t core = 0; core < cores; ++core) {
            EXPECT_FALSE(marks_are_there(chip, core)) << core;
            expect_holds(chip, trn_sbuf_address(chip, core, 0), 4 * KiB, core, core);
        }
        trn_queue_state state{};
        chip.check(trn_queue_get_state(chip, 40, 2, &state));
        EXPECT_EQ(state.m2s.length, 0u);
        EXPECT_EQ(state.m2s.head_ring_id, 1u);
        EXPECT_EQ(word(chip, 0x0600'1000 + 0x100 + 3 * 0x28 + 8), 0u);  // notification slot off
        expect_holds(chip, trn_hbm_address(chip, 3, 64 * MiB), MiB, 1);
        EXPECT_EQ(word(chip, 0x06C8'4190), 0x0102'0303u);
    });
}

TEST_P(DriverContract, ACoreResetReachesTheCoresOfItsMapOnly) {
    if (!is_reset(board())) GTEST_SKIP() << "this revision is never reset";
    drive([&](device& chip) {
        const auto cores = chip.info().cores;
        for (const std::uint32_t map : {0x1u, 0x82u, 0x3cu, 0xffu}) {
            for (std::uint32_t core = 0; core < cores; ++core) leave_marks(chip, core);
            fill(chip, trn_hbm_address(chip, 1, 64 * MiB), MiB, map);
            const host_buffer rings(chip, 8 * KiB * cores);
            for (std::uint32_t core = 0; core < cores; ++core)
                chip.check(trn_ring_init(chip, core * 16 + 3, 1, rings.address() + core * 8 * KiB,
                                         32, rings.address() + core * 8 * KiB + 4 * KiB, 32));
            chip.check(trn_reset_cores(chip, map));
            for (std::uint32_t core = 0; core < cores; ++core) {
                const bool was_reset = (map >> core & 1) != 0;
                EXPECT_EQ(marks_are_there(chip, core), !was_reset) << "core " << core;
                trn_queue_state state{};
                chip.check(trn_queue_get_state(chip, core * 16 + 3, 1, &state));
                EXPECT_EQ(state.s2m.length, was_reset ? 0u : 32u) << "core " << core;
                const auto at = trn_hbm_address(chip, core / 2, 70 * MiB);
                fill(chip, at, 8 * KiB, core, core);
                expect_holds(chip, at, 8 * KiB, core, core);
            }
            expect_holds(chip, trn_hbm_address(chip, 1, 64 * MiB), MiB, map);
            for (std::uint32_t core = 0; core < cores; ++core)
                if ((map >> core & 1) == 0) {
                    chip.check(trn_ring_release(chip, core * 16 + 3, 1));
                    chip.check(trn_notification_set(chip, TRN_NOTIFY_CORE, core, 3, 0, 0));
                    chip.check(trn_semaphore_set(chip, TRN_SYNC_CORE, core, 1, 0));
                    chip.check(trn_semaphore_set(chip, TRN_SYNC_TOP_SP, 2 * core, 1, 0));
                    chip.check(trn_event_set(chip, TRN_SYNC_CORE, core, 1, 0));
                }
        }
    });
}

TEST_P(DriverContract, ResetsInTheMiddleOfCopiesLoseThemAndNothingElse) {
    if (!is_reset(board())) GTEST_SKIP() << "this revision is never reset";
    drive([&](device& chip) {
        const auto cores = chip.info().cores;
        const std::uint64_t size = 32 * MiB;
        const host_buffer from(chip, size);
        pattern(3).fill(from.bytes());
        fill(chip, trn_hbm_address(chip, 3, 128 * MiB), MiB, 8);
        for (const std::uint32_t map : {0u, 0x3u, 0xffu}) {
            std::vector<trn_job> jobs(cores);
            for (std::uint32_t core = 0; core < cores; ++core)
                chip.check(trn_submit(chip, core,
                                      trn_hbm_address(chip, core / 2, (64 + 32 * (core % 2)) * MiB),
                                      from.address(), size, &jobs[core]));
            chip.check(trn_sleep(chip, 30'000));
            chip.check(map == 0 ? trn_reset_device(chip) : trn_reset_cores(chip, map));
            for (std::uint32_t core = 0; core < cores; ++core) {
                const bool lost = map == 0 || (map >> core & 1) != 0;
                EXPECT_EQ(trn_wait(chip, jobs[core]), lost ? TRN_ABORTED : TRN_OK)
                    << "core " << core << " map " << map;
            }
            for (std::uint32_t core = 0; core < cores; ++core) {
                const auto to = trn_hbm_address(chip, core / 2, 20 * MiB);
                fill(chip, to, 4 * KiB, core, core);
                expect_holds(chip, to, 4 * KiB, core, core);
            }
            expect_holds(chip, trn_hbm_address(chip, 3, 128 * MiB), MiB, 8);
        }
    });
}

TEST_P(DriverContract, WorksAfterTheDriverWasUnloadedAndLoadedAgain) {
    for (std::uint64_t load = 0; load < 3; ++load)
        drive([&](device& chip) {
            const auto at = trn_hbm_address(chip, 0, 64 * MiB);
            if (load > 0) expect_holds(chip, at, 64 * KiB, load - 1);
            fill(chip, at, 64 * KiB, load);
        });
}

TEST_P(DriverContract, ScrubsAStackWhileCopiesRun) {
    drive([&](device& chip) {
        const auto stacks = chip.info().stacks;
        for (std::uint32_t stack = 0; stack < stacks; ++stack) {
            fill(chip, trn_hbm_address(chip, stack, 31 * MiB), 10 * MiB, 1);
            trn_scrubbing* running = nullptr;
            chip.check(
                trn_scrub_start(chip, stack, 32 * MiB, 8 * MiB, 0xA5A5'0000 + stack, &running));
            fill(chip, trn_hbm_address(chip, (stack + 1) % stacks, 64 * MiB), MiB, stack, 7);
            chip.check(trn_scrub_wait(chip, running));
            std::vector<std::uint32_t> words(8 * MiB / 4);
            chip.check(
                trn_read(chip, 0, words.data(), trn_hbm_address(chip, stack, 32 * MiB), 8 * MiB));
            for (const auto each : words) ASSERT_EQ(each, 0xA5A5'0000 + stack);
            std::vector<std::uint8_t> border(MiB);
            chip.check(
                trn_read(chip, 0, border.data(), trn_hbm_address(chip, stack, 31 * MiB), MiB));
            EXPECT_FALSE(pattern(1).check(border));
            chip.check(
                trn_read(chip, 0, border.data(), trn_hbm_address(chip, stack, 40 * MiB), MiB));
            EXPECT_FALSE(pattern(1).check(border, 9 * MiB));
            expect_holds(chip, trn_hbm_address(chip, (stack + 1) % stacks, 64 * MiB), MiB, stack);
        }
    });
}

TEST_P(DriverContract, CopiesPagesWithoutABounceBuffer) {
    drive([&](device& chip) {
        const auto end = std::min(chip.info().stack_size, std::uint64_t{36} << 30);
        const std::uint64_t most = 3 * MiB;
        trn_buffer out{}, back{};
        chip.check(trn_buffer_alloc(chip, most + 4 * KiB, &out));
        chip.check(trn_buffer_alloc(chip, most + 4 * KiB, &back));
        const std::span<std::uint8_t> sent(static_cast<std::uint8_t*>(out.memory.host),
                                           most + 4 * KiB);
        const std::span<const std::uint8_t> got(static_cast<std::uint8_t*>(back.memory.host),
                                                most + 4 * KiB);
        std::uint64_t seed = 1;
        for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{4}, std::uint64_t{4096},
                                         8 * KiB, 8 * KiB + 1, 64 * KiB, 256 * KiB + 5, most})
            for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1234}})
                for (const auto inside :
                     {trn_hbm_address(chip, 1, 64 * MiB + offset),
                      trn_hbm_address(chip, 3, end - size), trn_sbuf_address(chip, 2, 4096)}) {
                    pattern(++seed).fill(sent);
                    chip.check(trn_zero_copy(chip, 3, TRN_DEFAULT_QUEUE, inside, &out, offset, size,
                                             TRN_TO_DEVICE));
                    chip.check(trn_zero_copy(chip, 3, TRN_DEFAULT_QUEUE, inside, &back, offset,
                                             size, TRN_FROM_DEVICE));
                    EXPECT_FALSE(pattern(seed).check(got.subspan(offset, size), offset))
                        << size << " bytes at " << offset;
                }
        EXPECT_EQ(trn_zero_copy(chip, 3, 9, 0, &out, 0, 4, TRN_TO_DEVICE), TRN_INVALID_ARGUMENT);
        EXPECT_EQ(trn_zero_copy(chip, 3, TRN_DEFAULT_QUEUE, 0, &out, 2 * most, 4, TRN_TO_DEVICE),
                  TRN_INVALID_ARGUMENT);
        trn_buffer_free(chip, &out);
        trn_buffer_free(chip, &back);
    });
}

TEST_P(DriverContract, CopiesOnEveryQueueOfTheHostTransferEngines) {
    drive([&](device& chip) {
        const auto info = chip.info();
        trn_buffer buffer{};
        chip.check(trn_buffer_alloc(chip, 64 * KiB, &buffer));
        const std::span<std::uint8_t> bytes(static_cast<std::uint8_t*>(buffer.memory.host),
                                            64 * KiB);
        for (std::uint32_t core = 0; core < info.cores; core += 2) {
            std::vector<std::uint32_t> queues(14);
            for (auto& queue : queues) chip.check(trn_host_queue_open(chip, core, &queue));
            std::uint32_t none = 0;
            EXPECT_EQ(trn_host_queue_open(chip, core, &none), TRN_BUSY);
            for (const auto queue : queues) {
                const auto at =
                    trn_hbm_address(chip, core / 2 % info.stacks, 64 * MiB + queue * 64 * KiB);
                pattern(queue).fill(bytes);
                chip.check(
                    trn_zero_copy(chip, core, queue, at, &buffer, 0, 64 * KiB, TRN_TO_DEVICE));
                expect_holds(chip, at, 64 * KiB, queue);
                chip.check(trn_host_queue_close(chip, core, queue));
                EXPECT_EQ(trn_host_queue_close(chip, core, queue), TRN_INVALID_ARGUMENT);
            }
        }
        trn_buffer_free(chip, &buffer);
    });
}

}  // namespace
}  // namespace trn::test
