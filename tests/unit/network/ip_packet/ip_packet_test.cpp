// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "models/network/ip_packet/checksum.h"
#include "models/network/ip_packet/fields.h"
#include "models/network/ip_packet/headers.h"

namespace trn::test {
namespace {

using bytes = std::vector<std::uint8_t>;

/// The ones' complement sum, computed byte by byte.
std::uint32_t plain_sum(const bytes& of) {
    std::uint32_t sum = 0;
    for (std::size_t at = 0; at < of.size(); ++at) sum += of[at] * (at % 2 == 0 ? 256u : 1u);
    while (sum > 0xffff) sum = sum % 0x10000 + sum / 0x10000;
    return sum;
}

TEST(Checksum, IsThatOfRfc1071ForEveryLength) {
    // From section 3 of the RFC.
    const bytes example{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
    EXPECT_EQ(ip::ones_sum(example), 0xddf2);
    bytes some;
    for (unsigned n = 0; n < 300; ++n) {
        EXPECT_EQ(ip::ones_sum(some), plain_sum(some)) << n;
        some.push_back(static_cast<std::uint8_t>(n * 89 + 250));
    }
    EXPECT_EQ(ip::ones_sum(bytes(100'000, 0xff)), 0xffff);
}

// Captured packets: a DNS query and the start of a TCP connection.
const bytes udp_packet{0x52, 0x54, 0x00, 0x12, 0x34, 0x56, 0x52, 0x54, 0x00, 0x65, 0x43, 0x21,
                       0x08, 0x00, 0x45, 0x00, 0x00, 0x20, 0x00, 0x01, 0x00, 0x00, 0x40, 0x11,
                       0x00, 0x00, 0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00, 0x00, 0x02, 0x12, 0x34,
                       0x00, 0x35, 0x00, 0x0c, 0x00, 0x00, 0x01, 0x02, 0x03, 0x04};

TEST(Checksum, OfHeadersSumsUpWithWhatItCovers) {
    bytes packet = udp_packet;
    const auto of = ip::find_headers(packet);
    ip::write_header_checksum(packet, of);
    ip::write_payload_checksum(packet, of);
    // 4500+0020+0001+0000+4011+0a00+0001+0a00+0002 = 9935
    EXPECT_EQ(ip::get16(packet, 24), 0xffff - 0x9935);
    // 0a00+0001+0a00+0002+0011+000c, 1234+0035+000c+0102+0304 = 2a9b
    EXPECT_EQ(ip::get16(packet, 40), 0xffff - 0x2a9b);
    EXPECT_EQ(ip::payload_sum(packet, of), 0xffff);
    packet[45] ^= 4;
    EXPECT_NE(ip::payload_sum(packet, of), 0xffff);
}

TEST(Checksum, OfUdpIsNeverZero) {
    bytes packet = udp_packet;
    ip::put16(packet, 44, 0x0304 + 0xffff - 0x2a9b);  // the sum without checksum is 0xffff
    const auto of = ip::find_headers(packet);
    ip::write_payload_checksum(packet, of);
    EXPECT_EQ(ip::get16(packet, 40), 0xffff);
}

TEST(IpHeaders, AreFoundBehindATagAndWithOptions) {
    bytes packet = udp_packet;
    packet[14] = 0x46;
    packet.insert(packet.begin() + 34, 4, 1);
    packet[17] += 4;
    packet.insert(packet.begin() + 12, {0x81, 0x00, 0x00, 0x05});
    packet.resize(packet.size() + 10);  // link padding
    const auto of = ip::find_headers(packet);
    EXPECT_EQ(of.version, ip::network::ipv4);
    EXPECT_EQ(of.start, 18u);
    EXPECT_EQ(of.payload, 42u);
    EXPECT_EQ(of.end, packet.size() - 10);
    EXPECT_TRUE(of.carries(17));
    packet[25] = 1;
    EXPECT_FALSE(ip::find_headers(packet).carries(17));  // a fragment
}

TEST(IpHeaders, ThatAreNotWholeAreNone) {
    const auto none = [](const bytes& packet) {
        return ip::find_headers(packet).version == ip::network::other;
    };
    EXPECT_FALSE(none(udp_packet));
    for (std::size_t size = 0; size < udp_packet.size(); ++size)
        EXPECT_TRUE(none(bytes(udp_packet.begin(), udp_packet.begin() + long(size)))) << size;
    for (const auto& [at, value] : std::vector<std::pair<std::size_t, std::uint8_t>>{
             {12, 9}, {14, 0x44}, {14, 0x65}, {14, 0x4f}, {17, 19}, {17, 33}}) {
        bytes packet = udp_packet;
        packet[at] = value;
        EXPECT_TRUE(none(packet)) << at << ' ' << int(value);
    }
}

}  // namespace
}  // namespace trn::test
