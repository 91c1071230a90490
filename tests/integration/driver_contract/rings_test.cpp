// SPDX-License-Identifier: Apache-2.0
// Contract 6 and 7: user rings on the engines of the cores.
#include <cstring>

#include "tests/integration/driver_contract/contract_fixture.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

constexpr std::uint32_t first_bit = 1u << 26, last_bit = 1u << 27;

/// A pair of rings written by a user program, and a marker that is copied last.
class user_rings {
public:
    user_rings(device& chip, std::uint32_t engine, std::uint32_t queue, std::uint64_t m2s,
               std::uint64_t s2m, std::uint32_t length)
        : chip_(chip),
          engine_(engine_of(chip, engine)),
          queue_(queue),
          bases_{m2s, s2m},
          length_(length) {
        chip.check(trn_ring_init(chip, engine_, queue, m2s, length, s2m, length));
    }

    void source(std::uint64_t from, std::uint32_t size, std::uint32_t clear = 0,
                std::uint32_t flags = 0) {
        auto d = trn_m2s_descriptor(from, size, pass(0), flags);
        d.words[0] &= ~clear;
        put(0, d);
    }
    void destination(std::uint64_t to, std::uint32_t size, std::uint32_t flags = 0) {
        put(1, trn_s2m_descriptor(to, size, pass(1), flags));
    }
    void copy(std::uint64_t to, std::uint64_t from, std::uint32_t size, std::uint32_t flags = 0) {
        source(from, size, 0, flags);
        destination(to, size);
    }
    /// Rings the doorbells; returns whether the marker has arrived.
    bool run() {
        const auto value = ++marker_value_;
        std::memcpy(marker_.bytes().data(), &value, sizeof value);
        copy(marker_.address() + 4, marker_.address(), 4);
        chip_.check(trn_ring_start(chip_, engine_, queue_, pending_[0], pending_[1]));
        pending_[0] = pending_[1] = 0;
        return eventually(chip_, [&] {
            std::uint32_t seen = 0;
            std::memcpy(&seen, marker_.bytes().data() + 4, sizeof seen);
            return seen == value;
        });
    }
    /// Rings the doorbells without a marker.
    void start() {
        chip_.check(trn_ring_start(chip_, engine_, queue_, pending_[0], pending_[1]));
        pending_[0] = pending_[1] = 0;
    }
    void release() { chip_.check(trn_ring_release(chip_, engine_, queue_)); }

private:
    std::uint32_t pass(unsigned side) const { return (1 + written_[side] / length_) % 4; }
    void put(unsigned side, const trn_descriptor& d) {
        chip_.check(trn_descriptors_write(chip_, engine_ / 16, bases_[side],
                                          written_[side]++ % length_, &d, 1));
        ++pending_[side];
    }

    device& chip_;
    const std::uint32_t engine_, queue_;
    const std::uint64_t bases_[2];
    const std::uint32_t length_;
    const host_buffer marker_{chip_, 8};
    std::uint32_t written_[2] = {}, pending_[2] = {}, marker_value_ = 0;
};

TEST_P(DriverContract, RunsUserRingsInHostMemoryHbmAndStateBuffers) {
    drive([&](device& chip) {
        const auto engines = chip.info().cores * 16;
        const host_buffer host(chip, 16 * KiB);
        fill(chip, hbm(chip, 0, 40 * MiB), 4 * KiB, 1);
        std::uint64_t place = hbm(chip, 1, 41 * MiB);
        for (const std::uint64_t base : {host.address(), hbm(chip, 0, 24 * MiB),
                                         hbm(chip, 1, 24 * MiB), trn_sbuf_address(chip, 0, 0x1000),
                                         trn_sbuf_address(chip, chip.info().cores - 1, 0x1000)})
            for (const std::uint32_t engine : {0u, 5u, engines / 2, engines - 1}) {
                user_rings mine(chip, engine, engine % 16, base, base + 8 * KiB, 32);
                mine.copy(place, hbm(chip, 0, 40 * MiB), 4 * KiB);
                EXPECT_TRUE(mine.run()) << "engine " << engine << " rings at " << std::hex << base;
                expect_holds(chip, place, 4 * KiB, 1);
                mine.release();
                place += 8 * KiB;
            }
    });
}

TEST_P(DriverContract, RunsAUserRingOnEveryEngineAndQueueOfTheCores) {
    drive([&](device& chip) {
        const auto engines = chip.info().cores * 16;
        const host_buffer rings(chip, 64 * KiB);
        fill(chip, hbm(chip, 1, 40 * MiB), 512, 2);
        for (std::uint32_t engine = 0; engine < engines; ++engine) {
            const auto to = hbm(chip, 0, 41 * MiB + engine * KiB);
            user_rings mine(chip, engine, engine % 16, rings.address(), rings.address() + 4 * KiB,
                            32);
            mine.copy(to, hbm(chip, 1, 40 * MiB), 512);
            EXPECT_TRUE(mine.run()) << "engine " << engine;
            expect_holds(chip, to, 512, 2);
            mine.release();
        }
        for (std::uint32_t queue = 0; queue < 16; ++queue) {
            user_rings mine(chip, 7, queue, rings.address(), rings.address() + 4 * KiB, 32);
            const auto to = hbm(chip, 0, 42 * MiB + queue * KiB);
            mine.copy(to, hbm(chip, 1, 40 * MiB), 512);
            EXPECT_TRUE(mine.run()) << "queue " << queue;
            expect_holds(chip, to, 512, 2);
            mine.release();
        }
    });
}

TEST_P(DriverContract, WrapsRingsWhoseLengthIsNoPowerOfTwoThroughAllRingIds) {
    drive([&](device& chip) {
        for (const std::uint32_t length : {32u, 48u, 80u, 144u}) {
            const host_buffer rings(chip, 16 * KiB);
            user_rings mine(chip, 3, 1, rings.address(), rings.address() + 8 * KiB, length);
            const auto from = hbm(chip, 0, 40 * MiB), to = hbm(chip, 0, 44 * MiB);
            fill(chip, from, 256 * KiB, length);
            // Five passes: ids 1, 2, 3, 0 and 1 again.
            std::uint32_t copied = 0;
            while (copied < 5 * length) {
                const std::uint32_t batch = 13;
                for (std::uint32_t i = 0; i < batch; ++i, ++copied)
                    mine.copy(to + copied * 256, from + copied * 256, 256);
                ASSERT_TRUE(mine.run()) << "length " << length << " after " << copied;
            }
            expect_holds(chip, to, copied * 256, length);
            trn_queue_state state{};
            chip.check(trn_queue_get_state(chip, 3, 1, &state));
            EXPECT_EQ(state.m2s.length, length);
            EXPECT_EQ(state.m2s.base, rings.address());
            EXPECT_EQ(state.m2s.head, state.m2s.tail);
            EXPECT_EQ(state.m2s.head_ring_id, state.m2s.tail_ring_id);
            mine.release();
        }
    });
}

TEST_P(DriverContract, SplitsPacketsDifferentlyOnBothSides) {
    drive([&](device& chip) {
        const host_buffer rings(chip, 16 * KiB);
        user_rings mine(chip, 20, 2, rings.address(), rings.address() + 8 * KiB, 256);
        const auto from = hbm(chip, 2, 40 * MiB), to = hbm(chip, 3, 40 * MiB);
        fill(chip, from, 7000, 9);
        // One packet of three sources into four destinations.
        mine.source(from, 1000, last_bit);
        mine.source(from + 1000, 5000, first_bit | last_bit);
        mine.source(from + 6000, 1000, first_bit);
        mine.destination(to, 1);
        mine.destination(to + 1, 3999);
        mine.destination(to + 4000, 2500);
        mine.destination(to + 6500, 500);
        ASSERT_TRUE(mine.run());
        expect_holds(chip, to, 7000, 9);
        // The longest packet allowed: 65 descriptors.
        for (std::uint32_t i = 0; i < 65; ++i)
            mine.source(from + 64 * i, 64, (i > 0 ? first_bit : 0) | (i < 64 ? last_bit : 0));
        mine.destination(to + 8192, 65 * 64);
        ASSERT_TRUE(mine.run());
        expect_holds(chip, to + 8192, 65 * 64, 9);
        mine.release();
    });
}

TEST_P(DriverContract, BarriersAndStrongWritesKeepOrder) {
    drive([&](device& chip) {
        const host_buffer rings(chip, 16 * KiB);
        user_rings mine(chip, 33, 0, rings.address(), rings.address() + 8 * KiB, 64);
        const auto a = hbm(chip, 0, 40 * MiB), b = a + MiB, c = b + MiB;
        fill(chip, a, 60 * KiB, 4);
        // c copies the previous descriptor's result: correct only after a barrier (DMB).
        mine.copy(b, a, 60 * KiB, TRN_DMB | TRN_WRITE_BARRIER);
        mine.copy(c, b, 60 * KiB);
        mine.source(c, 64);
        mine.destination(c + MiB, 64, TRN_STRONG_ORDER);
        ASSERT_TRUE(mine.run());
        expect_holds(chip, c, 60 * KiB, 4);
        expect_holds(chip, c + MiB, 64, 4);
        mine.release();
    });
}

TEST_P(DriverContract, RaisesSemaphoresAndEventsFromUserRings) {
    drive([&](device& chip) {
        const host_buffer rings(chip, 8 * KiB), amount(chip, 4);
        const std::uint32_t three = 3;
        std::memcpy(amount.bytes().data(), &three, sizeof three);
        const auto window = trn_sbuf_address(chip, 1, 0x270'0000);
        user_rings mine(chip, 16, 3, rings.address(), rings.address() + 4 * KiB, 64);
        for (int i = 0; i < 10; ++i) mine.copy(window + 0x1800 + 4 * 17, amount.address(), 4);
        mine.copy(window + 4 * 17, amount.address(), 4);
        ASSERT_TRUE(mine.run());
        std::int32_t count = 0;
        chip.check(trn_semaphore_read(chip, TRN_SYNC_CORE, 1, 17, &count));
        EXPECT_EQ(count, 30);
        std::uint32_t event = 0;
        chip.check(trn_event_get(chip, TRN_SYNC_CORE, 1, 17, &event));
        EXPECT_EQ(event, 3u);
        mine.release();
    });
}

TEST_P(DriverContract, PrefetchesDestinationsBeforeSourcesArrive) {
    drive([&](device& chip) {
        const host_buffer rings(chip, 8 * KiB);
        const auto from = hbm(chip, 0, 40 * MiB), to = from + MiB;
        fill(chip, from, 64, 1);
        user_rings mine(chip, 9, 9, rings.address(), rings.address() + 4 * KiB, 32);
        mine.destination(to, 64);
        mine.start();
        chip.check(trn_sleep(chip, 100'000));
        trn_engine_state state{};
        chip.check(trn_engine_get_state(chip, 9, &state));
        EXPECT_EQ(state.mode, TRN_ENGINE_NORMAL);
        EXPECT_TRUE(state.streams_enabled);
        mine.source(from, 64);
        ASSERT_TRUE(mine.run());
        expect_holds(chip, to, 64, 1);
        chip.check(trn_engine_get_state(chip, 9, &state));
        EXPECT_EQ(state.mode, TRN_ENGINE_IDLE);
        mine.release();
    });
}

TEST_P(DriverContract, TakesABusyQueueOverAndDropsItsWork) {
    drive([&](device& chip) {
        const host_buffer rings(chip, 32 * KiB), others(chip, 8 * KiB);
        const auto from = hbm(chip, 0, 64 * MiB), to = hbm(chip, 1, 64 * MiB);
        fill(chip, from, 64 * KiB, 1);
        chip.check(trn_memset(chip, 0, to, 0, 40 * MiB));
        user_rings old(chip, 2, 4, rings.address(), rings.address() + 16 * KiB, 1024);
        for (std::uint32_t i = 0; i < 600; ++i) old.copy(to + i * 64 * KiB, from, 64 * KiB);
        old.start();
        chip.check(trn_sleep(chip, 50'000));  // some 30 of the 600 copies
        {
            user_rings fresh(chip, 2, 4, others.address(), others.address() + 4 * KiB, 64);
            chip.check(trn_sleep(chip, 5'000'000));
            fresh.copy(to + 39 * MiB, from, 4 * KiB);
            ASSERT_TRUE(fresh.run());
            fresh.release();
        }
        expect_holds(chip, to + 39 * MiB, 4 * KiB, 1);
        std::uint32_t last = 1;
        chip.check(trn_read(chip, 0, &last, to + 599 * 64 * KiB, 4));
        EXPECT_EQ(last, 0u) << "work left from before the take-over ran";
    });
}

TEST_P(DriverContract, CopiesDescriptorsOutOfARing) {
    drive([&](device& chip) {
        const auto base = hbm(chip, 0, 24 * MiB);
        chip.check(trn_ring_init(chip, 4, 4, base, 48, base + 4 * KiB, 32));
        std::vector<trn_descriptor> written;
        for (std::uint32_t i = 0; i < 10; ++i)
            written.push_back(trn_m2s_descriptor(hbm(chip, 1, i * 4096ull), 64 + i, 1, 0));
        chip.check(trn_descriptors_write(chip, 0, base, 20, written.data(), 10));
        std::vector<trn_descriptor> read(10);
        chip.check(trn_descriptors_read(chip, 0, 4, 4, TRN_RING_M2S, 20, read.data(), 10));
        for (std::uint32_t i = 0; i < 10; ++i)
            EXPECT_EQ(std::memcmp(&read[i], &written[i], sizeof read[i]), 0) << i;
        EXPECT_EQ(trn_descriptors_read(chip, 0, 4, 4, TRN_RING_S2M, 30, read.data(), 3),
                  TRN_INVALID_ARGUMENT);
        const auto foreign =
            trn_s2m_descriptor(std::uint64_t{0x1234'5678'9000} | 1ull << 46, 64, 1, 0);
        EXPECT_EQ(trn_descriptors_write(chip, 0, base, 0, &foreign, 1), TRN_INVALID_ARGUMENT);
        chip.check(trn_ring_release(chip, 4, 4));
    });
}

TEST_P(DriverContract, SetsUpAllRequestedRingsOrNone) {
    drive([&](device& chip) {
        const host_buffer rings(chip, 255 * KiB);
        std::vector<trn_ring_request> requests;
        for (std::uint32_t i = 0; i < 255; ++i)
            requests.push_back(
                {i / 8, i % 8, rings.address() + i * KiB, 32, rings.address() + i * KiB + 512, 32});
        requests[254].s2m_length = 33;
        EXPECT_EQ(trn_ring_init_batch(chip, requests.data(), 255), TRN_INVALID_ARGUMENT);
        trn_queue_state state{};
        chip.check(trn_queue_get_state(chip, 0, 0, &state));
        EXPECT_EQ(state.m2s.length, 0u);
        requests[254].s2m_length = 32;
        chip.check(trn_ring_init_batch(chip, requests.data(), 255));
        for (const auto& r : requests) {
            chip.check(trn_queue_get_state(chip, r.engine, r.queue, &state));
            EXPECT_EQ(state.s2m.base, r.s2m_base);
            EXPECT_EQ(state.m2s.head_ring_id, 1u);
        }
        EXPECT_EQ(trn_ring_init_batch(chip, requests.data(), 256), TRN_INVALID_ARGUMENT);
    });
}

TEST_P(DriverContract, StopsAndResumesAnEngineByItsState) {
    drive([&](device& chip) {
        const host_buffer rings(chip, 8 * KiB);
        const auto from = hbm(chip, 0, 40 * MiB), to = from + MiB;
        fill(chip, from, 64, 1);
        user_rings mine(chip, 12, 0, rings.address(), rings.address() + 4 * KiB, 32);
        chip.check(trn_engine_set_state(chip, 12, TRN_ENGINE_SET_DISABLE));
        mine.copy(to, from, 64);
        mine.start();
        chip.check(trn_sleep(chip, 200'000));
        trn_queue_state waiting{};
        chip.check(trn_queue_get_state(chip, 12, 0, &waiting));
        EXPECT_EQ(waiting.m2s.head, 0u);
        chip.check(trn_engine_set_state(chip, 12, TRN_ENGINE_SET_NORMAL));
        ASSERT_TRUE(mine.run());
        expect_holds(chip, to, 64, 1);
        chip.check(trn_engine_set_state(chip, 12, TRN_ENGINE_SET_ABORT));
        trn_engine_state state{};
        chip.check(trn_engine_get_state(chip, 12, &state));
        EXPECT_EQ(state.mode, TRN_ENGINE_ABORT);
        chip.check(trn_engine_set_state(chip, 12, TRN_ENGINE_SET_NORMAL));
        chip.check(trn_engine_get_state(chip, 12, &state));
        EXPECT_NE(state.mode, TRN_ENGINE_ABORT);
        mine.release();
    });
}

TEST_P(DriverContract, CountsAWrongRingIdAndStopsUnlessTheDriverMasksIt) {
    expect_misuse("ring-id-mismatch");
    drive([&](device& chip) {
        const auto base = hbm(chip, 0, 24 * MiB), from = base + 16 * MiB, to = from + MiB;
        fill(chip, from, 64, 6);
        chip.check(trn_ring_init(chip, 1, 1, base, 32, base + 4 * KiB, 32));
        const auto source = trn_m2s_descriptor(from, 64, 3, 0);
        const auto destination = trn_s2m_descriptor(to, 64, 1, 0);
        chip.check(trn_descriptors_write(chip, 0, base, 0, &source, 1));
        chip.check(trn_descriptors_write(chip, 0, base + 4 * KiB, 0, &destination, 1));
        chip.check(trn_ring_start(chip, 1, 1, 1, 1));
        chip.check(trn_sleep(chip, 100'000));
        trn_engine_state state{};
        chip.check(trn_engine_get_state(chip, 1, &state));
        EXPECT_EQ(state.mode == TRN_ENGINE_ABORT, !map().ring_id_errors_are_masked);
        if (map().ring_id_errors_are_masked) expect_holds(chip, to, 64, 6);
    });
}

TEST_P(DriverContract, ParksTheRingsOfADeadProcess) {
    drive([&](device& chip) {
        const host_buffer rings(chip, 64 * KiB);
        const auto from = hbm(chip, 0, 64 * MiB), to = hbm(chip, 1, 64 * MiB);
        chip.check(trn_memset(chip, 0, to, 0, 40 * MiB));
        fill(chip, from, 64 * KiB, 1);
        user_rings busy(chip, 6, 0, rings.address(), rings.address() + 16 * KiB, 1024);
        for (std::uint32_t i = 0; i < 600; ++i) busy.copy(to + i * 64 * KiB, from, 64 * KiB);
        user_rings of_processor(chip, 0, 14, rings.address() + 32 * KiB, rings.address() + 36 * KiB,
                                32);
        busy.start();
        chip.check(trn_sleep(chip, 50'000));
        chip.check(trn_process_exit(chip));
        trn_queue_state state{};
        chip.check(trn_queue_get_state(chip, 6, 0, &state));
        EXPECT_EQ(state.m2s.length, 64u);
        EXPECT_NE(state.m2s.base, rings.address());
        EXPECT_EQ(state.m2s.tail, 0u);
        chip.check(trn_queue_get_state(chip, 0, 14, &state));
        EXPECT_EQ(state.m2s.base, rings.address() + 32 * KiB);
        chip.check(trn_sleep(chip, 5'000'000));
        std::uint32_t last = 1;
        chip.check(trn_read(chip, 0, &last, to + 599 * 64 * KiB, 4));
        EXPECT_EQ(last, 0u) << "work of the dead process ran";
    });
}

}  // namespace
}  // namespace trn::test
