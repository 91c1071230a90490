// SPDX-License-Identifier: Apache-2.0
#include "models/cards/ena/card/ena_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "models/cards/ena/queues/flow_hash.h"
#include "tests/unit/cards/ena/card/ena_pair.h"

namespace trn::test {
namespace {

using bytes = network_driver::bytes_type;
using command = network_driver::command;

constexpr std::uint8_t ok = 0, no_resources = 1, bad_opcode = 2, unsupported = 3, illegal = 5,
                       busy = 7;

using EnaCardTest = ena_pair;

TEST_F(EnaCardTest, FeaturesDescribeTheCard) {
    const auto device = a.feature(1);
    EXPECT_EQ(device.status, ok);
    for (const unsigned needed : {1, 4, 7, 10, 11, 12, 26, 27})
        EXPECT_NE(device.u32(16) & 1u << needed, 0u);
    EXPECT_EQ(device.u32(16) & 1u << 18, 0u);                         // no choice of hash inputs
    EXPECT_EQ(device.u32(20), 1u);                                    // statistics of type ENI
    EXPECT_EQ(device.u64(32) & 0xffff'ffff'ffff, 0x0100'0000'0002u);  // 02:00:00:00:00:01
    EXPECT_EQ(device.u32(40), 9216u);
    const auto queues = a.feature(7);
    EXPECT_EQ(queues.u32(8) & 0xff, 1u);
    EXPECT_EQ(queues.u32(12), 8u);
    EXPECT_EQ(queues.u32(28), 1024u);
    EXPECT_EQ(a.feature(27).u32(8), 100'000u);
    EXPECT_EQ(a.feature(11).u32(8), 0xffu);  // all checksums, segmentation with ECN
    EXPECT_EQ(a.feature(11).u32(12), 0xfu);
    EXPECT_EQ(a.feature(11).u32(16), 0xfu);
    EXPECT_EQ(a.feature(26).u32(8), 0x1fu);
    EXPECT_EQ(a.feature(26).u32(12), 0x1fu);
    const auto low_latency = a.feature(4);
    EXPECT_EQ(low_latency.u32(8), 8u);
    EXPECT_EQ(low_latency.u32(12), 1024u);
    EXPECT_EQ(low_latency.u32(16), 1u);  // headers inline
    EXPECT_EQ(low_latency.u32(20), 1u);  // 128 bytes
    EXPECT_EQ(low_latency.u32(24), 2u);  // two descriptors before the header
    EXPECT_EQ(low_latency.u32(28), 2u);  // many in later entries
    EXPECT_EQ(low_latency.u32(36), 0u);
    EXPECT_EQ(a.feature(12).u32(8), 9u << 16);
    EXPECT_EQ(a.feature(10).u32(8), 2u);
    EXPECT_EQ(a.feature(18).status, unsupported);
    EXPECT_EQ(a.status_of(command(77)), bad_opcode);
}

// Key and values of the public RSS verification suite (NDIS): source and destination.
const ena_queues::hash_key suite_key{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                     0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                     0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                     0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

struct ipv4_flow {
    std::array<std::uint8_t, 4> source, destination;
    std::uint16_t source_port, destination_port;
};
constexpr ipv4_flow flow_51ccc178{{66, 9, 149, 187}, {161, 142, 100, 80}, 2794, 1766};
constexpr ipv4_flow flow_afc7327f{{38, 27, 205, 30}, {209, 142, 163, 6}, 48228, 2217};

bytes packet_of(const ipv4_flow& flow, std::uint8_t protocol = 6, std::uint8_t fragment = 0) {
    bytes all = packet(2, 1, 64);
    std::fill(all.begin() + 12, all.end(), 0);
    all[12] = 8;
    all[14] = 0x45;
    all[17] = 50;  // bytes
    all[21] = fragment;
    all[23] = protocol;
    std::ranges::copy(flow.source, all.begin() + 26);
    std::ranges::copy(flow.destination, all.begin() + 30);
    const std::uint16_t ports[] = {flow.source_port, flow.destination_port};
    for (unsigned i = 0; i < 2; ++i) {
        all[34 + 2 * i] = static_cast<std::uint8_t>(ports[i] >> 8);
        all[35 + 2 * i] = static_cast<std::uint8_t>(ports[i]);
    }
    return all;
}

TEST(FlowHash, IsThatOfThePublicVerificationSuite) {
    const auto hash = [](const bytes& of) {
        return ena_queues::flow_hash(suite_key, of, ip::find_headers(of));
    };
    EXPECT_EQ(hash(packet_of(flow_51ccc178)), 0x51ccc178u);
    EXPECT_EQ(hash(packet_of(flow_afc7327f, 17)), 0xafc7327fu);
    EXPECT_EQ(hash(packet_of(flow_51ccc178, 1)), 0x323e8fc2u);     // ICMP: addresses only
    EXPECT_EQ(hash(packet_of(flow_51ccc178, 6, 1)), 0x323e8fc2u);  // a fragment: addresses only
    bytes tagged = packet_of(flow_51ccc178);
    const std::uint8_t tag[] = {0x81, 0x00, 0x00, 0x05};
    tagged.insert(tagged.begin() + 12, std::begin(tag), std::end(tag));
    EXPECT_EQ(hash(tagged), 0x51ccc178u);
    bytes six = packet(2, 1, 74);
    const std::uint8_t header[] = {
        0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, 6, 64, 0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00,
        0x1f, 0xff, 0,    0, 0, 0, 0, 0,  0, 7,  0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00,
        0,    3,    0,    0, 0, 0, 0, 0,  0, 1,  0x0a, 0xea, 0x06, 0xe6};
    std::ranges::copy(header, six.begin() + 12);
    EXPECT_EQ(hash(six), 0x40207d3du);
    six[20] = 58;
    EXPECT_EQ(hash(six), 0x2cc18cd5u);
    for (std::size_t size = 0; size < 74; ++size)
        EXPECT_EQ(hash(bytes(six.begin(), six.begin() + static_cast<std::ptrdiff_t>(size))), 0u);
    EXPECT_EQ(hash(packet(2, 1, 100)), 0u);
}

TEST_F(EnaCardTest, TableOfReceiveSideScalingChoosesTheQueue) {
    auto from = a.create(true, 16, 1);
    auto left = receive_queue(b, 4, 1000), right = receive_queue(b, 4, 1000);
    const auto table = b.allocate(4096), key = b.allocate(4096);
    b.store(table, left.sq);
    b.store(table + 4, right.sq);
    const auto set_table = [&](std::uint16_t log2, std::uint32_t length) {
        return b.status_of(
            command(9).put<std::uint8_t>(17, 12).put(4, length).put(8, table).put(24, log2).put(
                28, 0xffff'ffffu));
    };
    EXPECT_EQ(set_table(10, 4096), illegal);
    EXPECT_EQ(set_table(1, 4), illegal);
    EXPECT_EQ(set_table(1, 8), ok);
    std::memcpy(b.bytes(key + 8), suite_key.data(), suite_key.size());
    command set_key(9);
    set_key.put<std::uint8_t>(17, 10).put(4, 48u).put(8, key).put(24, 2u);
    EXPECT_EQ(b.status_of(set_key), ok);
    EXPECT_EQ(b.status_of(set_key.put(24, 4u)), illegal);  // CRC32
    a.send(from, 1, packet_of(flow_51ccc178));
    a.send(from, 2, packet_of(flow_afc7327f));
    run();
    EXPECT_TRUE(b.take(left));
    EXPECT_FALSE(b.take(left));
    EXPECT_TRUE(b.take(right));
    EXPECT_FALSE(b.take(right));
    b.store<std::uint16_t>(table + 4, 77);  // no such queue: the first one is used
    EXPECT_EQ(set_table(1, 8), ok);
    a.send(from, 3, packet_of(flow_afc7327f));
    run();
    EXPECT_TRUE(b.take(left));
}

TEST_F(EnaCardTest, HostDescribesItself) {
    const auto at = a.allocate(4096);
    std::memcpy(a.bytes(at + 4), "6.1.0-test", 11);
    EXPECT_EQ(a.status_of(command(9).put<std::uint8_t>(17, 28).put(20, at)), ok);
    EXPECT_EQ(a.card.admin().host_kernel(), "6.1.0-test");
    EXPECT_EQ(a.status_of(command(9).put<std::uint8_t>(17, 28).put(20, std::uint64_t{1} << 40)),
              illegal);
}

TEST_F(EnaCardTest, PacketOfSeveralPartsFillsSeveralBuffers) {
    auto from = a.create(true, 16, 1);
    auto to = receive_queue(b, 8, 1000);
    const auto sent = packet(2, 1, 2500);
    const auto at = a.allocate(8192);
    std::copy(sent.begin(), sent.begin() + 5, a.bytes(at + 100));
    std::copy(sent.begin() + 5, sent.begin() + 900, a.bytes(at + 3500));  // crosses a page boundary
    std::copy(sent.begin() + 900, sent.end(), a.bytes(at + 5000));
    a.describe(from, 0xabc, {{at + 100, 5}, {at + 3500, 895}, {at + 5000, 1600}}, {.segment = 100});
    a.ring(from);
    run();
    const auto gone = a.take(from);
    ASSERT_TRUE(gone);
    EXPECT_EQ(gone->request, 0xabc);
    EXPECT_FALSE(a.take(from));
    for (unsigned i = 0; i < 3; ++i) {
        const auto part = b.take(to);
        ASSERT_TRUE(part);
        EXPECT_EQ(part->request, 100 + i);
        EXPECT_EQ(part->length, i == 2 ? 500 : 1000);
        EXPECT_EQ(part->first, i == 0);
        EXPECT_EQ(part->last, i == 2);
    }
    EXPECT_FALSE(b.take(to));
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), b.bytes(buffers)));
    EXPECT_EQ(b.load<std::uint8_t>(buffers + 2500), 0);
}

TEST_F(EnaCardTest, RingsWrapWithTheirPhases) {
    auto from = a.create(true, 4, 1);
    auto to = receive_queue(b, 4, 2048, 4);
    for (std::uint16_t n = 0; n < 50; ++n) {
        const auto sent = packet(2, 1, 60 + n);
        a.send(from, n % 4, sent);
        run(50);
        EXPECT_EQ(a.take(from).value().request, n % 4);
        const auto got = b.take(to);
        ASSERT_TRUE(got) << n;
        EXPECT_EQ(got->length, 60 + n);
        const auto at = buffers + (got->request - 100u) * 2048;
        EXPECT_TRUE(std::equal(sent.begin(), sent.end(), b.bytes(at)));
        b.offer(to, got->request, at, 2048);
        b.ring(to);
    }
}

TEST_F(EnaCardTest, PacketsOfOneDoorbellKeepTheirOrder) {
    auto from = a.create(true, 64, 1);
    auto to = receive_queue(b, 50, 128);
    for (std::uint16_t n = 0; n < 50; ++n) {
        const auto sent = packet(2, 1, 20 + n);
        const auto at = a.allocate(sent.size());
        std::copy(sent.begin(), sent.end(), a.bytes(at));
        a.describe(from, n, {{at, static_cast<std::uint16_t>(sent.size())}});
    }
    a.ring(from);
    run(1000);
    for (unsigned n = 0; n < 50; ++n) EXPECT_EQ(b.take(to).value().length, 20 + n);
}

TEST_F(EnaCardTest, DoorbellCountsOnlyGrow) {
    auto from = a.create(true, 16, 1);
    const auto at = a.allocate(4096);
    std::ranges::copy(packet(2, 1, 60), a.bytes(at));
    for (std::uint16_t n = 0; n < 3; ++n) a.describe(from, n, {{at, 60}});
    a.ring(from);
    a.set(from.doorbell, from.posted - 2u);
    a.set(from.doorbell, from.posted + 14u);  // 17 descriptors
    run();
    for (std::uint16_t n = 0; n < 3; ++n) EXPECT_EQ(a.take(from).value().request, n);
    EXPECT_FALSE(a.take(from));
    EXPECT_EQ(a.card.queues().counters.tx_packets, 3u);
}

TEST_F(EnaCardTest, PacketWithoutItsEndDoesNotStopOtherQueues) {
    auto first = a.create(true, 16, 1), second = a.create(true, 16, 2);
    auto to = receive_queue(b, 8, 256);
    const auto at = a.allocate(4096);
    const auto sent = packet(2, 1, 100);
    std::ranges::copy(sent, a.bytes(at));
    a.describe(first, 1, {{at, 60}, {at + 60, 40}});
    a.set(first.doorbell, first.posted - 1u);
    run();
    EXPECT_FALSE(a.take(first));
    a.send(second, 2, packet(2, 1, 70));
    run();
    EXPECT_EQ(a.take(second).value().request, 2);
    EXPECT_EQ(b.take(to).value().length, 70);
    a.ring(first);
    run();
    EXPECT_EQ(a.take(first).value().request, 1);
    const auto got = b.take(to);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->length, 100);
    const auto there = buffers + (got->request - 100u) * 256u;
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), b.bytes(there)));
    // A new queue of the same number does not continue the packet of a destroyed one.
    a.describe(first, 3, {{at, 60}, {at + 60, 40}});
    a.set(first.doorbell, first.posted - 1u);
    run();
    EXPECT_EQ(a.status_of(network_driver::destroy_sq(true, first)), ok);
    auto again = a.create(true, 16, 1);
    EXPECT_EQ(again.sq, first.sq);
    a.send(again, 4, packet(2, 1, 80));
    run();
    EXPECT_EQ(a.take(again).value().request, 4);
    EXPECT_EQ(b.take(to).value().length, 80);
}

TEST_F(EnaCardTest, OtherAddressesAreIgnoredAndBroadcastIsReceived) {
    auto from = a.create(true, 16, 1);
    auto to = receive_queue(b, 8, 256);
    a.send(from, 1, packet(7, 1, 60));
    a.send(from, 2, packet(0xff, 1, 80));
    run();
    EXPECT_EQ(b.take(to).value().length, 80);
    EXPECT_FALSE(b.take(to));
    EXPECT_EQ(b.card.queues().counters.rx_drops, 0u);
}

TEST_F(EnaCardTest, PacketWithoutEnoughBuffersIsDroppedAndTheBuffersStay) {
    auto from = a.create(true, 16, 1);
    auto to = receive_queue(b, 2, 256);
    a.send(from, 1, packet(2, 1, 600));
    a.send(from, 2, packet(2, 1, 500));
    a.send(from, 3, packet(2, 1, 60));
    run();
    EXPECT_EQ(b.take(to).value().length, 256);
    EXPECT_EQ(b.take(to).value().length, 244);
    EXPECT_FALSE(b.take(to));
    EXPECT_EQ(b.card.queues().counters.rx_drops, 2u);
}

TEST_F(EnaCardTest, PacketsThatCannotBeSentAreCompletedAndCounted) {
    auto from = a.create(true, 64, 1);
    EXPECT_EQ(a.status_of(command(9).put<std::uint8_t>(17, 14).put<std::uint32_t>(20, 1500)), ok);
    const auto at = a.allocate(4096);
    a.describe(from, 1, {{at, 1519}});                                     // longer than the MTU
    a.describe(from, 2, {{at, 13}});                                       // no header
    a.describe(from, 3, {{std::uint64_t{1} << 40, 100}});                  // no memory
    a.describe(from, 4, std::vector<network_driver::part>(19, {at, 10}));  // too many parts
    a.describe(from, 5, {{at, 1518}});
    a.ring(from);
    run();
    for (std::uint16_t n = 1; n <= 5; ++n) EXPECT_EQ(a.take(from).value().request, n);
    EXPECT_EQ(a.card.queues().counters.tx_drops, 4u);
    EXPECT_EQ(a.card.queues().counters.tx_packets, 1u);
    EXPECT_EQ(a.status_of(command(9).put<std::uint8_t>(17, 14).put<std::uint32_t>(20, 9217)),
              illegal);
}

TEST_F(EnaCardTest, VectorIsMaskedByItsMessageUntilTheDriverUnmasksIt) {
    auto from = a.create(true, 16, 3);
    a.send(from, 1, packet(2, 1, 60));
    run();
    EXPECT_EQ(a.raised[3], 0u);
    a.unmask(from);
    run();
    EXPECT_EQ(a.raised[3], 1u);
    a.send(from, 2, packet(2, 1, 60));
    run();
    EXPECT_EQ(a.raised[3], 1u);
    a.unmask(from);
    run();
    EXPECT_EQ(a.raised[3], 2u);
    a.unmask(from);
    run();
    EXPECT_EQ(a.raised[3], 2u);
}

TEST_F(EnaCardTest, DelayLetsOneMessageAnnounceSeveralCompletions) {
    auto from = a.create(true, 16, 1);
    a.unmask(from, 0, 100);
    for (std::uint16_t n = 0; n < 5; ++n) a.send(from, n, packet(2, 1, 60));
    run(90);
    EXPECT_TRUE(a.take(from));
    EXPECT_EQ(a.raised[1], 0u);
    run(20);
    EXPECT_EQ(a.raised[1], 1u);
    run(200);
    EXPECT_EQ(a.raised[1], 1u);
}

TEST_F(EnaCardTest, StatisticsCountPacketsAndBytes) {
    auto from = a.create(true, 16, 1);
    receive_queue(b, 8, 256);
    for (std::uint16_t n = 0; n < 3; ++n) a.send(from, n, packet(2, 1, 100));
    run();
    const auto sent = a.execute(command(11)).value();
    EXPECT_EQ(sent.u64(8), 300u);
    EXPECT_EQ(sent.u64(16), 3u);
    const auto got = b.execute(command(11)).value();
    EXPECT_EQ(got.u64(24), 300u);
    EXPECT_EQ(got.u64(32), 3u);
    EXPECT_EQ(b.status_of(command(11).put<std::uint8_t>(16, 2)), ok);
    EXPECT_EQ(b.status_of(command(11).put<std::uint8_t>(16, 1)), unsupported);
    b.start();
    EXPECT_EQ(b.execute(command(11)).value().u64(32), 0u);
}

TEST_F(EnaCardTest, QueuesAreCheckedAndCounted) {
    const auto cq = [](std::uint16_t depth, std::uint8_t words, std::uint32_t vector) {
        return command(3).put(5, words).put(6, depth).put(8, vector);
    };
    EXPECT_EQ(a.status_of(cq(100, 4, 1)), illegal);   // no power of two
    EXPECT_EQ(a.status_of(cq(2048, 4, 1)), illegal);  // too long
    EXPECT_EQ(a.status_of(cq(16, 3, 1)), illegal);
    EXPECT_EQ(a.status_of(cq(16, 4, 9)), illegal);  // no such vector
    auto made = a.create(true, 16, 1);
    EXPECT_EQ(a.status_of(network_driver::destroy_cq(made)), busy);
    EXPECT_EQ(a.status_of(network_driver::destroy_sq(false, made)), illegal);
    EXPECT_EQ(a.status_of(network_driver::create_sq(false, made)), illegal);  // entries too short
    auto bad = made;
    bad.cq = 77;
    EXPECT_EQ(a.status_of(network_driver::create_sq(true, bad)), illegal);
    EXPECT_EQ(a.status_of(network_driver::destroy_sq(true, made)), ok);
    EXPECT_EQ(a.status_of(network_driver::destroy_sq(true, made)), illegal);
    EXPECT_EQ(a.status_of(network_driver::destroy_cq(made)), ok);
    for (int n = 0; n < 8; ++n) made = a.create(true, 16, 1);
    EXPECT_EQ(a.status_of(network_driver::create_sq(true, made)), no_resources);
}

TEST_F(EnaCardTest, DestroyedQueueSendsAndReceivesNothing) {
    auto from = a.create(true, 64, 1);
    auto to = receive_queue(b, 4, 2048);
    for (std::uint16_t n = 0; n < 60; ++n) a.describe(from, n, {{buffers, 9000}});
    a.ring(from);
    EXPECT_EQ(a.status_of(network_driver::destroy_sq(true, from)), ok);
    const auto sent = a.card.queues().counters.tx_packets;
    EXPECT_LT(sent, 60u);
    run(1000);
    EXPECT_EQ(a.card.queues().counters.tx_packets, sent);
    EXPECT_EQ(b.status_of(network_driver::destroy_sq(false, to)), ok);
    auto again = a.create(true, 16, 1);
    a.send(again, 1, packet(2, 1, 60));
    run();
    EXPECT_TRUE(a.take(again));
    EXPECT_FALSE(b.take(to));
    EXPECT_EQ(b.card.queues().counters.rx_drops, 1u);
}

TEST_F(EnaCardTest, NothingIsWrittenToADestroyedCompletionQueue) {
    auto from = a.create(true, 16, 1);
    a.path.hold(from.completions, 16 * 8);
    a.send(from, 1, packet(2, 1, 60));
    run();
    EXPECT_EQ(a.path.waiting(), 1u);
    EXPECT_EQ(a.status_of(network_driver::destroy_sq(true, from)), ok);
    EXPECT_EQ(a.status_of(network_driver::destroy_cq(from)), ok);
    EXPECT_EQ(a.path.waiting(), 0u);
    a.path.release();
    run();
    EXPECT_EQ(a.load<std::uint64_t>(from.completions), 0u);
    auto again = a.create(true, 16, 1);
    a.send(again, 2, packet(2, 1, 60));
    run();
    EXPECT_EQ(a.take(again).value().request, 2);
}

TEST_F(EnaCardTest, CompletionsThatWaitForMemoryAreBounded) {
    auto from = a.create(true, 16, 1);
    a.path.hold(from.completions, 16 * 8);
    for (std::uint16_t n = 0; n < 100; ++n) {
        a.send(from, n, packet(2, 1, 60));
        run(20);
    }
    EXPECT_EQ(a.path.waiting(), 1u);
    EXPECT_EQ(a.card.queues().completions.at(from.cq).unwritten, 16u);
    a.path.release();
    run();
    for (std::uint16_t n = 0; n < 16; ++n) EXPECT_EQ(a.take(from).value().request, n);
    EXPECT_FALSE(a.take(from));
    a.send(from, 200, packet(2, 1, 60));
    run();
    EXPECT_EQ(a.take(from).value().request, 200);
}

TEST_F(EnaCardTest, DriverLearnsTheLinkAndItsChanges) {
    const auto event = [&](unsigned n) { return a.load<std::uint32_t>(a.aenq + n * 64); };
    const auto state = [&](unsigned n) { return a.load<std::uint32_t>(a.aenq + n * 64 + 16); };
    run();
    EXPECT_EQ(a.load<std::uint8_t>(a.aenq + 4), 1);
    EXPECT_EQ(event(0), 0u);
    EXPECT_EQ(state(0), 1u);
    a.card.inject("link_down", {});
    auto from = a.create(true, 16, 1);
    auto to = receive_queue(b, 2, 256);
    a.send(from, 1, packet(2, 1, 60));
    run();
    EXPECT_EQ(state(1), 0u);
    EXPECT_TRUE(a.take(from));
    a.card.inject("link_up", {});
    a.send(from, 2, packet(2, 1, 70));
    run();
    EXPECT_EQ(state(2), 1u);
    EXPECT_EQ(b.take(to).value().length, 70);
    EXPECT_FALSE(b.take(to));
}

TEST_F(EnaCardTest, DriverLearnsAtItsStartThatThereIsNoCable) {
    a.card.inject("link_down", {});
    a.start();
    run();
    EXPECT_EQ(a.load<std::uint8_t>(a.aenq + 4), 1);
    EXPECT_EQ(a.load<std::uint32_t>(a.aenq), 0u);
    EXPECT_EQ(a.load<std::uint32_t>(a.aenq + 16), 0u);
    EXPECT_EQ(a.load<std::uint8_t>(a.aenq + 64 + 4), 0);  // notified once
    a.set(0x54, 1);
    a.card.inject("link_up", {});  // while no driver listens
    a.start();
    run();
    EXPECT_EQ(a.load<std::uint32_t>(a.aenq + 16), 1u);
}

TEST_F(EnaCardTest, LinkChangeThatFoundNoRoomIsReportedWhenThereIs) {
    run();
    for (unsigned n = 0; n < 15; ++n) a.card.inject(n % 2 == 0 ? "link_down" : "link_up", {});
    run();
    EXPECT_EQ(a.load<std::uint32_t>(a.aenq + 15 * 64 + 16), 0u);  // the queue is full
    a.card.inject("link_up", {});
    run();
    EXPECT_EQ(a.load<std::uint8_t>(a.aenq + 4) & 1, 1);
    a.set(0x40, 32);
    run();
    EXPECT_EQ(a.load<std::uint8_t>(a.aenq + 4) & 1, 0);
    EXPECT_EQ(a.load<std::uint32_t>(a.aenq + 16), 1u);
}

TEST_F(EnaCardTest, KeepAliveComesEverySecondWithTheDrops) {
    auto from = a.create(true, 16, 1);
    b.create(false, 16, 1);  // without receive buffers
    a.send(from, 1, packet(2, 1, 60));
    b.card.inject("lost_keep_alive", {{"count", "2"}});
    sc_core::sc_start(2.5, sc_core::SC_SEC);
    EXPECT_EQ(b.load<std::uint8_t>(b.aenq + 64 + 4), 0);
    sc_core::sc_start(1, sc_core::SC_SEC);
    EXPECT_EQ(b.load<std::uint16_t>(b.aenq + 64), 4);
    EXPECT_EQ(b.load<std::uint64_t>(b.aenq + 64 + 16), 1u);  // a packet was dropped
}

TEST_F(EnaCardTest, FaultsLoseCompletionsOfPackets) {
    auto from = a.create(true, 16, 1);
    a.card.inject("lost_packet_completion", {});
    a.send(from, 1, packet(2, 1, 60));
    a.send(from, 2, packet(2, 1, 60));
    run();
    EXPECT_EQ(a.take(from).value().request, 2);
    EXPECT_FALSE(a.take(from));
}

TEST_F(EnaCardTest, FatalErrorStopsPacketsThatThePostedDescriptorsBegan) {
    auto from = a.create(true, 64, 1);
    const auto at = a.allocate(9000);
    for (std::uint16_t n = 0; n < 60; ++n) a.describe(from, n, {{at, 9000}});
    a.ring(from);
    run(2);
    a.card.inject("fatal_error", {});
    const auto sent = a.card.queues().counters.tx_packets;
    EXPECT_LT(sent, 60u);
    run(1000);
    EXPECT_EQ(a.card.queues().counters.tx_packets, sent);
}

TEST_F(EnaCardTest, FatalErrorIsReportedAndTheCardIsSilentUntilItsReset) {
    auto from = a.create(true, 16, 1);
    auto to = receive_queue(a, 2, 256);
    auto other = b.create(true, 16, 1);
    run();
    a.card.inject("fatal_error", {});
    sc_core::sc_start(2, sc_core::SC_SEC);
    EXPECT_EQ(a.load<std::uint16_t>(a.aenq + 64), 1);  // after the link's event
    EXPECT_EQ(a.load<std::uint16_t>(a.aenq + 64 + 2), 1);
    EXPECT_EQ(a.load<std::uint8_t>(a.aenq + 128 + 4), 0);  // no keep-alive
    EXPECT_EQ(a.get(0x58) & 0x20, 0x20u);
    a.send(from, 1, packet(2, 1, 60));
    b.send(other, 1, packet(1, 2, 60));
    run();
    EXPECT_FALSE(a.take(from));
    EXPECT_FALSE(a.take(to));
    a.start();
    EXPECT_EQ(a.get(0x58) & 0x20, 0u);
    auto again = a.create(true, 16, 1);
    a.send(again, 2, packet(2, 1, 60));
    sc_core::sc_start(1.5, sc_core::SC_SEC);
    EXPECT_EQ(a.take(again).value().request, 2);
    EXPECT_EQ(a.load<std::uint16_t>(a.aenq + 64), 4);
}

TEST_F(EnaCardTest, ResetForgetsQueuesAndPacketsInWork) {
    auto from = a.create(true, 64, 1);
    for (std::uint16_t n = 0; n < 60; ++n) a.describe(from, n, {{a.allocate(64), 64}});
    a.ring(from);
    run(4);
    a.start();
    const auto sent = a.card.queues().counters.tx_packets;
    EXPECT_EQ(sent, 0u);
    run(1000);
    EXPECT_EQ(a.card.queues().counters.tx_packets, 0u);
    EXPECT_TRUE(a.card.queues().submissions.empty());
    a.set(from.doorbell, 60);
    run();
    EXPECT_EQ(a.card.queues().counters.tx_packets, 0u);
    auto again = a.create(true, 16, 1);
    a.send(again, 3, packet(2, 1, 60));
    run();
    EXPECT_EQ(a.take(again).value().request, 3);
}

/// 1,276 bytes and 24 of the wire at 12.5 GB/s: 104 ns in the card and twice in the switch.
TEST_F(EnaCardTest, PacketTakesTheTimeOfCardsAndSwitch) {
    auto from = a.create(true, 16, 1);
    auto to = receive_queue(b, 1, 2048);
    b.unmask(to);
    a.send(from, 1, packet(2, 1, 1276));
    run(2 + 10 + 2 + 0.25);
    EXPECT_FALSE(b.take(to));
    run(0.5);
    EXPECT_TRUE(b.take(to));
    EXPECT_EQ(b.raised[1], 1u);
}

TEST_F(EnaCardTest, IdleCardHasNoEventButItsKeepAlive) {
    run(1000);
    EXPECT_GT(sc_core::sc_time_to_pending_activity(), sc_core::sc_time(0.9, sc_core::SC_SEC));
}

}  // namespace
}  // namespace trn::test
