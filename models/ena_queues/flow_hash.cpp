// SPDX-License-Identifier: Apache-2.0
#include "models/ena_queues/flow_hash.h"

#include <cstddef>

namespace trn::ena_queues {

namespace {

constexpr unsigned ipv4 = 0x0800, ipv6 = 0x86dd, vlan = 0x8100;
constexpr unsigned tcp = 6, udp = 17;
constexpr std::size_t port_bytes = 4;

/// The hash of pieces of a packet, one after the other.
class toeplitz {
public:
    explicit toeplitz(const hash_key& key) : key_(key) {}

    void add(std::span<const std::uint8_t> bytes) {
        for (const std::uint8_t byte : bytes)
            for (unsigned bit = 0; bit < 8; ++bit, ++at_)
                if ((byte >> (7 - bit) & 1) != 0) value_ ^= window();
    }
    std::uint32_t value() const { return value_; }

private:
    /// 32 bits of the key from bit at_ on.
    std::uint32_t window() const {
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < 5; ++i) {
            const std::size_t byte = at_ / 8 + i;
            bits = bits << 8 | (byte < key_.size() ? key_[byte] : 0u);
        }
        return static_cast<std::uint32_t>(bits >> (8 - at_ % 8));
    }

    const hash_key& key_;
    std::size_t at_ = 0;
    std::uint32_t value_ = 0;
};

unsigned word(std::span<const std::uint8_t> bytes, std::size_t at) {
    return static_cast<unsigned>(bytes[at]) << 8 | bytes[at + 1];
}

}  // namespace

std::uint32_t flow_hash(const hash_key& key, std::span<const std::uint8_t> packet) {
    constexpr std::size_t addresses = 12, tag = 4, type = 2;
    std::size_t at = addresses;
    if (packet.size() < at + type) return 0;
    if (word(packet, at) == vlan) at += tag;
    if (packet.size() < at + type) return 0;
    const unsigned kind = word(packet, at);
    const auto ip = packet.subspan(at + type);
    std::size_t header = 0, source = 0, address_bytes = 0;
    unsigned protocol = 0;
    bool is_fragment = false;
    if (kind == ipv4 && ip.size() >= 20) {
        header = (ip[0] & 0xfu) * 4;
        source = 12;
        address_bytes = 4;
        protocol = ip[9];
        is_fragment = (word(ip, 6) & 0x3fff) != 0;
    } else if (kind == ipv6 && ip.size() >= 40) {
        header = 40;
        source = 8;
        address_bytes = 16;
        protocol = ip[6];
    } else {
        return 0;
    }
    toeplitz hash(key);
    hash.add(ip.subspan(source, 2 * address_bytes));
    if ((protocol == tcp || protocol == udp) && !is_fragment && ip.size() >= header + port_bytes)
        hash.add(ip.subspan(header, port_bytes));
    return hash.value();
}

}  // namespace trn::ena_queues
