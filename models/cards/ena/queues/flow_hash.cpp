// SPDX-License-Identifier: Apache-2.0
#include "models/cards/ena/queues/flow_hash.h"

#include <cstddef>

namespace trn::ena_queues {

namespace {

constexpr std::size_t port_bytes = 4;

/// Hash of consecutive pieces of a packet.
class toeplitz {
public:
    explicit toeplitz(const hash_key& key) : key_(key) {}

    void add(std::span<const std::uint8_t> bytes) {
        for (const std::uint8_t byte : bytes)
            for (unsigned bit = 0; bit < 8; ++bit, ++position_)
                if ((byte >> (7 - bit) & 1) != 0) value_ ^= window();
    }
    std::uint32_t value() const { return value_; }

private:
    /// 32 bits of the key from bit position_ on.
    std::uint32_t window() const {
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < 5; ++i) {
            const std::size_t byte = position_ / 8 + i;
            bits = bits << 8 | (byte < key_.size() ? key_[byte] : 0u);
        }
        return static_cast<std::uint32_t>(bits >> (8 - position_ % 8));
    }

    const hash_key& key_;
    std::size_t position_ = 0;
    std::uint32_t value_ = 0;
};

}  // namespace

std::uint32_t flow_hash(const hash_key& key, std::span<const std::uint8_t> packet,
                        const ip::headers& headers) {
    if (headers.version == ip::network::other) return 0;
    toeplitz hash(key);
    hash.add(packet.subspan(headers.addresses, 2 * headers.address_bytes));
    const bool has_ports =
        headers.carries(ip::protocols::tcp) || headers.carries(ip::protocols::udp);
    if (has_ports && headers.has(port_bytes)) hash.add(packet.subspan(headers.payload, port_bytes));
    return hash.value();
}

}  // namespace trn::ena_queues
