// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/unit/cards/ena/card/ena_pair.h"

namespace trn::test {
namespace {

using frame_bytes = network_driver::bytes_type;
using wanted = network_driver::wanted;

std::uint32_t be(const frame_bytes& of, std::size_t at, unsigned bytes) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value = value << 8 | of[at + i];
    return value;
}

void set_be(frame_bytes& of, std::size_t at, std::uint32_t value, unsigned bytes = 2) {
    for (unsigned i = bytes; i-- > 0; value >>= 8) of[at + i] = static_cast<std::uint8_t>(value);
}

/// The sum of RFC 1071, computed byte by byte.
std::uint32_t plain_sum(const frame_bytes& of, std::size_t from, std::size_t to,
                        std::uint32_t start = 0) {
    for (std::size_t at = from; at < to; ++at)
        start += static_cast<std::uint32_t>(of[at]) << ((at - from) % 2 == 0 ? 8 : 0);
    while (start >> 16 != 0) start = (start & 0xffff) + (start >> 16);
    return start;
}

/// A packet of TCP or UDP without checksums, from card 1 to card 2.
struct test_frame {
    test_frame(bool six, bool tcp, std::size_t data) : six(six), tcp(tcp) {
        ip = 14;
        transport = six ? 54 : 34;
        first = transport + (tcp ? 32 : 8);
        bytes = packet(2, 1, first + data);
        set_be(bytes, 12, six ? 0x86dd : 0x0800);
        const auto length = static_cast<std::uint32_t>(bytes.size() - (six ? 54 : 14));
        if (six) {
            set_be(bytes, 14, 0x6000'0000, 4);
            set_be(bytes, 18, length);
            set_be(bytes, 20, (tcp ? 6 : 17) << 8 | 64);
        } else {
            set_be(bytes, 14, 0x4500);
            set_be(bytes, 16, length);
            set_be(bytes, 18, 0xfffe);  // identification of the packet
            set_be(bytes, 20, 0x4000);
            set_be(bytes, 22, 64 << 8 | (tcp ? 6 : 17));
            set_be(bytes, 24, 0);
        }
        if (tcp) set_be(bytes, transport + 12, 0x8000 | 16);
        if (!tcp) set_be(bytes, transport + 4, static_cast<std::uint32_t>(8 + data));
        set_be(bytes, checksum(), 0);
    }
    std::size_t checksum() const { return transport + (tcp ? 16 : 6); }
    std::uint32_t pseudo(const frame_bytes& of) const {
        return plain_sum(of, six ? 22 : 26, transport,
                         static_cast<std::uint32_t>(of.size() - transport) + (tcp ? 6 : 17));
    }
    void finish() {
        if (!six) set_be(bytes, 24, ~plain_sum(bytes, 14, 34));
        set_be(bytes, checksum(), 0);
        set_be(bytes, checksum(), ~plain_sum(bytes, transport, bytes.size(), pseudo(bytes)));
    }
    bool right(const frame_bytes& of) const {
        return (six || plain_sum(of, 14, 34) == 0xffff) &&
               plain_sum(of, transport, of.size(), pseudo(of)) == 0xffff;
    }

    bool six, tcp;
    std::size_t ip, transport, first;
    frame_bytes bytes;
};

struct EnaOffloadsTest : ena_pair {
    EnaOffloadsTest() : from(a.create(true, 64, 1)), to(receive_queue(b, 60, 2048)) {
        EXPECT_EQ(b.card.queues().counters.rx_drops, 0u);
    }
    /// The next packet received by b, from one buffer.
    frame_bytes received() {
        const auto got = b.take(to);
        if (!got || !got->first || !got->last) return {};
        last = *got;
        const auto* const at = b.bytes(buffers + (got->request - 100u) * 2048);
        return {at, at + got->length};
    }
    std::uint32_t report_on(const frame_bytes& sent) {
        a.send(from, 1, sent);
        run();
        EXPECT_EQ(received(), sent);
        return last.word & 0x1'ffff;
    }
    network_driver::queue from, to;
    network_driver::done last;
};

constexpr std::uint32_t ipv4_bits = 8, ipv6_bits = 11, tcp_bits = 12 << 8, udp_bits = 13 << 8,
                        ip_wrong = 1 << 13, wrong = 1 << 14, is_part = 1 << 15, checked = 1 << 16;

TEST_F(EnaOffloadsTest, ChecksumsAreWrittenAsWanted) {
    for (const bool six : {false, true})
        for (const bool tcp : {false, true})
            for (const bool partial : {false, true})
                for (const std::size_t size : {0u, 1u, 700u, 1401u}) {
                    test_frame sent(six, tcp, size);
                    if (partial) set_be(sent.bytes, sent.checksum(), sent.pseudo(sent.bytes));
                    a.send(from, 1, sent.bytes,
                           {.ip_checksum = true, .checksum = true, .partial = partial});
                    run();
                    const auto got = received();
                    EXPECT_TRUE(sent.right(got)) << six << tcp << partial << size;
                    sent.finish();
                    EXPECT_EQ(got, sent.bytes);
                    if (b.take(to)) FAIL() << "another packet";
                    b.offer(to, last.request, buffers + (last.request - 100u) * 2048, 2048);
                    b.ring(to);
                }
}

TEST_F(EnaOffloadsTest, ChecksumsThatAreNotWantedStay) {
    const test_frame sent(false, true, 100);
    a.send(from, 1, sent.bytes);
    a.send(from, 2, sent.bytes, {.ip_checksum = true});
    auto other = sent.bytes;
    other[23] = 1;  // ICMP
    a.send(from, 3, other, {.checksum = true});
    run();
    EXPECT_EQ(received(), sent.bytes);
    auto half = sent.bytes;
    set_be(half, 24, ~plain_sum(half, 14, 34));
    EXPECT_EQ(received(), half);
    EXPECT_EQ(received(), other);
}

TEST_F(EnaOffloadsTest, CompletionsSayWhichChecksumsAreRight) {
    test_frame four(false, true, 333), six(true, false, 334), silent(false, false, 50);
    four.finish();
    six.finish();
    set_be(silent.bytes, 24, ~plain_sum(silent.bytes, 14, 34));  // UDP without checksum
    EXPECT_EQ(report_on(four.bytes), ipv4_bits | tcp_bits | checked);
    EXPECT_EQ(report_on(six.bytes), ipv6_bits | udp_bits | checked);
    EXPECT_EQ(report_on(silent.bytes), ipv4_bits | udp_bits);
    EXPECT_EQ(report_on(packet(2, 1, 60)), 0u);
    auto bad = four.bytes;
    bad[22] ^= 1;  // hop limit: only in the IP header checksum
    EXPECT_EQ(report_on(bad), ipv4_bits | tcp_bits | checked | ip_wrong);
    bad = four.bytes;
    bad.back() ^= 0x10;
    EXPECT_EQ(report_on(bad), ipv4_bits | tcp_bits | checked | wrong);
    bad = six.bytes;
    bad[30] ^= 1;  // an address: in the pseudo header's checksum
    EXPECT_EQ(report_on(bad), ipv6_bits | udp_bits | checked | wrong);
    auto part = four.bytes;
    part[21] = 9;
    set_be(part, 24, 0);
    set_be(part, 24, ~plain_sum(part, 14, 34));
    EXPECT_EQ(report_on(part), ipv4_bits | is_part);
    auto padded = four.bytes;
    padded.resize(padded.size() + 7, 0xaa);
    EXPECT_EQ(report_on(padded), ipv4_bits | tcp_bits | checked);
    auto tagged = four.bytes;
    tagged.insert(tagged.begin() + 12, {0x81, 0x00, 0x00, 0x07});
    EXPECT_EQ(report_on(tagged), ipv4_bits | tcp_bits | checked);
}

TEST_F(EnaOffloadsTest, LongPacketIsCutIntoSegments) {
    for (const bool six : {false, true}) {
        test_frame sent(six, true, 5000);
        set_be(sent.bytes, sent.transport + 12, 0x8000 | 0x80 | 0x10 | 8 | 1);  // CWR ACK PSH FIN
        const auto sequence = be(sent.bytes, sent.transport + 4, 4);
        a.send(from, 1, sent.bytes, {.checksum = true, .segmentation = true, .segment = 1100});
        run();
        frame_bytes data;
        for (unsigned n = 0; n < 5; ++n) {
            const auto got = received();
            ASSERT_EQ(got.size(), sent.first + (n < 4 ? 1100 : 600)) << n;
            EXPECT_TRUE(sent.right(got));
            EXPECT_EQ(last.word & 0x1'ffff, (six ? ipv6_bits : ipv4_bits) | tcp_bits | checked);
            EXPECT_EQ(be(got, sent.transport + 4, 4), sequence + n * 1100);
            EXPECT_EQ(got[sent.transport + 13], 0x10 | (n == 0 ? 0x80 : 0) | (n == 4 ? 9 : 0));
            if (!six) {
                EXPECT_EQ(be(got, 18, 2), (0xfffe + n) & 0xffff);
            }
            data.insert(data.end(), got.begin() + static_cast<std::ptrdiff_t>(sent.first),
                        got.end());
        }
        EXPECT_TRUE(std::equal(data.begin(), data.end(),
                               sent.bytes.begin() + static_cast<std::ptrdiff_t>(sent.first),
                               sent.bytes.end()));
        EXPECT_FALSE(b.take(to));
        EXPECT_EQ(a.take(from)->request, 1);  // one completion
        EXPECT_FALSE(a.take(from));
    }
    EXPECT_EQ(a.card.queues().counters.tx_packets, 10u);
}

TEST_F(EnaOffloadsTest, SegmentSizeIsKeptForLaterPacketsOfTheQueue) {
    const test_frame sent(false, true, 2000);
    a.send(from, 1, sent.bytes, {.segmentation = true, .segment = 1500 - 40 - 12});
    a.send(from, 2, sent.bytes, {.segmentation = true});
    a.send(from, 3, sent.bytes, {.segmentation = true, .segment = 1000});
    run();
    for (const std::size_t size : {1448u, 552u, 1448u, 552u, 1000u, 1000u})
        EXPECT_EQ(received().size(), sent.first + size);
}

TEST_F(EnaOffloadsTest, SegmentationThatCannotBeDoneIsDroppedAndCompleted) {
    using command = network_driver::command;
    EXPECT_EQ(a.status_of(command(9).put<std::uint8_t>(17, 14).put<std::uint32_t>(20, 1500)), 0);
    const test_frame good(false, true, 2000), udp(false, false, 2000);
    std::vector<frame_bytes> bad(3, good.bytes);
    bad[0][14] = 0x46;                                    // the IP options overlap the TCP header
    set_be(bad[1], good.transport + 12, 0x4000);          // TCP header length too small
    set_be(bad[2], 16, 3000);                             // IP length larger than the packet
    a.send(from, 1, good.bytes, {.segmentation = true});  // no segment size
    a.send(from, 2, good.bytes, {.segmentation = true, .segment = 47});
    a.send(from, 3, good.bytes, {.segmentation = true, .segment = 1500});
    a.send(from, 4, udp.bytes, {.segmentation = true, .segment = 1000});
    for (std::uint16_t n = 0; n < 3; ++n)
        a.send(from, static_cast<std::uint16_t>(5 + n), bad[n],
               {.segmentation = true, .segment = 1000});
    a.send(from, 8, good.bytes);  // larger than the MTU, without segmentation
    run();
    for (std::uint16_t n = 1; n <= 8; ++n) EXPECT_EQ(a.take(from).value().request, n);
    EXPECT_FALSE(b.take(to));
    EXPECT_EQ(a.card.queues().counters.tx_drops, 8u);
}

}  // namespace
}  // namespace trn::test
