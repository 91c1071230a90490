// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "models/network/ethernet_switch/packet.h"

namespace trn::metadata {

/// Whether a packet is an ARP request for this IPv4 address (RFC 826).
bool is_request_for(const ethernet::packet& packet, std::uint32_t address);
/// Precondition: is_request_for(question, address).
std::unique_ptr<ethernet::packet> arp_answer(const ethernet::packet& question,
                                             std::uint32_t address,
                                             const ethernet::mac_address& mac);

}  // namespace trn::metadata
