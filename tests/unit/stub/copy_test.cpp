// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "tests/unit/stub/fake_device.h"

namespace trn::test {
namespace {

using testing::HasSubstr;

struct StubCopy : testing::Test {
    fake_device chip;
    trn_device* device = nullptr;
    std::mt19937 random{7};

    StubCopy() {
        const auto transport = chip.transport();
        device = trn_create(&transport, nullptr);
        chip.answer_resets();
        EXPECT_EQ(trn_probe(device), TRN_OK);
        EXPECT_EQ(trn_reset_device(device), TRN_OK);
    }
    ~StubCopy() override { trn_destroy(device); }

    std::vector<std::uint8_t> pattern(std::size_t size) {
        std::vector<std::uint8_t> bytes(size);
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
        return bytes;
    }
    std::string error() const { return trn_last_error(device); }
    static constexpr std::uint64_t hole = 0x0000900000000000;
};

TEST_F(StubCopy, CopiesAnySizeAndOffset) {
    const std::uint64_t sizes[] = {1,     3,       4095,          65535,  65536,
                                   65537, 1 << 20, (1 << 20) + 1, 3333333};
    for (const auto size : sizes) {
        const auto bytes = pattern(size);
        const auto stack = static_cast<std::uint32_t>(size % 4);
        const auto core = static_cast<std::uint32_t>(size % 8);
        const auto address = trn_hbm_address(device, stack, (16 << 20) + size);
        ASSERT_EQ(trn_write(device, core, address, bytes.data(), size), TRN_OK) << error();
        EXPECT_EQ(chip.bytes_at(address, size), bytes) << size;
        const auto other = trn_hbm_address(device, 3 - stack, (32 << 20) + 5);
        ASSERT_EQ(trn_copy(device, core, other, address, size), TRN_OK) << error();
        std::vector<std::uint8_t> back(size);
        ASSERT_EQ(trn_read(device, core, back.data(), other, size), TRN_OK) << error();
        EXPECT_EQ(back, bytes) << size;
    }
}

TEST_F(StubCopy, EmptyCopyAccessesNothing) {
    chip.recording = true;
    EXPECT_EQ(trn_copy(device, 0, 0x1000, 0x2000, 0), TRN_OK);
    EXPECT_TRUE(chip.log.empty());
}

/// Without the check, each range would be split into pieces that end inside the address space, or
/// wrap to address 0.
TEST_F(StubCopy, RangePastTheEndOfTheAddressSpaceIsRefusedWithoutAccess) {
    constexpr std::uint64_t mib = 1 << 20, last_256 = 0 - 256ull;
    const auto hbm = trn_hbm_address(device, 0, 16 * mib);
    std::vector<std::uint8_t> bytes(2 * mib);
    trn_buffer buffer;
    ASSERT_EQ(trn_buffer_alloc(device, 2 * mib, &buffer), TRN_OK);
    chip.recording = true;
    const auto expect_refused = [&](const char* call, trn_status status) {
        EXPECT_EQ(status, TRN_INVALID_ARGUMENT) << call;
        EXPECT_THAT(error(), HasSubstr("pass the end of the address space")) << call;
        EXPECT_TRUE(chip.log.empty()) << call;
        chip.log.clear();
    };
    trn_job job = 0;
    expect_refused("submit to", trn_submit(device, 0, last_256, hbm, 512, &job));
    expect_refused("submit from", trn_submit(device, 0, hbm, last_256, 512, &job));
    const std::uint64_t last_job = 0 - std::uint64_t{TRN_JOB_BYTES};
    expect_refused("copy to", trn_copy(device, 0, last_job, hbm, 2 * TRN_JOB_BYTES));
    expect_refused("copy from", trn_copy(device, 0, hbm, last_job, 2 * TRN_JOB_BYTES));
    expect_refused("write", trn_write(device, 0, 0 - mib, bytes.data(), 2 * mib));
    expect_refused("read", trn_read(device, 0, bytes.data(), 0 - mib, 2 * mib));
    expect_refused("memset", trn_memset(device, 0, 0 - mib, 1, 2 * mib));
    for (const auto direction : {TRN_TO_DEVICE, TRN_FROM_DEVICE})
        expect_refused("zero copy", trn_zero_copy(device, 0, TRN_DEFAULT_QUEUE, 0 - mib, &buffer, 0,
                                                  2 * mib, direction));
    const std::uint64_t sources[] = {hbm, hbm}, past[] = {hbm, 0 - mib};
    const auto reduce = [&](const std::uint64_t* from, std::uint64_t to) {
        return trn_dma_reduce(device, 0, 0, TRN_COMPUTE_ADD, TRN_FP32, from, 2, to, 2 * mib);
    };
    expect_refused("reduce to", reduce(sources, 0 - mib));
    expect_refused("reduce from", reduce(past, hbm));
    expect_refused("m2s ring", trn_ring_init(device, 0, 0, last_256, 64, hbm, 64));
    expect_refused("s2m ring", trn_ring_init(device, 0, 0, hbm, 64, last_256, 64));
    const auto d = trn_m2s_descriptor(hbm, 64, 0, 0);
    expect_refused("descriptors", trn_descriptors_write(device, 0, 0 - 16ull, 1, &d, 1));
    chip.recording = false;
    trn_buffer_free(device, &buffer);
}

TEST_F(StubCopy, RangesOutsideWindowsBuffersAndProgramsAreRefused) {
    std::uint8_t bytes[32] = {};
    std::uint32_t word = 0;
    const std::uint64_t end = UINT64_MAX - 15;
    EXPECT_EQ(trn_window_read(device, 0, end, bytes, 32), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_window_write(device, 0, 16, bytes, end), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_bar_read(device, UINT64_MAX - 3, &word), TRN_INVALID_ARGUMENT);
    const auto program = trn_sbuf_address(device, 0, 16);
    EXPECT_EQ(trn_program_engine(device, 0, program, bytes, end), TRN_INVALID_ARGUMENT);
    trn_buffer buffer;
    ASSERT_EQ(trn_buffer_alloc(device, 4096, &buffer), TRN_OK);
    for (const auto& [offset, size] : {std::pair{end, 32ull}, std::pair{16ul, end + 0ull}})
        EXPECT_EQ(trn_zero_copy(device, 0, TRN_DEFAULT_QUEUE, trn_hbm_address(device, 0, 0),
                                &buffer, offset, size, TRN_TO_DEVICE),
                  TRN_INVALID_ARGUMENT);
    trn_buffer_free(device, &buffer);
}

TEST_F(StubCopy, RingsTheWriteSideFirst) {
    chip.recording = true;
    ASSERT_EQ(trn_copy(device, 3, 0x1000, 0x2000, 65537), TRN_OK);
    const auto base = fake_device::engine_base(129);
    ASSERT_GE(chip.log.size(), 2u);
    EXPECT_EQ(chip.log[0].offset, base + TRN_UDMA_S2M_Q_TAIL_INCREMENT_OFFSET(1));
    EXPECT_EQ(chip.log[1].offset, base + TRN_UDMA_M2S_Q_TAIL_INCREMENT_OFFSET(1));
    EXPECT_EQ(chip.log[0].value, 3u);  // 64 KiB, 1 byte, marker
    EXPECT_EQ(chip.log[1].value, 3u);
}

TEST_F(StubCopy, WritesDescriptorsPerTheContract) {
    trn_buffer buffer;
    ASSERT_EQ(trn_buffer_alloc(device, 4096, &buffer), TRN_OK);
    const auto host = trn_buffer_address(device, &buffer, 0);
    ASSERT_EQ(trn_copy(device, 0, 0x12345000, host, 4096), TRN_OK);
    trn_queue_state state;
    ASSERT_EQ(trn_queue_get_state(device, 128, 0, &state), TRN_OK);
    const auto m2s = chip.bytes_at(state.m2s.base, 32), s2m = chip.bytes_at(state.s2m.base, 32);
    const auto word = [](const auto& ring, unsigned n) {
        std::uint32_t value;
        std::memcpy(&value, &ring[4 * n], 4);
        return value;
    };
    // Contract appendix B
    EXPECT_EQ(word(m2s, 0), 0x0D001000u);
    EXPECT_EQ(word(m2s, 1), 0x05080003u);
    EXPECT_EQ(word(m2s, 3), static_cast<std::uint32_t>(host >> 32));
    EXPECT_EQ(word(s2m, 0), 0x01001000u);
    EXPECT_EQ(word(s2m, 1), 0u);
    EXPECT_EQ(word(s2m, 2), 0x12345000u);
    EXPECT_EQ(word(m2s, 4), 0x0D000004u);
    EXPECT_EQ(word(m2s, 5), 0x01080003u);
    EXPECT_EQ(word(s2m, 4), 0x01000004u);
    trn_buffer_free(device, &buffer);
}

TEST_F(StubCopy, WrapsTheRingManyTimes) {
    const auto bytes = pattern(4096);
    for (int i = 0; i < 5000;
         ++i)  // two descriptors each: past the end with both ring ids wrapping
        ASSERT_EQ(trn_write(device, 0, 0x1000000 + 4096ull * (i % 16), bytes.data(), 4096), TRN_OK)
            << i << ": " << error();
    for (int i = 0; i < 20; ++i)
        ASSERT_EQ(trn_copy(device, 0, 0x10000000, 0x1000000, TRN_JOB_BYTES), TRN_OK)
            << i << ": " << error();
}

TEST_F(StubCopy, LongCopyIsSplitIntoBatches) {
    chip.recording = true;
    const auto before = chip.descriptors_done;
    ASSERT_EQ(trn_copy(device, 0, 0x40000000, 0x1000000, 3 * TRN_JOB_BYTES + 1), TRN_OK) << error();
    EXPECT_EQ(chip.descriptors_done - before, 3u * 2031 + 1 + 4);
}

TEST_F(StubCopy, AbortedCopyIsReportedAtOnceWithItsCause) {
    const auto start = chip.time;
    EXPECT_EQ(trn_copy(device, 2, hole, 0x1000000, 100), TRN_ABORTED);
    EXPECT_LT(chip.time - start, 100'000u);
    EXPECT_THAT(error(), HasSubstr("engine 129"));
    EXPECT_THAT(error(), HasSubstr("queue 0"));
    EXPECT_THAT(error(), HasSubstr("address error"));
    trn_failure failure;
    ASSERT_TRUE(trn_last_failure(device, &failure));
    EXPECT_EQ(failure.engine, 129u);
    EXPECT_EQ(failure.m2s_state, 0x2222u);
    EXPECT_EQ(trn_copy(device, 2, 0x2000000, 0x1000000, 100), TRN_NOT_READY);
    EXPECT_THAT(error(), HasSubstr("reset"));
    EXPECT_EQ(trn_copy(device, 0, 0x2000000, 0x1000000, 100), TRN_OK) << error();
}

TEST_F(StubCopy, WorksAgainAfterAResetOrARestartOfItsQueue) {
    EXPECT_EQ(trn_copy(device, 2, hole, 0x1000000, 100), TRN_ABORTED);
    chip.bar0[fake_device::engine_base(129) + TRN_UDMA_M2S_STATE_OFFSET] = 0;
    ASSERT_EQ(trn_restart_queue(device, 2), TRN_OK);
    EXPECT_EQ(trn_copy(device, 2, 0x2000000, 0x1000000, 100), TRN_OK) << error();
    EXPECT_EQ(trn_copy(device, 2, hole, 0x1000000, 100), TRN_ABORTED);
    chip.bar0[fake_device::engine_base(129) + TRN_UDMA_M2S_STATE_OFFSET] = 0;
    ASSERT_EQ(trn_reset_device(device), TRN_OK);
    EXPECT_EQ(trn_copy(device, 2, 0x2000000, 0x1000000, 100), TRN_OK) << error();
}

TEST_F(StubCopy, LostCopyTimesOutAfterTheDriversTimeout) {
    chip.rings_run = false;
    const auto start = chip.time;
    EXPECT_EQ(trn_copy(device, 0, 0x2000000, 0x1000000, 100), TRN_TIMED_OUT);
    EXPECT_GE(chip.time - start, 80'000'000u);  // contract 7.5: 80 ms
    EXPECT_LT(chip.time - start, 90'000'000u);
    EXPECT_THAT(error(), HasSubstr("no completion"));
}

TEST_F(StubCopy, SimulatorRevisionHasALongerTimeout) {
    trn_device* other = nullptr;
    fake_device slow;
    slow.revision = 255;
    const auto transport = slow.transport();
    other = trn_create(&transport, nullptr);
    ASSERT_EQ(trn_probe(other), TRN_OK);
    ASSERT_EQ(trn_reset_device(other), TRN_OK);
    slow.rings_run = false;
    const auto start = slow.time;
    EXPECT_EQ(trn_copy(other, 0, 0x2000000, 0x1000000, 100), TRN_TIMED_OUT);
    EXPECT_GE(slow.time - start, 800'000'000'000u);
    trn_destroy(other);
}

TEST_F(StubCopy, CopyEndsWhenTheTransportDies) {
    chip.rings_run = false;
    chip.at(5'000, [&] { chip.broken = -ENODEV; });
    EXPECT_EQ(trn_copy(device, 0, 0x2000000, 0x1000000, 100), TRN_DEVICE_GONE);
    chip.broken = 0;
    EXPECT_EQ(trn_copy(device, 0, 0x2000000, 0x1000000, 100), TRN_NOT_READY);
}

TEST_F(StubCopy, CopyInFlightIsAbortedByACoreReset) {
    chip.rings_run = false;
    trn_job job = 0;
    ASSERT_EQ(trn_submit(device, 1, 0x2000000, 0x1000000, 100, &job), TRN_OK);
    ASSERT_EQ(trn_reset_cores(device, 0x2), TRN_OK) << error();
    EXPECT_EQ(trn_wait(device, job), TRN_ABORTED);
    chip.rings_run = true;
    EXPECT_EQ(trn_copy(device, 1, 0x2000000, 0x1000000, 100), TRN_OK) << error();
}

TEST_F(StubCopy, CoreResetStopsTheQueuesWhoseMemoryItFrees) {
    std::uint32_t queue = 0;
    ASSERT_EQ(trn_host_queue_open(device, 1, &queue), TRN_OK) << error();
    trn_buffer buffer{};
    ASSERT_EQ(trn_buffer_alloc(device, 100'000, &buffer), TRN_OK);
    chip.rings_run = false;
    ASSERT_EQ(trn_zero_copy(device, 1, queue, 0x2000000, &buffer, 0, 100'000, TRN_TO_DEVICE),
              TRN_TIMED_OUT);
    const auto base = fake_device::engine_base(128) + TRN_UDMA_M2S_Q_BASE_LO_OFFSET(queue);
    const auto busy = chip.bar0[base];
    ASSERT_EQ(trn_reset_cores(device, 0x2), TRN_OK) << error();
    EXPECT_NE(chip.bar0[base], busy);
    trn_buffer_free(device, &buffer);
}

TEST_F(StubCopy, EndOfTheDeviceStopsCopiesThatRun) {
    chip.rings_run = false;
    trn_job job = 0;
    ASSERT_EQ(trn_submit(device, 1, 0x2000000, 0x1000000, 100, &job), TRN_OK);
    // The first two cores share a host-transfer engine: idle queues are left alone.
    const auto base_of = [&](std::uint32_t queue) {
        return chip.bar0[fake_device::engine_base(128) + TRN_UDMA_M2S_Q_BASE_LO_OFFSET(queue)];
    };
    const auto idle = base_of(0), busy = base_of(1);
    trn_destroy(std::exchange(device, nullptr));
    EXPECT_EQ(base_of(0), idle);
    EXPECT_NE(base_of(1), busy);
}

TEST_F(StubCopy, EndOfADeviceThatIsNotReadyStopsCopiesThatRun) {
    const auto base = fake_device::engine_base(128) + TRN_UDMA_M2S_Q_BASE_LO_OFFSET(0);
    chip.rings_run = false;
    ASSERT_EQ(trn_copy(device, 0, 0x2000000, 0x1000000, 100), TRN_TIMED_OUT);
    auto busy = chip.bar0[base];
    ASSERT_EQ(trn_probe(device), TRN_OK);  // not reset afterwards
    trn_destroy(std::exchange(device, nullptr));
    EXPECT_NE(chip.bar0[base], busy);

    fake_device hung;
    const auto transport = hung.transport();
    device = trn_create(&transport, nullptr);
    hung.answer_resets();
    ASSERT_EQ(trn_probe(device), TRN_OK);
    ASSERT_EQ(trn_reset_device(device), TRN_OK);
    hung.rings_run = false;
    ASSERT_EQ(trn_copy(device, 0, 0x2000000, 0x1000000, 100), TRN_TIMED_OUT);
    busy = hung.bar0[base];
    hung.on_write.clear();
    ASSERT_EQ(trn_reset_device(device), TRN_TIMED_OUT);
    trn_destroy(std::exchange(device, nullptr));
    EXPECT_NE(hung.bar0[base], busy);
}

TEST(StubEmulator, ResetThatItLacksStopsCopiesThatRun) {
    fake_device chip;
    chip.revision = 240;
    const auto transport = chip.transport();
    trn_device* device = trn_create(&transport, nullptr);
    chip.answer_resets();
    ASSERT_EQ(trn_probe(device), TRN_OK);
    ASSERT_EQ(trn_reset_device(device), TRN_OK);
    chip.rings_run = false;
    trn_job job = 0;
    ASSERT_EQ(trn_submit(device, 0, 0x2000000, 0x1000000, 100, &job), TRN_OK);
    chip.recording = true;
    ASSERT_EQ(trn_reset_device(device), TRN_OK);
    chip.recording = false;
    const auto base = fake_device::engine_base(128) + TRN_UDMA_M2S_Q_BASE_LO_OFFSET(0);
    const auto sets_base = [&](const auto& each) { return each.write && each.offset == base; };
    EXPECT_EQ(std::ranges::count_if(chip.log, sets_base), 2);  // stopped, then set up again
    trn_destroy(device);
}

TEST_F(StubCopy, AsynchronousJobsEndInOrderAndKeepTheirResult) {
    const auto bytes = pattern(8 * 4096);
    ASSERT_EQ(trn_write(device, 0, 0x1000000, bytes.data(), bytes.size()), TRN_OK);
    trn_job jobs[8];
    for (unsigned i = 0; i < 8; ++i)
        ASSERT_EQ(trn_submit(device, 0, 0x2000000 + 4096ull * i, 0x1000000 + 4096ull * (7 - i),
                             4096, &jobs[i]),
                  TRN_OK)
            << error();
    trn_job ninth = 0;
    EXPECT_EQ(trn_submit(device, 0, 0, 0x1000, 16, &ninth), TRN_BUSY);
    bool done = true;
    EXPECT_EQ(trn_poll(device, jobs[7], &done), TRN_OK);
    EXPECT_FALSE(done);
    EXPECT_EQ(trn_wait(device, jobs[7]), TRN_OK);
    for (unsigned i = 0; i < 7; ++i) {
        EXPECT_EQ(trn_poll(device, jobs[i], &done), TRN_OK);
        EXPECT_TRUE(done);
        EXPECT_EQ(trn_wait(device, jobs[i]), TRN_OK);
        EXPECT_EQ(chip.bytes_at(0x2000000 + 4096ull * i, 4096),
                  chip.bytes_at(0x1000000 + 4096ull * (7 - i), 4096));
    }
    EXPECT_EQ(trn_wait(device, jobs[0]), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_wait(device, 0), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_wait(device, ~0ull), TRN_INVALID_ARGUMENT);
}

TEST_F(StubCopy, PolledCopyIsReportedLostAtItsDeadline) {
    chip.rings_run = false;
    trn_job job = 0;
    ASSERT_EQ(trn_submit(device, 0, 0x2000000, 0x1000000, 100, &job), TRN_OK);
    bool done = false;
    trn_status status = TRN_OK;
    for (int i = 0; i < 200 && !done; ++i) {
        status = trn_poll(device, job, &done);
        trn_sleep(device, 1'000'000);
    }
    EXPECT_TRUE(done);
    EXPECT_EQ(status, TRN_TIMED_OUT);
}

TEST_F(StubCopy, MemsetFillsExactlyItsRange) {
    for (const std::uint64_t size : {1ull, 65535ull, 65536ull, 65537ull, 1000001ull}) {
        ASSERT_EQ(trn_memset(device, 5, 0x4000000001, 0xEE, size + 2), TRN_OK);
        ASSERT_EQ(trn_memset(device, 5, 0x4000000002, 0x5A, size), TRN_OK) << error();
        const auto bytes = chip.bytes_at(0x4000000001, size + 2);
        EXPECT_EQ(bytes.front(), 0xEE);
        EXPECT_EQ(bytes.back(), 0xEE);
        EXPECT_TRUE(
            std::all_of(bytes.begin() + 1, bytes.end() - 1, [](auto b) { return b == 0x5A; }));
    }
}

TEST_F(StubCopy, ScrubFillsItsPartWithSixteenEngines) {
    chip.recording = true;
    ASSERT_EQ(trn_scrub(device, 1, 16 << 20, 3 << 20, 0xC0FFEE11), TRN_OK) << error();
    const auto bytes = chip.bytes_at(0x4000000000 + (16 << 20), 3 << 20);
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
        std::uint32_t word;
        std::memcpy(&word, &bytes[i], 4);
        ASSERT_EQ(word, 0xC0FFEE11u) << i;
    }
    std::size_t doorbells = 0;
    for (unsigned engine = 32; engine < 64; ++engine)
        for (const auto& access : chip.log)
            if (access.write && access.offset == fake_device::engine_base(engine) +
                                                     TRN_UDMA_M2S_Q_TAIL_INCREMENT_OFFSET(0)) {
                ++doorbells;
                EXPECT_EQ(access.value, 5u);
                EXPECT_GE(engine % 8, 4u);
            }
    EXPECT_EQ(doorbells, 16u);
    EXPECT_EQ(trn_scrub(device, 1, 1, 1 << 20, 0), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_scrub(device, 4, 0, 1 << 20, 0), TRN_INVALID_ARGUMENT);
}

TEST_F(StubCopy, UserRingsRunAndAreRemoved) {
    const std::uint64_t m2s = 0x20000000, s2m = 0x20001000;
    const auto bytes = pattern(300);
    ASSERT_EQ(trn_write(device, 0, 0x30000000, bytes.data(), 300), TRN_OK);
    ASSERT_EQ(trn_ring_init(device, 77, 3, m2s, 48, s2m, 32), TRN_OK) << error();
    const auto source = trn_m2s_descriptor(0x30000000, 300, 1, 0);
    const auto target = trn_s2m_descriptor(0x804000000000, 300, 1, 0);
    ASSERT_EQ(trn_write(device, 0, m2s, &source, 16), TRN_OK);
    ASSERT_EQ(trn_write(device, 0, s2m, &target, 16), TRN_OK);
    ASSERT_EQ(trn_ring_start(device, 77, 3, 1, 1), TRN_OK);
    ASSERT_EQ(trn_sleep(device, 10'000), TRN_OK);
    EXPECT_EQ(chip.bytes_at(0x804000000000, 300), bytes);
    ASSERT_EQ(trn_ring_release(device, 77, 3), TRN_OK);
    trn_queue_state state;
    ASSERT_EQ(trn_queue_get_state(device, 77, 3, &state), TRN_OK);
    EXPECT_EQ(state.m2s.length, 64u);
    EXPECT_EQ(trn_ring_start(device, 77, 3, 1, 1), TRN_INVALID_ARGUMENT);
}

TEST_F(StubCopy, Bar4WindowsReachTheSameMemory) {
    const auto bytes = pattern(1000);
    ASSERT_EQ(trn_window_write(device, 2, 0x1234567, bytes.data(), 1000), TRN_OK);
    std::vector<std::uint8_t> back(1000);
    ASSERT_EQ(trn_read(device, 4, back.data(), trn_hbm_address(device, 2, 0x1234567), 1000),
              TRN_OK);
    EXPECT_EQ(back, bytes);
    EXPECT_EQ(trn_window_read(device, 2, (36ull << 30) - 10, back.data(), 11),
              TRN_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace trn::test
