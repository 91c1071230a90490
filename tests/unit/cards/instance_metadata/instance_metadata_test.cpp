// SPDX-License-Identifier: Apache-2.0
#include "models/cards/instance_metadata/instance_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/cards/instance_metadata/web_client.h"

namespace trn::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr auto fin = web_client::fin, syn = web_client::syn, rst = web_client::rst,
               ack = web_client::ack;

struct InstanceMetadataTest : testing::Test {
    explicit InstanceMetadataTest(const instance_metadata::config& cfg =
                                      {.product = "trn2.48xlarge", .serial = 0x5452'4e32'0000'0001})
        : service("service", cfg) {
        service.card.join(client.net);
        service.net.join(network.net);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    std::string get(const std::string& path, const std::string& fields = "") {
        return client.ask("GET " + path + " HTTP/1.1\r\nHost: 169.254.169.254\r\n" + fields +
                          "\r\n");
    }
    std::string put(const std::string& fields, const std::string& path = "/latest/api/token") {
        return client.ask("PUT " + path + " HTTP/1.1\r\n" + fields + "\r\n");
    }
    static std::string body(const std::string& answer) {
        return answer.substr(answer.find("\r\n\r\n") + 4);
    }
    std::string token(const std::string& seconds = "60") {
        return body(put("X-aws-ec2-metadata-token-ttl-seconds: " + seconds + "\r\n"));
    }
    std::string get_with(const std::string& token) {
        return get("/latest/meta-data/instance-id", "X-aws-ec2-metadata-token: " + token + "\r\n");
    }
    web_client client{"client"}, network{"network"};
    instance_metadata service;
};

struct InstanceMetadataOfTokensTest : InstanceMetadataTest {
    InstanceMetadataOfTokensTest()
        : InstanceMetadataTest({.tokens = instance_metadata::tokens::required}) {}
};

struct InstanceMetadataOfAUserTest : InstanceMetadataTest {
    InstanceMetadataOfAUserTest()
        : InstanceMetadataTest({.user_data = "#!/bin/sh\necho on\n", .role = "trainer"}) {}
};

TEST_F(InstanceMetadataOfAUserTest, UserDataIsReadAsItWasGiven) {
    EXPECT_EQ(body(get("/latest/user-data")), "#!/bin/sh\necho on\n");
}

TEST_F(InstanceMetadataOfAUserTest, RoleHasCredentials) {
    EXPECT_EQ(body(get("/latest/meta-data/iam/security-credentials/")), "trainer");
    const auto keys = body(get("/latest/meta-data/iam/security-credentials/trainer"));
    for (const char* const key : {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"})
        EXPECT_THAT(keys, HasSubstr(std::string("\"") + key + "\" : \""));
    EXPECT_THAT(keys, HasSubstr(R"("Code" : "Success")"));
    EXPECT_THAT(get("/latest/meta-data/iam/info"), HasSubstr("instance-profile/trainer"));
}

TEST_F(InstanceMetadataTest, InstanceWithoutRoleHasNoCredentials) {
    EXPECT_THAT(get("/latest/meta-data/iam/security-credentials/"), StartsWith("HTTP/1.1 404"));
}

TEST_F(InstanceMetadataTest, AnswersWhoHasItsAddress) {
    web_client::bytes_type question{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,
                                    7,    8,    6,    0,    1,    8,    0, 6, 4, 0, 1};
    const web_client::bytes_type addresses{2, 0, 0, 0, 0, 7, 10,  0,   0,   7,
                                           0, 0, 0, 0, 0, 0, 169, 254, 169, 254};
    question.insert(question.end(), addresses.begin(), addresses.end());
    client.send(question);
    client.advance();
    ASSERT_EQ(client.packets.size(), 1u);
    const auto& answer = client.packets[0];
    ASSERT_EQ(answer.size(), 42u);
    EXPECT_EQ(web_client::get(answer, 0, 2), 0x0200u);
    EXPECT_EQ(answer[5], 7);
    EXPECT_EQ(web_client::get(answer, 20, 2), 2u);            // a reply
    EXPECT_EQ(web_client::get(answer, 28, 4), 0xa9fe'a9feu);  // of 169.254.169.254
    EXPECT_EQ(web_client::get(answer, 22, 4), web_client::get(answer, 6, 4));
    EXPECT_EQ(web_client::get(answer, 38, 4), 0x0a00'0007u);
    question.back() = 253;
    client.send(question);
    client.advance();
    EXPECT_EQ(client.packets.size(), 1u);
    EXPECT_EQ(network.packets.size(), 1u);  // a request for another host is forwarded
}

TEST_F(InstanceMetadataTest, OtherPacketsPassInBothDirections) {
    const web_client::bytes_type packet(60, 0x5a);
    client.send(packet);
    ASSERT_EQ(network.packets.size(), 1u);
    EXPECT_EQ(network.packets[0], packet);
    network.send(packet);
    ASSERT_EQ(client.packets.size(), 1u);
    EXPECT_EQ(client.packets[0], packet);
    network.send(web_client::packet_of({.sequence = 1, .flags = syn, .from = 5}));
    EXPECT_EQ(client.packets.size(), 2u);  // the service takes only packets from the card
}

TEST_F(InstanceMetadataTest, ReadsWithoutTokenAreAnswered) {
    const auto answer = get("/latest/meta-data/instance-type");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 13\r\n"));
    EXPECT_THAT(answer, EndsWith("\r\n\r\ntrn2.48xlarge"));
    EXPECT_EQ(client.last_hops, 64u);
    EXPECT_EQ(body(get("/latest/meta-data/instance-id")), "i-054524e3200000001");
    EXPECT_EQ(body(get("/2009-04-04/meta-data/mac")), "02:00:00:00:00:07");
    EXPECT_EQ(body(get("/latest/meta-data/local-ipv4/")), "10.0.0.7");
    EXPECT_EQ(body(get("/latest/meta-data/hostname")), "ip-10-0-0-7.ec2.internal");
    EXPECT_EQ(service.connections(), 0u);
}

TEST_F(InstanceMetadataTest, FoldersAreListed) {
    EXPECT_THAT(body(get("/")), EndsWith("\nlatest"));
    EXPECT_EQ(body(get("/latest")), "dynamic/\nmeta-data/");
    const auto list = body(get("/latest/meta-data/"));
    EXPECT_THAT(list, StartsWith("ami-id\nami-launch-index\n"));
    EXPECT_THAT(list, HasSubstr("\nnetwork/\nplacement/\nprofile\n"));
    EXPECT_EQ(body(get("/latest/meta-data/network/interfaces/macs/")), "02:00:00:00:00:07/");
    const std::string card = "/latest/meta-data/network/interfaces/macs/02:00:00:00:00:07/";
    EXPECT_THAT(body(get(card)), HasSubstr("local-ipv4s\nmac\nnetwork-card\nowner-id\n"));
    EXPECT_EQ(body(get(card + "subnet-ipv4-cidr-block")), "172.31.0.0/20");
    EXPECT_EQ(body(get(card + "vpc-ipv4-cidr-blocks")), "172.31.0.0/16");
    EXPECT_EQ(body(get(card + "interface-id")), "eni-054524e3200000001");
    EXPECT_EQ(body(get("/latest/meta-data/events/maintenance/scheduled")), "[]");
    EXPECT_THAT(get("/latest/meta-data/spot/instance-action"), StartsWith("HTTP/1.1 404"));
    EXPECT_THAT(get("/latest/meta-data/inst"), StartsWith("HTTP/1.1 404 Not Found\r\n"));
    EXPECT_THAT(get("/latest/user-data"), StartsWith("HTTP/1.1 404"));
    EXPECT_THAT(get("/2000-01-01/meta-data/"), StartsWith("HTTP/1.1 404"));
}

TEST_F(InstanceMetadataTest, IdentityDocumentNamesTheInstance) {
    const auto text = body(get("/latest/dynamic/instance-identity/document"));
    EXPECT_THAT(text, StartsWith("{\n  \"accountId\" : \"000000000000\",\n"));
    EXPECT_THAT(text, HasSubstr("\"instanceType\" : \"trn2.48xlarge\""));
    EXPECT_THAT(text, HasSubstr("\"privateIp\" : \"10.0.0.7\""));
    EXPECT_THAT(text, HasSubstr("\"ramdiskId\" : null"));
}

TEST_F(InstanceMetadataTest, TokenOpensASessionForItsSeconds) {
    const auto answer = put("x-aws-ec2-METADATA-token-ttl-seconds:  2 \r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("oken-ttl-seconds: 2\r\n"));
    EXPECT_EQ(client.last_hops, 1u);
    EXPECT_THAT(get_with(body(answer)), StartsWith("HTTP/1.1 200"));
    EXPECT_NE(token(), body(answer));
    client.advance(2e6);
    EXPECT_THAT(get_with(body(answer)), StartsWith("HTTP/1.1 401 Unauthorized\r\n"));
}

TEST_F(InstanceMetadataTest, WrongTokensAreRefused) {
    auto known = token();
    EXPECT_THAT(get_with(known), StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(get_with(known + "0"), StartsWith("HTTP/1.1 401"));
    EXPECT_THAT(get_with(""), StartsWith("HTTP/1.1 401"));
    EXPECT_THAT(get_with(std::string(48, 'f')), StartsWith("HTTP/1.1 401"));
    for (auto& digit : known) {
        const char was = digit;
        digit = was == '7' ? '8' : '7';
        EXPECT_THAT(get_with(known), StartsWith("HTTP/1.1 401")) << known;
        digit = was;
    }
}

TEST_F(InstanceMetadataTest, SessionsAreRefusedAsDocumented) {
    const std::string seconds = "X-aws-ec2-metadata-token-ttl-seconds: ";
    EXPECT_THAT(put(""), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
    EXPECT_THAT(put(seconds + "0\r\n"), StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(put(seconds + "21601\r\n"), StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(put(seconds + "60x\r\n"), StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(put(seconds + "99999999999999999999\r\n"), StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(put(seconds + "60\r\nX-Forwarded-For: 10.0.0.9\r\n"),
                StartsWith("HTTP/1.1 403 Forbidden\r\n"));
    EXPECT_THAT(put(seconds + "60\r\n", "/latest/other"), StartsWith("HTTP/1.1 404"));
    EXPECT_THAT(put(seconds + "21600\r\n"), StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(client.ask("POST / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405"));
    EXPECT_THAT(client.ask("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
    const auto head = client.ask("HEAD /latest/meta-data/system HTTP/1.0\r\n\r\n");
    EXPECT_THAT(head, HasSubstr("Content-Length: 5\r\n"));
    EXPECT_THAT(head, EndsWith("\r\n\r\n"));
}

TEST_F(InstanceMetadataOfTokensTest, ReadsNeedAToken) {
    EXPECT_THAT(get("/latest/meta-data/instance-id"), StartsWith("HTTP/1.1 401"));
    EXPECT_THAT(get_with(token()), StartsWith("HTTP/1.1 200"));
}

TEST_F(InstanceMetadataTest, LongAnswersFitTheClientsWindowAndSegments) {
    const std::string path = "GET /latest/dynamic/instance-identity/document HTTP/1.1\r\n\r\n";
    const auto whole = client.ask(path);
    EXPECT_GT(whole.size(), 500u);
    EXPECT_EQ(client.ask(path, {.max_segment = 100}), whole);
    EXPECT_EQ(client.ask(path, {.window = 90}), whole);
}

TEST_F(InstanceMetadataTest, LostPacketsAreSentAgain) {
    const auto type = [&] { return body(get("/latest/meta-data/instance-type")); };
    service.inject("lose", {});
    client.send_segment({.sequence = 1000, .flags = syn, .from = 9});
    client.advance();
    EXPECT_TRUE(client.packets.empty());
    client.advance(200'000);
    const auto opened = client.next_segment();
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->flags, syn | ack);
    client.send_segment({.sequence = 1001,
                         .acknowledged = opened->sequence + 1,
                         .flags = ack,
                         .from = 9,
                         .text = "GET /latest/meta-data/system HTTP/1.1\r\n\r\n"});
    service.inject("lose", {});
    client.advance();
    EXPECT_TRUE(client.packets.empty());
    client.advance(200'000);
    const auto answer = client.next_segment();
    ASSERT_TRUE(answer);
    EXPECT_THAT(answer->text, EndsWith("\r\n\r\nnitro"));
    EXPECT_EQ(type(), "trn2.48xlarge");
}

TEST_F(InstanceMetadataTest, SilentClientIsForgotten) {
    ASSERT_TRUE(client.connect(9));
    EXPECT_EQ(service.connections(), 1u);
    client.advance(1.3e6);  // six retries
    EXPECT_EQ(service.connections(), 0u);
    EXPECT_EQ(client.packets.size(), 5u);
    EXPECT_FALSE(sc_core::sc_pending_activity_at_future_time());
}

TEST_F(InstanceMetadataTest, RequestMayComeInPiecesAndTwice) {
    const auto opened = client.connect(9);
    ASSERT_TRUE(opened);
    const std::string request = "GET /latest/meta-data/system HTTP/1.1\r\n\r\n";
    const auto piece = [&](std::size_t from, std::size_t to) {
        client.send_segment({.sequence = static_cast<std::uint32_t>(1001 + from),
                             .acknowledged = opened->sequence + 1,
                             .flags = ack,
                             .from = 9,
                             .text = request.substr(from, to - from)});
        client.advance();
        return client.next_segment().value_or(web_client::segment());
    };
    EXPECT_EQ(piece(0, 10).acknowledged, 1011u);
    EXPECT_EQ(piece(20, 30).acknowledged, 1011u);  // out of order: a gap
    EXPECT_EQ(piece(0, 10).acknowledged, 1011u);   // a duplicate
    EXPECT_EQ(piece(5, 20).acknowledged, 1021u);
    const auto answer = piece(20, request.size());
    EXPECT_EQ(answer.acknowledged, 1001 + request.size());
    EXPECT_THAT(answer.text, EndsWith("\r\n\r\nnitro"));
}

TEST_F(InstanceMetadataTest, WhatTheServiceDoesNotServeIsReset) {
    const auto other = client.connect(9, {.port = 22});
    ASSERT_TRUE(other);
    EXPECT_EQ(other->flags, rst | ack);
    EXPECT_EQ(other->acknowledged, 1001u);
    client.send_segment({.sequence = 5, .acknowledged = 77, .flags = ack, .from = 10});
    client.advance();
    const auto unknown = client.next_segment();
    ASSERT_TRUE(unknown);
    EXPECT_EQ(unknown->flags, rst);
    EXPECT_EQ(unknown->sequence, 77u);
    EXPECT_EQ(client.ask(std::string(1400, 'x')), "");  // incomplete request
    const auto opened = client.connect(11);
    ASSERT_TRUE(opened);
    for (std::uint32_t n = 0; n < 6; ++n)  // a request of 8400 bytes
        client.send_segment({.sequence = 1001 + n * 1400,
                             .acknowledged = opened->sequence + 1,
                             .flags = ack,
                             .from = 11,
                             .text = std::string(1400, 'x')});
    client.advance();
    ASSERT_FALSE(client.packets.empty());
    client.packets.erase(client.packets.begin(), client.packets.end() - 1);
    EXPECT_EQ(client.next_segment()->flags, rst | ack);
}

TEST_F(InstanceMetadataTest, ClosedPortsAnswerFromThemselves) {
    for (const std::uint16_t port : {std::uint16_t{22}, std::uint16_t{443}}) {
        const auto closed = client.connect(9, {.port = port});
        ASSERT_TRUE(closed);
        EXPECT_EQ(closed->flags, rst | ack);
        EXPECT_EQ(closed->from, port);
        EXPECT_EQ(closed->to, 9);
    }
    EXPECT_EQ(client.connect(9)->from, 80);
}

/// A connection of a client that sends single segments. RFC 9293, RFC 5961.
struct InstanceMetadataSegmentTest : InstanceMetadataTest {
    using segment = web_client::segment;

    InstanceMetadataSegmentTest() : opened(client.connect(9).value_or(segment())) {
        EXPECT_EQ(opened.flags, syn | ack);
    }
    /// Sends a segment of the connection; returns the answer.
    std::optional<segment> answer(segment sent, std::uint16_t window = 65535) {
        sent.from = 9;
        client.send_segment(sent, {.window = window});
        web_client::advance();
        return client.next_segment();
    }
    std::uint32_t first() const { return opened.sequence + 1; }
    segment with_text(const std::string& text) const {
        return {.sequence = 1001, .acknowledged = first(), .flags = ack, .text = text};
    }
    void expect_open() {
        const auto got = answer(with_text(request));
        ASSERT_TRUE(got);
        EXPECT_THAT(got->text, EndsWith("\r\n\r\nnitro"));
    }
    void expect_acknowledgement(const std::optional<segment>& got, std::uint32_t of) {
        ASSERT_TRUE(got);
        EXPECT_EQ(got->flags, ack);
        EXPECT_EQ(got->acknowledged, of);
        EXPECT_TRUE(client.packets.empty());
    }

    const std::string request = "GET /latest/meta-data/system HTTP/1.1\r\n\r\n";
    const segment opened;
};

TEST_F(InstanceMetadataSegmentTest, SynDoesNotEndAnEstablishedConnection) {
    EXPECT_FALSE(answer({.sequence = 1001, .acknowledged = first(), .flags = ack}));
    expect_acknowledgement(answer({.sequence = 5000, .flags = syn}), 1001);  // in the window
    expect_acknowledgement(answer({.sequence = 0x8000'0000, .flags = syn}), 1001);
    expect_open();
}

TEST_F(InstanceMetadataSegmentTest, RebootedClientConnectsAgain) {
    EXPECT_FALSE(answer({.sequence = 1001, .acknowledged = first(), .flags = ack}));
    const auto told = answer({.sequence = 0x7000'0000, .flags = syn});
    expect_acknowledgement(told, 1001);
    EXPECT_FALSE(answer({.sequence = told->acknowledged, .flags = rst}));  // not its connection
    EXPECT_EQ(service.connections(), 0u);
    const auto again = answer({.sequence = 0x7000'0000, .flags = syn});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->flags, syn | ack);
    EXPECT_EQ(again->acknowledged, 0x7000'0001u);
}

TEST_F(InstanceMetadataSegmentTest, ResetCountsAtTheExpectedNumberOnly) {
    EXPECT_FALSE(answer({.sequence = 1001, .acknowledged = first(), .flags = ack}));
    EXPECT_FALSE(answer({.sequence = 900, .flags = rst}));
    expect_acknowledgement(answer({.sequence = 1002, .flags = rst}), 1001);
    EXPECT_EQ(service.connections(), 1u);
    EXPECT_FALSE(answer({.sequence = 1001, .flags = rst}));
    EXPECT_EQ(service.connections(), 0u);
}

TEST_F(InstanceMetadataSegmentTest, WrongAcknowledgementsAreAnswered) {
    const auto refused = answer({.sequence = 1001, .acknowledged = first() + 9, .flags = ack});
    ASSERT_TRUE(refused);  // the handshake is not complete
    EXPECT_EQ(refused->flags, rst);
    EXPECT_EQ(refused->sequence, first() + 9);
    EXPECT_FALSE(answer({.sequence = 1001, .acknowledged = first(), .flags = ack}));
    expect_acknowledgement(answer({.sequence = 1001, .acknowledged = first() + 9, .flags = ack}),
                           1001);
    expect_open();
}

TEST_F(InstanceMetadataSegmentTest, KeepAliveProbesAreAnswered) {
    EXPECT_FALSE(answer({.sequence = 1001, .acknowledged = first(), .flags = ack}));
    const segment probe{.sequence = 1000, .acknowledged = first(), .flags = ack};
    expect_acknowledgement(answer(probe), 1001);
    auto of_a_byte = probe;
    of_a_byte.text = "x";
    expect_acknowledgement(answer(of_a_byte), 1001);
    expect_open();
}

TEST_F(InstanceMetadataSegmentTest, AcknowledgedProbesKeepAConnectionWithoutWindow) {
    auto got = answer(with_text(request), 0);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->text, "H");  // a probe
    const auto end = static_cast<std::uint32_t>(1001 + request.size());
    const segment full{.sequence = end, .acknowledged = first(), .flags = ack};
    unsigned probes = 0;
    for (unsigned tenths = 0; tenths < 300; ++tenths) {
        web_client::advance(100'000);
        for (; client.next_segment(); ++probes)
            client.send_segment({.sequence = end, .acknowledged = first(), .flags = ack, .from = 9},
                                {.window = 0});
    }
    EXPECT_GT(probes, 5u);
    EXPECT_LT(probes, 10u);  // their intervals double
    EXPECT_EQ(service.connections(), 1u);
    got = answer(full);  // the window opens
    ASSERT_TRUE(got);
    EXPECT_EQ(got->sequence, first());
    EXPECT_THAT(got->text, EndsWith("\r\n\r\nnitro"));
}

TEST_F(InstanceMetadataSegmentTest, UnansweredProbesEndTheConnection) {
    EXPECT_TRUE(answer(with_text(request), 0));
    web_client::advance(30e6);
    EXPECT_EQ(service.connections(), 0u);
    EXPECT_FALSE(sc_core::sc_pending_activity_at_future_time());
}

TEST_F(InstanceMetadataTest, TargetMayHaveItsHost) {
    EXPECT_EQ(body(get("http://169.254.169.254/latest/meta-data/system")), "nitro");
    EXPECT_EQ(body(get("HTTP://metadata:80/latest/meta-data/system")), "nitro");
    EXPECT_EQ(body(get("http://169.254.169.254")), body(get("/")));
    EXPECT_THAT(get("ftp://a/latest"), StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(get("*"), StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(client.ask("OPTIONS * HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405"));
    EXPECT_THAT(put("X-aws-ec2-metadata-token-ttl-seconds: 9\r\n",
                    "http://169.254.169.254/latest/api/token"),
                StartsWith("HTTP/1.1 200"));
}

TEST_F(InstanceMetadataTest, FieldsWithoutAProperNameAreRefused) {
    const std::string seconds = "X-aws-ec2-metadata-token-ttl-seconds: 60\r\n";
    for (const char* const line : {"X-Forwarded-For : 10.0.0.9", " X-Forwarded-For: 10.0.0.9",
                                   "X-Forwarded-For", ": 10.0.0.9", "X-\tY: 1"}) {
        EXPECT_THAT(put(seconds + line + "\r\n"), StartsWith("HTTP/1.1 400")) << line;
        EXPECT_THAT(put(line + ("\r\n" + seconds)), StartsWith("HTTP/1.1 400")) << line;
    }
    EXPECT_THAT(put("Empty:\r\n" + seconds), StartsWith("HTTP/1.1 200"));
}

TEST_F(InstanceMetadataTest, EmptyLinesBeforeTheRequestAreIgnored) {
    const std::string request = "GET /latest/meta-data/system HTTP/1.1\r\n\r\n";
    EXPECT_THAT(client.ask("\r\n" + request), EndsWith("\r\n\r\nnitro"));
    EXPECT_THAT(client.ask("\r\n\r\n" + request), EndsWith("\r\n\r\nnitro"));
}

TEST_F(InstanceMetadataTest, DamagedPacketsHaveNoEffect) {
    const auto good = web_client::packet_of({.sequence = 1000, .flags = syn, .from = 9});
    for (const unsigned at : {20u, 24u, 26u, 38u, 50u}) {
        auto bad = good;
        bad[at] ^= 1;
        client.send(bad);
    }
    auto group = good;
    group[6] |= 1;
    client.send(group);
    client.advance();
    EXPECT_TRUE(client.packets.empty());
    EXPECT_EQ(service.connections(), 0u);
    client.send(good);
    client.advance();
    EXPECT_EQ(client.packets.size(), 1u);
}

TEST_F(InstanceMetadataTest, ConnectionsAreBoundedAndTheOldestEnds) {
    for (std::uint16_t n = 0; n < 100; ++n) ASSERT_TRUE(client.connect(n));
    EXPECT_EQ(service.connections(), metadata::tcp_service::max_connections);
    for (std::uint16_t n = 0; n < 200; ++n)
        client.send_segment({.sequence = 1000, .flags = syn, .from = n});
    client.advance();
    EXPECT_EQ(client.packets.size(), instance_metadata::max_waiting);
    client.packets.clear();
    EXPECT_THAT(get("/latest/meta-data/system"), EndsWith("nitro"));
}

TEST_F(InstanceMetadataTest, FaultMakesTheServiceUnavailable) {
    service.inject("unavailable", {});
    EXPECT_THAT(get("/"), StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
    service.inject("available", {});
    EXPECT_THAT(get("/"), StartsWith("HTTP/1.1 200"));
}

TEST_F(InstanceMetadataTest, IdleServiceHasNoEvent) {
    EXPECT_THAT(get("/latest/meta-data/system"), Not(testing::IsEmpty()));
    EXPECT_FALSE(sc_core::sc_pending_activity_at_future_time());
}

}  // namespace
}  // namespace trn::test
