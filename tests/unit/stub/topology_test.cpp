// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/stub/fake_device.h"

namespace trn::test {
namespace {

using testing::HasSubstr;

/// Misc RAM as written by the firmware of a switched machine.
struct StubTopology : testing::Test {
    fake_device chip;
    trn_device* device = nullptr;
    trn_topology found{};

    StubTopology() {
        const auto transport = chip.transport();
        device = trn_create(&transport, nullptr);
        EXPECT_EQ(trn_probe(device), TRN_OK);
    }
    ~StubTopology() override { trn_destroy(device); }

    std::uint32_t& misc(std::uint64_t offset) { return chip.bar0[fake_device::misc + offset]; }
    void publish() {
        misc(TRN_MISC_RAM_TOPOLOGY_MAGIC_OFFSET) = TRN_MISC_RAM_TOPOLOGY_MAGIC_WORD_VALUE;
        misc(TRN_MISC_RAM_TOPOLOGY_SEQUENCE_OFFSET) = 6;
        misc(TRN_MISC_RAM_TOPOLOGY_SHAPE_OFFSET) = 0x02'12'04'3;  // 4 chips, 18 servers, 2 racks
        misc(TRN_MISC_RAM_TOPOLOGY_PLACE_OFFSET) = 0x00'11'02;
        misc(TRN_MISC_RAM_TOPOLOGY_REACHABLE_OFFSET) = 72u << 20 | 68 << 8 | 3;
        misc(TRN_MISC_RAM_TOPOLOGY_PORTS_OFFSET) = 0x04'05'07'07;
        misc(TRN_MISC_RAM_TOPOLOGY_PORT_LINK_OFFSET(2)) = 0x02'10'08'61;
        misc(TRN_MISC_RAM_TOPOLOGY_PORT_PARTNER_OFFSET(2)) = 0x81'05'02'01;
        misc(TRN_MISC_RAM_TOPOLOGY_PORT_ID_OFFSET(2)) = 0x01'04'01;
        misc(TRN_MISC_RAM_TOPOLOGY_PORT_SERIAL_LO_OFFSET(2)) = 0x0000'0005;
        misc(TRN_MISC_RAM_TOPOLOGY_PORT_SERIAL_HI_OFFSET(2)) = 0x5452'4e33;
        misc(TRN_MISC_RAM_TOPOLOGY_PORT_EXPECTED_ID_OFFSET(2)) = 0x01'11'02;
    }
};

TEST_F(StubTopology, ReadsThePublishedTopology) {
    publish();
    ASSERT_EQ(trn_get_topology(device, &found), TRN_OK);
    EXPECT_EQ(found.kind, TRN_TOPOLOGY_SWITCHED);
    EXPECT_EQ(found.x, 4u);
    EXPECT_EQ(found.y, 18u);
    EXPECT_EQ(found.z, 2u);
    EXPECT_EQ(found.own.server, 17u);
    EXPECT_EQ(found.own.chip, 2u);
    EXPECT_EQ(found.reachable_server, 3u);
    EXPECT_EQ(found.reachable_rack, 68u);
    EXPECT_EQ(found.reachable_other, 72u);
    const auto& link = found.ports[2];
    EXPECT_TRUE(link.connected && link.up && link.identified);
    EXPECT_EQ(link.generation, 6u);
    EXPECT_EQ(link.lanes, 8u);
    EXPECT_EQ(link.lanes_full, 16u);
    EXPECT_EQ(link.downs, 2u);
    EXPECT_EQ(link.fault, TRN_LINK_WRONG_PARTNER);
    EXPECT_EQ(link.partner.kind, TRN_PARTNER_CHIP);
    EXPECT_EQ(link.partner.place.rack, 1u);
    EXPECT_EQ(link.partner.place.server, 4u);
    EXPECT_EQ(link.partner.place.chip, 1u);
    EXPECT_EQ(link.partner_port, 2u);
    EXPECT_EQ(link.serial, 0x5452'4e33'0000'0005u);
    EXPECT_EQ(link.expected.kind, TRN_PARTNER_CHIP);
    EXPECT_EQ(link.expected.place.server, 17u);
    EXPECT_TRUE(found.ports[1].connected);
    EXPECT_FALSE(found.ports[1].up);
    EXPECT_FALSE(found.ports[3].connected);
}

TEST_F(StubTopology, SingleChipHasNoTopology) {
    ASSERT_EQ(trn_get_topology(device, &found), TRN_OK);
    EXPECT_EQ(found.kind, TRN_TOPOLOGY_NONE);
    EXPECT_FALSE(found.ports[0].connected);
}

TEST_F(StubTopology, WaitsUntilFirmwareHasWrittenTheWholeTable) {
    publish();
    misc(TRN_MISC_RAM_TOPOLOGY_SEQUENCE_OFFSET) = 7;
    chip.at(50'000, [this] {
        misc(TRN_MISC_RAM_TOPOLOGY_REACHABLE_OFFSET) = 2;
        misc(TRN_MISC_RAM_TOPOLOGY_SEQUENCE_OFFSET) = 8;
    });
    ASSERT_EQ(trn_get_topology(device, &found), TRN_OK);
    EXPECT_EQ(found.reachable_server, 2u);
}

TEST_F(StubTopology, RereadsATableThatChangedDuringTheRead) {
    publish();
    // During a read: firmware updates the words between two of the driver's reads.
    chip.at(4'000, [this] {
        misc(TRN_MISC_RAM_TOPOLOGY_REACHABLE_OFFSET) = 1;
        misc(TRN_MISC_RAM_TOPOLOGY_PLACE_OFFSET) = 0x01'00'00;
        misc(TRN_MISC_RAM_TOPOLOGY_SEQUENCE_OFFSET) = 8;
    });
    ASSERT_EQ(trn_get_topology(device, &found), TRN_OK);
    EXPECT_EQ(found.reachable_server, 1u);
    EXPECT_EQ(found.own.rack, 1u);
}

TEST_F(StubTopology, TimesOutWhenFirmwareNeverFinishes) {
    publish();
    misc(TRN_MISC_RAM_TOPOLOGY_SEQUENCE_OFFSET) = 7;
    EXPECT_EQ(trn_get_topology(device, &found), TRN_TIMED_OUT);
    EXPECT_THAT(trn_last_error(device), HasSubstr("topology table"));
}

TEST_F(StubTopology, EveryKindOfPartnerHasAName) {
    EXPECT_STREQ(trn_partner_text(TRN_PARTNER_CHIP), "chip");
    EXPECT_STREQ(trn_partner_text(TRN_PARTNER_SLED_SWITCH), "sled_switch");
    EXPECT_STREQ(trn_partner_text(TRN_PARTNER_RACK_SWITCH), "rack_switch");
    EXPECT_STREQ(trn_partner_text(TRN_PARTNER_NONE), "none");
}

TEST_F(StubTopology, EveryFaultHasAMessage) {
    for (unsigned fault = 0; fault <= TRN_LINK_DUPLICATE; ++fault)
        EXPECT_STRNE(trn_link_fault_text(static_cast<trn_link_fault>(fault)), "unknown fault");
    EXPECT_STREQ(trn_link_fault_text(static_cast<trn_link_fault>(15)), "unknown fault");
}

}  // namespace
}  // namespace trn::test
