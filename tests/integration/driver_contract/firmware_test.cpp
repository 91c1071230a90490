// SPDX-License-Identifier: Apache-2.0
// Contract 4 and 12: firmware services.
#include <cstring>

#include "tests/integration/driver_contract/contract_fixture.h"

namespace trn::test {
namespace {

TEST_P(DriverContract, ReadsRegistersThroughTheLegacyMailbox) {
    drive([&](device& chip) {
        std::uint64_t serial = 0;
        chip.check(trn_get_serial(chip, &serial));
        std::vector<std::uint64_t> addresses(100, map().misc_ram_axi);
        addresses[0] = map().misc_ram_axi + 0x38;
        addresses[99] = map().misc_ram_axi + 0x3c;
        std::vector<std::uint32_t> values(100);
        chip.check(trn_read_counters(chip, addresses.data(), values.data(), 100));
        EXPECT_EQ(values[0], serial & 0xffff'ffff);
        EXPECT_EQ(values[50], map().api_version);
        EXPECT_EQ(values[99], serial >> 32);
        addresses[3] = 0x1000;  // outside the register space
        EXPECT_EQ(trn_read_counters(chip, addresses.data(), values.data(), 100), TRN_REFUSED);
        EXPECT_EQ(trn_read_counters(chip, addresses.data(), values.data(), 101),
                  TRN_INVALID_ARGUMENT);
    });
}

TEST_P(DriverContract, AcceptsMetricsThroughTheLegacyMailbox) {
    drive([&](device& chip) {
        const std::uint8_t metric[] = {7, 5, '2', '.', '2', '6', 0, 9, 1, 'x'};
        for (int posts = 0; posts < 300; ++posts)  // sequence numbers wrap and skip 0
            chip.check(trn_post_metric(chip, metric, sizeof metric));
        const std::uint8_t cut_off[] = {7, 200, 'x'};
        EXPECT_EQ(trn_post_metric(chip, cut_off, sizeof cut_off), TRN_REFUSED);
        std::uint8_t whole[128] = {1, 126};
        chip.check(trn_post_metric(chip, whole, sizeof whole));
    });
}

TEST_P(DriverContract, SetsPowerProfilesThroughTheNewMailbox) {
    if (map().api_version < 7) GTEST_SKIP() << "this chip has the legacy mailbox only";
    drive([&](device& chip) {
        for (const std::uint8_t profile : std::initializer_list<std::uint8_t>{1, 3, 0}) {
            chip.check(trn_set_power_profile(chip, profile));
            std::uint32_t current = 99, size = sizeof current;
            chip.check(trn_get_data(chip, 1, &current, &size));
            EXPECT_EQ(current, profile);
        }
        EXPECT_EQ(trn_set_power_profile(chip, 200), TRN_REFUSED);
        std::uint32_t available = 0, size = sizeof available;
        chip.check(trn_get_data(chip, 2, &available, &size));
        EXPECT_EQ(available, 0xfu);
        chip.check(trn_set_throttling_notifications(chip, true));
        chip.check(trn_set_throttling_notifications(chip, false));
    });
}

/// Sends a request to the new mailbox word by word, with the given CRC.
std::uint32_t ask(device& chip, std::uint64_t misc_ram, std::uint32_t header, std::uint32_t crc) {
    set_word(chip, misc_ram + 0x1f0, header);
    set_word(chip, misc_ram + 0x1f4, crc);
    set_word(chip, misc_ram + 0x1f8, 0);
    set_word(chip, misc_ram + 0x1fc, 0);
    set_word(chip, misc_ram + 0xf0, 1);
    set_word(chip, misc_ram + 0x800, 1);
    EXPECT_TRUE(eventually(chip, [&] { return word(chip, misc_ram + 0x800) == 0; }));
    return word(chip, misc_ram + 0x1f0);
}

TEST_P(DriverContract, RefusesRequestsWithAWrongCrc) {
    if (map().api_version < 7) GTEST_SKIP() << "this chip has the legacy mailbox only";
    expect_misuse("mailbox-bad-crc");
    drive([&](device& chip) {
        set_word(chip, map().misc_ram + 0x100, 1);
        // sequence 9, command 4 (get data), 8 + 4 bytes
        const auto answer = ask(chip, map().misc_ram, 12u << 16 | 4u << 8 | 9, 0x1234'5678);
        EXPECT_EQ(answer & 0xff, 9u);
        EXPECT_EQ(answer >> 8 & 0xff, 1u);  // failed
        EXPECT_EQ(answer >> 16, 4u);        // no data
        std::uint32_t current = 99, size = sizeof current;
        chip.check(trn_get_data(chip, 1, &current, &size));  // the next request is served
    });
}

TEST_P(DriverContract, RestoresFirmwareWordsOverwrittenByTheHost) {
    expect_misuse("firmware-word-overwritten");
    drive([&](device& chip) {
        const auto ram = map().misc_ram;
        // API version, routing id, serial number, ECC counts, server, build: constant words, except
        // samples.
        const std::vector<std::uint32_t> words{0x00, 0x04, 0x24, 0x38, 0x3c,  0x40,
                                               0x44, 0x64, 0x70, 0x74, 0x400, 0x808};
        std::vector<std::uint32_t> before;
        for (const auto at : words) before.push_back(word(chip, ram + at));
        const auto restored = [&] {
            std::vector<std::uint32_t> now;
            for (const auto at : words) now.push_back(word(chip, ram + at));
            return now == before;
        };
        for (const std::uint32_t value : {0u, 0xdead'beefu, 0xffff'ffffu}) {
            for (const auto at : words) set_word(chip, ram + at, value);
            EXPECT_TRUE(eventually(chip, restored)) << std::hex << value;
        }
        set_word(chip, ram + 0x24, 0xffff'ffff);
        EXPECT_TRUE(eventually(chip, restored));
        chip.check(trn_probe(chip));
    });
}

TEST_P(DriverContract, ReportsAnUnknownCommand) {
    if (map().api_version < 7) GTEST_SKIP() << "this chip has the legacy mailbox only";
    expect_misuse("mailbox-unknown-command");
    drive([&](device& chip) {
        std::uint32_t size = 0;
        EXPECT_EQ(trn_mailbox_request(chip, 77, nullptr, 0, nullptr, &size), TRN_REFUSED);
        EXPECT_EQ(word(chip, map().misc_ram + 0x1f0) >> 8 & 0xff, 2u);
    });
}

/// Simulated ns; firmware samples power and updates the heartbeat at least once in it.
constexpr std::uint64_t tick = 120'000'000;

TEST_P(DriverContract, SamplesThePowerOfEachDie) {
    drive([&](device& chip) {
        for (std::uint32_t die = 0; die < chip.info().dies; ++die) {
            trn_power_sample first{}, second{};
            chip.check(trn_get_power(chip, die, &first));
            EXPECT_LE(first.basis_points, 10000u);
            EXPECT_GT(first.basis_points, 0u);
            chip.check(trn_sleep(chip, tick));
            chip.check(trn_get_power(chip, die, &second));
            EXPECT_NE(second.counter, first.counter);
        }
    });
}

TEST_P(DriverContract, UpdatesTheHeartbeatForNewerDrivers) {
    drive([&](device& chip) {
        const auto before = word(chip, map().misc_ram + 0xc) >> 12 & 0xff;
        chip.check(trn_sleep(chip, tick));
        EXPECT_NE(word(chip, map().misc_ram + 0xc) >> 12 & 0xff, before);
    });
}

}  // namespace
}  // namespace trn::test
