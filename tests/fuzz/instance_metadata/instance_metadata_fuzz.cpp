// SPDX-License-Identifier: Apache-2.0
// A hostile guest of the instance metadata service and the DHCP server: arbitrary segments,
// requests, messages and packets. Memory stays bounded, and later requests are answered.
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "models/cards/instance_metadata/instance_metadata.h"
#include "platform/framework/log.h"
#include "tests/support/cards/card_host.h"
#include "tests/support/fuzz.h"
#include "tests/unit/cards/instance_metadata/dhcp_client.h"
#include "tests/unit/cards/instance_metadata/web_client.h"

namespace {

using namespace trn;
using test::fuzz_random;
using test::require;
using test::web_client;

/// Segments of a few connections, mostly with valid sequence numbers.
web_client::bytes_type some_segment(fuzz_random& random, std::string text,
                                    std::uint32_t acknowledged) {
    constexpr std::uint8_t flags[] = {2, 16, 16, 24, 17, 4, 18};
    test::web_segment made{
        .sequence = static_cast<std::uint32_t>(1000 + random.below(3)),
        .acknowledged = acknowledged + static_cast<std::uint32_t>(random.below(3)),
        .flags = random.below(8) == 0 ? static_cast<std::uint8_t>(random.next())
                                      : flags[random.below(std::size(flags))],
        .from = static_cast<std::uint16_t>(random.below(40)),
        .text = std::move(text)};
    if (random.below(8) == 0) made.sequence = static_cast<std::uint32_t>(random.next());
    if (random.below(8) == 0) made.acknowledged = static_cast<std::uint32_t>(random.next());
    return web_client::packet_of(
        made, {.port = static_cast<std::uint16_t>(random.below(8) == 0 ? 81 : 80),
               .window = static_cast<std::uint16_t>(random.next()),
               .max_segment = static_cast<std::uint16_t>(random.below(2) * random.next())});
}

void damage(web_client::bytes_type& packet, fuzz_random& random) {
    packet.resize(packet.size() - random.below(30));
    packet[random.below(packet.size())] = static_cast<std::uint8_t>(random.next());
}

web_client::bytes_type some_dhcp_message(fuzz_random& random) {
    const auto some = [&random] {
        constexpr std::uint32_t values[] = {0, 0xac1f'0001, 0xac1f'0005, 0xffff'ffff};
        return random.below(4) == 0 ? static_cast<std::uint32_t>(random.next())
                                    : values[random.below(std::size(values))];
    };
    test::dhcp_message made{.kind = static_cast<std::uint8_t>(random.below(10)),
                            .own = some(),
                            .flags = static_cast<std::uint16_t>(random.next())};
    for (const std::uint8_t code : {std::uint8_t{50}, std::uint8_t{54}})
        if (random.below(2) == 0) web_client::put(made.options[code], some(), 4);
    const auto own = static_cast<std::uint8_t>(random.next());
    made.options[own].resize(random.below(256), static_cast<std::uint8_t>(random.next()));
    auto packet = test::dhcp_packet_of(made);
    if (random.below(2) == 0) return packet;
    packet[40] = packet[41] = 0;  // checksum 0: not checked, so that damaged packets are accepted
    for (auto n = random.below(4); n > 0; --n)
        packet[random.below(packet.size())] = static_cast<std::uint8_t>(random.next());
    return packet;
}

bool has_an_address(web_client& client) {
    client.send(test::dhcp_packet_of({.kind = 1}));
    web_client::advance();
    const auto offer =
        client.packets.empty() ? std::nullopt : test::dhcp_message_of(client.packets.front());
    client.packets.clear();
    return offer && offer->kind == 2 && offer->yours == 0xac1f'0005;
}

}  // namespace

int sc_main(int argc, char** argv) {
    log::replace_sink({});
    instance_metadata service("service", {.product = "trn2.48xlarge"});
    web_client client("client");
    service.card.join(client.net);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    const test::mutator requests(
        {"GET /latest/meta-data/ HTTP/1.1\r\nX-aws-ec2-metadata-token: 0\r\n\r\n",
         "PUT /latest/api/token HTTP/1.1\r\nX-aws-ec2-metadata-token-ttl-seconds: 60\r\n\r\n",
         "GET //latest//dynamic/instance-identity/document HTTP/1.1\r\nHost: a\r\n\r\n"},
        {"\r\n", "/", "latest", "HTTP/1.1", ":", "X-Forwarded-For: a", "HEAD ", "meta-data"});
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        std::uint32_t acknowledged = 0;
        for (auto n = 1 + random.below(80); n > 0; --n) {
            auto text = random.below(3) == 0 ? std::string() : requests.make(random);
            if (text.size() > 1400) text.resize(1400);
            auto packet = some_segment(random, std::move(text), acknowledged);
            if (random.below(4) == 0) damage(packet, random);
            client.send(random.below(4) == 0 ? some_dhcp_message(random) : std::move(packet));
            if (random.below(4) == 0)
                web_client::advance(static_cast<double>(1 + random.below(1000)));
            while (!client.packets.empty())
                if (const auto got = client.next_segment()) acknowledged = got->sequence + 1;
            require(service.connections() <= metadata::tcp_service::max_connections,
                    "there are too many connections");
        }
        web_client::advance(2e6);  // lets pending segments expire
        client.packets.clear();
        const auto answer = client.ask("GET /latest/meta-data/instance-type HTTP/1.1\r\n\r\n");
        require(has_an_address(client), "the address was not offered");
        require(answer.ends_with("\r\n\r\ntrn2.48xlarge"), "a request was not answered");
    });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
