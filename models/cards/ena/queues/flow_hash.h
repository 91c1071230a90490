// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "models/network/ip_packet/headers.h"

namespace trn::ena_queues {

using hash_key = std::array<std::uint8_t, 40>;

/// The Toeplitz hash of a packet's flow: addresses of IPv4 or IPv6, and ports of TCP or UDP unless
/// the packet is a fragment. 0 for other protocols.
std::uint32_t flow_hash(const hash_key& key, std::span<const std::uint8_t> packet,
                        const ip::headers& headers);

}  // namespace trn::ena_queues
