// SPDX-License-Identifier: Apache-2.0
// Contract 9 to 12: programs, notification queues, neighbours, counters.
#include <cstring>

#include "tests/integration/driver_contract/contract_fixture.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

// ---- Programs

TEST_P(DriverContract, AcceptsProgramsAtContractAddressesOnly) {
    drive([&](device& chip) {
        const auto info = chip.info();
        std::vector<std::uint64_t> places;
        for (std::uint32_t core = 0; core < info.cores; ++core)
            places.push_back(trn_sbuf_address(chip, core, 0x100));
        for (std::uint32_t stack = 0; stack < info.stacks; ++stack)
            places.push_back(hbm(chip, stack, 64 * MiB));
        places.insert(places.end(), map().programs.begin(), map().programs.end());
        std::vector<std::uint8_t> program(256);
        for (const auto at : places) {
            pattern(at).fill(program);
            chip.check(trn_program_engine(chip, 0, at, program.data(), program.size()));
            expect_holds(chip, at, program.size(), at);
        }
        for (const auto at : map().no_programs)
            EXPECT_EQ(trn_program_engine(chip, 0, at, program.data(), program.size()),
                      TRN_INVALID_ARGUMENT)
                << std::hex << at;
    });
}

// ---- Notification queues

// Invented: registers by which firmware posts.
constexpr std::uint64_t post_payload = 0x800, post = 0x804;

using notifier = contract_map::notifier;

trn_notification next(device& chip, trn_notification_ring& ring) {
    trn_notification entry{};
    EXPECT_TRUE(eventually(chip, [&] {
        bool there = false;
        chip.check(trn_notifications_next(chip, &ring, &entry, &there));
        return there;
    }));
    return entry;
}

/// Fills the ring three times while a reader reads the entries.
void follow(device& chip, const notifier& from, trn_notification_ring& ring,
            std::uint32_t entries) {
    for (std::uint32_t i = 0; i < 3 * entries; ++i) {
        set_word(chip, from.registers + post_payload, 1000 + i);
        set_word(chip, from.registers + post, i % 200 << 16 | 3 << 8 | ring.slot);
        const auto entry = next(chip, ring);
        EXPECT_EQ(entry.type, 3u);
        EXPECT_EQ(entry.source, i % 200);
        EXPECT_EQ(entry.payload, 1000 + i);
        std::uint32_t head = 0;
        chip.check(trn_notification_head(chip, from.kind, from.number, ring.slot, &head));
        EXPECT_EQ(head & 0x7fff'ffff, (i + 1) % entries * 16);
        EXPECT_EQ(head >> 31, ((i + 1) / entries + 1) % 2);  // phase 1 first
    }
}

TEST_P(DriverContract, NotifiesIntoHostMemory) {
    drive([&](device& chip) {
        for (const auto& from : map().notifiers)
            for (const std::uint32_t slot : {0u, 15u}) {
                trn_notification_ring ring{};
                chip.check(trn_notifications_open(chip, from.kind, from.number, slot, 128, &ring));
                follow(chip, from, ring, 8);
                chip.check(trn_notifications_close(chip, &ring));
            }
    });
}

TEST_P(DriverContract, NotifiesIntoHbm) {
    drive([&](device& chip) {
        std::uint32_t stack = 0;
        for (const auto& from : map().notifiers) {
            trn_notification_ring ring{};
            const auto base = hbm(chip, stack++ % chip.info().stacks, 64 * MiB);
            chip.check(trn_notifications_open_at(chip, from.kind, from.number, 7, base, 64, &ring));
            follow(chip, from, ring, 4);
            chip.check(trn_notifications_close(chip, &ring));
        }
    });
}

TEST_P(DriverContract, OverwritesUnreadNotifications) {
    drive([&](device& chip) {
        trn_notification_ring ring{};
        chip.check(trn_notifications_open(chip, TRN_NOTIFY_CORE, 0, 2, 64, &ring));
        for (std::uint32_t i = 0; i < 6; ++i) {
            set_word(chip, map().notifiers[0].registers + post_payload, i);
            set_word(chip, map().notifiers[0].registers + post, 2);
            chip.check(trn_sleep(chip, 10'000));
        }
        std::uint32_t head = 0;
        chip.check(trn_notification_head(chip, TRN_NOTIFY_CORE, 0, 2, &head));
        EXPECT_EQ(head, 2u * 16);  // phase 0: the second pass
        std::uint32_t first = 0, last = 0;
        std::memcpy(&first, ring.entries + 4, 4);
        std::memcpy(&last, ring.entries + 3 * 16 + 4, 4);
        EXPECT_EQ(first, 4u);
        EXPECT_EQ(last, 3u);
        chip.check(trn_notifications_close(chip, &ring));
    });
}

TEST_P(DriverContract, NotifiesForDescriptorsWithTheInterruptFlag) {
    expect_misuse("dma-from-unwritten-hbm");
    drive([&](device& chip) {
        const auto base = hbm(chip, 0, 24 * MiB);
        trn_notification_ring ring{};
        chip.check(trn_notifications_open(chip, TRN_NOTIFY_DMA, 17, 0, 256, &ring));
        chip.check(trn_ring_init(chip, 17, 5, base, 32, base + 4 * KiB, 32));
        const auto source = trn_m2s_descriptor(base + MiB, 64, 1, 0);
        auto destination = trn_s2m_descriptor(base + 2 * MiB, 64, 1, 0);
        destination.words[0] |= 1u << 28;
        chip.check(trn_descriptors_write(chip, 0, base, 0, &source, 1));
        chip.check(trn_descriptors_write(chip, 0, base + 4 * KiB, 0, &destination, 1));
        chip.check(trn_ring_start(chip, 17, 5, 1, 1));
        const auto entry = next(chip, ring);
        EXPECT_EQ(entry.type, 4u);
        EXPECT_EQ(entry.source, 5u);
        EXPECT_EQ(entry.payload & 0xff'ffff, 1u);
        chip.check(trn_ring_release(chip, 17, 5));
        chip.check(trn_notifications_close(chip, &ring));
    });
}

TEST_P(DriverContract, PostsNoNotificationsWhenTheSlotIsDisabled) {
    drive([&](device& chip) {
        trn_notification_ring ring{};
        chip.check(trn_notifications_open(chip, TRN_NOTIFY_TOP_SP, 3, 1, 64, &ring));
        chip.check(trn_notifications_close(chip, &ring));
        for (const auto& each : map().notifiers)
            if (each.kind == TRN_NOTIFY_TOP_SP && each.number == 3)
                set_word(chip, each.registers + post, 1);
        chip.check(trn_sleep(chip, 100'000));
        std::uint32_t head = 0;
        chip.check(trn_notification_head(chip, TRN_NOTIFY_TOP_SP, 3, 1, &head));
        EXPECT_EQ(head & 0x7fff'ffff, 0u);
    });
}

// ---- Neighbours

TEST_P(DriverContract, ReadsItsOwnWordsWithSpoofedNeighbours) {
    if (!map().has_neighbours) GTEST_SKIP() << "this chip has no neighbour windows";
    options().spoof_neighbours = true;
    drive([&](device& chip) {
        std::uint64_t serial = 0;
        chip.check(trn_get_serial(chip, &serial));
        chip.check(trn_pod_open(chip));
        for (const auto link : {TRN_POD_LEFT_A, TRN_POD_LEFT_B, TRN_POD_RIGHT_A, TRN_POD_RIGHT_B}) {
            std::uint32_t words[4] = {};
            chip.check(trn_pod_read(chip, link, 0x38, words, 2));
            EXPECT_EQ(std::uint64_t{words[1]} << 32 | words[0], serial);
            set_word(chip, map().misc_ram + 0x18c, 77 + link);
            chip.check(trn_pod_read(chip, link, 0x180, words, 4));
            EXPECT_EQ(words[3], 77u + link);
        }
        chip.check(trn_pod_close(chip));
    });
}

TEST_P(DriverContract, ReportsNoNeighbourWithinFourMilliseconds) {
    if (!map().has_neighbours) GTEST_SKIP() << "this chip has no neighbour windows";
    expect_misuse("no-neighbour");
    drive([&](device& chip) {
        chip.check(trn_pod_open(chip));
        for (const auto link : {TRN_POD_LEFT_A, TRN_POD_RIGHT_B, TRN_POD_LEFT_A}) {
            const auto start = trn_simulated_now(chip);
            std::uint32_t word = 0;
            const auto status = trn_pod_read(chip, link, 0x38, &word, 1);
            EXPECT_TRUE(status == TRN_ABORTED || status == TRN_TIMED_OUT) << status;
            EXPECT_LE(trn_simulated_now(chip) - start, 5'000'000u);
        }
        chip.check(trn_pod_close(chip));
        fill(chip, hbm(chip, 0, 64 * MiB), 4 * KiB, 1);
    });
}

TEST_P(DriverContract, FailedElectionIsPublishedWithoutNeighbours) {
    if (!map().has_neighbours) GTEST_SKIP() << "this chip has no neighbour windows";
    expect_misuse("no-neighbour");
    drive([&](device& chip) {
        trn_pod pod{};
        EXPECT_NE(trn_pod_elect(chip, 3, 1'000'000'000, &pod), TRN_OK);
        chip.check(trn_pod_status(chip, &pod));
        EXPECT_EQ(pod.status, 2u);
        EXPECT_EQ(pod.node, 0xffu);
        EXPECT_EQ(pod.serial, 0u);
    });
}

TEST_P(DriverContract, ElectsItselfWithSpoofedNeighbours) {
    if (!map().has_neighbours) GTEST_SKIP() << "this chip has no neighbour windows";
    options().spoof_neighbours = true;
    drive([&](device& chip) {
        std::uint64_t serial = 0;
        chip.check(trn_get_serial(chip, &serial));
        trn_pod pod{};
        chip.check(trn_pod_elect(chip, 3, 1'000'000'000, &pod));
        EXPECT_EQ(pod.nodes, 2u);  // left and right are the same chip
        trn_pod seen{};
        chip.check(trn_pod_status(chip, &seen));
        EXPECT_EQ(seen.status, 3u);
        EXPECT_EQ(seen.links, 3u);
        EXPECT_EQ(seen.serial, serial);
        EXPECT_EQ(word(chip, map().misc_ram + 0x18c), 0u);
    });
    // The words persist after the driver's exit and its reset (contract 5.3, 11.4).
    drive([&](device& chip) {
        trn_pod seen{};
        chip.check(trn_pod_status(chip, &seen));
        EXPECT_EQ(seen.status, 3u);
    });
}

// ---- Counters

TEST_P(DriverContract, CountsIdleTimeOfThePeArray) {
    drive([&](device& chip) {
        for (const auto pe : map().pe_counters)
            for (std::uint64_t row = 0; row < 4; ++row) {
                const auto idle = [&] {
                    const auto at = pe + 0x100 + (row * 9 + 4) * 0x30 + 0x10;
                    const auto high = word(chip, at + 4);
                    return std::uint64_t{high} << 32 | word(chip, at);
                };
                const auto before = idle();
                chip.check(trn_sleep(chip, 100'000));
                EXPECT_GT(idle(), before);
                EXPECT_EQ(word(chip, pe + 0x100 + (row * 9 + 4) * 0x30), 0u);  // no matmul ran
            }
    });
}

}  // namespace
}  // namespace trn::test
