// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/packet_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace trn::efa_transport {
namespace {

constexpr std::uint32_t bytes = 8192;

TEST(PacketPoolTest, AcknowledgementBringsTheMemoryOfItsPacketBack) {
    auto packet = packet_pool::take();
    packet->make_room(bytes);
    const auto* const memory = packet->data.data();
    packet->answer(status::ok);
    EXPECT_TRUE(packet->data.empty());
    packet_pool::give(std::move(packet));
    packet = packet_pool::take();
    EXPECT_TRUE(packet->data.empty());
    packet->make_room(bytes);
    EXPECT_EQ(packet->data.data(), memory);
}

TEST(PacketPoolTest, PacketsThatAreUsedAgainKeepNoField) {
    auto packet = packet_pool::take();
    packet->source = 3;
    packet->source_qp = 4;
    packet->message = 5;
    packet->has_immediate = true;
    packet->answer(status::remote_bad_qp);
    packet_pool::give(std::move(packet));
    packet = packet_pool::take();
    EXPECT_EQ(packet->destination, 0);
    EXPECT_EQ(packet->destination_qp, 0);
    EXPECT_EQ(packet->message, 0u);
    EXPECT_FALSE(packet->has_immediate);
    EXPECT_EQ(packet->type, srd_packet::kind::send);
    EXPECT_EQ(packet->result, status::ok);
}

TEST(PacketPoolTest, ResponseReturnsToTheQueuePairThatAsked) {
    srd_packet packet;
    packet.source = 1;
    packet.destination = 2;
    packet.source_qp = 3;
    packet.destination_qp = 4;
    packet.message = 5;
    packet.sequence = 6;
    packet.answer(status::remote_bad_address);
    EXPECT_EQ(packet.source, 2);
    EXPECT_EQ(packet.destination, 1);
    EXPECT_EQ(packet.source_qp, 4);
    EXPECT_EQ(packet.destination_qp, 3);
    EXPECT_EQ(packet.message, 5u);
    EXPECT_EQ(packet.sequence, 6u);
    EXPECT_EQ(packet.type, srd_packet::kind::response);
    EXPECT_EQ(packet.result, status::remote_bad_address);
}

}  // namespace
}  // namespace trn::efa_transport
