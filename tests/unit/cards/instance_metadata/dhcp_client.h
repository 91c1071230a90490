// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "tests/unit/cards/instance_metadata/web_client.h"

namespace trn::test {

/// DHCP messages of a card's host: offsets are literal numbers, so that none are shared with the
/// model.
struct dhcp_message {
    std::uint8_t kind = 1;
    std::uint32_t own = 0;  ///< the host's current address
    std::uint16_t flags = 0;
    std::map<std::uint8_t, web_client::bytes_type> options = {};
    std::uint32_t yours = 0;  ///< address offered to the host

    std::uint32_t option(std::uint8_t code) const {
        const auto found = options.find(code);
        if (found == options.end()) return 0;
        return web_client::get(found->second, 0, static_cast<unsigned>(found->second.size()));
    }
};

/// A packet from a host whose card has the MAC address 02:00:00:00:00:07.
inline web_client::bytes_type dhcp_packet_of(const dhcp_message& message) {
    using bytes_type = web_client::bytes_type;
    bytes_type body{1, 1, 6, 0, 0xca, 0xfe, 0xba, 0xbe, 0, 0};
    web_client::put(body, message.flags, 2);
    web_client::put(body, message.own, 4);
    body.resize(28);
    body.insert(body.end(), {2, 0, 0, 0, 0, 7});
    body.resize(236);
    body.insert(body.end(), {0x63, 0x82, 0x53, 0x63, 53, 1, message.kind});
    for (const auto& [code, value] : message.options) {
        body.push_back(code);
        body.push_back(static_cast<std::uint8_t>(value.size()));
        body.insert(body.end(), value.begin(), value.end());
    }
    body.push_back(255);
    bytes_type b{255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 7, 8, 0, 0x45, 0};
    const auto udp = static_cast<std::uint32_t>(8 + body.size());
    web_client::put(b, udp + 20, 2);
    web_client::put(b, 0, 4);
    web_client::put(b, 0x4011'0000, 4);
    web_client::put(b, message.own, 4);
    web_client::put(b, 0xffff'ffff, 4);
    web_client::put(b, 68 << 16 | 67, 4);
    web_client::put(b, udp << 16, 4);
    b.insert(b.end(), body.begin(), body.end());
    web_client::store(b, 24, ~web_client::sum(b, 14, 34, 0));
    web_client::store(b, 40,
                      ~web_client::sum(b, 34, b.size(), web_client::sum(b, 26, 34, 17 + udp)));
    return b;
}

/// Parses a reply with valid checksums and the request's transaction id; otherwise nullopt.
inline std::optional<dhcp_message> dhcp_message_of(const web_client::bytes_type& b) {
    constexpr std::size_t body = 42;
    if (b.size() < body + 240 || web_client::get(b, 12, 2) != 0x0800 || b[23] != 17) return {};
    const auto udp = web_client::get(b, 38, 2);
    if (web_client::get(b, 34, 4) != (67 << 16 | 68) || udp + 34 != b.size() ||
        web_client::sum(b, 14, 34, 0) != 0xffff ||
        web_client::sum(b, 34, b.size(), web_client::sum(b, 26, 34, 17 + udp)) != 0xffff ||
        b[body] != 2 || web_client::get(b, body + 4, 4) != 0xcafe'babe ||
        web_client::get(b, body + 28, 4) != 0x0200'0000 ||
        web_client::get(b, body + 236, 4) != 0x6382'5363)
        return {};
    dhcp_message found{.own = web_client::get(b, body + 12, 4),
                       .yours = web_client::get(b, body + 16, 4)};
    for (auto at = body + 240; at + 1 < b.size() && b[at] != 255; at += 2u + b[at + 1]) {
        if (at + 2 + b[at + 1] > b.size()) return {};
        const auto value = b.begin() + static_cast<std::ptrdiff_t>(at + 2);
        found.options[b[at]] = {value, value + b[at + 1]};
    }
    found.kind = static_cast<std::uint8_t>(found.option(53));
    return found;
}

}  // namespace trn::test
