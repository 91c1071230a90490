// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/unit/cards/ena/card/ena_pair.h"

namespace trn::test {
namespace {

constexpr std::uint8_t done_well = 0, no_room = 1, not_legal = 5;

struct EnaLowLatencyTest : ena_pair {
    using bytes_type = network_driver::bytes_type;

    EnaLowLatencyTest() : to(receive_queue(b, 60, 2048)) {
        EXPECT_EQ(a.agree_low_latency(), done_well);
        from = a.create(true, 16, 1, true);
    }
    /// Describes a packet: `inside` bytes in the entry, the rest in parts of `step` bytes.
    void describe(std::uint16_t request, const bytes_type& packet, std::size_t inside,
                  std::size_t step, const network_driver::wanted& how = {}) {
        const auto at = a.allocate(packet.size() + 1);
        std::copy(packet.begin(), packet.end(), a.bytes(at));
        std::vector<network_driver::part> parts;
        for (std::size_t first = inside; first < packet.size(); first += step)
            parts.push_back(
                {at + first, static_cast<std::uint16_t>(std::min(step, packet.size() - first))});
        a.describe_in_card(from, request,
                           {packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(inside)},
                           parts, how);
    }
    bytes_type received() {
        const auto got = b.take(to);
        if (!got) return {};
        const auto index = got->request - 100u;
        const auto* const at = b.bytes(buffers + index * 2048);
        bytes_type packet(at, at + got->length);
        b.offer(to, got->request, buffers + index * 2048, 2048);
        b.ring(to);
        return packet;
    }
    network_driver::queue from, to;
};

TEST_F(EnaLowLatencyTest, PacketsAreOfTheEntryAndOfBuffers) {
    std::uint16_t request = 1000;
    for (int turn = 0; turn < 5; ++turn)  // the ring wraps
        for (const auto& [size, inside, step] : {std::array<std::size_t, 3>{60, 60, 1},
                                                 {90, 96 - 6, 1},
                                                 {1500, 96, 2000},
                                                 {1500, 0, 2000},
                                                 {1500, 14, 100},
                                                 {1000, 40, 60}}) {
            const auto sent = packet(2, 1, size);
            describe(++request, sent, inside, step);
            a.ring(from);
            run();
            EXPECT_EQ(a.take(from).value().request, request);
            EXPECT_EQ(received(), sent) << size << ' ' << inside << ' ' << step;
        }
    EXPECT_FALSE(b.take(to));
}

TEST_F(EnaLowLatencyTest, MetaDataIsInTheFirstEntry) {
    auto sent = packet(2, 1, 14 + 20 + 20 + 2000);
    const std::uint8_t headers[] = {8, 0, 0x45, 0, 0x07, 0xf8, 0, 1, 0, 0, 64, 6};
    std::copy(std::begin(headers), std::end(headers), sent.begin() + 12);
    sent[46] = 0x50;
    describe(7, sent, 54, 5000, {.checksum = true, .segmentation = true, .segment = 1000});
    a.ring(from);
    run();
    EXPECT_EQ(a.take(from).value().request, 7);
    EXPECT_EQ(received().size(), 1054u);
    EXPECT_EQ(received().size(), 1054u);
    EXPECT_FALSE(b.take(to));
}

TEST_F(EnaLowLatencyTest, HeaderLongerThanItsPlaceIsCompletedAndNotSent) {
    a.describe_in_card(from, 5, bytes_type(97, 2), {});
    a.ring(from);
    run();
    EXPECT_EQ(a.take(from).value().request, 5);
    EXPECT_FALSE(b.take(to));
    EXPECT_EQ(a.card.queues().counters.tx_drops, 1u);
}

TEST_F(EnaLowLatencyTest, DriverAgreesBeforeItPlacesARingInTheCard) {
    auto other = a.create(true, 16, 1);
    other.low_latency = true;
    EXPECT_EQ(a.status_of(network_driver::create_sq(true, other)), done_well);
    auto receives = a.create(false, 16, 1);
    receives.low_latency = true;
    EXPECT_EQ(a.status_of(network_driver::create_sq(false, receives)), not_legal);
    EXPECT_EQ(a.agree_low_latency(2), not_legal);  // entries of 192 bytes
    a.start();
    other = a.create(true, 16, 1);
    other.low_latency = true;
    EXPECT_EQ(a.status_of(network_driver::create_sq(true, other)), not_legal);
}

TEST(EnaCardWithoutLowLatency, RefusesIt) {
    network_driver host("host", {.low_latency_queues = 0});
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    host.start();
    EXPECT_EQ(host.feature(4).u32(8), 0u);
    EXPECT_EQ(host.agree_low_latency(), not_legal);
}

TEST_F(EnaLowLatencyTest, EachRingHasItsPlaceInTheCard) {
    std::vector<network_driver::queue> all{from};
    for (unsigned n = 1; n < 8; ++n) all.push_back(a.create(true, 16, 1, true));
    for (unsigned n = 0; n < 8; ++n) EXPECT_EQ(all[n].entries, n * 128 * 1024u);
    auto more = all[0];
    EXPECT_EQ(a.status_of(network_driver::create_sq(true, more)), no_room);
    EXPECT_EQ(a.status_of(network_driver::destroy_sq(true, all[3])), done_well);
    EXPECT_EQ(a.create(true, 16, 1, true).entries, all[3].entries);
}

}  // namespace
}  // namespace trn::test
