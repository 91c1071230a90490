// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "tests/unit/stub/fake_device.h"
#include "trn/semaphores_regs.h"

namespace trn::test {
namespace {

using testing::HasSubstr;

struct stub : testing::Test {
    fake_device chip;
    trn_device* device = nullptr;

    void create(const trn_options* options = nullptr) {
        const auto transport = chip.transport();
        device = trn_create(&transport, options);
    }
    void bring_up() {
        create();
        chip.answer_resets();
        ASSERT_EQ(trn_probe(device), TRN_OK) << trn_last_error(device);
        ASSERT_EQ(trn_reset_device(device), TRN_OK) << trn_last_error(device);
    }
    std::string error() const { return trn_last_error(device); }
    std::uint32_t& misc(std::uint64_t offset) { return chip.bar0[fake_device::misc + offset]; }
    ~stub() override { trn_destroy(device); }
};

using StubProbe = stub;

TEST_F(StubProbe, ReportsTheChipsIdentity) {
    create();
    ASSERT_EQ(trn_probe(device), TRN_OK) << error();
    trn_device_info info;
    ASSERT_EQ(trn_get_info(device, &info), TRN_OK);
    EXPECT_STREQ(info.name, "Trainium3");
    EXPECT_EQ(info.architecture, 4u);
    EXPECT_EQ(info.mode, TRN_MODE_SILICON);
    EXPECT_EQ(info.cores, 8u);
    EXPECT_EQ(info.dma_engines, 132u);
    EXPECT_EQ(info.stack_size, 36ull << 30);
}

TEST_F(StubProbe, ProductMapsRoutingIdsToDevices) {
    EXPECT_EQ(trn_platform_of_product("trn3.48xlarge"), TRN_HOST_STANDARD);
    EXPECT_EQ(trn_platform_of_product("trn3e.24xlarge"), TRN_HOST_STANDARD);
    EXPECT_EQ(trn_platform_of_product(""), TRN_HOST_STANDARD);
    EXPECT_EQ(trn_platform_of_product("trn3p.48xlarge\n"), TRN_HOST_ULTRASERVER);
    trn_options options{};
    options.platform = trn_platform_of_product("trn3-dev0.48xlarge");
    create(&options);
    misc(TRN_MISC_RAM_ROUTING_ID_OFFSET) = 3;
    EXPECT_EQ(trn_probe(device), TRN_PROTOCOL_ERROR);  // no server id
    misc(TRN_MISC_RAM_SERVER_ID_OFFSET) = 0x8000;
    ASSERT_EQ(trn_probe(device), TRN_OK) << error();
    trn_device_info info;
    trn_get_info(device, &info);
    EXPECT_EQ(info.device_index, 3u);
}

TEST_F(StubProbe, SetsD0BeforeBarAccess) {
    create();
    chip.power_state = 0x103;  // D3hot, and a bit that the driver does not own
    const auto before = chip.time;
    ASSERT_EQ(trn_probe(device), TRN_OK) << error();
    EXPECT_EQ(chip.power_state, 0x100u);
    EXPECT_GE(chip.time, before + 10'000'000);  // the delay required by PCI Express
}

TEST_F(StubProbe, WaitsWhileFirmwareBoots) {
    create();
    misc(TRN_MISC_RAM_ROUTING_ID_OFFSET) = 0xdeadbeef;
    chip.at(2'500'000'000, [&] { misc(TRN_MISC_RAM_ROUTING_ID_OFFSET) = 9; });
    ASSERT_EQ(trn_probe(device), TRN_OK) << error();
    trn_device_info info;
    trn_get_info(device, &info);
    EXPECT_EQ(info.routing_id, 9u);
    EXPECT_EQ(info.device_index, 2u);
    EXPECT_GE(chip.time, 2'500'000'000u);
}

TEST_F(StubProbe, GivesUpAfterTenMinutes) {
    create();
    misc(TRN_MISC_RAM_ROUTING_ID_OFFSET) = 0xdeadbeef;
    EXPECT_EQ(trn_probe(device), TRN_TIMED_OUT);
    EXPECT_THAT(error(), HasSubstr("routing id"));
    EXPECT_GE(chip.time, 600'000'000'000u);
    EXPECT_LT(chip.time, 601'000'000'000u);
}

TEST_F(StubProbe, EveryBoardPositionHasItsOwnIndex) {
    create();
    // Contract 1.3: the ids that give /dev/neuron0..15 in this order.
    const std::uint32_t ids[] = {0, 8, 9, 1, 2, 10, 11, 3, 6, 14, 15, 7, 4, 12, 13, 5};
    for (std::uint32_t index = 0; index < 16; ++index) {
        misc(TRN_MISC_RAM_ROUTING_ID_OFFSET) = ids[index] + 16;
        ASSERT_EQ(trn_probe(device), TRN_OK);
        trn_device_info info;
        trn_get_info(device, &info);
        EXPECT_EQ(info.device_index, index);
    }
}

TEST_F(StubProbe, RefusesAnUnknownRoutingId) {
    create();
    misc(TRN_MISC_RAM_ROUTING_ID_OFFSET) = 64;
    EXPECT_EQ(trn_probe(device), TRN_PROTOCOL_ERROR);
    EXPECT_THAT(error(), HasSubstr("0x40"));
}

TEST_F(StubProbe, RefusesAForeignFunction) {
    chip.ids = 0x12348086;
    create();
    EXPECT_EQ(trn_probe(device), TRN_UNKNOWN_DEVICE);
    EXPECT_THAT(error(), HasSubstr("8086:1234"));
    EXPECT_EQ(trn_reset_device(device), TRN_NOT_READY);
}

TEST_F(StubProbe, TakesHbmSizesFromBar4OnTheSimulatorRevision) {
    chip.revision = 255;
    chip.bar_sizes[4] = 4ull << 30;
    create();
    ASSERT_EQ(trn_probe(device), TRN_OK);
    trn_device_info info;
    trn_get_info(device, &info);
    EXPECT_EQ(info.mode, TRN_MODE_QEMU);
    EXPECT_EQ(info.stack_size, 1ull << 30);
}

TEST_F(StubProbe, ReportsALostDevice) {
    create();
    chip.broken = -ENODEV;
    EXPECT_EQ(trn_probe(device), TRN_DEVICE_GONE);
    EXPECT_THAT(error(), HasSubstr("fake"));
}

using StubReset = stub;

TEST_F(StubReset, PerformsTheFirmwareHandshakeOnSilicon) {
    create();
    ASSERT_EQ(trn_probe(device), TRN_OK);
    chip.answer_resets(250'000'000);
    chip.recording = true;
    ASSERT_EQ(trn_reset_device(device), TRN_OK) << error();
    const auto base = fake_device::misc;
    ASSERT_GE(chip.log.size(), 4u);
    EXPECT_EQ(chip.log[0].offset, base + TRN_MISC_RAM_RESET_REQUEST_OFFSET);
    EXPECT_EQ(chip.log[0].value, 1u);
    EXPECT_EQ(chip.log[1].offset, base + TRN_MISC_RAM_TRIGGER_OFFSET);
    EXPECT_EQ(chip.log[1].value, 1u);
    EXPECT_EQ(chip.log[2].offset, base + TRN_MISC_RAM_RESET_REQUEST_OFFSET);
    EXPECT_FALSE(chip.log[2].write);
}

TEST_F(StubReset, RetriesAndTimesOutWhenFirmwareIsSilent) {
    create();
    ASSERT_EQ(trn_probe(device), TRN_OK);
    unsigned bells = 0;
    chip.on_write[fake_device::misc + TRN_MISC_RAM_TRIGGER_OFFSET] = [&](auto) { ++bells; };
    EXPECT_EQ(trn_reset_device(device), TRN_TIMED_OUT);
    EXPECT_EQ(bells, 16u);  // at 0 s, then every 30 s of 480 s
    EXPECT_EQ(trn_copy(device, 0, 0, 0, 1), TRN_NOT_READY);
}

TEST_F(StubReset, ADeviceWhoseRegistersReadAsOnesIsGoneAfterTwoSeconds) {
    create();
    ASSERT_EQ(trn_probe(device), TRN_OK);
    const auto request = fake_device::misc + TRN_MISC_RAM_RESET_REQUEST_OFFSET;
    chip.on_write[fake_device::misc + TRN_MISC_RAM_TRIGGER_OFFSET] = [&](std::uint32_t) {
        chip.bar0[request] = ~0u;
    };
    EXPECT_EQ(trn_reset_device(device), TRN_DEVICE_GONE) << trn_last_error(device);
    EXPECT_LT(chip.time, 3'000'000'000);
}

TEST_F(StubReset, ADeviceThatAnswersAgainWithinTwoSecondsIsReset) {
    create();
    ASSERT_EQ(trn_probe(device), TRN_OK);
    const auto request = fake_device::misc + TRN_MISC_RAM_RESET_REQUEST_OFFSET;
    chip.on_write[fake_device::misc + TRN_MISC_RAM_TRIGGER_OFFSET] = [&](std::uint32_t) {
        chip.bar0[request] = ~0u;
        chip.at(1'500'000'000, [&] { chip.bar0[request] = 1; });
        chip.at(3'000'000'000, [&] { chip.bar0[request] = 0; });
    };
    EXPECT_EQ(trn_reset_device(device), TRN_OK) << trn_last_error(device);
    EXPECT_EQ(trn_core_resets(device, 0), 1u);
}

TEST_F(StubReset, FailsWhenTheResetStaysInProgress) {
    create();
    ASSERT_EQ(trn_probe(device), TRN_OK);
    chip.answer_resets();
    misc(TRN_MISC_RAM_FIRMWARE_STATUS_OFFSET) = 8;
    EXPECT_EQ(trn_reset_device(device), TRN_TIMED_OUT);
}

TEST_F(StubReset, UsesTheResetRegisterOnTheSimulatorRevision) {
    chip.revision = 255;
    create();
    ASSERT_EQ(trn_probe(device), TRN_OK);
    chip.recording = true;
    ASSERT_EQ(trn_reset_device(device), TRN_OK) << error();
    EXPECT_EQ(chip.log[0].offset, 0x06300010u);
    EXPECT_EQ(chip.log[0].value, 0u);
    chip.log.clear();
    chip.on_write[0x06300010] = [&](auto) {
        chip.at(300'000'000, [&] { chip.bar0[0x06300010] = 0; });
    };
    ASSERT_EQ(trn_reset_cores(device, 0x3), TRN_OK) << error();
    EXPECT_EQ(chip.log[0].value, 0x030303u);
}

TEST_F(StubReset, SetsUpAnEngineInTheRecordedOrder) {
    bring_up();
    chip.bar0.clear();
    chip.recording = true;
    ASSERT_EQ(trn_engine_init(device, 33), TRN_OK);
    std::ifstream golden("tests/unit/stub/engine_init.order");
    std::string line;
    std::size_t at = 0;
    while (std::getline(golden, line)) {
        if (line[0] == '#') continue;
        std::istringstream words(line);
        std::string way, block;
        std::uint64_t offset = 0;
        std::uint32_t value = 0;
        words >> way >> block >> std::hex >> offset;
        offset += block == "engine" ? fake_device::engine_base(33) : 0x9C400000 + 0x20000;
        ASSERT_LT(at, chip.log.size());
        EXPECT_EQ(chip.log[at].offset, offset) << line;
        EXPECT_EQ(chip.log[at].write, way == "W") << line;
        if (words >> std::hex >> value) {
            EXPECT_EQ(chip.log[at].value, value) << line;
        }
        ++at;
    }
    EXPECT_GT(at, 140u);
    EXPECT_EQ(at, chip.log.size());
}

/// Contract 14: differences of Trainium2.
struct StubTrainium2 : stub {
    StubTrainium2() {
        chip.ids = 0x73641d0f;
        create();
    }
};

TEST_F(StubTrainium2, HasSmallerStacksAndOneRegisterFewer) {
    chip.answer_resets();
    ASSERT_EQ(trn_probe(device), TRN_OK);
    trn_device_info info;
    trn_get_info(device, &info);
    EXPECT_STREQ(info.name, "Trainium2");
    EXPECT_EQ(info.architecture, 3u);
    EXPECT_EQ(info.stack_size, 24ull << 30);
    chip.recording = true;
    ASSERT_EQ(trn_reset_device(device), TRN_OK) << error();
    for (const auto& access : chip.log)
        EXPECT_NE(access.offset, fake_device::engine_base(0) + 0x2012C);
}

TEST_F(StubTrainium2, PerformsTheHandshakeOnTheEmulatorRevisionUnlikeTrainium3) {
    chip.revision = 240;
    chip.answer_resets();
    unsigned bells = 0;
    const auto answer = chip.on_write[fake_device::misc + TRN_MISC_RAM_TRIGGER_OFFSET];
    chip.on_write[fake_device::misc + TRN_MISC_RAM_TRIGGER_OFFSET] = [&](auto value) {
        ++bells;
        answer(value);
    };
    ASSERT_EQ(trn_probe(device), TRN_OK);
    ASSERT_EQ(trn_reset_device(device), TRN_OK) << error();
    EXPECT_EQ(bells, 1u);
    chip.ids = 0x75641d0f;
    ASSERT_EQ(trn_probe(device), TRN_OK);
    ASSERT_EQ(trn_reset_device(device), TRN_OK) << error();
    EXPECT_EQ(bells, 1u);
}

/// Register accesses of the public driver on Trainium1 (contract 15): misc RAM and engines are at
/// other addresses; the rest of the fake is not used.
struct StubTrainium1 : stub {
    static constexpr std::uint64_t misc_ram = 0x30FA0000;
    StubTrainium1() {
        chip.ids = 0x71641d0f;
        chip.bar_sizes[0] = 1ull << 30;
        chip.bar_sizes[4] = 32ull << 30;
        chip.on_write[misc_ram + TRN_MISC_RAM_TRIGGER_OFFSET] = [this](auto) {
            chip.bar0[misc_ram + TRN_MISC_RAM_RESET_REQUEST_OFFSET] = 0;
        };
        create();
    }
    std::uint32_t last_written(std::uint64_t offset) const {
        for (auto it = chip.log.rbegin(); it != chip.log.rend(); ++it)
            if (it->write && it->offset == offset) return it->value;
        ADD_FAILURE() << "nothing was written at " << std::hex << offset;
        return 0;
    }
};

TEST_F(StubTrainium1, HasItsOwnCountsAndNumbering) {
    const std::uint32_t ids[] = {0, 2, 6, 4, 1, 3, 7, 5, 9, 11, 15, 13, 8, 10, 14, 12};
    for (std::uint32_t index = 0; index < 16; ++index) {
        chip.bar0[misc_ram + TRN_MISC_RAM_ROUTING_ID_OFFSET] = ids[index] + 16;
        ASSERT_EQ(trn_probe(device), TRN_OK) << error();
        trn_device_info info;
        trn_get_info(device, &info);
        EXPECT_EQ(info.device_index, index + 16) << "routing id " << ids[index] + 16;
        EXPECT_STREQ(info.name, "Trainium1");
        EXPECT_EQ(info.dma_engines, 34u);
        EXPECT_EQ(info.stack_size, 16ull << 30);
    }
    EXPECT_EQ(trn_hbm_address(device, 1, 0x10), 0x10'0000'0010u);
    EXPECT_EQ(trn_hbm_address(device, 2, 0), 0u);
    EXPECT_EQ(trn_sbuf_address(device, 1, 0), 0xfffc'400'0000u);
}

TEST_F(StubTrainium1, ResetsCoresWithThreeTopSpsEach) {
    ASSERT_EQ(trn_probe(device), TRN_OK);
    ASSERT_EQ(trn_reset_device(device), TRN_OK) << error();
    chip.recording = true;
    ASSERT_EQ(trn_reset_cores(device, 2), TRN_OK) << error();
    EXPECT_EQ(last_written(misc_ram + TRN_MISC_RAM_RESET_MAP_OFFSET), 0x3802u);
    EXPECT_EQ(last_written(0x30D00000 + TRN_UDMA_M2S_Q_CFG_OFFSET(0)), 0x03030000u)
        << "core 1 copies on engine 33, queue 0";
}

TEST_F(StubTrainium1, SetsUpTheRegistersOnlyItsDriverUses) {
    ASSERT_EQ(trn_probe(device), TRN_OK);
    chip.recording = true;
    ASSERT_EQ(trn_engine_init(device, 17), TRN_OK);  // engine 1 of core 1
    constexpr std::uint64_t engine = 0x30740000, misc = 0x30B07000;
    EXPECT_EQ(chip.log[0].offset, misc + 0x100) << "broadcast comes first";
    EXPECT_EQ(chip.log[0].value, 0x7fffu);
    EXPECT_EQ(chip.log[1].value, 0u) << "no broadcast ends at engine 1";
    EXPECT_EQ(last_written(engine + 0x124), 0x86fu);
    EXPECT_EQ(last_written(engine + 0x20124), 0x00400008u);
    EXPECT_EQ(last_written(engine + 0x310), 0x01000400u);
    EXPECT_EQ(last_written(engine + 0x3A300), 0xffffffffu);
    for (unsigned i = 0; i < 6; ++i) {
        for (const unsigned word : {1, 2, 3, 9, 10, 11})
            EXPECT_EQ(last_written(engine + 0x3A900 + i * 0x40 + word * 4), 0xfu);
        EXPECT_EQ(last_written(engine + 0x3AB00 + i * 8), 15u << 3 | 7);
        EXPECT_EQ(last_written(engine + 0x3AB04 + i * 8), 0x10u);
        EXPECT_EQ(last_written(engine + 0x3AD28 + i * 0x100), 0x28u);
        EXPECT_EQ(last_written(engine + 0x3AD30 + i * 0x100), 0u);
        EXPECT_EQ(last_written(engine + 0x3AD18 + i * 0x100), 0u);
    }
    for (const auto& access : chip.log) {
        EXPECT_NE(access.offset, engine + 0x2012C);
        EXPECT_NE(access.offset, misc + 0x800);
        EXPECT_TRUE((access.offset >= engine && access.offset < engine + 0x40000) ||
                    (access.offset >= misc && access.offset < misc + 0x1000))
            << std::hex << access.offset;
    }
}

TEST_F(StubTrainium1, UsesBar2AndBothHandshakesOnTheSimulatorRevision) {
    chip.revision = 255;
    EXPECT_EQ(trn_probe(device), TRN_PROTOCOL_ERROR);
    EXPECT_THAT(error(), HasSubstr("BAR2"));
    chip.register_bar = 2;
    chip.bar_sizes[2] = 1ull << 30;
    chip.bar_sizes[0] = 0;
    ASSERT_EQ(trn_probe(device), TRN_OK) << error();
    chip.on_write[0x30647010] = [&](auto) {
        chip.at(300'000'000, [&] { chip.bar0[0x30647010] = 0; });
    };
    chip.recording = true;
    ASSERT_EQ(trn_reset_device(device), TRN_OK) << error();
    EXPECT_EQ(chip.log[0].offset, 0x30647010u);
    EXPECT_EQ(chip.log[0].value, 1u);
    EXPECT_EQ(chip.log[1].offset, misc_ram + TRN_MISC_RAM_RESET_REQUEST_OFFSET);
    EXPECT_EQ(chip.log[1].value, 1u);

    chip.on_write[0x30647010] = [&](auto) {};
    const auto start = chip.time;
    EXPECT_EQ(trn_reset_cores(device, 1), TRN_TIMED_OUT) << "the register stays busy";
    EXPECT_NEAR(static_cast<double>(chip.time - start), 11e9, 0.5e9);
}

TEST_F(StubReset, SetsUpAllEnginesAndOneHostQueuePerCore) {
    bring_up();
    for (unsigned core = 0; core < 8; ++core) {
        trn_queue_state state;
        ASSERT_EQ(trn_queue_get_state(device, 128 + core / 2, core % 2, &state), TRN_OK);
        EXPECT_EQ(state.m2s.length, 8192u);
        EXPECT_EQ(state.s2m.length, 8192u);
        EXPECT_TRUE(state.m2s.base >> 46 & 1);
        EXPECT_NE(state.m2s.base, state.s2m.base);
    }
    for (unsigned engine = 0; engine < 132; ++engine)
        EXPECT_EQ(chip.bar0[fake_device::engine_base(engine) + TRN_UDMA_M2S_DATA_CFG_OFFSET],
                  0x010008F8u);
}

TEST_F(StubReset, ResetOfOneCoreKeepsTheHostEngineOfItsPair) {
    bring_up();
    chip.recording = true;
    ASSERT_EQ(trn_reset_cores(device, 0x2), TRN_OK) << error();
    const auto base = fake_device::engine_base(128);
    for (const auto& access : chip.log) {
        EXPECT_NE(access.offset, base + TRN_UDMA_M2S_DATA_CFG_OFFSET);
        EXPECT_FALSE(access.offset >= fake_device::engine_base(0) &&
                     access.offset < fake_device::engine_base(16));
    }
    EXPECT_EQ(misc(TRN_MISC_RAM_RESET_MAP_OFFSET), 0x020202u);
    trn_queue_state state;
    ASSERT_EQ(trn_queue_get_state(device, 128, 1, &state), TRN_OK);
    EXPECT_EQ(state.m2s.length, 8192u);
}

TEST_F(StubReset, CoreResetDisablesNotificationQueues) {
    bring_up();
    ASSERT_EQ(trn_notification_set(device, TRN_NOTIFY_CORE, 5, 3, 0x40000000, 4096), TRN_OK);
    ASSERT_EQ(trn_notification_set(device, TRN_NOTIFY_CORE, 0, 3, 0x40000000, 4096), TRN_OK);
    const std::uint64_t slot = 3 * 0x28 + 0x108;
    EXPECT_EQ(chip.bar0[0x46181000 + slot], 4096u);
    ASSERT_EQ(trn_reset_cores(device, 1u << 5), TRN_OK);
    EXPECT_EQ(chip.bar0[0x46181000 + slot], 0u);
    EXPECT_EQ(chip.bar0[0x06001000 + slot], 4096u);
}

TEST_F(StubReset, FreesAllHostMemory) {
    bring_up();
    ASSERT_EQ(trn_reset_device(device), TRN_OK);
    std::uint8_t byte = 1;
    ASSERT_EQ(trn_write(device, 0, 0x1000, &byte, 1), TRN_OK);
    EXPECT_GT(chip.allocated, 0u);
    trn_destroy(device);
    device = nullptr;
    EXPECT_EQ(chip.allocated, 0u);
    EXPECT_TRUE(chip.closed);
}

using StubRegisters = stub;

TEST_F(StubRegisters, SemaphoresAndEventsAreOneAccessEach) {
    bring_up();
    chip.recording = true;
    const std::uint64_t core5 = 0xD0000000 + 5 * 0x4000000ull + 0x2700000;
    ASSERT_EQ(trn_semaphore_set(device, TRN_SYNC_CORE, 5, 7, -3), TRN_OK);
    ASSERT_EQ(trn_semaphore_increment(device, TRN_SYNC_CORE, 5, 7, 2), TRN_OK);
    ASSERT_EQ(trn_semaphore_decrement(device, TRN_SYNC_CORE, 5, 7, 9), TRN_OK);
    chip.bar0[core5 + 0x1000 + 28] = 0xfffffffe;
    std::int32_t value = 0;
    ASSERT_EQ(trn_semaphore_read(device, TRN_SYNC_CORE, 5, 7, &value), TRN_OK);
    EXPECT_EQ(value, -2);
    ASSERT_EQ(trn_event_set(device, TRN_SYNC_TOP_SP, 8, 255, 1), TRN_OK);
    ASSERT_EQ(chip.log.size(), 5u);
    EXPECT_EQ(chip.log[0].offset, core5 + 0x1400 + 28);
    EXPECT_EQ(chip.log[0].value, 0xfffffffdu);
    EXPECT_EQ(chip.log[1].offset, core5 + 0x1800 + 28);
    EXPECT_EQ(chip.log[2].offset, core5 + 0x1C00 + 28);
    // The driver's 8 is TOP_SP 10 in hardware.
    EXPECT_EQ(chip.log[4].offset, 0xF2800000u + 255 * 4);
}

TEST_F(StubRegisters, InvalidIndicesAreRefusedWithoutDeviceAccess) {
    bring_up();
    chip.recording = true;
    std::int32_t value = 0;
    EXPECT_EQ(trn_semaphore_read(device, TRN_SYNC_CORE, 8, 0, &value), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_semaphore_read(device, TRN_SYNC_CORE, 0, 256, &value), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_event_set(device, TRN_SYNC_TOP_SP, 16, 0, 0), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_copy(device, 8, 0, 0, 1), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_reset_cores(device, 0x100), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_ring_init(device, 128, 0, 0, 32, 0, 32), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_ring_init(device, 0, 0, 0x80, 32, 0, 32), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_ring_init(device, 0, 0, 0, 33, 0, 32), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_notification_set(device, TRN_NOTIFY_CORE, 0, 0, 0, 100), TRN_INVALID_ARGUMENT);
    EXPECT_TRUE(chip.log.empty());
}

TEST_F(StubRegisters, ProbeBeforeTheEndStillReleasesTheCallersRings) {
    bring_up();
    const std::uint64_t m2s = trn_hbm_address(device, 0, 0x100000), s2m = m2s + 0x1000;
    ASSERT_EQ(trn_ring_init(device, 5, 2, m2s, 32, s2m, 32), TRN_OK) << error();
    const auto base = fake_device::engine_base(5) + TRN_UDMA_M2S_Q_BASE_LO_OFFSET(2);
    ASSERT_EQ(chip.bar0[base], static_cast<std::uint32_t>(m2s));
    ASSERT_EQ(trn_probe(device), TRN_OK);
    trn_destroy(std::exchange(device, nullptr));
    EXPECT_NE(chip.bar0[base], static_cast<std::uint32_t>(m2s)) << "the queue has another ring";
}

TEST_F(StubRegisters, MailboxAndRingRegistersAreReservedForTheDriver) {
    bring_up();
    EXPECT_EQ(trn_bar_write(device, fake_device::misc + 0x1F4, 1), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_bar_write(device, fake_device::misc + 0x800, 1), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_bar_write(device, fake_device::engine_base(70) + 0x23038, 1),
              TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_bar_write(device, 0x1002, 1), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_bar_write(device, fake_device::misc + 0xC0, 0x55), TRN_OK);
    std::uint32_t value = 0;
    EXPECT_EQ(trn_bar_read(device, fake_device::misc + 0xC0, &value), TRN_OK);
    EXPECT_EQ(value, 0x55u);
}

TEST_F(StubRegisters, EngineStateIsDecodedFromItsNibbles) {
    bring_up();
    trn_engine_state state;
    ASSERT_EQ(trn_engine_get_state(device, 17, &state), TRN_OK);
    EXPECT_EQ(state.mode, TRN_ENGINE_IDLE);
    EXPECT_TRUE(state.streams_enabled);
    chip.bar0[fake_device::engine_base(17) + TRN_UDMA_M2S_STATE_OFFSET] = 0x0100;
    trn_engine_get_state(device, 17, &state);
    EXPECT_EQ(state.mode, TRN_ENGINE_NORMAL);
    chip.bar0[fake_device::engine_base(17) + TRN_UDMA_S2M_STATE_OFFSET] = 0x2000;
    trn_engine_get_state(device, 17, &state);
    EXPECT_EQ(state.mode, TRN_ENGINE_ABORT);
}

TEST_F(StubRegisters, PowerAndEccAreDecodedPerApiVersion) {
    bring_up();
    misc(0x54) = 0x00070000 | 1500;
    misc(0x40) = 0x00030002;
    misc(0x44) = 0x2005;
    misc(0x48) = 0xdeadbeef;
    trn_power_sample power;
    ASSERT_EQ(trn_get_power(device, 0, &power), TRN_OK);
    EXPECT_EQ(power.basis_points, 1500u);
    EXPECT_EQ(power.counter, 7u);
    trn_ecc_counts ecc;
    ASSERT_EQ(trn_get_ecc(device, &ecc), TRN_OK);
    EXPECT_EQ(ecc.sram_corrected, 3u);
    EXPECT_EQ(ecc.sram_uncorrected, 2u);
    EXPECT_EQ(ecc.hbm_uncorrectable[0], 2u);
    EXPECT_EQ(ecc.hbm_repairable[0], 5u);
    EXPECT_EQ(ecc.hbm_uncorrectable[1], 0u);
    misc(0) = 5;
    ASSERT_EQ(trn_get_ecc(device, &ecc), TRN_OK);
    EXPECT_EQ(ecc.hbm_uncorrectable[0], 0x2005u);
    misc(0) = 2;
    EXPECT_EQ(trn_get_power(device, 0, &power), TRN_NOT_SUPPORTED);
}

TEST(StubStatus, EveryStatusHasAMessage) {
    for (int status = TRN_OK; status <= TRN_DEVICE_GONE; ++status)
        EXPECT_STRNE(trn_status_text(static_cast<trn_status>(status)), "unknown status");
    EXPECT_STREQ(trn_status_text(static_cast<trn_status>(15)), "unknown status");
}

}  // namespace
}  // namespace trn::test
