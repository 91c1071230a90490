// SPDX-License-Identifier: Apache-2.0
#include "models/cards/instance_metadata/dhcp_server.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "models/cards/instance_metadata/arp.h"
#include "models/cards/instance_metadata/packets.h"
#include "models/network/ip_packet/fields.h"
#include "models/network/ip_packet/headers.h"

namespace trn::metadata {

using ethernet::packet;
using ip::get16;
using ip::get32;
using ip::header_bytes;
using ip::protocols;
using ip::put16;
using ip::put32;

namespace {

constexpr std::uint16_t server_port = 67, client_port = 68;
constexpr std::uint32_t everyone = 0xffff'ffff;

/// Offsets in a message (RFC 2131 2).
namespace place {
constexpr std::size_t operation = 0, id = 4, flags = 10, own = 12, yours = 16, mac = 28,
                      cookie = 236, options = 240;
}
constexpr std::uint8_t boot_request = 1, boot_reply = 2;
constexpr std::uint32_t ethernet_kind = 0x0001'0600;  // types in the word at `operation`
constexpr std::uint16_t broadcast = 0x8000;
constexpr std::uint32_t cookie = 0x6382'5363;

/// RFC 2132.
namespace option {
constexpr std::uint8_t padding = 0, mask = 1, router = 3, host = 12, domain = 15, mtu = 26,
                       address = 50, lease = 51, kind = 53, server = 54, end = 255;
}

void add(std::vector<std::uint8_t>& options, std::uint8_t code, std::uint32_t value,
         unsigned bytes) {
    options.push_back(code);
    options.push_back(static_cast<std::uint8_t>(bytes));
    while (bytes-- > 0) options.push_back(static_cast<std::uint8_t>(value >> 8 * bytes));
}

void add(std::vector<std::uint8_t>& options, std::uint8_t code, std::string_view text) {
    if (text.empty()) return;
    options.push_back(code);
    options.push_back(static_cast<std::uint8_t>(text.size()));
    options.insert(options.end(), text.begin(), text.end());
}

/// Returns the headers of a client's DHCP message to a server; nothing for other packets.
std::optional<ip::headers> find_message(const packet& packet) {
    const auto headers = ip::find_headers(packet.bytes);
    const bool to_server = headers.version == ip::network::ipv4 &&
                           headers.carries(protocols::udp) && headers.has(header_bytes::udp) &&
                           get16(packet.bytes, headers.payload) == client_port &&
                           get16(packet.bytes, headers.payload + 2) == server_port;
    return to_server ? std::optional(headers) : std::nullopt;
}

}  // namespace

dhcp_server::dhcp_server(const config& cfg, sender sends) : cfg_(cfg), sends_(std::move(sends)) {}

bool dhcp_server::takes(const packet& packet) const {
    return is_request_for(packet, cfg_.router) || find_message(packet);
}

void dhcp_server::receive(const packet& packet) {
    if (is_request_for(packet, cfg_.router))
        return sends_(arp_answer(packet, cfg_.router, cfg_.mac));
    const auto headers = find_message(packet);
    if (!headers || !is_whole(packet, *headers)) return;
    const auto message = std::span(packet.bytes)
                             .subspan(headers->payload, headers->end - headers->payload)
                             .subspan(header_bytes::udp);
    if (message.size() < place::options || message[place::operation] != boot_request ||
        (get32(message, 0) & 0x00ff'ff00) != ethernet_kind ||
        get32(message, place::cookie) != cookie)
        return;
    if (const auto asked = options_in(message.subspan(place::options))) answer(message, *asked);
}

/// Nothing if an option is truncated.
std::optional<dhcp_server::options> dhcp_server::options_in(std::span<const std::uint8_t> bytes) {
    options found;
    while (!bytes.empty() && bytes[0] != option::end) {
        if (bytes[0] == option::padding) {
            bytes = bytes.subspan(1);
            continue;
        }
        if (bytes.size() < 2 || bytes.size() - 2 < bytes[1]) return std::nullopt;
        const auto value = bytes.subspan(2, bytes[1]);
        if (bytes[0] == option::kind && value.size() == 1) found.message_kind = value[0];
        if (bytes[0] == option::address && value.size() == 4) found.wanted = get32(value, 0);
        if (bytes[0] == option::server && value.size() == 4) found.server = get32(value, 0);
        bytes = bytes.subspan(2 + value.size());
    }
    return found;
}

/// Answers as in RFC 2131 4.3.
void dhcp_server::answer(std::span<const std::uint8_t> message, const options& asked) {
    if (asked.server && *asked.server != cfg_.router) return;  // meant for another server
    switch (static_cast<kind>(asked.message_kind)) {
    case kind::discover:
        return reply(message, kind::offer, true);
    case kind::request: {
        const std::uint32_t wanted = asked.wanted.value_or(get32(message, place::own));
        const bool granted = wanted == cfg_.address;
        ++(granted ? counters_.leases : counters_.refused);
        return reply(message, granted ? kind::acknowledge : kind::refuse, granted);
    }
    case kind::inform:
        return reply(message, kind::acknowledge, false);
    default:
        return;  // the server keeps no state to release
    }
}

std::vector<std::uint8_t> dhcp_server::options_of(kind message_kind, bool with_address) const {
    std::vector<std::uint8_t> made;
    add(made, option::kind, static_cast<std::uint32_t>(message_kind), 1);
    add(made, option::server, cfg_.router, 4);
    if (message_kind != kind::refuse) {
        if (with_address) add(made, option::lease, cfg_.lease, 4);
        add(made, option::mask, everyone << (32 - cfg_.prefix), 4);
        add(made, option::router, cfg_.router, 4);
        add(made, option::mtu, cfg_.mtu, 2);
        add(made, option::host, cfg_.host);
        add(made, option::domain, cfg_.domain);
    }
    made.push_back(option::end);
    return made;
}

/// Replies to the address that the client already uses; without one, to all if it asks for that, or
/// to its new address. Refusals are to all (RFC 2131 4.1).
void dhcp_server::reply(std::span<const std::uint8_t> message, kind message_kind,
                        bool with_address) {
    constexpr std::size_t mac_bytes = 16, copied = 4, min_bytes = 300;  // RFC 1542 2.1
    const std::uint32_t own = get32(message, place::own);
    const bool wants_broadcast = (get16(message, place::flags) & broadcast) != 0;
    const bool to_all = message_kind == kind::refuse || (own == 0 && wants_broadcast);
    const auto options = options_of(message_kind, with_address);
    ethernet::mac_address destination;
    std::copy_n(message.begin() + place::mac, destination.size(), destination.begin());
    if (to_all) destination.fill(0xff);

    auto made =
        new_ipv4_packet({.destination_mac = destination,
                         .source_mac = cfg_.mac,
                         .destination = to_all     ? everyone
                                        : own != 0 ? own
                                                   : cfg_.address,
                         .source = cfg_.router,
                         .protocol = protocols::udp},
                        header_bytes::udp + std::max(place::options + options.size(), min_bytes));
    const auto udp = std::span(made->bytes).subspan(ipv4_payload);
    put16(udp, 0, server_port);
    put16(udp, 2, client_port);
    put16(udp, 4, static_cast<std::uint16_t>(udp.size()));

    const auto answer = udp.subspan(header_bytes::udp);
    put32(answer, 0, ethernet_kind | std::uint32_t{boot_reply} << 24);
    std::copy_n(message.begin() + place::id, copied, answer.begin() + place::id);
    std::copy_n(message.begin() + place::flags, 2, answer.begin() + place::flags);
    if (message_kind == kind::acknowledge) put32(answer, place::own, own);
    if (with_address) put32(answer, place::yours, cfg_.address);
    std::copy_n(message.begin() + place::mac, mac_bytes, answer.begin() + place::mac);
    put32(answer, place::cookie, cookie);
    std::ranges::copy(options, answer.begin() + place::options);
    write_checksums(*made);
    sends_(std::move(made));
}

}  // namespace trn::metadata
