// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/network/ethernet_switch/packet.h"

namespace trn::ena_queues {

/// Offloads that the driver requests for one packet.
struct send_offloads {
    bool header_checksum = false;   ///< of the IPv4 header
    bool payload_checksum = false;  ///< of TCP or UDP
    bool partial = false;           ///< the checksum field holds the sum of the pseudo header
    bool segmentation = false;      ///< of TCP; implies both checksums
    std::uint32_t segment = 0;      ///< bytes of TCP data per packet

    static constexpr std::uint32_t min_segment = 48;  ///< invented
};

/// Returns the packets to send for `whole`, in order; empty if the offloads do not apply to it.
/// Writes no checksum for protocols other than TCP and UDP (invented).
std::vector<std::unique_ptr<ethernet::packet>> apply_offloads(
    const send_offloads& wanted, std::unique_ptr<ethernet::packet> whole);

}  // namespace trn::ena_queues
