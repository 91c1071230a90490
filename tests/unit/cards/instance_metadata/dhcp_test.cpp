// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "models/cards/instance_metadata/instance_metadata.h"
#include "tests/unit/cards/instance_metadata/dhcp_client.h"

namespace trn::test {
namespace {

constexpr std::uint8_t discover = 1, offer = 2, request = 3, acknowledged = 5, refused = 6,
                       release = 7, inform = 8;
constexpr std::uint32_t router = 0xac1f'0001, address = 0xac1f'0009;

struct DhcpTest : testing::Test {
    DhcpTest() : service("service", {.serial = 4091 + 5}) {
        service.card.join(client.net);
        service.net.join(network.net);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    void send(web_client::bytes_type packet) {
        client.packets.clear();
        client.send(std::move(packet));
        client.advance();
    }
    std::optional<dhcp_message> ask(const dhcp_message& message) {
        send(dhcp_packet_of(message));
        return client.packets.empty() ? std::nullopt : dhcp_message_of(client.packets.front());
    }
    static web_client::bytes_type bytes_of(std::uint32_t value) {
        web_client::bytes_type made;
        web_client::put(made, value, 4);
        return made;
    }
    web_client client{"client"}, network{"network"};
    instance_metadata service;
};

TEST_F(DhcpTest, OffersTheCardsAddressInItsSubnet) {
    const auto got = ask({.kind = discover});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->kind, offer);
    EXPECT_EQ(got->yours, address);
    EXPECT_EQ(got->option(54), router);
    EXPECT_EQ(got->option(1), 0xffff'f000u);
    EXPECT_EQ(got->option(3), router);
    EXPECT_EQ(got->option(51), 3600u);
    EXPECT_EQ(got->option(26), 9001u);
    const auto text = [&](std::uint8_t code) {
        const auto& bytes = got->options.at(code);
        return std::string(bytes.begin(), bytes.end());
    };
    EXPECT_EQ(text(12), "ip-172-31-0-9");
    EXPECT_EQ(text(15), "ec2.internal");
    EXPECT_EQ(client.packets[0][5], 7);  // destination: the card's MAC address
    // Which already accepts the new address.
    EXPECT_EQ(web_client::get(client.packets[0], 30, 4), address);
    EXPECT_TRUE(network.packets.empty());
}

TEST_F(DhcpTest, GrantsTheOfferedAddressAndRefusesOthers) {
    const auto got =
        ask({.kind = request, .options = {{50, bytes_of(address)}, {54, bytes_of(router)}}});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->kind, acknowledged);
    EXPECT_EQ(got->yours, address);
    const auto other = ask({.kind = request, .options = {{50, bytes_of(0x0a00'0007)}}});
    ASSERT_TRUE(other);
    EXPECT_EQ(other->kind, refused);
    EXPECT_EQ(other->yours, 0u);
    EXPECT_FALSE(other->options.contains(51));
    EXPECT_GE(client.packets[0].size(), 42u + 300u);  // the least size of a BOOTP message
    EXPECT_EQ(client.packets[0][0], 255);             // broadcast: the host's address is wrong
}

TEST_F(DhcpTest, RenewsByTheAddressThatTheHostHas) {
    const auto got = ask({.kind = request, .own = address});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->kind, acknowledged);
    EXPECT_EQ(got->own, address);
}

TEST_F(DhcpTest, AnswersToAllWhenTheHostAsksForThat) {
    ASSERT_TRUE(ask({.kind = discover, .flags = 0x8000}));
    EXPECT_EQ(web_client::get(client.packets[0], 0, 4), 0xffff'ffffu);
    EXPECT_EQ(web_client::get(client.packets[0], 30, 4), 0xffff'ffffu);
}

TEST_F(DhcpTest, InformsAHostOfAnotherAddressWithoutALease) {
    const auto got = ask({.kind = inform, .own = 0xac1f'0123});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->kind, acknowledged);
    EXPECT_EQ(got->yours, 0u);
    EXPECT_FALSE(got->options.contains(51));
    EXPECT_EQ(web_client::get(client.packets[0], 30, 4), 0xac1f'0123u);
}

TEST_F(DhcpTest, InformsAHostOfItsOwnAddressWithoutALease) {
    const auto got = ask({.kind = inform, .own = address, .flags = 0x8000});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->kind, acknowledged);
    EXPECT_EQ(got->own, address);
    EXPECT_EQ(got->yours, 0u);
    EXPECT_FALSE(got->options.contains(51));
    EXPECT_EQ(got->option(1), 0xffff'f000u);
    EXPECT_EQ(client.packets[0][5], 7);  // to the host
    EXPECT_EQ(web_client::get(client.packets[0], 30, 4), address);
}

TEST_F(DhcpTest, RenewalIsAnsweredToTheHostEvenIfItAsksForABroadcast) {
    const auto got = ask({.kind = request, .own = address, .flags = 0x8000});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->kind, acknowledged);
    EXPECT_EQ(client.packets[0][5], 7);
    EXPECT_EQ(web_client::get(client.packets[0], 30, 4), address);
    ASSERT_TRUE(ask({.kind = request, .own = 0xac1f'0123, .flags = 0}));  // refused
    EXPECT_EQ(web_client::get(client.packets[0], 30, 4), 0xffff'ffffu);
}

TEST_F(DhcpTest, IsSilentToReleasesOtherServersAndBrokenMessages) {
    EXPECT_FALSE(ask({.kind = release, .own = address}));
    EXPECT_FALSE(ask({.kind = request, .options = {{54, bytes_of(router + 1)}}}));
    auto packet = dhcp_packet_of({.kind = discover});
    packet[60] ^= 1;  // wrong checksum
    send(packet);
    EXPECT_TRUE(client.packets.empty());
    packet[40] = packet[41] = 0;  // no checksum
    send(packet);
    EXPECT_EQ(client.packets.size(), 1u);
    packet[43] = 6;  // hardware type is not Ethernet
    send(packet);
    EXPECT_TRUE(client.packets.empty());
    packet = dhcp_packet_of({.kind = discover, .options = {{60, bytes_of(0)}}});
    packet[40] = packet[41] = 0;
    packet[42 + 244] = 200;  // an option beyond the end
    send(packet);
    EXPECT_TRUE(client.packets.empty());
}

TEST_F(DhcpTest, TheRouterHasAnAddressOfEthernet) {
    web_client::bytes_type question{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,
                                    7,    8,    6,    0,    1,    8,    0, 6, 4, 0, 1};
    question.insert(question.end(),
                    {2, 0, 0, 0, 0, 7, 172, 31, 0, 9, 0, 0, 0, 0, 0, 0, 172, 31, 0, 1});
    send(question);
    ASSERT_EQ(client.packets.size(), 1u);
    EXPECT_EQ(web_client::get(client.packets[0], 28, 4), router);
}

}  // namespace
}  // namespace trn::test
