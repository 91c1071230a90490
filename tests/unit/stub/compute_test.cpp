// SPDX-License-Identifier: Apache-2.0
// Words of the descriptors that the stub creates for compute packets (doc/dma_compute.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "sw-stubs/driver/include/trn_driver.h"

namespace {

using testing::ElementsAre;

struct StubCompute : testing::Test {
    std::array<trn_dma_piece, 65> pieces{};
    trn_dma_piece result{0x2'0000'1000, 64};
    float scales[3] = {1.0f, -2.0f, 0.5f};
    trn_compute_packet packet{};
    std::array<trn_descriptor, TRN_COMPUTE_M2S> m2s{};
    std::array<trn_descriptor, TRN_COMPUTE_PIECES> s2m{};
    std::uint32_t m2s_count = 0, s2m_count = 0;

    StubCompute() {
        for (std::uint32_t i = 0; i < pieces.size(); ++i) pieces[i] = {0x1'0000'0000u + i, 64};
        packet.sources = pieces.data();
        packet.destinations = &result;
        packet.destination_count = 1;
        packet.scales = scales;
    }
    bool build() {
        return trn_compute_build(&packet, m2s.data(), &m2s_count, s2m.data(), &s2m_count);
    }
};

TEST_F(StubCompute, SumIsAnOperationAndItsSources) {
    packet.operation = TRN_COMPUTE_ADD;
    packet.from = packet.to = TRN_BF16;
    packet.operands = packet.source_count = 2;
    packet.flags = TRN_COMPUTE_SATURATE;
    ASSERT_TRUE(build());
    ASSERT_EQ(m2s_count, 3u);
    ASSERT_EQ(s2m_count, 1u);
    EXPECT_THAT(m2s[0].words, ElementsAre(1u << 26, 0x01180003u, 1u << 20 | 2u << 12 | 0x222u, 0u));
    EXPECT_THAT(m2s[1].words, ElementsAre(64u, 0x01080003u, 0u, 1u));
    EXPECT_THAT(m2s[2].words, ElementsAre(1u << 27 | 64u, 0x01080003u, 1u, 1u));
    EXPECT_THAT(s2m[0].words, ElementsAre(64u, 0u, 0x1000u, 2u));
    EXPECT_EQ(trn_descriptor_with_ring_id(m2s[2], 3).words[0], 1u << 27 | 3u << 24 | 64u);
}

TEST_F(StubCompute, DescriptorHoldsTwoFactors) {
    packet.operation = TRN_COMPUTE_SCALED_ADD;
    packet.operands = packet.source_count = 3;
    ASSERT_TRUE(build());
    ASSERT_EQ(m2s_count, 6u);
    EXPECT_THAT(m2s[1].words, ElementsAre(0u, 0x01280003u, 0x3f800000u, 0xc0000000u));
    EXPECT_THAT(m2s[2].words, ElementsAre(0u, 0x01280003u, 0x3f000000u, 0u));
    packet.scales = nullptr;
    EXPECT_FALSE(build());
}

TEST_F(StubCompute, OversizedPacketIsRefused) {
    packet.operation = TRN_COMPUTE_ADD;
    packet.operands = 17;
    EXPECT_FALSE(build());
    packet.operands = 16;
    packet.source_count = 65;
    EXPECT_FALSE(build());
    packet.source_count = 64;
    EXPECT_TRUE(build());
    EXPECT_EQ(m2s_count, 65u);
}

}  // namespace
