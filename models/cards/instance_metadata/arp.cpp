// SPDX-License-Identifier: Apache-2.0
#include "models/cards/instance_metadata/arp.h"

#include <algorithm>

#include "models/cards/instance_metadata/packets.h"
#include "models/network/ip_packet/fields.h"
#include "models/network/ip_packet/headers.h"

namespace trn::metadata {

using ethernet::packet;
using ip::get16;
using ip::get32;
using ip::protocols;
using ip::put32;

namespace {

/// ARP for IPv4 over Ethernet (RFC 826): offsets in the packet.
namespace arp {
constexpr std::size_t kind = 14, sender_mac = 22, sender = 28, target_mac = 32, target = 38,
                      bytes = 42;
constexpr std::uint16_t request = 1, reply = 2;
constexpr std::uint32_t ethernet_ipv4[] = {0x0001'0800, 0x0604'0000};
}  // namespace arp

}  // namespace

bool is_request_for(const packet& packet, std::uint32_t address) {
    const auto& bytes = packet.bytes;
    return bytes.size() >= arp::bytes && get16(bytes, 12) == protocols::arp &&
           get32(bytes, arp::kind) == arp::ethernet_ipv4[0] &&
           get32(bytes, arp::kind + 4) == (arp::ethernet_ipv4[1] | arp::request) &&
           get32(bytes, arp::target) == address;
}

std::unique_ptr<packet> arp_answer(const packet& question, std::uint32_t address,
                                   const ethernet::mac_address& mac) {
    auto made = new_packet(question.source(), mac, protocols::arp, arp::bytes);
    put32(made->bytes, arp::kind, arp::ethernet_ipv4[0]);
    put32(made->bytes, arp::kind + 4, arp::ethernet_ipv4[1] | arp::reply);
    std::ranges::copy(mac, made->bytes.begin() + arp::sender_mac);
    put32(made->bytes, arp::sender, address);
    std::copy_n(question.bytes.begin() + arp::sender_mac, 10,
                made->bytes.begin() + arp::target_mac);
    return made;
}

}  // namespace trn::metadata
