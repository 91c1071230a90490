// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/ethernet_switch/packet.h"

namespace trn::ena_queues {

/// What the driver wants of the card for one packet to send.
struct send_offloads {
    bool header_checksum = false;   ///< of the IPv4 header
    bool payload_checksum = false;  ///< of TCP or UDP
    bool partial = false;           ///< its place holds the sum of the pseudo header
    bool segmentation = false;      ///< of TCP; then both checksums are written
    std::uint32_t segment = 0;      ///< bytes of TCP's data in each packet

    static constexpr std::uint32_t min_segment = 48;  ///< invented
};

/// The packets that leave the card for `whole`, in their order. Empty: it cannot be sent as wanted.
/// A checksum of what is neither TCP nor UDP is not written (invented).
std::vector<std::unique_ptr<ethernet::packet>> apply_offloads(
    const send_offloads& wanted, std::unique_ptr<ethernet::packet> whole);

}  // namespace trn::ena_queues
