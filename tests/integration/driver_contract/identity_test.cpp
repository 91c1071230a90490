// SPDX-License-Identifier: Apache-2.0
// Contract 1, 2 and 4.1: identification of a chip by the driver.
#include "tests/integration/driver_contract/contract_fixture.h"

namespace trn::test {
namespace {

TEST_P(DriverContract, IdentifiesItselfToTheDriver) {
    drive_unprobed([&](device& chip) {
        chip.check(trn_probe(chip));
        const auto info = chip.info();
        EXPECT_EQ(info.vendor_id, 0x1D0F);
        EXPECT_EQ(info.device_id, board().device_id);
        EXPECT_EQ(info.revision, board().revision);
        EXPECT_EQ(info.mode, board().mode);
        EXPECT_EQ(info.device_index, 0u);
        EXPECT_GE(info.register_bar_size, map().register_bar_bytes);
        EXPECT_GE(info.bar4_size, std::uint64_t{4} << 30);
    });
}

TEST_P(DriverContract, RefusesWorkBeforeProbeAndReset) {
    drive_unprobed([&](device& chip) {
        EXPECT_EQ(trn_reset_device(chip), TRN_NOT_READY);
        chip.check(trn_probe(chip));
        EXPECT_EQ(trn_copy(chip, 0, hbm(chip, 0, 0), hbm(chip, 1, 0), 4), TRN_NOT_READY);
    });
}

TEST_P(DriverContract, PublishesTheWordsOfAHealthyChip) {
    drive([&](device& chip) {
        std::uint32_t version = 0;
        chip.check(trn_get_api_version(chip, &version));
        EXPECT_EQ(version, map().api_version);
        std::uint64_t serial = 0;
        chip.check(trn_get_serial(chip, &serial));
        EXPECT_NE(serial, 0u);
        EXPECT_NE(serial & 0xffff'ffff, 0xdead'beefu);
        EXPECT_NE(serial >> 32, 0xdead'beefu);
        trn_ecc_counts ecc{};
        chip.check(trn_get_ecc(chip, &ecc));
        EXPECT_EQ(ecc.sram_uncorrected + ecc.sram_corrected + ecc.repair_state, 0u);
        for (const auto count : ecc.hbm_uncorrectable) EXPECT_EQ(count, 0u);
        EXPECT_EQ(word(chip, map().misc_ram + 0x190), 0u);      // no election yet
        EXPECT_EQ(word(chip, map().misc_ram + 0x800), 0u);      // mailbox idle
        EXPECT_EQ(word(chip, map().misc_ram + 0x808) & 8, 0u);  // no reset in progress
        EXPECT_NE(word(chip, map().misc_ram + 0x74), 0u);       // firmware build
        EXPECT_EQ(word(chip, map().misc_ram + 0x4), 0u);        // healthy
    });
}

TEST_P(DriverContract, SingleChipPublishesNoNeighbours) {
    drive([&](device& chip) {
        trn_topology found{};
        chip.check(trn_get_topology(chip, &found));
        EXPECT_EQ(found.kind, TRN_TOPOLOGY_NONE);
    });
}

TEST_P(DriverContract, KeepsSoftwareWordsInMiscRam) {
    drive([&](device& chip) {
        std::vector<std::uint64_t> offsets{0x80, 0x84, 0x1d4, 0x30};  // newer drivers
        for (std::uint64_t at = 0xc0; at < 0xf0; at += 4) offsets.push_back(at);
        for (std::uint64_t at = 0x100; at < 0x19c; at += 4) offsets.push_back(at);
        for (std::uint64_t at = 0x1a0; at < 0x1d0; at += 4) offsets.push_back(at);
        for (const auto at : offsets)
            set_word(chip, map().misc_ram + at, static_cast<std::uint32_t>(0x8000'0001 + at));
        for (const auto at : offsets)
            EXPECT_EQ(word(chip, map().misc_ram + at), 0x8000'0001 + at) << std::hex << at;
    });
}

TEST_P(DriverContract, RefusesUserSpaceWritesToMailboxAndRings) {
    drive([&](device& chip) {
        for (const std::uint64_t at : {0x1f0, 0x1f4, 0x1f8, 0x1fc, 0x800})
            EXPECT_EQ(trn_bar_write(chip, map().misc_ram + at, 1), TRN_INVALID_ARGUMENT) << at;
        for (const std::uint64_t at : {0x28, 0x2c, 0x38, 0x44, 0x48}) {
            EXPECT_EQ(trn_bar_write(chip, map().engine_0 + 0x1000 + at, 1), TRN_INVALID_ARGUMENT)
                << at;
            EXPECT_EQ(trn_bar_write(chip, map().engine_0 + 0x2F000 + at, 1), TRN_INVALID_ARGUMENT)
                << at;
        }
        chip.check(trn_bar_write(chip, map().misc_ram + 0xc0, 7));
        EXPECT_EQ(word(chip, map().misc_ram + 0xc0), 7u);
    });
}

TEST_P(DriverContract, UnusedOffsetsReadZero) {
    expect_misuse("host-read-of-nothing");
    drive([&](device& chip) {
        // Contract 18, pitfall 16: never all ones.
        for (const auto at : map().holes) EXPECT_EQ(word(chip, at), 0u) << std::hex << at;
    });
}

}  // namespace
}  // namespace trn::test
