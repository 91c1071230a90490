// SPDX-License-Identifier: Apache-2.0
// Contract 5 and 8: resets of the device and of cores during work; scrubs.
#include <cstring>

#include "tests/integration/driver_contract/contract_fixture.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

/// Revision 240 of Trainium3 is never reset (contract 2).
bool is_reset(const contract_board& board) {
    return board.mode != TRN_MODE_EMULATOR || board.device_id != 0x7564;
}

/// The first TOP_SP that is reset with a core (contract 5.2, 15.2).
std::uint32_t top_sp_of(device& chip, std::uint32_t core) {
    return chip.info().sync_blocks / chip.info().cores * core;
}

void leave_marks(device& chip, std::uint32_t core) {
    chip.check(trn_semaphore_set(chip, TRN_SYNC_CORE, core, 1, 5));
    chip.check(trn_event_set(chip, TRN_SYNC_CORE, core, 1, 1));
    chip.check(trn_semaphore_set(chip, TRN_SYNC_TOP_SP, top_sp_of(chip, core), 1, 5));
    chip.check(trn_notification_set(chip, TRN_NOTIFY_CORE, core, 3, hbm(chip, 0, 20 * MiB), 4096));
    fill(chip, trn_sbuf_address(chip, core, 0), 4 * KiB, core, core);
}

bool marks_are_there(device& chip, std::uint32_t core) {
    std::int32_t of_core = 0, of_top_sp = 0;
    std::uint32_t event = 0;
    chip.check(trn_semaphore_read(chip, TRN_SYNC_CORE, core, 1, &of_core));
    chip.check(trn_semaphore_read(chip, TRN_SYNC_TOP_SP, top_sp_of(chip, core), 1, &of_top_sp));
    chip.check(trn_event_get(chip, TRN_SYNC_CORE, core, 1, &event));
    const bool there = of_core == 5;
    EXPECT_EQ(of_top_sp == 5, there);
    EXPECT_EQ(event == 1, there);
    return there;
}

TEST_P(DriverContract, DeviceResetClearsQueuesAndSynchronisationAndKeepsMemory) {
    if (!is_reset(board())) GTEST_SKIP() << "this revision is never reset";
    drive([&](device& chip) {
        const auto cores = chip.info().cores;
        for (std::uint32_t core = 0; core < cores; ++core) leave_marks(chip, core);
        fill(chip, hbm(chip, 3, 64 * MiB), MiB, 1);
        set_word(chip, map().misc_ram + 0x190, 0x0102'0303);
        const host_buffer rings(chip, 8 * KiB);
        chip.check(trn_ring_init(chip, engine_of(chip, 40), 2, rings.address(), 32,
                                 rings.address() + 4 * KiB, 32));
        chip.check(trn_reset_device(chip));
        for (std::uint32_t core = 0; core < cores; ++core) {
            EXPECT_FALSE(marks_are_there(chip, core)) << core;
            expect_holds(chip, trn_sbuf_address(chip, core, 0), 4 * KiB, core, core);
        }
        trn_queue_state state{};
        chip.check(trn_queue_get_state(chip, engine_of(chip, 40), 2, &state));
        EXPECT_EQ(state.m2s.length, 0u);
        EXPECT_EQ(state.m2s.head_ring_id, 1u);
        EXPECT_EQ(word(chip, map().notifiers[0].registers + 0x100 + 3 * 0x28 + 8),
                  0u);  // notification slot off
        expect_holds(chip, hbm(chip, 3, 64 * MiB), MiB, 1);
        EXPECT_EQ(word(chip, map().misc_ram + 0x190), 0x0102'0303u);
    });
}

TEST_P(DriverContract, CoreResetAffectsOnlyTheCoresOfItsMap) {
    if (!is_reset(board())) GTEST_SKIP() << "this revision is never reset";
    drive([&](device& chip) {
        const auto cores = chip.info().cores;
        const std::uint32_t all = (1u << cores) - 1;
        for (const std::uint32_t cores_reset : {0x1u, 0x82u & all, 0x3cu & all, all}) {
            if (cores_reset == 0) continue;
            for (std::uint32_t core = 0; core < cores; ++core) leave_marks(chip, core);
            fill(chip, hbm(chip, 1, 64 * MiB), MiB, cores_reset);
            const host_buffer rings(chip, 8 * KiB * cores);
            for (std::uint32_t core = 0; core < cores; ++core)
                chip.check(trn_ring_init(chip, core * 16 + 3, 1, rings.address() + core * 8 * KiB,
                                         32, rings.address() + core * 8 * KiB + 4 * KiB, 32));
            chip.check(trn_reset_cores(chip, cores_reset));
            for (std::uint32_t core = 0; core < cores; ++core) {
                const bool was_reset = (cores_reset >> core & 1) != 0;
                EXPECT_EQ(marks_are_there(chip, core), !was_reset) << "core " << core;
                trn_queue_state state{};
                chip.check(trn_queue_get_state(chip, core * 16 + 3, 1, &state));
                EXPECT_EQ(state.s2m.length, was_reset ? 0u : 32u) << "core " << core;
                const auto at = hbm(chip, core / 2, 70 * MiB);
                fill(chip, at, 8 * KiB, core, core);
                expect_holds(chip, at, 8 * KiB, core, core);
            }
            expect_holds(chip, hbm(chip, 1, 64 * MiB), MiB, cores_reset);
            for (std::uint32_t core = 0; core < cores; ++core)
                if ((cores_reset >> core & 1) == 0) {
                    chip.check(trn_ring_release(chip, core * 16 + 3, 1));
                    chip.check(trn_notification_set(chip, TRN_NOTIFY_CORE, core, 3, 0, 0));
                    chip.check(trn_semaphore_set(chip, TRN_SYNC_CORE, core, 1, 0));
                    chip.check(
                        trn_semaphore_set(chip, TRN_SYNC_TOP_SP, top_sp_of(chip, core), 1, 0));
                    chip.check(trn_event_set(chip, TRN_SYNC_CORE, core, 1, 0));
                }
        }
    });
}

TEST_P(DriverContract, ResetDuringCopiesLosesOnlyThoseCopies) {
    if (!is_reset(board())) GTEST_SKIP() << "this revision is never reset";
    expect_misuse("reset-while-owned");
    drive([&](device& chip) {
        const auto cores = chip.info().cores;
        const std::uint64_t size = 32 * MiB;
        const host_buffer from(chip, size);
        pattern(3).fill(from.bytes());
        fill(chip, hbm(chip, 3, 128 * MiB), MiB, 8);
        const std::uint32_t all = (1u << cores) - 1;
        for (const std::uint32_t cores_reset : {0u, 0x3u, all}) {
            std::vector<trn_job> jobs(cores);
            for (std::uint32_t core = 0; core < cores; ++core)
                chip.check(trn_submit(chip, core, hbm(chip, core / 2, (64 + 32 * (core % 2)) * MiB),
                                      from.address(), size, &jobs[core]));
            chip.check(trn_sleep(chip, 30'000));
            chip.check(cores_reset == 0 ? trn_reset_device(chip)
                                        : trn_reset_cores(chip, cores_reset));
            for (std::uint32_t core = 0; core < cores; ++core) {
                const bool lost = cores_reset == 0 || (cores_reset >> core & 1) != 0;
                EXPECT_EQ(trn_wait(chip, jobs[core]), lost ? TRN_ABORTED : TRN_OK)
                    << "core " << core << " map " << cores_reset;
            }
            for (std::uint32_t core = 0; core < cores; ++core) {
                const auto to = hbm(chip, core / 2, 20 * MiB);
                fill(chip, to, 4 * KiB, core, core);
                expect_holds(chip, to, 4 * KiB, core, core);
            }
            expect_holds(chip, hbm(chip, 3, 128 * MiB), MiB, 8);
        }
    });
}

TEST_P(DriverContract, WorksAfterADriverReload) {
    for (std::uint64_t load = 0; load < 3; ++load)
        drive([&](device& chip) {
            const auto at = hbm(chip, 0, 64 * MiB);
            if (load > 0) expect_holds(chip, at, 64 * KiB, load - 1);
            fill(chip, at, 64 * KiB, load);
        });
}

TEST_P(DriverContract, ScrubsAStackWhileCopiesRun) {
    drive([&](device& chip) {
        const auto stacks = chip.info().stacks;
        for (std::uint32_t stack = 0; stack < stacks; ++stack) {
            fill(chip, hbm(chip, stack, 31 * MiB), 10 * MiB, 1);
            trn_scrubbing* running = nullptr;
            chip.check(
                trn_scrub_start(chip, stack, 32 * MiB, 8 * MiB, 0xA5A5'0000 + stack, &running));
            fill(chip, hbm(chip, (stack + 1) % stacks, 64 * MiB), MiB, stack,
                 chip.info().cores - 1);
            chip.check(trn_scrub_wait(chip, running));
            std::vector<std::uint32_t> words(8 * MiB / 4);
            chip.check(trn_read(chip, 0, words.data(), hbm(chip, stack, 32 * MiB), 8 * MiB));
            for (const auto each : words) ASSERT_EQ(each, 0xA5A5'0000 + stack);
            std::vector<std::uint8_t> border(MiB);
            chip.check(trn_read(chip, 0, border.data(), hbm(chip, stack, 31 * MiB), MiB));
            EXPECT_FALSE(pattern(1).check(border));
            chip.check(trn_read(chip, 0, border.data(), hbm(chip, stack, 40 * MiB), MiB));
            EXPECT_FALSE(pattern(1).check(border, 9 * MiB));
            expect_holds(chip, hbm(chip, (stack + 1) % stacks, 64 * MiB), MiB, stack);
        }
    });
}

TEST_P(DriverContract, CopiesPagesWithoutABounceBuffer) {
    drive([&](device& chip) {
        const auto end = std::min(chip.info().stack_size, std::uint64_t{36} << 30);
        const std::uint64_t most = 3 * MiB;
        const std::uint32_t core = chip.info().cores - 1;
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
                for (const auto inside : {hbm(chip, 1, 64 * MiB + offset), hbm(chip, 3, end - size),
                                          trn_sbuf_address(chip, core, 4096)}) {
                    pattern(++seed).fill(sent);
                    chip.check(trn_zero_copy(chip, core, TRN_DEFAULT_QUEUE, inside, &out, offset,
                                             size, TRN_TO_DEVICE));
                    chip.check(trn_zero_copy(chip, core, TRN_DEFAULT_QUEUE, inside, &back, offset,
                                             size, TRN_FROM_DEVICE));
                    EXPECT_FALSE(pattern(seed).check(got.subspan(offset, size), offset))
                        << size << " bytes at " << offset;
                }
        EXPECT_EQ(trn_zero_copy(chip, core, 9, 0, &out, 0, 4, TRN_TO_DEVICE), TRN_INVALID_ARGUMENT);
        EXPECT_EQ(trn_zero_copy(chip, core, TRN_DEFAULT_QUEUE, 0, &out, 2 * most, 4, TRN_TO_DEVICE),
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
        const auto sharing = info.cores / (info.dma_engines - info.cores * 16);
        for (std::uint32_t core = 0; core < info.cores; core += sharing) {
            std::vector<std::uint32_t> queues(16 - sharing);
            for (auto& queue : queues) chip.check(trn_host_queue_open(chip, core, &queue));
            std::uint32_t none = 0;
            EXPECT_EQ(trn_host_queue_open(chip, core, &none), TRN_BUSY);
            for (const auto queue : queues) {
                const auto at = hbm(chip, core / 2, 64 * MiB + queue * 64 * KiB);
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
